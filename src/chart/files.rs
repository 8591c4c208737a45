//! `.Files`: what lies in a chart beside its templates.

use std::any::Any;
use std::collections::BTreeMap;
use std::rc::Rc;

use data_encoding::BASE64;

use super::load::Files;
use crate::base::version::{HelmVersion, Quirk};
use crate::codec::yaml;
use crate::value::{IntType, ListType, Method, Native, Origins, Repr, Text, Value};

/// `.Files` of one chart, or what a glob left of it.
pub struct FilesValue {
    files: Rc<Files>,
    helm: HelmVersion,
}

impl FilesValue {
    /// All files of a chart.
    pub fn new(files: Rc<Files>, helm: HelmVersion) -> Self {
        FilesValue { files, helm }
    }

    fn base(path: &str) -> &str {
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Base names with texts, as YAML.
    fn as_map(&self, origins: &Origins, encode: fn(&[u8]) -> Text) -> Value {
        let entries: BTreeMap<Text, Value> =
            self.files.iter().map(|(path, bytes)| (Text::from(Self::base(path)), Value::text(encode(bytes)))).collect();
        Value::text(yaml::emit(&Value::map(entries), origins).unwrap_or_default())
    }
}

impl Native for FilesValue {
    fn type_name(&self, _: HelmVersion) -> String {
        "engine.files".into()
    }

    fn kind(&self) -> &'static str {
        "map"
    }

    fn field(&self, name: &str) -> Option<Value> {
        // A map of bytes by path: a missing key is a nil slice.
        let bytes = self.files.get(name).map_or(&[][..], |b| b);
        Some(bytes_value(bytes))
    }

    fn methods(&self) -> &'static [Method] {
        &[
            ("Get", &["string"]),
            ("GetBytes", &["string"]),
            ("Glob", &["string"]),
            ("Lines", &["string"]),
            ("AsConfig", &[]),
            ("AsSecrets", &[]),
        ]
    }

    fn call(&self, name: &str, args: &[Value], origins: &Origins) -> Result<Value, String> {
        let text = args.first().and_then(Value::as_text).map(|t| t.lossy().into_owned()).unwrap_or_default();
        let content = self.files.get(&text).map_or(&[][..], |b| b);
        Ok(match name {
            "Get" => Value::text(Text::new(content)),
            "GetBytes" => bytes_value(content),
            "Glob" => {
                let found = self.files.iter().filter(|(path, _)| glob(&text, path));
                let found: Files = found.map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
                Value::new(Repr::Native(Rc::new(FilesValue::new(Rc::new(found), self.helm))))
            }
            "Lines" => {
                if !self.files.contains_key(&text) {
                    return Ok(Value::typed_list(Vec::new(), ListType::Str));
                }
                if content.is_empty() {
                    if self.helm.has(Quirk::EmptyLines) {
                        return Ok(Value::typed_list(Vec::new(), ListType::Str));
                    }
                    return Err("runtime error: index out of range [-1]".into());
                }
                let body = content.strip_suffix(b"\n").unwrap_or(content);
                let lines = body.split(|b| *b == b'\n').map(|line| Value::text(Text::new(line))).collect();
                Value::typed_list(lines, ListType::Str)
            }
            "AsConfig" => self.as_map(origins, |bytes| Text::new(bytes)),
            "AsSecrets" => self.as_map(origins, |bytes| Text::from(BASE64.encode(bytes))),
            _ => Value::NIL,
        })
    }

    fn print(&self, _: bool, _: bool) -> String {
        let entries: Vec<String> = self
            .files
            .iter()
            .map(|(path, bytes)| {
                let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
                format!("{path}:[{}]", numbers.join(" "))
            })
            .collect();
        format!("map[{}]", entries.join(" "))
    }

    fn data(&self) -> Option<Value> {
        Some(Value::map(
            self.files.iter().map(|(path, bytes)| (Text::from(path.as_str()), bytes_value(bytes))).collect(),
        ))
    }

    fn truth(&self) -> bool {
        !self.files.is_empty()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn bytes_value(bytes: &[u8]) -> Value {
    let items = bytes.iter().map(|b| Value::new(Repr::Int(i64::from(*b), IntType::Uint8))).collect();
    Value::typed_list(items, ListType::Byte)
}

/// Patterns of `.Files.Glob`: `*` and `?` stop at slashes, `**` does not, `{a,b}` are alternatives (the end of the
/// pattern closes them too), `[abc]` is a class and `[a-z]` a range. A pattern that cannot be read stands for everything.
pub fn glob(pattern: &str, path: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let path: Vec<char> = path.chars().collect();
    let mut steps = 200_000;
    !readable(&pattern) || glob_at(&pattern, &path, &mut steps)
}

/// Whether every class of a pattern can be read.
fn readable(mut pattern: &[char]) -> bool {
    while let Some(c) = pattern.first() {
        let size = match c {
            '\\' => 2,
            '[' => match class(pattern) {
                Some(class) => class.size,
                None => return false,
            },
            _ => 1,
        };
        pattern = pattern.get(size..).unwrap_or_default();
    }
    true
}

/// `[abc]`, `[!abc]`, `[a-z]`: a range has nothing beside it.
struct Class<'p> {
    negated: bool,
    chars: &'p [char],
    range: bool,
    size: usize,
}

impl Class<'_> {
    fn has(&self, c: char) -> bool {
        let found = match self.chars {
            [low, _, high] if self.range => (*low..=*high).contains(&c),
            chars => chars.contains(&c),
        };
        found != self.negated
    }
}

fn class(pattern: &[char]) -> Option<Class<'_>> {
    let negated = pattern.get(1) == Some(&'!');
    let start = if negated { 2 } else { 1 };
    let inner = pattern.get(start..)?;
    if let [_, '-', ..] = inner {
        return match inner {
            [low, _, high, ']', ..] if low <= high => {
                Some(Class { negated, chars: &inner[..3], range: true, size: start + 4 })
            }
            _ => None,
        };
    }
    let end = inner.iter().position(|c| *c == ']').filter(|end| *end > 0)?;
    Some(Class { negated, chars: &inner[..end], range: false, size: start + end + 1 })
}

fn glob_at(pattern: &[char], text: &[char], steps: &mut u32) -> bool {
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    match pattern.first() {
        None => text.is_empty(),
        Some('*') if pattern.get(1) == Some(&'*') => {
            let rest = &pattern[pattern.iter().take_while(|c| **c == '*').count()..];
            (0..=text.len()).any(|n| glob_at(rest, &text[n..], steps))
        }
        Some('*') => {
            let rest = &pattern[1..];
            let limit = text.iter().position(|c| *c == '/').unwrap_or(text.len());
            (0..=limit).any(|n| glob_at(rest, &text[n..], steps))
        }
        Some('?') => text.first().is_some_and(|c| *c != '/') && glob_at(&pattern[1..], &text[1..], steps),
        Some('{') => {
            let (alternatives, rest) = alternatives(pattern);
            // One empty alternative matches nothing at all.
            if let [only] = &alternatives[..]
                && only.is_empty()
            {
                return false;
            }
            alternatives.iter().any(|alternative| glob_at(&[*alternative, rest].concat(), text, steps))
        }
        Some('[') => match (class(pattern), text.first()) {
            (Some(class), Some(c)) => class.has(*c) && glob_at(&pattern[class.size..], &text[1..], steps),
            _ => false,
        },
        Some('\\') if pattern.len() == 1 => text.is_empty(),
        Some('\\') => text.first() == pattern.get(1) && glob_at(&pattern[2..], &text[1..], steps),
        Some(c) => text.first() == Some(c) && glob_at(&pattern[1..], &text[1..], steps),
    }
}

/// The alternatives between the first brace and its closing one, and what stands behind that.
fn alternatives(pattern: &[char]) -> (Vec<&[char]>, &[char]) {
    let (mut found, mut depth, mut start, mut i) = (Vec::new(), 0, 1, 1);
    while let Some(c) = pattern.get(i) {
        match c {
            '\\' => i += 1,
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth == 0 => {
                found.push(&pattern[start..i]);
                start = i + 1;
            }
            '}' => {
                found.push(&pattern[start..i]);
                return (found, &pattern[i + 1..]);
            }
            _ => {}
        }
        i += 1;
    }
    found.push(pattern.get(start..).unwrap_or_default());
    (found, &[])
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn globs_stop_at_slashes_unless_doubled() {
        for (pattern, path, want) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "d/a.yaml", false),
            ("**.yaml", "d/a.yaml", true),
            ("d/*", "d/a", true),
            ("{a,b}/*", "b/x", true),
            ("[ab]?", "bc", true),
            ("x[", "anything", true),
            ("[a-z0-9]", "anything", true),
            ("[]a]", "anything", true),
            ("[!a-c]", "d", true),
            ("[_a-c]", "b", false),
            ("d/{a,b.txt", "d/b.txt", true),
            ("d/{}a", "d/a", false),
            ("a}", "a}", true),
        ] {
            assert_eq!(glob(pattern, path), want, "{pattern} {path}");
        }
    }
}
