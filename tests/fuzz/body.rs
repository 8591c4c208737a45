//! Bodies of templates: actions, branches, loops, variables, definitions, white space.

use helm_render_predictor::base::version::HelmVersion;

use super::case::{Case, Unit};
use super::expr::Scope;
use super::literal::quoted;
use super::source::Source;
use super::table::{self, Kind, Signature};

/// Random templates with values of their own.
pub fn template(source: &mut Source, helm: HelmVersion) -> Case {
    let table = table::table(helm);
    let mut unit = Unit::default();
    let mut scope = scope(source, &table);
    for i in 0..scope.source.below(3) {
        let has_root = std::mem::replace(&mut scope.has_root, false);
        let body = scope.statements(2);
        scope.has_root = has_root;
        scope.vars.clear();
        let name = format!("c@.h{i}");
        unit.defines.push((name.clone(), body));
        scope.defines.push(name);
    }
    scope.dot_is_root = true;
    scope.fuel = 8;
    unit.body = scope.statements(0);
    unit.values = scope.values;
    Case::Unit(unit)
}

fn scope<'a>(source: &'a mut Source, table: &'a [Signature]) -> Scope<'a> {
    Scope {
        source,
        table,
        values: Vec::new(),
        vars: Vec::new(),
        defines: Vec::new(),
        dot_is_root: false,
        has_root: true,
        fuel: 8,
    }
}

#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "", "x", " ", "\n", "k: v\n", "  - item\n", "\t", "\r\n", "}} ", "{ { ", "é", "# c\n", "-",
    "\n\n  ", "a\n  b: c", "{ ", "\u{a0}",
];

impl Scope<'_> {
    /// Statements behind each other, with text around them.
    pub fn statements(&mut self, depth: usize) -> String {
        let count = 1 + self.source.below(if depth == 0 { 3 } else { 2 });
        let vars = self.vars.len();
        let mut out = String::new();
        for _ in 0..count {
            out.push_str(self.source.pick(TEXTS));
            let statement = self.statement(depth);
            out.push_str(&statement);
        }
        out.push_str(self.source.pick(TEXTS));
        if depth > 0 {
            self.vars.truncate(vars);
        }
        out
    }

    /// An action, with trim markers at times.
    fn action(&mut self, inside: &str) -> String {
        let left = if self.source.chance(15) { "{{- " } else { self.source.pick(&["{{ ", "{{"]) };
        let right = if self.source.chance(15) { " -}}" } else { self.source.pick(&[" }}", "}}"]) };
        format!("{left}{inside}{right}")
    }

    fn kind(&mut self) -> Kind {
        self.source.pick(&[
            Kind::Any,
            Kind::Str,
            Kind::Str,
            Kind::List,
            Kind::Map,
            Kind::Int,
            Kind::Bool,
            Kind::Float,
            Kind::Strs,
            Kind::Time,
        ])
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth > 3 {
            return self.shown();
        }
        match self.source.below(20) {
            10 | 11 => self.assignment(),
            12 | 13 => self.conditional("if", depth),
            14 => self.conditional("with", depth),
            15 | 16 => self.range(depth),
            17 if !self.defines.is_empty() => {
                let name = self.source.pick(&self.defines).clone();
                let (name, dot) = (quoted(self.source, &name), self.operand(Kind::Any, 3));
                self.action(&format!("template {name} {dot}"))
            }
            18 => {
                let comment = self.source.pick(&["/* c */", "/**/", "/* {{ x }}\n */"]);
                let (left, right) = (self.source.pick(&["{{", "{{- "]), self.source.pick(&["}}", " -}}"]));
                format!("{left}{comment}{right}")
            }
            19 if self.source.chance(15) => {
                let inside = self.source.pick(&[
                    "break",
                    "continue",
                    ".",
                    "$",
                    ".nope",
                    "nil",
                    "1",
                    "\"s\"",
                    "template \"nope\"",
                    "end",
                    "else",
                    "$nope",
                ]);
                self.action(inside)
            }
            _ => self.shown(),
        }
    }

    /// A value printed in one of several ways, so that its type shows.
    fn shown(&mut self) -> String {
        let kind = self.kind();
        let call = self.call(kind, 0);
        let shown = match self.source.below(10) {
            5 => format!("{call} | toYaml"),
            6 => format!("{call} | toJson"),
            7 => format!("{call} | printf \"%v %T\" 1"),
            8 => format!("{call} | printf \"%#v\""),
            9 => format!("{call} | typeOf"),
            _ => call,
        };
        self.action(&shown)
    }

    fn assignment(&mut self) -> String {
        let kind = self.kind();
        let call = self.call(kind, 1);
        if !self.vars.is_empty() && self.source.chance(40) {
            let name = self.source.pick(&self.vars).0.clone();
            return self.action(&format!("{name} = {call}"));
        }
        let name = format!("$v{}", self.vars.len());
        self.vars.push((name.clone(), kind));
        self.action(&format!("{name} := {call}"))
    }

    fn conditional(&mut self, word: &str, depth: usize) -> String {
        let dot = self.dot_is_root;
        let kind = self.kind();
        let condition = self.call(kind, 2);
        let variable = if self.source.chance(15) { "$w := " } else { "" };
        let mut out = self.action(&format!("{word} {variable}{condition}"));
        self.dot_is_root = dot && word == "if";
        out.push_str(&self.statements(depth + 1));
        self.dot_is_root = dot;
        if self.source.chance(40) {
            let chained = if self.source.chance(40) {
                format!("else {word} {}", self.operand(Kind::Any, 3))
            } else {
                "else".into()
            };
            out.push_str(&self.action(&chained));
            self.dot_is_root = dot && (word == "if" || chained == "else");
            out.push_str(&self.statements(depth + 1));
            self.dot_is_root = dot;
        }
        out + &self.action("end")
    }

    fn range(&mut self, depth: usize) -> String {
        let kind = self.source.pick(&[Kind::List, Kind::Map, Kind::Strs, Kind::Count, Kind::Any]);
        let over = self.operand(kind, 2);
        let names = self.source.pick(&["", "$e := ", "$i, $e := "]);
        let mut out = self.action(&format!("range {names}{over}"));
        let vars = self.vars.len();
        self.vars.extend(names.split([' ', ',']).filter(|n| n.starts_with('$')).map(|n| (n.to_owned(), Kind::Any)));
        let dot = std::mem::replace(&mut self.dot_is_root, false);
        out.push_str(self.source.pick(&["{{ . }}", "", "{{ . | quote }},"]));
        out.push_str(&self.statements(depth + 1));
        if self.source.chance(20) {
            let word = self.source.pick(&["break", "continue"]);
            let condition = self.operand(Kind::Any, 4);
            out.push_str(&format!("{{{{ if {condition} }}}}{{{{ {word} }}}}{{{{ end }}}}"));
        }
        self.dot_is_root = dot;
        self.vars.truncate(vars);
        if self.source.chance(20) {
            out.push_str("{{ else }}");
            out.push_str(&self.statements(depth + 1));
        }
        out + &self.action("end")
    }
}
