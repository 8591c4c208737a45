//! What is counted over all episodes: digests computed again, steps that are not judged, and what was given.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts of a whole run.
pub static TALLY: Tally =
    Tally { digests: AtomicUsize::new(0), unjudged: Mutex::new(BTreeSet::new()), given: Mutex::new(BTreeSet::new()) };

pub struct Tally {
    digests: AtomicUsize,
    unjudged: Mutex<BTreeSet<String>>,
    given: Mutex<BTreeSet<String>>,
}

impl Tally {
    /// Release digests that were computed again.
    pub fn digests(&self, count: usize) {
        self.digests.fetch_add(count, Ordering::Relaxed);
    }

    /// A step, or a release in it, that is not compared, with the reason.
    pub fn unjudged(&self, what: String) {
        self.unjudged.lock().unwrap().insert(what);
    }

    /// What no rule can know and the recording tells: `EPISODE step N: WHAT`.
    pub fn given(&self, what: String) {
        self.given.lock().unwrap().insert(what);
    }

    /// What was given in one episode.
    pub fn given_in(&self, episode: &str) -> BTreeSet<String> {
        let start = format!("{episode} step ");
        self.given.lock().unwrap().iter().filter(|line| line.starts_with(&start)).cloned().collect()
    }

    pub fn print(&self) {
        println!("{} release digests computed again", self.digests.load(Ordering::Relaxed));
        let given = self.given.lock().unwrap();
        println!("{} facts given that no rule can know", given.len());
        if std::env::var_os("LIVE_GIVEN").is_some() {
            given.iter().for_each(|line| println!("{line}"));
        }
        let unjudged = self.unjudged.lock().unwrap();
        println!("{} steps or releases not judged", unjudged.len());
        unjudged.iter().for_each(|line| println!("    {line}"));
    }
}
