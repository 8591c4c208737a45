//! Patches by operations (JSON 6902) as the controller applies them (`F-343`).

use serde_json::Value as Json;

use super::tree::{Node, Tree};

/// Most nodes that the operations of one patch may copy in one object: each copy can double what is there, so a short
/// patch could otherwise fill the memory.
const MAX_COPIED: usize = 1_000_000;

/// Most nesting of what comes out.
const MAX_DEPTH: usize = 400;

/// Whether a parsed patch is a list of operations.
pub fn is_patch(json: &Json) -> bool {
    json.as_array().is_some_and(|ops| ops.iter().all(|op| op.is_object()))
}

/// Applies the operations to an object.
///
/// # Errors
/// The text of the operation that does not apply.
pub fn apply(tree: &mut Tree, patch: &Json) -> Result<(), String> {
    let mut copied_nodes = 0;
    for op in patch.as_array().into_iter().flatten() {
        let text = |field: &str| op.get(field).and_then(Json::as_str);
        let name = text("op").unwrap_or("unknown");
        let path = text("path").ok_or_else(|| format!("{name} operation failed to decode path: missing value"))?;
        let from = || text("from").ok_or_else(|| format!("{name} operation failed to decode from: missing value"));
        let value = || op.get("value").cloned().map(Tree::constant);
        match name {
            "add" => add(tree, path, value().unwrap_or_else(|| Tree::constant(Json::Null)), "add")?,
            "remove" => drop(remove(tree, path, "remove")?),
            "replace" => replace(tree, path, value().unwrap_or_else(|| Tree::constant(Json::Null)))?,
            "move" => {
                let moved = remove(tree, from()?, "move")?;
                add(tree, path, moved, "move")?;
            }
            "copy" => {
                let from = from()?;
                let copied = find(tree, from).ok_or_else(|| missing_key("copy", from))?;
                copied_nodes += copied.extent().0;
                if copied_nodes > MAX_COPIED {
                    return Err(too_large("copy", path));
                }
                let copied = copied.clone();
                add(tree, path, copied, "copy")?;
            }
            "test" => {
                let found = find(tree, path);
                let wanted = op.get("value").filter(|v| !v.is_null());
                let equal = match (found, wanted) {
                    (None, None) => true,
                    (Some(found), None) => found.is_null(),
                    (Some(found), Some(wanted)) => same(&found.json(), wanted),
                    (None, Some(_)) => return Err(missing_key("test", path)),
                };
                if !equal {
                    return Err(format!("testing value {path} failed: test failed"));
                }
            }
            other => return Err(format!("Unexpected kind: {other}")),
        }
    }
    Ok(())
}

/// Equal as JSON: numbers by value.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The steps to the parent, and the last one.
fn steps(path: &str) -> Option<(Vec<String>, String)> {
    let mut steps: Vec<String> = path.split('/').map(unescape).collect();
    if steps.len() < 2 {
        return None;
    }
    steps.remove(0);
    let last = steps.pop()?;
    Some((steps, last))
}

fn index(step: &str, len: usize) -> Option<usize> {
    let number: i64 = step.parse().ok()?;
    if number < 0 { len.checked_sub(number.unsigned_abs() as usize) } else { Some(number as usize) }
}

fn walk<'t>(tree: &'t mut Tree, steps: &[String]) -> Option<&'t mut Tree> {
    steps.iter().try_fold(tree, |here, step| match &mut here.node {
        Node::Map(map) => map.get_mut(step),
        Node::Seq(items) => {
            let at = index(step, items.len())?;
            items.get_mut(at)
        }
        Node::Leaf(_) => None,
    })
}

/// Whether a value put at a path is nested so deeply that it is not followed.
fn too_deep(path: &str, value: &Tree) -> bool {
    path.matches('/').count() + value.extent().1 > MAX_DEPTH
}

fn too_large(op: &str, path: &str) -> String {
    format!("{op} operation does not apply: {path}: the object gets too large")
}

fn find<'t>(tree: &'t Tree, path: &str) -> Option<&'t Tree> {
    if path.is_empty() {
        return Some(tree);
    }
    let (mut steps, last) = steps(path)?;
    steps.push(last);
    steps.iter().try_fold(tree, |here, step| match &here.node {
        Node::Map(map) => map.get(step),
        Node::Seq(items) => items.get(index(step, items.len())?),
        Node::Leaf(_) => None,
    })
}

fn missing_path(op: &str, path: &str) -> String {
    match op {
        "replace" => format!("replace operation does not apply: doc is missing path: {path}: missing value"),
        "remove" => format!("remove operation does not apply: doc is missing path: \"{path}\": missing value"),
        _ => format!("{op} operation does not apply: doc is missing path: \"{path}\": missing value"),
    }
}

fn missing_key(op: &str, path: &str) -> String {
    format!("{op} operation does not apply: doc is missing key: {path}: missing value")
}

fn out_of_bounds(op: &str, path: &str, step: &str) -> String {
    if step.parse::<i64>().is_err() {
        let go = format!("strconv.Atoi: parsing \"{step}\": invalid syntax");
        return format!("error in {op} for path: '{path}': {go}");
    }
    format!("error in {op} for path: '{path}': Unable to access invalid index: {step}: invalid index referenced")
}

fn add(tree: &mut Tree, path: &str, value: Tree, op: &str) -> Result<(), String> {
    if too_deep(path, &value) {
        return Err(too_large(op, path));
    }
    let Some((parents, last)) = steps(path) else { return Err(missing_path(op, path)) };
    let parent = walk(tree, &parents).ok_or_else(|| missing_path(op, path))?;
    match &mut parent.node {
        Node::Map(map) => {
            map.insert(last, value);
        }
        Node::Seq(items) if last == "-" => items.push(value),
        Node::Seq(items) => match index(&last, items.len() + 1) {
            Some(at) if at <= items.len() => items.insert(at, value),
            _ => return Err(out_of_bounds(op, path, &last)),
        },
        Node::Leaf(_) => return Err(missing_path(op, path)),
    }
    Ok(())
}

fn remove(tree: &mut Tree, path: &str, op: &str) -> Result<Tree, String> {
    let Some((parents, last)) = steps(path) else { return Err(missing_path(op, path)) };
    let parent = walk(tree, &parents).ok_or_else(|| missing_path(op, path))?;
    match &mut parent.node {
        Node::Map(map) => map.remove(&last).ok_or_else(|| match op {
            "remove" => {
                format!("error in remove for path: '{path}': Unable to remove nonexistent key: {last}: missing value")
            }
            _ => missing_key(op, path),
        }),
        Node::Seq(items) => match index(&last, items.len()) {
            Some(at) if at < items.len() => Ok(items.remove(at)),
            _ => Err(out_of_bounds(op, path, &last)),
        },
        Node::Leaf(_) => Err(missing_path(op, path)),
    }
}

fn replace(tree: &mut Tree, path: &str, value: Tree) -> Result<(), String> {
    if too_deep(path, &value) {
        return Err(too_large("replace", path));
    }
    if path.is_empty() {
        *tree = value;
        return Ok(());
    }
    let Some((parents, last)) = steps(path) else { return Err(missing_path("replace", path)) };
    let parent = walk(tree, &parents).ok_or_else(|| missing_path("replace", path))?;
    let place = match &mut parent.node {
        // What a map does not have is added, too.
        Node::Map(map) => {
            map.insert(last, value);
            return Ok(());
        }
        Node::Seq(items) => index(&last, items.len()).and_then(|at| items.get_mut(at)),
        Node::Leaf(_) => return Err(missing_path("replace", path)),
    };
    *place.ok_or_else(|| missing_key("replace", path))? = value;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn patched(object: Json, patch: Json) -> Result<Json, String> {
        let mut tree = Tree::constant(object);
        apply(&mut tree, &patch)?;
        Ok(tree.json())
    }

    #[test]
    fn operations_change_maps_and_lists() {
        for (op, result) in [
            (json!({"op": "add", "path": "/a~1b", "value": 1}), json!({"l": [1, 2], "m": {"k": "v"}, "a/b": 1})),
            (json!({"op": "add", "path": "/l/1", "value": 9}), json!({"l": [1, 9, 2], "m": {"k": "v"}})),
            (json!({"op": "add", "path": "/l/-", "value": 9}), json!({"l": [1, 2, 9], "m": {"k": "v"}})),
            (json!({"op": "remove", "path": "/l/0"}), json!({"l": [2], "m": {"k": "v"}})),
            (json!({"op": "replace", "path": "/m/k", "value": null}), json!({"l": [1, 2], "m": {"k": null}})),
            (json!({"op": "replace", "path": "/m/x", "value": 1}), json!({"l": [1, 2], "m": {"k": "v", "x": 1}})),
            (json!({"op": "move", "from": "/m/k", "path": "/n"}), json!({"l": [1, 2], "m": {}, "n": "v"})),
            (json!({"op": "copy", "from": "/l", "path": "/m"}), json!({"l": [1, 2], "m": [1, 2]})),
            (json!({"op": "test", "path": "/l/0", "value": 1}), json!({"l": [1, 2], "m": {"k": "v"}})),
        ] {
            assert_eq!(patched(json!({"l": [1, 2], "m": {"k": "v"}}), json!([op])), Ok(result), "{op}");
        }
    }

    #[test]
    fn copies_of_copies_end_before_they_fill_the_memory() {
        let wider: Vec<Json> = (0..40).map(|i| json!({"op": "copy", "from": "", "path": format!("/x{i}")})).collect();
        let deeper: Vec<Json> =
            (1..40).map(|i| json!({"op": "copy", "from": "", "path": "/a".repeat(1 << i.min(12))})).collect();
        for patch in [wider, deeper] {
            let error = patched(json!({"a": {"a": 1}}), Json::Array(patch)).unwrap_err();
            assert!(error.ends_with("the object gets too large"), "{error}");
        }
        let few = json!([{"op": "copy", "from": "", "path": "/x"}, {"op": "copy", "from": "", "path": "/y"}]);
        assert_eq!(patched(json!({"a": 1}), few), Ok(json!({"a": 1, "x": {"a": 1}, "y": {"a": 1, "x": {"a": 1}}})));
    }

    #[test]
    fn what_does_not_apply_is_an_error() {
        for (op, error) in [
            (
                json!({"op": "replace", "path": "/l/2", "value": 1}),
                "replace operation does not apply: doc is missing key: /l/2: missing value",
            ),
            (
                json!({"op": "add", "path": "/x/y", "value": 1}),
                "add operation does not apply: doc is missing path: \"/x/y\": missing value",
            ),
            (
                json!({"op": "remove", "path": "/m/x"}),
                "error in remove for path: '/m/x': Unable to remove nonexistent key: x: missing value",
            ),
        ] {
            assert_eq!(patched(json!({"m": {}, "l": [1]}), json!([op])).unwrap_err(), error);
        }
    }
}
