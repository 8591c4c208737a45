//! URLs as Go's `net/url` takes them apart and puts them together.

pub(crate) mod address;
pub(crate) mod url;

use std::collections::BTreeMap;

use super::args::{NIL_POINTER, panic, text};
use super::pure;
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{Repr, Text, Value};
use url::Url;

type Out = Result<Value, FuncError>;

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("urlParse", &[P::Str], Flow::Deep, parse, "Takes a URL apart into a map."),
    pure("urlJoin", &[P::Map], Flow::Deep, join, "Puts a URL together from a map."),
];

fn parse(_: &mut Call<'_>, args: &[Value]) -> Out {
    let url = match Url::parse(text(args, 0).bytes()) {
        Ok(url) => url,
        Err(error) => return panic(format!("unable to parse url: {error}")),
    };
    let hostname = url.hostname().to_vec();
    let userinfo = url.user.as_ref().map(url::User::print).unwrap_or_default();
    let parts = [
        ("scheme", url.scheme),
        ("host", url.host),
        ("hostname", hostname),
        ("path", url.path),
        ("query", url.query),
        ("opaque", url.opaque),
        ("fragment", url.fragment),
        ("userinfo", userinfo),
    ];
    Ok(Value::map(parts.into_iter().map(|(k, v)| (Text::from(k), Value::text(v))).collect::<BTreeMap<_, _>>()))
}

fn part(args: &[Value], key: &str) -> Result<Vec<u8>, FuncError> {
    let Some(value) = args.first().and_then(Value::as_map).and_then(|map| map.get(key.as_bytes())) else {
        return Ok(Vec::new());
    };
    match value.repr() {
        Repr::Str(text) => Ok(text.bytes().to_vec()),
        Repr::Hole(hole) => Ok(hole.label.as_bytes().to_vec()),
        Repr::Nil => panic(NIL_POINTER),
        _ => panic(format!("unable to parse {key} key, must be of type string, but {} found", value.kind())),
    }
}

fn join(_: &mut Call<'_>, args: &[Value]) -> Out {
    let mut url = Url {
        scheme: part(args, "scheme")?,
        host: part(args, "host")?,
        path: part(args, "path")?,
        query: part(args, "query")?,
        opaque: part(args, "opaque")?,
        fragment: part(args, "fragment")?,
        ..Url::default()
    };
    let userinfo = part(args, "userinfo")?;
    if !userinfo.is_empty() {
        let whole = [b"proto://", &userinfo[..], b"@host"].concat();
        url.user = match Url::parse(&whole) {
            Ok(url) => url.user,
            Err(error) => return panic(format!("unable to parse userinfo in dict: {error}")),
        };
    }
    Ok(Value::text(url.print()))
}

#[cfg(test)]
mod tests {
    use crate::funcs::tests::engine::render;

    #[test]
    fn urls_are_taken_apart_as_go_does() {
        for (url, parts) in [
            (
                "http://u:p%40@h:80/p%20q/a?x=1#f g",
                "map[fragment:f g host:h:80 hostname:h opaque: path:/p q/a query:x=1 scheme:http userinfo:u:p%40]",
            ),
            ("a/b", "map[fragment: host: hostname: opaque: path:a/b query: scheme: userinfo:]"),
            ("mailto:x@y", "map[fragment: host: hostname: opaque:x@y path: query: scheme:mailto userinfo:]"),
            ("HTTP://[::1]:8/", "map[fragment: host:[::1]:8 hostname:::1 opaque: path:/ query: scheme:http userinfo:]"),
            ("*", "map[fragment: host: hostname: opaque: path:* query: scheme: userinfo:]"),
        ] {
            assert_eq!(render(&format!("{{{{ urlParse {url:?} }}}}")), format!("\"{parts}\""), "{url}");
        }
    }

    #[test]
    fn bad_urls_are_refused_in_gos_words() {
        for (url, fault) in [
            ("http://a b", "parse \"http://a b\": invalid character \" \" in host name"),
            (":a", "parse \":a\": missing protocol scheme"),
            ("a:b@c:/%zz", ""),
            ("/%zz", "parse \"/%zz\": invalid URL escape \"%zz\""),
            ("http://h:x/", "parse \"http://h:x/\": invalid port \":x\" after host"),
            ("http://u^@h/", "parse \"http://u^@h/\": net/url: invalid userinfo"),
            ("http://[::1", "parse \"http://[::1\": missing ']' in host"),
            ("1:2", "parse \"1:2\": first path segment in URL cannot contain colon"),
        ] {
            let got = render(&format!("{{{{ urlParse {url:?} }}}}"));
            let got = got.strip_prefix("ERR urlParse: unable to parse url: ").unwrap_or("");
            assert_eq!(got, fault, "{url}");
        }
    }

    #[test]
    fn urls_are_put_together_as_go_does() {
        for (dict, url) in [
            (
                r#""scheme" "http" "host" "h" "path" "/a b" "query" "q=1" "fragment" "f" "userinfo" "u:p@x""#,
                "\"http://u:p%40x@h/a%20b?q=1#f\"",
            ),
            (r#""host" "h" "path" "p""#, "\"//h/p\""),
            (r#""path" "a:b""#, "\"./a:b\""),
            (r#""scheme" "mailto" "opaque" "x@y""#, "\"mailto:x@y\""),
            (r#""scheme" "http" "userinfo" "u""#, "\"http://u@\""),
            (r#""scheme" 1"#, "ERR urlJoin: unable to parse scheme key, must be of type string, but int found"),
            (r#""scheme" nil"#, "ERR urlJoin: runtime error: invalid memory address or nil pointer dereference"),
        ] {
            assert_eq!(render(&format!("{{{{ urlJoin (dict {dict}) }}}}")), url);
        }
    }
}
