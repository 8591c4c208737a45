//! Recorded episodes of a real helm-controller, step by step: below `fixtures/live` (or below `LIVE_EPISODES`), one test
//! per episode.
//!
//! For each step the snapshot before and the event are the inputs. Predicted and recorded must agree in the revisions
//! (which release, which action, which number), in the objects of each stored manifest, in order, and in the status of
//! each HelmRelease: conditions, history, counters, handled tokens, digests. A step in which the controller wrote nothing
//! must be predicted to write nothing.
//!
//! What no rule can know (the API server refuses a field, a hook fails, a source changes) comes from the recording. Each
//! such fact is one line of `given.txt` beside the episodes: a line too many or too few fails the episode. Without that
//! file the facts are counted; `LIVE_GIVEN=1` prints them.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod before;
mod episode;
mod events;
mod exempt;
mod given;
mod hand;
mod play;
mod revisions;
mod status;
#[path = "../support/mod.rs"]
mod support;
mod tally;
mod text;
mod timing;
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use episode::Episode;
use tally::TALLY;

fn main() {
    let root = support::folder("LIVE_EPISODES", "fixtures/live");
    let discovery: Option<Arc<[u8]>> = std::fs::read(root.join("discovery.json")).ok().map(Into::into);
    let given = std::fs::read_to_string(root.join("given.txt")).ok();
    let given: Option<Arc<BTreeSet<String>>> = given.map(|text| Arc::new(text.lines().map(str::to_owned).collect()));
    let own = std::fs::read_to_string(root.join("exempt.txt")).ok();
    let exempt = own.or_else(|| std::fs::read_to_string(support::folder("", "fixtures/live/exempt.txt")).ok());
    let exempt = Arc::new(exempt::read(&exempt.unwrap_or_default()));
    let mut trials = Vec::new();
    for family in support::folders(&root) {
        for folder in support::folders(&family).into_iter().filter(|e| e.join("episode.yaml").exists()) {
            let name = folder.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let (discovery, given, exempt) = (discovery.clone(), given.clone(), exempt.clone());
            trials.push(Trial::test(name.clone(), move || {
                let judge = move || -> Result<(), Failed> {
                    Episode::read(name.clone(), folder, discovery)?.check(&exempt)?;
                    given.map_or(Ok(()), |listed| as_listed(&name, &listed))
                };
                // Room for charts that nest as deep as Helm lets them.
                let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(judge)?;
                thread.join().unwrap_or_else(|_| Err("panic".into()))
            }));
        }
    }
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    TALLY.print();
    println!("{} passed, {} failed", conclusion.num_passed, conclusion.num_failed);
    conclusion.exit();
}

/// What was given in an episode is what the list says.
fn as_listed(episode: &str, listed: &BTreeSet<String>) -> Result<(), Failed> {
    let start = format!("{episode} step ");
    let listed = listed.iter().filter(|line| line.starts_with(&start)).cloned().collect::<BTreeSet<String>>();
    let given = TALLY.given_in(episode);
    let differing: Vec<&String> = listed.symmetric_difference(&given).collect();
    if differing.is_empty() { Ok(()) } else { Err(format!("given.txt differs in {differing:#?}").into()) }
}
