//! Passwords, ciphers, keys and certificates.
//!
//! What a key generator would make is replaced by a deterministic stand-in of the same shape: PEM type and size are
//! right, the body is noise. No key material is ever made. What depends on the arguments alone (`derivePassword`,
//! `decryptAES`) is exact.

mod certs;
mod password;
mod pem;

use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, block_padding::NoPadding};
use data_encoding::BASE64;

use super::args::{int, panic, text};
use super::random::fill;
use super::{always, pure};
use crate::codec::base64;
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param as P};
use crate::value::Value;

type Out = Result<Value, FuncError>;
type Run = fn(&mut Call<'_>, &[Value]) -> Out;

const CERTIFICATE: P = P::Named("sprig.certificate");

const fn chance(name: &'static str, params: &'static [P], run: Run, doc: &'static str) -> FuncDef {
    FuncDef { name, params, variadic: None, flow: Flow::Deep, effect: Effect::Entropy, since: always, run, doc }
}

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    chance("bcrypt", &[P::Str], bcrypt, "The bcrypt hash of a password, with a random salt."),
    chance("htpasswd", &[P::Str, P::Str], htpasswd, "A line of an htpasswd file, with bcrypt."),
    chance("genPrivateKey", &[P::Str], private_key, "A new private key: rsa, dsa, ecdsa or ed25519."),
    chance("genCA", &[P::Str, P::Int], certs::ca, "A new certificate authority."),
    chance("genCAWithKey", &[P::Str, P::Int, P::Str], certs::ca_with_key, "A certificate authority for a given key."),
    chance("genSelfSignedCert", &[P::Str, P::List, P::List, P::Int], certs::self_signed, "A self-signed certificate."),
    chance(
        "genSelfSignedCertWithKey",
        &[P::Str, P::List, P::List, P::Int, P::Str],
        certs::self_signed_with_key,
        "A self-signed certificate for a given key.",
    ),
    chance(
        "genSignedCert",
        &[P::Str, P::List, P::List, P::Int, CERTIFICATE],
        certs::signed,
        "A certificate signed by an authority.",
    ),
    chance(
        "genSignedCertWithKey",
        &[P::Str, P::List, P::List, P::Int, CERTIFICATE, P::Str],
        certs::signed_with_key,
        "A certificate for a given key, signed by an authority.",
    ),
    pure("buildCustomCert", &[P::Str, P::Str], Flow::Deep, certs::custom, "A certificate from base 64 texts."),
    pure(
        "derivePassword",
        &[P::Uint32, P::Str, P::Str, P::Str, P::Str],
        Flow::Deep,
        derive_password,
        "A password derived from a master password.",
    ),
    chance("encryptAES", &[P::Str, P::Str], encrypt, "Encrypts with AES-256-CBC and a random start."),
    pure("decryptAES", &[P::Str, P::Str], Flow::Deep, decrypt, "Decrypts what encryptAES encrypted."),
];

/// The characters of bcrypt's own base 64.
const BCRYPT: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn hash(call: &Call<'_>, function: &str, password: &[u8]) -> String {
    if password.len() > 72 {
        return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".into();
    }
    let noise = fill(call, function, 53);
    let body = noise.iter().filter_map(|b| BCRYPT.get(usize::from(b % 64))).map(|b| char::from(*b));
    format!("$2a$10${}", body.collect::<String>())
}

fn bcrypt(call: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(hash(call, "bcrypt", text(args, 0).bytes())))
}

fn htpasswd(call: &mut Call<'_>, args: &[Value]) -> Out {
    let user = text(args, 0);
    let mut out = user.bytes().to_vec();
    if out.contains(&b':') {
        out.splice(0..0, *b"invalid username: ");
        return Ok(Value::text(out));
    }
    out.push(b':');
    out.extend_from_slice(hash(call, "htpasswd", text(args, 1).bytes()).as_bytes());
    Ok(Value::text(out))
}

fn private_key(call: &mut Call<'_>, args: &[Value]) -> Out {
    let kind = text(args, 0);
    let (label, size) = match kind.bytes() {
        b"" | b"rsa" => ("RSA PRIVATE KEY", 2349),
        b"dsa" => ("DSA PRIVATE KEY", 858),
        b"ecdsa" => ("EC PRIVATE KEY", 121),
        b"ed25519" => ("PRIVATE KEY", 48),
        _ => return Ok(Value::text([b"Unknown type ", kind.bytes()].concat())),
    };
    Ok(Value::text(pem::stand_in(call, "genPrivateKey", label, size)))
}

/// Deriving a password takes as long as looking at so many bytes: slow by design.
const DERIVING: usize = 8 << 20;

fn derive_password(call: &mut Call<'_>, args: &[Value]) -> Out {
    call.engine.work(DERIVING)?;
    let [kind, password, user, site] = [1, 2, 3, 4].map(|index| text(args, index));
    let counter = int(args, 0) as u32;
    Ok(Value::text(password::derive(counter, kind.bytes(), password.bytes(), user.bytes(), site.bytes())))
}

/// A password as a key: cut or filled up with zeros.
fn key(password: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    for (slot, byte) in key.iter_mut().zip(password) {
        *slot = *byte;
    }
    key
}

fn encrypt(call: &mut Call<'_>, args: &[Value]) -> Out {
    let plain = text(args, 1);
    if plain.is_empty() {
        return Ok(Value::text(""));
    }
    let padding = 16 - plain.len() % 16;
    let mut body = plain.bytes().to_vec();
    body.extend(std::iter::repeat_n(padding as u8, padding));
    let mut start = [0; 16];
    start.copy_from_slice(&fill(call, "encryptAES", 16));
    let cipher = cbc::Encryptor::<aes::Aes256>::new(&key(text(args, 0).bytes()).into(), &start.into());
    let length = body.len();
    let mut out = start.to_vec();
    let failed = || FuncError::Error("crypto/cipher: input not full blocks".into());
    out.extend_from_slice(cipher.encrypt_padded::<NoPadding>(&mut body, length).map_err(|_| failed())?);
    Ok(Value::text(BASE64.encode(&out)))
}

fn decrypt(_: &mut Call<'_>, args: &[Value]) -> Out {
    let encoded = text(args, 1);
    if encoded.is_empty() {
        return Ok(Value::text(""));
    }
    let data = base64::decode(encoded.bytes())
        .map_err(|at| FuncError::Error(format!("illegal base64 data at input byte {at}")))?;
    let Some((start, body)) = data.split_first_chunk::<16>() else {
        let capacity = encoded.len() / 4 * 3;
        return panic(format!("runtime error: slice bounds out of range [:16] with capacity {capacity}"));
    };
    if body.len() % 16 != 0 {
        return panic("crypto/cipher: input not full blocks");
    }
    let mut body = body.to_vec();
    let cipher = cbc::Decryptor::<aes::Aes256>::new(&key(text(args, 0).bytes()).into(), &(*start).into());
    let plain = match cipher.decrypt_padded::<NoPadding>(&mut body) {
        Ok(plain) => plain,
        Err(_) => return panic("crypto/cipher: input not full blocks"),
    };
    let Some(padding) = plain.last() else { return panic("runtime error: index out of range [-1]") };
    let length = plain.len() as i64 - i64::from(*padding);
    match usize::try_from(length).ok().and_then(|length| plain.get(..length)) {
        Some(plain) => Ok(Value::text(plain.to_vec())),
        None => panic(format!("runtime error: slice bounds out of range [:{length}]")),
    }
}

#[cfg(test)]
mod tests;
