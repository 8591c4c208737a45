//! `lookup` as Helm answers it: the rules L1 to L10.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::object::{Object, ObjectKey, group_of};
use super::snapshot::{Access, Facts, Question};
use crate::base::Known;
use crate::codec::json::value_from_json;
use crate::diff;
use crate::template::eval::hole as hole_value;
use crate::value::origin::{LookupKey, Origin};
use crate::value::{OriginId, Origins, Repr, Text, Value};

/// What a lookup answers, and how certain that is.
pub struct Answer {
    /// The object, the list, or the empty map.
    pub value: Value,
    /// Whether something was found; whether anybody looked.
    pub known: Known<()>,
    /// Whether the one who asks is known to be allowed to.
    pub allowed: bool,
}

/// Asks the cluster.
///
/// # Errors
/// Helm's text behind `error calling lookup: ` (L3, L7).
pub fn lookup(facts: &dyn Facts, key: &LookupKey, origins: &Origins) -> Result<Answer, String> {
    lookup_without(facts, key, None, origins)
}

/// Asks the cluster, and takes a field (`.data.password`) away from the object that is found.
///
/// # Errors
/// As those of [`lookup`].
pub fn lookup_without(
    facts: &dyn Facts,
    key: &LookupKey,
    field: Option<&str>,
    origins: &Origins,
) -> Result<Answer, String> {
    let failed = |gv: &str, problem: &str| {
        let (group, version) = gv.split_once('/').unwrap_or(("", gv));
        format!("unable to get apiresource from unstructured: {group}/{version}, Kind={}: {problem}", key.kind)
    };
    // A question that fails was asked all the same.
    let at = located(key, origins);
    let gv = &*key.api_version;
    if gv.is_empty() || gv.matches('/').count() > 1 {
        return Err(failed("", "groupVersion shouldn't be empty"));
    }
    let discovery = facts.discovery();
    if discovery.is_broken(gv) {
        return Err(failed(gv, "the server is currently unable to handle the request"));
    }
    if !discovery.serves(gv) {
        // A group without its version answers with another kind of document.
        if !gv.contains('/') && discovery.api_versions().iter().any(|v| group_of(v) == gv) {
            return Err(failed(gv, "converting (v1.APIGroup) to (v1.APIResourceList): unknown conversion"));
        }
        return Err(failed(gv, "the server could not find the requested resource"));
    }
    let Some(resource) = discovery.resource(gv, &key.kind).filter(|r| r.readable) else {
        return Ok(unknown_kind(facts, key, origins));
    };
    check_name(&key.name)?;
    let group = group_of(gv);
    let namespace = if resource.namespaced { &*key.namespace } else { "" };
    let asked = Question { group, plural: &resource.plural, namespace, name: &key.name, verb: verb(key) };
    let access = facts.access(&asked);
    if access == Access::Refused {
        return Err(forbidden(&asked, facts.user()));
    }
    let allowed = access == Access::Allowed;
    if key.name.is_empty() {
        let known = facts.list(group, &key.kind, (!namespace.is_empty()).then_some(namespace));
        let (items, certain) = match known {
            Known::Present(items) => (items, true),
            Known::Absent => (Vec::new(), true),
            Known::Uncollected => (Vec::new(), false),
        };
        let known = match (items.is_empty(), certain) {
            (false, _) => Known::Present(()),
            (true, true) => Known::Absent,
            (true, false) => Known::Uncollected,
        };
        return Ok(Answer { value: annotate(list(facts, key, &items), at, origins), known, allowed });
    }
    if resource.namespaced && namespace.is_empty() {
        return Ok(Answer { value: nothing(key, origins), known: Known::Absent, allowed }); // L5
    }
    let object = ObjectKey {
        group: group.to_owned(),
        kind: key.kind.to_string(),
        namespace: namespace.to_owned(),
        name: key.name.to_string(),
    };
    let known = facts.get(&object);
    let value = match &known {
        Known::Present(object) => {
            let mut json = in_version(object, gv);
            if let Some(field) = field {
                diff::path::remove(&mut json, field);
            }
            annotate(value_from_json(&json), at, origins)
        }
        _ => nothing(key, origins),
    };
    Ok(Answer { value, known: known.map(|_| ()), allowed })
}

/// Whether some state of the cluster could make the lookup find something.
pub fn can_exist(facts: &dyn Facts, key: &LookupKey) -> bool {
    facts.discovery().resource(&key.api_version, &key.kind).is_some_and(|resource| {
        let named = if key.namespace.is_empty() { key.name.is_empty() } else { is_label(&key.namespace) };
        resource.readable && (!resource.namespaced || named)
    })
}

/// Whether a namespace could have this name.
fn is_label(name: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    name.len() <= 63 && name.bytes().all(inner) && !name.starts_with('-') && !name.ends_with('-')
}

/// The identity of what a named lookup asks for; of a list, with an empty name.
pub fn object_of(facts: &dyn Facts, key: &LookupKey) -> ObjectKey {
    let namespaced = facts.discovery().resource(&key.api_version, &key.kind).is_none_or(|r| r.namespaced);
    ObjectKey {
        group: group_of(&key.api_version).to_owned(),
        kind: key.kind.to_string(),
        namespace: if namespaced { key.namespace.to_string() } else { String::new() },
        name: key.name.to_string(),
    }
}

/// The answer of a lookup that finds nothing (L1); of a list, one without items (L2).
pub fn nothing(key: &LookupKey, origins: &Origins) -> Value {
    let mut entries = BTreeMap::new();
    if key.name.is_empty() {
        entries.insert(Text::from("apiVersion"), Value::text(&*key.api_version));
        entries.insert(Text::from("items"), Value::list(Vec::new()));
        entries.insert(Text::from("kind"), Value::text(format!("{}List", key.kind)));
        entries.insert(
            Text::from("metadata"),
            Value::map(BTreeMap::from([("resourceVersion".into(), Value::text("1000"))])),
        );
    }
    annotate(Value::map(entries), located(key, origins), origins)
}

/// Whether objects of that kind hold data, and not a status.
pub fn holds_data(key: &LookupKey) -> bool {
    &*key.api_version == "v1" && matches!(&*key.kind, "Secret" | "ConfigMap")
}

/// An object that exists without anything in it but its name; with `holds`, its data or status is there, but empty.
pub fn unfilled(key: &LookupKey, holds: bool, origins: &Origins) -> Value {
    let mut json = serde_json::json!({
        "apiVersion": &*key.api_version, "kind": &*key.kind, "metadata": {"name": &*key.name},
    });
    if !key.namespace.is_empty() {
        json["metadata"]["namespace"] = key.namespace.to_string().into();
    }
    if holds {
        let part = if holds_data(key) { "data" } else { "status" };
        json[part] = serde_json::json!({});
    }
    annotate(value_from_json(&json), located(key, origins), origins)
}

/// The answer where there is no cluster: an empty map, also of a list (L9).
pub fn no_cluster(key: &LookupKey, origins: &Origins) -> Value {
    annotate(Value::map(BTreeMap::new()), located(key, origins), origins)
}

/// Something that the lookup will find one day.
pub fn hole(key: &LookupKey, origins: &Origins) -> Value {
    let at = located(key, origins);
    hole_value(format!("<{key}>").into(), at, origins.single(at))
}

fn located(key: &LookupKey, origins: &Origins) -> OriginId {
    origins.intern(Origin::Lookup { key: Rc::new(key.clone()), path: "".into() })
}

/// L4: an unknown kind of a served group version asks `/api/NAME`, or `/api`.
fn unknown_kind(facts: &dyn Facts, key: &LookupKey, origins: &Origins) -> Answer {
    let at = located(key, origins);
    if key.name.is_empty() {
        let json = serde_json::json!({
            "kind": "APIVersions", "items": [], "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "10.0.0.1:6443"}],
        });
        return Answer {
            value: annotate(value_from_json(&json), at, origins),
            known: Known::Present(()),
            allowed: true,
        };
    }
    if facts.discovery().serves(&key.name) && !key.name.contains('/') {
        let json = serde_json::json!({"kind": "APIResourceList", "groupVersion": &*key.name});
        return Answer {
            value: annotate(value_from_json(&json), at, origins),
            known: Known::Present(()),
            allowed: true,
        };
    }
    Answer { value: annotate(Value::map(BTreeMap::new()), at, origins), known: Known::Absent, allowed: true }
}

fn check_name(name: &str) -> Result<(), String> {
    let problem = match name {
        "." | ".." => Some(format!("may not be '{name}'")),
        _ => ['/', '%'].into_iter().find(|c| name.contains(*c)).map(|c| format!("may not contain '{c}'")),
    };
    match problem {
        Some(problem) => Err(format!("invalid resource name {name:?}: [{problem}]")),
        None => Ok(()),
    }
}

fn verb(key: &LookupKey) -> &'static str {
    if key.name.is_empty() { "list" } else { "get" }
}

/// The rule that a role would need for a lookup to be answered, as it is written in YAML.
pub fn rule_for(facts: &dyn Facts, key: &LookupKey) -> String {
    let resource = facts.discovery().resource(&key.api_version, &key.kind);
    let plural = resource.map_or_else(|| key.kind.to_lowercase(), |r| r.plural.clone());
    let names = if key.name.is_empty() { String::new() } else { format!(", resourceNames: [{}]", key.name) };
    let place = match (&*key.namespace, resource.is_none_or(|r| r.namespaced)) {
        (_, false) | ("", _) => "in a ClusterRole".to_owned(),
        (namespace, true) => format!("in namespace {namespace}"),
    };
    let group = group_of(&key.api_version);
    format!("{{apiGroups: [{group:?}], resources: [{plural}], verbs: [{}]{names}}} {place}", verb(key))
}

fn forbidden(asked: &Question<'_>, user: &str) -> String {
    let Question { group, plural, namespace, name, verb } = *asked;
    let resource = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    let name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
    let place = if namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {namespace:?}")
    };
    format!(
        "{resource}{name} is forbidden: User {user:?} cannot {verb} resource {plural:?} in API group {group:?} {place}"
    )
}

/// The object as it is served in the version that was asked for.
fn in_version(object: &Object, gv: &str) -> Json {
    let mut json = (*object.json).clone();
    if object.api_version != gv
        && let Some(map) = json.as_object_mut()
    {
        map.insert("apiVersion".into(), gv.into());
    }
    json
}

fn list(facts: &dyn Facts, key: &LookupKey, items: &[Rc<Object>]) -> Value {
    // As they are stored: by the bytes of `namespace/name` (L10).
    let mut items = items.to_vec();
    items.sort_by_cached_key(|o| format!("{}/{}", o.key.namespace, o.key.name));
    let items: Vec<Json> = items.iter().map(|o| in_version(o, &key.api_version)).collect();
    value_from_json(&serde_json::json!({
        "apiVersion": &*key.api_version,
        "items": items,
        "kind": format!("{}List", key.kind),
        "metadata": {"resourceVersion": facts.list_version()},
    }))
}

/// Gives a value and everything inside it its place.
fn annotate(value: Value, at: OriginId, origins: &Origins) -> Value {
    if !origins.tracking() {
        return value;
    }
    let value = match value.repr() {
        Repr::Map(map) => {
            let entries = map
                .entries()
                .iter()
                .map(|(k, v)| (k.clone(), annotate(v.clone(), origins.descend(at, &k.lossy()), origins)))
                .collect();
            Value::map(entries)
        }
        Repr::List(list) => {
            let items = list.items.iter().enumerate();
            let items =
                items.map(|(i, v)| annotate(v.clone(), origins.descend(at, &format!("[{i}]")), origins)).collect();
            Value::typed_list(items, list.ty)
        }
        _ => value,
    };
    value.located(at, origins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::import::import;
    use crate::cluster::snapshot::Snapshot;
    use crate::codec::json::value_to_json;
    use crate::value::number::IntType;

    fn recorded() -> Snapshot {
        let bytes = include_bytes!("../../fixtures/lookup/snapshot.json").to_vec();
        let (snapshot, problems) = import(&[("snapshot.json".to_owned(), bytes)]);
        assert_eq!(problems, []);
        snapshot
    }

    fn key(parts: &Json) -> LookupKey {
        let part = |i: usize| Rc::from(parts[i].as_str().unwrap());
        LookupKey { api_version: part(0), kind: part(1), namespace: part(2), name: part(3) }
    }

    /// What five versions of Helm were told by one API server; they agree on every case.
    #[test]
    fn l1_to_l10_lookups_answer_and_fail_as_recorded() {
        let snapshot = recorded();
        let cases: Vec<Json> = serde_json::from_str(include_str!("../../fixtures/lookup/cases.json")).unwrap();
        assert_eq!(cases.len(), 35);
        for tracking in [true, false] {
            for case in &cases {
                let answer = lookup(&snapshot, &key(&case["lookup"]), &Origins::new(tracking));
                match (answer, case.get("answer"), case.get("error")) {
                    (Ok(answer), Some(expected), None) => {
                        assert_eq!(value_to_json(&answer.value), *expected, "{case}");
                    }
                    (Err(error), None, Some(expected)) => assert_eq!(error, expected.as_str().unwrap(), "{case}"),
                    (answer, ..) => panic!("{case}: {:?}", answer.map(|a| value_to_json(&a.value))),
                }
            }
        }
    }

    #[test]
    fn whole_numbers_of_objects_are_integers_and_others_floats() {
        let origins = Origins::new(false);
        let key = key(&serde_json::json!(["apps/v1", "Deployment", "default", "d1"]));
        let value = lookup(&recorded(), &key, &origins).unwrap().value;
        let spec = value.as_map().unwrap().get(b"spec").unwrap();
        let field = |name: &[u8]| spec.as_map().unwrap().get(name).unwrap();
        assert!(matches!(field(b"replicas").repr(), Repr::Int(2, IntType::Int64)));
        assert!(matches!(field(b"big").repr(), Repr::Int(12_345_678_901, IntType::Int64)));
        assert!(matches!(field(b"ratio").repr(), Repr::Float(_)));
    }

    #[test]
    fn every_node_of_an_answer_knows_its_field() {
        let origins = Origins::new(true);
        let key = key(&serde_json::json!(["v1", "Secret", "", ""]));
        let value = lookup(&recorded(), &key, &origins).unwrap().value;
        let items = value.as_map().unwrap().get(b"items").unwrap();
        let Repr::List(list) = items.repr() else { panic!("items are no list") };
        let metadata = list.items[1].as_map().unwrap().get(b"metadata").unwrap();
        let name = metadata.as_map().unwrap().get(b"name").unwrap();
        let Some(Origin::Lookup { key: at, path }) = origins.get(name.at) else { panic!("not located in the lookup") };
        assert_eq!((&*at, &*path), (&key, ".items[1].metadata.name"));
    }
}
