//! Path-wise changes between two JSON values, as a person would name them.
//!
//! Elements of lists are matched by their `name` where every element has one of its own, else by position; so an
//! environment variable that was inserted in front is one addition, not a change of all that follow.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Path for people: `.spec.containers[manager].env[ENDPOINT].value`.
    pub path: String,
    /// Path by positions in the new value, if the place exists there: `.spec.containers[0].env[2].value`.
    pub new: Option<String>,
    /// Path by positions in the old value, if the place exists there.
    pub old: Option<String>,
    /// Whether it is an element more of a list that had elements before.
    pub grows: bool,
}

/// Most nesting that is compared; deeper values are compared whole.
const MAX_DEPTH: usize = 200;

/// Equality of JSON values in which `1` and `1.0` are the same number.
pub fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => {
            x == y || matches!((x.as_f64(), y.as_f64()), (Some(x), Some(y)) if x == y && x.abs() < 9e15)
        }
        (Json::Array(x), Json::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y)),
        (Json::Object(x), Json::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| equal(v, w)))
        }
        _ => a == b,
    }
}

/// All differences, sorted by path; empty if the values are equal.
pub fn changes(old: &Json, new: &Json) -> Vec<Change> {
    let mut found = Vec::new();
    walk(Some(old), Some(new), &Place::default(), 0, &mut found);
    found.sort();
    found
}

/// Whether one of two paths lies at or below the other: a change at one is then a change at the other.
pub fn touch(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Where the walk stands: the path for people and the paths by position.
#[derive(Debug, Clone, Default)]
struct Place {
    path: String,
    old: String,
    new: String,
    grows: bool,
}

impl Place {
    fn key(&self, key: &str) -> Place {
        let step = |p: &str| format!("{p}.{key}");
        Place { path: step(&self.path), old: step(&self.old), new: step(&self.new), grows: false }
    }

    fn element(&self, label: &str, old: Option<usize>, new: Option<usize>, grows: bool) -> Place {
        let step = |p: &str, i: Option<usize>| format!("{p}[{}]", i.map_or_else(|| "-".to_owned(), |i| i.to_string()));
        Place { path: format!("{}[{label}]", self.path), old: step(&self.old, old), new: step(&self.new, new), grows }
    }
}

fn walk(old: Option<&Json>, new: Option<&Json>, place: &Place, depth: usize, found: &mut Vec<Change>) {
    match (old, new) {
        (Some(Json::Object(a)), Some(Json::Object(b))) if depth < MAX_DEPTH => {
            let keys: BTreeMap<&String, ()> = a.keys().chain(b.keys()).map(|k| (k, ())).collect();
            for key in keys.keys() {
                walk(a.get(*key), b.get(*key), &place.key(key), depth + 1, found);
            }
        }
        (Some(Json::Array(a)), Some(Json::Array(b))) if depth < MAX_DEPTH => list(a, b, place, depth, found),
        (Some(a), Some(b)) if equal(a, b) => {}
        (None, None) => {}
        _ => found.push(Change {
            path: place.path.clone(),
            new: new.map(|_| place.new.clone()),
            old: old.map(|_| place.old.clone()),
            grows: place.grows && old.is_none(),
        }),
    }
}

fn list(old: &[Json], new: &[Json], place: &Place, depth: usize, found: &mut Vec<Change>) {
    match (names(old), names(new)) {
        (Some(a), Some(b)) if !(a.is_empty() && b.is_empty()) => {
            for (name, &j) in &b {
                let i = a.get(name).copied();
                walk(
                    i.and_then(|i| old.get(i)),
                    new.get(j),
                    &place.element(name, i, Some(j), !a.is_empty()),
                    depth + 1,
                    found,
                );
            }
            for (name, &i) in a.iter().filter(|(name, _)| !b.contains_key(*name)) {
                walk(old.get(i), None, &place.element(name, Some(i), None, false), depth + 1, found);
            }
        }
        _ => {
            for i in 0..old.len().max(new.len()) {
                let at = place.element(&i.to_string(), Some(i), Some(i), !old.is_empty());
                walk(old.get(i), new.get(i), &at, depth + 1, found);
            }
        }
    }
}

/// Position by name, if every element is an object with a `name` of its own.
fn names(list: &[Json]) -> Option<BTreeMap<&str, usize>> {
    let mut names = BTreeMap::new();
    for (i, element) in list.iter().enumerate() {
        if names.insert(element.get("name")?.as_str()?, i).is_some() {
            return None;
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(old: Json, new: Json) -> Vec<String> {
        changes(&old, &new).into_iter().map(|c| c.path).collect()
    }

    #[test]
    fn named_elements_are_matched_by_name() {
        let old = json!({"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]});
        let new = json!({"env": [{"name": "C"}, {"name": "A", "value": "1"}, {"name": "B", "value": "3"}]});
        assert_eq!(paths(old, new), [".env[B].value", ".env[C]"]);
    }

    #[test]
    fn other_elements_are_matched_by_position() {
        assert_eq!(paths(json!({"l": [1, 2]}), json!({"l": [1, 3, 4]})), [".l[1]", ".l[2]"]);
    }

    #[test]
    fn a_list_grows_if_it_had_elements() {
        let grows = |old: Json, new: Json| changes(&old, &new).into_iter().map(|c| c.grows).collect::<Vec<_>>();
        assert_eq!(grows(json!([{"name": "a"}]), json!([{"name": "b"}, {"name": "a"}])), [true]);
        assert_eq!(grows(json!([1]), json!([1, 2])), [true]);
        assert_eq!(grows(json!([]), json!([1])), [false]);
        assert_eq!(grows(json!(null), json!([1])), [false]);
        assert_eq!(grows(json!([{"name": "a"}]), json!([{"name": "a", "b": 1}])), [false]);
    }

    #[test]
    fn paths_touch_where_one_holds_the_other() {
        assert!(touch(".a", ".a.b") && touch(".a[0]", ".a") && touch(".a", ".a"));
        assert!(!touch(".a", ".ab") && !touch(".a.b", ".a.c"));
    }

    #[test]
    fn one_number_in_two_spellings_is_no_change() {
        assert!(equal(&json!({"replicas": 1}), &json!({"replicas": 1.0})));
        assert!(!equal(&json!(1), &json!("1")));
    }

    #[test]
    fn positions_of_both_sides_are_kept() {
        let old = json!({"c": [{"name": "x", "v": 1}]});
        let new = json!({"c": [{"name": "y"}, {"name": "x", "v": 2}]});
        let change = changes(&old, &new).into_iter().find(|c| c.path == ".c[x].v").unwrap();
        assert_eq!((change.old.as_deref(), change.new.as_deref()), (Some(".c[0].v"), Some(".c[1].v")));
    }
}
