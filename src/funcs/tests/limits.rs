//! No argument makes a function panic, hang or fill the memory.

use super::super as funcs;
use super::engine::{call, execute};
use crate::template::func::{FuncError, Param};
use crate::value::{IntType, ListType, Origins, Repr, Text, Value};

/// A map that holds itself.
fn knot() -> Value {
    let map = Value::map(Default::default());
    map.as_map().unwrap().insert("self", map.clone());
    map
}

/// Unties a [`knot`], so that it is freed.
fn untie(knot: &Value) {
    knot.as_map().unwrap().entries_mut().clear();
}

fn samples(param: Param, knot: &Value) -> Vec<Value> {
    let ints = [i64::MIN, -4, -1, 0, 1, 7, i64::MAX];
    match param {
        Param::Str => ["", "a", "Ab 1-c\nd", "é=="]
            .map(Value::text)
            .into_iter()
            .chain([Value::text(Text::new(*b"\xff \xc3"))])
            .collect(),
        Param::Int => ints.map(Value::int).into(),
        Param::Int64 => ints.map(Value::int64).into(),
        Param::Float => [f64::NAN, f64::INFINITY, -0.0, 1e300].map(Value::float).into(),
        Param::Bool => [true, false].map(Value::bool).into(),
        Param::Map => vec![Value::NIL, Value::map(Default::default()), knot.clone()],
        _ => vec![
            Value::NIL,
            Value::bool(true),
            Value::int(i64::MIN),
            Value::new(Repr::Int(-1, IntType::Uint64)),
            Value::float(f64::NAN),
            Value::float(1e300),
            Value::text("0x"),
            Value::list(vec![Value::NIL, knot.clone()]),
            Value::typed_list(vec![Value::int(1), Value::int(2)], ListType::Byte),
            Value::typed_list(vec![], ListType::Nil),
            knot.clone(),
        ],
    }
}

#[test]
fn extreme_arguments_end_in_a_result_or_an_error() {
    let origins = Origins::new(true);
    let knot = knot();
    let parts = [
        funcs::case::FUNCS,
        funcs::convert::FUNCS,
        funcs::defaults::FUNCS,
        funcs::dicts::FUNCS,
        funcs::encode::FUNCS,
        funcs::helm::FUNCS,
        funcs::lists::FUNCS,
        funcs::math::FUNCS,
        funcs::paths::FUNCS,
        funcs::reflect::FUNCS,
        funcs::strings::FUNCS,
    ];
    for def in parts.into_iter().flatten() {
        let mut params = def.params.to_vec();
        params.extend(def.variadic.into_iter().cycle().take(if params.is_empty() { 2 } else { 1 }));
        let choices: Vec<Vec<Value>> = params.iter().map(|param| samples(*param, &knot)).collect();
        let all: usize = choices.iter().map(Vec::len).product();
        for mut pick in 0..all {
            let args: Vec<Value> = choices
                .iter()
                .map(|values| {
                    let value = values[pick % values.len()].clone();
                    pick /= values.len();
                    value
                })
                .collect();
            for count in def.params.len()..=args.len() {
                let _ = call(def.name, &args[..count], &origins);
            }
        }
    }
    untie(&knot);
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let o = &Origins::new(false);
    let refused = |function: &str, args: &[Value]| {
        assert!(matches!(call(function, args, o), Err(FuncError::Limit(_))), "{function}");
    };
    let billion = Value::int(1_000_000_000);
    refused("until", std::slice::from_ref(&billion));
    refused("untilStep", &[Value::int(0), Value::int(i64::MAX), Value::int(1)]);
    refused("untilStep", &[Value::int(0), Value::int(i64::MAX), Value::int(i64::MAX - 1)]);
    refused("repeat", &[billion.clone(), Value::text("x")]);
    refused("indent", &[billion, Value::text("x")]);
    let mut list = Value::list(vec![Value::NIL; 1000]);
    let failed = (0..20).find_map(|_| match call("concat", &[list.clone(), list.clone()], o) {
        Ok(longer) => {
            list = longer;
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(failed, Some(FuncError::Limit(_))));
}

#[test]
fn maps_that_hold_themselves_are_refused_where_all_is_visited() {
    let o = &Origins::new(true);
    let (knot, other) = (knot(), knot());
    for (function, args) in [
        ("deepCopy", vec![knot.clone()]),
        ("deepEqual", vec![knot.clone(), other.clone()]),
        ("merge", vec![other.clone(), knot.clone()]),
    ] {
        assert!(matches!(call(function, &args, o), Err(FuncError::Limit(_))), "{function}");
    }
    assert!(call("toString", std::slice::from_ref(&knot), o).is_ok(), "printing stops at a depth");
    untie(&knot);
    untie(&other);
}

#[test]
fn maps_that_hold_a_map_twice_end_the_render_where_they_are_written() {
    let o = &Origins::new(true);
    let mut value = Value::map(Default::default());
    for _ in 0..200 {
        value = call("dict", &[Value::text("a"), value.clone(), Value::text("b"), value], o).unwrap();
    }
    assert!(value.deep_origins(o).is_empty(), "origins are collected once");
    assert!(matches!(call("toYaml", &[value], o), Err(FuncError::Limit(_))));
}

#[test]
fn chance_is_the_same_in_every_run_and_differs_from_turn_to_turn() {
    let o = &Origins::new(false);
    let template = "{{ range until 3 }}{{ shuffle \"abcdefghijklmnop\" }} {{ end }}";
    let dot = Value::map(Default::default());
    let first = execute(template, &dot, o).unwrap();
    assert_eq!(first, execute(template, &dot, o).unwrap());
    let words: std::collections::BTreeSet<String> = first.lossy().split_whitespace().map(str::to_owned).collect();
    assert_eq!(words.len(), 3);
    for word in words {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        assert_eq!(letters.into_iter().collect::<String>(), "abcdefghijklmnop");
    }
}
