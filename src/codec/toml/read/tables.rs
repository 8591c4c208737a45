//! Tables of a TOML document while it is read, and which keys may still be defined.

use std::collections::{BTreeMap, BTreeSet};

use crate::value::{ListType, Text, Value};

/// What a key holds.
#[derive(Clone)]
pub(super) enum Node {
    Leaf(Value),
    /// An array that was written as one.
    List(Vec<Node>),
    /// A table, by number.
    Table(usize),
    /// What `[[a]]` makes.
    Tables(Vec<usize>),
}

/// All tables, and where the reader is.
pub(super) struct Tables {
    all: Vec<BTreeMap<Text, Node>>,
    /// The table that the reader is in.
    context: Vec<Text>,
    /// The key whose value is being read.
    pub(super) key: Text,
    /// Tables that nobody has defined so far: they stand above others.
    implied: BTreeSet<String>,
    /// Keys whose values are arrays that were written as one.
    arrays: BTreeSet<String>,
    /// Inline tables that are being read.
    inline: Vec<usize>,
    /// As the library before H-29 has it.
    pub(super) old: bool,
}

impl Tables {
    pub(super) fn new(old: bool) -> Self {
        Tables {
            all: vec![BTreeMap::new()],
            context: Vec::new(),
            key: Text::default(),
            implied: BTreeSet::new(),
            arrays: BTreeSet::new(),
            inline: Vec::new(),
            old,
        }
    }

    pub(super) fn context(&self) -> &[Text] {
        &self.context
    }

    pub(super) fn leave_to(&mut self, context: Vec<Text>) {
        self.context = context;
    }

    /// The key that errors name.
    pub(super) fn last_key(&self) -> String {
        let key = self.key.lossy();
        match (self.context.is_empty(), key.is_empty()) {
            (_, true) => dotted(&self.context),
            (true, _) => key.into_owned(),
            _ => format!("{}.{key}", dotted(&self.context)),
        }
    }

    fn fresh(&mut self) -> usize {
        self.all.push(BTreeMap::new());
        self.all.len() - 1
    }

    /// Goes to a table, making those above it on the way: `[a.b]`, or one more of `[[a.b]]`.
    pub(super) fn enter(&mut self, path: &[Text], array: bool) -> Result<(), String> {
        let Some((last, parents)) = path.split_last() else { return Ok(()) };
        let mut table = 0;
        for (i, part) in parents.iter().enumerate() {
            if !self.all[table].contains_key(part) {
                self.implied.insert(dotted(&parents[..=i]));
                let fresh = self.fresh();
                self.all[table].insert(part.clone(), Node::Table(fresh));
            }
            table = match self.all[table].get(part) {
                Some(Node::Table(below)) => *below,
                Some(Node::Tables(list)) => list.last().copied().unwrap_or_default(),
                _ => return Err(format!("Key '{}' was already created as a hash.", dotted(&parents[..=i]))),
            };
        }
        self.context = parents.to_vec();
        let fresh = self.fresh();
        if array {
            match self.all[table].entry(last.clone()).or_insert_with(|| Node::Tables(Vec::new())) {
                Node::Tables(list) => list.push(fresh),
                _ => {
                    let key = dotted(path);
                    return Err(format!("Key '{key}' was already created and cannot be used as an array."));
                }
            }
        } else {
            self.set(last, Node::Table(fresh))?;
        }
        self.context.push(last.clone());
        Ok(())
    }

    /// Goes through a part of a dotted key.
    pub(super) fn pass(&mut self, part: &Text) -> Result<(), String> {
        let mut path = self.context.clone();
        path.push(part.clone());
        self.implied.insert(dotted(&path));
        self.enter(&path, false)
    }

    /// Gives a key of the present table its value.
    pub(super) fn set(&mut self, key: &Text, value: Node) -> Result<(), String> {
        let mut table = 0;
        for (i, part) in self.context.iter().enumerate() {
            table = match self.all[table].get(part) {
                Some(Node::Table(below)) => *below,
                Some(Node::Tables(list)) => list.last().copied().unwrap_or_default(),
                _ => return Err(format!("Key '{}' has already been defined.", dotted(&self.context[..=i]))),
            };
        }
        let mut path = self.context.clone();
        path.push(key.clone());
        let name = dotted(&path);
        if !self.all[table].contains_key(key) {
            self.all[table].insert(key.clone(), value);
            return Ok(());
        }
        let implied = self.implied.contains(&name);
        let is_array = self.arrays.contains(&name);
        let redefinable = is_array && self.old;
        if !implied && !redefinable {
            return Err(format!("Key '{name}' has already been defined."));
        }
        self.implied.remove(&name);
        if is_array {
            self.all[table].insert(key.clone(), value);
        }
        Ok(())
    }

    /// Remembers what the present key, or with an empty one the present table, is.
    pub(super) fn note(&mut self, key: &Text, is_array: bool) {
        let mut path = self.context.clone();
        if !key.is_empty() || path.is_empty() {
            path.push(key.clone());
        }
        let name = dotted(&path);
        if is_array {
            self.arrays.insert(name);
        } else {
            self.arrays.remove(&name);
        }
    }

    /// As [`Tables::note`], for the key whose value is being read.
    pub(super) fn note_key(&mut self, is_array: bool) {
        let key = self.key.clone();
        self.note(&key, is_array);
    }

    /// An inline table is the value of the present key, or of an element of it.
    pub(super) fn begin_inline(&mut self, in_array: bool) -> Result<(), String> {
        let mut path = self.context.clone();
        path.push(std::mem::take(&mut self.key));
        self.context.clone_from(&path);
        self.implied.insert(dotted(&path));
        self.enter(&path, in_array)?;
        let own = self.fresh();
        self.inline.push(own);
        Ok(())
    }

    /// The inline table that was read.
    pub(super) fn end_inline(&mut self) -> Node {
        Node::Table(self.inline.pop().unwrap_or_default())
    }

    /// Gives a key of the inline table its value, once more: what an element of an array becomes does not depend on
    /// the others.
    pub(super) fn set_inside(&mut self, parents: &[Text], key: &Text, value: Node) -> Result<(), String> {
        let Some(mut table) = self.inline.last().copied() else { return Ok(()) };
        for part in parents {
            if !self.all[table].contains_key(part) {
                let fresh = self.fresh();
                self.all[table].insert(part.clone(), Node::Table(fresh));
            }
            table = match self.all[table].get(part) {
                Some(Node::Table(below)) => *below,
                _ => return Err(format!("{} is not a table", super::quote(dotted(&self.context).as_bytes()))),
            };
        }
        self.all[table].insert(key.clone(), value);
        Ok(())
    }

    /// The document.
    pub(super) fn into_value(mut self) -> Value {
        self.table(0)
    }

    fn table(&mut self, number: usize) -> Value {
        let entries = self.all[number].clone();
        Value::map(entries.into_iter().map(|(key, node)| (key, self.value(node))).collect())
    }

    fn value(&mut self, node: Node) -> Value {
        match node {
            Node::Leaf(value) => value,
            Node::List(items) => Value::list(items.into_iter().map(|item| self.value(item)).collect()),
            Node::Table(number) => self.table(number),
            Node::Tables(numbers) => {
                let tables = numbers.into_iter().map(|number| self.table(number)).collect();
                Value::typed_list(tables, ListType::Maps)
            }
        }
    }
}

/// A key as errors show it: parts that are not plain stand in quotes.
fn dotted(path: &[Text]) -> String {
    let mut out = String::new();
    for (i, part) in path.iter().enumerate() {
        if i > 0 {
            out.push('.');
        }
        let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if !part.is_empty() && part.bytes().iter().all(plain) {
            out.push_str(&part.lossy());
        } else {
            out.push('"');
            out.push_str(&super::super::escape(&part.lossy()));
            out.push('"');
        }
    }
    out
}
