//! The random functions, as deterministic stand-ins: the right length and alphabet, seeded by call site.
//!
//! Nothing here is fit to be a secret, and nothing here pretends to predict one: the results carry the origin "random".

use data_encoding::BASE64;

use super::args::{int, panic, room};
use super::{always, next_random, seed};
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param as P};
use crate::value::Value;

type Out = Result<Value, FuncError>;

const fn def(
    name: &'static str,
    params: &'static [P],
    run: fn(&mut Call<'_>, &[Value]) -> Out,
    doc: &'static str,
) -> FuncDef {
    FuncDef { name, params, variadic: None, flow: Flow::Deep, effect: Effect::Entropy, since: always, run, doc }
}

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: &[u8] = b"0123456789";
const ALPHANUMERIC: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    def("randAlpha", &[P::Int], |c, a| of(c, a, "randAlpha", LETTERS), "Random letters."),
    def("randAlphaNum", &[P::Int], |c, a| of(c, a, "randAlphaNum", ALPHANUMERIC), "Random letters and digits."),
    def("randNumeric", &[P::Int], |c, a| of(c, a, "randNumeric", DIGITS), "Random digits."),
    def("randAscii", &[P::Int], ascii, "Random printable ASCII."),
    def("randBytes", &[P::Int], bytes, "Random bytes in base 64."),
    def("randInt", &[P::Int, P::Int], number, "A random number from the first up to below the second."),
    def("uuidv4", &[], uuid, "A random UUID."),
];

/// Stand-in random bytes for a call.
pub(super) fn fill(call: &Call<'_>, function: &str, count: usize) -> Vec<u8> {
    let mut state = seed(call, function);
    let mut out = Vec::with_capacity(count + 8);
    while out.len() < count {
        out.extend_from_slice(&next_random(&mut state).to_le_bytes());
    }
    out.truncate(count);
    out
}

/// The requested length; a negative one makes an empty text.
fn length(args: &[Value]) -> Result<usize, FuncError> {
    let count = usize::try_from(int(args, 0)).unwrap_or(0);
    room(count)?;
    Ok(count)
}

fn pick(call: &Call<'_>, function: &str, count: usize, alphabet: &[u8]) -> Vec<u8> {
    let mut state = seed(call, function);
    let mut draw = || {
        let index = next_random(&mut state) % (alphabet.len() as u64).max(1);
        alphabet.get(index as usize).copied().unwrap_or(b'0')
    };
    (0..count).map(|_| draw()).collect()
}

fn of(call: &mut Call<'_>, args: &[Value], function: &str, alphabet: &[u8]) -> Out {
    Ok(Value::text(pick(call, function, length(args)?, alphabet)))
}

fn ascii(call: &mut Call<'_>, args: &[Value]) -> Out {
    let alphabet: Vec<u8> = (b' '..=b'~').collect();
    Ok(Value::text(pick(call, "randAscii", length(args)?, &alphabet)))
}

fn bytes(call: &mut Call<'_>, args: &[Value]) -> Out {
    if int(args, 0) < 0 {
        return panic("runtime error: makeslice: len out of range");
    }
    Ok(Value::text(BASE64.encode(&fill(call, "randBytes", length(args)?))))
}

fn number(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (low, high) = (int(args, 0), int(args, 1));
    let span = high.wrapping_sub(low);
    if span <= 0 {
        return panic("invalid argument to Intn");
    }
    let mut state = seed(call, "randInt");
    Ok(Value::int(low.wrapping_add((next_random(&mut state) % span as u64) as i64)))
}

fn uuid(call: &mut Call<'_>, _: &[Value]) -> Out {
    let mut bytes = fill(call, "uuidv4", 16);
    if let [_, _, _, _, _, _, version, _, variant, ..] = &mut bytes[..] {
        *version = *version & 0x0f | 0x40;
        *variant = *variant & 0x3f | 0x80;
    }
    let hex = data_encoding::HEXLOWER.encode(&bytes);
    let part = |from, to| hex.get(from..to).unwrap_or_default();
    Ok(Value::text([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")))
}

#[cfg(test)]
mod tests {
    use crate::funcs::tests::engine::{call, render};
    use crate::value::{Origins, Value};

    fn answer(name: &str, args: &[Value]) -> String {
        let value = call(name, args, &Origins::new(false)).unwrap();
        value.as_text().unwrap().as_str().unwrap().to_owned()
    }

    #[test]
    fn random_texts_have_their_length_and_alphabet() {
        for (name, good) in [
            ("randAlpha", (|c| c.is_ascii_alphabetic()) as fn(char) -> bool),
            ("randAlphaNum", |c| c.is_ascii_alphanumeric()),
            ("randNumeric", |c| c.is_ascii_digit()),
            ("randAscii", |c| (' '..='~').contains(&c)),
        ] {
            let text = answer(name, &[Value::int(200)]);
            assert!(text.len() == 200 && text.chars().all(good), "{name} {text}");
            assert_eq!(answer(name, &[Value::int(-1)]), "", "{name}");
        }
        assert_eq!(answer("randBytes", &[Value::int(10)]).len(), 16);
        assert_eq!(answer("randBytes", &[Value::int(0)]), "");
    }

    #[test]
    fn a_uuid_says_that_it_is_random() {
        let uuid = answer("uuidv4", &[]);
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        assert!("89ab".contains(&uuid[19..20]));
    }

    #[test]
    fn impossible_requests_are_refused_in_gos_words() {
        assert_eq!(render("{{ randInt 5 5 }}"), "ERR randInt: invalid argument to Intn");
        assert_eq!(render("{{ randBytes -1 }}"), "ERR randBytes: runtime error: makeslice: len out of range");
        assert_eq!(render("{{ randInt 5 6 }}"), "\"5\"");
    }
}
