//! Go's `time.Time`, and what its methods give.

use std::any::Any;
use std::rc::Rc;

use super::civil::{Time, Zone};
use super::layout;
use super::layout::format;
use super::parse::quote;
use crate::base::version::HelmVersion;
use crate::funcs::durations;
use crate::value::{IntType, ListType, Method, NIL_POINTER, Native, Origins, Repr, Value};

/// The time as templates hold it.
pub fn value(time: Time) -> Value {
    Value::new(Repr::Native(Rc::new(Moment(time))))
}

/// The time, if the value is one.
pub fn known(value: &Value) -> Option<Time> {
    match value.repr() {
        Repr::Native(native) => native.as_any().downcast_ref::<Moment>().map(|m| m.0.clone()),
        _ => None,
    }
}

fn bytes(bytes: &[u8]) -> Value {
    let items = bytes.iter().map(|b| Value::new(Repr::Int(i64::from(*b), IntType::Uint8))).collect();
    Value::typed_list(items, ListType::Byte)
}

/// Go's own binary form: a version, seconds since year 1, nanoseconds, minutes east of UTC.
fn binary(time: &Time) -> Vec<u8> {
    let offset = time.zone.offset();
    let minutes = if time.zone == Zone::Utc { -1 } else { (offset / 60) as i16 };
    let odd = (offset % 60) as i8;
    let seconds = time.seconds.wrapping_sub(Time::zero().seconds);
    let mut out = vec![if odd == 0 { 1 } else { 2 }];
    out.extend(seconds.to_be_bytes());
    out.extend(time.nanos.to_be_bytes());
    out.extend(minutes.to_be_bytes());
    out.extend((odd != 0).then_some(odd as u8));
    out
}

/// Go's `time.Time`.
struct Moment(Time);

/// Methods and the types of their parameters.
const METHODS: &[Method] = &[
    ("String", &[]),
    ("Year", &[]),
    ("Month", &[]),
    ("Day", &[]),
    ("Hour", &[]),
    ("Minute", &[]),
    ("Second", &[]),
    ("Nanosecond", &[]),
    ("YearDay", &[]),
    ("Weekday", &[]),
    ("Unix", &[]),
    ("UnixMilli", &[]),
    ("UnixMicro", &[]),
    ("UnixNano", &[]),
    ("UTC", &[]),
    ("Local", &[]),
    ("IsZero", &[]),
    ("Format", &["string"]),
    ("Add", &["time.Duration"]),
    ("Sub", &["time.Time"]),
    ("After", &["time.Time"]),
    ("Before", &["time.Time"]),
    ("Equal", &["time.Time"]),
    ("Compare", &["time.Time"]),
    ("AddDate", &["int", "int", "int"]),
    ("Round", &["time.Duration"]),
    ("Truncate", &["time.Duration"]),
    ("In", &["*time.Location"]),
    ("IsDST", &[]),
    ("Location", &[]),
    ("GoString", &[]),
    ("MarshalJSON", &[]),
    ("MarshalText", &[]),
    ("MarshalBinary", &[]),
    ("GobEncode", &[]),
];

/// Methods that give more than a template can take.
const UNCALLABLE: &[(&str, &str)] = &[
    ("Clock", "function Clock has 3 return values; should be 1 or 2"),
    ("Date", "function Date has 3 return values; should be 1 or 2"),
    ("ISOWeek", "invalid function signature for ISOWeek: second return value should be error; is int"),
    ("Zone", "invalid function signature for Zone: second return value should be error; is int"),
    ("ZoneBounds", "invalid function signature for ZoneBounds: second return value should be error; is time.Time"),
];

pub(super) const RFC3339: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

const STRING: &[u8] = b"2006-01-02 15:04:05.999999999 -0700 MST";

impl Moment {
    fn shown(&self) -> Vec<u8> {
        let mut out = format(&self.0, STRING);
        if self.0.monotonic {
            out.extend_from_slice(b" m=+0.050000000");
        }
        out
    }
}

impl Native for Moment {
    fn type_name(&self, _: HelmVersion) -> String {
        "time.Time".into()
    }
    fn kind(&self) -> &'static str {
        "struct"
    }
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn uncallable(&self, name: &str) -> Option<(usize, &'static str)> {
        UNCALLABLE.iter().find(|(method, _)| *method == name).map(|(_, why)| (0, *why))
    }

    fn hidden(&self) -> &'static [&'static str] {
        &["wall", "ext", "loc"]
    }

    fn call(&self, name: &str, args: &[Value], _: &Origins) -> Result<Value, String> {
        let this = &self.0;
        let parts = this.parts();
        let other = || args.first().and_then(known).ok_or(NIL_POINTER);
        let number = |index: usize| args.get(index).and_then(Value::as_int).unwrap_or(0);
        let nanos = |unit: i128| Value::int64(i64::try_from(this.total_nanos() / unit).unwrap_or(0));
        // A constant, or a duration.
        let span = || args.first().and_then(|arg| arg.as_int().or_else(|| durations::known(arg))).unwrap_or(0);
        Ok(match name {
            "Year" => Value::int(parts.year),
            "Month" => named(parts.month, "time.Month", &layout::MONTHS, 1),
            "Weekday" => named(parts.weekday, "time.Weekday", &layout::WEEKDAYS, 0),
            "Day" => Value::int(parts.day),
            "Hour" => Value::int(parts.hour),
            "Minute" => Value::int(parts.minute),
            "Second" => Value::int(parts.second),
            "Nanosecond" => Value::int(this.nanos.into()),
            "YearDay" => Value::int(parts.year_day),
            "Unix" => Value::int64(this.seconds),
            "UnixMilli" => nanos(1_000_000),
            "UnixMicro" => nanos(1000),
            "UnixNano" => nanos(1),
            "UTC" => value(this.shown_in(Zone::Utc)),
            "Local" => value(this.shown_in(Zone::Local)),
            "IsZero" => Value::bool(this.total_nanos() == Time::zero().total_nanos()),
            "Format" => {
                let layout = args.first().and_then(Value::as_text).cloned().unwrap_or_default();
                Value::text(format(this, layout.bytes()))
            }
            "Add" => value(this.plus(span())),
            "Round" => value(this.multiple(span(), true)),
            "Truncate" => value(this.multiple(span(), false)),
            "In" => match args.first().map(Value::repr) {
                Some(Repr::Native(native)) => {
                    let place = native.as_any().downcast_ref::<Location>().ok_or(NIL_POINTER)?;
                    value(this.shown_in(place.0.clone()))
                }
                _ => return Err("time: missing Location in call to Time.In".into()),
            },
            "IsDST" => Value::bool(false),
            "Location" => Value::new(Repr::Native(Rc::new(Location(this.zone.clone())))),
            "GoString" => Value::text(self.print(false, true)),
            "MarshalJSON" => bytes(&[b"\"", format(this, RFC3339).as_slice(), b"\""].concat()),
            "MarshalText" => bytes(&format(this, RFC3339)),
            "MarshalBinary" | "GobEncode" => bytes(&binary(this)),
            "Sub" => durations::value(this.since(&other()?)),
            "After" => Value::bool(this.total_nanos() > other()?.total_nanos()),
            "Before" => Value::bool(this.total_nanos() < other()?.total_nanos()),
            "Equal" => Value::bool(this.total_nanos() == other()?.total_nanos()),
            "Compare" => Value::int(this.total_nanos().cmp(&other()?.total_nanos()) as i64),
            "AddDate" => {
                let small = |index| number(index).clamp(-1 << 40, 1 << 40);
                let date = [parts.year + small(0), parts.month + small(1), parts.day + small(2)];
                let clock = [parts.hour, parts.minute, parts.second];
                value(Time::from_parts(date, clock, this.nanos, this.zone.clone()))
            }
            _ => Value::text(self.shown()),
        })
    }

    fn print(&self, _: bool, sharp: bool) -> String {
        if !sharp {
            return String::from_utf8_lossy(&self.shown()).into_owned();
        }
        let parts = self.0.parts();
        let month = usize::try_from(parts.month - 1).ok().and_then(|m| layout::MONTHS.get(m)).unwrap_or(&"");
        let zone = match &self.0.zone {
            Zone::Utc => "time.UTC".into(),
            Zone::Local => "time.Local".into(),
            Zone::Fixed(_, name) => format!("time.Location({})", quote(name.as_bytes())),
        };
        format!(
            "time.Date({}, time.{month}, {}, {}, {}, {}, {}, {zone})",
            parts.year, parts.day, parts.hour, parts.minute, parts.second, self.0.nanos
        )
    }

    fn data(&self) -> Option<Value> {
        Some(Value::text(format(&self.0, RFC3339)))
    }

    fn toml(&self) -> Option<String> {
        let layout: &[u8] = match self.0.zone.abbreviation() {
            "date-local" => b"2006-01-02",
            "time-local" => b"15:04:05.999999999",
            "datetime-local" => b"2006-01-02T15:04:05.999999999",
            _ => RFC3339,
        };
        String::from_utf8(format(&self.0, layout)).ok()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A month or weekday: a number that prints its name.
struct Named {
    number: i64,
    ty: &'static str,
    name: &'static str,
}

fn named(number: i64, ty: &'static str, names: &[&'static str], first: i64) -> Value {
    let name = usize::try_from(number - first).ok().and_then(|at| names.get(at)).copied().unwrap_or("");
    Value::new(Repr::Native(Rc::new(Named { number, ty, name })))
}

impl Native for Named {
    fn type_name(&self, _: HelmVersion) -> String {
        self.ty.into()
    }
    fn kind(&self) -> &'static str {
        "int"
    }
    fn methods(&self) -> &'static [Method] {
        &[("String", &[])]
    }
    fn call(&self, _: &str, _: &[Value], _: &Origins) -> Result<Value, String> {
        Ok(Value::text(self.name))
    }
    fn print(&self, _: bool, sharp: bool) -> String {
        if sharp { self.number.to_string() } else { self.name.into() }
    }
    fn data(&self) -> Option<Value> {
        Some(Value::int(self.number))
    }
    fn truth(&self) -> bool {
        self.number != 0
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Go's `*time.Location`.
struct Location(Zone);

impl Location {
    fn name(&self) -> &str {
        match &self.0 {
            // The zone of a program that has none.
            Zone::Utc | Zone::Local => "UTC",
            Zone::Fixed(_, name) => name,
        }
    }
}

impl Native for Location {
    fn type_name(&self, _: HelmVersion) -> String {
        "*time.Location".into()
    }
    fn kind(&self) -> &'static str {
        "ptr"
    }
    fn methods(&self) -> &'static [Method] {
        &[("String", &[])]
    }
    fn call(&self, _: &str, _: &[Value], _: &Origins) -> Result<Value, String> {
        Ok(Value::text(self.name()))
    }
    fn hidden(&self) -> &'static [&'static str] {
        &["name", "zone", "tx", "extend", "cacheStart", "cacheEnd", "cacheZone"]
    }
    fn print(&self, _: bool, _: bool) -> String {
        self.name().into()
    }
    fn data(&self) -> Option<Value> {
        Some(Value::map(std::collections::BTreeMap::new()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
