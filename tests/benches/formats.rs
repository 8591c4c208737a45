//! YAML: read and printed as Helm does it.

use helm_render_predictor::codec::yaml;
use helm_render_predictor::value::Origins;

use crate::measure::timed;

/// A manifest-like document of about 300 kB.
pub fn yaml() {
    let item = |i: usize| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: n{i}\n    labels: {{app: \"x{i}\", tier: web}}\n  data:\n    \
             on: \"yes\"\n    port: {i}\n    ratio: 1.5\n    text: |\n      line one of {i}\n      line two\n    long: {}\n",
            "word ".repeat(30)
        )
    };
    let text: String = format!("items:\n{}", (0..700).map(item).collect::<String>());
    let value = yaml::helm_unmarshal(text.as_bytes()).unwrap();
    let origins = Origins::new(false);
    let kb = text.len() / 1000;
    println!("YAML, read {kb} kB:  {}", timed(15, || drop(yaml::helm_unmarshal(text.as_bytes()).unwrap())));
    println!("YAML, print {kb} kB: {}", timed(15, || drop(yaml::emit(&value, &origins).unwrap())));
}
