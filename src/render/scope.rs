//! The dot: what templates see as `.Values`, `.Release`, `.Chart`, `.Capabilities`, `.Files`, `.Template`.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::version::{HelmVersion, Quirk};
use crate::chart::Chart;
use crate::chart::files::FilesValue;
use crate::codec::json::value_from_json;
use crate::value::origin::Origin;
use crate::value::{Map, MapType, Native, Origins, Repr, Text, Value};

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

/// What the cluster can do.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// Version of Kubernetes.
    pub kube: KubeVersion,
    /// `.APIVersions`
    pub api_versions: Rc<BTreeSet<String>>,
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
pub fn capabilities(capabilities: &Capabilities, helm: HelmVersion) -> Value {
    native(CapabilitiesValue { capabilities: capabilities.clone(), helm })
}

fn native(value: impl Native + 'static) -> Value {
    Value::new(Repr::Native(Rc::new(value)))
}

struct CapabilitiesValue {
    capabilities: Capabilities,
    helm: HelmVersion,
}

impl Native for CapabilitiesValue {
    fn type_name(&self, helm: HelmVersion) -> String {
        format!("*{}.Capabilities", package(helm))
    }
    fn kind(&self) -> &'static str {
        "ptr"
    }
    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "KubeVersion" => Some(native(KubeVersionValue(self.capabilities.kube.clone(), self.helm))),
            "APIVersions" => Some(native(ApiVersions(self.capabilities.api_versions.clone()))),
            "HelmVersion" => Some(native(HelmVersionValue(self.helm))),
            _ => None,
        }
    }
    fn has_method(&self, _: &str) -> bool {
        false
    }
    fn call(&self, _: &str, _: &[Value], _: &Origins) -> Result<Value, String> {
        Ok(Value::NIL)
    }
    fn print(&self, _: bool, _: bool) -> String {
        let kube = KubeVersionValue(self.capabilities.kube.clone(), self.helm).fields();
        let versions = ApiVersions(self.capabilities.api_versions.clone()).print(false, false);
        format!("&{{{kube} {versions} {}}}", HelmVersionValue(self.helm).print(false, false))
    }
    fn data(&self) -> Option<Value> {
        let names = ["KubeVersion", "APIVersions", "HelmVersion"];
        Some(Value::map(names.iter().filter_map(|n| Some((Text::from(*n), self.field(n)?))).collect()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Name of the Go package that the value types live in (`H-31`).
fn package(helm: HelmVersion) -> &'static str {
    if helm.has(Quirk::CommonTypeNames) { "common" } else { "chartutil" }
}

struct KubeVersionValue(KubeVersion, HelmVersion);

impl KubeVersionValue {
    fn fields(&self) -> String {
        let k = &self.0;
        if self.1.has(Quirk::KubeVersionNormalized) {
            format!("{{{} {} {} {}}}", k.version, self.normalized(), k.major, k.minor)
        } else {
            format!("{{{} {} {}}}", k.version, k.major, k.minor)
        }
    }

    /// Only a version from a flag has the normalized form beside it (`H-24`).
    fn normalized(&self) -> &str {
        &self.0.normalized
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
        match name {
            "Version" => Some(Value::text(self.0.version.as_str())),
            "Major" => Some(Value::text(self.0.major.as_str())),
            "Minor" => Some(Value::text(self.0.minor.as_str())),
            _ => None,
        }
    }
    fn has_method(&self, name: &str) -> bool {
        matches!(name, "GitVersion" | "String")
    }
    fn signature(&self, _: &str) -> Option<&'static [&'static str]> {
        Some(&[])
    }
    fn call(&self, name: &str, _: &[Value], origins: &Origins) -> Result<Value, String> {
        let text = if name == "String" { self.print(false, false) } else { self.0.version.clone() };
        Ok(Value::text(text).under(origins.only(Origin::KubeVersion), origins))
    }
    fn print(&self, _: bool, _: bool) -> String {
        self.0.version.clone()
    }
    fn data(&self) -> Option<Value> {
        let names = ["Version", "Major", "Minor"];
        Some(Value::map(names.iter().filter_map(|n| Some((Text::from(*n), self.field(n)?))).collect()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct ApiVersions(Rc<BTreeSet<String>>);

impl Native for ApiVersions {
    fn type_name(&self, helm: HelmVersion) -> String {
        format!("{}.VersionSet", package(helm))
    }
    fn kind(&self) -> &'static str {
        "slice"
    }
    fn field(&self, _: &str) -> Option<Value> {
        None
    }
    fn has_method(&self, name: &str) -> bool {
        name == "Has"
    }
    fn signature(&self, _: &str) -> Option<&'static [&'static str]> {
        Some(&["string"])
    }
    fn call(&self, _: &str, args: &[Value], origins: &Origins) -> Result<Value, String> {
        let wanted = args.first().and_then(Value::as_text).map(|t| t.lossy().into_owned()).unwrap_or_default();
        let has = self.0.contains(&wanted);
        Ok(Value::bool(has).under(origins.only(Origin::ApiVersion(wanted.into())), origins))
    }
    fn print(&self, _: bool, _: bool) -> String {
        format!("[{}]", self.0.iter().cloned().collect::<Vec<_>>().join(" "))
    }
    fn data(&self) -> Option<Value> {
        Some(Value::typed_list(self.0.iter().map(|v| Value::text(v.as_str())).collect(), crate::value::ListType::Str))
    }
    fn truth(&self) -> bool {
        !self.0.is_empty()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct HelmVersionValue(HelmVersion);

impl Native for HelmVersionValue {
    fn type_name(&self, _: HelmVersion) -> String {
        "version.BuildInfo".into()
    }
    fn kind(&self) -> &'static str {
        "struct"
    }
    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Version" => Some(Value::text(self.0.label())),
            "GitCommit" | "GitTreeState" => Some(Value::text("")),
            "GoVersion" => Some(Value::text(format!("go1.{}", self.0.go))),
            _ => None,
        }
    }
    fn has_method(&self, _: &str) -> bool {
        false
    }
    fn call(&self, _: &str, _: &[Value], _: &Origins) -> Result<Value, String> {
        Ok(Value::NIL)
    }
    fn print(&self, _: bool, _: bool) -> String {
        format!("{{{}   go1.{}}}", self.0.label(), self.0.go)
    }
    fn data(&self) -> Option<Value> {
        let names = ["Version", "GitCommit", "GitTreeState", "GoVersion"];
        Some(Value::map(names.iter().filter_map(|n| Some((Text::from(*n), self.field(n)?))).collect()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Fields of Chart.yaml: Go name, YAML name, zero value.
const METADATA: &[(&str, &str, Zero)] = &[
    ("Name", "name", Zero::Text),
    ("Home", "home", Zero::Text),
    ("Sources", "sources", Zero::List),
    ("Version", "version", Zero::Text),
    ("Description", "description", Zero::Text),
    ("Keywords", "keywords", Zero::List),
    ("Maintainers", "maintainers", Zero::List),
    ("Icon", "icon", Zero::Text),
    ("APIVersion", "apiVersion", Zero::Text),
    ("Condition", "condition", Zero::Text),
    ("Tags", "tags", Zero::Text),
    ("AppVersion", "appVersion", Zero::Text),
    ("Deprecated", "deprecated", Zero::Bool),
    ("Annotations", "annotations", Zero::Map),
    ("KubeVersion", "kubeVersion", Zero::Text),
    ("Dependencies", "dependencies", Zero::List),
    ("Type", "type", Zero::Text),
];

#[derive(Clone, Copy)]
enum Zero {
    Text,
    List,
    Map,
    Bool,
}

impl Zero {
    /// The value in the records of Helm 4, whose lists are never nil.
    fn empty(self) -> Value {
        match self {
            Zero::List => Value::list(Vec::new()),
            other => other.value(),
        }
    }

    fn value(self) -> Value {
        match self {
            Zero::Text => Value::text(""),
            Zero::List => Value::typed_list(Vec::new(), crate::value::ListType::Nil),
            Zero::Map => Value::new(Repr::Map(Map::new(BTreeMap::new(), MapType::Str))),
            Zero::Bool => Value::bool(false),
        }
    }
}

/// `.Chart`: a struct in Helm 3, a map in Helm 4 (`H-27`).
pub fn chart(chart: &Chart, is_root: bool, helm: HelmVersion) -> Value {
    let mut entries: BTreeMap<Text, Value> = METADATA
        .iter()
        .map(|(go, yaml, zero)| {
            let found = chart.meta.get(*yaml).filter(|v| !v.is_null());
            (Text::from(*go), found.map_or_else(|| zero.value(), |json| metadata_value(json, *zero)))
        })
        .collect();
    entries.insert("IsRoot".into(), Value::bool(is_root));
    if helm.has(Quirk::ChartIsMap) {
        if !chart.meta.get("annotations").is_some_and(Json::is_object) {
            entries.insert("Annotations".into(), Value::NIL);
        }
        entries.insert("Maintainers".into(), records(chart.meta.get("maintainers"), MAINTAINER));
        entries.insert("Dependencies".into(), records(chart.meta.get("dependencies"), DEPENDENCY));
        return Value::map(entries);
    }
    native(ChartValue { entries, meta: chart.meta.clone(), is_root })
}

/// Fields of a maintainer: name in Go, name in YAML, value if not given.
const MAINTAINER: &[(&str, &str, Zero)] =
    &[("Name", "name", Zero::Text), ("Email", "email", Zero::Text), ("URL", "url", Zero::Text)];

/// Fields of a dependency.
const DEPENDENCY: &[(&str, &str, Zero)] = &[
    ("Name", "name", Zero::Text),
    ("Version", "version", Zero::Text),
    ("Repository", "repository", Zero::Text),
    ("Condition", "condition", Zero::Text),
    ("Tags", "tags", Zero::List),
    ("Enabled", "enabled", Zero::Bool),
    ("ImportValues", "import-values", Zero::List),
    ("Alias", "alias", Zero::Text),
];

/// Records of Chart.yaml as Helm 4 shows them: maps by the names of the Go fields, each of them there (`H-27`).
fn records(list: Option<&Json>, fields: &[(&'static str, &str, Zero)]) -> Value {
    let record = |json: &Json| {
        let fields = fields.iter().map(|(go, yaml, zero)| {
            let found = json.get(*yaml).filter(|v| !v.is_null());
            (Text::from(*go), found.map_or_else(|| zero.empty(), |json| metadata_value(json, *zero)))
        });
        Value::map(fields.collect())
    };
    Value::list(list.and_then(Json::as_array).into_iter().flatten().filter(|r| r.is_object()).map(record).collect())
}

fn metadata_value(json: &Json, zero: Zero) -> Value {
    match (zero, json) {
        (Zero::Text, Json::String(text)) => Value::text(text.as_str()),
        (Zero::Text, other) => Value::text(match other {
            Json::Number(n) => n.as_f64().map(crate::codec::float::g).unwrap_or_default(),
            other => other.to_string(),
        }),
        (Zero::Map, Json::Object(map)) => {
            let entries = map.iter().map(|(k, v)| {
                let text = v.as_str().map_or_else(|| v.to_string(), str::to_owned);
                (Text::from(k.as_str()), Value::text(text))
            });
            Value::new(Repr::Map(Map::new(entries.collect(), MapType::Str)))
        }
        (_, other) => value_from_json(other),
    }
}

/// Helm 3's `.Chart`.
struct ChartValue {
    entries: BTreeMap<Text, Value>,
    meta: JsonMap<String, Json>,
    is_root: bool,
}

impl Native for ChartValue {
    fn type_name(&self, _: HelmVersion) -> String {
        "chart.Metadata".into()
    }
    fn kind(&self) -> &'static str {
        "struct"
    }
    fn field(&self, name: &str) -> Option<Value> {
        self.entries.get(name.as_bytes()).cloned()
    }
    fn has_method(&self, _: &str) -> bool {
        false
    }
    fn call(&self, _: &str, _: &[Value], _: &Origins) -> Result<Value, String> {
        Ok(Value::NIL)
    }
    fn print(&self, _: bool, _: bool) -> String {
        let helm = HelmVersion::cli(3, 17, 3);
        let fields: Vec<String> = METADATA
            .iter()
            .filter_map(|(go, _, _)| self.entries.get(go.as_bytes()))
            .map(|v| String::from_utf8_lossy(&crate::template::print::go_v(v, helm)).into_owned())
            .collect();
        format!("{{{{{}}} {}}}", fields.join(" "), self.is_root)
    }
    fn data(&self) -> Option<Value> {
        // Marshalled by its YAML names, without what is empty.
        let mut map = self.meta.clone();
        map.retain(|_, v| !v.is_null());
        map.insert("IsRoot".into(), self.is_root.into());
        Some(value_from_json(&Json::Object(map)))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `.Files`
pub fn files(chart: &Chart, helm: HelmVersion) -> Value {
    native(FilesValue::new(chart.files.clone(), helm))
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
    Value::map(entries)
}
