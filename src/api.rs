//! The facade: feed inputs, ask questions. The binary and the wasm module both call this, and nothing else.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::base::budget::Budget;
use crate::base::version::{HelmVersion, Quirk, UnknownVersion};
use crate::chart::{Chart, Files, metadata, set, values};
use crate::cluster::discovery::Discovery;
use crate::cluster::import::import_as;
use crate::cluster::world::{ClusterWorld, Offline, Supposition};
use crate::codec::json;
use crate::flux::settings::Settings;
use crate::funcs;
use crate::plan::Session;
use crate::plan::answers::Asked;
use crate::plan::assume::Choices;
use crate::plan::render::Renderer;
use crate::render::manifest::documents;
pub use crate::render::output::Part;
use crate::render::output::{self, Wanted};
use crate::render::parsed::Parsed;
use crate::render::scope::{Capabilities, Release};
use crate::render::{Rendered, Request, Schemas, capabilities, render, server};
use crate::report::Report;
use crate::report::answers::{Settled, Why};
use crate::report::contract::{self, Difference, Lint, ReleaseRef, WhatIf};
use crate::template::eval::{Options as TemplateOptions, Run};
use crate::template::func::World;
use crate::template::set::{FuncTable, TemplateSet};
use crate::value::origin::Layer;
use crate::value::{Map, MapType, Origins, Repr, Value};

/// What the answers may be steered by.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Options {
    /// Version of helm-controller (`1.6.2`), where the snapshot does not tell.
    pub controller: Option<String>,
    /// Arguments that helm-controller was started with (`--feature-gates=…`), where the snapshot does not tell.
    pub controller_args: Vec<String>,
    /// Treat what the snapshot does not hold as absent from the cluster.
    pub assume_complete: bool,
    /// Look for single changes of looked-up objects that would make the next upgrade fail.
    pub latent: bool,
}

/// Files and options of one run.
#[derive(Default)]
pub struct Inputs {
    /// Snapshot files: name and bytes. Their order does not matter.
    pub snapshot: Vec<(String, Vec<u8>)>,
    /// Chart folders' files and chart archives: path and bytes. Their order does not matter.
    pub charts: Vec<(String, Vec<u8>)>,
    /// Options.
    pub options: Options,
}

impl Inputs {
    /// Predicts every release of the snapshot and plans what to force.
    pub fn plan(&self) -> Report {
        self.session().report()
    }

    /// What a force of one release would change, field by field; `None` if the snapshot holds no such release. Data of
    /// Secrets is hidden unless `show_secrets`.
    ///
    /// # Errors
    /// Why the release cannot be rendered.
    pub fn diff(&self, namespace: &str, name: &str, show_secrets: bool) -> Option<Result<Vec<Difference>, String>> {
        let release = ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() };
        self.session().difference(&release, show_secrets)
    }

    /// Which releases another Helm (`4.2`), another version of Kubernetes, or API versions served besides would render
    /// otherwise, object by object.
    ///
    /// # Errors
    /// The version is none.
    pub fn what_if(
        &self,
        helm: Option<&str>,
        kubernetes: Option<&str>,
        served: &[String],
    ) -> Result<Vec<WhatIf>, UnknownVersion> {
        let helm = helm.map(|helm| helm.parse::<HelmVersion>()).transpose()?;
        let library = helm.map(|helm| HelmVersion { embedded: true, ..helm });
        Ok(self.session().what_if(library, kubernetes, served))
    }

    /// What a renderer without a cluster (Argo CD, `helm template`) makes of each release: with the capabilities of the
    /// snapshot, or, where `flags` are given, with those of a version of Kubernetes and of API versions served besides.
    pub fn offline(&self, flags: Option<(&str, &[String])>) -> Vec<contract::Offline> {
        self.session().offline(flags)
    }

    fn session(&self) -> Session {
        Session::open(&self.snapshot, &self.charts, &self.choices())
    }

    /// Whether a HelmRelease has settled at its present generation, and at a revision of its source if one is given
    /// (`F-245`). `kind` may also name a source, HelmChart or Kustomization. `None` if the snapshot holds no such object.
    pub fn settled(&self, kind: &str, release: &ReleaseRef, revision: Option<&str>) -> Option<Settled> {
        self.ask(|asked| asked.settled(kind, release, revision))
    }

    /// What the controller does at its next run and why; with `stamp`, also if both annotations were stamped now. `None`
    /// if the snapshot holds no such HelmRelease.
    pub fn why(&self, release: &ReleaseRef, stamp: bool) -> Option<Why> {
        self.ask(|asked| asked.why(release, stamp))
    }

    fn ask<T>(&self, question: impl FnOnce(&Asked<'_>) -> T) -> T {
        let choices = self.choices();
        question(&Asked { snapshot: &self.snapshot, charts: &self.charts, choices: &choices })
    }

    fn choices(&self) -> Choices {
        Choices {
            controller: self.options.controller.clone(),
            controller_args: self.options.controller_args.clone(),
            assume_complete: self.options.assume_complete,
            latent: self.options.latent,
        }
    }
}

impl Report {
    /// The report as JSON: the same bytes on every platform.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
    }
}

/// A file's content, or why it cannot be read, as Go words it (`open x: no such file or directory`).
pub type FileContent = Result<Vec<u8>, String>;

/// What `helm template` is told, with the files already read.
#[derive(Default)]
pub struct RenderArgs {
    /// Files of the chart's folder, relative to it; or one archive named `*.tgz`. None if there is nothing at its path.
    pub chart: Option<Vec<(String, Vec<u8>)>>,
    /// Name of the release.
    pub name: String,
    /// Namespace of the release.
    pub namespace: String,
    /// Values files in order: their names and contents.
    pub values: Vec<(String, FileContent)>,
    /// `--set` and its relatives.
    pub set: Vec<String>,
    /// `--set-string`
    pub set_string: Vec<String>,
    /// `--set-json`
    pub set_json: Vec<String>,
    /// `--set-file`, with the files that [`set_file_paths`] names.
    pub set_file: Vec<(String, BTreeMap<String, FileContent>)>,
    /// `--set-literal`
    pub set_literal: Vec<String>,
    /// `--kube-version`
    pub kube_version: Option<String>,
    /// `--api-versions`
    pub api_versions: Vec<String>,
    /// `--is-upgrade`
    pub is_upgrade: bool,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--show-only`
    pub show_only: Vec<String>,
    /// Snapshot files: the cluster.
    pub snapshot: Vec<(String, Vec<u8>)>,
    /// Provenance off: the same engine, without origins.
    pub untracked: bool,
    /// The chart's path as it was given, for error texts.
    pub chart_path: String,
    /// No server at all: `lookup` finds nothing, capabilities are Helm's own.
    pub client: bool,
    /// `--validate` of Helm 3: capabilities and ownership from the server.
    pub validate: bool,
    /// A post-renderer that changes nothing: the path that helm-controller takes (`H-17`).
    pub post_renderer: bool,
    /// `--no-hooks`
    pub no_hooks: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
    /// `--take-ownership`
    pub take_ownership: bool,
    /// `--skip-schema-validation`
    pub skip_schema_validation: bool,
    /// `--debug`: what could not be sorted is printed all the same.
    pub debug: bool,
}

/// Why nothing was rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderError {
    /// Helm's text behind `Error: `.
    pub message: String,
    /// What Helm prints all the same.
    pub output: Vec<u8>,
    /// The release had been made when it failed: Helm goes on to advise `--debug`.
    pub advises_debug: bool,
}

impl RenderError {
    fn new(message: impl Into<String>) -> Self {
        RenderError { message: message.into(), output: Vec::new(), advises_debug: false }
    }
}

/// What `helm template --dry-run=server` of that version prints.
///
/// # Errors
/// Helm's text, and what it prints all the same.
pub fn template(args: &RenderArgs, helm: HelmVersion) -> Result<Vec<u8>, RenderError> {
    let (rendered, wanted) = rendered(args, helm)?;
    output::print(&rendered, &wanted, helm).map_err(|failure| failed(failure, args))
}

/// What it writes with `--output-dir`, in order.
///
/// # Errors
/// As [`template`].
pub fn template_parts(args: &RenderArgs, helm: HelmVersion) -> Result<Vec<Part>, RenderError> {
    let (rendered, wanted) = rendered(args, helm)?;
    output::parts(&rendered, &wanted, helm).map_err(|failure| failed(failure, args))
}

/// The name that `--name-template` gives a release. The text knows sprig's functions but not Helm's own.
///
/// # Errors
/// Go's text.
pub fn name_of(template: &str, helm: HelmVersion) -> Result<String, String> {
    const NAME: &str = "name-template";
    let sprig = funcs::all().filter(|def| !funcs::helm::FUNCS.iter().any(|own| own.name == def.name));
    let mut set = TemplateSet::new(Rc::new(FuncTable::new(sprig, helm)));
    set.parse(NAME, template.as_bytes()).map_err(|e| e.to_string())?;
    let (origins, budget, options) = (Origins::new(false), Budget::default(), TemplateOptions::default());
    let mut run = Run::new(Rc::new(set), &Offline, &origins, &budget, &options);
    let name = run.render(NAME, &Value::NIL).map_err(|e| e.one_line())?;
    Ok(name.as_text().map(|text| text.lossy().into_owned()).unwrap_or_default())
}

fn failed(failure: output::Failure, args: &RenderArgs) -> RenderError {
    RenderError { message: failure.message, output: failure.output, advises_debug: failure.begun && !args.debug }
}

fn rendered(args: &RenderArgs, helm: HelmVersion) -> Result<(Rendered, Wanted), RenderError> {
    let origins = Origins::new(!args.untracked);
    let (snapshot, problems) = import_as(&args.snapshot, args.kube_version.as_deref());
    if let Some(problem) = problems.first() {
        return Err(RenderError::new(format!("snapshot: {problem}")));
    }
    let capabilities = capabilities(args, &snapshot, helm).map_err(RenderError::new)?;
    let Some(files) = &args.chart else { return Err(RenderError::new(not_found(&args.chart_path))) };
    let values = user_values(args, helm, &origins).map_err(RenderError::new)?;
    let chart = load(files, helm).map_err(RenderError::new)?;
    metadata::installable(&chart, helm).map_err(RenderError::new)?;
    release_name(&args.name, helm).map_err(RenderError::new)?;
    let cluster = ClusterWorld::new(&snapshot, Supposition::AsItIs);
    let world: &dyn World = if args.snapshot.is_empty() || args.client { &Offline } else { &cluster };
    let release = Release {
        name: args.name.clone(),
        namespace: args.namespace.clone(),
        revision: 1,
        is_upgrade: args.is_upgrade,
    };
    let request = Request {
        chart: &chart,
        values,
        release: release.clone(),
        capabilities,
        helm,
        options: TemplateOptions::default(),
        parsed: &Parsed::default(),
        schemas: if args.skip_schema_validation { Schemas::Skipped } else { Schemas::Checked },
    };
    let rendered = render(request, world, &origins);
    let wanted = Wanted {
        include_crds: args.include_crds,
        show_only: args.show_only.clone(),
        no_hooks: args.no_hooks,
        skip_tests: args.skip_tests,
        debug: args.debug,
    };
    if rendered.error.is_none() && asks_server(args, helm) {
        let owns = args.is_upgrade || args.take_ownership;
        // Documents that cannot be sorted are told below.
        if let Ok(documents) = documents(&rendered.files, helm) {
            server::check(&documents, &release, owns, &snapshot, helm).map_err(RenderError::new)?;
        }
    }
    Ok((rendered, wanted))
}

/// Whether a server says what it can do, and checks objects (`H-23`, `H-45`).
fn asks_server(args: &RenderArgs, helm: HelmVersion) -> bool {
    args.validate || helm.has(Quirk::ServerCapabilities) && !args.client && !args.snapshot.is_empty()
}

/// What Helm says of a chart that is not there. Other names than paths are those of repositories, which it does not have.
fn not_found(path: &str) -> String {
    match path.split_once('/') {
        _ if path.starts_with(['.', '/']) => format!("path {path:?} not found"),
        Some((repository, _)) => format!("repo {repository} not found"),
        None => format!("non-absolute URLs should be in form of repo_name/path_to_chart, got: {path}"),
    }
}

/// The files that an assignment of `--set-file` names.
pub fn set_file_paths(text: &str) -> Vec<String> {
    set::raw_values(text)
}

/// What a chart does that depends on the cluster, without one: gates, fallbacks, deadlocks, what rotates, what the next
/// upgrade deletes.
///
/// # Errors
/// The chart or its values cannot be loaded; the text is Helm's.
pub fn lint(args: &RenderArgs, helm: HelmVersion) -> Result<Lint, RenderError> {
    let Some(files) = &args.chart else { return Err(RenderError::new(not_found(&args.chart_path))) };
    let values = user_values(args, helm, &Origins::new(false)).map_err(RenderError::new)?;
    let chart = load(files, helm).map_err(RenderError::new)?;
    metadata::installable(&chart, helm).map_err(RenderError::new)?;
    let renderer = Renderer::new(Settings::default()).with_helm(helm);
    let values = json::value_to_json(&Value::new(Repr::Map(values)));
    Ok(crate::plan::lint::lint(&renderer, &args.name, &args.namespace, chart, values))
}

/// Names that releases may have.
fn release_name(name: &str, helm: HelmVersion) -> Result<(), String> {
    let ends = |part: &str| part.starts_with('-') || part.ends_with('-');
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let good = name.len() <= 53 && name.split('.').all(|p| !p.is_empty() && !ends(p) && p.bytes().all(plain));
    if good {
        return Ok(());
    }
    let check = if helm.has(Quirk::Wording4) { "release name check failed: " } else { "" };
    if name.is_empty() {
        return Err(format!("{check}release name \"\": no name provided"));
    }
    Err(format!(
        "{check}release name {name:?}: invalid release name, must match regex \
         ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53"
    ))
}

fn load(files: &[(String, Vec<u8>)], helm: HelmVersion) -> Result<Chart, String> {
    match files {
        [(name, bytes)] if name.ends_with(".tgz") => Chart::from_archive_as(bytes, helm),
        _ => Chart::from_folder_as(files.iter().cloned().collect::<Files>(), helm),
    }
}

/// Helm 4 asks the server for what it can do; Helm 3 has its defaults and the flags (`H-23`).
fn capabilities(
    args: &RenderArgs,
    snapshot: &crate::cluster::snapshot::Snapshot,
    helm: HelmVersion,
) -> Result<Capabilities, String> {
    let server = &snapshot.discovery;
    if asks_server(args, helm) {
        // The flag is not used, but it is read.
        capabilities::from_flags(args.kube_version.as_deref(), &[], helm)?;
        return Ok(capabilities::from_server(server));
    }
    // What the snapshot's kinds add is passed as flags, but where nobody asks a cluster.
    let builtin = Discovery::of(&server.version.git).api_versions();
    let added = server.api_versions().into_iter().filter(|v| !args.client && !builtin.contains(v));
    let flags: Vec<String> = added.chain(args.api_versions.iter().cloned()).collect();
    capabilities::from_flags(args.kube_version.as_deref(), &flags, helm)
}

fn user_values(args: &RenderArgs, helm: HelmVersion, origins: &Origins) -> Result<Map, String> {
    let all = Map::new(BTreeMap::new(), MapType::Any);
    for (name, bytes) in &args.values {
        let bytes = bytes.as_ref().map_err(Clone::clone)?;
        let map = values::read_file(bytes, helm).map_err(|e| format!("failed to parse {name}: {e}"))?;
        let layer = values::layered(&Json::Object(values::to_json(&map)), Layer::User(name.as_str().into()), origins);
        if let Some(map) = layer.as_map() {
            values::overlay(&all, map, 0);
        }
    }
    for text in &args.set_json {
        set_json(text, &all, helm)?;
    }
    let apply = |texts: &[String], mode, flag: &str, read: &dyn Fn(&str) -> Value| {
        texts.iter().try_for_each(|text| {
            set::parse(text, mode, helm, &all, &mut |raw| Ok(read(raw)))
                .map_err(|e| format!("failed parsing {flag} data: {e}"))
        })
    };
    apply(&args.set, set::Mode::Plain, "--set", &set::typed)?;
    apply(&args.set_string, set::Mode::Plain, "--set-string", &|raw| Value::text(raw))?;
    for (text, contents) in &args.set_file {
        let mut read = |path: &str| match contents.get(path) {
            Some(content) => content.clone().map(Value::text),
            None => Err(format!("open {path}: no such file or directory")),
        };
        set::parse(text, set::Mode::Plain, helm, &all, &mut read)
            .map_err(|e| format!("failed parsing --set-file data: {e}"))?;
    }
    apply(&args.set_literal, set::Mode::Literal, "--set-literal", &|raw| Value::text(raw))?;
    Ok(all)
}

/// `key=JSON`, or from Helm 4 a whole object (`H-40`).
fn set_json(text: &str, all: &Map, helm: HelmVersion) -> Result<(), String> {
    if helm.has(Quirk::SetJsonObject) && text.trim_start().starts_with('{') {
        let value = json::parse(text.as_bytes()).map_err(|_| format!("failed parsing --set-json data JSON: {text}"))?;
        if let Some(map) = value.as_map() {
            values::overlay(all, map, 0);
        }
        return Ok(());
    }
    set::parse(text, set::Mode::Json, helm, all, &mut |raw| Ok(Value::text(raw)))
        .map_err(|_| format!("failed parsing --set-json data {text}"))
}
