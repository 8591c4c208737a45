//! Certificates: `sprig.certificate`, a pair of PEM texts.

use std::any::Any;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use super::{Out, pem};
use crate::base::version::HelmVersion;
use crate::codec::base64;
use crate::codec::goquote;
use crate::funcs::args::{any, text};
use crate::template::func::{Call, FuncError};
use crate::value::{Native, Repr, Text, Value};

/// A certificate and its key, in PEM.
struct Certificate {
    cert: Text,
    key: Text,
}

impl Native for Certificate {
    fn type_name(&self, _: HelmVersion) -> String {
        "sprig.certificate".into()
    }
    fn kind(&self) -> &'static str {
        "struct"
    }
    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(Value::text(self.cert.clone())),
            "Key" => Some(Value::text(self.key.clone())),
            _ => None,
        }
    }
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(vec![("Cert", Value::text(self.cert.clone())), ("Key", Value::text(self.key.clone()))])
    }
    fn print(&self, plus: bool, sharp: bool) -> String {
        let quoted = |text: &Text| goquote::quote(text.bytes());
        match (sharp, plus) {
            (true, _) => format!("sprig.certificate{{Cert:{}, Key:{}}}", quoted(&self.cert), quoted(&self.key)),
            (false, true) => format!("{{Cert:{} Key:{}}}", self.cert.lossy(), self.key.lossy()),
            (false, false) => format!("{{{} {}}}", self.cert.lossy(), self.key.lossy()),
        }
    }
    fn data(&self) -> Option<Value> {
        let entries = [("Cert", &self.cert), ("Key", &self.key)];
        Some(Value::map(
            entries.into_iter().map(|(k, v)| (Text::from(k), Value::text(v.clone()))).collect::<BTreeMap<_, _>>(),
        ))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn error<T>(message: impl Into<String>) -> Result<T, FuncError> {
    Err(FuncError::Error(message.into()))
}

/// Checks a private key as far as PEM and the outermost DER go, and gives its text back as Go would write it.
fn given_key(key: &[u8]) -> Result<String, String> {
    let block = pem::decode(key).ok_or("no PEM data in input")?;
    if !matches!(block.label.as_str(), "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" | "DSA PRIVATE KEY") {
        return Err(match block.label.strip_suffix(" PRIVATE KEY") {
            Some(kind) => format!("invalid private key type {kind}"),
            None => format!("no private key data in PEM block of type {}", block.label),
        });
    }
    if !pem::is_sequence(&block.bytes) {
        let what = match block.label.strip_suffix(" PRIVATE KEY") {
            None => "decoding PEM as PKCS#8".into(),
            Some(kind) => format!("parsing {kind} private key from PEM"),
        };
        return Err(format!("{what}: asn1: structure error"));
    }
    Ok(pem::encode(&block.label, &block.bytes))
}

/// Who is named in a certificate, as far as its size depends on it.
struct Names {
    subject: usize,
    issuer: usize,
    alternatives: usize,
}

/// Checks addresses and names as Go does, and counts their bytes.
fn alternatives(args: &[Value]) -> Result<usize, FuncError> {
    let mut bytes = 0;
    for (index, what) in [(1, "error parsing ip"), (2, "error processing alternate dns name")] {
        for item in any(args, index).as_list().map_or(&[][..], |list| &list.items) {
            let Some(name) = item.as_text() else {
                let shown = match item.repr() {
                    Repr::Int(number, _) => number.to_string(),
                    Repr::Float(number) => crate::codec::float::g(*number),
                    Repr::Bool(value) => value.to_string(),
                    Repr::Nil => "<nil>".into(),
                    Repr::Native(native) => native.print(false, false),
                    _ => format!("{item:?}"),
                };
                return error(format!("{what}: {shown} is not a string"));
            };
            bytes += 2;
            if index == 2 {
                bytes += name.len();
                continue;
            }
            match name.as_str().and_then(|name| name.parse::<IpAddr>().ok()) {
                Some(IpAddr::V4(_)) => bytes += 4,
                Some(IpAddr::V6(_)) => bytes += 16,
                None => return error(format!("{what}: {}", name.lossy())),
            }
        }
    }
    Ok(if bytes == 0 { 0 } else { bytes + 11 })
}

/// A stand-in certificate, and its key unless one is given.
fn make(call: &Call<'_>, function: &str, names: &Names, authority: bool, key: Option<String>) -> Value {
    let extra = if authority || names.issuer != names.subject { 32 } else { 0 };
    let size = 741 + names.subject + names.issuer + names.alternatives + extra;
    let cert = pem::stand_in(call, function, "CERTIFICATE", size.min(60_000));
    let key = key.unwrap_or_else(|| pem::stand_in(call, function, "RSA PRIVATE KEY", 1192));
    value(Text::from(cert), Text::from(key))
}

fn value(cert: Text, key: Text) -> Value {
    Value::new(Repr::Native(Rc::new(Certificate { cert, key })))
}

fn key_argument(args: &[Value], index: usize) -> Result<Option<String>, FuncError> {
    given_key(text(args, index).bytes()).map(Some).map_err(|e| FuncError::Error(format!("parsing private key: {e}")))
}

fn authority(call: &Call<'_>, args: &[Value], function: &str, key: Option<String>) -> Out {
    let subject = text(args, 0).len();
    Ok(make(call, function, &Names { subject, issuer: subject, alternatives: 0 }, true, key))
}

pub(super) fn ca(call: &mut Call<'_>, args: &[Value]) -> Out {
    authority(call, args, "genCA", None)
}

pub(super) fn ca_with_key(call: &mut Call<'_>, args: &[Value]) -> Out {
    let key = key_argument(args, 2)?;
    authority(call, args, "genCAWithKey", key)
}

fn own(call: &Call<'_>, args: &[Value], function: &str, key: Option<String>) -> Out {
    let subject = text(args, 0).len();
    Ok(make(call, function, &Names { subject, issuer: subject, alternatives: alternatives(args)? }, false, key))
}

pub(super) fn self_signed(call: &mut Call<'_>, args: &[Value]) -> Out {
    own(call, args, "genSelfSignedCert", None)
}

pub(super) fn self_signed_with_key(call: &mut Call<'_>, args: &[Value]) -> Out {
    let key = key_argument(args, 4)?;
    own(call, args, "genSelfSignedCertWithKey", key)
}

fn by_authority(call: &Call<'_>, args: &[Value], function: &str, key: Option<String>) -> Out {
    let authority = match any(args, 4).repr() {
        Repr::Native(native) => native.as_any().downcast_ref::<Certificate>(),
        _ => None,
    };
    let Some(authority) = authority else {
        return error("wrong type for value; expected sprig.certificate");
    };
    let Some(signer) = pem::decode(authority.cert.bytes()) else { return error("unable to decode certificate") };
    if !pem::is_sequence(&signer.bytes) {
        return error("error parsing certificate: decodedSignerCert.Bytes: x509: malformed certificate");
    }
    given_key(authority.key.bytes()).map_err(|e| FuncError::Error(format!("error parsing private key: {e}")))?;
    let alternatives = alternatives(args)?;
    let subject = text(args, 0).len();
    // The issuer's name is inside the authority's certificate, twice.
    let issuer = signer.bytes.len().saturating_sub(741 + 32) / 2 + 1;
    Ok(make(call, function, &Names { subject, issuer, alternatives }, true, key))
}

pub(super) fn signed(call: &mut Call<'_>, args: &[Value]) -> Out {
    by_authority(call, args, "genSignedCert", None)
}

pub(super) fn signed_with_key(call: &mut Call<'_>, args: &[Value]) -> Out {
    let key = key_argument(args, 5)?;
    by_authority(call, args, "genSignedCertWithKey", key)
}

/// `buildCustomCert`: no chance, only checks.
pub(super) fn custom(_: &mut Call<'_>, args: &[Value]) -> Out {
    let decoded = |index, what: &str| {
        base64::decode(text(args, index).bytes())
            .map_err(|_| FuncError::Error(format!("unable to decode base64 {what}")))
    };
    let cert = decoded(0, "certificate")?;
    let key = decoded(1, "private key")?;
    let Some(block) = pem::decode(&cert) else { return error("unable to decode certificate") };
    if !pem::is_sequence(&block.bytes) {
        return error("error parsing certificate: decodedCert.Bytes: x509: malformed certificate");
    }
    given_key(&key).map_err(|e| FuncError::Error(format!("error parsing private key: {e}")))?;
    Ok(value(Text::from(cert), Text::from(key)))
}
