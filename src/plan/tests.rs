//! What a whole run promises, on the shipped scenario S1 + S2.

use serde_json::json;

use super::assume::Choices;
use super::charts::Charts;
use super::gather::{Subject, gather};
use super::lint::lint;
use super::render::Renderer;
use super::run::Session;
use super::waves::order;
use super::whatif::{Side, what_if};
use crate::chart::{Chart, Files};
use crate::cluster::import::import;
use crate::cluster::overlay::Overlay;
use crate::cluster::snapshot::Snapshot;
use crate::flux::settings::Settings;
use crate::report::contract::{Release, Verdict};

const CLUSTER: &str = include_str!("../../fixtures/scenarios/s1-s2/cluster.yaml");
const FLUX: &str = include_str!("../../fixtures/scenarios/s1-s2/flux.yaml");
const STORAGE: &str = include_str!("../../fixtures/scenarios/s1-s2/helm-secrets.yaml");

fn files(cluster: &str) -> Vec<(String, Vec<u8>)> {
    let all = [("cluster.yaml", cluster), ("flux.yaml", FLUX), ("helm-secrets.yaml", STORAGE)];
    all.into_iter().map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect()
}

fn platform(cluster: &str) -> Release {
    let report = Session::open(&files(cluster), &[], &Choices::default()).report();
    report.releases.into_iter().find(|r| r.release.name == "backupstrategy-controller").unwrap()
}

/// The cluster without its BucketClaims, and without the word that everything was collected.
fn unseen() -> String {
    let mut items = CLUSTER.split("\n- ").map(str::to_owned).collect::<Vec<_>>();
    items.retain(|item| !item.contains("\n  kind: BucketClaim\n"));
    items.join("\n- ").replace("complete: true", "complete: false")
}

#[test]
fn a_fact_that_nobody_collected_is_neither_present_nor_absent() {
    let release = platform(&unseen());
    let Verdict::Unknown { missing } = &release.verdict else { panic!("{}", release.verdict) };
    assert!(missing[0].starts_with("BucketClaim tenant-root/bucket-cozy-backups"), "{missing:?}");
}

#[test]
fn a_fact_that_is_known_to_be_absent_is_waited_for() {
    let release = platform(&unseen().replace("complete: false", "complete: true"));
    assert!(matches!(release.verdict, Verdict::Wait { .. }), "{}", release.verdict);
}

#[test]
fn the_second_wave_renders_on_what_the_first_one_makes() {
    let (facts, _) = import(&files(CLUSTER));
    let settings = Settings::default();
    let subjects = gather(&facts, &Charts::default(), &settings, &mut Vec::new());
    let ordered = order(&Renderer::new(settings), &subjects, &facts);
    let reader = subjects.iter().position(|s| s.release.name == "backupstrategy-controller").unwrap();
    assert_eq!(ordered.wave[&reader], 2);
    let text = |docs: &[super::render::Doc]| docs.iter().map(|d| d.object.to_string()).collect::<String>();
    let first = text(&ordered.first[reader].as_ref().unwrap().now.docs);
    let forced = text(&ordered.final_analysis(reader).unwrap().now.docs);
    assert!(first.contains("http://seaweedfs-s3") && !forced.contains("http://seaweedfs-s3"));
    assert!(forced.contains("https://s3."));
}

fn chart(templates: &[(&str, &str)], values: &str) -> Chart {
    let mut files: Files =
        templates.iter().map(|(name, text)| (format!("templates/{name}"), text.as_bytes().to_vec())).collect();
    files.insert("Chart.yaml".into(), b"apiVersion: v2\nname: a\nversion: 1.0.0\n".to_vec());
    files.insert("values.yaml".into(), values.as_bytes().to_vec());
    Chart::from_folder(files).unwrap()
}

#[test]
fn what_another_helm_renders_otherwise_is_told_with_its_rule() {
    let templates = [
        (
            "null.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n}\ndata: {has: '{{ hasKey .Values \"top\" }}'}",
        ),
        ("same.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same}"),
    ];
    let subject = Subject::alone("r", "ns", chart(&templates, "top: null"), json!({}));
    let facts = Snapshot::default();
    let renderer = |helm: &str| Renderer::new(Settings::default()).with_helm(helm.parse().unwrap());
    let (old, new) = (renderer("4.1"), renderer("4.2"));
    let side = |renderer| Side { renderer, facts: &facts };
    let found = what_if(&side(&old), &side(&new), &subject).unwrap();
    let [object] = &found.objects[..] else { panic!("{found:?}") };
    assert_eq!((object.object.name.as_str(), object.fields[0].path.as_str()), ("n", ".data.has"));
    assert!(object.causes[0].starts_with("`H-1`"), "{:?}", object.causes);
    assert!(what_if(&side(&old), &side(&old), &subject).is_none());
}

#[test]
fn what_another_cluster_renders_otherwise_is_told_with_the_capability() {
    let template = "{{ if .Capabilities.APIVersions.Has \"a.io/v1\" }}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}{{ end }}";
    let subject = Subject::alone("r", "ns", chart(&[("c.yaml", template)], ""), json!({}));
    let facts = Snapshot::default();
    let mut discovery = facts.discovery.clone();
    discovery.add_api("a.io/v1");
    let other = Overlay::with_discovery(&facts, discovery);
    let renderer = Renderer::new(Settings::default());
    let (before, after) = (Side { renderer: &renderer, facts: &facts }, Side { renderer: &renderer, facts: &other });
    let found = what_if(&before, &after, &subject).unwrap();
    assert_eq!(found.objects[0].does, "created");
    assert_eq!(found.objects[0].causes, ["Capabilities.APIVersions a.io/v1"]);
}

fn hazards(templates: &[(&str, &str)]) -> Vec<&'static str> {
    let renderer = Renderer::new(Settings::default());
    let found = lint(&renderer, "r", "ns", chart(templates, ""), json!({}));
    assert_eq!(found.error, None);
    found.items.iter().map(|item| item.hazard.word()).collect()
}

#[test]
fn a_chart_that_asks_nobody_has_no_hazard() {
    assert!(hazards(&[("c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}")]).is_empty());
}

#[test]
fn lint_tells_each_hazard_apart() {
    let config = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    let gate = format!("{{{{ if (lookup \"v1\" \"Secret\" \"x\" \"y\").data }}}}\n{}{{{{ end }}}}", config("gated"));
    assert_eq!(hazards(&[("g.yaml", &gate)]), ["GATE"]);
    let foreign = gate.replace("\"v1\" \"Secret\"", "\"a.io/v1\" \"Thing\"");
    assert_eq!(hazards(&[("k.yaml", &foreign)]), ["GATE"], "every kind that the chart asks for is served");
    let once = format!("{{{{ if not (lookup \"v1\" \"ConfigMap\" \"ns\" \"m\") }}}}\n{}{{{{ end }}}}", config("m"));
    assert_eq!(hazards(&[("o.yaml", &once)]), ["CREATED_ONCE", "SELF_PRODUCED"]);
    let random = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: {{ randAlphaNum 9 }}}";
    assert_eq!(hazards(&[("r.yaml", random)]), ["ROTATES"]);
    let salted = random.replace("randAlphaNum 9", "htpasswd \"a\" \"known\" | quote");
    assert_eq!(hazards(&[("r.yaml", &salted)]), Vec::<&str>::new(), "another salt is no other password");
    let fail = format!(
        "{{{{ if not (lookup \"v1\" \"Secret\" \"x\" \"y\") }}}}{{{{ fail \"no\" }}}}{{{{ end }}}}\n{}",
        config("made")
    );
    assert_eq!(hazards(&[("f.yaml", &fail)]), ["ERROR_GATE"]);
    let own = fail.replace("\"Secret\" \"x\" \"y\"", "\"ConfigMap\" \"ns\" \"made\"");
    assert_eq!(hazards(&[("d.yaml", &own)]), ["DEADLOCK", "SELF_PRODUCED"]);
    let refuses = "{{ if lookup \"v1\" \"Secret\" \"x\" \"old\" }}{{ fail \"no\" }}{{ end }}{{ $_ := lookup \"v1\" \"Secret\" \"x\" \"y\" }}";
    assert_eq!(hazards(&[("e.yaml", refuses)]), Vec::<&str>::new(), "what refuses what is there waits for nothing");
}
