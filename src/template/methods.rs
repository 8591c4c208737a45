//! Methods of the map type that `.Values`, the dot and `.Template` have in Helm.

use super::eval::Run;
use super::func::FuncError;
use crate::codec::yaml;
use crate::value::{Map, MapType, Method, NIL_POINTER, Repr, TextBuilder, Value};

/// What stands for a parameter that nothing a template can reach fits.
pub(super) const WRITER: &str = "io.Writer";

/// Names and parameters of the methods.
const VALUES: &[Method] =
    &[("AsMap", &[]), ("Encode", &[WRITER]), ("PathValue", &["string"]), ("Table", &["string"]), ("YAML", &[])];

/// The parameters of a method of a value, if it has one of that name.
pub(super) fn signature(receiver: &Value, name: &str) -> Option<&'static [&'static str]> {
    match receiver.repr() {
        Repr::Native(native) => native
            .signature(name)
            .or_else(|| native.uncallable(name).and_then(|(given, _)| [&[][..], &["[]uint8"]].get(given).copied())),
        Repr::Map(map) if map.ty() == MapType::Values => VALUES.iter().find(|(n, _)| *n == name).map(|(_, p)| *p),
        _ => None,
    }
}

impl Run<'_> {
    /// Calls a method that [`signature`] knows, with as many arguments as it has parameters.
    pub(super) fn call_method(&self, receiver: &Value, name: &str, args: &[Value]) -> Result<Value, FuncError> {
        let path = || args.first().and_then(Value::as_text).map(|t| t.lossy().into_owned()).unwrap_or_default();
        match (receiver.repr(), name) {
            (Repr::Native(native), _) => native.call(name, args, self.origins).map_err(FuncError::Error),
            (Repr::Map(map), "AsMap") => Ok(retyped(receiver, map.plain())),
            (_, "PathValue") => self.path_value(receiver, &path()).map_err(FuncError::Error),
            (_, "Table") => self.table(receiver, &path()).map_err(FuncError::Error),
            (_, "YAML") => {
                let text = yaml::emit(receiver, self.origins).map_err(FuncError::Error)?;
                let mut out = TextBuilder::default();
                out.push_text(&text);
                out.push(b"\n", receiver.origins);
                Ok(Value::text_in(out.finish(), self.origins))
            }
            _ => Err(FuncError::Panic(NIL_POINTER.into())),
        }
    }

    /// The map that lies at a path of keys with dots between them.
    fn table(&self, receiver: &Value, path: &str) -> Result<Value, String> {
        path.split('.').try_fold(receiver.clone(), |table, key| {
            let found = table.as_map().and_then(|map| map.get(key.as_bytes())).filter(is_table_or_values);
            let Some(found) = found else { return Err(format!("{} is not a table", super::lex::quote(key))) };
            let found = self.entry(&table, key, Some(found));
            Ok(found.as_map().map_or(Value::NIL, |map| retyped(&found, map.as_values())))
        })
    }

    /// What lies at a path and is no plain map.
    fn path_value(&self, receiver: &Value, path: &str) -> Result<Value, String> {
        if path.is_empty() {
            return Err("YAML path cannot be empty".into());
        }
        let (above, key) = path.rsplit_once('.').map_or((None, path), |(above, key)| (Some(above), key));
        let none = || format!("{} is not a value", super::lex::quote(key));
        let table =
            above.map_or_else(|| Ok(receiver.clone()), |above| self.table(receiver, above)).map_err(|_| none())?;
        match table.as_map().and_then(|map| map.get(key.as_bytes())) {
            Some(found) if !is_table(&found) => Ok(self.entry(&table, key, Some(found))),
            _ => Err(none()),
        }
    }
}

/// Whether it is a `map[string]interface {}`.
fn is_table(value: &Value) -> bool {
    value.as_map().is_some_and(|map| matches!(map.ty(), MapType::Any | MapType::Nil))
}

fn is_table_or_values(value: &Value) -> bool {
    is_table(value) || value.as_map().is_some_and(|map| map.ty() == MapType::Values)
}

/// The same map under another type, where it is.
fn retyped(value: &Value, map: Map) -> Value {
    let mut plain = Value::new(Repr::Map(map));
    plain.origins = value.origins;
    plain.at = value.at;
    plain
}
