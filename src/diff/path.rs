//! Position paths: `.a.b[0]`, with keys that may hold dots themselves.

use serde_json::Value as Json;

/// What lies at a position path (`.a.b[0]`).
pub fn at<'j>(json: &'j Json, path: &str) -> Option<&'j Json> {
    let mut here = json;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']')?;
            here = here.get(index.parse::<usize>().ok()?)?;
            rest = after;
        } else {
            let (key, after) = key_at(here, rest)?;
            here = here.get(key)?;
            rest = after;
        }
    }
    Some(here)
}

/// The key of a map that a path (`.a.b`) begins with, and the rest of the path. A key may hold dots itself: the longest that
/// is there wins.
fn key_at<'p>(map: &Json, path: &'p str) -> Option<(&'p str, &'p str)> {
    let after = path.strip_prefix('.')?;
    let map = map.as_object()?;
    let ends = after.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(i, _)| i).chain([after.len()]);
    let end = ends.filter(|end| map.contains_key(&after[..*end])).max()?;
    Some(after.split_at(end))
}

/// Takes away what lies at a position path, if it is an entry of a map.
pub fn remove(json: &mut Json, path: &str) {
    // The longest key that fits wins, as in `at`.
    let cuts = path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(i, _)| i);
    for cut in cuts {
        let (parent, last) = path.split_at(cut);
        let Some(key) = last.strip_prefix('.') else { continue };
        if at(json, parent).is_some_and(|parent| parent.get(key).is_some()) {
            if let Some(map) = at_mut(json, parent).and_then(Json::as_object_mut) {
                map.remove(key);
            }
            return;
        }
    }
}

fn at_mut<'j>(json: &'j mut Json, path: &str) -> Option<&'j mut Json> {
    let mut pointer = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        let here = json.pointer(&pointer)?;
        if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']')?;
            pointer = format!("{pointer}/{index}");
            rest = after;
        } else {
            let (key, after) = key_at(here, rest)?;
            pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            rest = after;
        }
    }
    json.pointer_mut(&pointer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_through_maps_lists_and_dotted_keys() {
        let json = json!({"a": {"b.c": [{"d": 1}]}});
        assert_eq!(at(&json, ".a.b.c[0].d"), Some(&json!(1)));
        assert_eq!(at(&json, ".a.x"), None);
    }

    #[test]
    fn an_entry_is_taken_away_and_nothing_else() {
        let mut json = json!({"data": {"tls.crt": 1, "b": [{"c": 2}]}});
        remove(&mut json, ".data.tls.crt");
        remove(&mut json, ".data.b[0].c");
        remove(&mut json, ".data.none");
        assert_eq!(json, json!({"data": {"b": [{}]}}));
    }
}
