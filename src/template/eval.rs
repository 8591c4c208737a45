//! Executing templates: nodes, branches, variables, and what they record.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::ast::{Branch, Command, Expr, ExprKind, Invoke, Node, Number, Pipe};
use super::error::{Cause, ExecError};
use super::fields::holds_interfaces;
use super::func::{Engine, FuncError, World};
use super::gate::{Frame, Gate, GateKind, LookupUse, Place, Recorder};
use super::print::action_text;
use super::set::{Template, TemplateSet};
use crate::base::budget::{Budget, Exhausted};
use crate::base::version::{HelmVersion, Quirk};
use crate::value::origin::{GateId, LookupKey, Origin};
use crate::value::{Hole, OriginSet, Origins, Repr, Text, TextBuilder, Value};

/// How often templates may include templates of one name inside each other (Helm's own limit).
const MAX_INCLUDES: u32 = 1000;
/// How deep templates may call each other, in all; Helm's own limit for one name comes first.
const MAX_CALLS: u32 = 4_000;

/// Passing a variable of another name takes as long as looking at so many bytes.
const PASSING: usize = 8;
/// How many times as long as looking at a byte it takes to parse one.
const PARSING: usize = 16;

/// How a render differs from Helm's.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Conditions at these places hold, whatever they evaluate to.
    pub force_open: BTreeSet<Place>,
    /// What is printed carries where in the templates it is written ([`Origin::Written`]).
    pub places: bool,
}

/// One render: templates, facts, and what is recorded on the way.
pub struct Run<'a> {
    pub(super) set: Rc<TemplateSet>,
    pub(super) world: &'a dyn World,
    pub(super) origins: &'a Origins,
    pub(super) helm: HelmVersion,
    pub(super) budget: &'a Budget,
    options: &'a Options,
    /// Gates and lookups met so far.
    pub recorder: Recorder,
    /// How many templates of a name are being executed.
    includes: HashMap<Rc<str>, u32>,
    /// How often each volatile call site was evaluated.
    pub(super) evaluations: RefCell<HashMap<String, u32>>,
    stack: Vec<Frame>,
    /// `stack` as it goes into records, made when first needed.
    shared_stack: Option<Rc<[Frame]>>,
    /// The branches around what is being executed.
    pub(super) context: OriginSet,
    /// The call that is being executed.
    pub(super) calling: Option<Place>,
    depth: u32,
}

/// The result of a step; the error is large and rare.
pub(super) type Exec<T> = Result<T, Box<ExecError>>;

/// A variable of a template.
struct Variable {
    name: Rc<str>,
    value: Value,
    /// See [`Scope::dot_is_element`].
    is_element: bool,
}

/// One execution of one template.
pub(super) struct Scope {
    pub(super) template: Rc<Template>,
    vars: Vec<Variable>,
    out: TextBuilder,
    /// Gates met directly in this template: its text as a whole depends on them.
    whole: BTreeSet<OriginSet>,
    /// The dot is an element of a list or map of interfaces: a nil one is a nil interface, not "no value", and errors call
    /// its type `interface {}`.
    pub(super) dot_is_element: bool,
    /// Where `and` and `or` stopped early: their positions, and the argument.
    pub(super) stopped: BTreeMap<u32, usize>,
}

impl Scope {
    fn variable(&self, name: &str) -> Option<&Variable> {
        self.vars.iter().rev().find(|variable| *variable.name == *name)
    }

    fn declared(&mut self, name: &str) -> Option<&mut Variable> {
        self.vars.iter_mut().rev().find(|variable| *variable.name == *name)
    }

    /// What [`Scope::dot_is_element`] says of the dot, of a variable.
    pub(super) fn is_element(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|variable| variable.is_element)
    }
}

/// Where execution goes on.
#[derive(PartialEq, Eq)]
enum Then {
    Next,
    Break,
    Continue,
}

impl<'a> Run<'a> {
    /// A run that has executed nothing yet.
    pub fn new(
        set: Rc<TemplateSet>,
        world: &'a dyn World,
        origins: &'a Origins,
        budget: &'a Budget,
        options: &'a Options,
    ) -> Self {
        let helm = set.functions().helm();
        Run {
            set,
            world,
            origins,
            helm,
            budget,
            options,
            recorder: Recorder::default(),
            includes: HashMap::new(),
            evaluations: RefCell::default(),
            stack: Vec::new(),
            shared_stack: None,
            context: OriginSet::EMPTY,
            calling: None,
            depth: 0,
        }
    }

    /// Executes a template as a file of the chart. The text is as the template wrote it; `<no value>` is still in it.
    pub fn render(&mut self, name: &str, dot: &Value) -> Result<Value, Box<ExecError>> {
        let Some(template) = self.set.get(name) else {
            let place = Place { file: name.into(), line: 1, column: 0 };
            let cause = Cause::Text(format!("template {} not defined", super::lex::quote(name)));
            return Err(Box::new(ExecError { place, template: name.into(), node: None, cause }));
        };
        self.stack.clear();
        self.shared_stack = None;
        self.context = OriginSet::EMPTY;
        self.execute_template(template, dot, None)
    }

    fn execute_template(&mut self, template: Rc<Template>, dot: &Value, called_at: Option<Place>) -> Exec<Value> {
        if self.depth >= MAX_CALLS {
            let place = template.place(0);
            let cause = Cause::Limit(format!("exceeded maximum template depth ({MAX_CALLS})"));
            return Err(Box::new(ExecError {
                place,
                template: template.name.clone(),
                node: Some(String::new()),
                cause,
            }));
        }
        self.depth += 1;
        self.stack.push(Frame { template: template.name.clone(), called_at });
        let outer_stack = self.shared_stack.take();
        let mut scope = Scope {
            vars: vec![Variable { name: "$".into(), value: dot.clone(), is_element: false }],
            out: TextBuilder::default(),
            whole: BTreeSet::new(),
            dot_is_element: false,
            stopped: BTreeMap::new(),
            template,
        };
        let body = scope.template.body.clone();
        let done = self.walk(&mut scope, dot, &body);
        self.stack.pop();
        self.shared_stack = outer_stack;
        self.depth -= 1;
        done?;
        let text = scope.out.finish();
        let whole = self.origins.union_all(scope.whole);
        Ok(Value::text_in(text, self.origins).under(whole, self.origins))
    }

    /// An error at a node.
    pub(super) fn fail<T>(&self, scope: &Scope, pos: u32, node: &dyn std::fmt::Display, cause: Cause) -> Exec<T> {
        let node = node.to_string();
        Err(Box::new(ExecError {
            place: scope.template.place(pos),
            template: scope.template.name.clone(),
            node: Some(node),
            cause,
        }))
    }

    pub(super) fn text_error<T>(&self, scope: &Scope, pos: u32, node: &dyn std::fmt::Display, text: String) -> Exec<T> {
        self.fail(scope, pos, node, Cause::Text(text))
    }

    pub(super) fn limit<T>(&self, scope: &Scope, pos: u32, node: &dyn std::fmt::Display, limit: Exhausted) -> Exec<T> {
        self.fail(scope, pos, node, Cause::Limit(limit.to_string()))
    }

    fn walk(&mut self, scope: &mut Scope, dot: &Value, nodes: &[Node]) -> Exec<Then> {
        for node in nodes {
            match node {
                Node::Text(text, pos) => {
                    if let Err(limit) = self.budget.write(text.len()) {
                        return self.limit(scope, 0, &"", limit);
                    }
                    if self.options.places {
                        self.placed_text(scope, text, *pos);
                        continue;
                    }
                    scope.out.push_under(text, self.context, self.origins);
                }
                Node::Action(pipe) => self.action(scope, dot, pipe)?,
                Node::If(branch) => match self.condition(scope, dot, branch, GateKind::If)? {
                    Then::Next => {}
                    then => return Ok(then),
                },
                Node::With(branch) => match self.condition(scope, dot, branch, GateKind::With)? {
                    Then::Next => {}
                    then => return Ok(then),
                },
                Node::Range(branch) => self.range(scope, dot, branch)?,
                Node::Template(invoke) => self.invoke(scope, dot, invoke)?,
                Node::Break => return Ok(Then::Break),
                Node::Continue => return Ok(Then::Continue),
            }
        }
        Ok(Then::Next)
    }

    fn action(&mut self, scope: &mut Scope, dot: &Value, pipe: &Pipe) -> Exec<()> {
        let value = self.pipeline(scope, dot, pipe)?;
        if pipe.decl.is_empty() {
            let text = action_text(&value, self.helm, self.origins);
            if let Err(limit) = self.budget.write(text.len()) {
                return self.limit(scope, pipe.pos, pipe, limit);
            }
            if text.is_empty() && !value.origins.is_empty() {
                scope.whole.insert(value.origins);
            }
            let context = self.placed(scope, pipe.pos);
            scope.out.push_under(&text, context, self.origins);
        }
        Ok(())
    }

    /// The context, with the place of a node if places are wanted.
    fn placed(&self, scope: &Scope, pos: u32) -> OriginSet {
        if !self.options.places {
            return self.context;
        }
        let Place { file, line, .. } = scope.template.place(pos);
        self.origins.union(self.context, self.origins.only(Origin::Written(file, line)))
    }

    /// Literal text, each line under its own place.
    fn placed_text(&self, scope: &mut Scope, text: &Text, pos: u32) {
        let mut start = 0;
        for line in text.bytes().split_inclusive(|b| *b == b'\n') {
            let context = self.placed(scope, pos + start as u32);
            scope.out.push_under(&text.slice(start, start + line.len()), context, self.origins);
            start += line.len();
        }
    }

    fn condition(&mut self, scope: &mut Scope, dot: &Value, branch: &Branch, kind: GateKind) -> Exec<Then> {
        let mark = scope.vars.len();
        let value = self.pipeline(scope, dot, &branch.pipe)?;
        let outer = self.context;
        let mut open = value.truth();
        if !open && !self.options.force_open.is_empty() {
            open = self.options.force_open.contains(&scope.template.place(branch.pipe.pos));
        }
        self.enter_gate(scope, branch, kind, value.origins, open);
        let outer_element = scope.dot_is_element;
        let then = if open {
            match kind {
                GateKind::With => {
                    scope.dot_is_element = false;
                    self.walk(scope, &value, &branch.body)
                }
                _ => self.walk(scope, dot, &branch.body),
            }
        } else {
            match &branch.otherwise {
                Some(otherwise) => self.walk(scope, dot, otherwise),
                None => Ok(Then::Next),
            }
        };
        scope.dot_is_element = outer_element;
        scope.vars.truncate(mark);
        self.leave_gate(scope, branch, outer);
        then
    }

    /// Records a branch whose condition came from somewhere, and makes it the context.
    fn enter_gate(&mut self, scope: &mut Scope, branch: &Branch, kind: GateKind, reads: OriginSet, open: bool) {
        if reads.is_empty() {
            return;
        }
        let template = scope.template.clone();
        let line = |pos: u32| template.place(pos).line;
        let hidden = match (open, branch.else_pos) {
            (true, Some(at)) => Some((line(at), line(branch.end))),
            (true, None) => None,
            (false, at) => Some((line(branch.pos), line(at.unwrap_or(branch.end)))),
        };
        let gate = Gate {
            id: GateId(0),
            kind,
            place: template.place(branch.pipe.pos),
            condition: branch.condition.clone(),
            stack: self.stack(),
            reads,
            context: self.context,
            open,
            hidden,
        };
        let id = self.recorder.gate(gate);
        let gate = self.origins.only(Origin::Gate(id));
        scope.whole.insert(gate);
        self.context = self.origins.union(self.context, gate);
    }

    /// Back in the outer context, the variables that either branch assigns depend on the gate.
    fn leave_gate(&mut self, scope: &mut Scope, branch: &Branch, outer: OriginSet) {
        if self.context != outer {
            for name in branch.assigns.iter() {
                if let Some(variable) = scope.declared(name) {
                    variable.value.origins = self.origins.union(variable.value.origins, self.context);
                }
            }
        }
        self.context = outer;
    }

    fn stack(&mut self) -> Rc<[Frame]> {
        self.shared_stack.get_or_insert_with(|| self.recorder.stack(&self.stack)).clone()
    }

    fn range(&mut self, scope: &mut Scope, dot: &Value, branch: &Branch) -> Exec<()> {
        let mark = scope.vars.len();
        let value = self.pipeline(scope, dot, &branch.pipe)?;
        let elements = self.elements(scope, branch, &value)?;
        let outer = self.context;
        self.enter_gate(scope, branch, GateKind::Range, value.origins, !elements.is_empty());
        let outer_element = scope.dot_is_element;
        let of_interfaces = holds_interfaces(&value);
        if elements.is_empty()
            && let Some(otherwise) = &branch.otherwise
        {
            // Break and continue cannot stand here: the parser counts this as outside of the loop.
            self.walk(scope, dot, otherwise)?;
        }
        let body_mark = scope.vars.len();
        for (key, element) in elements {
            if let Err(limit) = self.budget.step() {
                return self.limit(scope, branch.pipe.pos, &branch.pipe, limit);
            }
            scope.dot_is_element = of_interfaces;
            let element = element.under(value.origins, self.origins);
            self.loop_variables(scope, branch, key.under(value.origins, self.origins), &element)?;
            let then = self.walk(scope, &element, &branch.body)?;
            scope.vars.truncate(body_mark);
            if then == Then::Break {
                break;
            }
        }
        scope.dot_is_element = outer_element;
        scope.vars.truncate(mark);
        self.leave_gate(scope, branch, outer);
        Ok(())
    }

    fn loop_variables(&mut self, scope: &mut Scope, branch: &Branch, key: Value, element: &Value) -> Exec<()> {
        let decl = &branch.pipe.decl;
        let values: Vec<(&Rc<str>, Value)> = match &decl[..] {
            [] => return Ok(()),
            [only] => vec![(only, element.clone())],
            [first, second, ..] => vec![(first, key), (second, element.clone())],
        };
        for (name, value) in values {
            let is_element = scope.dot_is_element && Some(name) == decl.last();
            if branch.pipe.assigns {
                self.assign(scope, &branch.pipe, name, value, is_element)?;
            } else if let Some(variable) = scope.declared(name) {
                // The pipeline has declared it; each turn gives it another value.
                *variable = Variable { name: name.clone(), value, is_element };
            }
        }
        Ok(())
    }

    /// What a range walks over: keys (or indices) and elements.
    fn elements(&mut self, scope: &Scope, branch: &Branch, value: &Value) -> Exec<Vec<(Value, Value)>> {
        let indexed = |items: &[Value]| {
            items.iter().enumerate().map(|(i, item)| (Value::int(i as i64), item.clone())).collect::<Vec<_>>()
        };
        match value.repr() {
            Repr::Nil => Ok(Vec::new()),
            Repr::List(list) => Ok(indexed(&list.items)),
            Repr::Map(map) => {
                Ok(map.entries().iter().map(|(k, v)| (Value::text_in(k.clone(), self.origins), v.clone())).collect())
            }
            Repr::Hole(_) => Ok(vec![(Value::int(0), self.below_hole(value, "[0]"))]),
            Repr::Int(count, _) if self.helm.has(Quirk::RangesIntegers) => {
                if branch.pipe.decl.len() > 1 {
                    let text = format!("can't use {count} to iterate over more than one variable");
                    return self.at_last(scope, &branch.pipe, text);
                }
                let count = (*count).max(0);
                if count as u64 > crate::base::budget::MAX_STEPS {
                    let limit = Exhausted { what: "evaluation steps", limit: crate::base::budget::MAX_STEPS };
                    return self.limit(scope, branch.pipe.pos, &branch.pipe, limit);
                }
                Ok((0..count).map(|i| (Value::int(i), Value::int(i))).collect())
            }
            Repr::Native(native) => match native.elements() {
                Some(data) => self.elements(scope, branch, &data),
                None => self.cannot_range(scope, branch, value),
            },
            _ => self.cannot_range(scope, branch, value),
        }
    }

    fn cannot_range<T>(&self, scope: &Scope, branch: &Branch, value: &Value) -> Exec<T> {
        let shown = super::print::go_v(value, self.helm);
        let shown = String::from_utf8_lossy(&shown);
        // Of a pointer, Go shows what it points to.
        let shown = if value.kind() == "ptr" { shown.strip_prefix('&').unwrap_or(&shown) } else { &shown };
        let text = format!("range can't iterate over {shown}");
        self.at_last(scope, &branch.pipe, text)
    }

    /// An error after a pipeline: Go stands at the node it evaluated last.
    fn at_last<T>(&self, scope: &Scope, pipe: &Pipe, text: String) -> Exec<T> {
        match scope.last_of(pipe) {
            Some(operand) => self.text_error(scope, operand.pos, operand, text),
            None => self.text_error(scope, pipe.pos, pipe, text),
        }
    }

    fn invoke(&mut self, scope: &mut Scope, dot: &Value, invoke: &Invoke) -> Exec<()> {
        let Some(template) = self.set.get(&invoke.name) else {
            let text = format!("template {} not defined", super::lex::quote(&invoke.name));
            return self.text_error(scope, invoke.pos, invoke, text);
        };
        let dot = match &invoke.pipe {
            Some(pipe) => self.pipeline(scope, dot, pipe)?,
            None => Value::NIL,
        };
        let place = scope.template.place(invoke.pos);
        let text = self.execute_template(template, &dot, Some(place))?;
        scope.whole.insert(text.origins);
        if let Some(text) = text.as_text() {
            scope.out.push_text(text);
        }
        Ok(())
    }

    pub(super) fn pipeline(&mut self, scope: &mut Scope, dot: &Value, pipe: &Pipe) -> Exec<Value> {
        if let Err(limit) = self.budget.step() {
            return self.limit(scope, pipe.pos, pipe, limit);
        }
        let mut value = None;
        let mut before = None;
        for command in &pipe.commands {
            if let Some(Expr { kind: ExprKind::Pipe(inner), .. }) = command.args.first()
                && (command.args.len() > 1 || value.is_some())
            {
                return self.argument_of_pipe(scope, pipe, before, inner);
            }
            value = Some(self.command(scope, dot, command, value)?);
            before = Some(command);
        }
        let value = value.unwrap_or_default();
        for name in &pipe.decl {
            let value = value.clone().under(self.context, self.origins);
            if pipe.assigns {
                self.assign(scope, pipe, name, value, false)?;
            } else {
                scope.vars.push(Variable { name: name.clone(), value, is_element: false });
            }
        }
        Ok(value)
    }

    /// The error of a pipeline in brackets where a function should stand. Go tells it at what it evaluated before.
    fn argument_of_pipe<T>(&self, scope: &Scope, outer: &Pipe, before: Option<&Command>, inner: &Pipe) -> Exec<T> {
        let text = format!("can't give argument to non-function {inner}");
        match before.and_then(|command| scope.last_of_command(command)) {
            Some(operand) => self.text_error(scope, operand.pos, operand, text),
            None => self.text_error(scope, outer.pos, outer, text),
        }
    }

    fn assign(&mut self, scope: &mut Scope, pipe: &Pipe, name: &Rc<str>, value: Value, is_element: bool) -> Exec<()> {
        let value = value.under(self.context, self.origins);
        match scope.declared(name) {
            Some(variable) => {
                *variable = Variable { name: name.clone(), value, is_element };
                Ok(())
            }
            None => self.at_last(scope, pipe, format!("undefined variable: {name}")),
        }
    }

    fn command(&mut self, scope: &mut Scope, dot: &Value, command: &Command, last: Option<Value>) -> Exec<Value> {
        let Some(first) = command.args.first() else { return Ok(Value::NIL) };
        let args = command.args.get(1..).unwrap_or_default();
        match &first.kind {
            ExprKind::Field(fields) => {
                self.fields(scope, dot, (dot.clone(), scope.dot_is_element), (first, first), fields, args, last)
            }
            ExprKind::Chain(inner, fields) => {
                let receiver = self.chain_base(scope, dot, first, inner)?;
                let node = scope.last_evaluated(inner);
                self.fields(scope, dot, (receiver, false), (node, first), fields, args, last)
            }
            ExprKind::Variable(name, fields) => {
                let value = self.variable(scope, first, name)?;
                if fields.is_empty() {
                    self.no_arguments(scope, first, args, &last)?;
                    return Ok(value);
                }
                self.fields(scope, dot, (value, scope.is_element(name)), (first, first), fields, args, last)
            }
            ExprKind::Function(name) => self.function(scope, dot, first, (command.pos, command), name, args, last),
            ExprKind::Pipe(pipe) => self.pipeline(scope, dot, pipe),
            _ => {
                self.no_arguments(scope, first, args, &last)?;
                match &first.kind {
                    ExprKind::Bool(value) => Ok(Value::bool(*value)),
                    ExprKind::Dot => Ok(dot.clone()),
                    ExprKind::Nil => self.text_error(scope, first.pos, first, "nil is not a command".into()),
                    ExprKind::Number(number) => self.ideal(scope, first, number),
                    ExprKind::Str(_, text) => Ok(Value::text(text.clone())),
                    _ => Ok(Value::NIL),
                }
            }
        }
    }

    fn no_arguments(&self, scope: &Scope, first: &Expr, args: &[Expr], last: &Option<Value>) -> Exec<()> {
        if args.is_empty() && last.is_none() {
            return Ok(());
        }
        self.text_error(scope, first.pos, first, format!("can't give argument to non-function {first}"))
    }

    /// A numeric constant where nothing asks for a type.
    pub(super) fn ideal(&self, scope: &Scope, node: &Expr, number: &Number) -> Exec<Value> {
        let text = &number.text;
        let hex = text.len() > 2
            && text.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("0x")
            && !text.contains(['p', 'P']);
        let rune = text.starts_with('\'');
        if let Some(complex) = number.complex {
            return Ok(Value::new(Repr::Native(Rc::new(complex))));
        }
        match (number.float, number.int) {
            (Some(float), _) if !hex && !rune && text.contains(['.', 'e', 'E', 'p', 'P']) => Ok(Value::float(float)),
            (_, Some(int)) => Ok(Value::int(int)),
            _ => self.text_error(scope, node.pos, node, format!("{text} overflows int")),
        }
    }

    pub(super) fn variable(&self, scope: &Scope, node: &Expr, name: &Rc<str>) -> Exec<Value> {
        if let Err(limit) = self.budget.work(scope.vars.len() * PASSING) {
            return self.limit(scope, node.pos, node, limit);
        }
        match scope.variable(name) {
            Some(variable) => Ok(variable.value.clone()),
            None => self.text_error(scope, node.pos, node, format!("undefined variable: {name}")),
        }
    }

    /// What stands in front of a chain's fields.
    pub(super) fn chain_base(&mut self, scope: &mut Scope, dot: &Value, node: &Expr, inner: &Expr) -> Exec<Value> {
        match &inner.kind {
            ExprKind::Nil => {
                self.text_error(scope, node.pos, node, format!("indirection through explicit nil in {node}"))
            }
            ExprKind::Pipe(pipe) => self.pipeline(scope, dot, pipe),
            ExprKind::Function(name) => self.function(scope, dot, inner, (inner.pos, inner), name, &[], None),
            _ => self.operand(scope, dot, inner),
        }
    }

    /// A call's place and the templates around it, for records.
    pub(super) fn here(&mut self, place: Place) -> (Place, Rc<[Frame]>) {
        (place, self.stack())
    }
}

/// A hole at a place.
pub fn hole(label: Rc<str>, at: crate::value::OriginId, origins: OriginSet) -> Value {
    let mut value = Value::new(Repr::Hole(Rc::new(Hole { label })));
    value.at = at;
    value.origins = origins;
    value
}

impl Engine for Run<'_> {
    fn execute(&mut self, name: &str, dot: &Value) -> Result<Value, FuncError> {
        let Some(template) = self.set.get(name) else { return Err(FuncError::NoTemplate(name.to_owned())) };
        let running = self.includes.entry(template.name.clone()).or_default();
        if *running > MAX_INCLUDES {
            return Err(FuncError::Error(format!(
                "rendering template has a nested reference name: {name}: unable to execute template"
            )));
        }
        *running += 1;
        let place = self.calling.clone();
        let result = self.execute_template(template.clone(), dot, place);
        if let Some(running) = self.includes.get_mut(&template.name) {
            *running -= 1;
        }
        result.map_err(|error| FuncError::Template(String::new(), error))
    }

    fn execute_text(&mut self, text: &Text, dot: &Value) -> Result<Value, FuncError> {
        let quoted = || super::lex::quote(&text.lossy());
        self.budget.work(text.len() * PARSING)?;
        let mut set = TemplateSet::over(self.set.clone());
        set.parse("gotpl", text.bytes())
            .map_err(|e| FuncError::Error(format!("cannot parse template {}: {e}", quoted())))?;
        let Some(template) = set.get("gotpl") else { return Ok(Value::text("")) };
        let outer = std::mem::replace(&mut self.set, Rc::new(set));
        let place = self.calling.clone();
        let result = self.execute_template(template, dot, place);
        self.set = outer;
        let value = result.map_err(|error| {
            FuncError::Template(format!("error during tpl function execution for {}: ", quoted()), error)
        })?;
        let origins = value.origins;
        let stripped = value.as_text().map(strip_no_value).unwrap_or_default();
        // What the text itself came from decides what it renders to.
        let marks = self.origins.union(origins, text.mark_union(self.origins));
        let mut value = Value::text(stripped);
        value.origins = marks;
        Ok(value)
    }

    fn defines(&self, name: &str) -> bool {
        self.set.get(name).is_some()
    }

    fn note_lookup(&mut self, key: &LookupKey, answer: Option<&Value>, name: OriginSet) {
        let Some(place) = self.calling.clone() else { return };
        let (place, stack) = self.here(place);
        let found = match answer.map_or(&Repr::Nil, Value::repr) {
            Repr::Hole(_) | Repr::Nil => false,
            Repr::Map(map) if key.name.is_empty() => {
                map.get(b"items").is_some_and(|items| items.as_list().is_some_and(|l| !l.items.is_empty()))
            }
            other => !matches!(other, Repr::Map(map) if map.is_empty()),
        };
        let context = self.context;
        self.recorder.lookups.push(LookupUse { key: Rc::new(key.clone()), place, stack, found, name, context });
    }

    fn entry(&self, map: &Value, key: &str, found: Option<Value>) -> Value {
        Run::entry(self, map, key, found)
    }

    fn below(&self, hole: &Value, step: &str) -> Value {
        self.below_hole(hole, step)
    }

    fn evaluation(&self, site: &str) -> u32 {
        let mut evaluations = self.evaluations.borrow_mut();
        let count = evaluations.entry(site.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    fn step(&mut self) -> Result<(), Exhausted> {
        self.budget.step()
    }

    fn work(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.budget.work(bytes)
    }

    fn make(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.budget.make(bytes)
    }
}

/// Takes out `<no value>`, as Helm does with finished texts.
pub fn strip_no_value(text: &Text) -> Text {
    let needle = super::print::NO_VALUE.as_bytes();
    let bytes = text.bytes();
    if bytes.len() < needle.len() || !bytes.windows(needle.len()).any(|w| w == needle) {
        return text.clone();
    }
    let mut out = TextBuilder::default();
    let mut start = 0;
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i..].starts_with(needle) {
            out.push_slice(text, start, i);
            i += needle.len();
            start = i;
        } else {
            i += 1;
        }
    }
    out.push_slice(text, start, bytes.len());
    out.finish()
}
