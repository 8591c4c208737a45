//! Semantic versions as Helm reads them: lenient parsing, constraints, and the functions `semver`, `semverCompare`.

pub mod constraint;
pub mod version;

use std::any::Any;
use std::rc::Rc;

use super::always;
use crate::base::version::HelmVersion;
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param};
use crate::value::{IntType, ListType, Method, NIL_POINTER, Native, Origins, Repr, Value};
pub use constraint::Constraints;
pub use version::Version;

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    FuncDef {
        name: "semver",
        params: &[Param::Str],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Pure,
        since: always,
        run: semver,
        doc: "Parses a semantic version; the result has Major, Minor, Patch, Compare and more.",
    },
    FuncDef {
        name: "semverCompare",
        params: &[Param::Str, Param::Str],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Pure,
        since: always,
        run: semver_compare,
        doc: "Whether a version satisfies a constraint.",
    },
];

fn text(args: &[Value], index: usize) -> String {
    args.get(index).and_then(Value::as_text).map(|t| t.lossy().into_owned()).unwrap_or_default()
}

fn semver(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let version = Version::parse(&text(args, 0), call.helm).map_err(|e| FuncError::Error(e.0))?;
    Ok(native(version, true, call.helm))
}

fn semver_compare(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let constraints = Constraints::parse(&text(args, 0), call.helm).map_err(|e| FuncError::Error(e.0))?;
    let version = Version::parse(&text(args, 1), call.helm).map_err(|e| FuncError::Error(e.0))?;
    Ok(Value::bool(constraints.check(&version)))
}

fn native(version: Version, pointer: bool, helm: HelmVersion) -> Value {
    Value::new(Repr::Native(Rc::new(SemVer { version, pointer, helm })))
}

/// A version as templates hold it: `*semver.Version` from `semver`, `semver.Version` from its methods.
struct SemVer {
    version: Version,
    pointer: bool,
    helm: HelmVersion,
}

/// Methods that exist on both the value and the pointer.
const VALUE_METHODS: &[Method] = &[
    ("String", &[]),
    ("Major", &[]),
    ("Minor", &[]),
    ("Patch", &[]),
    ("Prerelease", &[]),
    ("Metadata", &[]),
    ("IncPatch", &[]),
    ("IncMinor", &[]),
    ("IncMajor", &[]),
    ("SetPrerelease", &["string"]),
    ("SetMetadata", &["string"]),
    ("MarshalJSON", &[]),
    ("MarshalText", &[]),
    ("Value", &[]),
];

/// Methods that need the pointer.
const POINTER_METHODS: &[Method] = &[
    ("Original", &[]),
    ("LessThan", &["*semver.Version"]),
    ("LessThanEqual", &["*semver.Version"]),
    ("GreaterThan", &["*semver.Version"]),
    ("GreaterThanEqual", &["*semver.Version"]),
    ("Equal", &["*semver.Version"]),
    ("Compare", &["*semver.Version"]),
];

impl SemVer {
    fn derived(&self, version: Version) -> Value {
        native(version, false, self.helm)
    }
}

fn bytes(text: &str) -> Value {
    let items = text.bytes().map(|b| Value::new(Repr::Int(i64::from(b), IntType::Uint8))).collect();
    Value::typed_list(items, ListType::Byte)
}

impl Native for SemVer {
    fn type_name(&self, _: HelmVersion) -> String {
        if self.pointer { "*semver.Version" } else { "semver.Version" }.into()
    }

    fn kind(&self) -> &'static str {
        if self.pointer { "ptr" } else { "struct" }
    }

    fn signature(&self, name: &str) -> Option<&'static [&'static str]> {
        let pointer: &[_] = if self.pointer { POINTER_METHODS } else { &[] };
        VALUE_METHODS.iter().chain(pointer).find(|(method, _)| *method == name).map(|(_, params)| *params)
    }

    fn call(&self, name: &str, args: &[Value], _: &Origins) -> Result<Value, String> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let version = &self.version;
        let other = || match args.first().map(Value::repr) {
            Some(Repr::Native(other)) if other.as_any().is::<SemVer>() => {
                let other = other.as_any().downcast_ref::<SemVer>().ok_or(NIL_POINTER)?;
                Ok::<_, String>(other.version.compare(version).reverse())
            }
            _ => Err(NIL_POINTER.into()),
        };
        let string = || text(args, 0);
        let number = |n: u64| Value::new(Repr::Int(n as i64, IntType::Uint64));
        Ok(match name {
            "String" | "Value" => Value::text(version.to_string()),
            "Original" => Value::text(version.original()),
            "Major" => number(version.major),
            "Minor" => number(version.minor),
            "Patch" => number(version.patch),
            "Prerelease" => Value::text(version.pre.as_str()),
            "Metadata" => Value::text(version.metadata.as_str()),
            "IncPatch" => self.derived(version.inc_patch()),
            "IncMinor" => self.derived(version.inc_minor()),
            "IncMajor" => self.derived(version.inc_major()),
            "SetPrerelease" => self.derived(version.set_prerelease(&string(), self.helm).map_err(|e| e.0)?),
            "SetMetadata" => self.derived(version.set_metadata(&string(), self.helm).map_err(|e| e.0)?),
            "MarshalJSON" => bytes(&format!("\"{version}\"")),
            "MarshalText" => bytes(&version.to_string()),
            "LessThan" => Value::bool(other()? == Less),
            "LessThanEqual" => Value::bool(other()? != Greater),
            "GreaterThan" => Value::bool(other()? == Greater),
            "GreaterThanEqual" => Value::bool(other()? != Less),
            "Equal" => Value::bool(other()? == Equal),
            "Compare" => Value::int(other()? as i64),
            _ => return Err(format!("unknown method {name}")),
        })
    }

    fn hidden(&self) -> &'static [&'static str] {
        &["major", "minor", "patch", "pre", "metadata", "original"]
    }

    fn copied(&self) -> Option<Value> {
        // Only what is public is copied.
        let blank = Version::parse("0.0.0", self.helm).ok()?;
        Some(native(blank, self.pointer, self.helm))
    }

    fn print(&self, _plus: bool, sharp: bool) -> String {
        if !sharp {
            return self.version.to_string();
        }
        let v = &self.version;
        format!(
            "{}semver.Version{{major:0x{:x}, minor:0x{:x}, patch:0x{:x}, pre:{:?}, metadata:{:?}, original:{:?}}}",
            if self.pointer { "&" } else { "" },
            v.major,
            v.minor,
            v.patch,
            v.pre,
            v.metadata,
            v.original()
        )
    }

    fn data(&self) -> Option<Value> {
        Some(Value::text(self.version.to_string()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::funcs::tests::engine::render;

    #[test]
    fn templates_get_what_helm_gives_them() {
        for (template, result) in [
            ("{{ semver \"1.2.3-alpha.1+123\" }} {{ (semver \"1.2.3\").Major | typeOf }}", "1.2.3-alpha.1+123 uint64"),
            (
                "{{ semver \"1\" | typeOf }} {{ semver \"1\" | kindOf }} {{ (semver \"v1\").Original }}",
                "*semver.Version ptr v1",
            ),
            ("{{ semver \"1\" | toJson }} {{ toYaml (dict \"a\" (semver \"1+4\")) }}", "\\\"1.0.0\\\" a: 1.0.0+4"),
            (
                "{{ (semver \"1.2.3\").Compare (semver \"1.2.4\") }} {{ (semver \"1.2.3\").IncMinor | typeOf }}",
                "-1 semver.Version",
            ),
            (
                "{{ ((semver \"1.2.3\").IncMinor).String }} {{ (semver \"1.2.3\").SetMetadata \"abc\" }}",
                "1.3.0 1.2.3+abc",
            ),
            (
                "{{ with semver \"v1.2.3-b.1+x\" }}{{ .Minor }} {{ .Patch }} {{ .Prerelease }} {{ .Metadata }} {{ . }}{{ end }}",
                "2 3 b.1 x 1.2.3-b.1+x",
            ),
            ("{{ (semver \"1.2.3\").Equal (semver \"v1.2.3\") }} {{ semverCompare \"^1.2\" \"v1.9\" }}", "true true"),
            (
                "{{ printf \"%#v\" (semver \"1\") }}",
                "&semver.Version{major:0x1, minor:0x0, patch:0x0, pre:\\\"\\\", metadata:\\\"\\\", original:\\\"1\\\"}",
            ),
        ] {
            assert_eq!(render(template), format!("\"{result}\""), "{template}");
        }
        for (template, error) in [
            ("{{ (semver \"1.2.3\").SetMetadata \"a bc\" }}", "ERR SetMetadata: invalid metadata string"),
            ("{{ semver \"x\" }}", "ERR semver: invalid semantic version"),
            ("{{ (semver \"1.2.3\").Major 1 }}", "ERR wrong number of args for Major: want 0 got 1"),
            ("{{ (semver \"1.2.3\").Foo }}", "ERR can't evaluate field Foo in type *semver.Version"),
        ] {
            assert_eq!(render(template), error);
        }
    }
}
