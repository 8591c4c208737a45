//! Go strings: any bytes, with the origins of byte ranges.

use std::borrow::Borrow;
use std::cell::{Cell, OnceCell};
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

/// Texts of this many bytes are not copied when something is put behind them.
const LONG: usize = 1024;

#[derive(Default)]
struct Data {
    /// All of the text, or what stands behind the front.
    tail: Flat,
    /// What the tail stands behind: a text that grows in a loop is not copied in each turn.
    front: Option<Box<Front>>,
    /// The union of all marks, once it is known.
    union: Cell<Option<OriginSet>>,
}

struct Front {
    text: Text,
    /// Length of `text`.
    len: usize,
    /// Front and tail in one piece, made when first asked for.
    whole: OnceCell<Flat>,
}

/// Bytes and their marks; those of a tail count from the start of the whole.
#[derive(Default)]
struct Flat {
    bytes: Box<[u8]>,
    marks: Box<[Mark]>,
}

impl Data {
    fn new(tail: Flat, front: Option<Text>) -> Self {
        let front = front.map(|text| Box::new(Front { len: text.len(), text, whole: OnceCell::new() }));
        Data { tail, front, union: Cell::new(None) }
    }

    fn len(&self) -> usize {
        self.front.as_ref().map_or(0, |front| front.len) + self.tail.bytes.len()
    }

    /// What there is in one piece: the whole, if it was asked for, else the tail.
    fn piece(&self) -> &Flat {
        self.front.as_ref().and_then(|front| front.whole.get()).unwrap_or(&self.tail)
    }

    fn whole(&self) -> &Flat {
        match &self.front {
            None => &self.tail,
            Some(front) => front.whole.get_or_init(|| self.joined()),
        }
    }

    /// Whether its bytes lie in several pieces.
    fn is_scattered(&self) -> bool {
        self.front.as_ref().is_some_and(|front| front.whole.get().is_none())
    }

    /// This and its fronts, the last first, down to one that is in one piece or `known`.
    fn pieces(&self, known: impl Fn(&Data) -> bool) -> Vec<&Data> {
        let mut pieces = vec![self];
        let mut last = self;
        while let Some(front) = last.front.as_ref().filter(|_| last.is_scattered() && !known(last)) {
            last = &front.text.0;
            pieces.push(last);
        }
        pieces
    }

    fn joined(&self) -> Flat {
        let mut out = TextBuilder { bytes: Vec::with_capacity(self.len()), ..TextBuilder::default() };
        for piece in self.pieces(|_| false).into_iter().rev().map(Data::piece) {
            out.bytes.extend_from_slice(&piece.bytes);
            piece.marks.iter().for_each(|mark| out.mark(mark.start as usize, mark.end as usize, mark.origins));
        }
        Flat { bytes: out.bytes.into(), marks: out.marks.into() }
    }
}

impl Drop for Data {
    /// One front after the other: a long chain would not fit on the stack.
    fn drop(&mut self) {
        let mut front = self.front.take();
        while let Some(mut data) = front.and_then(|front| Rc::try_unwrap(front.text.0).ok()) {
            front = data.front.take();
        }
    }
}

/// An immutable Go string. Equality, order and hash look at the bytes alone.
///
/// Marks are sorted, do not overlap, and leave out ranges that came from the chart itself. Cloning is one counter.
#[derive(Clone, Default)]
pub struct Text(Rc<Data>);

impl Text {
    /// A text without marks.
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Text(Rc::new(Data::new(Flat { bytes: bytes.into(), marks: Box::default() }, None)))
    }

    /// A text whose every byte came from `origins`.
    pub fn marked(bytes: impl Into<Box<[u8]>>, origins: OriginSet) -> Self {
        let bytes = bytes.into();
        let marks: Box<[Mark]> = if origins.is_empty() || bytes.is_empty() {
            Box::default()
        } else {
            Box::new([Mark { start: 0, end: bytes.len() as u32, origins }])
        };
        Text(Rc::new(Data::new(Flat { bytes, marks }, None)))
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.0.whole().bytes
    }

    /// How many bytes it holds itself: those of a text that it continues are not counted, while nobody asks for them.
    pub fn held(&self) -> usize {
        self.0.piece().bytes.len()
    }

    /// The text for people; invalid UTF-8 is replaced.
    pub fn lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// The bytes as UTF-8, if they are.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes()).ok()
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// The origins of byte ranges.
    #[inline]
    pub fn marks(&self) -> &[Mark] {
        &self.0.whole().marks
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
        if let Some(union) = self.0.union.get() {
            return union;
        }
        let mut union = OriginSet::EMPTY;
        for data in self.0.pieces(|data| data.union.get().is_some()).into_iter().rev() {
            let own = || origins.union_all(data.piece().marks.iter().map(|mark| mark.origins));
            union = data.union.get().unwrap_or_else(|| origins.union(union, own()));
            data.union.set(Some(union));
        }
        union
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
    /// What stands in front of `bytes`; never in one piece out of several, which would be kept twice.
    front: Option<Text>,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

impl TextBuilder {
    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.front.as_ref().map_or(0, Text::len) + self.bytes.len()
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds bytes that came from `origins` (empty for constants).
    pub fn push(&mut self, bytes: &[u8], origins: OriginSet) {
        let start = self.len();
        self.bytes.extend_from_slice(bytes);
        self.mark(start, self.len(), origins);
    }

    /// Adds a text with its marks.
    pub fn push_text(&mut self, text: &Text) {
        if text.len() >= LONG && self.is_empty() && (text.0.front.is_none() || text.0.is_scattered()) {
            self.front = Some(text.clone());
            return;
        }
        let base = self.len();
        for piece in text.0.pieces(|_| false).into_iter().rev().map(Data::piece) {
            self.bytes.extend_from_slice(&piece.bytes);
            piece.marks.iter().for_each(|m| self.mark(base + m.start as usize, base + m.end as usize, m.origins));
        }
    }

    /// Adds `text[start..end]` with the marks of that range.
    pub fn push_slice(&mut self, text: &Text, start: usize, end: usize) {
        let base = self.len();
        self.bytes.extend_from_slice(&text.bytes()[start..end]);
        let first = text.marks().partition_point(|mark| mark.end as usize <= start);
        for mark in text.marks()[first..].iter().take_while(|mark| (mark.start as usize) < end) {
            let from = (mark.start as usize).max(start);
            let to = (mark.end as usize).min(end);
            self.mark(base + from - start, base + to - start, mark.origins);
        }
    }

    /// Adds a text whose every byte additionally came from `context` (a branch it stands in).
    pub fn push_under(&mut self, text: &Text, context: OriginSet, origins: &Origins) {
        if context.is_empty() {
            return self.push_text(text);
        }
        let base = self.len();
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
        match self.front {
            Some(front) if self.bytes.is_empty() => front,
            front => Text(Rc::new(Data::new(Flat { bytes: self.bytes.into(), marks: self.marks.into() }, front))),
        }
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

    #[test]
    fn a_text_that_grows_is_one_text_whoever_asks() {
        let origins = Origins::new(true);
        let facts = [Origin::KubeVersion, Origin::HelmVersion].map(|origin| origins.only(origin));
        let (mut grown, mut wanted) = (Text::default(), Vec::new());
        for i in 0..100_000u32 {
            let piece = format!("{i},");
            wanted.extend_from_slice(piece.as_bytes());
            let mut builder = TextBuilder::default();
            builder.push_text(&grown);
            builder.push(piece.as_bytes(), facts[i as usize % 2]);
            grown = builder.finish();
            assert_eq!(grown.len(), wanted.len());
            if i % 10_000 == 0 {
                assert_eq!(grown.bytes(), wanted);
            }
        }
        assert!(grown.held() < LONG);
        assert_eq!(grown.mark_union(&origins), origins.union(facts[0], facts[1]));
        assert_eq!(grown.bytes(), wanted);
        assert_eq!(grown.marks().len(), 100_000);
        assert_eq!(grown.marks()[2], Mark { start: 4, end: 6, origins: facts[0] });
        drop(grown);
    }
}
