//! Recorded: Conversions, arithmetic, types, data formats.

use super::check;

#[test]
fn conversion_functions_answer_as_recorded() {
    check(CASES);
}

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    (r#"{{ int .Values.f }} {{ int "08" }} {{ int "0x1F" }} {{ int "1_000" }} {{ int "5.00" }} {{ int "5.50" }} {{ int " 5" }} {{ int nil }} {{ int true }} {{ int (list) }} {{ int "-0b11" }} {{ int "0o17" }} {{ int "017" }} {{ int "99999999999999999999" }} {{ int 1e30 }} {{ int -1e30 }}"#,
     r#""2 0 31 1000 5 0 0 0 1 0 -3 15 15 0 -9223372036854775808 -9223372036854775808""#),
    (r#"{{ float64 "1e3" }} {{ float64 "0x1p4" }} {{ float64 "inf" }} {{ float64 "NaN" }} {{ float64 "1_0.5" }} {{ float64 "1e400" }} {{ float64 ".5" }} {{ float64 "5." }} {{ float64 true }} {{ float64 nil }} {{ float64 "infinity" }} {{ float64 "-Inf" }}"#,
     r#""1000 16 +Inf NaN 10.5 0 0.5 5 1 0 +Inf -Inf""#),
    (r#"{{ atoi "0012" }} {{ atoi "+5" }} {{ atoi "1_0" }} {{ atoi "99999999999999999999" }} {{ atoi "-99999999999999999999" }} {{ atoi " 1" }}"#,
     r#""12 5 0 9223372036854775807 -9223372036854775808 0""#),
    (r#"{{ toDecimal "777" }} {{ toDecimal 755 }} {{ toDecimal "0755" }} {{ toDecimal 8 }} {{ toDecimal nil }} {{ toDecimal .Values.i }} {{ toDecimal "-17" }}"#,
     r#""511 493 493 0 0 7 -15""#),
    (r#"{{ add }} {{ add 1 "2" 3.7 nil true }} {{ add1 "x" }} {{ sub 1 2 }} {{ mul 3 }} {{ mul 3 "4" 2.9 }} {{ div 7 2 }} {{ div -7 2 }} {{ mod -7 3 }} {{ mod 7 -3 }}"#,
     r#""0 7 1 -1 3 24 3 -3 -1 1""#),
    ("{{ div 1 0 }}", "ERR div: runtime error: integer divide by zero"),
    ("{{ mod 1 0 }}", "ERR mod: runtime error: integer divide by zero"),
    ("{{ div -9223372036854775808 -1 }} {{ mod -9223372036854775808 -1 }} {{ add 9223372036854775807 1 }} {{ mul 9223372036854775807 2 }}",
     r#""-9223372036854775808 0 -9223372036854775808 -2""#),
    ("{{ addf 0.1 0.2 }} {{ addf }} {{ addf 1 }} {{ subf 1 0.9 }} {{ mulf 1.1 1.1 }} {{ divf 1 3 }} {{ divf 2 3 }} {{ divf -2 3 }} {{ divf 1 3 3 }} {{ add1f 0.1 }} {{ subf 1 }} {{ mulf 3 }} {{ divf 1e300 1e-300 }} {{ mulf 1e300 1e300 }} {{ addf 1e22 1e-22 }} {{ mulf 1e-200 1e-200 }}",
     r#""0.3 0 1 0.1 1.21 0.3333333333333333 0.6666666666666667 -0.6666666666666667 0.1111111111111111 1.1 1 3 +Inf +Inf 1e+22 0""#),
    ("{{ divf 1 0 }}", "ERR divf: decimal division by 0"),
    (r#"{{ addf "inf" }}"#, "ERR addf: Cannot create a Decimal from +Inf"),
    (r#"{{ addf "NaN" }}"#, "ERR addf: Cannot create a Decimal from NaN"),
    ("{{ mulf 123456789012345678 98765432109876543 }} {{ divf 10 4 }} {{ divf 1 1e20 }}",
     r#""1.219326311370218e+34 2.5 0""#),
    (r#"{{ max 1 2 3 }} {{ min 5 "3" 4.9 }} {{ maxf 1.5 2.5 }} {{ minf 1.5 "0.5" }} {{ biggest 1 7 }} {{ max 1 }} {{ maxf "NaN" 1 }} {{ minf "-inf" "NaN" }}"#,
     r#""3 3 2.5 0.5 7 1 NaN -Inf""#),
    (r#"{{ ceil 1.2 }} {{ floor -1.2 }} {{ ceil "2.1" }} {{ round 1.255 2 }} {{ round 123.555555 3 }} {{ round 123.5555 3 0.6 }} {{ round -1.5 0 }} {{ round 2.5 0 }} {{ round 1234.5 -2 }} {{ round "3.14159" 2 }} {{ ceil -0.5 }} {{ round -0.4 0 }} {{ round 1e300 20 }} {{ floor 1e21 }} {{ floor 3000000 }}"#,
     r#""2 -2 3 1.25 123.556 123.555 -2 3 1200 3.14 -0 -1 +Inf 1e+21 3e+06""#),
    ("{{ seq }} | {{ seq 5 }} | {{ seq -3 }} | {{ seq 1 2 7 }} | {{ seq 7 -2 1 }} | {{ seq 7 2 1 }} | {{ seq 3 1 }} | {{ seq 0 }} | {{ seq 1 2 3 4 }} | {{ seq 1 }} | {{ seq 1 0 5 }} | {{ seq 5 0 1 }} | {{ seq 1 -1 5 }}",
     r#"" | 1 2 3 4 5 | 1 0 -1 -2 -3 | 1 3 5 7 | 7 5 3 1 |  | 3 2 1 | 1 0 |  | 1 |  |  | ""#),
    (r#"{{ deepEqual 1 1 }} {{ deepEqual 1 1.0 }} {{ deepEqual 1 (int64 1) }} {{ deepEqual nil nil }} {{ deepEqual (list 1) (list 1) }} {{ deepEqual (list "a") (splitList "," "a") }} {{ deepEqual (dict "a" (list)) (dict "a" (list)) }} {{ deepEqual (rest (list)) (list) }} {{ deepEqual (concat) (list) }} {{ deepEqual .Values .Values }} {{ deepEqual .Values.m (dict "a" 1.0 "b" "x" "c" (dict "d" 2.0)) }} {{ deepEqual (float64 "NaN") (float64 "NaN") }} {{ deepEqual nil (list) }}"#,
     r#""true false false true true false true false false true true false false""#),
    (r#"{{ mustFromJson "null" }}|{{ mustFromJson "1" | typeOf }}|{{ mustFromJson "[1,\"a\"]" | typeOf }}|{{ mustFromJson "{\"a\":1}" | toJson }}"#,
     r#""|float64|[]interface {}|{\"a\":1}""#),
    (r#"{{ mustFromJson "{" }}"#, "ERR mustFromJson: unexpected end of JSON input"),
    (r#"{{ mustFromJson "" }}"#, "ERR mustFromJson: unexpected end of JSON input"),
    (r#"{{ toJson (float64 "NaN") }}|{{ toYaml (float64 "NaN") }}|{{ toPrettyJson (float64 "NaN") }}|{{ toYamlPretty (float64 "NaN") }}"#,
     r#""|||.nan""#),
    (r#"{{ mustToJson (float64 "NaN") }}"#, "ERR mustToJson: json: unsupported value: NaN"),
    (r#"{{ mustToPrettyJson (float64 "NaN") }}"#, "ERR mustToPrettyJson: json: unsupported value: NaN"),
    (r#"{{ mustToRawJson (float64 "NaN") }}"#, "ERR mustToRawJson: json: unsupported value: NaN"),
    (r#"{{ toRawJson (float64 "NaN") }}"#, "ERR toRawJson: json: unsupported value: NaN"),
    (r#"{{ toRawJson "<a>" }} {{ toJson "<a>" }} {{ toPrettyJson (dict "a" (list 1 (dict) (list))) }} {{ toJson nil }} {{ toYaml nil }} {{ toYamlPretty nil }} {{ toYaml (rest (list)) }} {{ toYamlPretty (rest (list)) }} {{ toYamlPretty (dict "a" (list 1 "b")) }} {{ toYaml (rest (list 1)) }}"#,
     r#""\"<a>\" \"\\u003ca\\u003e\" {\n  \"a\": [\n    1,\n    {},\n    []\n  ]\n} null null null null [] a:\n  - 1\n  - b []""#),
];
