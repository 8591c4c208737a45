//! The list of cases that are known to differ, and how a test of a recorded case runs.

use std::fs;

use libtest_mimic::Trial;
use regex_automata::nfa::thompson::pikevm::PikeVM;

/// Room for charts that include a thousand levels deep, in unoptimized code.
const STACK: usize = 512 << 20;

/// The patterns that concern one suite.
pub struct Exemptions {
    patterns: Vec<(String, PikeVM, bool)>,
}

impl Exemptions {
    /// The `pattern = '…'` lines of the list that are for this suite.
    pub fn load(mine: impl Fn(&str) -> bool) -> Self {
        let list =
            fs::read_to_string(super::folder("MICRO_EXEMPTIONS", "fixtures/exemptions.toml")).unwrap_or_default();
        let patterns = list
            .lines()
            .filter_map(|line| line.strip_prefix("pattern = '")?.strip_suffix('\''))
            .filter(|pattern| mine(pattern))
            .map(|pattern| (pattern.to_owned(), engine(&format!("^(?:{pattern})$")), false))
            .collect();
        Exemptions { patterns }
    }

    /// The test of one case: it must hold, or, when its name is on the list, must not.
    pub fn trial(&mut self, name: String, check: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
        let found = self
            .patterns
            .iter_mut()
            .find(|(_, engine, _)| engine.is_match(&mut engine.create_cache(), name.as_bytes()));
        let exempt = found.map(|(_, _, used)| *used = true).is_some();
        Trial::test(name, move || {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn(check)?;
            match (thread.join().unwrap_or_else(|_| Err("panic".into())), exempt) {
                (Ok(()), true) => Err("the case is exempted, but it is as Helm has it".into()),
                (Err(_), true) => Ok(()),
                (result, _) => result.map_err(Into::into),
            }
        })
    }

    /// One failing test per pattern that no name matched.
    pub fn unused(self) -> impl Iterator<Item = Trial> {
        self.patterns.into_iter().filter(|(_, _, used)| !used).map(|(pattern, _, _)| {
            Trial::test(format!("exemption {pattern} is used"), || Err("no case has such a name".into()))
        })
    }
}

fn engine(pattern: &str) -> PikeVM {
    let syntax = regex_automata::util::syntax::Config::new().dot_matches_new_line(true).utf8(false);
    PikeVM::builder().syntax(syntax).build(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"))
}

/// Whether the pattern occurs in the line.
pub fn matches(pattern: &str, line: &[u8]) -> bool {
    let engine = engine(pattern);
    engine.is_match(&mut engine.create_cache(), line)
}
