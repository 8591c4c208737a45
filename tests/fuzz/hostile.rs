//! Files, flags, archives and snapshots that want to hurt: each must end in an answer, in a second and in 200 MB for a
//! megabyte of input. `tests/support/hostile.rs` has the templates that do.

use std::io::Write;
use std::path::Path;

use helm_render_predictor::api::{self, RenderArgs, template};
use helm_render_predictor::cluster::storage;
use libtest_mimic::Failed;
use serde_json::json;

use super::source::Source;
use super::support::{self, gauge::measured};
use super::yaml;

/// Most memory of one case, in bytes.
pub const MEMORY: i64 = 200 << 20;
/// Longest time of one case in seconds; unoptimized code gets more.
const SECONDS: f32 = if cfg!(debug_assertions) { 25.0 } else { 1.0 };

/// An input and where it goes.
pub enum Hostile {
    /// A file that a template reads in every format.
    Data(Vec<u8>),
    /// A values file.
    Values(Vec<u8>),
    /// What a template prints.
    Manifest(Vec<u8>),
    /// A chart archive.
    Archive(Vec<u8>),
    /// `--set`
    Set(String),
    /// A file of a snapshot.
    Snapshot(Vec<u8>),
}

impl Hostile {
    fn run(self) {
        let mut args = RenderArgs { name: "r".into(), namespace: "n".into(), client: true, ..RenderArgs::default() };
        let mut chart = vec![("Chart.yaml".to_owned(), b"apiVersion: v2\nname: c\nversion: 0.1.0\n".to_vec())];
        let mut add = |path: &str, bytes: Vec<u8>| chart.push((path.to_owned(), bytes));
        match self {
            Hostile::Data(bytes) => {
                add("data", bytes);
                let text = "{{ $t := .Files.Get \"data\" }}{{ fromYaml $t | toYaml | len }}{{ fromYamlArray $t | toJson | len }}\
                            {{ fromJson $t | len }}{{ fromToml $t | toToml | len }}";
                add("templates/a.yaml", format!("k: {text}\n").into_bytes());
            }
            Hostile::Values(bytes) => args.values.push(("values.yaml".into(), Ok(bytes))),
            Hostile::Manifest(bytes) => {
                add("data", bytes);
                add("templates/a.yaml", b"{{ .Files.Get \"data\" }}".to_vec());
            }
            Hostile::Archive(bytes) => chart = vec![("c.tgz".to_owned(), bytes)],
            Hostile::Set(text) => args.set.push(text),
            Hostile::Snapshot(bytes) => {
                let inputs = api::Inputs { snapshot: vec![("a.yaml".into(), bytes)], ..api::Inputs::default() };
                drop(inputs.plan().to_json());
                return;
            }
        }
        args.chart = Some(chart);
        for helm in ["3.17.3", "4.2.2"] {
            drop(template(&args, helm.parse().unwrap()));
        }
    }
}

/// Named inputs for a size in bytes.
type Inputs = fn(usize) -> Vec<(String, Hostile)>;

/// What is written by hand.
pub const GROUPS: &[(&str, Inputs)] = &[("texts", texts), ("flags", flags), ("packed", packed)];

/// Runs all of them; the error says which cost too much, or panicked. Each has `HOSTILE_BYTES`; without that variable
/// all are small. `HOSTILE_ONLY` picks those whose names hold it.
pub fn endure(inputs: Inputs) -> Result<(), Failed> {
    let size = std::env::var("HOSTILE_BYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let only = std::env::var("HOSTILE_ONLY").unwrap_or_default();
    let mut failed = Vec::new();
    for (name, hostile) in inputs(size).into_iter().filter(|(name, _)| name.contains(&only)) {
        let run = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| hostile.run()));
        let (result, cost) = measured(run);
        let (megabytes, seconds) = (cost.memory >> 20, cost.time.as_secs_f32());
        if result.is_err() || cost.memory > MEMORY || seconds > SECONDS {
            failed.push(format!("{name}: panic {}, {megabytes} MB, {seconds:.1} s", result.is_err()));
            println!("{}", failed[failed.len() - 1]);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n").into()) }
}

/// Texts that a parser of structured text could stumble over, wherever such are read.
fn texts(size: usize) -> Vec<(String, Hostile)> {
    let mut found = Vec::new();
    for (name, text) in structured(size) {
        let bytes = || text.clone().into_bytes();
        found.push((format!("{name} as data"), Hostile::Data(bytes())));
        found.push((format!("{name} as values"), Hostile::Values(bytes())));
        found.push((format!("{name} as manifest"), Hostile::Manifest(bytes())));
        found.push((format!("{name} as snapshot"), Hostile::Snapshot(bytes())));
    }
    found
}

fn structured(size: usize) -> Vec<(&'static str, String)> {
    let fill = |part: &str| part.repeat(size / part.len() + 1);
    let numbered = |part: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        (0..).map(part).take_while(|_| true).find(|line| {
            text.push_str(line);
            text.len() >= size
        });
        text
    };
    let laughs = {
        let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        (1..40).for_each(|i| text.push_str(&format!("a{i}: &a{i} [{}]\n", format!("*a{},", i - 1).repeat(9))));
        text
    };
    let merges = {
        let mut text = String::from("a0: &a0 {k: v}\n");
        (1..60).for_each(|i| text.push_str(&format!("a{i}: &a{i} {{<<: [*a{0}, *a{0}], k{i}: v, s: *a{0}}}\n", i - 1)));
        text
    };
    vec![
        ("nested flow lists", fill("[")),
        ("nested flow maps", fill("{a: ")),
        ("nested maps of JSON", fill("{\"a\":")),
        ("a flow list", format!("[{}1]", fill("1,"))),
        ("a flow map", format!("{{{}}}", numbered(&|i| format!("k{i}: 1,")))),
        ("a block list", fill("- 1\n")),
        ("a block map", numbered(&|i| format!("k{i}: 1\n"))),
        ("dashes in a line", fill("- ")),
        ("question marks", fill("? ")),
        ("indentation", (0..(size * 2).isqrt()).map(|i| format!("{}a:\n", " ".repeat(i))).collect()),
        ("laughs", laughs),
        ("merges", merges),
        ("anchors", numbered(&|i| format!("- &a{i} x\n"))),
        ("aliases", format!("- &a x\n{}", fill("- *a\n"))),
        ("aliases of a list", format!("- &a [{}1]\n{}", "1,".repeat(1000), fill("- *a\n"))),
        ("documents", fill("---\n")),
        ("documents with content", fill("---\na: 1\n")),
        ("comments", fill("#\n")),
        ("a long word", fill("x")),
        ("an unclosed quote", format!("a: \"{}", fill("\\n"))),
        ("blanks", fill(" ")),
        ("tabs", fill("\t")),
        ("line breaks", fill("\n")),
        ("a block scalar", format!("a: |\n{}", fill(" x\n"))),
        ("a folded scalar", format!("a: >\n{}", fill(" x y\n\n"))),
        ("tags", fill("- !!str x\n")),
        ("tags in flow", format!("[{}", fill("!t,"))),
        ("colons", fill(":")),
        ("keys without space", format!("{{{}}}", fill("a:,"))),
        ("byte order marks", fill("\u{feff}\n")),
        ("merge keys", format!("a: &a {{k: v}}\nb:\n{}", fill("  <<: *a\n"))),
        ("long numbers", format!("a: {}", fill("9"))),
        ("empty strings", format!("[{}]", fill("\"\","))),
        ("tables of TOML", numbered(&|i| format!("[t{i}]\n"))),
        ("dotted keys of TOML", format!("{} = 1", fill("a."))),
        ("arrays of TOML", format!("a = {}", fill("["))),
        (
            "documents of Kubernetes",
            numbered(&|i| format!("---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s{i}}}\n")),
        ),
        ("lists of Kubernetes", format!("apiVersion: v1\nkind: List\nitems:\n{}", fill("- {kind: List, items: []}\n"))),
        ("zero bytes", fill("\0")),
        ("carriage returns", fill("a: 1\r")),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// Packed inputs that unpack to fifty times the size.
fn packed(size: usize) -> Vec<(String, Hostile)> {
    let unpacked = size * 50;
    let release = |manifest: String| {
        let payload =
            json!({"name": "r", "namespace": "n", "version": 1, "info": {"status": "deployed"}, "manifest": manifest});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
            "metadata": {"name": "sh.helm.release.v1.r.v1", "namespace": "n", "labels": {"owner": "helm", "name": "r", "status": "deployed", "version": "1"}},
            "data": {"release": storage::encode(&payload)}});
        let release = json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "r", "namespace": "n"},
            "spec": {"interval": "10m", "chart": {"spec": {"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "h"}}}}});
        Hostile::Snapshot(
            json!({"apiVersion": "v1", "kind": "List", "items": [secret, release]}).to_string().into_bytes(),
        )
    };
    let chart = ("c/Chart.yaml", &b"apiVersion: v2\nname: c\nversion: 0.1.0\n"[..]);
    let zeros = vec![0; unpacked];
    let list = format!("a: [{}]\n", "1,".repeat((unpacked / 2).min((5 << 20) / 2 - 10))).into_bytes();
    let names: Vec<String> = (0..unpacked / 2000).map(|i| format!("c/files/{i}")).collect();
    let mut many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    many.push(chart);
    let all = vec![
        ("an archive of zeros", Hostile::Archive(gzip(&zeros))),
        ("an archive with a large file", Hostile::Archive(gzip(&tar(&[chart, ("c/files/a", &zeros)])))),
        ("an archive with large values", Hostile::Archive(gzip(&tar(&[chart, ("c/values.yaml", &list)])))),
        ("an archive with many files", Hostile::Archive(gzip(&tar(&many)))),
        ("an archive that is cut off", Hostile::Archive(gzip(&tar(&[chart]))[..60].to_vec())),
        ("a release with a large manifest", release("x\n".repeat(unpacked / 2))),
        ("a release with many documents", release("---\na: 1\n".repeat(unpacked / 9))),
        ("a release that is one list", release(format!("a: [{}]", "1,".repeat(unpacked / 2)))),
    ];
    all.into_iter().map(|(name, hostile)| (name.to_owned(), hostile)).collect()
}

/// Texts for `--set`.
fn flags(size: usize) -> Vec<(String, Hostile)> {
    let mut found = Vec::new();
    let fill = |part: &str| part.repeat(size / part.len() + 1);
    for (name, text) in [
        ("a high index", "a[999999999]=1".to_owned()),
        ("high indexes", "a[60000][60000][60000]=1".to_owned()),
        ("nested indexes", format!("a{}=1", fill("[0]"))),
        ("nested keys", format!("{}=1", fill("a."))),
        ("nested braces", format!("a={}", fill("{"))),
        ("many assignments", fill("a=1,")),
        ("many elements", format!("a={{{}}}", fill("x,"))),
    ] {
        found.push((format!("{name} in --set"), Hostile::Set(text)));
    }
    found
}

/// A shipped snapshot with some bytes, lines or characters changed.
pub fn mutated_snapshot(source: &mut Source, root: &Path) -> Vec<(String, Vec<u8>)> {
    let folders = support::folders(root);
    let folder = source.pick(&folders);
    let mut files = support::yaml_files(&folder);
    for (_, bytes) in &mut files {
        if bytes.len() > 400_000 || source.chance(40) {
            continue;
        }
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for _ in 0..1 + source.below(4) {
            text = mutated(source, text);
        }
        *bytes = text.into_bytes();
    }
    files
}

fn mutated(source: &mut Source, text: String) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = source.below(lines.len());
    match source.below(7) {
        0 => return yaml::damaged(source, text),
        1 => drop(lines.drain(at..(at + 1 + source.below(5)).min(lines.len()))),
        2 => lines.insert(at, lines[source.below(lines.len())]),
        3 => {
            let other = source.below(lines.len());
            lines.swap(at, other);
        }
        4 => lines.truncate(at),
        _ => {
            // A value of another type, where a key has one.
            let value = yaml::text(source).replace('\n', " ");
            let value = source
                .pick(&[
                    "5",
                    "null",
                    "[]",
                    "{}",
                    "\"\"",
                    "-1",
                    "[{}]",
                    "{a: {b: []}}",
                    "99999999999999999999",
                    "true",
                    "\"x\"",
                    &value,
                ])
                .to_owned();
            let line = lines[at].to_owned();
            if let Some((key, _)) = line.split_once(": ") {
                return lines[..at].concat() + &format!("{key}: {value}\n") + &lines[at + 1..].concat();
            }
        }
    }
    lines.concat()
}
