//! From tokens to the syntax tree, with Go's error texts.

use crate::base::version::{HelmVersion, Quirk};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::ast::{Block, Branch, Command, Expr, ExprKind, Invoke, Node, Number, Pipe};
use super::lex::{Kind, Lexer, Token, quote};
use crate::value::Text;

/// A text that is no template: Go's message, without the `template: ` in front of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("template: {name}:{line}: {message}")]
pub struct ParseError {
    /// Name of the template file.
    pub name: Rc<str>,
    /// Line, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    /// As Helm shows it when a file of a chart does not parse.
    pub fn for_chart(&self, helm: HelmVersion) -> String {
        let _ = helm;
        // Helm shows what stands behind the last colon.
        let message = self.message.rsplit(": ").next().unwrap_or(&self.message);
        format!("parse error at ({}:{}): {message}", self.name, self.line)
    }
}

/// The templates of one source: its own body under its own name, and what it defines.
pub type Trees = BTreeMap<Rc<str>, Block>;

/// Nesting of parentheses and blocks beyond which a source is refused.
const MAX_NESTING: u32 = 150;

/// Parses a source as that Helm does. `is_function` tells which names are functions.
pub fn parse(
    name: &str,
    source: &[u8],
    helm: HelmVersion,
    is_function: &dyn Fn(&str) -> bool,
) -> Result<Trees, ParseError> {
    let eof = Token { kind: Kind::Eof, pos: 0, line: 1, text: Vec::new() };
    let mut parser = Parser {
        name: name.into(),
        lexer: Lexer::new(source, helm.has(Quirk::CountsCommentLines)),
        tokens: [eof.clone(), eof.clone(), eof],
        peeked: 0,
        vars: vec!["$".into()],
        assigned: Vec::new(),
        trees: Trees::new(),
        is_function,
        action_line: 0,
        range_depth: 0,
        nesting: 0,
    };
    parser.source()?;
    Ok(parser.trees)
}

/// Whether a body holds nothing but white space: such a definition does not replace another.
pub fn is_empty(body: &[Node]) -> bool {
    body.iter().all(|node| matches!(node, Node::Text(text, _) if text.bytes().iter().all(u8::is_ascii_whitespace)))
}

struct Parser<'a> {
    name: Rc<str>,
    lexer: Lexer<'a>,
    tokens: [Token; 3],
    peeked: usize,
    vars: Vec<Rc<str>>,
    /// Variables assigned so far, for the branches that are being read.
    assigned: Vec<Rc<str>>,
    trees: Trees,
    is_function: &'a dyn Fn(&str) -> bool,
    action_line: u32,
    range_depth: u32,
    nesting: u32,
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

/// What ended a list of nodes.
enum Ending {
    End(u32),
    Else(u32),
}

impl Ending {
    fn text(&self) -> &'static str {
        match self {
            Ending::End(_) => "{{end}}",
            Ending::Else(_) => "{{else}}",
        }
    }
}

/// A node, or what ends the list it stands in.
enum Item {
    Node(Node),
    Ending(Ending),
}

impl Parser<'_> {
    fn next(&mut self) -> Token {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.tokens[0] = self.lexer.token();
        }
        self.tokens[self.peeked].clone()
    }

    fn backup(&mut self) {
        self.peeked += 1;
    }

    fn backup2(&mut self, first: Token) {
        self.tokens[1] = first;
        self.peeked = 2;
    }

    fn backup3(&mut self, second: Token, first: Token) {
        self.tokens[1] = first;
        self.tokens[2] = second;
        self.peeked = 3;
    }

    fn peek(&mut self) -> Token {
        if self.peeked > 0 {
            return self.tokens[self.peeked - 1].clone();
        }
        self.peeked = 1;
        self.tokens[0] = self.lexer.token();
        self.tokens[0].clone()
    }

    fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.backup();
        token
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError { name: self.name.clone(), line: self.tokens[0].line, message: message.into() })
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Result<T> {
        if token.kind != Kind::Error {
            return self.fail(format!("unexpected {} in {context}", token.describe()));
        }
        let text = token.str();
        let mut extra = String::new();
        if self.action_line != 0 && self.action_line != token.line {
            extra = format!(" in action started at {}:{}", self.name, self.action_line);
            if text.ends_with(" action") {
                extra = extra.trim_start_matches(" in action").to_owned();
            }
        }
        self.fail(text + &extra)
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { self.unexpected(&token, context) }
    }

    fn nest(&mut self) -> Result<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING { self.fail(format!("nested deeper than {MAX_NESTING} levels")) } else { Ok(()) }
    }

    fn source(&mut self) -> Result<()> {
        let mut body = Vec::new();
        loop {
            let token = self.peek();
            if token.kind == Kind::Eof {
                break;
            }
            if token.kind == Kind::LeftDelim {
                let delim = self.next();
                if self.next_non_space().kind == Kind::Define {
                    self.definition()?;
                    continue;
                }
                self.backup2(delim);
            }
            match self.text_or_action()? {
                Item::Node(node) => body.push(node),
                Item::Ending(ending) => return self.fail(format!("unexpected {}", ending.text())),
            }
        }
        self.add(self.name.clone(), body.into())
    }

    fn add(&mut self, name: Rc<str>, body: Block) -> Result<()> {
        match self.trees.get(&name) {
            Some(old) if !is_empty(old) && !is_empty(&body) => {
                self.fail(format!("template: multiple definition of template {}", quote(&name)))
            }
            Some(old) if !is_empty(old) => Ok(()),
            _ => {
                self.trees.insert(name, body);
                Ok(())
            }
        }
    }

    fn definition(&mut self) -> Result<()> {
        const CONTEXT: &str = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        self.expect(Kind::RightDelim, CONTEXT)?;
        let body = self.template_body(CONTEXT)?;
        self.add(name, body)
    }

    /// A body that is a template of its own: with variables and loops of its own.
    fn template_body(&mut self, context: &str) -> Result<Block> {
        let vars = std::mem::replace(&mut self.vars, vec!["$".into()]);
        let depth = std::mem::take(&mut self.range_depth);
        let assigned = std::mem::take(&mut self.assigned);
        let (body, ending) = self.list()?;
        self.vars = vars;
        self.range_depth = depth;
        self.assigned = assigned;
        match ending {
            Ending::End(_) => Ok(body),
            Ending::Else(_) => self.fail(format!("unexpected {} in {context}", ending.text())),
        }
    }

    fn template_name(&mut self, token: &Token, context: &str) -> Result<Rc<str>> {
        match token.kind {
            Kind::Str | Kind::RawStr => {
                let text = self.unquote(token)?;
                Ok(text.lossy().into())
            }
            _ => self.unexpected(token, context),
        }
    }

    fn list(&mut self) -> Result<(Block, Ending)> {
        self.nest()?;
        let mut nodes = Vec::new();
        while self.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Item::Node(node) => nodes.push(node),
                Item::Ending(ending) => {
                    self.nesting -= 1;
                    return Ok((nodes.into(), ending));
                }
            }
        }
        self.fail("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Result<Item> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text(Text::new(token.text), token.pos))),
            Kind::LeftDelim => {
                self.action_line = token.line;
                let item = self.action();
                self.action_line = 0;
                item
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Result<Item> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break | Kind::Continue => return self.leave_loop(&token),
            Kind::Else => {
                let next = self.peek_non_space().kind;
                if !matches!(next, Kind::If | Kind::With) {
                    self.expect(Kind::RightDelim, "else")?;
                }
                return Ok(Item::Ending(Ending::Else(token.pos)));
            }
            Kind::End => {
                self.expect(Kind::RightDelim, "end")?;
                return Ok(Item::Ending(Ending::End(token.pos)));
            }
            Kind::If => Node::If(self.control(token.pos, "if")?),
            Kind::Range => Node::Range(self.control(token.pos, "range")?),
            Kind::With => Node::With(self.control(token.pos, "with")?),
            Kind::Template => self.invoke(token.pos)?,
            _ => {
                self.backup();
                Node::Action(self.pipeline("command", Kind::RightDelim)?)
            }
        };
        Ok(Item::Node(node))
    }

    fn leave_loop(&mut self, token: &Token) -> Result<Item> {
        let word = token.str();
        let next = self.next_non_space();
        if next.kind != Kind::RightDelim {
            return self.unexpected(&next, &format!("{{{{{word}}}}}"));
        }
        if self.range_depth == 0 {
            return self.fail(format!("{{{{{word}}}}} outside {{{{range}}}}"));
        }
        Ok(Item::Node(if token.kind == Kind::Break { Node::Break } else { Node::Continue }))
    }

    fn control(&mut self, pos: u32, context: &str) -> Result<Branch> {
        let vars = self.vars.len();
        let outer = std::mem::take(&mut self.assigned);
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        let loops = u32::from(context == "range");
        self.range_depth += loops;
        let (body, ending) = self.list()?;
        self.range_depth -= loops;
        let mut otherwise = None;
        let mut else_pos = None;
        let end = match ending {
            Ending::End(end) => end,
            Ending::Else(at) => {
                else_pos = Some(at);
                let next = self.peek();
                if (context == "if" && next.kind == Kind::If) || (context == "with" && next.kind == Kind::With) {
                    // `else if` is an `if` of its own inside the else, ended by the same `end`.
                    let token = self.next();
                    self.nest()?;
                    let branch = self.control(token.pos, context)?;
                    self.nesting -= 1;
                    let end = branch.end;
                    let node = if context == "if" { Node::If(branch) } else { Node::With(branch) };
                    otherwise = Some(vec![node].into());
                    end
                } else {
                    let (list, ending) = self.list()?;
                    otherwise = Some(list);
                    match ending {
                        Ending::End(end) => end,
                        Ending::Else(_) => return self.fail(format!("expected end; found {}", ending.text())),
                    }
                }
            }
        };
        self.vars.truncate(vars);
        let mut inner = std::mem::replace(&mut self.assigned, outer);
        inner.sort();
        inner.dedup();
        self.assigned.extend(inner.iter().cloned());
        Ok(Branch {
            pos,
            condition: pipe.to_string().into(),
            pipe,
            body,
            otherwise,
            else_pos,
            end,
            assigns: inner.into(),
        })
    }

    fn block(&mut self) -> Result<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Kind::RightDelim)?;
        let body = self.template_body(CONTEXT)?;
        self.add(name.clone(), body)?;
        Ok(Node::Template(Invoke { pos: token.pos, name, pipe: Some(pipe) }))
    }

    fn invoke(&mut self, _pos: u32) -> Result<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = if self.next_non_space().kind == Kind::RightDelim {
            None
        } else {
            self.backup();
            Some(self.pipeline(CONTEXT, Kind::RightDelim)?)
        };
        Ok(Node::Template(Invoke { pos: token.pos, name, pipe }))
    }

    fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipe> {
        self.nest()?;
        let pos = self.peek_non_space().pos;
        let mut pipe = Pipe { pos, assigns: false, decl: Vec::new(), commands: Vec::new() };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawStr
                | Kind::Str
                | Kind::Variable
                | Kind::LeftParen => {
                    self.backup();
                    let command = self.command()?;
                    pipe.commands.push(command);
                }
                _ => return self.unexpected(&token, context),
            }
        }
        if pipe.commands.is_empty() {
            return self.fail(format!("missing value for {context}"));
        }
        for (i, command) in pipe.commands.iter().enumerate().skip(1) {
            if command.args.first().is_some_and(Expr::is_constant) {
                return self.fail(format!("non executable command in pipeline stage {}", i + 1));
            }
        }
        self.nesting -= 1;
        Ok(pipe)
    }

    fn declarations(&mut self, pipe: &mut Pipe, context: &str) -> Result<()> {
        loop {
            let variable = self.peek_non_space();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            // Whether `$x foo` is a declaration shows only two tokens later.
            let adjacent = self.peek();
            let next = self.peek_non_space();
            if matches!(next.kind, Kind::Assign | Kind::Declare) {
                self.next_non_space();
                pipe.assigns = next.kind == Kind::Assign;
                self.declare(pipe, &variable);
                return Ok(());
            }
            if next.kind == Kind::Char && next.text == b"," {
                self.next_non_space();
                self.declare(pipe, &variable);
                if context == "range" && pipe.decl.len() < 2 {
                    match self.peek_non_space().kind {
                        Kind::Variable | Kind::RightDelim | Kind::RightParen => continue,
                        _ => return self.fail("range can only initialize variables"),
                    }
                }
                return self.fail(format!("too many declarations in {context}"));
            }
            if adjacent.kind == Kind::Space {
                self.backup3(variable, adjacent);
            } else {
                self.backup2(variable);
            }
            return Ok(());
        }
    }

    fn declare(&mut self, pipe: &mut Pipe, variable: &Token) {
        let name: Rc<str> = variable.str().into();
        pipe.decl.push(name.clone());
        self.vars.push(name.clone());
        self.assigned.push(name);
    }

    fn command(&mut self) -> Result<Command> {
        let pos = self.peek_non_space().pos;
        let mut args = Vec::new();
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                args.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.backup(),
                Kind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if args.is_empty() {
            return self.fail("empty command");
        }
        Ok(Command { pos, args })
    }

    fn operand(&mut self) -> Result<Option<Expr>> {
        let Some(term) = self.term()? else { return Ok(None) };
        let first = self.peek();
        if first.kind != Kind::Field {
            return Ok(Some(term));
        }
        let mut fields: Vec<Rc<str>> = Vec::new();
        while self.peek().kind == Kind::Field {
            let field = self.next().str();
            fields.push(field.trim_start_matches('.').into());
        }
        let pos = first.pos;
        let kind = match term.kind {
            ExprKind::Field(mut own) => {
                own.extend(fields);
                ExprKind::Field(own)
            }
            ExprKind::Variable(name, mut own) => {
                own.extend(fields);
                ExprKind::Variable(name, own)
            }
            ExprKind::Bool(_) | ExprKind::Str(..) | ExprKind::Number(_) | ExprKind::Nil | ExprKind::Dot => {
                return self.fail(format!("unexpected . after term {}", quote(&term.to_string())));
            }
            _ => ExprKind::Chain(Box::new(term), fields),
        };
        Ok(Some(Expr { pos, kind }))
    }

    fn term(&mut self) -> Result<Option<Expr>> {
        let token = self.next_non_space();
        let kind = match token.kind {
            Kind::Identifier => {
                let name = token.str();
                if !(self.is_function)(&name) {
                    return self.fail(format!("function {} not defined", quote(&name)));
                }
                ExprKind::Function(name.into())
            }
            Kind::Dot => ExprKind::Dot,
            Kind::Nil => ExprKind::Nil,
            Kind::Variable => {
                let name = token.str();
                if !self.vars.iter().any(|v| **v == *name) {
                    return self.fail(format!("undefined variable {}", quote(&name)));
                }
                ExprKind::Variable(name.into(), Vec::new())
            }
            Kind::Field => ExprKind::Field(vec![token.str().trim_start_matches('.').into()]),
            Kind::Bool => ExprKind::Bool(token.text == b"true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => ExprKind::Number(self.number(&token)?),
            Kind::LeftParen => ExprKind::Pipe(Box::new(self.pipeline("parenthesized pipeline", Kind::RightParen)?)),
            Kind::Str | Kind::RawStr => {
                let text = self.unquote(&token)?;
                ExprKind::Str(token.str().into(), text)
            }
            _ => {
                self.backup();
                return Ok(None);
            }
        };
        Ok(Some(Expr { pos: token.pos, kind }))
    }

    fn unquote(&self, token: &Token) -> Result<Text> {
        match super::constant::unquote(&token.text) {
            Some(bytes) => Ok(Text::new(bytes)),
            None => self.fail("invalid syntax"),
        }
    }

    fn number(&self, token: &Token) -> Result<Number> {
        super::constant::number(&token.str(), token.kind).or_else(|message| self.fail(message))
    }
}
