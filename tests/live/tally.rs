//! What is counted over all episodes: steps judged, exempted and open, digests computed again, and what was given.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts of a whole run.
pub static TALLY: Tally = Tally {
    judged: AtomicUsize::new(0),
    digests: AtomicUsize::new(0),
    open: Mutex::new(BTreeSet::new()),
    exempted: Mutex::new(BTreeSet::new()),
    given: Mutex::new(BTreeMap::new()),
};

pub struct Tally {
    judged: AtomicUsize,
    digests: AtomicUsize,
    open: Mutex<BTreeSet<String>>,
    exempted: Mutex<BTreeSet<String>>,
    given: Mutex<BTreeMap<String, &'static str>>,
}

impl Tally {
    /// A step was compared.
    pub fn judged(&self) {
        self.judged.fetch_add(1, Ordering::Relaxed);
    }

    /// Release digests that were computed again.
    pub fn digests(&self, count: usize) {
        self.digests.fetch_add(count, Ordering::Relaxed);
    }

    /// A release in a step of which "unknown" is the right answer, or an event that this harness does not know.
    pub fn open(&self, what: String) {
        self.open.lock().unwrap().insert(what);
    }

    /// A difference that the list of exemptions allows.
    pub fn exempted(&self, what: String) {
        self.exempted.lock().unwrap().insert(what);
    }

    /// What no rule can know and the recording tells: `EPISODE step N: WHAT`.
    pub fn given(&self, kind: &'static str, line: String) {
        self.given.lock().unwrap().insert(line, kind);
    }

    /// What was given in one episode.
    pub fn given_in(&self, episode: &str) -> BTreeSet<String> {
        let start = format!("{episode} step ");
        self.given.lock().unwrap().keys().filter(|line| line.starts_with(&start)).cloned().collect()
    }

    /// Prints the counts; with `LIVE_GIVEN`, each given fact too.
    pub fn print(&self) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        println!("{} steps judged, {} release digests computed again", count(&self.judged), count(&self.digests));
        let given = self.given.lock().unwrap();
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        given.values().for_each(|kind| *kinds.entry(kind).or_default() += 1);
        println!("{} facts given that no rule can know", given.len());
        kinds.iter().for_each(|(kind, count)| println!("    {count} {kind}"));
        if std::env::var_os("LIVE_GIVEN").is_some() {
            given.keys().for_each(|line| println!("{line}"));
        }
        for (what, list) in [("differences exempted", &self.exempted), ("answers open, as they should be", &self.open)]
        {
            let list = list.lock().unwrap();
            println!("{} {what}", list.len());
            list.iter().for_each(|line| println!("    {line}"));
        }
    }
}
