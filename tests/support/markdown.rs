//! Pages of conformance cases, as `fixtures/conformance/README.md` describes them.

/// A page: its blocks before the first case, which hold for all cases, and the cases.
#[derive(Default)]
pub struct Page {
    /// Exact versions of Helm that recorded the page.
    pub versions: Vec<String>,
    pub common: Vec<Block>,
    pub cases: Vec<(String, Vec<Block>)>,
}

/// A fenced block with a role.
#[derive(Clone)]
pub struct Block {
    pub role: String,
    /// What follows the role: a path, or versions.
    pub arguments: Vec<String>,
    pub content: Vec<u8>,
}

/// Reads a page; blocks that have only a language are part of the text.
pub fn read(text: &str) -> Result<Page, String> {
    let mut page = Page::default();
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim_end();
        if let Some(versions) = line.strip_prefix("Recorded with Helm ") {
            page.versions = versions.trim_end_matches('.').split(", ").map(str::to_owned).collect();
        } else if let Some(title) = line.strip_prefix("## ") {
            page.cases.push((slug(title), Vec::new()));
        } else if line.starts_with("```") {
            let fence = line.len() - line.trim_start_matches('`').len();
            let mut content = String::new();
            loop {
                let (_, inner) = lines.next().ok_or_else(|| format!("line {}: the block does not end", at + 1))?;
                let end = inner.trim_end();
                if end.len() >= fence && end.bytes().all(|b| b == b'`') {
                    break;
                }
                content.push_str(inner);
            }
            let block = block(&line[fence..], content).map_err(|e| format!("line {}: {e}", at + 1))?;
            let blocks = page.cases.last_mut().map_or(&mut page.common, |(_, blocks)| blocks);
            blocks.extend(block);
        }
    }
    Ok(page)
}

const ROLES: &[&str] =
    &["template", "file", "values", "override", "beside", "snapshot", "flags", "output", "stdout", "error"];

fn block(info: &str, content: String) -> Result<Option<Block>, String> {
    let mut words: Vec<String> =
        info.split_whitespace().skip(1).map(|word| word.trim_end_matches(',').to_owned()).collect();
    if words.is_empty() {
        return Ok(None);
    }
    let role = words.remove(0);
    if !ROLES.contains(&role.as_str()) {
        return Err(format!("unknown role {role}"));
    }
    let escaped = words.last().is_some_and(|word| word == "escaped");
    if escaped {
        words.pop();
    }
    let content = if escaped { unescape(&content)? } else { content.into_bytes() };
    Ok(Some(Block { role, arguments: words, content }))
}

/// `\\`, `\t`, `\r`, `\xHH` and `\u{H…}` stand for bytes; a backslash at the end of a line takes the line's end away.
fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut parts = text.split('\\');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    while let Some(part) = parts.next() {
        let bad = || format!("unknown escape \\{part}");
        let rest = match part.chars().next() {
            None => {
                bytes.push(b'\\');
                parts.next().unwrap_or_default()
            }
            Some('\n') => &part[1..],
            Some('t') => {
                bytes.push(b'\t');
                &part[1..]
            }
            Some('r') => {
                bytes.push(b'\r');
                &part[1..]
            }
            Some('x') => {
                let digits = part.get(1..3).ok_or_else(bad)?;
                bytes.push(u8::from_str_radix(digits, 16).map_err(|_| bad())?);
                &part[3..]
            }
            Some('u') => {
                let (digits, rest) = part.strip_prefix("u{").and_then(|p| p.split_once('}')).ok_or_else(bad)?;
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).ok_or_else(bad)?;
                bytes.extend_from_slice(String::from(code).as_bytes());
                rest
            }
            Some(_) => return Err(bad()),
        };
        bytes.extend_from_slice(rest.as_bytes());
    }
    Ok(bytes)
}

/// A heading as a part of a test's name: letters and digits, the rest as single hyphens.
fn slug(title: &str) -> String {
    let words: Vec<String> =
        title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    words.join("-")
}
