//! `cargo bench`: what renders and predictions cost. Prints figures; judges nothing.
//!
//! `cargo bench -- corpus yaml` runs those parts alone. `CORPUS` is a folder of charts, `CHART` one chart, `SCENARIO` a
//! folder of snapshot files. With `HELM=path/to/helm` charts are also rendered by the real Helm, one process each, in
//! turn with ours. What the wasm module takes in Node is told if it was built (`node pkg/build.mjs`).
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod charts;
mod formats;
mod growing;
#[path = "../support/growth.rs"]
mod growth;
#[path = "../support/hostile.rs"]
#[allow(dead_code)] // what has to come of them is for the test
mod hostile;
mod measure;
mod planning;
#[path = "../support/mod.rs"]
mod support;

type Part = (&'static str, fn());

const PARTS: &[Part] = &[
    ("corpus", charts::corpus),
    ("parse", charts::parse),
    ("one", charts::one),
    ("yaml", formats::yaml),
    ("plan", planning::plan),
    ("analyses", planning::analyses),
    ("wasm", planning::wasm),
    ("growth", growing::growing),
    ("hostile", growing::hostile),
];

/// Templates call each other deep.
const STACK: usize = 256 << 20;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let run = move || {
        for (name, part) in PARTS {
            if wanted.is_empty() || wanted.iter().any(|w| w == name) {
                part();
            }
        }
        println!("peak memory of this process since the corpus: {} MB", measure::peak_mb());
    };
    std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap();
}
