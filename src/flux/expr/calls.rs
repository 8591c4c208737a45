//! The functions and operators: what each takes and gives, and what it does.

use std::rc::Rc;

use data_encoding::BASE64;

use super::Trouble;
use super::value::Value;
use crate::funcs::re2;

/// A function.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Whether it may stand behind a dot.
    pub method: bool,
    /// Whether it may stand alone.
    pub plain: bool,
    /// What it takes, one word for each overload: a letter per argument. `b`ool, `i`nt, `u`int, `d`ouble, `s`tring,
    /// b`y`tes, `l`ist, `L`ist of strings, `m`ap, `a`ny.
    pub takes: &'static str,
    /// What each gives; the letters go round.
    pub gives: &'static str,
}

const fn operator(name: &'static str, takes: &'static str, gives: &'static str) -> Function {
    Function { name, method: false, plain: true, takes, gives }
}

const fn method(name: &'static str, takes: &'static str, gives: &'static str) -> Function {
    Function { name, method: true, plain: false, takes, gives }
}

const ORDERED: &str = "bb ii uu dd ss yy iu id ui ud di du";

/// Those that are known.
pub const FUNCTIONS: &[Function] = &[
    operator("!", "b", "b"),
    operator("&&", "bb", "b"),
    operator("||", "bb", "b"),
    operator("+", "ii uu dd ss yy ll", "iudsyl"),
    operator("-", "ii uu dd i d", "iudid"),
    operator("*", "ii uu dd", "iud"),
    operator("/", "ii uu dd", "iud"),
    operator("%", "ii uu", "iu"),
    operator("<", ORDERED, "b"),
    operator("<=", ORDERED, "b"),
    operator(">", ORDERED, "b"),
    operator(">=", ORDERED, "b"),
    operator("in", "al am", "b"),
    Function { name: "size", method: true, plain: true, takes: "s y l m", gives: "i" },
    Function { name: "matches", method: true, plain: true, takes: "ss", gives: "b" },
    method("contains", "ss", "b"),
    method("startsWith", "ss", "b"),
    method("endsWith", "ss", "b"),
    method("charAt", "si", "s"),
    method("indexOf", "ss ssi", "i"),
    method("lastIndexOf", "ss ssi", "i"),
    method("join", "L Ls", "s"),
    method("lowerAscii", "s", "s"),
    method("upperAscii", "s", "s"),
    method("replace", "sss sssi", "s"),
    method("split", "ss ssi", "L"),
    method("substring", "si sii", "s"),
    method("trim", "s", "s"),
    method("reverse", "s", "s"),
    operator("int", "i u d s", "i"),
    operator("uint", "i u d s", "u"),
    operator("double", "i u d s", "d"),
    operator("string", "i u d s b y", "s"),
    operator("bool", "b s", "b"),
    operator("bytes", "s y", "y"),
    operator("sets.contains", "ll", "b"),
    operator("sets.equivalent", "ll", "b"),
    operator("sets.intersects", "ll", "b"),
    operator("base64.encode", "y", "s"),
    operator("base64.decode", "s", "y"),
];

/// Those that a controller knows and this program does not.
pub const BEYOND: &[&str] = &[
    "timestamp",
    "duration",
    "type",
    "format",
    "quote",
    "strings.quote",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
];

fn fails<'a>(why: impl Into<String>) -> Result<Value<'a>, Trouble> {
    Err(Trouble::Fails(why.into()))
}

/// Calls a function or an operator on its arguments.
pub fn call<'a>(name: &str, args: &[Value<'a>]) -> Result<Value<'a>, Trouble> {
    let unsuited = || {
        let kinds: Vec<&str> = args.iter().map(Value::kind).collect();
        fails(format!("no such overload: {name}({})", kinds.join(", ")))
    };
    match (name, args) {
        ("==", [a, b]) => Ok(Value::Bool(a.equals(b))),
        ("!=", [a, b]) => Ok(Value::Bool(!a.equals(b))),
        ("!", [Value::Bool(a)]) => Ok(Value::Bool(!a)),
        ("<" | "<=" | ">" | ">=", [a, b]) => match a.compare(b) {
            Some(order) => Ok(Value::Bool(match name {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            })),
            None if matches!((a, b), (Value::Double(_), _) | (_, Value::Double(_))) => Ok(Value::Bool(false)),
            None => unsuited(),
        },
        ("in", [what, list]) => match (list.items(), list.under(what)) {
            (Some(items), _) => Ok(Value::Bool(items.iter().any(|item| item.equals(what)))),
            (None, Some(found)) => Ok(Value::Bool(found.is_some())),
            _ => unsuited(),
        },
        ("size", [of]) => of.size().map_or_else(unsuited, |size| Ok(Value::Int(size as i64))),
        ("+" | "-" | "*" | "/" | "%", _) => arithmetic(name, args).unwrap_or_else(unsuited),
        ("int" | "uint" | "double" | "string" | "bool" | "bytes", [of]) => convert(name, of).unwrap_or_else(unsuited),
        ("sets.contains" | "sets.equivalent" | "sets.intersects", [a, b]) => {
            let (Some(a), Some(b)) = (a.items(), b.items()) else { return unsuited() };
            let within = |a: &[Value], b: &[Value]| a.iter().all(|a| b.iter().any(|b| a.equals(b)));
            Ok(Value::Bool(match name {
                "sets.contains" => within(&b, &a),
                "sets.equivalent" => within(&a, &b) && within(&b, &a),
                _ => a.iter().any(|a| b.iter().any(|b| a.equals(b))),
            }))
        }
        ("base64.encode", [Value::Bytes(bytes)]) => Ok(Value::Text(BASE64.encode(bytes).into())),
        ("base64.decode", [Value::Text(text)]) => match BASE64.decode(text.as_bytes()) {
            Ok(bytes) => Ok(Value::Bytes(bytes.into())),
            Err(_) => fails("illegal base64 data"),
        },
        ("join", [list, rest @ ..]) => {
            let parts = list.items().unwrap_or_default();
            let parts: Option<Vec<Rc<str>>> = parts.iter().map(text_of).collect();
            match (parts, rest.first().map_or(Some("".into()), text_of)) {
                (Some(parts), Some(between)) => Ok(Value::Text(parts.join(&*between).into())),
                _ => unsuited(),
            }
        }
        (_, [Value::Text(text), rest @ ..]) => on_text(name, text, rest).unwrap_or_else(unsuited),
        _ => unsuited(),
    }
}

fn text_of(value: &Value<'_>) -> Option<Rc<str>> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn arithmetic<'a>(name: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Trouble>> {
    let or = |value: Option<Value<'a>>, why: &str| value.map_or_else(|| fails(why.to_owned()), Ok);
    /// An operation on integers of either kind.
    macro_rules! checked {
        ($a:expr, $b:expr) => {
            match name {
                "+" => $a.checked_add(*$b),
                "-" => $a.checked_sub(*$b),
                "*" => $a.checked_mul(*$b),
                "/" => $a.checked_div(*$b),
                _ => $a.checked_rem(*$b),
            }
        };
    }
    Some(match (name, args) {
        ("/" | "%", [_, Value::Int(0) | Value::Uint(0)]) => fails("division by zero"),
        (_, [Value::Int(a), Value::Int(b)]) => or(checked!(a, b).map(Value::Int), "integer overflow"),
        (_, [Value::Uint(a), Value::Uint(b)]) => or(checked!(a, b).map(Value::Uint), "unsigned integer overflow"),
        ("+", [Value::Double(a), Value::Double(b)]) => Ok(Value::Double(a + b)),
        ("-", [Value::Double(a), Value::Double(b)]) => Ok(Value::Double(a - b)),
        ("*", [Value::Double(a), Value::Double(b)]) => Ok(Value::Double(a * b)),
        ("/", [Value::Double(a), Value::Double(b)]) => Ok(Value::Double(a / b)),
        ("-", [Value::Int(a)]) => or(a.checked_neg().map(Value::Int), "integer overflow"),
        ("-", [Value::Double(a)]) => Ok(Value::Double(-a)),
        ("+", [Value::Text(a), Value::Text(b)]) => Ok(Value::Text(format!("{a}{b}").into())),
        ("+", [Value::Bytes(a), Value::Bytes(b)]) => Ok(Value::Bytes([&**a, &**b].concat().into())),
        ("+", [a, b]) => {
            let mut all = a.items()?;
            all.extend(b.items()?);
            Ok(Value::List(all.into()))
        }
        _ => return None,
    })
}

fn convert<'a>(name: &str, of: &Value<'a>) -> Option<Result<Value<'a>, Trouble>> {
    let or = |value: Option<Value<'a>>| value.map_or_else(|| fails("type conversion error"), Ok);
    Some(match (name, of) {
        ("int", Value::Int(_)) | ("uint", Value::Uint(_)) | ("double", Value::Double(_)) => Ok(of.clone()),
        ("string", Value::Text(_)) | ("bool", Value::Bool(_)) | ("bytes", Value::Bytes(_)) => Ok(of.clone()),
        ("int", Value::Uint(n)) => or(i64::try_from(*n).ok().map(Value::Int)),
        ("int", Value::Double(n)) => {
            or((*n > i64::MIN as f64 && *n < i64::MAX as f64).then_some(Value::Int(*n as i64)))
        }
        ("int", Value::Text(text)) => or(text.parse().ok().map(Value::Int)),
        ("uint", Value::Int(n)) => or(u64::try_from(*n).ok().map(Value::Uint)),
        ("uint", Value::Double(n)) => or((*n >= 0.0 && *n < u64::MAX as f64).then_some(Value::Uint(*n as u64))),
        ("uint", Value::Text(text)) => or(text.parse().ok().map(Value::Uint)),
        ("double", Value::Int(n)) => Ok(Value::Double(*n as f64)),
        ("double", Value::Uint(n)) => Ok(Value::Double(*n as f64)),
        ("double", Value::Text(text)) => or(text.parse().ok().map(Value::Double)),
        ("string", Value::Int(n)) => Ok(Value::Text(n.to_string().into())),
        ("string", Value::Uint(n)) => Ok(Value::Text(n.to_string().into())),
        ("string", Value::Bool(b)) => Ok(Value::Text(b.to_string().into())),
        ("string", Value::Bytes(bytes)) => or(std::str::from_utf8(bytes).ok().map(|text| Value::Text(text.into()))),
        ("string", Value::Double(_)) => Err(Trouble::Beyond("string() of a float".into())),
        ("bool", Value::Text(text)) => or(match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(Value::Bool(false)),
            _ => None,
        }),
        ("bytes", Value::Text(text)) => Ok(Value::Bytes(text.as_bytes().into())),
        _ => return None,
    })
}

/// Functions of a text; positions count characters.
fn on_text<'a>(name: &str, text: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Trouble>> {
    let out = |text: String| Ok(Value::Text(text.into()));
    let length = || text.chars().count() as i64;
    let part = |from: i64, to: i64| text.chars().skip(from as usize).take((to - from) as usize).collect::<String>();
    Some(match (name, args) {
        ("contains", [Value::Text(part)]) => Ok(Value::Bool(text.contains(&**part))),
        ("startsWith", [Value::Text(part)]) => Ok(Value::Bool(text.starts_with(&**part))),
        ("endsWith", [Value::Text(part)]) => Ok(Value::Bool(text.ends_with(&**part))),
        ("matches", [Value::Text(pattern)]) => match re2::compile(pattern.as_bytes()) {
            Ok(regex) => Ok(Value::Bool(regex.is_match(text.as_bytes()))),
            Err(_) => fails("error parsing regexp"),
        },
        ("lowerAscii", []) => out(text.to_ascii_lowercase()),
        ("upperAscii", []) => out(text.to_ascii_uppercase()),
        ("trim", []) => out(text.trim().to_owned()),
        ("reverse", []) => out(text.chars().rev().collect()),
        ("charAt", [Value::Int(at)]) if (0..=length()).contains(at) => out(part(*at, at + 1)),
        ("substring", [Value::Int(from)]) if (0..=length()).contains(from) => out(part(*from, length())),
        ("substring", [Value::Int(from), Value::Int(to)]) if 0 <= *from && from <= to && *to <= length() => {
            out(part(*from, *to))
        }
        ("charAt" | "substring", _) => fails("index out of range"),
        ("replace", [Value::Text(old), Value::Text(new)]) => out(text.replace(&**old, new)),
        ("replace", [Value::Text(old), Value::Text(new), Value::Int(most)]) => match usize::try_from(*most) {
            Ok(most) => out(text.replacen(&**old, new, most)),
            Err(_) => out(text.replace(&**old, new)),
        },
        ("split", [Value::Text(by), rest @ ..]) => {
            let pieces = |found: Vec<&str>| Ok(Value::List(found.into_iter().map(|p| Value::Text(p.into())).collect()));
            let letters = || text.split("").filter(|letter| !letter.is_empty());
            match (rest.first(), by.is_empty()) {
                (Some(Value::Int(0)), _) => pieces(Vec::new()),
                (Some(Value::Int(1)), _) => pieces(vec![text]),
                (Some(Value::Int(most)), false) if *most > 0 => pieces(text.splitn(*most as usize, &**by).collect()),
                (Some(Value::Int(most)), true) if *most > 0 => {
                    return Some(Err(Trouble::Beyond("split() into letters".into())));
                }
                (_, true) => pieces(letters().collect()),
                (_, false) => pieces(text.split(&**by).collect()),
            }
        }
        ("indexOf" | "lastIndexOf", [Value::Text(part), rest @ ..]) => {
            if !rest.is_empty() {
                return Some(Err(Trouble::Beyond(format!("{name}() from a position"))));
            }
            let found = if name == "indexOf" { text.find(&**part) } else { text.rfind(&**part) };
            Ok(Value::Int(found.map_or(-1, |at| text[..at].chars().count() as i64)))
        }
        _ => return None,
    })
}
