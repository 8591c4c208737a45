//! A generated case, and the charts it is rendered in: alone, or with many others.

use std::fmt;

/// Files of a chart: path and bytes.
pub type Files = Vec<(String, Vec<u8>)>;

/// One generated input.
pub enum Case {
    /// A template, rendered next to others in one chart.
    Unit(Unit),
    /// A values.yaml, read next to others as that of a sub-chart.
    Values(String),
    /// A whole chart (all but its Chart.yaml).
    Chart(Files),
}

/// A template with what it needs. `c@` in names stands for the name of the case.
#[derive(Default)]
pub struct Unit {
    pub body: String,
    pub defines: Vec<(String, String)>,
    /// Below `.Values`: key and YAML on one line.
    pub values: Vec<(String, String)>,
    /// Content of the file `data`, if it is read.
    pub data: Option<String>,
}

/// The context that a unit sees: its own values, nothing of the other units.
const CONTEXT: &str = "(dict \"Values\" (.Values.c@ | default dict) \"Chart\" .Chart \"Release\" .Release \
                       \"Capabilities\" .Capabilities \"Files\" .Files \"Template\" .Template)";

const SUBCHART: &str = "{{ toJson .Values | b64enc }}{{ toYaml .Values | b64enc }}";

impl Unit {
    fn files(&self, name: &str, files: &mut Files, values: &mut String) {
        let mut text = String::new();
        for (name, body) in &self.defines {
            text.push_str(&format!("{{{{ define \"{name}\" }}}}{body}{{{{ end }}}}"));
        }
        text.push_str(&format!(
            "{{{{ define \"c@\" }}}}{}{{{{ end }}}}\nk: {{{{ include \"c@\" {CONTEXT} | b64enc | quote }}}}\n",
            self.body
        ));
        files.push((format!("templates/{name}.yaml"), text.replace("c@", name).into_bytes()));
        if !self.values.is_empty() {
            values.push_str(&format!("{name}:\n"));
            self.values.iter().for_each(|(key, yaml)| values.push_str(&format!("  {key}: {yaml}\n")));
        }
        if let Some(data) = &self.data {
            files.push((format!("data/{name}"), data.clone().into_bytes()));
        }
    }
}

/// The name of the case at that place of a batch.
pub fn name(index: usize) -> String {
    format!("c{index}")
}

/// One chart with all these cases.
pub fn chart<'c>(cases: impl IntoIterator<Item = (usize, &'c Case)>) -> Files {
    let mut files: Files = vec![("Chart.yaml".into(), b"apiVersion: v2\nname: c\nversion: 0.1.0\n".to_vec())];
    let mut values = String::new();
    for (index, case) in cases {
        let name = name(index);
        match case {
            Case::Unit(unit) => unit.files(&name, &mut files, &mut values),
            Case::Values(text) => {
                let root = format!("charts/{name}");
                files.push((
                    format!("{root}/Chart.yaml"),
                    format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\n").into_bytes(),
                ));
                files.push((format!("{root}/values.yaml"), text.clone().into_bytes()));
                files.push((format!("{root}/templates/out.yaml"), format!("k: {SUBCHART}\n").into_bytes()));
            }
            Case::Chart(own) => files.extend(own.iter().cloned()),
        }
    }
    if !values.is_empty() {
        files.push(("values.yaml".into(), values.into_bytes()));
    }
    files
}

impl Case {
    /// Whether the case can stand in a chart with others.
    pub fn batches(&self) -> bool {
        !matches!(self, Case::Chart(_))
    }

    /// What the case costs Helm, in templates.
    pub fn cost(&self) -> usize {
        match self {
            Case::Unit(_) => 1,
            Case::Values(_) => 5,
            Case::Chart(_) => 12,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, bytes) in chart([(0, self)]).into_iter().skip(1) {
            writeln!(f, "--- {path}\n{}", String::from_utf8_lossy(&bytes))?;
        }
        Ok(())
    }
}
