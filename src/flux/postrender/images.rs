//! Images of containers replaced by name (`F-343`).

use serde_json::Value as Json;

use super::tree::{Node, Tree};
use crate::funcs::re2;
use crate::value::OriginSet;

/// Replaces images in one object as one entry of `images` says; definitions of resources are left alone.
pub fn replace(tree: &mut Tree, entry: &Json) {
    if tree.text(&["kind"]) == "CustomResourceDefinition" {
        return;
    }
    let text = |field: &str| entry.get(field).and_then(Json::as_str).unwrap_or_default();
    let pattern = format!("^{}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", text("name"));
    let Ok(pattern) = re2::compile(pattern.as_bytes()) else { return };
    walk(tree, &mut |image| {
        if !pattern.is_match(image.as_bytes()) {
            return None;
        }
        let (name, tag, digest) = split(image);
        let name = if text("newName").is_empty() { name } else { text("newName") };
        let (tag, digest) = match (text("newTag"), text("digest")) {
            ("", "") => (tag, digest),
            given => given,
        };
        let mut image = name.to_owned();
        if !tag.is_empty() {
            image = format!("{image}:{tag}");
        }
        if !digest.is_empty() {
            image = format!("{image}@{digest}");
        }
        Some(image)
    });
}

fn walk(tree: &mut Tree, change: &mut impl FnMut(&str) -> Option<String>) {
    match &mut tree.node {
        Node::Leaf(_) => {}
        Node::Seq(items) => items.iter_mut().for_each(|item| walk(item, change)),
        Node::Map(map) => {
            for (key, value) in map.iter_mut() {
                walk(value, change);
                let Node::Seq(containers) = &mut value.node else { continue };
                if key != "containers" && key != "initContainers" {
                    continue;
                }
                for image in containers.iter_mut().filter_map(|c| c.map_mut()?.get_mut("image")) {
                    if let Some(new) = image.as_text().and_then(&mut *change) {
                        *image = Tree { own: OriginSet::EMPTY, node: Node::Leaf(new.into()) };
                    }
                }
            }
        }
    }
}

/// Name, tag and digest of an image.
fn split(image: &str) -> (&str, &str, &str) {
    let path = image.find('/').filter(|at| *at > 0).unwrap_or(0);
    let find = |c: char| image[path..].find(c).map(|at| at + path);
    match (find(':'), find('@')) {
        (None, None) => (image, "", ""),
        (Some(tag), Some(digest)) if tag < digest => (&image[..tag], &image[tag + 1..digest], &image[digest + 1..]),
        (_, Some(digest)) => (&image[..digest], "", &image[digest + 1..]),
        (Some(tag), None) => (&image[..tag], &image[tag + 1..], ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn name_tag_and_digest_are_replaced_apart() {
        for (old, entry, new) in [
            ("r.test:5000/web:1", json!({"name": "r.test:5000/web", "newTag": "2"}), "r.test:5000/web:2"),
            ("web", json!({"name": "web", "newName": "m.test/web", "newTag": "3"}), "m.test/web:3"),
            ("web:1@sha256:a", json!({"name": "web", "newTag": "2"}), "web:2"),
            ("web:1", json!({"name": "web", "digest": "sha256:b"}), "web@sha256:b"),
            ("webs:1", json!({"name": "web", "newTag": "2"}), "webs:1"),
        ] {
            let pod = |image: &str| json!({"kind": "Thing", "x": [{"containers": [{"image": image}]}], "image": "web"});
            let mut tree = Tree::constant(pod(old));
            replace(&mut tree, &entry);
            assert_eq!(tree.json(), pod(new), "{old} {entry}");
        }
    }
}
