//! Errors of templates, structured; the wording follows the version of Helm where it is shown.

use std::fmt::Write;
use std::rc::Rc;

use super::gate::Place;
use crate::base::version::{HelmVersion, Quirk};

/// A template failed while executing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecError {
    /// Where.
    pub place: Place,
    /// The template being executed (`executing "x"`); none where Go names no node.
    pub template: Rc<str>,
    /// Source of the failing node, as Go prints it; none where Go names no node.
    pub node: Option<String>,
    /// What is wrong.
    pub cause: Cause,
}

/// What went wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Go's own text.
    Text(String),
    /// A function returned an error: its name and the text.
    Called(String, String),
    /// A function executed a template that failed: its name, a text in front of the inner error, the inner error.
    Calling(String, String, Box<ExecError>),
    /// A function executed a template that is not defined: its name, and the template's.
    NoTemplate(String, String),
    /// The chart ended the render itself (`fail`, `required`).
    Abort(String),
    /// A limit of this program was reached.
    Limit(String),
    /// Go's template package itself came to grief.
    Crash(String),
}

impl ExecError {
    /// The text that Helm shows behind `Error: `.
    pub fn render(&self, helm: HelmVersion) -> String {
        if let Some(message) = self.abort() {
            return format!("execution error at ({}): {message}", location(&self.place));
        }
        if let Cause::Crash(text) = &self.cause {
            return format!("rendering template failed: {text}");
        }
        if let Some(text) = helm.has(Quirk::MultiLineErrors).then(|| self.several_lines()).flatten() {
            return text;
        }
        self.one_line()
    }

    /// The message with which the chart ended the render, however deep.
    fn abort(&self) -> Option<&str> {
        let mut error = self;
        loop {
            match &error.cause {
                Cause::Abort(message) => return Some(message),
                Cause::Calling(_, _, inner) => error = inner,
                _ => return None,
            }
        }
    }

    /// Go's own form.
    pub fn one_line(&self) -> String {
        let mut out = String::new();
        // Chains can be thousands of frames deep: walk them, and write each frame once.
        let mut error = self;
        loop {
            let _ = write!(out, "template: {}: ", location(&error.place));
            if let Some(node) = &error.node {
                let _ = write!(out, "executing {} at <{}>: ", super::lex::quote(&error.template), node);
            }
            match &error.cause {
                Cause::Text(text) | Cause::Abort(text) | Cause::Limit(text) | Cause::Crash(text) => out.push_str(text),
                Cause::Called(function, text) => {
                    let _ = write!(out, "error calling {function}: {text}");
                }
                Cause::NoTemplate(function, name) => {
                    let _ = write!(out, "error calling {function}: {}", no_template(name));
                }
                Cause::Calling(function, prefix, inner) => {
                    // What came to grief is caught where a function was called.
                    if let Cause::Crash(text) = &inner.cause {
                        let _ = write!(out, "error calling {function}: {text}");
                        return out;
                    }
                    let _ = write!(out, "error calling {function}: {prefix}");
                    error = inner;
                    continue;
                }
            }
            return out;
        }
    }

    /// Helm 4's form (`H-47`): a frame per template. It gives up on a chain with anything else in it.
    fn several_lines(&self) -> Option<String> {
        let mut out = String::new();
        let mut error = self;
        loop {
            let node = error.node.as_ref()?;
            let template = super::lex::quote(&error.template);
            let _ = write!(out, "{}\n  executing {template} at <{node}>:\n    ", location(&error.place));
            match &error.cause {
                Cause::Text(text) | Cause::Limit(text) => out.push_str(text),
                Cause::NoTemplate(function, name) => {
                    let _ = write!(out, "error calling {function}:\n{}", no_template(name));
                }
                Cause::Calling(function, prefix, inner)
                    if prefix.is_empty() && !matches!(inner.cause, Cause::Crash(_)) =>
                {
                    let _ = writeln!(out, "error calling {function}:");
                    error = inner;
                    continue;
                }
                Cause::Calling(..) | Cause::Called(..) | Cause::Abort(_) | Cause::Crash(_) => return None,
            }
            return Some(out);
        }
    }
}

fn no_template(name: &str) -> String {
    format!("template: no template {} associated with template \"gotpl\"", super::lex::quote(name))
}

fn location(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.line, place.column)
}
