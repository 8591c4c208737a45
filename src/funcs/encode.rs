//! Base 64, base 32 and checksums.

use data_encoding::{BASE32, BASE64, HEXLOWER};
use sha1::Digest;

use super::args::text;
use super::pure;
use crate::codec::base64;
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
    Ok(decoded(64, base64::decode(text(args, 0).bytes())))
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
