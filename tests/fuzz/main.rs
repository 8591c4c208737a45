//! Random inputs. Alone: they do not panic or hang, and provenance does not change a byte. With `HELM=path/to/helm`:
//! the real Helm renders the same, and differences are reported with the smallest case that shows them.
//!
//! ```console
//! $ HELM=path/to/helm FUZZ_SECONDS=600 cargo test --test fuzz -- [GENERATOR]
//! ```
//!
//! `HOSTILE_BYTES=1000000 HOSTILE_SEEDS=1000 cargo test --release --test fuzz -- hostile` runs the inputs that want to
//! hurt at full size; they are small otherwise.
//!
//! `FUZZ_SEED` (default 0) is where seeds start, `FUZZ_STOP` (default 1) after how many differences to stop,
//! `HELM_VERSION` what the program is taken for (default: what it says).
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod body;
mod case;
mod compare;
mod documents;
mod expr;
mod helm;
mod hostile;
mod literal;
mod regex;
mod source;
#[path = "../support/mod.rs"]
mod support;
mod table;
mod values;
mod yaml;

use std::path::Path;
use std::time::{Duration, Instant};

use compare::{Generator, Tally};
use helm::{RealHelm, ours};
use helm_render_predictor::api::Inputs;
use helm_render_predictor::base::version::HelmVersion;
use libtest_mimic::{Arguments, Failed, Trial};
use source::Source;
use support::gauge::{Counting, measured};

#[global_allocator]
static MEMORY: Counting = Counting;

/// Room for templates that call each other deeply, in unoptimized code.
const STACK: usize = 512 << 20;
/// Seeds per generator in the test without Helm.
const SEEDS: u64 = 40;
/// The longest that one case may take, in unoptimized code on a busy machine.
const LONGEST: Duration = Duration::from_secs(10);

const GENERATORS: &[(&str, Generator)] = &[
    ("templates", body::template),
    ("yaml", yaml::yaml),
    ("formats", yaml::formats),
    ("values", yaml::values_file),
    ("regex", regex::regex),
    ("documents", documents::documents),
];

fn main() {
    let arguments = Arguments::from_args();
    if let Ok(program) = std::env::var("HELM") {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || differential(&program, &arguments));
        std::process::exit(thread.unwrap().join().unwrap());
    }
    let mut trials = vec![Trial::test("every function is drawn", || match table::forgotten() {
        names if names.is_empty() => Ok(()),
        names => Err(format!("no signature for {names:?}").into()),
    })];
    for (name, inputs) in hostile::GROUPS {
        trials.push(Trial::test(format!("hostile/{name}"), || in_thread(|| hostile::endure(*inputs))));
    }
    trials.push(Trial::test("hostile/mutated-snapshots", || in_thread(mutated_snapshots)));
    for (name, generator) in GENERATORS {
        for helm in ["3.17.3", "4.2.2"] {
            let run = move || in_thread(move || robust(*generator, helm.parse().unwrap()));
            trials.push(Trial::test(format!("{name}/{helm}"), run));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs a test with room on the stack; a panic fails it.
fn in_thread(test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Result<(), Failed> {
    std::thread::Builder::new().stack_size(STACK).spawn(test)?.join().unwrap_or_else(|_| Err("panic".into()))
}

/// Plans for damaged snapshots: none panics, each costs what inputs may cost.
fn mutated_snapshots() -> Result<(), Failed> {
    let first = number("FUZZ_SEED", 0);
    for seed in first..first + number("HOSTILE_SEEDS", 10) {
        let snapshot = hostile::mutated_snapshot(&mut Source::new(seed), &support::folder("", "fixtures/scenarios"));
        let inputs = Inputs { snapshot, ..Inputs::default() };
        let plan = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| inputs.plan().to_json().len()));
        let (result, cost) = measured(plan);
        if result.is_err() || cost.memory > hostile::MEMORY || cost.time > LONGEST {
            return Err(
                format!("seed {seed}: panic {}, {} MB, {:.1?}", result.is_err(), cost.memory >> 20, cost.time).into()
            );
        }
    }
    Ok(())
}

/// Our engine alone: an answer in time, the same twice, and the same without provenance.
fn robust(generator: Generator, helm: HelmVersion) -> Result<(), Failed> {
    for seed in 0..SEEDS {
        let case = generator(&mut Source::new(seed), helm);
        let files = case::chart([(0, &case)]);
        let start = Instant::now();
        let tracked = ours(&files, helm, false);
        let took = start.elapsed();
        if took > LONGEST {
            return Err(format!("seed {seed} took {took:.1?}\n{case}").into());
        }
        if tracked != ours(&files, helm, false) {
            return Err(format!("seed {seed} is not deterministic\n{case}").into());
        }
        if tracked != ours(&files, helm, true) {
            return Err(format!("seed {seed} differs without provenance\n{case}").into());
        }
    }
    Ok(())
}

/// Both Helms, until the time is over or enough differences were found; the exit status.
fn differential(program: &str, arguments: &Arguments) -> i32 {
    let mut helm = RealHelm::new(program, std::env::var("HELM_VERSION").ok(), Path::new(env!("CARGO_TARGET_TMPDIR")));
    let end = Instant::now() + Duration::from_secs(number("FUZZ_SECONDS", 60));
    let stop = number("FUZZ_STOP", 1) as usize;
    let wanted = |name: &str| arguments.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    let mut tally = Tally::default();
    let mut seed = number("FUZZ_SEED", 0) << 32;
    'time: loop {
        for (_, generator) in GENERATORS.iter().filter(|(name, _)| wanted(name)) {
            compare::batch(*generator, seed, &mut helm, &mut tally);
            if tally.differences >= stop || Instant::now() > end {
                break 'time;
            }
        }
        seed += 1 << 12;
    }
    println!(
        "{} cases ({} of them alone) in {} runs of Helm, {} differences",
        tally.cases, tally.failing, helm.runs, tally.differences
    );
    i32::from(tally.differences > 0)
}
