//! Every function against results recorded from Helm 3.17 and 4.2, which agree on all of them.

mod conversions;
pub(in crate::funcs) mod engine;
mod limits;
mod lists;
mod maps;
mod origins;
mod texts;

/// Evaluates every template and compares the quoted output, or the text behind `error calling`.
fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(template, want)| {
            let got = engine::render(template);
            (got != *want).then(|| format!("{template}\n  want {want}\n  got  {got}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_table_is_sorted_and_names_are_unique() {
    for helm in ["3.17.3", "4.1.4", "4.2.2", "4.3.2"] {
        let table = super::table(helm.parse().unwrap());
        assert!(table.windows(2).all(|pair| pair[0].name < pair[1].name), "{helm}");
    }
}

#[test]
fn functions_come_with_the_version_that_brought_them() {
    let has = |helm: &str, name: &str| super::table(helm.parse().unwrap()).iter().any(|def| def.name == name);
    assert!(!has("3.22.0", "mustToYaml") && has("4.1.4", "mustToYaml"));
    assert!(!has("4.1.4", "mustToToml") && has("4.2.2", "mustToToml"));
    assert!(!has("4.2.2", "env") && !has("4.2.2", "expandenv"));
}
