//! Certificates that a release reads back from its own Secret: no upgrade renews them, so their end is worth a word.

use data_encoding::{BASE64, BASE64_MIME_PERMISSIVE};
use serde_json::Value as Json;

use super::fact::facts_of;
use super::findings::Analysis;
use crate::cluster::lookup::object_of;
use crate::cluster::snapshot::Facts;
use crate::cluster::world::parse_time;

/// Remarks on certificates that the render takes from what is there: until when they are good.
pub fn reused(analysis: &Analysis, facts: &dyn Facts) -> Vec<String> {
    let now = &analysis.now;
    let mut notes = Vec::new();
    for doc in now.docs.iter().filter(|doc| doc.key.kind == "Secret" && doc.key.group.is_empty()) {
        for (path, set) in &doc.leaves {
            let own = |key| object_of(facts, key) == doc.key;
            let kept = facts_of(*set, now).keys().any(|fact| fact.lookup().is_some_and(|key| own(key)));
            let end = || not_after(&pem(crate::diff::at(&doc.object, path)?)?);
            let Some(end) = kept.then(end).flatten() else { continue };
            let over = parse_time(&end).is_some_and(|at| facts.taken() > 0 && at < facts.taken());
            let is = if over { "expired" } else { "expires" };
            notes.push(format!(
                "{path} of {} is a certificate that {is} on {end} and that every upgrade reuses",
                doc.key
            ));
        }
    }
    notes
}

/// The first certificate in a field of a Secret: PEM, as it is or in base64. DER.
fn pem(field: &Json) -> Option<Vec<u8>> {
    let text = field.as_str()?;
    let decoded = BASE64.decode(text.as_bytes()).unwrap_or_else(|_| text.as_bytes().to_vec());
    let text = std::str::from_utf8(&decoded).ok()?;
    let body = text.split_once("-----BEGIN CERTIFICATE-----")?.1.split_once("-----END CERTIFICATE-----")?.0;
    BASE64_MIME_PERMISSIVE.decode(body.trim().as_bytes()).ok()
}

/// `notAfter` of an X.509 certificate (RFC 5280, 4.1), as RFC 3339.
fn not_after(der: &[u8]) -> Option<String> {
    const SEQUENCE: u8 = 0x30;
    const VERSION: u8 = 0xa0;
    let (tag, certificate, _) = element(der)?;
    let (inner, tbs, _) = element(certificate)?;
    if (tag, inner) != (SEQUENCE, SEQUENCE) {
        return None;
    }
    let mut rest = tbs;
    if *rest.first()? == VERSION {
        rest = element(rest)?.2;
    }
    // Serial number, algorithm, issuer.
    for _ in 0..3 {
        rest = element(rest)?.2;
    }
    let (_, validity, _) = element(rest)?;
    let (_, _, second) = element(validity)?;
    let (tag, time, _) = element(second)?;
    let digits = std::str::from_utf8(time).ok()?.strip_suffix('Z')?;
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = match (tag, digits.len()) {
        (0x17, 12) => format!("{}{digits}", if digits < "50" { "20" } else { "19" }),
        (0x18, 14) => digits.to_owned(),
        _ => return None,
    };
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    let (date, time) = ([part(0, 4), part(4, 6), part(6, 8)], [part(8, 10), part(10, 12), part(12, 14)]);
    Some(format!("{}T{}Z", date.join("-"), time.join(":")))
}

/// The first element of DER: its tag, its content, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let bytes = usize::from(first & 0x7f);
        let (head, rest) = (rest.get(..bytes)?, rest.get(bytes..)?);
        if bytes > 4 {
            return None;
        }
        (head.iter().fold(0_usize, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    Some((tag, rest.get(..length)?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made for this test, self-signed; its key was thrown away.
    const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBWjCCAQCgAwIBAgIBATAKBggqhkjOPQQDAjAMMQowCAYDVQQDDAF4MB4XDTI2\n\
MTIwNzEyMDYzM1oXDTI4MDExMTEyMDYzM1owDDEKMAgGA1UEAwwBeDBZMBMGByqG\n\
SM49AgEGCCqGSM49AwEHA0IABCBPgpnmeG2U23W5Z5ufegr7qwzLH3wfsVE0mFsZ\n\
7gnTZtrSQEnMxaTE5te0jjvMtr4us5NPWmuCTEUO6nGXgoKjUzBRMB0GA1UdDgQW\n\
BBTv/82m/4aBqSkLXl3hYKcIzWrnujAfBgNVHSMEGDAWgBTv/82m/4aBqSkLXl3h\n\
YKcIzWrnujAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCUsq9M\n\
pC2bbqfRbC9GyatfW2IIgBo4QiQB/AzPdHATTAIgD8oWDNE2pWdU3CFK0wdGudtW\n\
k/DHHNmsdCyuw2zQmJk=\n\
-----END CERTIFICATE-----\n";

    #[test]
    fn the_end_of_a_certificate_is_read() {
        let written = Json::from(CERTIFICATE);
        assert_eq!(not_after(&pem(&written).unwrap()).as_deref(), Some("2028-01-11T12:06:33Z"));
        let encoded = Json::from(BASE64.encode(CERTIFICATE.as_bytes()));
        assert_eq!(not_after(&pem(&encoded).unwrap()).as_deref(), Some("2028-01-11T12:06:33Z"));
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        let der = pem(&Json::from(CERTIFICATE)).unwrap();
        for cut in 0..der.len() {
            let _ = not_after(&der[..cut]);
        }
        assert_eq!(not_after(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(pem(&Json::from("aHVudGVyMg==")), None);
    }
}
