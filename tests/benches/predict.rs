//! `cargo bench`: what a prediction costs. Prints medians; judges nothing.
//!
//! With `HELM=path/to/helm` a chart is also rendered by the real Helm, in turn with ours, and the ratio is printed. The
//! size of the wasm module and its time in Node are printed if the package was built (`node pkg/build.mjs`).
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

#[path = "../support/mod.rs"]
mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use helm_render_predictor::api::{Inputs, RenderArgs, template};

const RUNS: usize = 15;

fn main() {
    predict();
    render();
    wasm();
    println!("peak memory of this process: {}", peak_memory().unwrap_or_else(|| "unknown".into()));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn timed(mut run: impl FnMut()) -> Duration {
    run();
    median(
        (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                run();
                start.elapsed()
            })
            .collect(),
    )
}

/// The shipped snapshot of S1 and S2: files in memory to report in memory.
fn predict() {
    let folder = support::folder("SCENARIO", "fixtures/scenarios/s1-s2");
    let inputs = Inputs { snapshot: support::yaml_files(&folder), ..Inputs::default() };
    let bytes: usize = inputs.snapshot.iter().map(|(_, b)| b.len()).sum();
    let time = timed(|| assert!(!inputs.plan().releases.is_empty()));
    println!("predict the shipped snapshot ({} kB): {time:.1?} (target < 50 ms)", bytes / 1000);
}

/// One chart: ours with and without provenance, and the real Helm.
fn render() {
    let root = support::folder("CHART", "fixtures/charts/bucket-system");
    let mut chart = Vec::new();
    support::all_files(&root, "", &mut chart);
    let args = |untracked| RenderArgs {
        chart: Some(chart.clone()),
        name: "x".into(),
        namespace: "default".into(),
        set: vec!["users={a,b,c}".into()],
        untracked,
        ..RenderArgs::default()
    };
    let helm = "4.1.4".parse().unwrap();
    let (on, off) = (args(false), args(true));
    let tracked = timed(|| drop(template(&on, helm).unwrap()));
    let untracked = timed(|| drop(template(&off, helm).unwrap()));
    println!(
        "render one chart: {tracked:.1?} with provenance, {untracked:.1?} without (cost {:+.0} %)",
        (tracked.as_secs_f64() / untracked.as_secs_f64() - 1.0) * 100.0
    );
    let Ok(program) = std::env::var("HELM") else {
        return println!("render one chart with the real Helm: not run (set HELM to a helm binary)");
    };
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        drop(template(&on, helm).unwrap());
        ours.push(start.elapsed());
        let start = Instant::now();
        let done = Command::new(&program).args(["template", "x"]).arg(&root).args(["--set", "users={a,b,c}"]).output();
        theirs.push(start.elapsed());
        assert!(done.unwrap().status.success(), "helm failed");
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!("the real Helm, in the same run: {theirs:.1?}; ratio {:.0}", theirs.as_secs_f64() / ours.as_secs_f64());
}

fn wasm() {
    let root = support::folder("", ".");
    let module = root.join("pkg/dist/planner_bg.wasm");
    let Ok(data) = std::fs::metadata(&module) else {
        return println!("wasm module: not built (node pkg/build.mjs)");
    };
    let script = "import {planJson} from './pkg/index.js'; import fs from 'node:fs'; import z from 'node:zlib';\
        const dir='fixtures/scenarios/s1-s2/'; const snapshot=fs.readdirSync(dir).filter(f=>f.endsWith('.yaml')).map(name=>({name, bytes: fs.readFileSync(dir+name)}));\
        planJson({snapshot}); const times=[]; for(let i=0;i<15;i++){const t=performance.now(); planJson({snapshot}); times.push(performance.now()-t)} times.sort((a,b)=>a-b);\
        const brotli=z.brotliCompressSync(fs.readFileSync('pkg/dist/planner_bg.wasm')).length;\
        console.log(`in Node: ${times[7].toFixed(1)} ms (target < 150 ms); wasm module ${brotli} bytes with brotli (target <= 900000)`)";
    let node = Command::new("node").args(["--input-type=module", "-e", script]).current_dir(&root).output();
    match node {
        Ok(out) if out.status.success() => print!("{}", String::from_utf8_lossy(&out.stdout)),
        Ok(out) => println!("wasm module: {} bytes; node failed: {}", data.len(), String::from_utf8_lossy(&out.stderr)),
        Err(error) => println!("wasm module: {} bytes; no node: {error}", data.len()),
    }
}

fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.trim().to_owned())
}
