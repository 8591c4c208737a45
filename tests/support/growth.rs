//! Charts of any size, one for each thing that can grow: work and memory have to grow as they do.

use helm_render_predictor::api::RenderArgs;

/// Something that grows.
pub struct Growth {
    /// What grows.
    pub name: &'static str,
    /// A size that is worth measuring.
    pub size: usize,
    /// The chart of that size.
    pub chart: fn(usize) -> RenderArgs,
}

const fn growth(name: &'static str, size: usize, chart: fn(usize) -> RenderArgs) -> Growth {
    Growth { name, size, chart }
}

/// Everything that grows.
pub const ALL: &[Growth] = &[
    growth("range with toYaml, nindent, printf, include", 2000, |n| {
        let body = "list:{{ range $i, $e := .Values.list }}\n- a:{{ toYaml $e | nindent 4 }}\n  b: {{ printf \"%s-%d\" $e.name $i }}\n  \
                    c: {{ include \"x\" $e | quote }}\n{{ end }}{{ define \"x\" }}{{ .name | upper }}{{ end }}";
        chart(body, &records(n))
    }),
    growth("strings put together in a loop: printf", 4000, |n| {
        chart(
            "{{ $s := \"\" }}{{ range .Values.list }}{{ $s = printf \"%s%s,\" $s .name }}{{ end }}v: {{ $s }}",
            &records(n),
        )
    }),
    growth("strings put together in a loop: print", 4000, |n| {
        chart(
            "{{ $s := \"\" }}{{ range .Values.list }}{{ $s = print $s .name \",\" }}{{ end }}v: {{ $s }}",
            &records(n),
        )
    }),
    growth("lists put together in a loop", 4000, |n| {
        chart(
            "{{ $l := list }}{{ range .Values.list }}{{ $l = append $l .name }}{{ end }}v: {{ join \",\" $l }}",
            &records(n),
        )
    }),
    growth("maps filled in a loop: set", 4000, |n| {
        chart("{{ $m := dict }}{{ range .Values.list }}{{ $_ := set $m .name . }}{{ end }}{{ toYaml $m }}", &records(n))
    }),
    growth("maps filled in a loop: merge", 4000, |n| {
        let body = "{{ $m := dict }}{{ range .Values.list }}{{ $m = merge $m (dict .name .) }}{{ end }}{{ toYaml $m }}";
        chart(body, &records(n))
    }),
    growth("lookups in a growing map: get, hasKey, index", 4000, |n| {
        let body = "{{ $m := dict }}{{ range .Values.list }}{{ $_ := set $m .name .size }}{{ end }}v:{{ range .Values.list }}\
                    {{ if hasKey $m .name }}\n  {{ get $m .name }}{{ index $m .name }}{{ end }}{{ end }}";
        chart(body, &records(n))
    }),
    growth("templates inside each other", 240, |n| {
        let body = "{{ define \"x\" }}{{ if gt (int .) 0 }}{{ include \"x\" (sub . 1) }}{{ else }}\n- a{{ end }}{{ end }}\
                    l:{{ range until 10 }}{{ include \"x\" DEPTH }}{{ end }}";
        chart(&body.replace("DEPTH", &n.to_string()), "a: 1\n")
    }),
    growth("many templates", 400, |n| {
        let mut args = chart("", "name: x\n");
        for i in 0..n {
            let text = format!(
                "{{{{ define \"t{i}\" }}}}name: {{{{ .Values.name }}}}{{{{ end }}}}{{{{ include \"t{i}\" . }}}}\nkind: X{i}\n"
            );
            args = args.with(&format!("templates/t{i}.yaml"), text);
        }
        args
    }),
    growth("many documents", 2000, |n| {
        let body = "{{ range .Values.list }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .name }}\ndata:\n  n: {{ .size | quote }}\n{{ end }}";
        chart(body, &records(n))
    }),
    growth("one document through fromYaml and toYaml", 2000, |n| {
        chart("{{ toYaml (fromYaml (.Files.Get \"big.yaml\")) }}", "a: 1\n").with("big.yaml", records(n))
    }),
    growth("one document through fromJson and toJson", 2000, |n| {
        let items: Vec<String> = (0..n).map(|i| format!("{{\"name\":\"n{i}\",\"size\":{i}}}")).collect();
        let json = format!("{{\"list\":[{}]}}", items.join(","));
        chart("{{ toPrettyJson (fromJson (.Files.Get \"big.json\")) }}", "a: 1\n").with("big.json", json)
    }),
    growth("values", 4000, |n| {
        let values: String = (0..n).map(|i| format!("key{i}:\n  name: n{i}\n  list: [a, {i}]\n")).collect();
        chart("{{ toYaml .Values }}", &values)
    }),
    growth("regular expressions over a long text", 2000, |n| {
        let body = "{{ $t := .Files.Get \"big.yaml\" }}v: {{ regexReplaceAll \"n([0-9]+)\" $t \"m${1}\" | trunc 100 | quote }}\n\
                    w: {{ len (regexFindAll \"[a-z]+: \" $t -1) }} {{ len (regexSplit \"\\n\" $t -1) }} {{ regexMatch \"zzz$\" $t }}";
        chart(body, "a: 1\n").with("big.yaml", records(n))
    }),
    growth("lists sorted, made unique, searched", 1000, |n| {
        let body = "{{ $l := list }}{{ range .Values.list }}{{ $l = append $l .name }}{{ end }}\
                    v: {{ len (uniq $l) }} {{ sortAlpha $l | first }} {{ has \"nothing\" $l }} {{ without $l \"n1\" | len }}";
        chart(body, &records(n))
    }),
    growth("tpl in a loop", 1000, |n| {
        chart(
            "v:{{ range .Values.list }}{{ tpl \"\\n  {{ .name }}-{{ include \\\"x\\\" . }}\" . }}{{ end }}{{ define \"x\" }}x{{ end }}",
            &records(n),
        )
    }),
    growth("texts split, replaced, indented", 4000, |n| {
        let body = "{{ $t := .Files.Get \"big.yaml\" }}v: {{ $t | indent 4 | trunc 100 | quote }}\nw: {{ $t | replace \"n\" \"mm\" | nindent 2 | trunc 100 | quote }}\n\
                    x: {{ len (splitList \"\\n\" $t) }} {{ $t | b64enc | b64dec | sha256sum }} {{ $t | quote | len }} {{ $t | upper | trimSuffix \"X\" | len }}\ny:\
                    {{ range $t | splitList \"\\n\" }}\n- {{ . | trim | squote }}{{ end }}";
        chart(body, "a: 1\n").with("big.yaml", records(n))
    }),
    growth("lines of a file", 4000, |n| {
        chart("{{ range .Files.Lines \"big.yaml\" }}{{ . }}\n{{ end }}", "a: 1\n").with("big.yaml", records(n))
    }),
    growth("variables declared in one template", 1000, |n| {
        let body: String = (0..n).map(|i| format!("{{{{ $v{i} := .Values.a }}}}a{i}: {{{{ $v{i} }}}}\n")).collect();
        chart(&body, "a: 1\n")
    }),
    growth("branches on values", 2000, |n| {
        chart(
            "v:{{ range .Values.list }}\n  {{ if .name }}a {{ .size }}{{ else }}b{{ end }}\n  {{ with .name }}{{ . }}{{ end }}{{ end }}",
            &records(n),
        )
    }),
];

fn records(n: usize) -> String {
    let items: String = (0..n).map(|i| format!("- name: n{i}\n  size: {i}\n  tags: [x, \"y {i}\"]\n")).collect();
    format!("list:\n{items}")
}

/// A chart of one template and values.
pub fn chart(template: &str, values: &str) -> RenderArgs {
    let files = [
        ("Chart.yaml", "apiVersion: v2\nname: grown\nversion: 1.0.0\n"),
        ("values.yaml", values),
        ("templates/main.yaml", template),
    ];
    RenderArgs {
        chart: Some(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()),
        name: "x".into(),
        namespace: "default".into(),
        client: true,
        ..RenderArgs::default()
    }
}

/// One more file.
pub trait With {
    /// The chart with it.
    fn with(self, path: &str, text: String) -> Self;
}

impl With for RenderArgs {
    fn with(mut self, path: &str, text: String) -> Self {
        self.chart.get_or_insert_default().push((path.into(), text.into_bytes()));
        self
    }
}
