//! What functions take and give, finer than Go's types: so that most generated calls are sensible.

use helm_render_predictor::base::version::HelmVersion;
use helm_render_predictor::funcs;
use helm_render_predictor::template::builtin;

/// What a value is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Any,
    Str,
    /// A small count.
    Count,
    Int,
    /// Any number.
    Number,
    Float,
    Bool,
    List,
    Strs,
    Map,
    /// A key of a map.
    Key,
    Time,
    Layout,
    /// Text of a date.
    Date,
    Zone,
    Duration,
    Pattern,
    Replacement,
    Version,
    Constraint,
    Yaml,
    Json,
    Toml,
    Base64,
    Path,
    Url,
    UrlParts,
    Format,
    TypeName,
}

/// A function: what it takes (the last may repeat) and gives.
pub struct Signature {
    pub name: &'static str,
    pub params: Vec<Kind>,
    pub repeats: bool,
    pub gives: Kind,
}

/// `name: parameters > result`; `*` behind the last parameter: any number of it.
const TABLE: &str = "
abbrev: count str > str; abbrevboth: count count str > str; add: num* > int; add1: num > int; add1f: num > float
addf: num* > float; adler32sum: str > str; all: any* > bool; any: any* > bool; append: list any > list
mustAppend: list any > list; atoi: str > int; b32dec: b64 > str; b32enc: str > str; b64dec: b64 > str; b64enc: str > b64
base: path > path; biggest: num* > int; camelcase: str > str; cat: any* > str; ceil: num > float; chunk: count list > list
mustChunk: count list > list; clean: path > path; coalesce: any* > any; compact: list > list; mustCompact: list > list
concat: list* > list; contains: str str > bool; date: layout time > str; dateInZone: layout time zone > str
date_in_zone: layout time zone > str; dateModify: dur time > time; date_modify: dur time > time
mustDateModify: dur time > time; must_date_modify: dur time > time; deepCopy: any > any; mustDeepCopy: any > any
deepEqual: any any > bool; default: any any > any; dir: path > path; div: num num > int; divf: num num* > float
duration: dur > str; durationRound: dur > str; empty: any > bool; ext: path > str; first: list > any; mustFirst: list > any
float64: any > float; floor: num > float; fromJson: json > map; fromJsonArray: json > list; mustFromJson: json > any
fromToml: toml > map; fromYaml: yaml > map; fromYamlArray: yaml > list; get: map key > any; has: any list > bool
mustHas: any list > bool; hasKey: map key > bool; hasPrefix: str str > bool; hasSuffix: str str > bool; hello: > str
htmlDate: time > str; htmlDateInZone: time zone > str; indent: count str > str; nindent: count str > str
initial: list > list; mustInitial: list > list; initials: str > str; int: any > int; int64: any > int; isAbs: path > bool
join: str list > str; kebabcase: str > str; kindIs: kind any > bool; kindOf: any > kind; last: list > any
mustLast: list > any; list: any* > list; tuple: any* > list; lower: str > str; max: num num* > int; maxf: num num* > float
merge: map map* > map; mustMerge: map map* > map; mergeOverwrite: map map* > map; mustMergeOverwrite: map map* > map
min: num num* > int; minf: num num* > float; mod: num num > int; mul: num num* > int; mulf: num num* > float
mustPrepend: list any > list; prepend: list any > list; mustPush: list any > list; push: list any > list
mustRegexFind: re str > str; mustRegexFindAll: re str int > strs; mustRegexMatch: re str > bool
mustRegexReplaceAll: re str repl > str; mustRegexReplaceAllLiteral: re str repl > str; mustRegexSplit: re str int > strs
regexFind: re str > str; regexFindAll: re str int > strs; regexMatch: re str > bool; regexQuoteMeta: str > str
regexReplaceAll: re str repl > str; regexReplaceAllLiteral: re str repl > str; regexSplit: re str int > strs
mustRest: list > list; rest: list > list; mustReverse: list > list; reverse: list > list; mustSlice: list count* > list
slice: list count* > list; mustUniq: list > list; uniq: list > list; mustWithout: list any* > list; without: list any* > list
mustToDate: layout date > time; toDate: layout date > time; mustToJson: any > str; toJson: any > str
mustToPrettyJson: any > str; toPrettyJson: any > str; mustToRawJson: any > str; toRawJson: any > str; toToml: map > str
mustToToml: map > str; toYaml: any > str; mustToYaml: any > str; toYamlPretty: any > str; nospace: str > str
omit: map key* > map; pick: map key* > map; pluck: key map* > list; plural: str str count > str; quote: any* > str
squote: any* > str; repeat: count str > str; replace: str str str > str; round: num count > float
semverCompare: constraint version > bool; seq: count* > str; set: map key any > map; unset: map key > map
sha1sum: str > str; sha256sum: str > str; sha512sum: str > str; snakecase: str > str; sortAlpha: list > strs
split: str str > map; splitList: str str > strs; splitn: str count str > map; sub: num num > int; subf: num num* > float
substr: count count str > str; swapcase: str > str; ternary: any any bool > any; title: str > str; toDecimal: str > int
toString: any > str; toStrings: list > strs; trim: str > str; trimAll: str str > str; trimall: str str > str
trimPrefix: str str > str; trimSuffix: str str > str; trunc: count str > str; typeIs: kind any > bool
typeIsLike: kind any > bool; typeOf: any > str; unixEpoch: time > str; until: count > list; untilStep: count count count > list
untitle: str > str; upper: str > str; urlJoin: urlparts > url; urlParse: url > urlparts; wrap: count str > str
wrapWith: count str str > str; osBase: path > path; osClean: path > path; osDir: path > path; osExt: path > str
osIsAbs: path > bool; mustToDuration: dur > any; durationSeconds: dur > float; durationMinutes: dur > float
durationHours: dur > float; durationDays: dur > float; durationWeeks: dur > float; durationMilliseconds: dur > int
durationMicroseconds: dur > int; durationNanoseconds: dur > int; durationRoundTo: dur dur > any
durationTruncateTo: dur dur > any; decryptAES: str b64 > str; buildCustomCert: b64 b64 > any; lookup: str str str str > map
and: any any* > any; or: any any* > any; not: any > bool; len: list > int; index: list count > any; index: map key > any
print: any* > str; println: any* > str; printf: fmt any* > str; html: any* > str; js: any* > str; urlquery: any* > str
eq: any any* > bool; eq: str str* > bool; eq: int int > bool; ne: any any > bool; ne: num num > bool; lt: num num > bool
le: str str > bool; gt: float float > bool; ge: int int > bool; required: str any > any; dict: key any key any > map
dict: key any > map; dict: > map; semver: version > any; len: str > int; len: map > int; slice: str count* > str
tpl: str any > str";

/// Functions that calls are written for elsewhere, or whose results no two runs of Helm share.
pub const NOT_DRAWN: &[&str] = &[
    "ago",
    "bcrypt",
    "call",
    "derivePassword",
    "dig",
    "encryptAES",
    "fail",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "getHostByName",
    "htpasswd",
    "include",
    "keys",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "shuffle",
    "uuidv4",
    "values",
];

fn kind(word: &str) -> Kind {
    match word {
        "any" => Kind::Any,
        "str" => Kind::Str,
        "count" => Kind::Count,
        "int" => Kind::Int,
        "num" => Kind::Number,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "list" => Kind::List,
        "strs" => Kind::Strs,
        "map" => Kind::Map,
        "key" => Kind::Key,
        "time" => Kind::Time,
        "layout" => Kind::Layout,
        "date" => Kind::Date,
        "zone" => Kind::Zone,
        "dur" => Kind::Duration,
        "re" => Kind::Pattern,
        "repl" => Kind::Replacement,
        "version" => Kind::Version,
        "constraint" => Kind::Constraint,
        "yaml" => Kind::Yaml,
        "json" => Kind::Json,
        "toml" => Kind::Toml,
        "b64" => Kind::Base64,
        "path" => Kind::Path,
        "url" => Kind::Url,
        "urlparts" => Kind::UrlParts,
        "fmt" => Kind::Format,
        "kind" => Kind::TypeName,
        other => panic!("unknown kind {other}"),
    }
}

fn signatures() -> Vec<Signature> {
    let entry = |text: &'static str| {
        let (name, rest) = text.split_once(':').unwrap();
        let (params, gives) = rest.split_once('>').unwrap();
        let repeats = params.trim_end().ends_with('*');
        let params = params.split_whitespace().map(|p| kind(p.trim_end_matches('*'))).collect();
        Signature { name: name.trim(), params, repeats, gives: kind(gives.trim()) }
    };
    TABLE.split(['\n', ';']).filter(|t| !t.trim().is_empty()).map(entry).collect()
}

/// The signatures of the functions that this Helm has.
pub fn table(helm: HelmVersion) -> Vec<Signature> {
    let known: Vec<&str> = names(helm);
    signatures().into_iter().filter(|s| !NOT_DRAWN.contains(&s.name) && known.contains(&s.name)).collect()
}

/// The names of all functions that this Helm has.
pub fn names(helm: HelmVersion) -> Vec<&'static str> {
    funcs::table(helm).iter().map(|def| def.name).chain(builtin::FUNCS.iter().map(|def| def.name)).collect()
}

/// Functions that no generator draws, though some version of Helm has them.
pub fn forgotten() -> Vec<&'static str> {
    let drawn = signatures();
    names(HelmVersion::cli(99, 0, 0))
        .into_iter()
        .filter(|name| !NOT_DRAWN.contains(name) && !drawn.iter().any(|s| s.name == *name))
        .collect()
}
