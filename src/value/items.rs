//! Elements of slices: an element put behind a long slice does not copy it.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::{List, Value};

/// Slices of this many elements are not copied when one is put behind them.
const LONG: usize = 64;

/// The elements of a slice; reads as `[Value]`.
pub struct Items {
    /// All elements, or those behind the front.
    tail: Vec<Value>,
    front: Option<Box<Front>>,
}

struct Front {
    list: Rc<List>,
    /// Elements of `list`.
    len: usize,
    /// Front and tail in one piece, made when first asked for.
    whole: OnceCell<Vec<Value>>,
}

impl Items {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.front.as_ref().map_or(0, |front| front.len) + self.tail.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of `list`, and one more.
    pub fn with(list: &Rc<List>, item: Value) -> Items {
        let len = list.items.len();
        let is_whole = list.items.front.is_some() && !list.items.is_scattered();
        if len < LONG || is_whole {
            let mut items = list.items.to_vec();
            items.push(item);
            return items.into();
        }
        let front = Front { list: list.clone(), len, whole: OnceCell::new() };
        Items { tail: vec![item], front: Some(Box::new(front)) }
    }

    fn is_scattered(&self) -> bool {
        self.front.as_ref().is_some_and(|front| front.whole.get().is_none())
    }

    fn joined(&self) -> Vec<Value> {
        let mut pieces = vec![self];
        let mut last = self;
        while let Some(front) = last.front.as_ref().filter(|_| last.is_scattered()) {
            last = &front.list.items;
            pieces.push(last);
        }
        let mut items = Vec::with_capacity(self.len());
        for piece in pieces.into_iter().rev() {
            let whole = piece.front.as_ref().and_then(|front| front.whole.get());
            items.extend_from_slice(whole.unwrap_or(&piece.tail));
        }
        items
    }
}

impl Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        match &self.front {
            None => &self.tail,
            Some(front) => front.whole.get_or_init(|| self.joined()),
        }
    }
}

impl Drop for Items {
    /// One front after the other: a long chain would not fit on the stack.
    fn drop(&mut self) {
        let mut front = self.front.take();
        while let Some(mut list) = front.and_then(|front| Rc::try_unwrap(front.list).ok()) {
            front = list.items.front.take();
        }
    }
}

impl From<Vec<Value>> for Items {
    fn from(items: Vec<Value>) -> Self {
        Items { tail: items, front: None }
    }
}

impl<'i> IntoIterator for &'i Items {
    type Item = &'i Value;
    type IntoIter = std::slice::Iter<'i, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().collect::<Vec<_>>().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ListType;

    #[test]
    fn a_list_that_grows_is_one_list_whoever_asks() {
        let mut list = Rc::new(List { items: Vec::new().into(), ty: ListType::Any });
        for i in 0..100_000 {
            list = Rc::new(List { items: Items::with(&list, Value::int(i)), ty: ListType::Any });
            assert_eq!(list.items.len() as i64, i + 1);
            if i % 10_000 == 0 {
                assert_eq!(list.items.last().and_then(Value::as_int), Some(i));
            }
        }
        assert!(list.items.is_scattered());
        assert!(list.items.iter().enumerate().all(|(i, item)| item.as_int() == Some(i as i64)));
    }
}
