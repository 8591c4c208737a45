//! Every rule `F-n` has a test that is named after it, or a reason why it needs none.
//!
//! `fixtures/rules.txt` lists the rules, `fixtures/rules-without-test.toml` the reasons. A test proves the rules in its name:
//! `f_41_f_42_maps_are_merged`, `f_122_to_f_124_digests`.
#![allow(clippy::disallowed_methods)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Rules that the name of a function names.
fn named(function: &str) -> Vec<String> {
    let words: Vec<&str> = function.split('_').collect();
    let mut found: Vec<String> = Vec::new();
    let mut range = false;
    for pair in words.windows(2) {
        let is_rule = pair[0] == "f" && pair[1].starts_with(|c: char| c.is_ascii_digit());
        let number = |text: &str| text.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse::<u32>().ok();
        if is_rule {
            if let (true, Some(from), Some(to)) = (range, found.last().and_then(|f| number(f)), number(pair[1])) {
                found.extend((from + 1..to).map(|n| n.to_string()));
            }
            found.push(pair[1].to_owned());
        }
        range = pair[1] == "to" || (range && pair[0] == "to");
    }
    found
}

fn tested() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    support::all_files(&root.join("src"), "", &mut files);
    support::all_files(&root.join("tests"), "", &mut files);
    let mut found = BTreeSet::new();
    for (_, bytes) in files.iter().filter(|(name, _)| name.ends_with(".rs")) {
        let text = String::from_utf8_lossy(bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[test]") {
            if let Some(name) = pair[1].strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
                found.extend(named(name));
            }
        }
    }
    found
}

fn read(file: &str) -> String {
    std::fs::read_to_string(support::folder("", "fixtures").join(file)).unwrap()
}

fn reasons() -> BTreeMap<String, String> {
    let text = read("rules-without-test.toml");
    let entry = |line: &str| {
        let (rule, reason) = line.split_once(" = ")?;
        Some((rule.trim().strip_prefix("F-")?.to_owned(), reason.trim().trim_matches('"').to_owned()))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(entry).collect()
}

#[test]
fn names_of_tests_name_rules() {
    assert_eq!(named("f_41_f_44b_x"), ["41", "44b"]);
    assert_eq!(named("f_122_to_f_124_values"), ["122", "123", "124"]);
    assert_eq!(named("a_thing_to_do"), Vec::<String>::new());
}

#[test]
fn every_rule_has_a_test_or_a_reason() {
    let (tested, reasons) = (tested(), reasons());
    let list = read("rules.txt");
    let rules: BTreeSet<String> = list.lines().filter_map(|line| line.strip_prefix("F-")).map(str::to_owned).collect();
    assert!(rules.len() > 300, "the list of rules is there");
    let missing: Vec<&String> = rules.iter().filter(|r| !tested.contains(*r) && !reasons.contains_key(*r)).collect();
    assert!(missing.is_empty(), "{} rules without a test or a reason: {missing:?}", missing.len());
    let idle: Vec<&String> = reasons.keys().filter(|r| tested.contains(*r)).collect();
    assert!(idle.is_empty(), "rules with a reason that have a test: {idle:?}");
    let unknown: Vec<&String> = tested.iter().chain(reasons.keys()).filter(|r| !rules.contains(*r)).collect();
    assert!(unknown.is_empty(), "rules that there are not: {unknown:?}");
    let short: Vec<_> = reasons.iter().filter(|(_, reason)| reason.len() < 20).collect();
    assert!(short.is_empty(), "no reason: {short:?}");
}
