//! From values to YAML text: `toYaml`, `toYamlPretty`, objects, and the text of the values digest.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::order::{is_settled, natural_sort};
use super::scalar::{self, Scalar};
use super::style::Generation;
use super::write::{self, Item, Layout};
use crate::codec::json::go_lossy;
use crate::codec::marks::Sink;
use crate::codec::{float, json};
use crate::value::origin::Origin;
use crate::value::{IntType, ListType, MAX_DEPTH, OriginSet, Origins, Repr, Text, Value};

/// `toYaml`: block style, keys in natural order, strings quoted where YAML 1.1 needs it, folded beyond column 80. One
/// final newline is trimmed, as Helm does. Marks and origins are kept.
///
/// Helm goes through JSON text that is read as YAML: strings that do not survive this fail (F-40).
///
/// # Errors
/// Go's text. `toYaml` answers "" instead, `mustToYaml` fails with it.
pub fn emit(value: &Value, origins: &Origins) -> Result<Text, String> {
    let mut sink = Sink::new(origins);
    let item = Builder { sink: &sink, pretty: false }.item(value, OriginSet::EMPTY, 0);
    let item =
        item.map_err(|e| if e.starts_with("json: ") { format!("error marshaling into JSON: {e}") } else { e })?;
    write::write(&item, write::HELM, &mut sink);
    Ok(trim_newline(sink.finish()))
}

/// `toYamlPretty`: written by the next generation of the library, straight from the values: lists are indented, nothing
/// folds, numbers keep their Go type.
///
/// # Errors
/// Go's text; `toYamlPretty` answers "" instead.
pub fn emit_pretty(value: &Value, origins: &Origins) -> Result<Text, String> {
    let mut sink = Sink::new(origins);
    let item = Builder { sink: &sink, pretty: true }.item(value, OriginSet::EMPTY, 0)?;
    write::write(&item, write::PRETTY, &mut sink);
    Ok(trim_newline(sink.finish()))
}

/// An object as `kubectl get -o yaml` prints it, final newline included. Never fails: what the real one refuses is
/// printed escaped.
pub fn emit_json(value: &Json) -> String {
    print(&plain_item(value, true, 0), write::HELM)
}

/// The text whose hash is the values digest (F-112, F-117–F-120); empty for an absent or empty map. Integers print
/// exactly, doubles by F-118: values as composed hold doubles unless they came from a `targetPath`.
pub fn digest_text(values: &Json) -> String {
    match values {
        Json::Null => String::new(),
        Json::Object(entries) if entries.is_empty() => String::new(),
        _ => print(&plain_item(values, false, 0), write::HELM),
    }
}

fn print(item: &Item, layout: Layout) -> String {
    let origins = Origins::new(false);
    let mut sink = Sink::new(&origins);
    write::write(item, layout, &mut sink);
    sink.finish().lossy().into_owned()
}

fn trim_newline(text: Text) -> Text {
    match text.bytes().split_last() {
        Some((b'\n', rest)) => text.slice(0, rest.len()),
        _ => text,
    }
}

fn plain_item(value: &Json, natural: bool, depth: usize) -> Item {
    let word = |word: &str| Item::Word(word.to_owned(), OriginSet::EMPTY);
    match value {
        Json::Null => word("null"),
        _ if depth > MAX_DEPTH => word("null"),
        Json::Bool(true) => word("true"),
        Json::Bool(false) => word("false"),
        Json::Number(number) => {
            let text = match (number.is_f64(), number.as_f64()) {
                (true, Some(float)) if natural => json_number(float).unwrap_or_default(),
                (true, Some(float)) => digest_number(float),
                _ => number.to_string(),
            };
            Item::Word(text, OriginSet::EMPTY)
        }
        Json::String(text) => Item::Str(Text::from(text.as_str()), OriginSet::EMPTY),
        Json::Array(items) => {
            Item::Seq(items.iter().map(|i| plain_item(i, natural, depth + 1)).collect(), OriginSet::EMPTY)
        }
        Json::Object(entries) => {
            let pairs: Vec<(Text, Item)> = if natural {
                let entries: Vec<(&String, &Json)> = entries.iter().collect();
                natural_sort(entries, &|e: &(&String, &Json)| e.0, Generation::Two)
                    .into_iter()
                    .map(|(k, v)| (Text::from(k.as_str()), plain_item(v, natural, depth + 1)))
                    .collect()
            } else {
                let mut entries: Vec<(&String, &Json)> = entries.iter().collect();
                entries.sort_by_key(|(k, _)| *k);
                entries.into_iter().map(|(k, v)| (Text::from(k.as_str()), plain_item(v, natural, depth + 1))).collect()
            };
            Item::Map(pairs, OriginSet::EMPTY)
        }
    }
}

/// A double in the values digest (F-118).
fn digest_number(number: f64) -> String {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && (-TWO_63..TWO_63).contains(&number) {
        (number as i64).to_string()
    } else if number.fract() == 0.0 && (TWO_63..2.0 * TWO_63).contains(&number) {
        (number as u64).to_string()
    } else {
        float::g(number)
    }
}

/// A double that goes through JSON text into YAML: `None` if JSON cannot hold it.
fn json_number(number: f64) -> Option<String> {
    let text = float::json(number)?;
    Some(match scalar::resolve(&text) {
        Scalar::Int(int) => int.to_string(),
        Scalar::Uint(uint) => uint.to_string(),
        _ => float::g(number),
    })
}

/// Makes the tree to be written out of a value.
struct Builder<'s, 'o> {
    sink: &'s Sink<'o>,
    /// For `toYamlPretty`.
    pretty: bool,
}

impl Builder<'_, '_> {
    fn item(&self, value: &Value, context: OriginSet, depth: usize) -> Result<Item, String> {
        if depth > MAX_DEPTH {
            return Err("json: unsupported value: encountered a cycle via map[string]interface {}".into());
        }
        Ok(match value.repr() {
            Repr::Str(text) => self.string(text, self.sink.scalar(value, context))?,
            Repr::Hole(hole) => self.string(&Text::from(&*hole.label), self.sink.scalar(value, context))?,
            Repr::List(list) if list.ty == ListType::Byte && !self.pretty => {
                let bytes: Vec<u8> = list.items.iter().map(|v| v.as_int().unwrap_or(0) as u8).collect();
                let own = self.sink.origins().union(context, value.deep_origins(self.sink.origins()));
                Item::Str(Text::from(data_encoding::BASE64.encode(&bytes)), own)
            }
            _ if value.is_typed_nil() && !self.pretty => {
                Item::Word("null".into(), self.sink.origins().union(context, value.origins))
            }
            Repr::List(list) => {
                let (own, inside) = self.sink.container(value, context);
                let items = list.items.iter().map(|item| self.item(item, inside, depth + 1));
                Item::Seq(items.collect::<Result<_, _>>()?, own)
            }
            Repr::Map(map) => {
                let (own, inside) = self.sink.container(value, context);
                let mut pairs: Vec<(Text, Item)> = Vec::with_capacity(map.len());
                for (key, item) in map.entries().iter() {
                    pairs.push((self.key(key)?, self.item(item, inside, depth + 1)?));
                }
                let generation = if self.pretty { Generation::Three } else { Generation::Two };
                let pairs = natural_sort(pairs, &|p: &(Text, Item)| p.0.as_str().unwrap_or_default(), generation);
                let keys: Vec<&str> = pairs.iter().map(|p| p.0.as_str().unwrap_or_default()).collect();
                let origins = self.sink.origins();
                let drawn = origins.tracking() && !is_settled(&keys, generation);
                let own =
                    if drawn { origins.union(own, origins.only(Origin::Random("order of keys".into()))) } else { own };
                Item::Map(pairs, own)
            }
            Repr::Native(native) if self.pretty && native.members().is_some() => {
                // The fields of a struct in its order, all of them, in lower case.
                let own = self.sink.origins().union(context, value.origins);
                let members = native.members().unwrap_or_default().into_iter();
                let public = members.filter(|(name, _)| name.starts_with(char::is_uppercase));
                let pairs = public.map(|(name, member)| {
                    Ok((Text::from(name.to_lowercase().as_str()), self.item(&member, own, depth + 1)?))
                });
                Item::Map(pairs.collect::<Result<_, String>>()?, own)
            }
            Repr::Native(native) if self.pretty && native.spelled().is_some() => {
                self.string(&native.spelled().unwrap_or_default().into(), self.sink.scalar(value, context))?
            }
            Repr::Native(native) if self.pretty && native.toml().is_some() => {
                let text = native.data().and_then(|data| data.as_text().map(|text| text.lossy().into_owned()));
                Item::Word(text.unwrap_or_default(), self.sink.scalar(value, context))
            }
            Repr::Native(native) => match native.data() {
                Some(data) => {
                    let own = self.sink.origins().union(context, value.origins);
                    self.item(&data, own, depth + 1)?
                }
                None => return Err(json::unsupported(&**native)),
            },
            Repr::Nil | Repr::Bool(_) | Repr::Int(..) | Repr::Float(_) => {
                Item::Word(self.word(value)?, self.sink.scalar(value, context))
            }
        })
    }

    fn word(&self, value: &Value) -> Result<String, String> {
        match value.repr() {
            Repr::Float(number) if self.pretty => Ok(match float::g(*number).as_str() {
                "NaN" => ".nan".into(),
                "+Inf" => ".inf".into(),
                "-Inf" => "-.inf".into(),
                text => text.to_owned(),
            }),
            Repr::Float(number) => {
                json_number(*number).ok_or_else(|| format!("json: unsupported value: {}", float::g(*number)))
            }
            Repr::Int(int, IntType::Uint | IntType::Uint64) => Ok((*int as u64).to_string()),
            _ => json::scalar_text(value),
        }
    }

    fn string(&self, text: &Text, context: OriginSet) -> Result<Item, String> {
        Ok(Item::Str(if self.pretty { text.clone() } else { self.through_json(text)? }, context))
    }

    fn key(&self, key: &Text) -> Result<Text, String> {
        if self.pretty {
            return Ok(key.clone());
        }
        let valid = go_lossy(key.bytes());
        through_json_key(&valid).map_err(|problem| match valid.matches('\u{85}').count() {
            // Each of these is a line break to YAML.
            lines @ 1.. if problem.starts_with("did not") => format!("yaml: line {lines}: {problem}"),
            _ => yaml_problem(problem),
        })?;
        self.through_json(key)
    }

    /// What is left of a string that was written as JSON and read as YAML.
    fn through_json(&self, text: &Text) -> Result<Text, String> {
        if text.bytes().is_ascii() && !text.bytes().contains(&0x7F) {
            return Ok(text.clone());
        }
        let valid = match go_lossy(text.bytes()) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(repaired) => Text::marked(repaired.into_bytes(), text.mark_union(self.sink.origins())),
        };
        match through_json_text(valid.as_str().unwrap_or_default()).map_err(yaml_problem)? {
            Cow::Borrowed(_) => Ok(valid),
            Cow::Owned(folded) => Ok(Text::marked(folded.into_bytes(), valid.mark_union(self.sink.origins()))),
        }
    }
}

fn yaml_problem(problem: &str) -> String {
    format!("yaml: {problem}")
}

/// What is left of a string that was written as JSON and read as YAML (F-40); the error is YAML's problem.
pub(super) fn through_json_text(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let refused = |c| matches!(c, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    if text.contains(refused) {
        return Err("control characters are not allowed");
    }
    Ok(if text.contains('\u{85}') { Cow::Owned(fold_next_lines(text)) } else { Cow::Borrowed(text) })
}

/// The same for a key, which has to stay on one line and within [`MAX_KEY`].
pub(super) fn through_json_key(text: &str) -> Result<String, &'static str> {
    through_json_text(text)?;
    if text.contains('\u{85}') || (text.len() > MAX_KEY / 6 && json::string_length(text) > MAX_KEY) {
        return Err("did not find expected ',' or '}'");
    }
    Ok(text.to_owned())
}

/// Longest JSON text of a key, in characters and with its quotes, that YAML reads back (F-40).
const MAX_KEY: usize = 1024;

/// A run of n U+0085 with the spaces around it becomes a space (n = 1) or n − 1 line feeds (F-40).
fn fold_next_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{85}') {
        let run = rest[at..].find(|c| c != ' ' && c != '\u{85}').map_or(rest.len(), |end| at + end);
        let breaks = rest[at..run].matches('\u{85}').count();
        out.push_str(rest[..at].trim_end_matches(' '));
        if breaks == 1 {
            out.push(' ');
        } else {
            out.extend(std::iter::repeat_n('\n', breaks - 1));
        }
        rest = &rest[run..];
    }
    out.push_str(rest);
    out
}
