//! Trees of nodes with their places in the text.

use std::collections::HashMap;

use super::MAX_DEPTH;
use super::event::{Event, Events, StandIns, YamlError, incompatible_version, question_mark};

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pos {
    /// Bytes before it.
    pub offset: usize,
    /// Line, from 1.
    pub line: u32,
    /// Character in the line, from 1.
    pub column: u32,
}

/// A stretch of text, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Its first byte.
    pub start: Pos,
    /// One past its last byte.
    pub end: Pos,
}

impl Span {
    /// The byte range.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start.offset..self.end.offset.max(self.start.offset)
    }
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// `text`
    #[default]
    Plain,
    /// `'text'`
    Single,
    /// `"text"`
    Double,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// What a node is.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'d> {
    /// A scalar: its text with escapes and folding undone, and how it was written.
    Scalar(&'d str, Style),
    /// A mapping: see [`Node::entries`].
    Map,
    /// A sequence: see [`Node::items`].
    Seq,
    /// A reference to an anchor before it, in its tree: see [`Node::target`].
    Alias,
}

#[derive(Debug)]
enum Data {
    Scalar(Box<str>, Style),
    Map(Vec<(u32, u32)>),
    Seq(Vec<u32>),
    Alias(u32),
}

#[derive(Debug)]
struct NodeData {
    data: Data,
    tag: Option<Box<str>>,
    anchor: Option<Box<str>>,
    flow: bool,
    span: Span,
}

/// One document of a stream. All its nodes live in one table, so that aliases are numbers and dropping is flat.
#[derive(Debug)]
pub struct Document {
    nodes: Vec<NodeData>,
    root: u32,
    /// Whether it began with `---`.
    pub explicit: bool,
}

/// A node of a document; as cheap as a reference.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    document: &'d Document,
    id: u32,
}

/// One step from a node to a node inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'s> {
    /// The value of the key with that text (the last one, which wins).
    Key(&'s str),
    /// The element with that index.
    Index(usize),
}

impl Document {
    /// The root node.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, id: self.root }
    }
}

impl<'d> Node<'d> {
    fn raw(self) -> &'d NodeData {
        &self.document.nodes[self.id as usize]
    }

    fn at(self, id: u32) -> Node<'d> {
        Node { document: self.document, id }
    }

    /// Its number in the document: equal numbers are the same node.
    pub fn id(self) -> u32 {
        self.id
    }

    /// What it is.
    pub fn kind(self) -> Kind<'d> {
        match &self.raw().data {
            Data::Scalar(text, style) => Kind::Scalar(text, *style),
            Data::Map(_) => Kind::Map,
            Data::Seq(_) => Kind::Seq,
            Data::Alias(_) => Kind::Alias,
        }
    }

    /// The explicit tag, resolved (`tag:yaml.org,2002:str`); `!` alone is kept.
    pub fn tag(self) -> Option<&'d str> {
        self.raw().tag.as_deref()
    }

    /// The name given with `&`.
    pub fn anchor(self) -> Option<&'d str> {
        self.raw().anchor.as_deref()
    }

    /// Where it stands, properties included. A block collection ends where its last entry does or later, at the next
    /// token.
    pub fn span(self) -> Span {
        self.raw().span
    }

    /// The node an alias means; any other node is its own target.
    pub fn target(self) -> Node<'d> {
        match self.raw().data {
            Data::Alias(id) => self.at(id),
            _ => self,
        }
    }

    /// The scalar's text, if it is a scalar (not through aliases).
    pub fn text(self) -> Option<&'d str> {
        match &self.raw().data {
            Data::Scalar(text, _) => Some(text),
            _ => None,
        }
    }

    /// Keys and values in the order of the text; empty for anything but a mapping.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (Node<'d>, Node<'d>)> + DoubleEndedIterator {
        let pairs: &'d [(u32, u32)] = match &self.raw().data {
            Data::Map(pairs) => pairs,
            _ => &[],
        };
        pairs.iter().map(move |(k, v)| (self.at(*k), self.at(*v)))
    }

    /// The elements; empty for anything but a sequence.
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'d>> + DoubleEndedIterator {
        let ids: &'d [u32] = match &self.raw().data {
            Data::Seq(ids) => ids,
            _ => &[],
        };
        ids.iter().map(move |id| self.at(*id))
    }

    /// The key and value nodes of a key, by the key's resolved text (F-44b); the last one wins. Merge keys are not
    /// looked into.
    pub fn entry(self, key: &str) -> Option<(Node<'d>, Node<'d>)> {
        self.target().entries().rev().find(|(k, _)| super::resolve::key_text(*k).is_ok_and(|t| t == key))
    }

    /// The node at the end of a path, through aliases.
    pub fn get<'s>(self, path: impl IntoIterator<Item = Step<'s>>) -> Option<Node<'d>> {
        let mut node = self.target();
        for step in path {
            node = match step {
                Step::Key(key) => node.entry(key)?.1,
                Step::Index(index) => node.items().nth(index)?,
            }
            .target();
        }
        Some(node)
    }
}

/// Parses the first document; `None` if the stream has none. What follows it is not looked at, as in Go (F-44).
pub fn parse_first(input: &[u8]) -> Result<Option<Document>, YamlError> {
    as_go_reads(input, |mut stream| stream.document())
}

/// Parses every document of the stream.
pub fn parse_all(input: &[u8]) -> Result<Vec<Document>, YamlError> {
    as_go_reads(input, |mut stream| {
        let mut documents = Vec::new();
        while let Some(document) = stream.document()? {
            documents.push(document);
        }
        Ok(documents)
    })
}

/// How often [`as_go_reads`] puts others in the place of odd characters.
const MAX_ODD: usize = 100;

/// Reads a text with Go's view of some characters, by putting others, which the text does not hold, in their place:
///
/// - a colon before a flow indicator (`{x:}`) is part of the key to Go, where libyaml stops;
/// - a backslash in double quotes may stand before a single quote;
/// - tags may hold flow indicators (`!a,b`);
/// - a byte order mark at the start of a later line is text to Go (F-44d), where libyaml drops it.
fn as_go_reads<T>(input: &[u8], read: impl Fn(Stream<'_>) -> Result<T, YamlError>) -> Result<T, YamlError> {
    let mut stand_ins = StandIns::default();
    let mut text = std::borrow::Cow::Borrowed(input);
    if input.contains(&BOM[0]) && input.windows(4).any(|w| w[1..] == *BOM && matches!(w[0], b'\n' | b'\r')) {
        stand_ins.bom = ('\u{E000}'..'\u{E100}').find(|c| !contains(input, c.encode_utf8(&mut [0; 4]).as_bytes()));
        if let Some(bom) = stand_ins.bom {
            let mut buffer = [0; 4];
            let bom = bom.encode_utf8(&mut buffer).as_bytes();
            let changed = text.to_mut();
            for at in 1..changed.len().saturating_sub(2) {
                if changed[at..at + 3] == *BOM && bom.len() == 3 {
                    changed[at..at + 3].copy_from_slice(bom);
                }
            }
        }
    }
    let mut result = read(Stream::new(&text, stand_ins));
    for _ in 0..MAX_ODD {
        let Err(YamlError { odd: Some(at), .. }) = result else { break };
        let unused = |taken: Option<u8>| {
            b"^$;/()=+<_\\~zqxjZQXJ".iter().copied().find(|b| !input.contains(b) && Some(*b) != taken)
        };
        match text.get(at..).unwrap_or_default() {
            [b':', ..] => {
                stand_ins.colon = stand_ins.colon.or_else(|| unused(stand_ins.backslash));
                let Some(byte) = stand_ins.colon else { break };
                text.to_mut()[at] = byte;
            }
            [b'\\', b'\'', ..] => {
                stand_ins.backslash = stand_ins.backslash.or_else(|| unused(stand_ins.colon));
                let Some(byte) = stand_ins.backslash else { break };
                escaped_quotes(text.to_mut(), at, byte);
            }
            // Any letter does: nothing is known of such a tag.
            [b',' | b'[' | b']', ..] => text.to_mut()[at] = b'x',
            _ => break,
        }
        result = read(Stream::new(&text, stand_ins));
    }
    result
}

/// Replaces the backslashes of `\'` from a place in double quotes up to the quote that ends the scalar.
fn escaped_quotes(text: &mut [u8], mut at: usize, byte: u8) {
    while at + 1 < text.len() && text[at] != b'"' {
        match text[at..] {
            [b'\\', b'\'', ..] => text[at] = byte,
            [b'\\', ..] => at += 1,
            _ => {}
        }
        at += 1;
    }
}

const BOM: &[u8; 3] = b"\xEF\xBB\xBF";

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}

struct Stream<'a> {
    events: Events<'a>,
    input: &'a [u8],
    done: bool,
}

/// A collection whose end was not met yet.
struct Open {
    id: u32,
    /// The key that waits for its value.
    key: Option<u32>,
}

impl<'a> Stream<'a> {
    fn new(input: &'a [u8], stand_ins: StandIns) -> Self {
        Stream { events: Events::new(input, stand_ins), input, done: false }
    }

    fn document(&mut self) -> Result<Option<Document>, YamlError> {
        if self.done {
            return Ok(None);
        }
        let explicit = loop {
            match self.events.next().map_err(|error| incompatible_version(self.input).unwrap_or(error))?.0 {
                Event::DocumentStart { explicit } => break explicit,
                Event::StreamEnd => {
                    self.done = true;
                    return Ok(None);
                }
                _ => {}
            }
        };
        let mut document = Document { nodes: Vec::new(), root: 0, explicit };
        let mut anchors: HashMap<String, u32> = HashMap::new();
        let mut open: Vec<Open> = Vec::new();
        loop {
            let (event, span) = self.events.next()?;
            let (data, anchor, tag, flow) = match event {
                Event::DocumentEnd | Event::StreamEnd => {
                    if document.nodes.is_empty() {
                        let data = Data::Scalar("".into(), Style::Plain);
                        document.nodes.push(NodeData { data, tag: None, anchor: None, flow: false, span });
                    }
                    return Ok(Some(document));
                }
                Event::SeqEnd | Event::MapEnd => {
                    if let Some(closed) = open.pop() {
                        document.nodes[closed.id as usize].span.end = span.end;
                    }
                    continue;
                }
                Event::Alias(name) => {
                    let Some(target) = anchors.get(&name) else {
                        let problem = format!("unknown anchor '{name}' referenced");
                        return Err(YamlError::plain(problem, Some(span.start.line)));
                    };
                    (Data::Alias(*target), None, None, false)
                }
                Event::Scalar { anchor, tag, text, style } => {
                    let parent = open.last().map(|o| &document.nodes[o.id as usize]).filter(|p| p.flow);
                    if let Some(parent) = parent
                        && style == Style::Plain
                        && text.find('?').is_some_and(|at| at > 0)
                    {
                        let raw = self.input.get(span.range()).unwrap_or_default();
                        // A pair in a list is a map without braces of its own.
                        let braced = self.input.get(parent.span.start.offset) == Some(&b'{')
                            || parent.anchor.is_some()
                            || parent.tag.is_some();
                        return Err(question_mark(raw, span, braced && matches!(parent.data, Data::Map(_))));
                    }
                    (Data::Scalar(text.into(), style), anchor, tag, false)
                }
                Event::SeqStart { anchor, tag, flow } => (Data::Seq(Vec::new()), anchor, tag, flow),
                Event::MapStart { anchor, tag, flow } => (Data::Map(Vec::new()), anchor, tag, flow),
                Event::StreamStart | Event::DocumentStart { .. } => continue,
            };
            let id = document.nodes.len() as u32;
            if let Some(name) = &anchor {
                anchors.insert(name.clone(), id);
            }
            let is_collection = matches!(data, Data::Seq(_) | Data::Map(_));
            document.nodes.push(NodeData {
                data,
                tag: tag.map(Into::into),
                anchor: anchor.map(Into::into),
                flow,
                span,
            });
            if let Some(parent) = open.last_mut() {
                match &mut document.nodes[parent.id as usize].data {
                    Data::Seq(items) => items.push(id),
                    Data::Map(pairs) => match parent.key.take() {
                        Some(key) => pairs.push((key, id)),
                        None => parent.key = Some(id),
                    },
                    _ => {}
                }
            }
            if is_collection {
                if open.len() >= MAX_DEPTH {
                    let problem = format!("exceeded max depth of {MAX_DEPTH}");
                    return Err(YamlError::plain(problem, Some(span.start.line)));
                }
                open.push(Open { id, key: None });
            }
        }
    }
}
