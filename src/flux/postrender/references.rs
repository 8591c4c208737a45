//! Names in other objects that follow an object renamed by a patch (`F-343`).

use super::ident::Ident;
use super::tree::{Node, Tree};
use crate::value::OriginSet;

/// Where names of a kind stand: the key of a map that holds the name, the key of the name ("" where the map's value is
/// the name itself), and the kind.
const PLACES: &[(&str, &str, &str)] = &[
    ("configMapRef", "name", "ConfigMap"),
    ("configMapKeyRef", "name", "ConfigMap"),
    ("configMap", "name", "ConfigMap"),
    ("secretRef", "name", "Secret"),
    ("secretKeyRef", "name", "Secret"),
    ("secret", "secretName", "Secret"),
    ("secret", "name", "Secret"),
    ("imagePullSecrets", "name", "Secret"),
    ("tls", "secretName", "Secret"),
    ("serviceAccountName", "", "ServiceAccount"),
    ("persistentVolumeClaim", "claimName", "PersistentVolumeClaim"),
    ("serviceName", "", "Service"),
    ("service", "name", "Service"),
];

/// Places whose kind stands beside the name.
const BY_KIND: &[&str] = &["roleRef", "subjects", "scaleTargetRef"];

/// Rewrites the names in one object: old identities with new names.
pub fn rewrite(tree: &mut Tree, renamed: &[(Ident, String)]) {
    match &mut tree.node {
        Node::Leaf(_) => {}
        Node::Seq(items) => items.iter_mut().for_each(|item| rewrite(item, renamed)),
        Node::Map(map) => {
            for (key, value) in map.iter_mut() {
                for (_, field, kind) in PLACES.iter().filter(|(place, ..)| place == key) {
                    each(value, &mut |part| {
                        if field.is_empty() {
                            replace(part, kind, renamed);
                        } else if let Some(name) = part.map_mut().and_then(|m| m.get_mut(*field)) {
                            replace(name, kind, renamed);
                        }
                    });
                }
                if BY_KIND.contains(&key.as_str()) {
                    each(value, &mut |part| {
                        let kind = part.text(&["kind"]).to_owned();
                        if let Some(name) = part.map_mut().and_then(|m| m.get_mut("name")) {
                            replace(name, &kind, renamed);
                        }
                    });
                }
                rewrite(value, renamed);
            }
        }
    }
}

fn each(tree: &mut Tree, change: &mut impl FnMut(&mut Tree)) {
    match &mut tree.node {
        Node::Seq(items) => items.iter_mut().for_each(change),
        _ => change(tree),
    }
}

fn replace(name: &mut Tree, kind: &str, renamed: &[(Ident, String)]) {
    let Some(old) = name.as_text() else { return };
    if let Some((_, new)) = renamed.iter().find(|(before, _)| before.kind == kind && before.name == old) {
        *name = Tree { own: OriginSet::EMPTY, node: Node::Leaf(new.clone().into()) };
    }
}
