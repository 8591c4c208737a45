//! Exact decimal numbers with their spelling.

use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::BigUint;

/// A number of a JSON text. `1`, `1.0` and `1e0` are the same value with different spellings.
#[derive(Debug, Clone)]
pub struct Number {
    text: Rc<str>,
    negative: bool,
    /// Significant digits without zeros at either end; empty is zero.
    digits: Rc<str>,
    /// The value is `0.digits` × 10^scale.
    scale: i64,
}

/// Scales beyond this (in either direction) are cut off: no value of a chart comes near.
const MAX_SCALE: i64 = 1 << 40;

impl Number {
    /// A number from JSON's spelling of it.
    pub fn new(text: &str) -> Number {
        let (negative, body) = text.strip_prefix('-').map_or((false, text), |body| (true, body));
        let (mantissa, exponent) = body.split_once(['e', 'E']).unwrap_or((body, "0"));
        let exponent = exponent.trim_start_matches('+');
        let limit = if exponent.starts_with('-') { -MAX_SCALE } else { MAX_SCALE };
        let exponent = exponent.parse::<i64>().unwrap_or(limit).clamp(-MAX_SCALE, MAX_SCALE);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let leading = all.len() - all.trim_start_matches('0').len();
        let digits = all.trim_matches('0');
        let scale = if digits.is_empty() { 0 } else { whole.len() as i64 - leading as i64 + exponent };
        Number { text: text.into(), negative: negative && !digits.is_empty(), digits: digits.into(), scale }
    }

    /// The spelling.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The nearest double.
    pub fn double(&self) -> f64 {
        self.text.parse().unwrap_or(f64::INFINITY)
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i8 {
        if self.digits.is_empty() {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }

    /// Whether the value is an integer, however it is spelled.
    pub fn is_integer(&self) -> bool {
        self.digits.len() as i64 <= self.scale || self.digits.is_empty()
    }

    /// The integer, if it is one and fits in 64 bits.
    pub fn integer(&self) -> Option<i64> {
        if !self.is_integer() || self.scale > 19 {
            return None;
        }
        let zeros = "0".repeat((self.scale - self.digits.len() as i64).max(0) as usize);
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        format!("{sign}{digits}{zeros}").parse().ok()
    }

    /// Order by value.
    pub fn compare(&self, other: &Number) -> Ordering {
        let sign = self.sign().cmp(&other.sign());
        if sign != Ordering::Equal || self.digits.is_empty() {
            return sign;
        }
        let size = self.scale.cmp(&other.scale).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { size.reverse() } else { size }
    }

    /// Whether the value is an integral multiple of a factor that is not zero.
    pub fn is_multiple_of(&self, factor: &Number) -> bool {
        if self.digits.is_empty() {
            return true;
        }
        let whole = |n: &Number| n.digits.parse::<BigUint>().unwrap_or_default();
        let (mut own, mut divisor) = (whole(self), whole(factor));
        let shift = (self.scale - self.digits.len() as i64) - (factor.scale - factor.digits.len() as i64);
        let ten = BigUint::from(10u8);
        if divisor == BigUint::ZERO {
            return false;
        }
        if shift >= 0 {
            own *= ten.modpow(&BigUint::from(shift as u64), &divisor);
        } else if shift.unsigned_abs() > self.digits.len() as u64 {
            return false;
        } else {
            divisor *= ten.pow(shift.unsigned_abs() as u32);
        }
        own % divisor == BigUint::ZERO
    }

    /// The digits and the power of ten of the first one; `None` for zero.
    pub fn scientific(&self) -> Option<(&str, i64)> {
        (!self.digits.is_empty()).then(|| (&*self.digits, self.scale - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Number {
        Number::new(text)
    }

    #[test]
    fn values_do_not_depend_on_the_spelling() {
        for (a, b) in [("1", "1.0"), ("100", "1e2"), ("-0", "0"), ("0.10", "1e-1"), ("1E+2", "100.00")] {
            assert!(n(a).compare(&n(b)).is_eq(), "{a} {b}");
        }
        for (a, b) in [("1", "2"), ("-2", "-1"), ("9", "10"), ("0.09", "0.1"), ("-1", "0"), ("1e400", "1e401")] {
            assert!(n(a).compare(&n(b)).is_lt(), "{a} {b}");
        }
    }

    #[test]
    fn multiples_are_exact() {
        for (a, b, is) in [
            ("0.3", "0.1", true),
            ("0.35", "0.1", false),
            ("1.13", "0.01", true),
            ("1e300", "7", false),
            ("1e999999999", "1e-999999999", true),
            ("1e-400", "1", false),
            ("7e2", "700", true),
            ("-6", "4", false),
            ("0", "3", true),
        ] {
            assert_eq!(n(a).is_multiple_of(&n(b)), is, "{a} {b}");
        }
    }

    #[test]
    fn integers_may_be_spelled_as_fractions() {
        assert_eq!((n("3.0").integer(), n("1e2").integer(), n("-5").integer()), (Some(3), Some(100), Some(-5)));
        assert!(!n("1.5").is_integer() && n("0.0").is_integer() && n("1e30").integer().is_none());
    }
}
