//! Output with marks: which origins go on which bytes when a value is written.

use crate::value::{OriginId, OriginSet, Origins, Text, TextBuilder, Value};

/// Output of an encoder. Everything is written "under" a context: the origins of the containers around it.
pub(super) struct Sink<'o> {
    out: TextBuilder,
    origins: &'o Origins,
}

impl<'o> Sink<'o> {
    pub(super) fn new(origins: &'o Origins) -> Self {
        Sink { out: TextBuilder::default(), origins }
    }

    pub(super) fn origins(&self) -> &'o Origins {
        self.origins
    }

    /// Bytes of the encoding itself.
    pub(super) fn raw(&mut self, bytes: &[u8], context: OriginSet) {
        self.out.push(bytes, context);
    }

    /// Bytes of a value.
    pub(super) fn text(&mut self, text: &Text, context: OriginSet) {
        self.out.push_under(text, context, self.origins);
    }

    pub(super) fn finish(self) -> Text {
        self.out.finish()
    }

    /// The context of a scalar's bytes: for a string whose marks say it all, only what is around it.
    pub(super) fn scalar(&self, value: &Value, context: OriginSet) -> OriginSet {
        if value.origins.is_empty() {
            return context;
        }
        match value.as_text() {
            Some(text) if text.mark_union(self.origins) == value.origins => context,
            _ => self.origins.union(context, value.origins),
        }
    }

    /// The contexts of a container: of its brackets, keys and indents, and of what is inside.
    ///
    /// A located container (a node of an object) does not add its place to what is inside, which has longer places of
    /// its own: a leaf depends on `.data.x`, the list of keys on `.data`.
    pub(super) fn container(&self, value: &Value, context: OriginSet) -> (OriginSet, OriginSet) {
        if value.origins.is_empty() {
            return (context, context);
        }
        let own = self.origins.union(context, value.origins);
        if value.at == OriginId::NONE {
            return (own, own);
        }
        let others = self.origins.ids(value.origins);
        let others = others.iter().filter(|id| **id != value.at).map(|id| self.origins.single(*id));
        let inside = self.origins.union_all(others.chain([context]));
        (own, inside)
    }
}

/// Walks a text byte by byte with the origins of each.
pub(super) struct MarkAt<'t> {
    marks: &'t [crate::value::text::Mark],
}

impl<'t> MarkAt<'t> {
    pub(super) fn new(text: &'t Text) -> Self {
        MarkAt { marks: text.marks() }
    }

    /// The origins of the byte at `index`; indices must not go down.
    pub(super) fn at(&mut self, index: usize) -> OriginSet {
        while let Some((mark, rest)) = self.marks.split_first() {
            if (mark.end as usize) <= index {
                self.marks = rest;
                continue;
            }
            return if (mark.start as usize) <= index { mark.origins } else { OriginSet::EMPTY };
        }
        OriginSet::EMPTY
    }
}
