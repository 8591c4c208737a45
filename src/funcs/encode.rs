//! Base 64, base 32 and checksums.

use data_encoding::{BASE32, BASE64, HEXLOWER};
use sha1::Digest;

use super::args::text;
use super::pure;
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{Text, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("adler32sum", &[P::Str], Flow::Deep, adler32, "The Adler-32 checksum, in decimal."),
    pure("b32dec", &[P::Str], Flow::Deep, b32dec, "Decodes base 32; for bad input, the error's text."),
    pure("b32enc", &[P::Str], Flow::Deep, b32enc, "Encodes in base 32."),
    pure("b64dec", &[P::Str], Flow::Deep, b64dec, "Decodes base 64; for bad input, the error's text."),
    pure("b64enc", &[P::Str], Flow::Deep, b64enc, "Encodes in base 64."),
    pure("sha1sum", &[P::Str], Flow::Deep, sha1sum, "The SHA-1 sum, in hexadecimal."),
    pure("sha256sum", &[P::Str], Flow::Deep, sha256sum, "The SHA-256 sum, in hexadecimal."),
    pure("sha512sum", &[P::Str], Flow::Deep, sha512sum, "The SHA-512 sum, in hexadecimal."),
];

type Out = Result<Value, FuncError>;

fn sha1sum(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(HEXLOWER.encode(&sha1::Sha1::digest(text(args, 0).bytes()))))
}

fn sha256sum(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(HEXLOWER.encode(&sha2::Sha256::digest(text(args, 0).bytes()))))
}

fn sha512sum(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(HEXLOWER.encode(&sha2::Sha512::digest(text(args, 0).bytes()))))
}

fn adler32(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(adler2::adler32_slice(text(args, 0).bytes()).to_string()))
}

fn b64enc(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(BASE64.encode(text(args, 0).bytes())))
}

fn b32enc(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(BASE32.encode(text(args, 0).bytes())))
}

fn b64dec(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(decoded(64, decode64(text(args, 0).bytes())))
}

fn b32dec(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(decoded(32, decode32(text(args, 0).bytes())))
}

/// The error's text is the result, as in Go, where it ends up in the manifest.
fn decoded(base: u32, result: Result<Vec<u8>, usize>) -> Value {
    Value::text(match result {
        Ok(bytes) => Text::from(bytes),
        Err(at) => Text::from(format!("illegal base{base} data at input byte {at}")),
    })
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn digit64(byte: u8) -> Option<u32> {
    Some(
        match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }
        .into(),
    )
}

fn digit32(byte: u8) -> Option<u64> {
    Some(
        match byte {
            b'A'..=b'Z' => byte - b'A',
            b'2'..=b'7' => byte - b'2' + 26,
            _ => return None,
        }
        .into(),
    )
}

/// Padded standard base 64 with line breaks anywhere; the error is the offset that Go reports.
pub(super) fn decode64(input: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(input.len() / 4 * 3);
    let skip_breaks = |at: usize| input[at..].iter().position(|b| !is_break(*b)).map_or(input.len(), |n| at + n);
    let mut at = 0;
    let mut group = 0u32;
    let mut digits = 0;
    while let Some(byte) = input.get(at).copied() {
        at += 1;
        if let Some(digit) = digit64(byte) {
            group = group << 6 | digit;
            digits += 1;
            if digits == 4 {
                out.extend_from_slice(&group.to_be_bytes()[1..]);
                (group, digits) = (0, 0);
            }
        } else if !is_break(byte) {
            if byte != b'=' || digits < 2 {
                return Err(at - 1);
            }
            if digits == 2 {
                at = skip_breaks(at);
                match input.get(at) {
                    None => return Err(input.len()),
                    Some(b'=') => at += 1,
                    Some(_) => return Err(at - 1),
                }
            }
            at = skip_breaks(at);
            if at < input.len() {
                return Err(at);
            }
            out.extend_from_slice(&(group << (6 * (4 - digits))).to_be_bytes()[1..digits]);
            return Ok(out);
        }
    }
    if digits > 0 { Err(at - digits) } else { Ok(out) }
}

/// Padded standard base 32; line breaks are taken out first and do not count in the offset of an error.
fn decode32(input: &[u8]) -> Result<Vec<u8>, usize> {
    let input: Vec<u8> = input.iter().copied().filter(|b| !is_break(*b)).collect();
    let mut out = Vec::with_capacity(input.len() / 8 * 5);
    let mut group = 0u64;
    let mut digits = 0;
    for (at, byte) in input.iter().enumerate() {
        let behind = &input[at + 1..];
        if *byte == b'=' && digits >= 2 && behind.len() < 8 {
            let wanted = 7 - digits;
            if behind.len() < wanted {
                return Err(input.len());
            }
            if let Some(bad) = behind[..wanted].iter().position(|b| *b != b'=') {
                return Err(at + bad);
            }
            if matches!(digits, 3 | 6) {
                return Err(at);
            }
            let bytes = digits * 5 / 8;
            out.extend_from_slice(&(group << (5 * (8 - digits))).to_be_bytes()[3..3 + bytes]);
            return Ok(out);
        }
        group = group << 5 | digit32(*byte).ok_or(at)?;
        digits += 1;
        if digits == 8 {
            out.extend_from_slice(&group.to_be_bytes()[3..]);
            (group, digits) = (0, 0);
        }
    }
    if digits > 0 { Err(input.len() - digits) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_base_64_is_reported_where_go_reports_it() {
        for (input, want) in [
            ("aGVsbG8=", Ok("hello")),
            ("!!!", Err(0)),
            ("aGVsbG8", Err(4)),
            ("aGVs\nbG8=", Ok("hello")),
            ("a", Err(0)),
            ("aGVsbG9=", Ok("hello")),
            ("aGVsbG8==", Err(8)),
            ("aGVsb===", Err(5)),
            ("=", Err(0)),
            ("aGVsbG8=x", Err(8)),
            ("aGVsbG8=\n", Ok("hello")),
            ("aGVs bG8=", Err(4)),
            ("YQ=", Err(3)),
            ("YQ", Err(0)),
            ("Y===", Err(1)),
            ("aGVsbG8-", Err(7)),
            ("YQ=\n=", Ok("a")),
            ("YQ==YQ==", Err(4)),
            ("YR==", Ok("a")),
            ("", Ok("")),
        ] {
            assert_eq!(decode64(input.as_bytes()), want.map(|t| t.as_bytes().to_vec()), "{input:?}");
        }
    }

    #[test]
    fn bad_base_32_is_reported_where_go_reports_it() {
        for (input, want) in [
            ("ME======", Ok("a")),
            ("ME", Err(0)),
            ("me======", Err(0)),
            ("ME====", Err(6)),
            ("M", Err(0)),
            ("ME======x", Ok("a")),
            ("ME\n======", Ok("a")),
            ("MF======", Ok("a")),
            ("ME===A==", Err(4)),
            ("", Ok("")),
            ("ORSXG5A=", Ok("test")),
            ("ORSXG5A", Err(0)),
            ("========", Err(0)),
            ("M=======", Err(1)),
            ("MEE=====", Err(3)),
            ("MEEE====", Ok("a\u{8}")),
            ("MEEEE===", Ok("a\u{8}B")),
            ("MEEEEE==", Err(6)),
            ("MEEEEEEEME======ME======", Err(10)),
            ("M!", Err(1)),
        ] {
            assert_eq!(decode32(input.as_bytes()), want.map(|t| t.as_bytes().to_vec()), "{input:?}");
        }
    }
}
