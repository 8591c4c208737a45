//! Arithmetic: int64 functions cut their arguments, the `…f` functions compute in decimals.

use num_bigint::{BigInt, Sign};

use super::args::{MAX_ITEMS, any, int, panic, room_for};
use super::convert::{to_float, to_int};
use super::{many, pure};
use crate::base::budget::Exhausted;
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{ListType, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    many("add", &[], P::Any, Flow::Deep, add, "The sum."),
    pure("add1", &[P::Any], Flow::Deep, add1, "One more."),
    pure("add1f", &[P::Any], Flow::Deep, add1f, "One more, in decimals."),
    many("addf", &[], P::Any, Flow::Deep, addf, "The sum, in decimals."),
    many("biggest", &[P::Any], P::Any, Flow::Deep, max, "Older name of `max`."),
    pure("ceil", &[P::Any], Flow::Deep, ceil, "Rounds up."),
    pure("div", &[P::Any, P::Any], Flow::Deep, div, "The quotient without fraction."),
    many("divf", &[P::Any], P::Any, Flow::Deep, divf, "The quotient, in decimals of 16 places."),
    pure("floor", &[P::Any], Flow::Deep, floor, "Rounds down."),
    many("max", &[P::Any], P::Any, Flow::Deep, max, "The largest integer."),
    many("maxf", &[P::Any], P::Any, Flow::Deep, maxf, "The largest float."),
    many("min", &[P::Any], P::Any, Flow::Deep, min, "The smallest integer."),
    many("minf", &[P::Any], P::Any, Flow::Deep, minf, "The smallest float."),
    pure("mod", &[P::Any, P::Any], Flow::Deep, modulo, "The remainder."),
    many("mul", &[P::Any], P::Any, Flow::Deep, mul, "The product."),
    many("mulf", &[P::Any], P::Any, Flow::Deep, mulf, "The product, in decimals."),
    many("round", &[P::Any, P::Int], P::Float, Flow::Deep, round, "Rounds to that many places."),
    many("seq", &[], P::Int, Flow::Deep, seq, "Numbers as one string: end; start end; or start step end."),
    pure("sub", &[P::Any, P::Any], Flow::Deep, sub, "The difference."),
    many("subf", &[P::Any], P::Any, Flow::Deep, subf, "The difference, in decimals."),
    pure("until", &[P::Int], Flow::Deep, until, "The integers from 0 up to below a count."),
    pure("untilStep", &[P::Int, P::Int, P::Int], Flow::Deep, until_step, "From start to below stop by step."),
];

type Out = Result<Value, FuncError>;

const BY_ZERO: &str = "runtime error: integer divide by zero";

fn fold(args: &[Value], start: i64, step: impl Fn(i64, i64) -> i64) -> Out {
    Ok(Value::int64(args.iter().map(to_int).fold(start, step)))
}

fn add(_: &mut Call<'_>, args: &[Value]) -> Out {
    fold(args, 0, i64::wrapping_add)
}

fn mul(_: &mut Call<'_>, args: &[Value]) -> Out {
    fold(args, 1, i64::wrapping_mul)
}

fn max(_: &mut Call<'_>, args: &[Value]) -> Out {
    fold(args, i64::MIN, i64::max)
}

fn min(_: &mut Call<'_>, args: &[Value]) -> Out {
    fold(args, i64::MAX, i64::min)
}

fn add1(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::int64(to_int(any(args, 0)).wrapping_add(1)))
}

fn sub(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::int64(to_int(any(args, 0)).wrapping_sub(to_int(any(args, 1)))))
}

fn div(_: &mut Call<'_>, args: &[Value]) -> Out {
    match to_int(any(args, 1)) {
        0 => panic(BY_ZERO),
        divisor => Ok(Value::int64(to_int(any(args, 0)).wrapping_div(divisor))),
    }
}

fn modulo(_: &mut Call<'_>, args: &[Value]) -> Out {
    match to_int(any(args, 1)) {
        0 => panic(BY_ZERO),
        divisor => Ok(Value::int64(to_int(any(args, 0)).wrapping_rem(divisor))),
    }
}

/// The larger (or for `sign` -1, with both negated, the smaller): an infinity wins over NaN, NaN over the rest, and 0
/// over -0.
fn larger(a: f64, b: f64, sign: f64) -> f64 {
    let (x, y) = (a * sign, b * sign);
    let won = if x == f64::INFINITY || y == f64::INFINITY {
        f64::INFINITY
    } else if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == 0.0 && y == 0.0 {
        if x.is_sign_negative() { y } else { x }
    } else if x > y {
        x
    } else {
        y
    };
    won * sign
}

fn extreme(args: &[Value], sign: f64) -> Out {
    let mut numbers = args.iter().map(to_float);
    let first = numbers.next().unwrap_or(0.0);
    Ok(Value::float(numbers.fold(first, |a, b| larger(a, b, sign))))
}

fn maxf(_: &mut Call<'_>, args: &[Value]) -> Out {
    extreme(args, 1.0)
}

fn minf(_: &mut Call<'_>, args: &[Value]) -> Out {
    extreme(args, -1.0)
}

fn ceil(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::float(to_float(any(args, 0)).ceil()))
}

fn floor(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::float(to_float(any(args, 0)).floor()))
}

/// Goes up from the fraction `.5` (or the third argument) on, else down; so -1.5 goes to -2.
fn round(_: &mut Call<'_>, args: &[Value]) -> Out {
    let turn = args.get(2).map_or(0.5, to_float);
    let scale = power_of_ten(int(args, 1));
    let scaled = scale * to_float(any(args, 0));
    let fraction = if scaled.is_infinite() { f64::NAN } else { scaled.fract() };
    let whole = if fraction >= turn { scaled.ceil() } else { scaled.floor() };
    Ok(Value::float(whole / scale))
}

/// 10 to an integer power as Go computes it: repeated squaring of 0.625 with the exponent kept apart. Large powers
/// differ from the nearest float in the last bit, which shows in results.
fn power_of_ten(exponent: i64) -> f64 {
    let (mut result, mut result_exponent) = (1.0f64, 0i64);
    let (mut base, mut base_exponent) = (0.625f64, 4i64);
    let mut left = exponent.unsigned_abs();
    while left != 0 {
        if base_exponent.abs() > 1 << 12 {
            result_exponent += base_exponent;
            break;
        }
        if left & 1 == 1 {
            result *= base;
            result_exponent += base_exponent;
        }
        base *= base;
        base_exponent *= 2;
        if base < 0.5 {
            base += base;
            base_exponent -= 1;
        }
        left >>= 1;
    }
    if exponent < 0 {
        result = 1.0 / result;
        result_exponent = -result_exponent;
    }
    while result_exponent != 0 && result != 0.0 && result.is_finite() {
        let step = result_exponent.clamp(-1000, 1000);
        result *= 2f64.powi(step as i32);
        result_exponent -= step;
    }
    result
}

/// From `start` by `step` up (or down) to before `stop`; nothing if the step leads away from it.
fn steps(start: i64, stop: i64, step: i64) -> Result<Vec<i64>, FuncError> {
    let mut numbers = Vec::new();
    let mut at = start;
    while if stop < start { step < 0 && at > stop } else { step > 0 && at < stop } {
        numbers.push(at);
        room_for(numbers.len())?;
        at = match at.checked_add(step) {
            Some(next) => next,
            // Go wraps around and goes on until memory ends.
            None => return Err(Exhausted { what: "elements of a list", limit: MAX_ITEMS as u64 }.into()),
        };
    }
    Ok(numbers)
}

fn ints(numbers: Vec<i64>) -> Value {
    Value::typed_list(numbers.into_iter().map(Value::int).collect(), ListType::Int)
}

fn until(_: &mut Call<'_>, args: &[Value]) -> Out {
    let count = int(args, 0);
    Ok(ints(steps(0, count, if count < 0 { -1 } else { 1 })?))
}

fn until_step(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(ints(steps(int(args, 0), int(args, 1), int(args, 2))?))
}

fn seq(_: &mut Call<'_>, args: &[Value]) -> Out {
    let (start, step, end) = match args.len() {
        1 => (1, None, int(args, 0)),
        2 => (int(args, 0), None, int(args, 1)),
        3 => (int(args, 0), Some(int(args, 1)), int(args, 2)),
        _ => return Ok(Value::text("")),
    };
    let toward = if end < start { -1 } else { 1 };
    if toward < 0 && step.is_some_and(|step| step > 0) {
        return Ok(Value::text(""));
    }
    let numbers = steps(start, end.saturating_add(toward), step.unwrap_or(toward))?;
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    Ok(Value::text(numbers.join(" ")))
}

/// `digits × 10^exponent`.
struct Decimal {
    digits: BigInt,
    exponent: i64,
}

/// Places behind the point that a quotient keeps.
const DIVISION_PLACES: i64 = 16;

/// Most decimal places or zeros that a computation may need; floats need a few hundred each.
const MAX_SCALE: i64 = 20_000;

fn ten_to(exponent: i64) -> Result<BigInt, FuncError> {
    match u32::try_from(exponent) {
        Ok(small) if exponent <= MAX_SCALE => Ok(BigInt::from(10).pow(small)),
        _ => Err(Exhausted { what: "digits of a decimal", limit: MAX_SCALE as u64 }.into()),
    }
}

impl Decimal {
    /// The shortest decimal that reads back as the float.
    fn new(value: f64) -> Result<Self, FuncError> {
        if !value.is_finite() {
            return panic(format!("Cannot create a Decimal from {}", crate::codec::float::g(value)));
        }
        let shown = crate::codec::float::shortest(value);
        let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
        let digits = mantissa.replace('.', "").parse().unwrap_or_default();
        Ok(Decimal { digits, exponent: exponent.parse::<i64>().unwrap_or(0) - places })
    }

    /// Both with the smaller exponent of the two.
    fn aligned(self, other: Decimal) -> Result<(BigInt, BigInt, i64), FuncError> {
        let exponent = self.exponent.min(other.exponent);
        let a = self.digits * ten_to(self.exponent - exponent)?;
        let b = other.digits * ten_to(other.exponent - exponent)?;
        Ok((a, b, exponent))
    }

    fn add(self, other: Decimal) -> Result<Self, FuncError> {
        let (a, b, exponent) = self.aligned(other)?;
        Ok(Decimal { digits: a + b, exponent })
    }

    fn sub(self, other: Decimal) -> Result<Self, FuncError> {
        let (a, b, exponent) = self.aligned(other)?;
        Ok(Decimal { digits: a - b, exponent })
    }

    fn mul(self, other: Decimal) -> Result<Self, FuncError> {
        ten_to(self.digits.bits() as i64 / 3)?;
        Ok(Decimal { digits: self.digits * other.digits, exponent: self.exponent + other.exponent })
    }

    /// Rounds half away from zero at [`DIVISION_PLACES`].
    fn div(self, other: Decimal) -> Result<Self, FuncError> {
        if other.digits.sign() == Sign::NoSign {
            return panic("decimal division by 0");
        }
        let scale = self.exponent - other.exponent + DIVISION_PLACES;
        let (over, under) = if scale < 0 {
            (self.digits, other.digits * ten_to(-scale)?)
        } else {
            (self.digits * ten_to(scale)?, other.digits)
        };
        let mut quotient = &over / &under;
        let rest = &over - &quotient * &under;
        if rest.magnitude() * 2u32 >= *under.magnitude() {
            quotient += if over.sign() == under.sign() { 1 } else { -1 };
        }
        Ok(Decimal { digits: quotient, exponent: -DIVISION_PLACES })
    }

    /// The nearest float.
    fn to_float(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }
}

type Step = fn(Decimal, Decimal) -> Result<Decimal, FuncError>;

fn decimal(first: f64, rest: &[Value], step: Step) -> Out {
    let mut total = Decimal::new(first)?;
    for value in rest {
        total = step(total, Decimal::new(to_float(value))?)?;
    }
    Ok(Value::float(total.to_float()))
}

fn rest(args: &[Value]) -> &[Value] {
    args.get(1..).unwrap_or_default()
}

fn add1f(_: &mut Call<'_>, args: &[Value]) -> Out {
    decimal(to_float(any(args, 0)), &[Value::int(1)], Decimal::add)
}

fn addf(_: &mut Call<'_>, args: &[Value]) -> Out {
    decimal(0.0, args, Decimal::add)
}

fn subf(_: &mut Call<'_>, args: &[Value]) -> Out {
    decimal(to_float(any(args, 0)), rest(args), Decimal::sub)
}

fn mulf(_: &mut Call<'_>, args: &[Value]) -> Out {
    decimal(to_float(any(args, 0)), rest(args), Decimal::mul)
}

fn divf(_: &mut Call<'_>, args: &[Value]) -> Out {
    decimal(to_float(any(args, 0)), rest(args), Decimal::div)
}
