//! Fields: what stands behind a dot, a variable or brackets.

use std::rc::Rc;

use super::ast::Expr;
use super::eval::{Exec, Run, Scope, hole};
use crate::value::origin::Origin;
use crate::value::{ListType, MapType, Repr, Value};

impl Run<'_> {
    /// Fields (or methods) one after the other; only the last may take arguments. The receiver comes with what
    /// [`Scope::dot_is_element`] says of it. The nodes are the one evaluated last, and the one with the fields.
    #[allow(clippy::too_many_arguments)] // as Go's own
    pub(super) fn fields(
        &mut self,
        scope: &mut Scope,
        dot: &Value,
        (receiver, is_element): (Value, bool),
        nodes: (&Expr, &Expr),
        fields: &[Rc<str>],
        args: &[Expr],
        last: Option<Value>,
    ) -> Exec<Value> {
        let mut value = receiver;
        // A nil in front of the first field is "no value", which has every field, unless it is an element of something.
        let mut no_value = value.is_nil() && !is_element;
        let count = fields.len();
        let mut last = last;
        let mut typed = false;
        for (i, field) in fields.iter().enumerate() {
            let is_last = i + 1 == count;
            let (args, given): (&[Expr], Option<Value>) = if is_last { (args, last.take()) } else { (&[], None) };
            if value.is_nil() && no_value {
                continue;
            }
            // What lies in a map or list has the static type `interface {}`; a receiver itself has its own.
            let bare = if i == 0 { !is_element } else { typed };
            typed = !holds_interfaces(&value);
            value = self.field(scope, dot, &value, bare, nodes, field, args, given)?;
            no_value = false;
        }
        Ok(value)
    }

    #[allow(clippy::too_many_arguments)] // as Go's own
    fn field(
        &mut self,
        scope: &mut Scope,
        dot: &Value,
        receiver: &Value,
        bare: bool,
        (node, called): (&Expr, &Expr),
        field: &Rc<str>,
        args: &[Expr],
        last: Option<Value>,
    ) -> Exec<Value> {
        let has_args = !args.is_empty() || last.is_some();
        if super::methods::signature(receiver, field).is_some() {
            return self.method(scope, dot, receiver, (node, called), field, args, last);
        }
        match receiver.repr() {
            Repr::Nil => {
                self.text_error(scope, node.pos, node, format!("nil pointer evaluating interface {{}}.{field}"))
            }
            Repr::Map(map) => {
                if has_args {
                    let text = format!("{field} is not a method but has arguments");
                    return self.text_error(scope, node.pos, node, text);
                }
                let found = map.get(field.as_bytes());
                Ok(self.entry(receiver, field, found))
            }
            Repr::Hole(_) => Ok(self.below_hole(receiver, field)),
            Repr::Native(native) => match native.field(field) {
                _ if has_args && native.kind() == "map" => {
                    let text = format!("{field} is not a method but has arguments");
                    self.text_error(scope, node.pos, node, text)
                }
                Some(_) if has_args => {
                    let text = format!("{field} has arguments but cannot be invoked as function");
                    self.text_error(scope, node.pos, node, text)
                }
                Some(value) => Ok(value.under(receiver.origins, self.origins)),
                None => self.no_field(scope, node, field, receiver, bare),
            },
            _ => self.no_field(scope, node, field, receiver, bare),
        }
    }

    fn no_field(&self, scope: &Scope, node: &Expr, field: &str, receiver: &Value, bare: bool) -> Exec<Value> {
        let ty = if bare { receiver.type_name(self.helm) } else { "interface {}".into() };
        if let Repr::Native(native) = receiver.repr()
            && native.hidden().contains(&field)
        {
            let text = format!("{field} is an unexported field of struct type {ty}");
            return self.text_error(scope, node.pos, node, text);
        }
        self.text_error(scope, node.pos, node, format!("can't evaluate field {field} in type {ty}"))
    }

    /// What a map answers for a key: the entry, or a nil that knows where it is missing.
    pub(super) fn entry(&self, map: &Value, key: &str, found: Option<Value>) -> Value {
        let blank = match &found {
            None => true,
            Some(value) => match value.repr() {
                Repr::Nil => true,
                Repr::Str(text) => text.is_empty(),
                _ => false,
            },
        };
        // A missing entry of a map of strings is the empty one.
        let of_texts = map.as_map().is_some_and(|map| matches!(map.ty(), MapType::Str | MapType::NilStr));
        let mut value = found.unwrap_or_else(|| if of_texts { Value::text("") } else { Value::NIL });
        if blank && self.origins.tracking() {
            let at =
                if value.at == crate::value::OriginId::NONE { self.origins.descend(map.at, key) } else { value.at };
            value = value.located(at, self.origins).under(map.origins, self.origins);
            if let Some(Origin::Lookup { key, path }) = self.origins.get(at)
                && self.world.hopes(&key, &path)
            {
                let label = format!("<{key} {path}>");
                value = hole(label.into(), at, value.origins);
            }
            return value;
        }
        // What is in a located map has a place of its own; anything else is what it is because the map is.
        if map.at == crate::value::OriginId::NONE { value.under(map.origins, self.origins) } else { value }
    }

    /// A field or element of something that does not exist yet.
    pub(super) fn below_hole(&self, hole: &Value, step: &str) -> Value {
        let at = self.origins.descend(hole.at, step);
        let label: Rc<str> = match self.origins.get(at) {
            Some(Origin::Lookup { key, path }) => format!("<{key} {path}>").into(),
            _ => match hole.repr() {
                Repr::Hole(hole) => hole.label.clone(),
                _ => "<?>".into(),
            },
        };
        self::hole(label, at, hole.origins).under(self.origins.single(at), self.origins)
    }
}

/// Whether what lies in a container has the static type `interface {}`, as opposed to a type of its own.
pub(super) fn holds_interfaces(container: &Value) -> bool {
    match container.repr() {
        Repr::List(list) => matches!(list.ty, ListType::Any | ListType::Nil),
        Repr::Map(map) => !matches!(map.ty(), MapType::Str | MapType::NilStr),
        Repr::Hole(_) => true,
        _ => false,
    }
}
