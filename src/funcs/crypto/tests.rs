use super::{password, pem};
use crate::funcs::tests::engine::{call, render};
use crate::value::{Origins, Repr, Value};

fn answer(name: &str, args: &[Value]) -> String {
    let value = call(name, args, &Origins::new(false)).unwrap();
    value.as_text().unwrap().as_str().unwrap().to_owned()
}

fn field(value: &Value, name: &str) -> String {
    match value.repr() {
        Repr::Native(native) => native.field(name).unwrap().as_text().unwrap().as_str().unwrap().to_owned(),
        _ => panic!("no certificate"),
    }
}

#[test]
fn derived_passwords_are_exact() {
    let derived = password::derive(1, b"long", b"password", b"user", b"example.com");
    assert_eq!(String::from_utf8(derived).unwrap(), "ZedaFaxcZaso9*");
    let unknown = password::derive(1, b"foo", b"password", b"user", b"example.com");
    assert_eq!(unknown, b"cannot find password template foo");
}

#[test]
fn stand_in_keys_have_the_type_and_size_of_real_ones() {
    for (kind, head, size) in [
        ("", "-----BEGIN RSA PRIVATE KEY-----\nMII", 3243),
        ("rsa", "-----BEGIN RSA PRIVATE KEY-----\nMII", 3243),
        ("dsa", "-----BEGIN DSA PRIVATE KEY-----\nMII", 1224),
        ("ecdsa", "-----BEGIN EC PRIVATE KEY-----\nMH", 227),
        ("ed25519", "-----BEGIN PRIVATE KEY-----\nMC", 119),
    ] {
        let key = answer("genPrivateKey", &[Value::text(kind)]);
        assert!(key.starts_with(head), "{kind} {key}");
        assert_eq!(key.len(), size, "{kind}");
    }
    assert_eq!(answer("genPrivateKey", &[Value::text("foo")]), "Unknown type foo");
}

#[test]
fn stand_in_certificates_have_the_size_of_real_ones_and_can_sign() {
    let origins = Origins::new(false);
    let text = |t: &str| Value::text(t);
    let ca = call("genCA", &[text("foo"), Value::int(365)], &origins).unwrap();
    let near = |value: &Value, size: usize| field(value, "Cert").len().abs_diff(size) <= 8;
    assert!(near(&ca, 1111), "{}", field(&ca, "Cert").len());
    assert_eq!(field(&ca, "Key").len(), 1679);
    let own = [text("foo"), Value::NIL, Value::NIL, Value::int(3)];
    assert!(near(&call("genSelfSignedCert", &own, &origins).unwrap(), 1066));
    let ips = Value::list(vec![text("1.1.1.1")]);
    let names = Value::list(vec![text("a.b")]);
    let signed = [text("x"), ips, names, Value::int(365), ca.clone()];
    let signed = call("genSignedCert", &signed, &origins).unwrap();
    assert!(near(&signed, 1139), "{}", field(&signed, "Cert").len());
    assert_eq!(ca.type_name("4.2.2".parse().unwrap()), "sprig.certificate");
    assert_eq!(pem::decode(field(&ca, "Cert").as_bytes()).unwrap().label, "CERTIFICATE");
}

#[test]
fn bad_arguments_are_refused_in_the_librarys_words() {
    for (template, fault) in [
        ("{{ genSelfSignedCert \"x\" (list \"1.1.1\") nil 1 }}", "genSelfSignedCert: error parsing ip: 1.1.1"),
        ("{{ genSelfSignedCert \"x\" (list 1) nil 1 }}", "genSelfSignedCert: error parsing ip: 1 is not a string"),
        (
            "{{ genSelfSignedCert \"x\" nil (list 1) 1 }}",
            "genSelfSignedCert: error processing alternate dns name: 1 is not a string",
        ),
        ("{{ genCAWithKey \"a\" 1 \"x\" }}", "genCAWithKey: parsing private key: no PEM data in input"),
        ("{{ buildCustomCert \"x\" \"y\" }}", "buildCustomCert: unable to decode base64 certificate"),
        ("{{ buildCustomCert \"eA==\" \"eA==\" }}", "buildCustomCert: unable to decode certificate"),
        (
            "{{ decryptAES \"k\" \"eA==\" }}",
            "decryptAES: runtime error: slice bounds out of range [:16] with capacity 3",
        ),
        ("{{ decryptAES \"k\" \"eA\" }}", "decryptAES: illegal base64 data at input byte 0"),
        ("{{ decryptAES \"k\" \"MTIzNDU2Nzg5MDEyMzQ1Ng==\" }}", "decryptAES: runtime error: index out of range [-1]"),
    ] {
        assert_eq!(render(template), format!("ERR {fault}"));
    }
}

#[test]
fn what_is_encrypted_can_be_decrypted() {
    assert_eq!(render("{{ encryptAES \"k\" \"plain\" | len }}"), "\"44\"");
    assert_eq!(render("{{ encryptAES \"k\" \"plain\" | decryptAES \"k\" }}"), "\"plain\"");
    assert_eq!(render("{{ encryptAES \"k\" \"\" }}{{ decryptAES \"k\" \"\" }}"), "\"\"");
}

#[test]
fn password_hashes_look_like_bcrypt() {
    let hash = answer("bcrypt", &[Value::text("x")]);
    assert!(hash.starts_with("$2a$10$") && hash.len() == 60, "{hash}");
    assert_eq!(answer("htpasswd", &[Value::text("a:b"), Value::text("c")]), "invalid username: a:b");
    assert!(answer("htpasswd", &[Value::text("a"), Value::text("c")]).starts_with("a:$2a$10$"));
    let long = Value::text("x".repeat(73));
    assert!(answer("bcrypt", &[long]).ends_with("password length exceeds 72 bytes"));
}
