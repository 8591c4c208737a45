//! Plans: the shipped snapshot, natively and in Node; what the analysis of one release costs, in renders.

use std::collections::BTreeSet;
use std::process::Command;

use helm_render_predictor::api::Inputs;
use helm_render_predictor::cluster::import::import;
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::plan::charts::Charts;
use helm_render_predictor::plan::fact::Fact;
use helm_render_predictor::plan::findings::analyse;
use helm_render_predictor::plan::gather::gather;
use helm_render_predictor::plan::render::{Mode, Renderer};

use crate::measure::timed;
use crate::support;

/// The shipped snapshot of S1 and S2: files in memory to report in memory.
pub fn plan() {
    let folder = support::folder("SCENARIO", "fixtures/scenarios/s1-s2");
    let inputs = Inputs { snapshot: support::yaml_files(&folder), ..Inputs::default() };
    let bytes: usize = inputs.snapshot.iter().map(|(_, b)| b.len()).sum();
    let rounds = timed(15, || assert!(!inputs.plan().releases.is_empty()));
    println!("plan of the shipped snapshot ({} kB): {rounds} (target < 50 ms)", bytes / 1000);
}

/// Each release of the snapshot: renders and time of its analysis, and of its largest one the time with one fact changed.
pub fn analyses() {
    let (facts, _) = import(&support::yaml_files(&support::folder("SCENARIO", "fixtures/scenarios/s1-s2")));
    let (charts, _) = Charts::read(&[], helm_render_predictor::base::version::HelmVersion::cli(4, 2, 2));
    let settings = Settings::detect(&facts).and_then(Result::ok).unwrap_or_default();
    let subjects = gather(&facts, &charts, &settings, &mut Vec::new());
    for subject in subjects.iter().filter(|subject| subject.can_render()) {
        let renderer = Renderer::new(settings.clone());
        let analysis = analyse(&renderer, subject, &facts);
        let renders = renderer.renders();
        let fact = analysis.now.lookups.first().map_or(Fact::Install, |lookup| Fact::Lookup(lookup.key.clone()));
        let toggled = Mode::Without(BTreeSet::from([fact]));
        let once = timed(5, || drop(renderer.render(subject, &facts, &Mode::Now)));
        let other = timed(5, || drop(renderer.render(subject, &facts, &toggled)));
        let all = timed(5, || drop(analyse(&renderer, subject, &facts)));
        println!(
            "{}: {renders} renders for {} deciding facts (target <= 3, and one each); analysis {:.2?}, one render {:.2?}, one fact \
             toggled {:.2?} (target < 100 ms)",
            subject.release,
            analysis.deciding.len(),
            all.least().cpu,
            once.least().cpu,
            other.least().cpu
        );
    }
}

/// The same in Node.
pub fn wasm() {
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
