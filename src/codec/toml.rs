//! TOML as Helm's library writes and reads it (`toToml`, `fromToml`).

mod read;

use std::fmt::Write as _;

pub use read::parse;

use super::float;
use super::marks::Sink;
use crate::base::version::{HelmVersion, Quirk};
use crate::value::{IntType, MAX_DEPTH, OriginSet, Origins, Repr, Text, Value};

/// `toToml`: tables after plain keys, nested ones indented, nulls left out. Marks and origins are kept.
///
/// # Errors
/// The library's text, which `toToml` prints in place of the result.
pub fn emit(value: &Value, helm: HelmVersion, origins: &Origins) -> Result<Text, String> {
    let mut writer = Writer { sink: Sink::new(origins), exponents: helm.has(Quirk::TomlExponents), written: false };
    let item = if value.as_list().is_some() { value.clone() } else { plain(value, 0)? };
    match item.repr() {
        Repr::List(_) if is_table_array(&item)? => {
            return Err("toml: top-level values must be Go maps or structs".into());
        }
        Repr::Nil => return Err("reflect: call of reflect.Value.Type on zero Value".into()),
        _ if is_table(&item) => {
            let (own, inside) = writer.sink.container(&item, OriginSet::EMPTY);
            writer.table(&[], &entries(&item), own, inside)?;
        }
        _ => writer.element(&item, OriginSet::EMPTY, 0)?,
    }
    Ok(writer.sink.finish())
}

const NIL_ELEMENT: &str = "toml: cannot encode array with nil element";

struct Writer<'o> {
    sink: Sink<'o>,
    /// Large and small floats with an exponent.
    exponents: bool,
    /// Something was written already.
    written: bool,
}

/// Whether it is written as a table.
fn is_table(value: &Value) -> bool {
    value.as_map().is_some() || matches!(value.repr(), Repr::Native(native) if native.members().is_some())
}

/// The entries of a table: those of a map by name, the public fields of a Go struct in its order; those of a struct
/// inside that has no name of its own stand in its place.
fn entries(value: &Value) -> Vec<(Text, Value)> {
    match value.repr() {
        Repr::Map(map) => map.entries().iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        Repr::Native(native) => {
            let members = native.members().unwrap_or_default().into_iter();
            let public = members.filter(|(name, _)| name.starts_with(char::is_uppercase));
            public
                .flat_map(|(name, member)| match native.embedded() == Some(name) {
                    true => entries(&member),
                    false => vec![(Text::from(name), member)],
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// A value without natives around it; a nil list is nil.
fn plain(value: &Value, depth: usize) -> Result<Value, String> {
    match value.repr() {
        Repr::Native(native) if native.toml().is_some() || native.members().is_some() => Ok(value.clone()),
        Repr::Native(native) if native.spelled().is_some() => {
            let mut text = Value::text(native.spelled().unwrap_or_default());
            text.origins = value.origins;
            Ok(text)
        }
        Repr::Native(native) if depth < MAX_DEPTH => match native.data() {
            Some(mut data) => {
                if data.origins.is_empty() {
                    data.origins = value.origins;
                }
                plain(&data, depth + 1)
            }
            None => Err(format!("unsupported type: {}", native.print(false, false))),
        },
        _ if value.is_typed_nil() => Ok(Value::NIL),
        _ => Ok(value.clone()),
    }
}

/// Whether every element is a table, so that the list is written as `[[name]]` sections.
fn is_table_array(value: &Value) -> Result<bool, String> {
    let Some(list) = value.as_list() else { return Ok(false) };
    let mut tables = !list.items.is_empty();
    for item in &list.items {
        let item = plain(item, 0)?;
        if item.is_nil() {
            return Err(NIL_ELEMENT.into());
        }
        tables &= is_table(&item);
    }
    Ok(tables)
}

impl Writer<'_> {
    fn put(&mut self, text: &str, context: OriginSet) {
        self.written |= !text.is_empty();
        self.sink.raw(text.as_bytes(), context);
    }

    fn newline(&mut self, context: OriginSet) {
        if self.written {
            self.put("\n", context);
        }
    }

    /// The entries of a table: plain values first, then tables and lists of tables.
    fn table(
        &mut self,
        path: &[Text],
        entries: &[(Text, Value)],
        own: OriginSet,
        inside: OriginSet,
    ) -> Result<(), String> {
        if path.len() > MAX_DEPTH {
            return Err("toml: nesting too deep".into());
        }
        let mut sections = Vec::new();
        for (key, value) in entries {
            let value = plain(value, 0)?;
            let tables = is_table_array(&value)?;
            if value.is_nil() {
                continue;
            }
            if tables || is_table(&value) {
                sections.push((key.clone(), value, tables));
                continue;
            }
            self.put(&"  ".repeat(path.len()), own);
            self.key(key, own);
            self.put(" = ", own);
            self.element(&value, inside, 0)?;
            self.newline(own);
        }
        for (key, value, tables) in sections {
            let mut path = path.to_vec();
            path.push(key);
            let (own, inside) = self.sink.container(&value, inside);
            match value.repr() {
                Repr::List(list) if tables => {
                    for item in &list.items {
                        let item = plain(item, 0)?;
                        let (own, inside) = self.sink.container(&item, inside);
                        self.newline(own);
                        self.header(&path, "[[", "]]", own);
                        self.table(&path, &self::entries(&item), own, inside)?;
                    }
                }
                _ => {
                    if path.len() == 1 {
                        self.newline(own);
                    }
                    self.header(&path, "[", "]", own);
                    self.table(&path, &self::entries(&value), own, inside)?;
                }
            }
        }
        Ok(())
    }

    fn header(&mut self, path: &[Text], open: &str, close: &str, context: OriginSet) {
        self.put(&"  ".repeat(path.len().saturating_sub(1)), context);
        self.put(open, context);
        for (index, key) in path.iter().enumerate() {
            if index > 0 {
                self.put(".", context);
            }
            self.key(key, context);
        }
        self.put(close, context);
        self.newline(context);
    }

    fn key(&mut self, key: &Text, context: OriginSet) {
        let bare = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if !key.is_empty() && key.bytes().iter().all(bare) {
            self.written = true;
            self.sink.text(key, context);
        } else {
            self.string(key, context);
        }
    }

    fn string(&mut self, text: &Text, context: OriginSet) {
        self.put("\"", context);
        let escaped = escape(&text.lossy());
        if escaped.as_bytes() == text.bytes() {
            self.sink.text(text, context);
        } else {
            let whole = self.sink.origins().union(context, text.mark_union(self.sink.origins()));
            self.put(&escaped, whole);
        }
        self.put("\"", context);
    }

    /// A value on one line.
    fn element(&mut self, value: &Value, context: OriginSet, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("toml: nesting too deep".into());
        }
        match value.repr() {
            Repr::Str(text) => {
                let context = self.sink.scalar(value, context);
                self.string(text, context);
            }
            Repr::Hole(hole) => {
                let context = self.sink.scalar(value, context);
                self.string(&Text::from(&*hole.label), context);
            }
            Repr::List(list) => {
                let (own, inside) = self.sink.container(value, context);
                self.put("[", own);
                for (index, item) in list.items.iter().enumerate() {
                    if index > 0 {
                        self.put(", ", own);
                    }
                    let item = plain(item, 0)?;
                    if item.is_nil() {
                        return Err(NIL_ELEMENT.into());
                    }
                    self.element(&item, inside, depth + 1)?;
                }
                self.put("]", own);
            }
            _ if is_table(value) => {
                let (own, inside) = self.sink.container(value, context);
                self.put("{", own);
                self.inline_entries(&entries(value), own, inside, depth)?;
                self.put("}", own);
            }
            Repr::Float(number) => {
                let context = self.sink.scalar(value, context);
                let text = self.float(*number);
                self.put(&text, context);
            }
            Repr::Int(int, IntType::Uint | IntType::Uint64) => {
                let context = self.sink.scalar(value, context);
                self.put(&(*int as u64).to_string(), context);
            }
            Repr::Int(int, _) => {
                let context = self.sink.scalar(value, context);
                self.put(&int.to_string(), context);
            }
            Repr::Bool(b) => {
                let context = self.sink.scalar(value, context);
                self.put(if *b { "true" } else { "false" }, context);
            }
            Repr::Native(native) => {
                let context = self.sink.scalar(value, context);
                self.put(&native.toml().unwrap_or_default(), context);
            }
            Repr::Nil | Repr::Map(_) => {}
        }
        Ok(())
    }

    /// Plain values first here too; a null leaves the comma that stood before it.
    fn inline_entries(
        &mut self,
        entries: &[(Text, Value)],
        own: OriginSet,
        inside: OriginSet,
        depth: usize,
    ) -> Result<(), String> {
        let mut direct = Vec::new();
        let mut tables = Vec::new();
        for (key, value) in entries {
            let value = plain(value, 0)?;
            let group = if is_table(&value) || is_table_array(&value)? { &mut tables } else { &mut direct };
            group.push((key.clone(), value));
        }
        let count = direct.len() + tables.len();
        for (index, (key, value)) in direct.into_iter().chain(tables).enumerate() {
            if value.is_nil() {
                continue;
            }
            self.key(&key, own);
            self.put(" = ", own);
            self.element(&value, inside, depth + 1)?;
            if index + 1 < count {
                self.put(", ", own);
            }
        }
        Ok(())
    }

    fn float(&self, number: f64) -> String {
        if number.is_nan() {
            return "nan".into();
        }
        if number.is_infinite() {
            return if number > 0.0 { "inf".into() } else { "-inf".into() };
        }
        let text = if self.exponents { float::g(number) } else { float::f(number) };
        if text.contains(['.', 'e']) { text } else { format!("{text}.0") }
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{C}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' || c == '\u{7F}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::json;

    fn toml(json_text: &str, helm: HelmVersion) -> String {
        let value = json::parse(json_text.as_bytes()).expect("test input is JSON");
        emit(&value, helm, &Origins::new(false)).map_or_else(|e| e, |t| t.lossy().into_owned())
    }

    #[test]
    fn tables_follow_plain_keys_and_are_indented_by_depth() {
        let helm4 = HelmVersion::cli(4, 2, 2);
        for (json, expected) in [
            (
                r#"{"a":1,"b":{"c":"x","d":{"e":[1,2.5,"s",true]}},"z":null,"n":{},"l":[],"t":[{"a":1},{"b":{"c":1}}]}"#,
                "a = 1.0\nl = []\n\n[b]\n  c = \"x\"\n  [b.d]\n    e = [1.0, 2.5, \"s\", true]\n\n[n]\n\n[[t]]\n  a = \
                 1.0\n\n[[t]]\n  [t.b]\n    c = 1.0\n",
            ),
            (r#"{"a":{"b":{}},"c":[{"x":[{"y":1}]}]}"#, "[a]\n  [a.b]\n\n[[c]]\n\n  [[c.x]]\n    y = 1.0\n"),
            (r#"{"x y":{"a b":{"c":1}}}"#, "[\"x y\"]\n  [\"x y\".\"a b\"]\n    c = 1.0\n"),
            (r#"{"m":[1,{"a":{"b":2},"c":[{"d":1}]}]}"#, "m = [1.0, {a = {b = 2.0}, c = [{d = 1.0}]}]\n"),
            (r#"{"x":[1,{"a":1,"b":null}]}"#, "x = [1.0, {a = 1.0, }]\n"),
            (r#"{"q":"a\"b\\\n\t\u0001\u007fé"}"#, "q = \"a\\\"b\\\\\\n\\t\\u0001\\u007fé\"\n"),
            (r#"{"a":[1,null]}"#, NIL_ELEMENT),
            ("[1]", "[1.0]"),
        ] {
            assert_eq!(toml(json, helm4), expected);
        }
    }

    #[test]
    fn floats_have_exponents_from_helm_3_20_on() {
        let numbers = r#"{"a":12345678,"b":1e-7,"c":1e21}"#;
        assert_eq!(toml(numbers, HelmVersion::cli(4, 2, 2)), "a = 1.2345678e+07\nb = 1e-07\nc = 1e+21\n");
        let long = "a = 12345678.0\nb = 0.0000001\nc = 1000000000000000000000.0\n";
        assert_eq!(toml(numbers, HelmVersion::cli(3, 17, 3)), long);
    }
}
