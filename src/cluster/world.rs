//! A state of the cluster as templates see it: lookups, a clock that stands still, chance that repeats itself.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::lookup::{self, Answer};
use super::object::ObjectKey;
use super::redacted::conceal;
use super::snapshot::Facts;
use crate::base::Known;
use crate::template::func::World;
use crate::value::origin::LookupKey;
use crate::value::{Origins, Value};

/// Time of a render on a snapshot that does not tell when it was taken: 2026-01-01 00:00:00 UTC.
const DEFAULT_NOW: i128 = 1_767_225_600_000_000_000;

/// Which lookups are answered otherwise than the cluster would.
#[derive(Debug, Clone, Default)]
pub enum Supposition {
    /// None.
    #[default]
    AsItIs,
    /// There is no cluster: all find nothing (L9).
    Offline,
    /// These find nothing.
    Without(BTreeSet<Rc<LookupKey>>),
    /// The object that this one finds lacks a field (`.data.password`).
    WithoutField(Rc<LookupKey>, Rc<str>),
    /// What this one asks for exists, but nobody has filled it yet.
    Unfilled(Rc<LookupKey>, Unfilled),
    /// What is missing is hoped for, except for what this one asks for.
    Hoped {
        /// The lookup that goes on finding nothing.
        except: Option<Rc<LookupKey>>,
    },
}

/// How much of an object is there that nobody has filled yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unfilled {
    /// Its name and nothing else.
    Nothing,
    /// Its data, or its status where it holds none, without a key in it.
    NoKey,
}

/// A state of the cluster as templates see it.
pub struct ClusterWorld<'a> {
    facts: &'a dyn Facts,
    supposition: Supposition,
    /// The time, where it is not that of the facts.
    time: Option<i128>,
    /// Lookups whose answer was not collected.
    uncollected: RefCell<BTreeSet<LookupKey>>,
    /// Lookups that may be forbidden.
    doubtful: RefCell<BTreeSet<LookupKey>>,
    /// Fields of Secrets that were answered with a stand-in; `None` if they are answered as they are.
    redacted: Option<RefCell<BTreeSet<(LookupKey, String)>>>,
}

impl<'a> ClusterWorld<'a> {
    /// The world on these facts, under a supposition.
    pub fn new(facts: &'a dyn Facts, supposition: Supposition) -> Self {
        ClusterWorld {
            facts,
            supposition,
            time: None,
            uncollected: Default::default(),
            doubtful: Default::default(),
            redacted: None,
        }
    }

    /// The same at another time, in nanoseconds since 1970 UTC.
    pub fn at(self, time: i128) -> Self {
        ClusterWorld { time: Some(time), ..self }
    }

    /// The same, with a stand-in for what was blacked out of Secrets.
    pub fn concealing(self) -> Self {
        ClusterWorld { redacted: Some(Default::default()), ..self }
    }

    /// Fields of Secrets that were answered with a stand-in.
    pub fn redacted(&self) -> BTreeSet<(LookupKey, String)> {
        self.redacted.as_ref().map(|redacted| redacted.borrow().clone()).unwrap_or_default()
    }

    fn conceal(&self, key: &LookupKey, value: &Value, origins: &Origins) {
        let Some(redacted) = self.redacted.as_ref().filter(|_| *key.kind == *"Secret" && *key.api_version == *"v1")
        else {
            return;
        };
        let hide = |value: &Value, id: &ObjectKey, prefix: &str| {
            if let Known::Present(object) = self.facts.get(id) {
                let fields = conceal(value, &object, value.at, origins);
                redacted.borrow_mut().extend(fields.into_iter().map(|field| (key.clone(), format!("{prefix}{field}"))));
            }
        };
        let id = lookup::object_of(self.facts, key);
        if !key.name.is_empty() {
            return hide(value, &id, "");
        }
        let items = value.as_map().and_then(|map| map.get(b"items"));
        for (i, item) in items.iter().filter_map(Value::as_list).flat_map(|list| list.items.iter().enumerate()) {
            let metadata = item.as_map().and_then(|map| map.get(b"metadata"));
            let text = |field: &[u8]| {
                let value = metadata.as_ref().and_then(|m| m.as_map()?.get(field));
                value.and_then(|value| value.as_text().map(|text| text.lossy().to_string())).unwrap_or_default()
            };
            let id = ObjectKey { namespace: text(b"namespace"), name: text(b"name"), ..id.clone() };
            hide(item, &id, &format!(".items[{i}]"));
        }
    }

    /// Lookups that were answered with "nothing" although nobody knows.
    pub fn uncollected(&self) -> BTreeSet<LookupKey> {
        self.uncollected.borrow().clone()
    }

    /// Lookups of which it is not known whether the API server answers them.
    pub fn doubtful(&self) -> BTreeSet<LookupKey> {
        self.doubtful.borrow().clone()
    }

    fn hoped(&self, key: &LookupKey) -> bool {
        matches!(&self.supposition, Supposition::Hoped { except } if except.as_ref().is_none_or(|e| **e != *key))
    }
}

impl World for ClusterWorld<'_> {
    fn lookup(&self, key: &LookupKey, origins: &Origins) -> Result<Value, String> {
        if matches!(self.supposition, Supposition::Offline) {
            return Ok(lookup::no_cluster(key, origins));
        }
        if let Supposition::Without(without) = &self.supposition
            && without.contains(key)
        {
            return Ok(lookup::nothing(key, origins));
        }
        let without = match &self.supposition {
            Supposition::WithoutField(of, path) if **of == *key => Some(&**path),
            _ => None,
        };
        let Answer { value, known, allowed } = lookup::lookup_without(self.facts, key, without, origins)?;
        if !allowed {
            self.doubtful.borrow_mut().insert(key.clone());
        }
        if let Supposition::Unfilled(of, how) = &self.supposition
            && **of == *key
            && !matches!(known, Known::Present(()))
        {
            return Ok(lookup::unfilled(key, *how == Unfilled::NoKey, origins));
        }
        if matches!(known, Known::Uncollected) {
            self.uncollected.borrow_mut().insert(key.clone());
        }
        if !matches!(known, Known::Present(())) && self.hoped(key) && lookup::can_exist(self.facts, key) {
            return Ok(lookup::hole(key, origins));
        }
        self.conceal(key, &value, origins);
        Ok(value)
    }

    fn now(&self) -> i128 {
        or_default(self.time.unwrap_or(self.facts.taken()))
    }

    fn entropy(&self, site: &str, count: u32) -> u64 {
        // Another moment, other chances: what was drawn for the stored revision does not come again.
        seed(site, count) ^ (or_default(self.facts.taken()) as u64).rotate_left(17)
    }

    fn hopes(&self, key: &LookupKey, _path: &str) -> bool {
        self.hoped(key)
    }
}

/// A time, or the default one where it is not known.
fn or_default(time: i128) -> i128 {
    if time == 0 { DEFAULT_NOW } else { time }
}

/// No cluster at all: every lookup is empty (L9).
pub struct Offline;

impl World for Offline {
    fn lookup(&self, _: &LookupKey, _: &Origins) -> Result<Value, String> {
        Ok(Value::map(std::collections::BTreeMap::new()))
    }

    fn now(&self) -> i128 {
        DEFAULT_NOW
    }

    fn entropy(&self, site: &str, count: u32) -> u64 {
        seed(site, count)
    }
}

/// The same call site and count, the same seed (FNV-1a).
fn seed(site: &str, count: u32) -> u64 {
    let bytes = site.bytes().chain(count.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// RFC 3339 in UTC (`2026-06-01T03:00:00Z`, a fraction may follow the seconds) in nanoseconds since 1970.
pub fn parse_time(text: &str) -> Option<i128> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i128>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Days since 1970 by the civil calendar, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = y.div_euclid(400);
    let year_of_era = y - era * 400;
    let day_of_year = (153 * m + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let fraction =
        text.get(19..)?.strip_prefix('.').map_or("", |rest| rest.trim_end_matches(|c: char| !c.is_ascii_digit()));
    let nanos: i128 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000_000 + nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_1970() {
        assert_eq!(parse_time("1970-01-02T00:00:01.5Z"), Some(86_401_500_000_000));
        assert_eq!(parse_time("2026-01-01T00:00:00Z"), Some(DEFAULT_NOW));
        assert_eq!(parse_time("yesterday"), None);
    }
}
