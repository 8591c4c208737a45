//! From the bytes of a file to its documents. A document that cannot be read does not take the others with it.

use serde_json::Value as Json;

use crate::base::diag::Diagnostic;
use crate::codec::yaml;

/// A document of a file.
pub struct Read {
    /// Its content.
    pub json: Json,
    /// Line on which it starts, from 1.
    pub line: u32,
    /// If it is a list: the lines on which its items start.
    pub items: Vec<u32>,
}

/// The documents of a file in its order, and what could not be read of it.
pub fn documents(name: &str, bytes: &[u8]) -> (Vec<Read>, Vec<Diagnostic>) {
    let mut parts = parts(bytes);
    parts.retain(|(_, part)| !part.iter().all(u8::is_ascii_whitespace));
    if parts.is_empty() || !parts.iter().all(|(_, part)| starts_as_json(content(part))) {
        return yaml_documents(name, bytes);
    }
    let mut found = Vec::new();
    let last = parts.len() - 1;
    for (i, (before, part)) in parts.into_iter().enumerate() {
        // The marker's place stays, so that lines and offsets are those of the file.
        let json = content(part);
        let passed = part.len() - json.len();
        let lines = part.get(..passed).unwrap_or_default().iter().filter(|b| **b == b'\n').count() as u32;
        let (documents, problem) = json_documents(name, json, before + lines);
        found.extend(documents);
        let Some((problem, cut_off)) = problem else { continue };
        if cut_off && i == last {
            return (found, vec![problem]);
        }
        // YAML's flow style starts with a bracket too.
        let (others, problems) = yaml_documents(name, bytes);
        return if problems.is_empty() || others.len() > found.len() {
            (others, problems)
        } else {
            (found, vec![problem])
        };
    }
    (found, Vec::new())
}

/// A part of a file without the marker that starts it.
fn content(part: &[u8]) -> &[u8] {
    part.strip_prefix(b"---").unwrap_or(part)
}

fn starts_as_json(text: &[u8]) -> bool {
    matches!(text.iter().find(|b| !b.is_ascii_whitespace()), Some(b'{' | b'['))
}

/// Reads JSON values one after the other, up to the first error; tells whether that is the end of the text. `before` is the
/// number of the file's lines before the text.
fn json_documents(name: &str, bytes: &[u8], before: u32) -> (Vec<Read>, Option<(Diagnostic, bool)>) {
    let mut found = Vec::new();
    let mut lines = Lines { bytes, at: 0, line: before.saturating_add(1) };
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Json>();
    loop {
        let from = stream.byte_offset();
        let json = match stream.next() {
            None => return (found, None),
            Some(Ok(json)) => json,
            Some(Err(error)) => {
                let line = before.saturating_add(error.line() as u32);
                let problem =
                    if error.is_eof() { truncated(name, line) } else { unreadable(name, line, error.to_string()) };
                return (found, Some((problem, error.is_eof())));
            }
        };
        let text = bytes.get(from..stream.byte_offset()).unwrap_or_default();
        let start = from + text.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let line = lines.of(start);
        match json {
            Json::Array(items) => {
                let starts = element_starts(text, 1, None);
                for (i, json) in items.into_iter().enumerate() {
                    let line = starts.get(i).map_or(line, |at| lines.of(from + at));
                    found.push(Read { json, line, items: Vec::new() });
                }
            }
            json => {
                let items = if is_list(&json) { element_starts(text, 2, Some(b"items")) } else { Vec::new() };
                let items = items.into_iter().map(|at| lines.of(from + at)).collect();
                found.push(Read { json, line, items });
            }
        }
    }
}

fn is_list(json: &Json) -> bool {
    json.get("items").is_some_and(Json::is_array)
}

/// Counts lines while moving forward.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl Lines<'_> {
    /// The line of an offset not before the last one asked for.
    fn of(&mut self, offset: usize) -> u32 {
        let passed = self.bytes.get(self.at..offset).unwrap_or_default();
        self.line = self.line.saturating_add(passed.iter().filter(|b| **b == b'\n').count() as u32);
        self.at = self.at.max(offset);
        self.line
    }
}

/// Where the elements of an array of valid JSON text start: of the array that is the value itself (`level` 1, no key), or of
/// the last one under `key` in the outermost object (`level` 2).
fn element_starts(text: &[u8], level: usize, key: Option<&[u8]>) -> Vec<usize> {
    let mut starts = Vec::new();
    let (mut depth, mut at) = (0usize, 0usize);
    // The last string directly in the outermost object: a key, when an array follows it.
    let mut last: &[u8] = b"";
    let (mut inside, mut fresh) = (false, false);
    while let Some(&byte) = text.get(at) {
        let begin = at;
        at += 1;
        let blank = byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
        if inside && fresh && depth == level && !blank {
            starts.push(begin);
            fresh = false;
        }
        match byte {
            b'"' => {
                while let Some(&inner) = text.get(at) {
                    at += if inner == b'\\' { 2 } else { 1 };
                    if inner == b'"' {
                        break;
                    }
                }
                if depth == 1 {
                    last = text.get(begin + 1..at.saturating_sub(1)).unwrap_or_default();
                }
            }
            b'{' | b'[' => {
                depth += 1;
                if depth == level && byte == b'[' && key.is_none_or(|key| key == last) {
                    starts.clear();
                    (inside, fresh) = (true, true);
                }
            }
            b'}' | b']' => {
                if depth == level {
                    inside = false;
                }
                depth = depth.saturating_sub(1);
            }
            b',' if inside && depth == level => fresh = true,
            _ => {}
        }
    }
    starts
}

/// Reads a YAML stream; if a part of it is broken, each part between document markers by itself.
fn yaml_documents(name: &str, bytes: &[u8]) -> (Vec<Read>, Vec<Diagnostic>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    match yaml::parse_all(bytes) {
        Ok(documents) => converted(name, documents, 0, &mut found, &mut problems),
        Err(error) => {
            let parts = parts(bytes);
            let last = parts.len().saturating_sub(1);
            for (i, (before, part)) in parts.into_iter().enumerate() {
                match yaml::parse_all(part) {
                    Ok(documents) => converted(name, documents, before, &mut found, &mut problems),
                    Err(error) => {
                        let lines = part.iter().filter(|b| **b == b'\n').count() as u32;
                        let line = error.line.unwrap_or(1);
                        // Only the last document can be cut off, and then the error is found behind its last line.
                        problems.push(if i == last && line > lines {
                            truncated(name, before + line)
                        } else {
                            unreadable(name, before + line.min(lines.max(1)), error.text)
                        });
                    }
                }
            }
            // Broken as a whole, though no part is: a directive, for instance, that the parts do not share.
            if problems.is_empty() {
                problems.push(unreadable(name, error.line.unwrap_or(1), error.text));
            }
        }
    }
    (found, problems)
}

fn converted(
    name: &str,
    documents: Vec<yaml::Document>,
    before: u32,
    found: &mut Vec<Read>,
    problems: &mut Vec<Diagnostic>,
) {
    for document in documents {
        let root = document.root();
        let line = before + root.span().start.line;
        match yaml::to_json_printed(root) {
            Ok(json) => {
                let items = if is_list(&json) { root.entry("items").map(|(_, items)| items) } else { None };
                let items = items.iter().flat_map(|i| i.target().items()).map(|i| before + i.span().start.line);
                found.push(Read { json, line, items: items.collect() });
            }
            Err(text) => problems
                .push(Diagnostic::error(text).at(name, line).remedy("give this object again as kubectl prints it")),
        }
    }
}

/// The text between lines that start a document, with the number of lines before each part.
fn parts(bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut parts = Vec::new();
    let (mut from, mut before) = (0usize, 0u32);
    let (mut at, mut line) = (0usize, 0u32);
    for text in bytes.split_inclusive(|b| *b == b'\n') {
        let marker = text.strip_prefix(b"---").is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace));
        if marker && at > from {
            parts.push((before, bytes.get(from..at).unwrap_or_default()));
            (from, before) = (at, line);
        }
        at += text.len();
        line = line.saturating_add(1);
    }
    parts.push((before, bytes.get(from..).unwrap_or_default()));
    parts
}

fn truncated(name: &str, line: u32) -> Diagnostic {
    Diagnostic::error("the file ends in the middle of an object")
        .at(name, line)
        .remedy("collect it again: the copy is cut off")
}

fn unreadable(name: &str, line: u32, text: String) -> Diagnostic {
    // The parser counts lines from the start of what it was given; the diagnostic's own line is the file's.
    let told = text.strip_prefix("yaml: line ").and_then(|rest| rest.split_once(": "));
    let text = told.map_or(text.clone(), |(_, problem)| problem.to_owned());
    Diagnostic::error(text).at(name, line).remedy("this is no YAML or JSON as kubectl prints it; collect it again")
}
