//! Calling functions and methods: arguments counted, checked and converted as Go's reflection does it; origins joined.

use std::rc::Rc;

use super::ast::{Command, Expr, ExprKind, Pipe};
use super::error::Cause;
use super::eval::{Exec, Run, Scope};
use super::func::{Call, Effect, Flow, FuncDef, FuncError, Param, Site};
use super::gate::Place;
use crate::base::version::Quirk;
use crate::value::origin::Origin;
use crate::value::{IntType, ListType, MapType, OriginSet, Repr, Text, Value};

/// Looking at a value inside an argument takes as long as looking at so many bytes.
const LOOKING: usize = 16;

/// The node that a call is: its position and how it prints.
pub(super) type CallNode<'n> = (u32, &'n dyn std::fmt::Display);

impl Run<'_> {
    #[allow(clippy::too_many_arguments)] // as Go's own
    pub(super) fn function(
        &mut self,
        scope: &mut Scope,
        dot: &Value,
        head: &Expr,
        node: CallNode<'_>,
        name: &Rc<str>,
        args: &[Expr],
        last: Option<Value>,
    ) -> Exec<Value> {
        let Some(def) = self.set.functions().get(name) else {
            let text = format!("{} is not a defined function", super::lex::quote(name));
            return self.text_error(scope, head.pos, head, text);
        };
        let given = args.len() + usize::from(last.is_some());
        let fixed = def.params.len();
        if def.variadic.is_some() {
            if given < fixed {
                let text = format!("wrong number of args for {name}: want at least {fixed} got {}", args.len());
                return self.text_error(scope, head.pos, head, text);
            }
        } else if given != fixed {
            let text = format!("wrong number of args for {name}: want {fixed} got {given}");
            return self.text_error(scope, head.pos, head, text);
        }
        if matches!(def.name, "and" | "or") {
            return self.short_circuit(scope, dot, (head.pos, def), args, last);
        }
        let mut values = Vec::with_capacity(given);
        for (i, arg) in args.iter().enumerate() {
            values.push(self.argument(scope, dot, arg, param(def, i))?);
        }
        if let Some(last) = last {
            let before = args.last().unwrap_or(head);
            values.push(self.checked(scope, before, last, param(def, args.len()), true)?);
        }
        self.run(scope, node, def, &values).map_err(|mut error| {
            if let Cause::Called(function, text) = &mut error.cause {
                let is_nil = |value: Option<&Value>| value.is_some_and(Value::is_nil);
                match (function.as_str(), args.first()) {
                    ("call", Some(Expr { kind: ExprKind::Pipe(pipe), .. })) => {
                        *text = text.replacen("{}", &pipe.to_string(), 1);
                    }
                    ("call", Some(operand)) => *text = text.replacen("{}", &operand.to_string(), 1),
                    ("call", None) if !self.helm.has(Quirk::NamesComparedTypes) => {
                        error.cause = Cause::Crash("runtime error: index out of range [0] with length 0".into());
                    }
                    ("call", None) => {
                        let shown = values.first().map(|value| match value.as_text() {
                            Some(text) => text.lossy().into_owned(),
                            None => format!("<{} Value>", value.type_name(self.helm)),
                        });
                        *text = text.replacen("{}", &shown.unwrap_or_default(), 1);
                    }
                    ("len", None | Some(Expr { kind: ExprKind::Nil, .. })) if is_nil(values.first()) => {
                        *text = "reflect: call of reflect.Value.Type on zero Value".into();
                    }
                    _ => {}
                }
            }
            error
        })
    }

    /// `and` and `or` evaluate only as many arguments as they need; the result depends on all that were.
    fn short_circuit(
        &mut self,
        scope: &mut Scope,
        dot: &Value,
        (pos, def): (u32, &FuncDef),
        args: &[Expr],
        last: Option<Value>,
    ) -> Exec<Value> {
        let stop = def.name == "or";
        scope.stopped.remove(&pos);
        let mut seen = OriginSet::EMPTY;
        let mut value = Value::NIL;
        for (i, arg) in args.iter().enumerate() {
            value = self.argument(scope, dot, arg, Param::Reflect)?;
            seen = self.origins.union(seen, value.origins);
            if value.truth() == stop {
                scope.stopped.insert(pos, i);
                return Ok(value.under(seen, self.origins));
            }
        }
        if let Some(last) = last {
            value = last;
        }
        Ok(value.under(seen, self.origins))
    }

    fn run(&mut self, scope: &mut Scope, node: CallNode<'_>, def: &'static FuncDef, args: &[Value]) -> Exec<Value> {
        let mut work: usize = args.iter().filter_map(Value::as_text).map(Text::held).sum();
        let joined = match def.flow {
            Flow::Own => OriginSet::EMPTY,
            Flow::Deep => {
                let mut nodes = 0;
                let sets = args.iter().map(|arg| arg.deep_origins_of(&mut nodes, self.origins));
                let joined = self.origins.union_all(sets);
                work += nodes * LOOKING;
                joined
            }
            Flow::Shallow | Flow::Open => self.origins.union_all(args.iter().map(|a| a.origins)),
        };
        if matches!(def.flow, Flow::Deep | Flow::Shallow)
            && let Some(hole) = args.iter().find(|a| matches!(a.repr(), Repr::Hole(_)))
        {
            return Ok(hole.clone().under(joined, self.origins));
        }
        if let Err(limit) = self.budget.work(work) {
            return self.limit(scope, node.0, node.1, limit);
        }
        let place = scope.template.place(node.0);
        let outer = self.calling.replace(place.clone());
        let site = Place { ..place };
        let mut call = Call {
            origins: self.origins,
            helm: self.helm,
            world: self.world,
            site: Site { template: &site.file, line: site.line, column: site.column },
            context: self.context,
            engine: self,
        };
        let result = (def.run)(&mut call, args);
        self.calling = outer;
        let mut value = match result {
            Ok(value) => value,
            Err(error) => return self.called(scope, node, def, error),
        };
        if def.flow != Flow::Own
            && let Err(limit) = self.budget.make(made(&value))
        {
            return self.limit(scope, node.0, node.1, limit);
        }
        value = value.under(joined, self.origins);
        if self.origins.tracking() && matches!(def.effect, Effect::Entropy | Effect::Clock) {
            let at = format!("{}:{}:{}", site.file, site.line, site.column);
            // The turns of a loop draw each their own.
            let turn = self.evaluations.borrow().get(&format!("{at} {}", def.name)).copied().unwrap_or_default();
            let turn = if turn > 1 { format!("#{turn}") } else { String::new() };
            let site: Rc<str> = format!("{at}{turn} {}", def.name).into();
            let origin = if def.effect == Effect::Entropy { Origin::Random(site) } else { Origin::Clock(site) };
            value = value.under(self.origins.only(origin), self.origins);
        }
        Ok(value)
    }

    fn called(&self, scope: &Scope, node: CallNode<'_>, def: &FuncDef, error: FuncError) -> Exec<Value> {
        match error {
            FuncError::Error(text) | FuncError::Panic(text) if def.effect == Effect::Abort => {
                self.fail(scope, node.0, node.1, Cause::Abort(text))
            }
            error => self.failed(scope, node, def.name, error),
        }
    }

    /// A function or method failed.
    fn failed(&self, scope: &Scope, node: CallNode<'_>, name: &str, error: FuncError) -> Exec<Value> {
        let name = name.to_owned();
        let cause = match error {
            FuncError::Error(text) | FuncError::Panic(text) => Cause::Called(name, text),
            FuncError::Template(prefix, inner) => Cause::Calling(name, prefix, inner),
            FuncError::NoTemplate(template) => Cause::NoTemplate(name, template),
            FuncError::Limit(limit) => Cause::Limit(limit.to_string()),
        };
        self.fail(scope, node.0, node.1, cause)
    }

    #[allow(clippy::too_many_arguments)] // as Go's own
    pub(super) fn method(
        &mut self,
        scope: &mut Scope,
        dot: &Value,
        receiver: &Value,
        (node, called): (&Expr, &Expr),
        name: &str,
        args: &[Expr],
        last: Option<Value>,
    ) -> Exec<Value> {
        let mut values = Vec::with_capacity(args.len() + 1);
        let signature = super::methods::signature(receiver, name);
        if let Some(params) = signature {
            let given = args.len() + usize::from(last.is_some());
            if given != params.len() {
                let text = format!("wrong number of args for {name}: want {} got {given}", params.len());
                return self.text_error(scope, node.pos, node, text);
            }
        }
        let wanted = |i: usize| match signature.and_then(|params| params.get(i)) {
            Some(&"string") => Param::Str,
            Some(&"int") => Param::Int,
            Some(name) => Param::Named(name),
            None => Param::Any,
        };
        if let Repr::Native(native) = receiver.repr()
            && let Some((_, why)) = native.uncallable(name)
        {
            return self.text_error(scope, node.pos, node, why.to_owned());
        }
        for (i, arg) in args.iter().enumerate() {
            values.push(self.argument(scope, dot, arg, wanted(i))?);
        }
        if let Some(last) = last {
            let before = args.last().unwrap_or(node);
            values.push(self.checked(scope, before, last, wanted(args.len()), true)?);
        }
        match self.call_method(receiver, name, &values) {
            Ok(value) => {
                let joined = self.origins.union_all(values.iter().map(|v| v.origins).chain([receiver.origins]));
                Ok(value.under(joined, self.origins))
            }
            Err(error) => self.failed(scope, (called.pos, called), name, error),
        }
    }

    /// The value of an operand where it stands as an argument.
    pub(super) fn operand(&mut self, scope: &mut Scope, dot: &Value, node: &Expr) -> Exec<Value> {
        match &node.kind {
            ExprKind::Dot => Ok(dot.clone()),
            ExprKind::Nil => Ok(Value::NIL),
            ExprKind::Bool(value) => Ok(Value::bool(*value)),
            ExprKind::Number(number) => self.ideal(scope, node, number),
            ExprKind::Str(_, text) => Ok(Value::text(text.clone())),
            ExprKind::Field(fields) => {
                self.fields(scope, dot, (dot.clone(), scope.dot_is_element), (node, node), fields, &[], None)
            }
            ExprKind::Variable(name, fields) => {
                let value = self.variable(scope, node, name)?;
                if fields.is_empty() {
                    return Ok(value);
                }
                self.fields(scope, dot, (value, scope.is_element(name)), (node, node), fields, &[], None)
            }
            ExprKind::Function(name) => self.function(scope, dot, node, (node.pos, node), name, &[], None),
            ExprKind::Pipe(pipe) => self.pipeline(scope, dot, pipe),
            ExprKind::Chain(inner, fields) => {
                let receiver = self.chain_base(scope, dot, node, inner)?;
                let last = scope.last_evaluated(inner);
                self.fields(scope, dot, (receiver, false), (last, node), fields, &[], None)
            }
        }
    }

    /// An argument for a parameter.
    fn argument(&mut self, scope: &mut Scope, dot: &Value, node: &Expr, want: Param) -> Exec<Value> {
        match &node.kind {
            ExprKind::Nil => match want {
                Param::Any | Param::Map | Param::List | Param::Strings | Param::Reflect => Ok(Value::NIL),
                // An interface, or a pointer.
                Param::Named(name) if name == super::methods::WRITER || name.starts_with('*') => Ok(Value::NIL),
                _ => self.text_error(scope, node.pos, node, format!("cannot assign nil to {}", type_name(want))),
            },
            ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::Str(..) => self.constant(scope, node, want),
            _ => {
                let value = self.operand(scope, dot, node)?;
                let no_value = match &node.kind {
                    ExprKind::Pipe(_) => true,
                    ExprKind::Variable(name, fields) => fields.is_empty() && !scope.is_element(name),
                    ExprKind::Dot => !scope.dot_is_element,
                    _ => false,
                };
                self.checked(scope, node, value, want, no_value)
            }
        }
    }

    fn constant(&mut self, scope: &Scope, node: &Expr, want: Param) -> Exec<Value> {
        let found = |what: &str| self.text_error(scope, node.pos, node, format!("expected {what}; found {node}"));
        match (want, &node.kind) {
            (Param::Any | Param::Reflect, ExprKind::Bool(value)) | (Param::Bool, ExprKind::Bool(value)) => {
                Ok(Value::bool(*value))
            }
            (Param::Any | Param::Reflect, ExprKind::Str(_, text)) | (Param::Str, ExprKind::Str(_, text)) => {
                Ok(Value::text(text.clone()))
            }
            (Param::Any | Param::Reflect, ExprKind::Number(number)) => self.ideal(scope, node, number),
            (Param::Int, ExprKind::Number(number)) if number.int.is_some() => Ok(Value::int(number.int.unwrap_or(0))),
            (Param::Int64, ExprKind::Number(number)) if number.int.is_some() => {
                Ok(Value::int64(number.int.unwrap_or(0)))
            }
            (Param::Float, ExprKind::Number(number)) if number.float.is_some() => {
                Ok(Value::float(number.float.unwrap_or(0.0)))
            }
            (Param::Uint32, ExprKind::Number(number)) if number.uint.is_some() => {
                let value = number.uint.unwrap_or(0) as u32;
                Ok(Value::new(Repr::Int(value.into(), IntType::Uint32)))
            }
            (Param::Named("time.Duration"), ExprKind::Number(number)) if number.int.is_some() => {
                Ok(Value::int64(number.int.unwrap_or(0)))
            }
            (Param::Str, _) => found("string"),
            (Param::Int | Param::Int64 | Param::Named("time.Duration"), _) => found("integer"),
            (Param::Uint32, _) => found("unsigned integer"),
            (Param::Float, _) => found("float"),
            (Param::Bool, _) => found("bool"),
            (want, _) => {
                let text = format!("can't handle {node} for arg of type {}", type_name(want));
                self.text_error(scope, node.pos, node, text)
            }
        }
    }

    /// A computed value for a parameter. `no_value`: a nil here is no value at all, not a nil interface.
    fn checked(&mut self, scope: &Scope, node: &Expr, value: Value, want: Param, no_value: bool) -> Exec<Value> {
        if let (Param::Any, Repr::Native(native)) = (want, value.repr())
            && let Some(mut passed) = native.passed()
        {
            (passed.origins, passed.at) = (value.origins, value.at);
            return Ok(passed);
        }
        let fits = match (want, value.repr()) {
            (Param::Any | Param::Reflect, _) | (_, Repr::Hole(_)) => true,
            (Param::Map | Param::List | Param::Strings, Repr::Nil) if no_value => true,
            (Param::Str, Repr::Str(_)) | (Param::Bool, Repr::Bool(_)) | (Param::Float, Repr::Float(_)) => true,
            (Param::Map, Repr::Map(map)) => match map.ty() {
                MapType::Any | MapType::Nil => true,
                MapType::Str | MapType::NilStr => false,
                // A named map type loses its name on the way into the function.
                MapType::Values => {
                    let mut plain = Value::new(Repr::Map(map.plain()));
                    (plain.origins, plain.at) = (value.origins, value.at);
                    return Ok(plain);
                }
            },
            (Param::Uint32, Repr::Int(_, IntType::Uint32)) => true,
            (Param::Int, Repr::Int(_, IntType::Int)) | (Param::Int64, Repr::Int(_, IntType::Int64)) => true,
            (Param::List, Repr::List(list)) => matches!(list.ty, ListType::Any | ListType::Nil),
            (Param::Strings, Repr::List(list)) => matches!(list.ty, ListType::Str | ListType::NilStr),
            (Param::Named(name), Repr::Native(native)) => native.type_name(self.helm) == name,
            _ => false,
        };
        if fits {
            return Ok(value);
        }
        let expected = type_name(want);
        let text = match value.repr() {
            Repr::Nil if no_value => format!("invalid value; expected {expected}"),
            Repr::Nil => format!("wrong type for value; expected {expected}; got interface {{}}"),
            _ => format!("wrong type for value; expected {expected}; got {}", value.type_name(self.helm)),
        };
        let node = scope.last_evaluated(node);
        self.text_error(scope, node.pos, node, text)
    }
}

impl Scope {
    /// The node that Go's template package evaluated last below an expression: errors behind it are told there.
    pub(super) fn last_evaluated<'e>(&self, expr: &'e Expr) -> &'e Expr {
        match &expr.kind {
            ExprKind::Pipe(pipe) => self.last_of(pipe).unwrap_or(expr),
            ExprKind::Chain(inner, _) => self.last_evaluated(inner),
            _ => expr,
        }
    }

    /// As [`Scope::last_evaluated`], of a pipeline.
    pub(super) fn last_of<'e>(&self, pipe: &'e Pipe) -> Option<&'e Expr> {
        self.last_of_command(pipe.commands.last()?)
    }

    /// As [`Scope::last_evaluated`], of a command.
    pub(super) fn last_of_command<'e>(&self, command: &'e Command) -> Option<&'e Expr> {
        let args = &command.args;
        let stopped = args.first().and_then(|head| self.stopped.get(&head.pos)).and_then(|i| args.get(i + 1));
        stopped.or(args.last()).map(|operand| self.last_evaluated(operand))
    }
}

/// Bytes that a function has made: those of a text, and those of a list that nobody else holds.
fn made(value: &Value) -> usize {
    match value.repr() {
        Repr::Str(text) => text.held(),
        Repr::List(list) if std::rc::Rc::strong_count(list) == 1 => {
            list.items.len() * if list.ty == ListType::Str { 96 } else { 32 }
        }
        _ => 0,
    }
}

/// The parameter that takes the argument at a position.
fn param(def: &FuncDef, index: usize) -> Param {
    def.params.get(index).copied().or(def.variadic).unwrap_or(Param::Any)
}

/// Go's name of a parameter's type.
fn type_name(param: Param) -> &'static str {
    match param {
        Param::Any => "interface {}",
        Param::Str => "string",
        Param::Int => "int",
        Param::Int64 => "int64",
        Param::Uint32 => "uint32",
        Param::Float => "float64",
        Param::Bool => "bool",
        Param::Map => "map[string]interface {}",
        Param::List => "[]interface {}",
        Param::Strings => "[]string",
        Param::Named(name) => name,
        Param::Reflect => "reflect.Value",
    }
}
