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

/// Patterns of `.Files.Glob`: `*` and `?` stop at slashes, `**` does not, `{a,b}` are alternatives, `[a-z]` classes. A
/// pattern that cannot be read stands for everything.
pub fn glob(pattern: &str, path: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let path: Vec<char> = path.chars().collect();
    let mut steps = 200_000;
    glob_at(&pattern, &path, &mut steps)
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
            let Some(end) = closing(pattern) else { return true };
            let mut start = 1;
            let mut depth = 0;
            for i in 1..=end {
                match pattern[i] {
                    '{' => depth += 1,
                    '}' if i < end => depth -= 1,
                    ',' | '}' if depth == 0 || i == end => {
                        let joined: Vec<char> = pattern[start..i].iter().chain(&pattern[end + 1..]).copied().collect();
                        if glob_at(&joined, text, steps) {
                            return true;
                        }
                        start = i + 1;
                    }
                    _ => {}
                }
            }
            false
        }
        Some('[') => {
            let Some(end) = pattern.iter().position(|c| *c == ']') else { return true };
            let Some(&c) = text.first() else { return false };
            let class = &pattern[1..end];
            let (negated, class) = if class.first() == Some(&'!') { (true, &class[1..]) } else { (false, class) };
            let mut hit = false;
            let mut i = 0;
            while i < class.len() {
                if i + 2 < class.len() && class[i + 1] == '-' {
                    hit |= (class[i]..=class[i + 2]).contains(&c);
                    i += 3;
                } else {
                    hit |= class[i] == c;
                    i += 1;
                }
            }
            hit != negated && glob_at(&pattern[end + 1..], &text[1..], steps)
        }
        Some('\\') if pattern.len() > 1 => text.first() == pattern.get(1) && glob_at(&pattern[2..], &text[1..], steps),
        Some(c) => text.first() == Some(c) && glob_at(&pattern[1..], &text[1..], steps),
    }
}

fn closing(pattern: &[char]) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in pattern.iter().enumerate() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
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
            ("x[", "anything", false),
        ] {
            assert_eq!(glob(pattern, path), want, "{pattern} {path}");
        }
    }
}
