//! Complex constants such as `1+2i`: no function makes or takes them, but they print.

use std::any::Any;

use crate::base::version::HelmVersion;
use crate::codec::float;
use crate::value::{Native, Value};

/// A `complex128`: real and imaginary part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Complex(pub f64, pub f64);

impl Complex {
    /// Reads `2i` or `1+2i`, with `real` for each part; `None` if that is no number.
    pub fn read(text: &str, real: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        let text = text.strip_suffix('i')?;
        if let Some(imaginary) = real(text) {
            return Some(Complex(0.0, imaginary));
        }
        let split = text.rfind(['+', '-']).filter(|at| *at > 0)?;
        let split = if text[..split].ends_with(['e', 'E', 'p', 'P']) {
            text[..split].rfind(['+', '-']).filter(|at| *at > 0)?
        } else {
            split
        };
        Some(Complex(real(&text[..split])?, real(&text[split..])?))
    }

    fn parts(self, plus: bool) -> String {
        let signed = |value: f64| {
            let text = float::g(value);
            if text.starts_with(['+', '-']) { text } else { format!("+{text}") }
        };
        let real = if plus { signed(self.0) } else { float::g(self.0) };
        format!("({real}{}i)", signed(self.1))
    }
}

impl Native for Complex {
    fn type_name(&self, _: HelmVersion) -> String {
        "complex128".to_owned()
    }

    fn kind(&self) -> &'static str {
        "complex128"
    }

    fn print(&self, plus: bool, _: bool) -> String {
        self.parts(plus)
    }

    fn data(&self) -> Option<Value> {
        None
    }

    fn truth(&self) -> bool {
        *self != Complex(0.0, 0.0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
