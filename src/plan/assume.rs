//! Which controller the answers are for: what the caller says, what the snapshot shows, what is assumed.

use crate::base::diag::Diagnostic;
use crate::cluster::snapshot::Facts;
use crate::flux::settings::Settings;

/// What steers a run.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Version of helm-controller; wins over what the snapshot shows.
    pub controller: Option<String>,
    /// Arguments that helm-controller was started with (flags and gates), where the snapshot does not tell.
    pub controller_args: Vec<String>,
    /// What the snapshot does not hold does not exist.
    pub assume_complete: bool,
    /// Look for single changes of looked-up objects that would make an upgrade fail: some more renders per release.
    pub latent: bool,
}

/// Version, flags and gates of helm-controller (`F-8`, `F-9`); what had to be assumed is named.
pub(super) fn settings(
    facts: &dyn Facts,
    choices: &Choices,
    assumptions: &mut Vec<String>,
    problems: &mut Vec<Diagnostic>,
) -> Settings {
    let mut assume = |settings: &Settings, flags: &str, why: &str| {
        assumptions.push(format!("helm-controller is {}, with {flags} flags: {why}", settings.controller));
    };
    let flags = if choices.controller_args.is_empty() { "default" } else { "the given" };
    let given = choices.controller.as_deref().and_then(|text| match text.parse() {
        Ok(controller) => Some(controller),
        Err(error) => {
            let problem = Diagnostic::error(format!("{error}"));
            problems.push(problem.remedy("give a version of helm-controller such as 1.6.2"));
            None
        }
    });
    let default = Settings::default().controller;
    let assumed = Settings::with_args(given.unwrap_or(default), &choices.controller_args);
    match Settings::detect(facts) {
        Some(Ok(found)) => Settings { controller: given.unwrap_or(found.controller), ..found },
        Some(Err(unknown)) => {
            if given.is_none() {
                assume(&assumed, flags, &format!("{unknown}, in its Deployment"));
            }
            assumed
        }
        None => {
            let why = "its Deployment is not in the snapshot";
            match given {
                None => assume(&assumed, flags, why),
                Some(_) if choices.controller_args.is_empty() => {
                    assumptions.push(format!("helm-controller has default flags: {why}"));
                }
                Some(_) => {}
            }
            assumed
        }
    }
}
