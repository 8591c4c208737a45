//! Secrets whose data was blacked out before the snapshot was handed on: keys are known, bytes are not.

use data_encoding::BASE64;
use serde_json::Value as Json;

use super::object::Object;
use crate::template::eval::hole;
use crate::value::{OriginId, Origins, Text, Value};

/// Keys of `data` whose value cannot be what an API server answers, or is a word that stands for it.
pub fn redacted_keys(object: &Object) -> Vec<&str> {
    let secret = object.key.group.is_empty() && object.key.kind == "Secret";
    let data = object.json.get("data").filter(|_| secret).and_then(Json::as_object);
    data.into_iter().flatten().filter(|(_, value)| is_redacted(value)).map(|(key, _)| key.as_str()).collect()
}

fn is_redacted(value: &Json) -> bool {
    let Some(text) = value.as_str() else { return true };
    let same = |c: char| text.len() > 3 && text.chars().all(|other| other.eq_ignore_ascii_case(&c));
    text.eq_ignore_ascii_case("redacted") || same('x') || same('+') || BASE64.decode(text.as_bytes()).is_err()
}

/// The object as templates see it (`value`, which stands at `at`), with a stand-in for each value that is not known.
/// Returns the fields.
pub fn conceal(value: &Value, object: &Object, at: OriginId, origins: &Origins) -> Vec<String> {
    let keys = redacted_keys(object);
    let Some(data) = value.as_map().and_then(|map| map.get(b"data")) else { return Vec::new() };
    let Some(data) = data.as_map().filter(|_| !keys.is_empty()) else { return Vec::new() };
    let above = origins.descend(at, "data");
    let keys: Vec<&str> = keys.into_iter().filter(|key| data.get(key.as_bytes()).is_some()).collect();
    for key in &keys {
        let at = origins.descend(above, key);
        let label = format!("<{} .data.{key}>", object.key);
        data.insert(Text::from(*key), hole(label.into(), at, origins.single(at)));
    }
    keys.into_iter().map(|key| format!(".data.{key}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_server_answers_is_redacted() {
        for (value, redacted) in [
            (json!("aHVudGVyMg=="), false),
            (json!(""), false),
            (json!("REDACTED"), true),
            (json!("<redacted>"), true),
            (json!("++++++++"), true),
            (json!("xxxxxxxx"), true),
            (json!("***"), true),
            (json!("removed for review"), true),
            (json!(null), true),
            (json!(12), true),
        ] {
            assert_eq!(is_redacted(&value), redacted, "{value}");
        }
    }
}
