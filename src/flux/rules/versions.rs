//! Differences between versions of the controller (`F-290` to `F-313`, `F-373` to `F-387`).

use serde_json::json;

use super::super::decide::{Outcome, State};
use super::super::decide_tests::Setup;
use super::super::postrender::Strategy;
use super::super::settings::{ControllerVersion, Settings};
use super::super::simulate;

fn of(version: &str) -> Settings {
    Settings { controller: version.parse().unwrap(), ..Settings::default() }
}

#[test]
fn f_290_each_controller_has_its_helm() {
    for (controller, helm) in [
        ("1.2.0", "3.17.1"),
        ("v1.3.0", "3.17.3"),
        ("1.4.0", "3.19.0"),
        ("1.4.5", "3.19.2"),
        ("1.5.3", "4.1.4"),
        ("1.6.1", "4.2.2"),
        ("1.6.3", "4.2.4"),
        ("1.6", "4.2.4"),
        ("1.4", "3.19.2"),
    ] {
        let controller: ControllerVersion = controller.parse().unwrap();
        assert_eq!(controller.helm().to_string(), helm, "{controller}");
    }
    for unknown in ["1.1.0", "0.37.4", "latest", "", "1.6.3-rc.1"] {
        assert!(unknown.parse::<ControllerVersion>().is_err(), "{unknown}");
    }
}

#[test]
fn f_305_f_346_what_goes_through_the_post_renderers() {
    let named = |name: &str| json!({"spec": {"postRenderStrategy": name}});
    for (version, hr, want) in [
        ("1.2.0", json!({}), Strategy::NoHooks),
        ("1.4.5", named("combined"), Strategy::NoHooks),
        ("1.5.0", named("nohooks"), Strategy::Combined),
        ("1.5.3", json!({}), Strategy::Combined),
        ("1.5.4", json!({}), Strategy::NoHooks),
        ("1.5.5", named("combined"), Strategy::NoHooks),
        ("1.6.0", json!({}), Strategy::Combined),
        ("1.6.3", named("separate"), Strategy::Separate),
        ("1.6.3", named("nohooks"), Strategy::NoHooks),
    ] {
        assert_eq!(of(version).strategy(&hr), want, "{version} {hr}");
    }
    let helm3 = Settings { helm3_defaults: true, ..of("1.6.3") };
    assert_eq!(helm3.strategy(&json!({})), Strategy::NoHooks);
    assert_eq!(helm3.strategy(&named("combined")), Strategy::Combined);
}

#[test]
fn f_285_f_294_f_311_f_375_f_375a_renderers_are_compared_by_the_generation_of_ready() {
    let state = |version: &str, ready: Option<i64>, observed: i64| {
        let mut setup = Setup::new(&["deployed"]).spec(json!({"postRenderers": [{}]})).seen_by(&of(version));
        setup.hr["metadata"]["generation"] = 2.into();
        setup.hr["status"]["observedGeneration"] = observed.into();
        if let Some(generation) = ready {
            setup.hr["status"]["conditions"] =
                json!([{"type": "Ready", "status": "True", "observedGeneration": generation}]);
        }
        let (hr, all) = setup.release();
        match simulate(&hr, &setup.facts, &all, &of(version)).outcome {
            Outcome::Decided { state, .. } => state,
            other => panic!("{other:?}"),
        }
    };
    for old in ["1.2.0", "1.4.5"] {
        assert_eq!(state(old, Some(1), 1), State::OutOfSync, "{old}");
        assert_eq!(state(old, Some(2), 1), State::InSync, "{old}: hidden by a Ready of the new generation");
        assert_eq!(state(old, None, 1), State::InSync, "{old}: without Ready");
    }
    assert_eq!(state("1.6.3", Some(2), 1), State::OutOfSync);
    assert_eq!(state("1.6.3", Some(1), 2), State::InSync);
}

#[test]
fn f_299_f_309_f_61_f_377_values_are_watched_from_1_4() {
    assert!(!of("1.2.0").watches_values() && !of("1.3.0").watches_values());
    assert!(of("1.4.0").watches_values() && of("1.6.3").watches_values());
    assert!(!Settings { no_config_watch: true, ..of("1.6.3") }.watches_values());
}

#[test]
fn f_292_f_374_values_whose_digest_is_random_are_unknown_to_old_controllers() {
    let outcome = |version: &str| {
        let setup =
            Setup::new(&["deployed"]).spec(json!({"values": {"l": [[{"a": 1, "b": 2}]]}})).seen_by(&of(version));
        let (hr, all) = setup.release();
        simulate(&hr, &setup.facts, &all, &of(version)).outcome
    };
    assert!(matches!(outcome("1.2.0"), Outcome::Unknown { .. }));
    assert!(matches!(outcome("1.4.5"), Outcome::Decided { state: State::OutOfSync, .. }));
}
