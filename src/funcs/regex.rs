//! The functions on regular expressions.
//!
//! The plain variants panic in Go on a bad pattern (except `regexMatch`, which answers false), the `must` variants
//! return the error; the text differs by the `regexp: Compile` in front.

use super::{always, re2};
use crate::codec::goquote;
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param};
use crate::value::{ListType, Text, Value};

const PATTERN_AND_TEXT: &[Param] = &[Param::Str, Param::Str];
const WITH_COUNT: &[Param] = &[Param::Str, Param::Str, Param::Int];
const WITH_REPLACEMENT: &[Param] = &[Param::Str, Param::Str, Param::Str];

const fn def(
    name: &'static str,
    params: &'static [Param],
    run: fn(&mut Call<'_>, &[Value]) -> Result<Value, FuncError>,
    doc: &'static str,
) -> FuncDef {
    FuncDef { name, params, variadic: None, flow: Flow::Deep, effect: Effect::Pure, since: always, run, doc }
}

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    def("regexMatch", PATTERN_AND_TEXT, regex_match, "Whether a text matches a pattern; false for a bad pattern."),
    def("mustRegexMatch", PATTERN_AND_TEXT, must_match, "Whether a text matches a pattern."),
    def("regexFind", PATTERN_AND_TEXT, |c, a| find(c, a, plain), "The first match, or the empty text."),
    def("mustRegexFind", PATTERN_AND_TEXT, |c, a| find(c, a, must), "The first match, or the empty text."),
    def("regexFindAll", WITH_COUNT, |c, a| find_all(c, a, plain), "Up to n matches; -1 for all."),
    def("mustRegexFindAll", WITH_COUNT, |c, a| find_all(c, a, must), "Up to n matches; -1 for all."),
    def("regexReplaceAll", WITH_REPLACEMENT, |c, a| replace(c, a, plain), "Replaces matches; $1 stands for a group."),
    def(
        "mustRegexReplaceAll",
        WITH_REPLACEMENT,
        |c, a| replace(c, a, must),
        "Replaces matches; $1 stands for a group.",
    ),
    def("regexReplaceAllLiteral", WITH_REPLACEMENT, |c, a| replace_literal(c, a, plain), "Replaces matches by a text."),
    def(
        "mustRegexReplaceAllLiteral",
        WITH_REPLACEMENT,
        |c, a| replace_literal(c, a, must),
        "Replaces matches by a text.",
    ),
    def(
        "regexSplit",
        WITH_COUNT,
        |c, a| split(c, a, plain),
        "Splits a text at matches, into n pieces at most; -1 for all.",
    ),
    def("mustRegexSplit", WITH_COUNT, |c, a| split(c, a, must), "Splits a text at matches, into n pieces at most."),
    def("regexQuoteMeta", &[Param::Str], quote_meta, "The pattern that matches just this text."),
];

/// How a bad pattern is reported.
type Report = fn(&Text, re2::ParseError) -> FuncError;

fn plain(pattern: &Text, error: re2::ParseError) -> FuncError {
    let simple = pattern
        .as_str()
        .is_some_and(|text| !text.chars().any(|c| (c < ' ' && c != '\t') || matches!(c, '`' | '\x7f' | '\u{feff}')));
    let shown = if simple { format!("`{}`", pattern.lossy()) } else { goquote::quote(pattern.bytes()) };
    FuncError::Panic(format!("regexp: Compile({shown}): {error}"))
}

fn must(_: &Text, error: re2::ParseError) -> FuncError {
    FuncError::Error(error.to_string())
}

fn text(args: &[Value], index: usize) -> Text {
    args.get(index).and_then(Value::as_text).cloned().unwrap_or_default()
}

fn count(args: &[Value]) -> i64 {
    args.get(2).and_then(Value::as_int).unwrap_or(0)
}

fn compiled(call: &mut Call<'_>, args: &[Value], report: Report) -> Result<(std::rc::Rc<re2::Regex>, Text), FuncError> {
    let pattern = text(args, 0);
    let regex = re2::compile(pattern.bytes()).map_err(|e| report(&pattern, e))?;
    let text = text(args, 1);
    call.engine.work(regex.work(text.len()))?;
    Ok((regex, text))
}

/// Nothing found is Go's nil slice, which JSON and YAML write as `null`.
fn strings(items: Vec<Text>) -> Value {
    if items.is_empty() {
        return Value::typed_list(Vec::new(), ListType::NilStr);
    }
    Value::typed_list(items.into_iter().map(Value::text).collect(), ListType::Str)
}

fn regex_match(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    match compiled(call, args, plain) {
        Ok((regex, text)) => Ok(Value::bool(regex.is_match(text.bytes()))),
        Err(FuncError::Limit(limit)) => Err(FuncError::Limit(limit)),
        Err(_) => Ok(Value::bool(false)),
    }
}

fn must_match(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let (regex, text) = compiled(call, args, must)?;
    Ok(Value::bool(regex.is_match(text.bytes())))
}

fn find(call: &mut Call<'_>, args: &[Value], report: Report) -> Result<Value, FuncError> {
    let (regex, text) = compiled(call, args, report)?;
    Ok(Value::text(regex.find(text.bytes()).map(|(start, end)| text.slice(start, end)).unwrap_or_default()))
}

fn find_all(call: &mut Call<'_>, args: &[Value], report: Report) -> Result<Value, FuncError> {
    let (regex, text) = compiled(call, args, report)?;
    let found = regex.find_all(text.bytes(), count(args));
    Ok(strings(found.into_iter().map(|(start, end)| text.slice(start, end)).collect()))
}

fn replace(call: &mut Call<'_>, args: &[Value], report: Report) -> Result<Value, FuncError> {
    let (regex, source) = compiled(call, args, report)?;
    Ok(Value::text(regex.replace_all(&source, &text(args, 2))))
}

fn replace_literal(call: &mut Call<'_>, args: &[Value], report: Report) -> Result<Value, FuncError> {
    let (regex, source) = compiled(call, args, report)?;
    Ok(Value::text(regex.replace_all_literal(&source, &text(args, 2))))
}

fn split(call: &mut Call<'_>, args: &[Value], report: Report) -> Result<Value, FuncError> {
    let (regex, text) = compiled(call, args, report)?;
    Ok(strings(regex.split(&text, count(args)).unwrap_or_default()))
}

fn quote_meta(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    Ok(Value::text(re2::quote_meta(&text(args, 0))))
}

#[cfg(test)]
mod tests {
    use crate::funcs::tests::engine::render;

    #[test]
    fn bad_patterns_fail_as_each_variant_does() {
        for (template, result) in [
            ("{{ regexMatch \"[\" \"a\" }}", "\"false\""),
            ("{{ mustRegexMatch \"[\" \"a\" }}", "ERR mustRegexMatch: error parsing regexp: missing closing ]: `[`"),
            (
                "{{ regexFind \"[\" \"a\" }}",
                "ERR regexFind: regexp: Compile(`[`): error parsing regexp: missing closing ]: `[`",
            ),
            (
                "{{ regexSplit \"`[\" \"a\" -1 }}",
                "ERR regexSplit: regexp: Compile(\"`[\"): error parsing regexp: missing closing ]: `[`",
            ),
        ] {
            assert_eq!(render(template), result);
        }
    }

    #[test]
    fn matches_come_as_texts_and_lists() {
        for (template, result) in [
            (
                "{{ regexFindAll \"[a-z]+\" \"ab 1 cd e\" 2 }} {{ regexFindAll \"x\" \"a\" -1 | toJson }}",
                "[ab cd] null",
            ),
            ("{{ regexFindAll \"x\" \"a\" -1 | printf \"%T %#v\" 1 }}", "int []string(nil)"),
            ("{{ regexFind \"x\" \"a\" }}|{{ regexFind \"b.\" \"abc\" }}", "|bc"),
            (
                "{{ regexReplaceAll \"a(x*)b\" \"-axxb-\" \"${1}W\" }} {{ regexReplaceAllLiteral \"b\" \"abc\" \"$0\" }}",
                "-xxW- a$0c",
            ),
            (
                "{{ regexSplit \"z+\" \"pizza\" -1 | toJson }} {{ regexSplit \"z\" \"pizza\" 0 }}",
                "[\\\"pi\\\",\\\"a\\\"] []",
            ),
            ("{{ regexQuoteMeta \"1.2.3\" }}", "1\\\\.2\\\\.3"),
        ] {
            assert_eq!(render(template), format!("\"{result}\""), "{template}");
        }
    }
}
