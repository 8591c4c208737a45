//! Small charts that ask for much: each has to end soon, in what it asked for or in an error that names a limit.

use helm_render_predictor::api::RenderArgs;

use crate::growth::{With, chart};

/// What has to come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It renders, within a second and 200 MB.
    Renders,
    /// An error; with `limit reached` in it, or Helm's own.
    Fails(&'static str),
    /// Either: it is the time and the memory that count.
    Ends,
}

/// A small chart that asks for much.
pub struct Hostile {
    /// What it asks for.
    pub name: &'static str,
    /// What has to come of it.
    pub end: End,
    /// Whether an unoptimized build is done with it soon enough for a test.
    pub quick: bool,
    /// The chart.
    pub chart: fn() -> RenderArgs,
}

const LIMIT: End = End::Fails("limit reached");

const fn quick(name: &'static str, end: End, chart: fn() -> RenderArgs) -> Hostile {
    Hostile { name, end, quick: true, chart }
}

const fn slow(name: &'static str, end: End, chart: fn() -> RenderArgs) -> Hostile {
    Hostile { name, end, quick: false, chart }
}

/// A template without values.
fn template(text: &str) -> RenderArgs {
    chart(text, "x: true\n")
}

/// A template that reads a file.
fn reading(text: &str, file: String) -> RenderArgs {
    template(&format!("{{{{ $f := .Files.Get \"f\" }}}}{text}")).with("f", file)
}

/// A map that holds another twice, thirty levels deep, in `$m`.
fn knot(text: &str) -> RenderArgs {
    template(&format!(
        "{{{{ $m := dict \"k\" \"v\" }}}}{{{{ range until 30 }}}}{{{{ $m = dict \"a\" $m \"b\" $m }}}}{{{{ end }}}}{text}"
    ))
}

/// All of them.
pub const ALL: &[Hostile] = &[
    quick("a billion bytes at once", LIMIT, || template("{{ repeat 1000000000 \"x\" }}")),
    quick("a text doubled forty times", LIMIT, || {
        template("{{ $t := \"x\" }}{{ range until 40 }}{{ $t = print $t $t }}{{ end }}{{ $t }}")
    }),
    quick("a list doubled forty times", LIMIT, || {
        template("{{ $l := list 1 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}{{ len $l }}")
    }),
    quick("a hundred large texts at once", LIMIT, || {
        template("{{ $l := list }}{{ range until 100 }}{{ $l = append $l (repeat 10000000 \"x\") }}{{ end }}")
    }),
    quick("a billion numbers: until", End::Ends, || template("{{ until 1000000000 | len }}")),
    quick("a billion numbers: seq", End::Ends, || template("{{ seq 1 1000000000 | len }}")),
    quick("a billion numbers: range", LIMIT, || template("{{ range 1000000000 }}x{{ end }}")),
    quick("wide indents of many lines", LIMIT, || template("{{ indent 1000000 (repeat 1000000 \"\\n\") }}")),
    slow("wide fields in a loop", LIMIT, || {
        template("{{ range until 1000000 }}{{ $x := printf \"%1000000d\" . }}{{ end }}")
    }),
    quick("long new lines between letters", LIMIT, || {
        template("{{ wrapWith 1 (repeat 100000 \"n\") (repeat 100000 \"x\") | len }}")
    }),
    quick("every letter replaced by many", LIMIT, || {
        template("{{ replace \"a\" (repeat 100000 \"b\") (repeat 100000 \"a\") | len }}")
    }),
    quick("a needle as long as half the haystack", End::Renders, || {
        template("v: {{ contains (print (repeat 250000 \"a\") \"b\") (repeat 500000 \"a\") }}")
    }),
    quick("letters of a long text", End::Renders, || template("v: {{ splitList \"\" (repeat 200000 \"ab\") | len }}")),
    quick("a knot of maps as YAML", LIMIT, || knot("{{ toYaml $m }}")),
    slow("a knot of maps as JSON", LIMIT, || knot("{{ toJson $m }}")),
    slow("a knot of maps as text", LIMIT, || knot("{{ $m }}")),
    slow("a knot of maps with a verb", End::Ends, || knot("{{ printf \"%q\" $m | len }}")),
    slow("a knot of maps in Go syntax", End::Ends, || knot("{{ printf \"%#v\" $m | len }}")),
    quick("a knot of maps copied", LIMIT, || knot("{{ deepCopy $m | len }}")),
    quick("a knot of maps compared", End::Ends, || knot("{{ deepEqual $m (deepCopy (dict \"a\" $m)) }}")),
    quick("a knot of maps merged", End::Ends, || knot("{{ merge (dict \"a\" (dict)) $m | len }}")),
    quick("a map inside itself", End::Ends, || {
        template(
            "{{ $m := dict }}{{ $_ := set $m \"m\" $m }}{{ toYaml $m | len }}{{ $m | toString | len }}{{ toJson $m | len }}",
        )
    }),
    quick("templates that call each other forever", End::Fails("nested reference name"), || {
        template("{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}")
    }),
    quick("texts that execute each other forever", End::Ends, || {
        template("{{ define \"a\" }}{{ tpl \"{{ include \\\"a\\\" . }}\" . }}{{ end }}{{ include \"a\" . }}")
    }),
    slow("templates that call two each, thirty levels deep", LIMIT, || {
        let body = "{{ define \"a\" }}{{ if lt (len .) 30 }}{{ include \"a\" (append . 1) }}{{ include \"a\" (append . 1) }}{{ else }}x{{ end }}{{ end }}";
        template(&format!("{body}{{{{ include \"a\" list }}}}"))
    }),
    slow("a large text executed in a loop", LIMIT, || {
        reading("{{ range until 1000000 }}{{ $x := tpl $f $ }}{{ end }}", "{{/* c */}}a: {{ .x }}\n".repeat(20_000))
    }),
    slow("a large text hashed in a loop", LIMIT, || {
        reading("{{ range until 1000000 }}{{ $x := sha256sum $f }}{{ end }}", "x".repeat(1_000_000))
    }),
    slow("a large document read in a loop", LIMIT, || {
        reading("{{ range until 1000000 }}{{ $x := fromYaml $f }}{{ end }}", "- {a: 1}\n".repeat(50_000))
    }),
    slow("all values looked through in a loop", LIMIT, || {
        let values: String = (0..50_000).map(|i| format!("k{i}: {i}\n")).collect();
        chart("{{ range until 1000000 }}{{ $x := toString $.Values | len }}{{ end }}", &values)
    }),
    slow("passwords derived in a loop", LIMIT, || {
        template("{{ range until 1000000 }}{{ $x := derivePassword 1 \"long\" \"p\" \"u\" \"s\" }}{{ end }}")
    }),
    slow("branches on values in a long loop", End::Renders, || {
        template("{{ range until 1000000 }}{{ if $.Values.x }}{{ end }}{{ end }}")
    }),
    slow("lookups in a long loop", End::Ends, || {
        template("{{ range until 1000000 }}{{ if lookup \"v1\" \"Secret\" \"a\" \"b\" }}{{ end }}{{ end }}")
    }),
    slow("every element of a long list searched", LIMIT, || {
        template("{{ $l := until 100000 }}{{ range $l }}{{ $x := has -1 $l }}{{ end }}")
    }),
    quick("a pattern that backtracks elsewhere", End::Renders, || {
        template("v: {{ regexMatch \"^(x+x+)+y$\" (repeat 5000 \"x\") }}")
    }),
    quick("a pattern of large repetitions", End::Ends, || {
        template("{{ regexMatch \"((a{0,100}){0,10}){0,10}$\" (repeat 10000 \"a\") }}")
    }),
    slow("a pattern of repeated classes", End::Ends, || {
        template("{{ regexMatch \"(\\\\pL|\\\\pN){500}$\" (repeat 100000 \"a\") }}")
    }),
    slow("many different large patterns", End::Ends, || {
        template("{{ range until 100000 }}{{ $x := regexMatch (printf \"(%d|\\\\pL){100}\" .) \"a\" }}{{ end }}")
    }),
    quick("matches that each look at the whole text", End::Ends, || {
        template("{{ regexFindAll \".*x|a\" (repeat 2000 \"a\") -1 | len }}")
    }),
    quick("aliases of aliases in a document", End::Ends, || {
        let levels: String =
            (1..12).map(|i| format!("k{i}: &a{i} [{}]\n", format!("*a{},", i - 1).repeat(10))).collect();
        reading("{{ fromYaml $f | toJson | len }}", format!("k0: &a0 [x]\n{levels}"))
    }),
    quick("aliases of aliases in values", End::Ends, || {
        let levels: String =
            (1..12).map(|i| format!("k{i}: &a{i} [{}]\n", format!("*a{},", i - 1).repeat(10))).collect();
        chart("a", &format!("k0: &a0 [x]\n{levels}"))
    }),
    quick("merge keys upon merge keys", End::Ends, || {
        let levels: String = (1..3000).map(|i| format!("k{i}: &a{i} {{<<: *a{}, k{i}: 1}}\n", i - 1)).collect();
        reading("{{ fromYaml $f | toJson | len }}", format!("k0: &a0 {{x: 1}}\n{levels}"))
    }),
    quick("deep JSON", End::Ends, || reading("{{ fromJson $f | toJson | len }}", "[".repeat(500_000))),
    quick("deep YAML in brackets", End::Ends, || reading("{{ fromYaml $f | toJson | len }}", "[".repeat(500_000))),
    quick("deep YAML in dashes", End::Ends, || reading("{{ fromYaml $f | toJson | len }}", "- ".repeat(250_000))),
    quick("deep TOML", End::Ends, || {
        reading("{{ fromToml $f | toJson | len }}", format!("a = {}", "[".repeat(500_000)))
    }),
    quick("question marks of YAML", End::Ends, || reading("{{ fromYaml $f | toJson | len }}", "? ".repeat(250_000))),
    quick("colons of YAML", End::Ends, || reading("{{ fromYaml $f | toJson | len }}", "a:b ".repeat(100_000))),
    slow("one key after the other", End::Renders, || {
        reading("v: {{ fromYaml $f | toJson | len }}", (0..60_000).map(|i| format!("key{i}: {i}\n")).collect())
    }),
    slow("one short element after the other", End::Renders, || {
        reading("v: {{ fromYamlArray $f | len }}", format!("[{}]", "0,".repeat(400_000)))
    }),
    slow("one anchor after the other", End::Ends, || {
        reading("{{ fromYaml $f | len }}", (0..50_000).map(|i| format!("k{i}: &a{i} x\n")).collect())
    }),
    slow("a scalar of many lines", End::Ends, || {
        reading("{{ fromYaml $f | len }}", format!("a: x\n{}", "  y\n".repeat(200_000)))
    }),
    slow("many comments", End::Ends, || reading("{{ fromYaml $f | len }}", "# c\n".repeat(200_000))),
    slow("many empty documents", End::Ends, || template(&"---\n".repeat(200_000))),
    slow("many small documents", End::Ends, || template(&"---\na: 1\n".repeat(50_000))),
    quick("a version of many digits", End::Ends, || {
        template(
            "{{ semverCompare (print \">=\" (repeat 100000 \"9\") \".0.0\") (print (repeat 100000 \"9\") \".1.1\") }}",
        )
    }),
    quick("a range of many versions", End::Ends, || {
        template("{{ semverCompare (repeat 100000 \">1.0.0 \") \"1.2.3\" }}")
    }),
    quick("numbers of many digits", End::Ends, || {
        template(
            "{{ $n := repeat 500000 \"9\" }}{{ int $n }} {{ float64 $n }} {{ atoi $n }} {{ toDecimal $n }} {{ mul $n 2 }}",
        )
    }),
    quick("dates and durations of many digits", End::Ends, || {
        template(
            "{{ $n := repeat 500000 \"9\" }}{{ duration $n }} {{ dateModify (print \"+\" $n \"h\") now | unixEpoch }} {{ durationRound $n }}",
        )
    }),
    quick("a time in a long layout", End::Ends, || template("{{ date (repeat 200000 \"2006\") now | len }}")),
    slow("many variables", End::Ends, || {
        template(&(0..50_000).map(|i| format!("{{{{$a{i}:=1}}}}{{{{$a0}}}}")).collect::<String>())
    }),
    slow("many small actions", End::Renders, || template(&"{{.x}}".repeat(150_000))),
    quick("open parentheses", End::Ends, || template(&format!("{{{{ {}1 }}}}", "(".repeat(200_000)))),
    quick("open branches", End::Ends, || template(&"{{ if 1 }}".repeat(100_000))),
    quick("a long pipeline", End::Ends, || template(&format!("{{{{ 1{} }}}}", " | print".repeat(50_000)))),
    quick("a long chain of fields", End::Ends, || template(&format!("{{{{ .Values{} }}}}", ".a".repeat(200_000)))),
    quick("a comment without end", End::Ends, || template(&format!("{{{{/* {}", "x".repeat(1_000_000)))),
    quick("a list far out in --set", End::Ends, || RenderArgs {
        set: vec!["a[65536]=1".into(), "b[65535][65535]=1".into()],
        ..template("a")
    }),
    quick("many names in one --set", End::Ends, || RenderArgs {
        set: vec![(0..50_000).map(|i| format!("a{i}=1,")).collect()],
        ..template("{{ len .Values }}")
    }),
];
