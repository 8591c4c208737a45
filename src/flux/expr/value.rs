//! Values of an expression.

use std::cmp::Ordering;
use std::rc::Rc;

use serde_json::{Map as JsonMap, Value as Json};

/// A value; objects of the cluster are looked into where they lie.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Rc<str>),
    Bytes(Rc<[u8]>),
    List(Rc<[Value<'a>]>),
    Map(Rc<[(Value<'a>, Value<'a>)]>),
    Array(&'a [Json]),
    Object(&'a JsonMap<String, Json>),
}

impl<'a> Value<'a> {
    /// What stands in an object.
    pub fn of(json: &'a Json) -> Value<'a> {
        match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => match n.as_i64() {
                Some(whole) => Value::Int(whole),
                None => Value::Double(n.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.as_str().into()),
            Json::Array(items) => Value::Array(items),
            Json::Object(map) => Value::Object(map),
        }
    }

    /// The name of its type.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::Text(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::List(_) | Value::Array(_) => "list",
            Value::Map(_) | Value::Object(_) => "map",
        }
    }

    /// The elements of a list.
    pub fn items(&self) -> Option<Vec<Value<'a>>> {
        match self {
            Value::List(items) => Some(items.to_vec()),
            Value::Array(items) => Some(items.iter().map(Value::of).collect()),
            _ => None,
        }
    }

    /// The elements of a list, or the keys of a map.
    pub fn range(&self) -> Option<Vec<Value<'a>>> {
        match self {
            Value::Map(entries) => Some(entries.iter().map(|(key, _)| key.clone()).collect()),
            Value::Object(map) => Some(map.keys().map(|key| Value::Text(key.as_str().into())).collect()),
            list => list.items(),
        }
    }

    /// How many there are of what it consists of.
    pub fn size(&self) -> Option<usize> {
        match self {
            Value::Text(text) => Some(text.chars().count()),
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(items) => Some(items.len()),
            Value::Array(items) => Some(items.len()),
            Value::Map(entries) => Some(entries.len()),
            Value::Object(map) => Some(map.len()),
            _ => None,
        }
    }

    /// Under a key of a map; `None` if it is no map.
    pub fn under(&self, key: &Value<'_>) -> Option<Option<Value<'a>>> {
        match self {
            Value::Map(entries) => Some(entries.iter().find(|(k, _)| k.equals(key)).map(|(_, value)| value.clone())),
            Value::Object(map) => Some(match key {
                Value::Text(key) => map.get(&**key).map(Value::of),
                _ => None,
            }),
            _ => None,
        }
    }

    /// Equality; values of different kinds differ, numbers are compared whatever their kind.
    pub fn equals(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
                self.compare(other) == Some(Ordering::Equal)
            }
            (Value::List(_) | Value::Array(_), Value::List(_) | Value::Array(_)) => {
                let (a, b) = (self.items().unwrap_or_default(), other.items().unwrap_or_default());
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.equals(b))
            }
            (Value::Map(_) | Value::Object(_), Value::Map(_) | Value::Object(_)) => {
                let same = |key: &Value<'a>| match (self.under(key).flatten(), other.under(key).flatten()) {
                    (Some(a), Some(b)) => a.equals(&b),
                    _ => false,
                };
                self.size() == other.size() && self.range().unwrap_or_default().iter().all(same)
            }
            _ => false,
        }
    }

    /// The order of two values that have one.
    pub fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
            (Value::Double(a), b) => against(*a, b.whole()?),
            (a, Value::Double(b)) => against(*b, a.whole()?).map(Ordering::reverse),
            (a, b) => Some(a.whole()?.cmp(&b.whole()?)),
        }
    }

    /// A whole number.
    fn whole(&self) -> Option<i128> {
        match self {
            Value::Int(n) => Some(i128::from(*n)),
            Value::Uint(n) => Some(i128::from(*n)),
            _ => None,
        }
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

/// A float against a whole number.
fn against(float: f64, whole: i128) -> Option<Ordering> {
    const LIMIT: f64 = 36_893_488_147_419_103_232.0;
    if float.is_nan() {
        return None;
    }
    if float.abs() >= LIMIT {
        return Some(if float > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let floor = float.floor();
    let order = (floor as i128).cmp(&whole);
    Some(if order == Ordering::Equal && float > floor { Ordering::Greater } else { order })
}
