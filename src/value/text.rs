//! Go strings: any bytes, with the origins of byte ranges.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::origin::{OriginSet, Origins};

/// The bytes `start..end` of a text came from `origins`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Where the bytes came from; never empty.
    pub origins: OriginSet,
}

#[derive(Debug, Default)]
struct Data {
    bytes: Box<[u8]>,
    marks: Box<[Mark]>,
}

/// An immutable Go string. Equality, order and hash look at the bytes alone.
///
/// Marks are sorted, do not overlap, and leave out ranges that came from the chart itself. Cloning is one counter.
#[derive(Clone, Default)]
pub struct Text(Rc<Data>);

impl Text {
    /// A text without marks.
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Text(Rc::new(Data { bytes: bytes.into(), marks: Box::default() }))
    }

    /// A text whose every byte came from `origins`.
    pub fn marked(bytes: impl Into<Box<[u8]>>, origins: OriginSet) -> Self {
        let bytes = bytes.into();
        let marks: Box<[Mark]> = if origins.is_empty() || bytes.is_empty() {
            Box::default()
        } else {
            Box::new([Mark { start: 0, end: bytes.len() as u32, origins }])
        };
        Text(Rc::new(Data { bytes, marks }))
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The text for people; invalid UTF-8 is replaced.
    pub fn lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0.bytes)
    }

    /// The bytes as UTF-8, if they are.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0.bytes).ok()
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.bytes.len()
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.0.bytes.is_empty()
    }

    /// The origins of byte ranges.
    #[inline]
    pub fn marks(&self) -> &[Mark] {
        &self.0.marks
    }

    /// The bytes `start..end` with their marks.
    ///
    /// # Panics
    /// If the range is not inside the text.
    pub fn slice(&self, start: usize, end: usize) -> Text {
        if start == 0 && end == self.len() {
            return self.clone();
        }
        let mut builder = TextBuilder::default();
        builder.push_slice(self, start, end);
        builder.finish()
    }

    /// The union of all marks.
    pub fn mark_union(&self, origins: &Origins) -> OriginSet {
        match self.marks() {
            [] => OriginSet::EMPTY,
            [mark] => mark.origins,
            marks => origins.union_all(marks.iter().map(|m| m.origins)),
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.lossy(), f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}
impl Eq for Text {}
impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}
impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}
impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}
impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::new(text.as_bytes())
    }
}
impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::new(text.into_bytes())
    }
}
impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Text::new(bytes)
    }
}

/// Builds a [`Text`] piece by piece, keeping the marks of what goes in.
#[derive(Debug, Default)]
pub struct TextBuilder {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

impl TextBuilder {
    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds bytes that came from `origins` (empty for constants).
    pub fn push(&mut self, bytes: &[u8], origins: OriginSet) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.mark(start, self.bytes.len(), origins);
    }

    /// Adds a text with its marks.
    pub fn push_text(&mut self, text: &Text) {
        self.push_slice(text, 0, text.len());
    }

    /// Adds `text[start..end]` with the marks of that range.
    pub fn push_slice(&mut self, text: &Text, start: usize, end: usize) {
        let base = self.bytes.len();
        self.bytes.extend_from_slice(&text.bytes()[start..end]);
        for mark in text.marks() {
            let from = (mark.start as usize).max(start);
            let to = (mark.end as usize).min(end);
            if from < to {
                self.mark(base + from - start, base + to - start, mark.origins);
            }
        }
    }

    /// Adds a text whose every byte additionally came from `context` (a branch it stands in).
    pub fn push_under(&mut self, text: &Text, context: OriginSet, origins: &Origins) {
        if context.is_empty() {
            return self.push_text(text);
        }
        let base = self.bytes.len();
        self.bytes.extend_from_slice(text.bytes());
        let mut at = 0;
        for mark in text.marks() {
            self.mark(base + at, base + mark.start as usize, context);
            self.mark(base + mark.start as usize, base + mark.end as usize, origins.union(mark.origins, context));
            at = mark.end as usize;
        }
        self.mark(base + at, base + text.len(), context);
    }

    fn mark(&mut self, start: usize, end: usize, origins: OriginSet) {
        if start >= end || origins.is_empty() {
            return;
        }
        if let Some(last) = self.marks.last_mut()
            && last.end as usize == start
            && last.origins == origins
        {
            last.end = end as u32;
            return;
        }
        self.marks.push(Mark { start: start as u32, end: end as u32, origins });
    }

    /// The finished text.
    pub fn finish(self) -> Text {
        Text(Rc::new(Data { bytes: self.bytes.into_boxed_slice(), marks: self.marks.into_boxed_slice() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::origin::Origin;

    #[test]
    fn marks_follow_their_bytes_through_slices_and_joins() {
        let origins = Origins::new(true);
        let fact = origins.only(Origin::KubeVersion);
        let mut builder = TextBuilder::default();
        builder.push(b"version: ", OriginSet::EMPTY);
        builder.push(b"1.30", fact);
        let text = builder.finish();
        let tail = text.slice(7, 11);
        assert_eq!(tail.bytes(), b": 1.");
        assert_eq!(tail.marks(), [Mark { start: 2, end: 4, origins: fact }]);
    }
}
