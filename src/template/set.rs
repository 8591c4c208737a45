//! Parsed templates by name, and the table of functions they may call.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::ast::Block;
use super::builtin;
use super::func::FuncDef;
use super::gate::Place;
use super::parse::{self, ParseError};
use crate::base::version::HelmVersion;

/// The functions of one version of Helm, with the language's own.
pub struct FuncTable {
    by_name: HashMap<&'static str, &'static FuncDef>,
    helm: HelmVersion,
}

impl FuncTable {
    /// The builtins and `functions`, as far as the version has them; a later one of the same name wins.
    pub fn new(functions: impl IntoIterator<Item = &'static FuncDef>, helm: HelmVersion) -> Self {
        let all = builtin::FUNCS.iter().chain(functions).filter(|def| (def.since)(helm));
        FuncTable { by_name: all.map(|def| (def.name, def)).collect(), helm }
    }

    /// The function of that name.
    pub fn get(&self, name: &str) -> Option<&'static FuncDef> {
        self.by_name.get(name).copied()
    }

    /// The version whose functions these are.
    pub fn helm(&self) -> HelmVersion {
        self.helm
    }
}

/// One parsed template.
pub struct Template {
    /// Its name.
    pub name: Rc<str>,
    /// The file whose source it was parsed from.
    pub file: Rc<str>,
    /// Its nodes.
    pub body: Block,
    /// Offsets of the line breaks in the source.
    lines: Rc<[u32]>,
}

impl Template {
    /// Line (from 1) and byte column (from 0) of a position, as Go counts.
    pub fn place(&self, pos: u32) -> Place {
        let line = self.lines.partition_point(|at| *at < pos);
        let start = if line == 0 { 0 } else { self.lines[line - 1] + 1 };
        Place { file: self.file.clone(), line: line as u32 + 1, column: pos - start }
    }
}

/// Templates that may call each other.
#[derive(Clone)]
pub struct TemplateSet {
    functions: Rc<FuncTable>,
    /// Templates of the set that this one extends.
    base: Option<Rc<TemplateSet>>,
    templates: BTreeMap<Rc<str>, Rc<Template>>,
}

impl TemplateSet {
    /// An empty set.
    pub fn new(functions: Rc<FuncTable>) -> Self {
        TemplateSet { functions, base: None, templates: BTreeMap::new() }
    }

    /// A set that sees all of `base`, and whose own templates hide those of the same name.
    pub fn over(base: Rc<TemplateSet>) -> Self {
        TemplateSet { functions: base.functions.clone(), base: Some(base), templates: BTreeMap::new() }
    }

    /// Parses a source under a name; what it defines is added. An empty body never hides a template.
    pub fn parse(&mut self, name: &str, source: &[u8]) -> Result<(), ParseError> {
        let functions = self.functions.clone();
        let trees = parse::parse(name, source, functions.helm(), &|name| functions.get(name).is_some())?;
        let lines: Rc<[u32]> = source.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i as u32).collect();
        let file: Rc<str> = name.into();
        for (name, body) in trees {
            if parse::is_empty(&body) && self.get(&name).is_some() {
                continue;
            }
            let template = Template { name: name.clone(), file: file.clone(), body, lines: lines.clone() };
            self.templates.insert(name, Rc::new(template));
        }
        Ok(())
    }

    /// The template of that name.
    pub fn get(&self, name: &str) -> Option<Rc<Template>> {
        let mut set = self;
        loop {
            if let Some(template) = set.templates.get(name) {
                return Some(template.clone());
            }
            set = set.base.as_deref()?;
        }
    }

    /// The functions.
    pub fn functions(&self) -> &FuncTable {
        &self.functions
    }
}
