//! What a whole run promises, on the shipped scenario S1 + S2.

use super::assume::Choices;
use super::charts::Charts;
use super::gather::gather;
use super::render::Renderer;
use super::run::Session;
use super::waves::order;
use crate::cluster::import::import;
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
