//! The dot: what templates see as `.Values`, `.Release`, `.Chart`, `.Capabilities`, `.Files`, `.Template`.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::base::version::{HelmVersion, Quirk};
use crate::chart::Chart;
use crate::chart::files::FilesValue;
use crate::value::origin::{Origin, OriginSet};
use crate::value::{ListType, Map, MapType, Method, Native, Origins, Repr, Text, Value};

/// Version of Kubernetes as templates see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeVersion {
    /// `.Version` and `.GitVersion`.
    pub version: String,
    /// The form without a suffix, which Helm 4 prints and compares when the version came from a flag (`H-20`).
    pub normalized: String,
    /// `.Major`
    pub major: String,
    /// `.Minor`
    pub minor: String,
}

impl KubeVersion {
    /// What constraints see, and what an action writes (`H-20`).
    pub fn compared(&self) -> &str {
        if self.normalized.is_empty() { &self.version } else { &self.normalized }
    }
}

/// What the cluster can do.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// Version of Kubernetes.
    pub kube: KubeVersion,
    /// `.APIVersions`
    pub api_versions: Rc<BTreeSet<String>>,
    /// The order in which Helm lists them, some twice where flags repeat them; by name, if it is empty.
    pub api_order: Rc<Vec<String>>,
}

/// A field of `.Release`.
#[derive(Debug, Clone)]
pub struct Release {
    /// Name.
    pub name: String,
    /// Namespace.
    pub namespace: String,
    /// Revision that is being made.
    pub revision: i64,
    /// Whether a revision is deployed already.
    pub is_upgrade: bool,
}

/// `.Release`
pub fn release(release: &Release, origins: &Origins) -> Value {
    let field = |name: &'static str, value: Value| {
        (Text::from(name), value.under(origins.only(Origin::Release(name)), origins))
    };
    Value::map(BTreeMap::from([
        field("Name", Value::text(release.name.as_str())),
        field("Namespace", Value::text(release.namespace.as_str())),
        field("Revision", Value::int(release.revision)),
        field("IsInstall", Value::bool(!release.is_upgrade)),
        field("IsUpgrade", Value::bool(release.is_upgrade)),
        (Text::from("Service"), Value::text("Helm")),
    ]))
}

/// `.Capabilities`
pub fn capabilities(capabilities: &Capabilities, helm: HelmVersion, origins: &Origins) -> Value {
    let facts = [Origin::KubeVersion, Origin::ApiVersion("*".into()), Origin::HelmVersion];
    let [kube, all_apis, helm_version] = facts.map(|fact| origins.only(fact));
    native(CapabilitiesValue { capabilities: capabilities.clone(), helm, kube, all_apis, helm_version })
}

pub(super) fn native(value: impl Native + 'static) -> Value {
    Value::new(Repr::Native(Rc::new(value)))
}

struct CapabilitiesValue {
    capabilities: Capabilities,
    helm: HelmVersion,
    /// Origins of the version of Kubernetes, of the whole list of API versions, of the version of Helm.
    kube: OriginSet,
    all_apis: OriginSet,
    helm_version: OriginSet,
}

impl CapabilitiesValue {
    fn api_versions(&self) -> ApiVersions {
        let c = &self.capabilities;
        ApiVersions { all: c.api_versions.clone(), order: c.api_order.clone(), origins: self.all_apis }
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let c = &self.capabilities;
        let of = |mut value: Value, origins: OriginSet| {
            value.origins = origins;
            value
        };
        vec![
            (
                "KubeVersion",
                of(native(KubeVersionValue { kube: c.kube.clone(), helm: self.helm, placed: true }), self.kube),
            ),
            // Who asks for one version does not depend on the others: see `Has`.
            ("APIVersions", native(self.api_versions())),
            ("HelmVersion", of(native(HelmVersionValue(self.helm)), self.helm_version)),
        ]
    }
}

fn by_name(fields: Vec<(&'static str, Value)>) -> Option<Value> {
    Some(Value::map(fields.into_iter().map(|(name, value)| (Text::from(name), value)).collect()))
}

fn named(fields: Vec<(&'static str, Value)>, name: &str) -> Option<Value> {
    fields.into_iter().find(|(n, _)| *n == name).map(|(_, value)| value)
}

impl Native for CapabilitiesValue {
    fn type_name(&self, helm: HelmVersion) -> String {
        format!("*{}.Capabilities", package(helm))
    }
    fn kind(&self) -> &'static str {
        "ptr"
    }
    fn field(&self, name: &str) -> Option<Value> {
        named(self.fields(), name)
    }
    fn methods(&self) -> &'static [Method] {
        &[("Copy", &[])]
    }
    fn call(&self, _: &str, _: &[Value], _: &Origins) -> Result<Value, String> {
        let capabilities = self.capabilities.clone();
        Ok(native(CapabilitiesValue { capabilities, ..*self }))
    }
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(self.fields())
    }
    fn print(&self, _: bool, _: bool) -> String {
        let kube = KubeVersionValue { kube: self.capabilities.kube.clone(), helm: self.helm, placed: true }
            .print(false, false);
        let versions = self.api_versions().print(false, false);
        format!("&{{{kube} {versions} {}}}", HelmVersionValue(self.helm).print(false, false))
    }
    fn data(&self) -> Option<Value> {
        by_name(self.fields())
    }
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(self.fields())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Name of the Go package that the value types live in (`H-31`).
fn package(helm: HelmVersion) -> &'static str {
    if helm.has(Quirk::CommonTypeNames) { "common" } else { "chartutil" }
}

struct KubeVersionValue {
    kube: KubeVersion,
    helm: HelmVersion,
    /// It lies in the capabilities, and so has the methods of its pointer.
    placed: bool,
}

impl KubeVersionValue {
    fn fields(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &str| Value::text(text);
        vec![
            ("Version", text(&self.kube.version)),
            ("Major", text(&self.kube.major)),
            ("Minor", text(&self.kube.minor)),
        ]
    }
}

impl Native for KubeVersionValue {
    fn type_name(&self, helm: HelmVersion) -> String {
        format!("{}.KubeVersion", package(helm))
    }
    fn kind(&self) -> &'static str {
        "struct"
    }
    fn field(&self, name: &str) -> Option<Value> {
        named(self.fields(), name)
    }
    fn methods(&self) -> &'static [Method] {
        if self.placed { &[("GitVersion", &[]), ("String", &[])] } else { &[] }
    }
    fn call(&self, name: &str, _: &[Value], _: &Origins) -> Result<Value, String> {
        let text = if name == "String" { self.kube.compared().to_owned() } else { self.kube.version.clone() };
        Ok(Value::text(text))
    }
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        let mut fields = self.fields();
        if self.helm.has(Quirk::KubeVersionNormalized) {
            fields.insert(1, ("normalizedVersion", Value::text(self.kube.normalized.as_str())));
        }
        Some(fields)
    }
    fn print(&self, plus: bool, _: bool) -> String {
        let k = &self.kube;
        match (self.helm.has(Quirk::KubeVersionNormalized), plus) {
            (true, false) => format!("{{{} {} {} {}}}", k.version, k.normalized, k.major, k.minor),
            (false, false) => format!("{{{} {} {}}}", k.version, k.major, k.minor),
            (true, true) => format!(
                "{{Version:{} normalizedVersion:{} Major:{} Minor:{}}}",
                k.version, k.normalized, k.major, k.minor
            ),
            (false, true) => format!("{{Version:{} Major:{} Minor:{}}}", k.version, k.major, k.minor),
        }
    }
    fn data(&self) -> Option<Value> {
        by_name(self.fields())
    }
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(self.fields())
    }
    fn written(&self) -> Option<String> {
        self.placed.then(|| self.kube.compared().to_owned())
    }
    fn hidden(&self) -> &'static [&'static str] {
        if self.helm.has(Quirk::KubeVersionNormalized) { &["normalizedVersion"] } else { &[] }
    }
    fn passed(&self) -> Option<Value> {
        Some(native(KubeVersionValue { kube: self.kube.clone(), helm: self.helm, placed: false }))
    }
    fn copied(&self) -> Option<Value> {
        // Only what is public is copied.
        let kube = KubeVersion { normalized: String::new(), ..self.kube.clone() };
        Some(native(KubeVersionValue { kube, helm: self.helm, placed: false }))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct ApiVersions {
    all: Rc<BTreeSet<String>>,
    order: Rc<Vec<String>>,
    origins: OriginSet,
}

impl ApiVersions {
    fn listed(&self) -> Vec<&str> {
        if self.order.is_empty() {
            return self.all.iter().map(String::as_str).collect();
        }
        self.order.iter().map(String::as_str).collect()
    }
}

impl Native for ApiVersions {
    fn type_name(&self, helm: HelmVersion) -> String {
        format!("{}.VersionSet", package(helm))
    }
    fn kind(&self) -> &'static str {
        "slice"
    }
    fn methods(&self) -> &'static [Method] {
        &[("Has", &["string"])]
    }
    fn call(&self, _: &str, args: &[Value], origins: &Origins) -> Result<Value, String> {
        let wanted = args.first().and_then(Value::as_text).map(|t| t.lossy().into_owned()).unwrap_or_default();
        let has = self.all.contains(&wanted);
        Ok(Value::bool(has).under(origins.only(Origin::ApiVersion(wanted.into())), origins))
    }
    fn print(&self, _: bool, _: bool) -> String {
        format!("[{}]", self.listed().join(" "))
    }
    fn data(&self) -> Option<Value> {
        let mut list = Value::typed_list(self.listed().into_iter().map(Value::text).collect(), ListType::Str);
        list.origins = self.origins;
        Some(list)
    }
    fn truth(&self) -> bool {
        !self.all.is_empty()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct HelmVersionValue(HelmVersion);

impl HelmVersionValue {
    /// Go name, JSON name, value.
    fn fields(&self) -> Vec<(&'static str, &'static str, String)> {
        let (commit, state, go) = self.0.build();
        let mut fields = vec![
            ("Version", "version", self.0.label()),
            ("GitCommit", "git_commit", commit.to_owned()),
            ("GitTreeState", "git_tree_state", state.to_owned()),
            ("GoVersion", "go_version", go),
        ];
        if self.0.major() >= 4 {
            fields.push(("KubeClientVersion", "kube_client_version", super::capabilities::client_version(self.0)));
        }
        fields
    }
}

impl Native for HelmVersionValue {
    fn type_name(&self, _: HelmVersion) -> String {
        "version.BuildInfo".into()
    }
    fn kind(&self) -> &'static str {
        "struct"
    }
    fn field(&self, name: &str) -> Option<Value> {
        self.fields().into_iter().find(|f| f.0 == name).map(|f| Value::text(f.2))
    }
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(self.fields().into_iter().map(|(name, _, value)| (name, Value::text(value))).collect())
    }
    fn print(&self, plus: bool, _: bool) -> String {
        let fields = self.fields().into_iter();
        let fields = fields.map(|(name, _, value)| if plus { format!("{name}:{value}") } else { value });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(" "))
    }
    fn data(&self) -> Option<Value> {
        by_name(self.json_fields()?)
    }
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        let fields = self.fields().into_iter().filter(|f| !f.2.is_empty());
        Some(fields.map(|(_, name, value)| (name, Value::text(value))).collect())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `.Files`
pub fn files(chart: &Chart, helm: HelmVersion) -> Value {
    native(FilesValue::new(chart.files.clone(), helm))
}

/// A map of the type that the values, the dot and `.Template` have.
pub fn values_map(entries: BTreeMap<Text, Value>) -> Value {
    Value::new(Repr::Map(Map::new(entries, MapType::Values)))
}

/// The scope of one chart: the map that its templates get as dot.
pub fn scope(
    chart: Value,
    files: Value,
    release: Value,
    capabilities: Value,
    values: Value,
    subcharts: Value,
) -> Value {
    let entries = BTreeMap::from([
        (Text::from("Chart"), chart),
        (Text::from("Files"), files),
        (Text::from("Release"), release),
        (Text::from("Capabilities"), capabilities),
        (Text::from("Values"), values),
        (Text::from("Subcharts"), subcharts),
    ]);
    values_map(entries)
}
