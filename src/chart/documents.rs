//! Documents of a rendered file: where one ends, in which order kinds are installed, what makes a hook.

use crate::base::version::{HelmVersion, Quirk};
use crate::value::Text;

/// Kinds in the order in which Helm installs them.
pub const INSTALL_ORDER: &[&str] = &[
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Where a kind stands in the install order; unknown kinds come last, by name (`H-46`).
pub fn rank(kind: &str, helm: HelmVersion) -> (usize, String) {
    if let Some(i) = INSTALL_ORDER.iter().position(|k| *k == kind) {
        return (i, String::new());
    }
    if helm.has(Quirk::OrdersWebhooks) {
        match kind {
            "MutatingWebhookConfiguration" => return (INSTALL_ORDER.len(), String::new()),
            "ValidatingWebhookConfiguration" => return (INSTALL_ORDER.len() + 1, String::new()),
            _ => {}
        }
    }
    (usize::MAX, kind.to_owned())
}

/// Events that make a document a hook.
pub const HOOK_EVENTS: &[&str] = &[
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
    "test-success",
];

/// Cuts a file at its separators (`H-12` to `H-16`). White space at the start of a document goes.
pub fn split(text: &Text, helm: HelmVersion) -> Vec<Text> {
    // An indented separator at the very start becomes one by that.
    let text = &text.slice(blank_start(text), text.len());
    let bytes = text.bytes();
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    let mut line = 0;
    while line < bytes.len() {
        let rest = &bytes[line..];
        if rest.starts_with(b"---") {
            let mut end = line + 3;
            if helm.has(Quirk::LineSeparators) {
                end += bytes[end..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
                let eaten = bytes[end..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                cuts.push((line, end + eaten));
            } else {
                end += bytes[end..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                let before = bytes[..line].iter().rposition(|b| !b.is_ascii_whitespace()).map_or(0, |i| i + 1);
                cuts.push((before.max(cuts.last().map_or(0, |c| c.1)), end));
                // The separator has eaten the line breaks behind it: another may stand there only after text.
                line = end.max(line + 3);
                line += bytes[line..].iter().position(|b| *b == b'\n').map_or(bytes.len() - line, |n| n + 1);
                continue;
            }
        }
        line += rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |n| n + 1);
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for (from, to) in cuts.into_iter().chain([(bytes.len(), bytes.len())]) {
        if from > start || (from == start && from < bytes.len() && start != 0) {
            parts.push(text.slice(start, from.max(start)));
        }
        start = to.max(start);
    }
    parts.into_iter().map(|part| trim(&part, helm)).filter(|part| !part.is_empty()).collect()
}

/// Length of the white space that a text starts with.
fn blank_start(text: &Text) -> usize {
    match text.as_str() {
        Some(s) => s.len() - s.trim_start().len(),
        None => text.bytes().iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(text.len()),
    }
}

/// White space at the start, and before 4.2 at the end, is no part of a document.
fn trim(text: &Text, helm: HelmVersion) -> Text {
    let start = blank_start(text);
    let end = match text.as_str() {
        Some(s) => s.trim_end().len().max(start),
        None => text.bytes().iter().rposition(|b| !b.is_ascii_whitespace()).map_or(start, |i| i + 1),
    };
    if helm.has(Quirk::KeepsTrailingSpace) && end > start {
        text.slice(start, text.len())
    } else {
        text.slice(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, helm: &str) -> Vec<String> {
        split(&text.into(), helm.parse().unwrap()).iter().map(|t| t.lossy().into_owned()).collect()
    }

    #[test]
    fn h_12_white_space_at_the_end_of_a_file_is_kept_from_4_2() {
        assert_eq!(parts("\nk: v\n\n\n", "4.1"), ["k: v"]);
        assert_eq!(parts("\nk: v\n\n\n", "4.2"), ["k: v\n\n\n"]);
    }

    #[test]
    fn h_13_white_space_before_a_separator_is_kept_from_4_2_4() {
        assert_eq!(parts("k: v\n\n---\nk: w", "4.2.2"), ["k: v", "k: w"]);
        assert_eq!(parts("k: v\n\n---\nk: w", "4.2.4"), ["k: v\n\n", "k: w"]);
    }

    #[test]
    fn separators_may_be_glued_to_text_and_stand_first() {
        assert_eq!(parts("---\na: 1\n---b: 2\n", "4.1"), ["a: 1", "b: 2"]);
        assert_eq!(parts("a: |\n  ---\n", "4.1"), ["a: |\n  ---"]);
        assert_eq!(parts("  ---\n  a: 1\n  b: 2\n", "4.1"), ["a: 1\n  b: 2"]);
    }
}
