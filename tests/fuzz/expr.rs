//! Expressions of templates: mostly well-typed, of any depth.

use super::literal::{literal, quoted, text};
use super::source::Source;
use super::table::{Kind, Signature};
use super::values;

/// What a template under construction has.
pub struct Scope<'a> {
    pub source: &'a mut Source,
    pub table: &'a [Signature],
    /// The case's own values: key and YAML.
    pub values: Vec<(String, String)>,
    /// Variables in scope.
    pub vars: Vec<(String, Kind)>,
    /// Templates that may be included.
    pub defines: Vec<String>,
    /// Whether the dot is the root.
    pub dot_is_root: bool,
    /// Whether there is a `$` with `.Values`.
    pub has_root: bool,
    /// How much may still be generated.
    pub fuel: usize,
}

/// Facts that every chart has, with what they are good for.
const FACTS: &[(&str, Kind)] = &[
    (".Release.Name", Kind::Str),
    (".Release.Namespace", Kind::Str),
    (".Release.IsInstall", Kind::Bool),
    (".Release.Revision", Kind::Int),
    (".Release", Kind::Map),
    (".Chart.Name", Kind::Str),
    (".Chart.Version", Kind::Version),
    (".Capabilities.KubeVersion.Version", Kind::Version),
    (".Capabilities.KubeVersion.Major", Kind::Str),
    (".Capabilities.HelmVersion.Version", Kind::Version),
    (".Template.Name", Kind::Path),
    (".Values", Kind::Map),
];

impl Scope<'_> {
    /// An operand: a literal, a variable, a field, or an expression in parentheses.
    pub fn operand(&mut self, kind: Kind, depth: usize) -> String {
        let kind = if self.source.chance(2) { self.any_kind() } else { kind };
        let spare = self.fuel > 0 && depth < 6;
        match self.source.below(20) {
            0..=4 => self.plain(kind),
            5..=7 => self.variable(kind).unwrap_or_else(|| self.plain(kind)),
            8..=10 if self.has_root => self.value(kind),
            11 => self.fact(kind).unwrap_or_else(|| self.plain(kind)),
            _ if spare => {
                self.fuel -= 1;
                let call = self.call(kind, depth + 1);
                format!("({call})")
            }
            _ => self.plain(kind),
        }
    }

    fn any_kind(&mut self) -> Kind {
        self.source.pick(&[
            Kind::Str,
            Kind::Int,
            Kind::List,
            Kind::Map,
            Kind::Float,
            Kind::Bool,
            Kind::Any,
            Kind::Time,
            Kind::Strs,
        ])
    }

    /// What needs nothing around it.
    fn plain(&mut self, kind: Kind) -> String {
        match kind {
            Kind::List | Kind::Strs => {
                let of = if kind == Kind::List { Kind::Any } else { Kind::Str };
                let items = self.source.some(3, |s| format!(" {}", literal(s, of)));
                format!("(list{items})")
            }
            Kind::Map => {
                let pairs = self.source.some(3, |s| format!(" {} {}", literal(s, Kind::Key), literal(s, Kind::Any)));
                format!("(dict{pairs})")
            }
            Kind::Time => {
                let (layout, date) = (literal(self.source, Kind::Layout), literal(self.source, Kind::Date));
                if self.source.chance(50) {
                    format!("(toDate {layout} {date})")
                } else {
                    "(toDate \"2006-01-02\" \"2024-02-29\")".into()
                }
            }
            Kind::UrlParts => {
                let url = literal(self.source, Kind::Url);
                format!("(urlParse {url})")
            }
            kind => literal(self.source, kind),
        }
    }

    fn variable(&mut self, kind: Kind) -> Option<String> {
        let fits: Vec<&String> =
            self.vars.iter().filter(|(_, k)| *k == kind || kind == Kind::Any).map(|(name, _)| name).collect();
        (!fits.is_empty()).then(|| (self.source.pick(&fits)).clone())
    }

    fn fact(&mut self, kind: Kind) -> Option<String> {
        let fits: Vec<&str> =
            FACTS.iter().filter(|(_, k)| *k == kind || kind == Kind::Any).map(|(name, _)| *name).collect();
        if fits.is_empty() || !self.has_root {
            return None;
        }
        Some(format!("${}", self.source.pick(&fits)))
    }

    /// A new value of the case, or one that exists, reached in one of the ways there are.
    fn value(&mut self, kind: Kind) -> String {
        let root = if self.dot_is_root && self.source.chance(50) { "" } else { "$" };
        if self.source.chance(4) {
            return (self.source.pick(&["$.Values.missing", "$.Values.missing.deeper", "$.nope"])).to_owned();
        }
        let key = format!("k{}", self.values.len());
        let value = values::value(self.source, kind, 0);
        let nested = self.source.chance(25);
        let yaml = if nested { format!("{{inner: {value}, other: 1}}") } else { value };
        self.values.push((key.clone(), yaml));
        let inner = if nested { ".inner" } else { "" };
        match self.source.below(6) {
            4 => {
                format!("(index {root}.Values {}{})", quoted(self.source, &key), if nested { " \"inner\"" } else { "" })
            }
            5 => format!("({root}.Values).{key}{inner}"),
            _ => format!("{root}.Values.{key}{inner}"),
        }
    }

    /// A call of a function that gives that kind, or a pipeline.
    pub fn call(&mut self, kind: Kind, depth: usize) -> String {
        match self.source.below(16) {
            0 => return self.special(depth),
            1 => {
                let access = self.operand(Kind::Map, depth);
                let key = text(self.source, Kind::Key);
                if key.chars().all(|c| c.is_ascii_alphabetic())
                    && !key.is_empty()
                    && access.starts_with(['(', '$', '.'])
                {
                    return format!("{access}.{key}");
                }
                return format!("index {access} {}", quoted(self.source, &key));
            }
            _ => {}
        }
        let fitting: Vec<&Signature> = self
            .table
            .iter()
            .filter(|s| {
                s.gives == kind
                    || kind == Kind::Any
                    || (kind == Kind::Number && matches!(s.gives, Kind::Int | Kind::Float))
            })
            .collect();
        let Some(signature) = (!fitting.is_empty()).then(|| self.source.pick(&fitting)) else {
            return self.cast(kind, depth);
        };
        if self.source.chance(10) {
            return self.cast(kind, depth);
        }
        let mut params = signature.params.clone();
        if signature.repeats {
            let last = params.pop().unwrap_or(Kind::Any);
            params.extend(std::iter::repeat_n(last, self.source.below(4)));
        }
        if self.source.chance(1) && !params.is_empty() {
            params.pop();
        }
        let mut args: Vec<String> = params.iter().map(|p| self.operand(*p, depth)).collect();
        if args.is_empty() || self.source.chance(60) {
            return std::iter::once(signature.name.to_owned()).chain(args).collect::<Vec<_>>().join(" ");
        }
        let last = args.pop().unwrap_or_default();
        let last = last
            .strip_prefix('(')
            .and_then(|l| l.strip_suffix(')'))
            .filter(|l| !l.contains(')'))
            .unwrap_or(&last)
            .to_owned();
        format!("{last} | {} {}", signature.name, args.join(" ")).trim_end().to_owned()
    }

    /// A value of another kind, turned into that kind.
    fn cast(&mut self, kind: Kind, depth: usize) -> String {
        let function = match kind {
            Kind::Count | Kind::Int | Kind::Number => "int",
            Kind::Float => "float64",
            Kind::Bool => "not",
            Kind::List => "list",
            Kind::Strs => "toStrings | sortAlpha",
            Kind::Map => "dict \"a\"",
            Kind::Any => "default \"d\"",
            Kind::Time => return self.plain(Kind::Time),
            _ => "toString",
        };
        let of = if kind == Kind::Strs { Kind::List } else { self.any_kind() };
        format!("{} | {function}", self.operand(of, depth))
    }

    /// Calls that need a shape of their own.
    fn special(&mut self, depth: usize) -> String {
        match self.source.below(8) {
            0 => format!("keys {} | sortAlpha", self.operand(Kind::Map, depth)),
            1 => format!("values {} | len", self.operand(Kind::Map, depth)),
            2 => {
                let keys = self.source.some(2, |s| format!(" {}", literal(s, Kind::Key)));
                format!("dig{keys} \"a\" {} {}", self.operand(Kind::Any, depth), self.operand(Kind::Map, depth))
            }
            3 | 4 if !self.defines.is_empty() => {
                let name = self.source.pick(&self.defines).clone();
                format!("include {} {}", quoted(self.source, &name), self.operand(Kind::Any, depth))
            }
            5 => {
                let inner = self.call(Kind::Any, depth + 2);
                let template = format!("<{{{{ {inner} }}}}>");
                let dot = if self.has_root { "$".to_owned() } else { ".".to_owned() };
                format!("tpl {} {dot}", quoted(self.source, &template))
            }
            6 if self.has_root => (self.source.pick(&[
                "$.Capabilities.APIVersions.Has \"v1\"",
                "$.Capabilities.APIVersions.Has \"apps/v1\"",
                "$.Files.Get \"nope.txt\"",
                "$.Chart.Nope",
                "$.Values.a.b.c",
                "$.Chart.Maintainers",
                "$.Capabilities.KubeVersion",
                "$.Chart",
                "$.Release",
            ]))
            .to_owned(),
            7 => format!("fail {}", self.operand(Kind::Str, depth)),
            _ => format!("randAlphaNum {} | len", literal(self.source, Kind::Count)),
        }
    }
}
