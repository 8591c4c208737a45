//! The command line.

use clap::{Parser, Subcommand, ValueEnum};

/// Predicts what Flux will not render again, and plans what to force.
///
/// Exit status: 0 nothing to do, 1 some input could not be used, 2 findings, 64 the command line is wrong.
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say for each release what its render hides, what Flux will do, and what to force in which order.
    Plan(PlanArgs),
    /// Say for one release, or one object of it, how a finding came about.
    Explain(ExplainArgs),
    /// Say what a force of one release would change, field by field, and which facts each field goes back to.
    Diff(DiffArgs),
    /// Say whether a release has settled: reconciled at its present generation and at its source's revision.
    ///
    /// Exit status: 0 settled, 3 not yet (wait), 4 not without somebody's doing (give up), 5 the snapshot does not tell,
    /// 64 the command line is wrong or there is no such object.
    Settled(SettledArgs),
    /// Say what helm-controller does with a release at its next run, check by check, and what a force would do.
    ///
    /// Exit status: 0 answered, 1 some input could not be used, 64 the command line is wrong or there is no such release.
    Why(WhyArgs),
    /// Say what another Helm or another Kubernetes would render otherwise, object by object, and why.
    Whatif(WhatifArgs),
    /// Say what a renderer without a cluster (Argo CD, `helm template`) makes of each release, against its render on the
    /// cluster.
    Offline(OfflineArgs),
    /// Say what a chart does that depends on the cluster: gates, fallbacks, deadlocks, what rotates.
    Lint(LintArgs),
    /// Print what `helm template --dry-run=server` of a version prints.
    Render(RenderArgs),
}

/// Where the answers come from.
#[derive(Debug, clap::Args)]
pub struct Sources {
    /// A chart folder, a .tgz, or a folder of them: for charts that the snapshot does not hold whole (sub-charts are not
    /// stored in releases).
    #[arg(long = "charts", value_name = "DIR")]
    pub charts: Vec<String>,
    /// Version of helm-controller (1.2 to 1.6.3), where the snapshot does not hold its Deployment.
    #[arg(long, value_name = "VERSION")]
    pub controller: Option<String>,
    /// An argument that helm-controller was started with, such as --feature-gates=DefaultToRetryOnFailure=true, where the
    /// snapshot does not hold its Deployment.
    #[arg(long = "controller-arg", value_name = "ARG", allow_hyphen_values = true)]
    pub controller_args: Vec<String>,
    /// Treat what the snapshot does not hold as absent from the cluster.
    #[arg(long)]
    pub assume_complete: bool,
    /// Also say which single change of a looked-up object would make the next upgrade fail (`explain` always does).
    #[arg(long)]
    pub latent: bool,
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// The versioned report.
    Json,
}

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// What `kubectl get … -o yaml` or `-o json` printed: files, folders, or `-`.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    #[command(flatten)]
    pub sources: Sources,
}

#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// The release, as NAMESPACE/NAME.
    #[arg(value_name = "NAMESPACE/RELEASE")]
    pub release: String,
    /// One object of it: NAME, KIND/NAME or KIND/NAMESPACE/NAME.
    pub object: Option<String>,
    /// Snapshot files and folders.
    #[arg(short, long = "snapshot", required = true, value_name = "INPUT")]
    pub snapshot: Vec<String>,
    #[command(flatten)]
    pub sources: Sources,
}

#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// The release, as NAMESPACE/NAME.
    #[arg(value_name = "NAMESPACE/RELEASE")]
    pub release: String,
    /// Snapshot files and folders.
    #[arg(short, long = "snapshot", required = true, value_name = "INPUT")]
    pub snapshot: Vec<String>,
    /// Print data of Secrets too.
    #[arg(long)]
    pub show_secrets: bool,
    #[command(flatten)]
    pub sources: Sources,
}

/// Snapshot files, as for `plan` or as for `explain`.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub struct Snapshot {
    /// What `kubectl get … -o yaml` or `-o json` printed: files, folders, or `-`.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The same.
    #[arg(short, long = "snapshot", value_name = "INPUT")]
    pub snapshot: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct SettledArgs {
    /// The release, as NAMESPACE/NAME; or KIND/NAMESPACE/NAME for a source, HelmChart or Kustomization.
    #[arg(value_name = "NAMESPACE/NAME")]
    pub object: String,
    /// Revision of the source: whole, its digest, its tag, or the first seven or more digits of its hash; the chart's
    /// version where the source is a HelmRepository.
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<String>,
    #[command(flatten)]
    pub snapshot: Snapshot,
    #[command(flatten)]
    pub sources: Sources,
}

#[derive(Debug, clap::Args)]
pub struct WhyArgs {
    /// The release, as NAMESPACE/NAME.
    #[arg(value_name = "NAMESPACE/NAME")]
    pub release: String,
    /// Also say what would happen if both annotations were stamped now with a fresh token.
    #[arg(long)]
    pub stamp: bool,
    #[command(flatten)]
    pub snapshot: Snapshot,
    #[command(flatten)]
    pub sources: Sources,
}

#[derive(Debug, clap::Args)]
pub struct WhatifArgs {
    /// What `kubectl get … -o yaml` or `-o json` printed: files, folders, or `-`.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The Helm inside the controller: exact (4.2.2) or a line (4.2).
    #[arg(long)]
    pub helm: Option<String>,
    /// The version of Kubernetes.
    #[arg(long)]
    pub kube_version: Option<String>,
    /// API versions served besides (`a.io/v1`, `a.io/v1/Kind`).
    #[arg(short, long, value_delimiter = ',')]
    pub api_versions: Vec<String>,
    #[command(flatten)]
    pub sources: Sources,
}

#[derive(Debug, clap::Args)]
pub struct OfflineArgs {
    /// What `kubectl get … -o yaml` or `-o json` printed: files, folders, or `-`.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The version of Kubernetes that the renderer is told; without any of these three flags it is told what the cluster
    /// of the snapshot serves, as by Argo CD.
    #[arg(long)]
    pub kube_version: Option<String>,
    /// API versions that it is told besides the built-in ones (`a.io/v1`, `a.io/v1/Kind`).
    #[arg(short, long, value_delimiter = ',')]
    pub api_versions: Vec<String>,
    /// It is told nothing of the cluster.
    #[arg(long)]
    pub only_flags: bool,
    #[command(flatten)]
    pub sources: Sources,
}

#[derive(Debug, clap::Args)]
pub struct LintArgs {
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
    /// The chart and its values, as `render` takes them.
    #[command(flatten)]
    pub render: RenderArgs,
}

/// Whether there is a cluster to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// Lookups find nothing; capabilities are Helm's own.
    Client,
    /// Lookups and capabilities come from the snapshot.
    Server,
}

/// Helm's own flags, with their own meanings.
#[derive(Debug, clap::Args)]
pub struct RenderArgs {
    /// [NAME] CHART
    #[arg(required = true, num_args = 1..=2, value_name = "[NAME] CHART")]
    pub chart: Vec<String>,
    /// Values file; later ones win.
    #[arg(short = 'f', long = "values", value_name = "FILE", value_delimiter = ',')]
    pub values: Vec<String>,
    /// Set values: key1=val1,key2=val2.
    #[arg(long = "set", allow_hyphen_values = true, value_name = "KEY=VAL")]
    pub set: Vec<String>,
    /// Set STRING values.
    #[arg(long = "set-string", allow_hyphen_values = true, value_name = "KEY=VAL")]
    pub set_string: Vec<String>,
    /// Set values from JSON.
    #[arg(long = "set-json", allow_hyphen_values = true, value_name = "KEY=JSON")]
    pub set_json: Vec<String>,
    /// Set values from files.
    #[arg(long = "set-file", allow_hyphen_values = true, value_name = "KEY=PATH")]
    pub set_file: Vec<String>,
    /// Set a literal STRING value.
    #[arg(long = "set-literal", allow_hyphen_values = true, value_name = "KEY=VAL")]
    pub set_literal: Vec<String>,
    /// Namespace of the release.
    #[arg(short, long, default_value = "default")]
    pub namespace: String,
    /// Kubernetes version, where there is no server to ask.
    #[arg(long)]
    pub kube_version: Option<String>,
    /// Additional API versions, where there is no server to ask.
    #[arg(short, long, value_delimiter = ',')]
    pub api_versions: Vec<String>,
    /// Set .Release.IsUpgrade instead of .Release.IsInstall.
    #[arg(long)]
    pub is_upgrade: bool,
    /// Print the chart's crds/ too.
    #[arg(long)]
    pub include_crds: bool,
    /// Changes nothing: crds/ are printed only if asked for.
    #[arg(long)]
    pub skip_crds: bool,
    /// Do not print hooks.
    #[arg(long)]
    pub no_hooks: bool,
    /// Do not print test hooks.
    #[arg(long)]
    pub skip_tests: bool,
    /// Let the cluster say what it can do, and check the objects against it, as an install does; Helm 4 always does so
    /// when it asks a cluster.
    #[arg(long)]
    pub validate: bool,
    /// Do not ask to whom objects belong that exist.
    #[arg(long)]
    pub take_ownership: bool,
    /// Whether to ask the cluster of the snapshot.
    #[arg(long, value_enum, default_value_t = DryRun::Server)]
    pub dry_run: DryRun,
    /// Print what was rendered even where it is no YAML.
    #[arg(long)]
    pub debug: bool,
    /// Only print these templates.
    #[arg(short, long = "show-only", value_name = "TEMPLATE")]
    pub show_only: Vec<String>,
    /// Write what is rendered to files in this folder.
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<String>,
    /// With --output-dir: into a folder of the release's name.
    #[arg(long)]
    pub release_name: bool,
    /// Without a name: a release that is only rendered is called release-name, as Helm calls it.
    #[arg(short, long)]
    pub generate_name: bool,
    /// A template for the name of the release.
    #[arg(long, value_name = "TEMPLATE", default_value = "", hide_default_value = true)]
    pub name_template: String,
    /// Changes nothing: host names are never looked up, and getHostByName gives nothing.
    #[arg(long)]
    pub enable_dns: bool,
    /// Changes nothing: notes are not printed.
    #[arg(long)]
    pub hide_notes: bool,
    /// Changes nothing: notes are not printed.
    #[arg(long)]
    pub render_subchart_notes: bool,
    /// Changes nothing: objects are not checked against the API's schema.
    #[arg(long)]
    pub disable_openapi_validation: bool,
    /// Do not check values against values.schema.json.
    #[arg(long)]
    pub skip_schema_validation: bool,
    /// The cluster that lookups and capabilities ask: snapshot files and folders.
    #[arg(long = "snapshot", value_name = "INPUT")]
    pub snapshot: Vec<String>,
    /// The Helm to imitate: exact (4.2.2), a line (4.2), or 3 or 4.
    #[arg(long, default_value = "4")]
    pub helm: String,
}
