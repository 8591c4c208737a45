//! Keeps data of Secrets out of texts: an error may quote what a template or a values file made of it.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::gather::Subject;
use super::render::Rendered;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::codec::base64::decode_lenient;
use crate::codec::json::value_to_json;
use crate::codec::yaml;
use crate::report::contract::Decision;
use crate::report::silent::Silent;

/// What stands in a text for data of a Secret.
pub const MASK: &str = "***";

/// Shorter pieces are not masked: they tell nothing, and words of the text itself hold them.
const SHORTEST: usize = 4;

/// Masks what the Secrets hold that one release reads.
pub struct Redactor {
    /// Pieces of data, longest first.
    pieces: Vec<String>,
}

impl Redactor {
    /// Over the Secrets that the render looked up, and those that the release takes values from.
    pub fn new(subject: &Subject, rendered: Option<&Rendered>, facts: &dyn Facts) -> Redactor {
        let mut pieces = BTreeSet::new();
        let secret = |namespace: &str, name: &str| ObjectKey {
            group: String::new(),
            kind: "Secret".to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        let lookups = rendered.into_iter().flat_map(|r| &r.lookups).map(|l| &l.key).filter(|k| *k.kind == *"Secret");
        for key in lookups.collect::<BTreeSet<_>>() {
            if key.name.is_empty() {
                let namespace = Some(&*key.namespace).filter(|n| !n.is_empty());
                let all = facts.list("", "Secret", namespace).present().unwrap_or_default();
                all.iter().for_each(|object| collect(&object.json, &mut pieces));
            } else if let Some(object) = facts.get(&secret(&key.namespace, &key.name)).present() {
                collect(&object.json, &mut pieces);
            }
        }
        let references = subject.helm_release.as_deref().and_then(|hr| hr.pointer("/spec/valuesFrom"));
        for reference in references.and_then(Json::as_array).into_iter().flatten().filter(|r| r["kind"] == "Secret") {
            let name = reference["name"].as_str().unwrap_or_default();
            if let Some(object) = facts.get(&secret(&subject.release.namespace, name)).present() {
                collect(&object.json, &mut pieces);
            }
        }
        let mut pieces: Vec<String> = pieces.into_iter().collect();
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
        Redactor { pieces }
    }

    /// The text with [`MASK`] for each piece of data.
    pub fn mask(&self, text: &str) -> String {
        let held = self.pieces.iter().filter(|piece| text.contains(piece.as_str()));
        held.fold(text.to_owned(), |text, piece| text.replace(piece.as_str(), MASK))
    }

    /// A silent state as it is reported.
    pub fn silent(&self, silent: &Silent) -> Silent {
        Silent { text: self.mask(&silent.text), ..silent.clone() }
    }

    /// The decision as it is reported: what it quotes of values may come from a Secret.
    pub fn decision(&self, decision: &Decision) -> Decision {
        let mut decision = decision.clone();
        decision.reason = self.mask(&decision.reason);
        for check in &mut decision.trace {
            check.text = self.mask(&check.text);
        }
        decision
    }
}

/// Pieces of one Secret: each value as it is stored, decoded, line by line, quoted, and the texts in it where it is YAML.
fn collect(secret: &Json, pieces: &mut BTreeSet<String>) {
    let values = |field: &str| secret[field].as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    for encoded in values("data") {
        add(encoded, pieces);
        if let Some(bytes) = decode_lenient(encoded.as_bytes()) {
            plain(&String::from_utf8_lossy(&bytes), pieces);
        }
    }
    values("stringData").for_each(|text| plain(text, pieces));
}

fn plain(text: &str, pieces: &mut BTreeSet<String>) {
    add(text, pieces);
    add(&format!("{text:?}"), pieces);
    text.lines().for_each(|line| add(line, pieces));
    if let Ok(value) = yaml::helm_unmarshal(text.as_bytes()) {
        leaves(&value_to_json(&value), pieces);
    }
}

fn leaves(value: &Json, pieces: &mut BTreeSet<String>) {
    match value {
        Json::Object(map) => map.values().for_each(|child| leaves(child, pieces)),
        Json::Array(list) => list.iter().for_each(|child| leaves(child, pieces)),
        Json::String(text) => add(text, pieces),
        _ => {}
    }
}

fn add(piece: &str, pieces: &mut BTreeSet<String>) {
    let piece = piece.trim();
    let piece = piece.strip_prefix('"').and_then(|p| p.strip_suffix('"')).unwrap_or(piece);
    if piece.len() >= SHORTEST {
        pieces.insert(piece.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_is_masked_in_every_form_and_the_rest_stays() {
        let mut pieces = BTreeSet::new();
        // password, and a values file with a token
        collect(&json!({"data": {"a": "aHVudGVyMg==", "b": "dG9rZW46IGFiYy0xMjMKbjogMQo="}}), &mut pieces);
        let mut pieces: Vec<String> = pieces.into_iter().collect();
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
        let redactor = Redactor { pieces };
        assert_eq!(redactor.mask("wrong password hunter2 (aHVudGVyMg==)"), "wrong password *** (***)");
        assert_eq!(redactor.mask("parsing \"abc-123\": invalid"), "parsing \"***\": invalid");
        assert_eq!(redactor.mask("c/templates/a.yaml:1:2"), "c/templates/a.yaml:1:2");
    }
}
