//! Many cases through both Helms: what differs, and the smallest case that shows it.

use std::collections::BTreeMap;

use helm_render_predictor::base::version::HelmVersion;

use super::case::{Case, chart, name};
use super::helm::{Outcome, RealHelm, ours};
use super::source::{Source, shrink};

/// Makes a case from choices.
pub type Generator = fn(&mut Source, HelmVersion) -> Case;

/// Cases per batch, by their cost.
const BATCH: usize = 600;
/// Cases per batch that fail and so need a process each.
const FAILING: usize = 25;
/// Helm runs that shrinking one case may take.
const SHRINKING: usize = 60;

/// What was done.
#[derive(Default)]
pub struct Tally {
    pub cases: usize,
    pub failing: usize,
    /// Differences found; each is printed at once.
    pub differences: usize,
}

/// Runs one batch of cases, from seeds `first` on.
pub fn batch(generator: Generator, first: u64, helm: &mut RealHelm, tally: &mut Tally) {
    let version = helm.version;
    let mut cases: Vec<Case> = Vec::new();
    let mut room = BATCH;
    while room > 0 {
        cases.push(generator(&mut Source::new(first + cases.len() as u64), version));
        room = room.saturating_sub(cases[cases.len() - 1].cost());
    }
    let fails = |case: &Case| ours(&chart([(0, case)]), version, true).error.is_some();
    let (alone, together): (Vec<usize>, Vec<usize>) =
        (0..cases.len()).partition(|i| !cases[*i].batches() || fails(&cases[*i]));
    let mut suspects = Vec::new();
    tally.cases += together.len();
    disagree(&cases, together, helm, &mut suspects);
    let alone: Vec<usize> = alone.into_iter().take(FAILING).collect();
    tally.cases += alone.len();
    tally.failing += alone.len();
    suspects.extend(alone);
    for i in suspects {
        if let Some(report) = examine(generator, first + i as u64, helm) {
            println!("{report}");
            tally.differences += 1;
        }
    }
}

/// Adds those of the cases that do not render alike in one chart.
fn disagree(cases: &[Case], mut members: Vec<usize>, helm: &mut RealHelm, suspects: &mut Vec<usize>) {
    while !members.is_empty() {
        let files = chart(members.iter().map(|i| (*i, &cases[*i])));
        let theirs = helm.render(&files);
        let mine = ours(&files, helm.version, true);
        if mine == theirs && mine.error.is_none() {
            return;
        }
        let error = theirs.error.as_ref().or(mine.error.as_ref());
        let guilty = match error {
            Some(error) => named(error, &members).into_iter().collect(),
            None => unequal(&mine, &theirs, &members),
        };
        if guilty.is_empty() {
            // Nobody is named: look at the halves.
            if members.len() == 1 {
                suspects.extend(members);
                return;
            }
            let second = members.split_off(members.len() / 2);
            disagree(cases, second, helm, suspects);
            continue;
        }
        members.retain(|i| !guilty.contains(i));
        let done = error.is_none();
        suspects.extend(guilty);
        if done {
            return;
        }
    }
}

/// The case whose file an error names.
fn named(error: &str, members: &[usize]) -> Option<usize> {
    let at = error.find("/templates/c").map(|at| at + 12).or_else(|| error.find("/charts/c").map(|at| at + 9))?;
    let digits: String = error[at..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|i| members.contains(i))
}

/// The cases whose files were printed differently.
fn unequal(mine: &Outcome, theirs: &Outcome, members: &[usize]) -> Vec<usize> {
    let sections = |out: &[u8]| -> BTreeMap<String, String> {
        let text = String::from_utf8_lossy(out).into_owned();
        let parts = text.split("---\n# Source: ").filter_map(|part| part.split_once('\n'));
        parts.map(|(path, body)| (path.to_owned(), body.trim_end().to_owned())).collect()
    };
    let (mine, theirs) = (sections(&mine.out), sections(&theirs.out));
    let of = |sections: &BTreeMap<String, String>, i: usize| {
        let unit = format!("c/templates/{}.yaml", name(i));
        let values = format!("c/charts/{}/templates/out.yaml", name(i));
        (sections.get(&unit).cloned(), sections.get(&values).cloned())
    };
    members.iter().copied().filter(|i| of(&mine, *i) != of(&theirs, *i)).collect()
}

/// Whether the case differs, twice in the same way for Helm: then both outcomes.
fn differs(case: &Case, helm: &mut RealHelm) -> Option<(Outcome, Outcome)> {
    let files = chart([(0, case)]);
    let mine = ours(&files, helm.version, true);
    let theirs = helm.render(&files);
    if same(&mine, &theirs) {
        return None;
    }
    let stable = (0..3).all(|_| helm.render(&files) == theirs);
    stable.then_some((mine, theirs))
}

/// Limits of ours are no differences: they are stated, and Helm has none there.
fn same(mine: &Outcome, theirs: &Outcome) -> bool {
    mine == theirs || mine.error.as_ref().is_some_and(|e| e.contains("limit reached"))
}

/// The report of a difference, with the shrunk case; none if there is no difference, or Helm itself is not stable.
fn examine(generator: Generator, seed: u64, helm: &mut RealHelm) -> Option<String> {
    let mut source = Source::new(seed);
    let case = generator(&mut source, helm.version);
    let (mine, theirs) = differs(&case, helm)?;
    let kind = |mine: &Outcome, theirs: &Outcome| (mine.error.is_some(), theirs.error.is_some());
    let wanted = kind(&mine, &theirs);
    let choices = shrink(source.taken, SHRINKING, |choices| {
        let mut source = Source::replay(choices.to_vec());
        let case = generator(&mut source, helm.version);
        let (mine, theirs) = differs(&case, helm)?;
        (kind(&mine, &theirs) == wanted).then_some(source.taken)
    });
    let case = generator(&mut Source::replay(choices), helm.version);
    let (mine, theirs) = differs(&case, helm)?;
    Some(format!("seed {seed}\n{case}ours:  {}\nhelm:  {}\n", shown(&mine), shown(&theirs)))
}

/// An outcome to read: the text of a unit is decoded.
fn shown(outcome: &Outcome) -> String {
    let text = String::from_utf8_lossy(&outcome.out).into_owned();
    let decode = |word: &str| data_encoding::BASE64.decode(word.trim_matches('"').as_bytes()).ok();
    let body = match text.split_once("\nk: ").and_then(|(_, rest)| decode(rest.trim())) {
        Some(bytes) => format!("{:?}", String::from_utf8_lossy(&bytes)),
        None => format!("{text:?}"),
    };
    outcome.error.as_ref().map_or(body, |error| format!("error {error}"))
}
