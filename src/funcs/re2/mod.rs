//! Regular expressions as Go understands them: its syntax and complaints, leftmost-first, in linear time.
//!
//! Our own parser reads the pattern; the automata of `regex-automata` match it. Bytes that are no UTF-8 count as one
//! U+FFFD each, as in Go.

mod class;
mod expand;
mod parse;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex_automata::Input;
use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{Compiler, NFA};
use regex_automata::util::primitives::NonMaxUsize;

use crate::value::{Text, TextBuilder};
pub use parse::ParseError;

/// Largest automaton, in bytes. Go's limit is as high in its own units; only giant repetitions of Unicode classes differ.
const MAX_AUTOMATON: usize = 32 << 20;
/// Most memory that compiled patterns take while they are kept.
const MAX_KEPT: usize = 16 << 20;
/// Haystacks up to this many bytes go to the backtracker, which is faster there.
const SHORT: usize = 4096;

/// A compiled pattern.
pub struct Regex {
    names: Vec<Option<String>>,
    empty: bool,
    /// States of the automaton.
    states: usize,
    /// Bytes of the automaton.
    memory: usize,
    pike: PikeVM,
    pike_cache: RefCell<pikevm::Cache>,
    back: Option<(BoundedBacktracker, RefCell<backtrack::Cache>)>,
}

/// Byte ranges of the whole match and of each group that took part.
type Groups = Vec<Option<(usize, usize)>>;

thread_local! {
    /// Patterns stand in loops; compiling one costs more than matching it.
    static COMPILED: RefCell<HashMap<Box<[u8]>, Rc<Regex>>> = RefCell::default();
}

/// Compiles a pattern, or finds it compiled.
pub fn compile(pattern: &[u8]) -> Result<Rc<Regex>, ParseError> {
    if let Some(known) = COMPILED.with_borrow(|cache| cache.get(pattern).cloned()) {
        return Ok(known);
    }
    let regex = Rc::new(Regex::new(pattern)?);
    COMPILED.with_borrow_mut(|cache| {
        if cache.len() >= 64 || cache.values().map(|regex| regex.memory).sum::<usize>() > MAX_KEPT {
            cache.clear();
        }
        cache.insert(pattern.into(), regex.clone());
    });
    Ok(regex)
}

/// A haystack as the automata see it: valid UTF-8, with the way back to the original offsets.
struct Haystack<'a> {
    bytes: std::borrow::Cow<'a, [u8]>,
    /// Original offset of each byte of `bytes` and of its end; `None` if nothing was replaced.
    back: Option<Vec<usize>>,
}

impl<'a> Haystack<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        if std::str::from_utf8(bytes).is_ok() {
            return Haystack { bytes: bytes.into(), back: None };
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut back = Vec::with_capacity(bytes.len() + 1);
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(chunk.valid().as_bytes());
            back.extend(at..at + chunk.valid().len());
            at += chunk.valid().len();
            for _ in chunk.invalid() {
                out.extend_from_slice("\u{fffd}".as_bytes());
                back.extend([at; 3]);
                at += 1;
            }
        }
        back.push(at);
        Haystack { bytes: out.into(), back: Some(back) }
    }

    fn original(&self, at: usize) -> usize {
        self.back.as_ref().map_or(at, |back| back.get(at).copied().unwrap_or(at))
    }

    /// Bytes of the character at that offset; 0 at the end.
    fn width(&self, at: usize) -> usize {
        match self.bytes.get(at) {
            None => 0,
            Some(0..=0x7f) => 1,
            Some(0x80..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(_) => 4,
        }
    }
}

impl Regex {
    fn new(pattern: &[u8]) -> Result<Regex, ParseError> {
        let parsed = parse::parse(pattern)?;
        let too_large = || ParseError { code: parse::TOO_LARGE, expr: String::from_utf8_lossy(pattern).into_owned() };
        let config = NFA::config().utf8(true).nfa_size_limit(Some(MAX_AUTOMATON));
        let nfa = Compiler::new().configure(config).build_from_hir(&parsed.hir).map_err(|_| too_large())?;
        let (states, memory) = (nfa.states().len(), nfa.memory_usage());
        let pike = PikeVM::new_from_nfa(nfa.clone()).map_err(|_| too_large())?;
        let pike_cache = RefCell::new(pike.create_cache());
        let back = BoundedBacktracker::new_from_nfa(nfa).ok().map(|back| {
            let cache = RefCell::new(back.create_cache());
            (back, cache)
        });
        Ok(Regex { names: parsed.names, empty: pattern.is_empty(), states, memory, pike, pike_cache, back })
    }

    /// The leftmost match at or after `at`, in offsets of the (repaired) haystack.
    fn search(&self, haystack: &Haystack<'_>, at: usize, slots: &mut [Option<NonMaxUsize>]) -> bool {
        slots.fill(None);
        if at > haystack.bytes.len() {
            return false;
        }
        let input = Input::new(&haystack.bytes[..]).range(at..);
        if haystack.bytes.len() <= SHORT
            && let Some((back, cache)) = &self.back
            && haystack.bytes.len() - at <= back.max_haystack_len()
            && let Ok(found) = back.try_search_slots(&mut cache.borrow_mut(), &input, slots)
        {
            return found.is_some();
        }
        self.pike.search_slots(&mut self.pike_cache.borrow_mut(), &input, slots).is_some()
    }

    /// How long compiling this and matching `bytes` bytes may take, as so many bytes to look at: each byte of a text may
    /// visit every state.
    pub fn work(&self, bytes: usize) -> usize {
        let compiling = self.states.saturating_mul(1 + self.states / 1000);
        compiling.saturating_add(bytes.saturating_mul(1 + self.states / 4))
    }

    fn slots(&self) -> Vec<Option<NonMaxUsize>> {
        vec![None; self.names.len() * 2]
    }

    fn groups(slots: &[Option<NonMaxUsize>]) -> Groups {
        let group = |pair: &[Option<NonMaxUsize>]| match pair {
            [Some(start), Some(end)] => Some((start.get(), end.get())),
            _ => None,
        };
        slots.chunks(2).map(group).collect()
    }

    /// Whether the pattern matches anywhere.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.search(&Haystack::new(text), 0, &mut self.slots())
    }

    /// The leftmost match as a byte range.
    pub fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        self.find_all(text, 1).first().copied()
    }

    /// Up to `limit` matches that do not overlap (all if negative); an empty match right behind a match does not count.
    pub fn find_all(&self, text: &[u8], limit: i64) -> Vec<(usize, usize)> {
        let haystack = Haystack::new(text);
        let mut slots = self.slots();
        let mut found = Vec::new();
        let mut at = 0;
        let mut last_end = None;
        while (limit < 0 || (found.len() as i64) < limit) && self.search(&haystack, at, &mut slots) {
            let Some((start, end)) = Self::groups(slots.get(..2).unwrap_or_default()).first().copied().flatten() else {
                break;
            };
            let mut accept = true;
            if end == at {
                accept = last_end != Some(start);
                at += haystack.width(at).max(1);
            } else {
                at = end;
            }
            last_end = Some(end);
            if accept {
                found.push((haystack.original(start), haystack.original(end)));
            }
        }
        found
    }

    /// Splits as Go does: `limit` pieces at most if positive, none if 0, all if negative. `None` is Go's nil slice.
    pub fn split(&self, text: &Text, limit: i64) -> Option<Vec<Text>> {
        if limit == 0 {
            return None;
        }
        if !self.empty && text.is_empty() {
            return Some(vec![text.clone()]);
        }
        let mut pieces = Vec::new();
        let (mut from, mut last) = (0, 0);
        for (start, end) in self.find_all(text.bytes(), limit) {
            if limit > 0 && pieces.len() as i64 == limit - 1 {
                break;
            }
            last = start;
            if end != 0 {
                pieces.push(text.slice(from, last));
            }
            from = end;
        }
        if last != text.len() {
            pieces.push(text.slice(from, text.len()));
        }
        Some(pieces)
    }

    /// Replaces every match by the template, in which `$1`, `$name` and `${name}` stand for groups.
    pub fn replace_all(&self, text: &Text, template: &Text) -> Text {
        self.replace_with(text, |out, groups| expand::expand(out, text, template, groups, &self.names))
    }

    /// Replaces every match by the text as it is.
    pub fn replace_all_literal(&self, text: &Text, with: &Text) -> Text {
        self.replace_with(text, |out, _| out.push_text(with))
    }

    fn replace_with(&self, text: &Text, mut replace: impl FnMut(&mut TextBuilder, &Groups)) -> Text {
        let haystack = Haystack::new(text.bytes());
        let mut slots = self.slots();
        let mut out = TextBuilder::default();
        let mut last_end = 0;
        let mut at = 0;
        let mut any = false;
        while self.search(&haystack, at, &mut slots) {
            let groups: Groups = Self::groups(&slots);
            let Some((start, end)) = groups.first().copied().flatten() else { break };
            any = true;
            out.push_slice(text, haystack.original(last_end), haystack.original(start));
            if end > last_end || start == 0 {
                let groups: Groups = groups
                    .into_iter()
                    .map(|group| group.map(|(s, e)| (haystack.original(s), haystack.original(e))))
                    .collect();
                replace(&mut out, &groups);
            }
            last_end = end;
            let width = haystack.width(at);
            at = if at + width > end { at + width } else { end.max(at + 1) };
        }
        if !any {
            return text.clone();
        }
        out.push_slice(text, haystack.original(last_end), text.len());
        out.finish()
    }
}

/// The text with a backslash before every character that means something in a pattern.
pub fn quote_meta(text: &Text) -> Text {
    let mut out = TextBuilder::default();
    let mut from = 0;
    for (at, byte) in text.bytes().iter().enumerate() {
        if b"\\.+*?()|[]{}^$".contains(byte) {
            out.push_slice(text, from, at);
            out.push(b"\\", crate::value::OriginSet::EMPTY);
            from = at;
        }
    }
    out.push_slice(text, from, text.len());
    out.finish()
}

#[cfg(test)]
mod tests;
