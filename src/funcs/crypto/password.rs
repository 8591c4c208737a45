//! The Master Password algorithm: a site's password out of a master password. Exact.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const SCOPE: &[u8] = b"com.lyndir.masterpassword";

/// The patterns of a kind of password; each letter names a set of characters.
fn patterns(kind: &[u8]) -> Option<&'static [&'static str]> {
    Some(match kind {
        b"maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        b"long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        b"medium" => &["CvcnoCvc", "CvcCvcno"],
        b"short" => &["Cvcn"],
        b"basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        b"pin" => &["nnnn"],
        _ => return None,
    })
}

fn characters(letter: u8) -> &'static [u8] {
    match letter {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// The derived password, or the text that stands for it when the kind is unknown.
pub(super) fn derive(counter: u32, kind: &[u8], password: &[u8], user: &[u8], site: &[u8]) -> Vec<u8> {
    let Some(patterns) = patterns(kind) else { return [b"cannot find password template ", kind].concat() };
    let length = |text: &[u8]| (text.len() as u32).to_be_bytes();
    let salt = [SCOPE, &length(user), user].concat();
    let mut key = [0; 64];
    // N = 32768, r = 8, p = 2
    let ready = scrypt::Params::new(15, 8, 2)
        .ok()
        .and_then(|params| scrypt::scrypt(password, &salt, &params, &mut key).ok())
        .and_then(|()| Hmac::<Sha256>::new_from_slice(&key).ok());
    let Some(mut mac) = ready else { return b"failed to derive password".to_vec() };
    mac.update(&[SCOPE, &length(site), site, &counter.to_be_bytes()].concat());
    let seed = mac.finalize().into_bytes();
    let mut seed = seed.iter().map(|b| usize::from(*b));
    let pattern = patterns.get(seed.next().unwrap_or(0) % patterns.len()).copied().unwrap_or("");
    let draw = |(letter, seed): (u8, usize)| {
        let set = characters(letter);
        set.get(seed % set.len()).copied()
    };
    pattern.bytes().zip(seed).filter_map(draw).collect()
}
