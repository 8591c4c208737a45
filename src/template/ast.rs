//! The syntax tree, with a position on every node and a printer that writes nodes as Go's error texts show them.

use std::fmt::{self, Write};
use std::rc::Rc;

use super::complex::Complex;
use crate::value::Text;

/// Byte position in a template's source.
pub type Pos = u32;

/// A sequence of nodes.
pub type Block = Rc<[Node]>;

/// One piece of a template.
#[derive(Debug)]
pub enum Node {
    /// Literal text, and where it begins.
    Text(Text, Pos),
    /// `{{pipeline}}`
    Action(Pipe),
    /// `{{if}}`
    If(Branch),
    /// `{{with}}`
    With(Branch),
    /// `{{range}}`
    Range(Branch),
    /// `{{template "name" pipeline}}`
    Template(Invoke),
    /// `{{break}}`
    Break,
    /// `{{continue}}`
    Continue,
}

/// A conditional or a loop.
#[derive(Debug)]
pub struct Branch {
    /// Position of the keyword.
    pub pos: Pos,
    /// The condition, or what is ranged over.
    pub pipe: Pipe,
    /// The condition as errors and records print it.
    pub condition: Rc<str>,
    /// What is executed if the condition holds, or for each element.
    pub body: Block,
    /// What is executed otherwise.
    pub otherwise: Option<Block>,
    /// Position of `else`, if there is one.
    pub else_pos: Option<Pos>,
    /// Position of `end`.
    pub end: Pos,
    /// Variables that are assigned somewhere inside.
    pub assigns: Rc<[Rc<str>]>,
}

/// A call of a named template.
#[derive(Debug)]
pub struct Invoke {
    /// Position of the keyword.
    pub pos: Pos,
    /// Name of the template.
    pub name: Rc<str>,
    /// Its dot; nil without one.
    pub pipe: Option<Pipe>,
}

/// `$a, $b := command | command`
#[derive(Debug)]
pub struct Pipe {
    /// Position of its first token.
    pub pos: Pos,
    /// `=` instead of `:=`.
    pub assigns: bool,
    /// Variables that are declared or assigned.
    pub decl: Vec<Rc<str>>,
    /// The commands.
    pub commands: Vec<Command>,
}

/// `function argument argument`, or a single operand.
#[derive(Debug)]
pub struct Command {
    /// Position of its first token.
    pub pos: Pos,
    /// Function or operand first, then arguments; never empty.
    pub args: Vec<Expr>,
}

/// An operand with its position.
#[derive(Debug)]
pub struct Expr {
    /// Where Go's errors place it.
    pub pos: Pos,
    /// What it is.
    pub kind: ExprKind,
}

/// What an operand is.
#[derive(Debug)]
pub enum ExprKind {
    /// `.`
    Dot,
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// A number as written.
    Number(Number),
    /// A string as written, and what it means.
    Str(Rc<str>, Text),
    /// `.a.b`
    Field(Vec<Rc<str>>),
    /// `$x.a.b`: the variable and its fields.
    Variable(Rc<str>, Vec<Rc<str>>),
    /// A function without arguments, or the head of a call.
    Function(Rc<str>),
    /// `(pipeline)`
    Pipe(Box<Pipe>),
    /// An operand followed by fields: `(pipeline).a.b`.
    Chain(Box<Expr>, Vec<Rc<str>>),
}

/// A numeric constant: Go decides late which type it has.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// As written.
    pub text: Rc<str>,
    /// Its value as a signed integer, if it is one.
    pub int: Option<i64>,
    /// Its value as an unsigned integer, if it is one.
    pub uint: Option<u64>,
    /// Its value as a float, if it is one.
    pub float: Option<f64>,
    /// A constant with `i`.
    pub complex: Option<Complex>,
}

impl Expr {
    /// Whether it is a constant, which cannot stand behind `|`.
    pub fn is_constant(&self) -> bool {
        matches!(self.kind, ExprKind::Bool(_) | ExprKind::Dot | ExprKind::Nil | ExprKind::Number(_) | ExprKind::Str(..))
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Dot => f.write_char('.'),
            ExprKind::Nil => f.write_str("nil"),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Number(number) => f.write_str(&number.text),
            ExprKind::Str(quoted, _) => f.write_str(quoted),
            ExprKind::Field(fields) => fields.iter().try_for_each(|field| write!(f, ".{field}")),
            ExprKind::Variable(name, fields) => {
                f.write_str(name)?;
                fields.iter().try_for_each(|field| write!(f, ".{field}"))
            }
            ExprKind::Function(name) => f.write_str(name),
            ExprKind::Pipe(pipe) => write!(f, "({pipe})"),
            ExprKind::Chain(inner, fields) => {
                write!(f, "{inner}")?;
                fields.iter().try_for_each(|field| write!(f, ".{field}"))
            }
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, arg) in self.args.iter().enumerate() {
            if i > 0 {
                f.write_char(' ')?;
            }
            write!(f, "{arg}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.decl.iter().enumerate() {
            write!(f, "{}{name}", if i > 0 { ", " } else { "" })?;
        }
        if !self.decl.is_empty() {
            f.write_str(if self.assigns { " = " } else { " := " })?;
        }
        for (i, command) in self.commands.iter().enumerate() {
            write!(f, "{}{command}", if i > 0 { " | " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Invoke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {:?}", self.name)?;
        if let Some(pipe) = &self.pipe {
            write!(f, " {pipe}")?;
        }
        f.write_str("}}")
    }
}
