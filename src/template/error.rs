//! Errors of templates, structured; [`ExecError`]'s wording follows the version of Helm where it is shown.

use super::gate::Place;

/// A template failed while executing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecError {
    /// Where.
    pub place: Place,
    /// The template being executed (`executing "x"`).
    pub template: std::rc::Rc<str>,
    /// Source of the failing node, as Go prints and cuts it (`at <.x>`).
    pub node: String,
    /// What is wrong.
    pub cause: Cause,
}

/// What went wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Go's own text.
    Text(String),
    /// `error calling NAME: ` and the failure of a template executed by that function.
    Calling(String, Box<ExecError>),
}
