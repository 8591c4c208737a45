//! Charts: parsing, one large chart, a whole corpus; provenance on and off; the real Helm in the same run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use helm_render_predictor::api::{RenderArgs, template};
use helm_render_predictor::base::version::HelmVersion;

use crate::measure::{Rounds, forget_peak, in_turn, peak_mb, ratio, timed};
use crate::support;

fn helm() -> HelmVersion {
    "4.1.4".parse().unwrap()
}

fn args(chart: Vec<(String, Vec<u8>)>) -> RenderArgs {
    RenderArgs {
        chart: Some(chart),
        name: "x".into(),
        namespace: "default".into(),
        client: true,
        ..RenderArgs::default()
    }
}

/// A chart of definitions alone: what is left of a render is parsing.
pub fn parse() {
    let one = "{{- define \"NAME\" -}}\n{{- $x := .Values.a | default (dict \"k\" .Release.Name) }}\n{{- range $i, $e := .Values.list }}\n\
               {{- if and (eq $e.name \"x\") (not (empty $e.value)) }}\nname: {{ printf \"%s-%d\" $e.name $i | trunc 63 | quote }}\n\
               {{- else }}\nother: {{ include \"NAME\" (dict \"ctx\" $ \"e\" $e) | nindent 4 }}\n{{- end }}\n{{- end }}\n{{- end }}\n";
    let mut chart = vec![("Chart.yaml".to_owned(), b"apiVersion: v2\nname: large\nversion: 1.0.0\n".to_vec())];
    let mut bytes = 0;
    for i in 0..200 {
        let text: String = (0..10).map(|k| one.replace("NAME", &format!("large.t{i}.{k}"))).collect();
        bytes += text.len();
        chart.push((format!("templates/_t{i}.tpl"), text.into_bytes()));
    }
    let args = args(chart);
    let rounds = timed(15, || drop(template(&args, helm()).unwrap()));
    println!("parse 200 files with 2000 templates ({} kB): {rounds}", bytes / 1000);
}

/// One chart, from `CHART`.
pub fn one() {
    let root = support::folder("CHART", "fixtures/charts/bucket-system");
    let set = if std::env::var_os("CHART").is_some() { vec![] } else { vec!["users={a,b,c}".to_owned()] };
    let flags: Vec<String> = set.iter().flat_map(|s| ["--set".to_owned(), s.clone()]).collect();
    let one = |untracked| {
        render(RenderArgs { set: set.clone(), ..args(files(&root)) }, untracked);
    };
    both("render one chart", 31, &mut { one });
    let Some(program) = program() else { return };
    let [theirs, ours] = in_turn(15, [&mut || run(&program, &root, &flags), &mut || one(false)]);
    against("one chart", &theirs, &ours);
}

/// All charts below `CORPUS`, files and all, in this process; and one process of the real Helm for each.
pub fn corpus() {
    let root = support::folder("CORPUS", "fixtures/charts");
    let mut charts = Vec::new();
    find(&root, &mut charts);
    assert!(!charts.is_empty(), "no chart below {}", root.display());
    forget_peak();
    let mut good = 0;
    let mut bytes = 0;
    for chart in &charts {
        if let Some(size) = render(args(files(chart)), false) {
            good += 1;
            bytes += size;
        }
    }
    println!("corpus: {} charts, {good} render to {} kB; peak memory {} MB", charts.len(), bytes / 1000, peak_mb());
    let mut all = |untracked| {
        for chart in &charts {
            render(args(files(chart)), untracked);
        }
    };
    both("render the corpus", 9, &mut all);
    let Some(program) = program() else { return };
    let mut theirs = || charts.iter().for_each(|chart| run(&program, chart, &[]));
    let [theirs, ours] = in_turn(2, [&mut theirs, &mut || all(false)]);
    against("the corpus", &theirs, &ours);
}

fn both(what: &str, rounds: usize, render: &mut dyn FnMut(bool)) {
    let render = std::cell::RefCell::new(render);
    let [on, off] = in_turn(rounds, [&mut || (*render.borrow_mut())(false), &mut || (*render.borrow_mut())(true)]);
    println!("{what}, provenance on:  {on}");
    println!("{what}, provenance off: {off}; cost of it {:+.0} % (target <= 20 %)", (ratio(&on, &off) - 1.0) * 100.0);
}

fn against(what: &str, theirs: &Rounds, ours: &Rounds) {
    let wall = theirs.least().wall.as_secs_f64() / ours.least().wall.as_secs_f64();
    println!("{what}, real Helm:      {theirs}");
    println!(
        "{what}, ours in turn:   {ours}; Helm takes {:.0} times the CPU, {wall:.0} times the wall",
        ratio(theirs, ours)
    );
}

/// Bytes of the rendered text; none where it fails.
fn render(mut args: RenderArgs, untracked: bool) -> Option<usize> {
    args.untracked = untracked;
    template(&args, helm()).ok().map(|text| text.len())
}

fn files(chart: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    support::all_files(chart, "", &mut found);
    found
}

/// Folders that are charts, those inside of charts left out.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.join("Chart.yaml").is_file() {
        return found.push(folder.to_owned());
    }
    support::folders(folder).iter().for_each(|below| find(below, found));
}

fn program() -> Option<PathBuf> {
    let program = std::env::var_os("HELM").map(PathBuf::from);
    if program.is_none() {
        println!("the real Helm: not run (set HELM to a helm binary)");
    }
    program
}

/// Charts may fail: what takes time is starting.
fn run(program: &Path, chart: &Path, flags: &[String]) {
    let mut command = Command::new(program);
    command.args(["template", "x"]).arg(chart).args(flags).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().expect("HELM cannot be run");
}
