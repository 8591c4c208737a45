//! The published and recorded vectors of the values digest (F-122–F-136f).

use sha2::{Digest, Sha256};

use super::digest_text;
use crate::codec::json;

/// Values as composed: every number of the JSON text is a double.
fn text_of(values: &str) -> String {
    digest_text(&json::value_to_json(&json::parse(values.as_bytes()).expect("a vector is valid JSON")))
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

/// Eleven words of ten letters.
fn words(last: char) -> String {
    let words: Vec<String> = ('a'..=last).map(|c| c.to_string().repeat(10)).collect();
    words.join(" ")
}

#[test]
fn f_117_f_119_f_120_f_128_to_f_136_f_136b_f_136c_f_136d_f_136e_f_136f_digests_equal_the_vectors() {
    let w = words('k');
    let w9 = words('i');
    let x = "x".repeat(85);
    let (k, l) = ("k".repeat(129), "l".repeat(129));
    for (id, values, digest) in [
        ("F-122", "{}".to_owned(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("F-122 null", "null".into(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("F-123", r#"{"foo":"bar"}"#.into(), "1dabc4e3cbbd6a0818bd460f3a6c9855bfe95d506c74726bc0f2edb0aecb1f4e"),
        (
            "F-124",
            r#"{"replicas":3,"image":{"tag":"latest","repository":"nginx"},"ports":[{"protocol":"TCP","port":8080},{"port":9090,"protocol":"UDP"}]}"#.into(),
            "fcdc2b0de1581a3633ada4afee3f918f6eaa5b5ab38c3fef03d5b48d3f85d9f6",
        ),
        (
            "F-125",
            r#"{"replicas":3,"test":{"632bd80235a05f4192aefade":"value1","632bd80ddf416cf32fd50679":"value2","632bd817c559818a52307da2":"value3","632bd82398e71231a98004b6":"value4"}}"#.into(),
            "8a980fcbeadd6f05818f07e8aec14070c22250ca3d96af1fcd5f93b3e85b4d70",
        ),
        ("F-128", r#"{"a":null}"#.into(), "1993ef786683a4339c6bfc85a0dde04652834eb7111bbb54b0e594ef57990e99"),
        ("F-129 map", r#"{"a":{}}"#.into(), "580a1f40a2c065f1c0b3f662907ca8cc41a2a90951d5b307c4022f38791c60a1"),
        ("F-129 list", r#"{"a":[]}"#.into(), "b22fd8520ac418becd3047a212d8382da015d13d83c083d64fee8b4238705c2c"),
        (
            "F-130",
            r#"{"a":"","b":" ","c":"x ","d":" x"}"#.into(),
            "5ae890902574442f226919c2565117c3681ecce72b008ca452fbe1e650457404",
        ),
        (
            "F-131",
            r#"{"n":3,"f":1.5,"e":1e21,"g":1e-7,"h":123456789.25,"i":0.1,"j":-0.0,"k":1e6,"l":12345678901234567890,"m":100000000000000000000}"#.into(),
            "a8c3dadc258c5f021c89851d1a7c17ada90ca96230eb85dd20e9f805bbd46fd7",
        ),
        (
            "F-132",
            r#"{"s1":"y","s2":"N","s3":"On","s4":"off","s5":".5","s6":"1_000","s7":"1:30","s8":"2024-01-02","s9":"2024-01-02T03:04:05Z"}"#.into(),
            "6e5e027c5d8a66f2024d8c33a8c74e88697febda06265f23a35cb6d9c955eeea",
        ),
        (
            "F-133",
            r#"{"m":"line1\nline2","n":"line1\nline2\n","o":"line1\n\n","p":"\nlead","q":" lead\nx","r":"trail \nx","s":"\n","t":"a\tb\nc","u":"x\r\ny"}"#.into(),
            "bb93b49f649afecf59fa5d1ef97e4b7602e977450b7799d63de7f7d1f45e2943",
        ),
        (
            "F-134",
            r#"{"list":[1,"a",null,true,{"b":1,"a":2},[1,2],[],{}],"nested":{"list":[{"z":{"y":1,"x":2},"a":[{"q":1}]}]}}"#.into(),
            "9f5b29d5f98e4efdc5ebc1909c18a9cebe1e530608b20e456930e19e6bf3b44b",
        ),
        (
            "F-135",
            r#"{"10":"a","9":"b","a10":1,"a9":2,"A":1,"_":2,"é":3,"-":4,"":5}"#.into(),
            "3d376cd5d250e8766567cf21eefc3c88bb2d811de4301e53e3fdc479e3ce0534",
        ),
        ("F-136", format!(r#"{{"long":"{w}"}}"#), "1d886d9661cbf1dfba94aa5d7b48e8debf65432b6d615399ebaebc60aeef1e4a"),
        (
            "F-136b list",
            format!(r#"{{"l":["{w9}"]}}"#),
            "0c976956133a696e5cb730aae876ab249f051bd8d7098c6384ca65d93931e9a3",
        ),
        (
            "F-136b nested",
            format!(r#"{{"m":{{"l":[{{"k":"{w9}"}}]}}}}"#),
            "998ec25628f4b9b9c2220e86abf74f624e12954cd48ef7153a33b34ab154fd2f",
        ),
        (
            "F-136c hash",
            format!(r##"{{"top":"# {w}"}}"##),
            "e47c5d154aa66895af69e22a56b7e6e6fd7e44b259f3451557907a70c1cef8bd",
        ),
        (
            "F-136c tab",
            format!(r#"{{"top":"tab\t{w}"}}"#),
            "0b1ad34d54f0e505818238b9e23a934067acf716d336f8c2b7fdd5c38ce79c97",
        ),
        (
            "F-136d plain",
            format!(r#"{{"k":"{x}  two  more   three tail"}}"#),
            "5474f3c69a08957a9d34dbded4ece2477022cd9a3ae0b5f5964f57e99d3e434b",
        ),
        (
            "F-136d double",
            format!(r#"{{"k":"\t {x}  two  more   three tail"}}"#),
            "c9dab2f5dc98032710e6c8d6f7372af70cf85303866813b9a4daa3b0ee5841b1",
        ),
        (
            "F-136e",
            r#"{"a":"\ufeffa b\nc","b":"x😀y","c":"x\u00a0y","d":"x\t\u00a0y","e":"x\u2028y","f":"x\u2028","g":"x \u2028y","h":"x\u2028y\nz"}"#.into(),
            "2562d25110bf8bb39fafa956cd7add4e9ff0d89fc96f771de7f218cafae7aba7",
        ),
        (
            "F-136f",
            format!(r#"{{"{k}":{{"a":[1]}},"{l}":[{{"b":1}}],"m\nn":"v","o\u2028p":null}}"#),
            "33ca061fff306bdd995a1a445d07e1651ca85a845f3cf2b346e45c127085c1df",
        ),
    ] {
        let text = text_of(&values);
        assert_eq!(sha256(&text), digest, "{id}: {text}");
    }
}

#[test]
fn f_118_numbers_print_by_their_value() {
    for (number, text) in [
        ("3.0", "3"),
        ("-0.0", "0"),
        ("1e6", "1000000"),
        ("0.0001", "0.0001"),
        ("1e-5", "1e-05"),
        ("123456.5", "123456.5"),
        ("1234567.5", "1.2345675e+06"),
        ("123456789.25", "1.2345678925e+08"),
        ("12345678901234567890", "12345678901234567168"),
        ("1e20", "1e+20"),
        ("1e21", "1e+21"),
        ("9007199254740993", "9007199254740992"),
        ("9223372036854775807", "9223372036854775808"),
        ("9223372036854775808", "9223372036854775808"),
        ("18446744073709551615", "1.8446744073709552e+19"),
        ("-9223372036854775809", "-9223372036854775808"),
    ] {
        assert_eq!(text_of(&format!(r#"{{"a":{number}}}"#)), format!("a: {text}\n"));
    }
}

#[test]
fn integers_of_target_paths_print_exactly() {
    assert_eq!(digest_text(&serde_json::json!({"a": 9_007_199_254_740_993_i64})), "a: 9007199254740993\n");
}

#[test]
fn maps_are_equal_whatever_the_order_of_their_keys() {
    assert_eq!(text_of(r#"{"b":1,"a":[{"d":1,"c":2}]}"#), text_of(r#"{"a":[{"c":2,"d":1}],"b":1}"#));
    assert_ne!(text_of(r#"{"a":null}"#), text_of("{}"));
}
