//! Words to a tree.

use super::token::{Token, words};
use super::value::Value;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A literal.
    Literal(Value<'static>),
    /// A variable.
    Name(String),
    /// `a.b`
    Field(Box<Node>, String),
    /// `has(a.b)`
    Has(Box<Node>, String),
    /// An operator or a function; with `true`, the first argument stood before a dot.
    Call(String, bool, Vec<Node>),
    /// `a ? b : c`
    Choice(Box<[Node; 3]>),
    /// `[a, b]`
    List(Vec<Node>),
    /// `{a: b}`
    Map(Vec<(Node, Node)>),
    /// A macro over a list or the keys of a map: its name, what it goes over, the variable, and what it asks of each.
    Each(&'static str, Box<Node>, String, Vec<Node>),
}

/// Deepest nesting.
const MAX_DEPTH: usize = 60;

/// Names that no variable has.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Reads an expression.
pub fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser { words: words(text)?, at: 0, depth: 0 };
    let node = parser.expression()?;
    match parser.words.get(parser.at) {
        None => Ok(node),
        Some(_) => Err("Syntax error: more behind the end of the expression".into()),
    }
}

struct Parser {
    words: Vec<Token>,
    at: usize,
    depth: usize,
}

fn call(name: &str, args: Vec<Node>) -> Node {
    Node::Call(name.to_owned(), false, args)
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.words.get(self.at)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(format!("Syntax error: expecting '{sign}'")) }
    }

    fn expression(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("expression recursion limit exceeded".into());
        }
        let mut node = self.either()?;
        if self.take("?") {
            let yes = self.either()?;
            self.expect(":")?;
            node = Node::Choice(Box::new([node, yes, self.expression()?]));
        }
        self.depth -= 1;
        Ok(node)
    }

    fn either(&mut self) -> Result<Node, String> {
        let mut node = self.both()?;
        while self.take("||") {
            node = call("||", vec![node, self.both()?]);
        }
        Ok(node)
    }

    fn both(&mut self) -> Result<Node, String> {
        let mut node = self.relation()?;
        while self.take("&&") {
            node = call("&&", vec![node, self.relation()?]);
        }
        Ok(node)
    }

    fn relation(&mut self) -> Result<Node, String> {
        let mut node = self.sum()?;
        loop {
            let sign = match self.peek() {
                Some(Token::Sign(sign @ ("==" | "!=" | "<" | "<=" | ">" | ">="))) => *sign,
                Some(Token::Name(name)) if name == "in" => "in",
                _ => return Ok(node),
            };
            self.at += 1;
            node = call(sign, vec![node, self.sum()?]);
        }
    }

    fn sum(&mut self) -> Result<Node, String> {
        let mut node = self.product()?;
        while let Some(Token::Sign(sign @ ("+" | "-"))) = self.peek().cloned() {
            self.at += 1;
            node = call(sign, vec![node, self.product()?]);
        }
        Ok(node)
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut node = self.unary()?;
        while let Some(Token::Sign(sign @ ("*" | "/" | "%"))) = self.peek().cloned() {
            self.at += 1;
            node = call(sign, vec![node, self.unary()?]);
        }
        Ok(node)
    }

    fn unary(&mut self) -> Result<Node, String> {
        let Some(sign) = ["!", "-"].into_iter().find(|sign| self.is(sign)) else { return self.member() };
        let mut count = 0;
        while self.take(sign) {
            count += 1;
        }
        let node = self.member()?;
        // The sign of a literal number is a part of it.
        let node = match node {
            Node::Literal(Value::Int(number)) if sign == "-" => {
                count -= 1;
                Node::Literal(Value::Int(number.wrapping_neg()))
            }
            Node::Literal(Value::Double(number)) if sign == "-" => {
                count -= 1;
                Node::Literal(Value::Double(-number))
            }
            node => node,
        };
        Ok((0..count.min(MAX_DEPTH)).fold(node, |node, _| call(sign, vec![node])))
    }

    fn member(&mut self) -> Result<Node, String> {
        let mut node = self.primary()?;
        let mut length = 0;
        loop {
            length += 1;
            if length > 4 * MAX_DEPTH {
                return Err("expression recursion limit exceeded".into());
            }
            if self.take(".") {
                let Some(Token::Name(name)) = self.peek().cloned().filter(|t| *t != Token::Name("in".into())) else {
                    return Err("Syntax error: expecting a name behind '.'".into());
                };
                self.at += 1;
                node = match self.take("(") {
                    true => {
                        let args = self.list(")")?;
                        method(node, name, args)?
                    }
                    false => Node::Field(Box::new(node), name),
                };
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                node = call("[]", vec![node, index]);
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> Result<Node, String> {
        if self.take("(") {
            let node = self.expression()?;
            self.expect(")")?;
            return Ok(node);
        }
        if self.take("[") {
            return Ok(Node::List(self.list("]")?));
        }
        if self.take("{") {
            return self.map();
        }
        self.take(".");
        match self.peek().cloned() {
            Some(Token::Literal(value)) => {
                self.at += 1;
                // The one number that only its sign makes possible.
                let signed = self.at >= 2 && self.words.get(self.at - 2) == Some(&Token::Sign("-"));
                match value {
                    Value::Int(i64::MIN) if !signed => Err("Syntax error: invalid int literal".into()),
                    value => Ok(Node::Literal(value)),
                }
            }
            Some(Token::Name(name)) if !RESERVED.contains(&name.as_str()) => {
                self.at += 1;
                if !self.take("(") {
                    return Ok(Node::Name(name));
                }
                let mut args = self.list(")")?;
                match (name.as_str(), args.as_mut_slice()) {
                    ("has", [Node::Field(..)]) => match args.pop() {
                        Some(Node::Field(of, field)) => Ok(Node::Has(of, field)),
                        _ => Err("invalid argument to has() macro".into()),
                    },
                    ("has", _) => Err("invalid argument to has() macro".into()),
                    _ => Ok(Node::Call(name, false, args)),
                }
            }
            Some(Token::Name(name)) => Err(format!("Syntax error: reserved identifier: {name}")),
            Some(Token::Sign(sign)) => Err(format!("Syntax error: mismatched input '{sign}'")),
            None => Err("Syntax error: mismatched input '<EOF>'".into()),
        }
    }

    /// Expressions up to a bracket; a comma may stand before that of a list.
    fn list(&mut self, end: &'static str) -> Result<Vec<Node>, String> {
        let mut all = Vec::new();
        while !self.take(end) {
            all.push(self.expression()?);
            if self.take(end) {
                break;
            }
            self.expect(",")?;
            if self.is(end) && end == ")" {
                return Err("Syntax error: mismatched input ')'".into());
            }
        }
        Ok(all)
    }

    fn map(&mut self) -> Result<Node, String> {
        let mut all = Vec::new();
        while !self.take("}") {
            let key = self.expression()?;
            self.expect(":")?;
            all.push((key, self.expression()?));
            if self.take("}") {
                break;
            }
            self.expect(",")?;
        }
        Ok(Node::Map(all))
    }
}

/// A function behind a dot, or a macro.
fn method(target: Node, name: String, mut args: Vec<Node>) -> Result<Node, String> {
    let each = ["all", "exists", "exists_one", "map", "filter"].into_iter().find(|each| *each == name);
    let most = if name == "map" { 3 } else { 2 };
    match each.filter(|_| (2..=most).contains(&args.len())) {
        Some(each) => match args.remove(0) {
            Node::Name(variable) => Ok(Node::Each(each, Box::new(target), variable, args)),
            _ => Err("argument must be a simple name".into()),
        },
        None => match target {
            // What looks like a variable is the first half of the function's name.
            Node::Name(library) if ["sets", "base64", "strings"].contains(&library.as_str()) => {
                Ok(call(&format!("{library}.{name}"), args))
            }
            target => {
                args.insert(0, target);
                Ok(Node::Call(name, true, args))
            }
        },
    }
}
