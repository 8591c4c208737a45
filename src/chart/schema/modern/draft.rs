//! The drafts and which keywords of them hold schemas.

/// A draft of JSON Schema, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// draft-04
    D4,
    /// draft-06
    D6,
    /// draft-07
    D7,
    /// 2019-09
    D2019,
    /// 2020-12, the default
    D2020,
}

/// How schemas lie below a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One schema.
    One,
    /// A list of them.
    Many,
    /// One, or a list.
    OneOrMany,
    /// A map of them.
    Named,
}

/// A keyword that holds schemas.
pub struct Keyword {
    /// Its name.
    pub name: &'static str,
    /// How its schemas lie.
    pub shape: Shape,
    from: Draft,
    to: Draft,
    /// Whether validation looks at it; else only references do.
    pub applied: bool,
}

const fn keyword(name: &'static str, shape: Shape, from: Draft, to: Draft) -> Keyword {
    Keyword { name, shape, from, to, applied: true }
}

const fn passive(name: &'static str, shape: Shape, from: Draft) -> Keyword {
    Keyword { name, shape, from, to: Draft::D2020, applied: false }
}

use Draft::{D4, D6, D7, D2019, D2020};
use Shape::{Many, Named, One, OneOrMany};

/// Every keyword that holds schemas, with the drafts that know it.
const KEYWORDS: &[Keyword] = &[
    passive("definitions", Named, D4),
    passive("$defs", Named, D2019),
    passive("contentSchema", One, D2019),
    keyword("allOf", Many, D4, D2020),
    keyword("anyOf", Many, D4, D2020),
    keyword("oneOf", Many, D4, D2020),
    keyword("not", One, D4, D2020),
    keyword("items", OneOrMany, D4, D2019),
    keyword("items", One, D2020, D2020),
    keyword("additionalItems", One, D4, D2019),
    keyword("properties", Named, D4, D2020),
    keyword("patternProperties", Named, D4, D2020),
    keyword("additionalProperties", One, D4, D2020),
    keyword("dependencies", Named, D4, D2020),
    keyword("contains", One, D6, D2020),
    keyword("propertyNames", One, D6, D2020),
    keyword("if", One, D7, D2020),
    keyword("then", One, D7, D2020),
    keyword("else", One, D7, D2020),
    keyword("dependentSchemas", Named, D2019, D2020),
    keyword("unevaluatedProperties", One, D2019, D2020),
    keyword("unevaluatedItems", One, D2019, D2020),
    keyword("prefixItems", Many, D2020, D2020),
];

const URLS: &[(&str, Draft)] = &[
    ("json-schema.org/schema", D2020),
    ("json-schema.org/draft/2020-12/schema", D2020),
    ("json-schema.org/draft/2019-09/schema", D2019),
    ("json-schema.org/draft-07/schema", D7),
    ("json-schema.org/draft-06/schema", D6),
    ("json-schema.org/draft-04/schema", D4),
];

impl Draft {
    /// All of them.
    pub const ALL: [Draft; 5] = [D4, D6, D7, D2019, D2020];

    /// The draft that a `$schema` names.
    pub fn of_url(url: &str) -> Option<Draft> {
        let plain = url.strip_suffix('#').unwrap_or(url);
        let plain = plain.strip_prefix("http://").or_else(|| plain.strip_prefix("https://"))?;
        URLS.iter().find(|(known, _)| *known == plain).map(|(_, draft)| *draft)
    }

    /// Address of its metaschema, without fragment.
    pub fn metaschema(self) -> &'static str {
        match self {
            D4 => "http://json-schema.org/draft-04/schema",
            D6 => "http://json-schema.org/draft-06/schema",
            D7 => "http://json-schema.org/draft-07/schema",
            D2019 => "https://json-schema.org/draft/2019-09/schema",
            D2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The keyword that names a schema.
    pub fn id(self) -> &'static str {
        if self == D4 { "id" } else { "$id" }
    }

    /// The keywords it knows that hold schemas.
    pub fn keywords(self) -> impl Iterator<Item = &'static Keyword> {
        KEYWORDS.iter().filter(move |keyword| (keyword.from..=keyword.to).contains(&self))
    }
}
