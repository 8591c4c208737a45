//! Times: the functions on them, and Go's `time.Time` as templates hold it.
//!
//! Zones: UTC, `Local` (which is UTC in a render) and fixed offsets read from texts. A named zone of the IANA database
//! is treated as unknown, which sprig shows as UTC.

pub mod civil;
mod layout;
mod moment;
pub(crate) mod parse;

use super::{always, durations, pure};
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param};
use crate::value::origin::Origin;
use crate::value::{IntType, OriginSet, Repr, Text, Value};
use civil::{Time, Zone};
pub use layout::format;
use moment::RFC3339;
pub use moment::{known, value};
pub use parse::parse;
pub(in crate::funcs) use parse::quote;

const TIME: Param = Param::Named("time.Time");

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    FuncDef {
        name: "now",
        params: &[],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Clock,
        since: always,
        run: now,
        doc: "The time of the render.",
    },
    FuncDef {
        name: "ago",
        params: &[Param::Any],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Clock,
        since: always,
        run: ago,
        doc: "How long ago a time was.",
    },
    pure("date", &[Param::Str, Param::Any], Flow::Deep, date, "A time in a layout, in local time."),
    pure("dateInZone", &[Param::Str, Param::Any, Param::Str], Flow::Deep, date_in_zone, "A time in a layout and zone."),
    pure(
        "date_in_zone",
        &[Param::Str, Param::Any, Param::Str],
        Flow::Deep,
        date_in_zone,
        "A time in a layout and zone.",
    ),
    pure("htmlDate", &[Param::Any], Flow::Deep, html_date, "A time as 2006-01-02, in local time."),
    pure("htmlDateInZone", &[Param::Any, Param::Str], Flow::Deep, html_date_in_zone, "A time as 2006-01-02 in a zone."),
    pure("dateModify", &[Param::Str, TIME], Flow::Deep, date_modify, "A time moved by a duration."),
    pure("date_modify", &[Param::Str, TIME], Flow::Deep, date_modify, "A time moved by a duration."),
    pure("mustDateModify", &[Param::Str, TIME], Flow::Deep, must_date_modify, "A time moved by a duration, or fails."),
    pure(
        "must_date_modify",
        &[Param::Str, TIME],
        Flow::Deep,
        must_date_modify,
        "A time moved by a duration, or fails.",
    ),
    pure(
        "toDate",
        &[Param::Str, Param::Str],
        Flow::Deep,
        to_date,
        "Reads a time by a layout; the zero time if it cannot.",
    ),
    pure("mustToDate", &[Param::Str, Param::Str], Flow::Deep, must_to_date, "Reads a time by a layout, or fails."),
    pure("unixEpoch", &[TIME], Flow::Deep, unix_epoch, "Seconds since 1970."),
];

/// The origin of what the clock said to this call.
pub(super) fn clock(call: &Call<'_>, function: &str) -> OriginSet {
    let site = format!("{}:{}:{} {function}", call.site.template, call.site.line, call.site.column);
    call.origins.only(Origin::Clock(site.into()))
}

fn current(call: &Call<'_>) -> Time {
    Time::unix_nanos(call.world.now())
}

fn text(args: &[Value], index: usize) -> Text {
    args.get(index).and_then(Value::as_text).cloned().unwrap_or_default()
}

fn time(args: &[Value], index: usize) -> Result<Time, FuncError> {
    args.get(index).and_then(known).ok_or_else(|| FuncError::Error("wrong type for value; expected time.Time".into()))
}

fn now(call: &mut Call<'_>, _: &[Value]) -> Result<Value, FuncError> {
    let time = Time { monotonic: true, ..current(call) };
    Ok(value(time).under(clock(call, "now"), call.origins))
}

fn ago(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let now = current(call);
    let then = match args.first().map(Value::repr) {
        Some(Repr::Int(seconds, IntType::Int | IntType::Int64)) => Time::unix(*seconds),
        _ => args.first().and_then(known).unwrap_or_else(|| now.clone()),
    };
    let nanos = i128::from(now.since(&then));
    let half = if nanos < 0 { -500_000_000 } else { 500_000_000 };
    let rounded = (nanos + half) / 1_000_000_000 * 1_000_000_000;
    let rounded = i64::try_from(rounded).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX });
    Ok(Value::text(durations::text(rounded)).under(clock(call, "ago"), call.origins))
}

/// A time in a layout and zone; what is no time means now, and then the result depends on the clock.
fn show(call: &Call<'_>, layout: &Text, date: Option<&Value>, zone: &[u8], function: &str) -> Value {
    let mut depends = OriginSet::EMPTY;
    let time = match date.map(Value::repr) {
        Some(Repr::Int(seconds, IntType::Int | IntType::Int32 | IntType::Int64)) => Time::unix(*seconds),
        _ => date.and_then(known).unwrap_or_else(|| {
            depends = clock(call, function);
            current(call)
        }),
    };
    let zone = if zone == b"Local" { Zone::Local } else { Zone::Utc };
    Value::text(format(&time.shown_in(zone), layout.bytes())).under(depends, call.origins)
}

fn date(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    Ok(show(call, &text(args, 0), args.get(1), b"Local", "date"))
}

fn date_in_zone(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    Ok(show(call, &text(args, 0), args.get(1), text(args, 2).bytes(), "dateInZone"))
}

fn html_date(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    Ok(show(call, &Text::from("2006-01-02"), args.first(), b"Local", "htmlDate"))
}

fn html_date_in_zone(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    Ok(show(call, &Text::from("2006-01-02"), args.first(), text(args, 1).bytes(), "htmlDateInZone"))
}

fn date_modify(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let time = time(args, 1)?;
    Ok(value(durations::parse(text(args, 0).bytes()).map(|nanos| time.plus(nanos)).unwrap_or(time)))
}

fn must_date_modify(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let nanos = durations::parse(text(args, 0).bytes()).map_err(FuncError::Error)?;
    Ok(value(time(args, 1)?.plus(nanos)))
}

fn to_date(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    Ok(value(parse(text(args, 0).bytes(), text(args, 1).bytes()).unwrap_or_else(|_| Time::zero())))
}

fn must_to_date(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    parse(text(args, 0).bytes(), text(args, 1).bytes()).map(value).map_err(FuncError::Error)
}

fn unix_epoch(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    Ok(Value::text(time(args, 0)?.seconds.to_string()))
}

/// The time of an RFC 3339 text, shown in the named zone of TOML's times without one.
pub fn from_rfc3339(text: &str, local: Option<&'static str>) -> Value {
    match parse(RFC3339, text.as_bytes()) {
        Ok(time) => value(local.map_or(time.clone(), |name| time.shown_in(Zone::Fixed(0, name.into())))),
        Err(_) => Value::text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(layout: &str, text: &str) -> Result<String, String> {
        let time = parse(layout.as_bytes(), text.as_bytes())?;
        Ok(String::from_utf8(format(&time, b"2006-01-02 15:04:05.999999999 -0700 MST")).unwrap())
    }

    #[test]
    fn times_are_read_by_layouts_as_go_does() {
        for (layout, text, shown) in [
            ("2006-01-02", "2017-12-31", "2017-12-31 00:00:00 +0000 UTC"),
            ("2006-01-02T15:04:05Z07:00", "2017-12-31T10:11:12+02:00", "2017-12-31 10:11:12 +0200 +0200"),
            ("2006-01-02T15:04:05Z07:00", "2017-12-31T10:11:12.5Z", "2017-12-31 10:11:12.5 +0000 UTC"),
            ("2006-01-02 MST", "2017-12-31 CET", "2017-12-31 00:00:00 +0000 CET"),
            ("15:04:05.000", "10:11:12.345", "0000-01-01 10:11:12.345 +0000 UTC"),
            ("Jan _2 3PM 06", "feb  3 12AM 70", "1970-02-03 00:00:00 +0000 UTC"),
            ("2006 002", "2024 366", "2024-12-31 00:00:00 +0000 UTC"),
            ("Monday, 2 January 2006", "Friday, 14 July 2017", "2017-07-14 00:00:00 +0000 UTC"),
        ] {
            assert_eq!(read(layout, text).as_deref(), Ok(shown), "{layout}");
        }
    }

    #[test]
    fn bad_times_are_refused_in_gos_words() {
        for (layout, text, fault) in [
            ("2006-01-02", "bad", "parsing time \"bad\" as \"2006-01-02\": cannot parse \"bad\" as \"2006\""),
            ("2006-01-02", "2017-13-31", "parsing time \"2017-13-31\": month out of range"),
            ("2006-01-02", "2017-02-29", "parsing time \"2017-02-29\": day out of range"),
            ("2006-01-02", "2017-02-28 x", "parsing time \"2017-02-28 x\": extra text: \" x\""),
            ("2006-01-02", "2017/01", "parsing time \"2017/01\" as \"2006-01-02\": cannot parse \"/01\" as \"-\""),
            ("15:04", "25:00", "parsing time \"25:00\": hour out of range"),
        ] {
            assert_eq!(read(layout, text), Err(fault.into()));
        }
    }

    #[test]
    fn times_are_shown_in_layouts_as_go_does() {
        let layout =
            b"Mon Jan _2 15:04:05.000 2006 MST -0700 PM pm 002 06 1 2 3 4 5 Monday January Z07:00 .999 __2 Januar Mond";
        let shown = format(&Time::unix(1_500_000_000), layout);
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "Fri Jul 14 02:40:00.000 2017 UTC +0000 AM am 195 17 7 14 2 40 0 Friday July Z  195 Januar Mond"
        );
    }

    #[test]
    fn templates_get_what_helm_gives_them() {
        use crate::funcs::tests::engine::render;
        const DAY: &str = "(toDate \"2006-01-02\" \"2017-12-31\")";
        for (template, result) in [
            (
                "{{ now | typeOf }} {{ now | kindOf }} {{ now.Unix | typeOf }} {{ now.Weekday | typeOf }}",
                "time.Time struct int64 time.Weekday",
            ),
            (
                "{{ DAY }} {{ DAY | toJson }} {{ DAY | quote }}",
                "2017-12-31 00:00:00 +0000 UTC \\\"2017-12-31T00:00:00Z\\\" \\\"2017-12-31 00:00:00 +0000 UTC\\\"",
            ),
            ("{{ toDate \"2006-01-02\" \"bad\" }}", "0001-01-01 00:00:00 +0000 UTC"),
            (
                "{{ date \"2006\" \"x\" }} {{ htmlDate 86400 }} {{ dateInZone \"15:04 MST\" 0 \"Nowhere/X\" }}",
                "1970 1970-01-02 00:00 UTC",
            ),
            (
                "{{ dateModify \"-1.5h\" DAY }} {{ dateModify \"x\" DAY }}",
                "2017-12-30 22:30:00 +0000 UTC 2017-12-31 00:00:00 +0000 UTC",
            ),
            (
                "{{ unixEpoch DAY }} {{ DAY.Format \"Jan\" }} {{ DAY.AddDate 0 1 1 }} {{ DAY.YearDay }} {{ DAY.Month }}",
                "1514678400 Dec 2018-02-01 00:00:00 +0000 UTC 365 December",
            ),
            ("{{ DAY.Sub (dateModify \"-24h\" DAY) }} {{ DAY.After now }}", "24h0m0s true"),
            (
                "{{ printf \"%#v %T %d\" DAY DAY DAY.Month }}",
                "time.Date(2017, time.December, 31, 0, 0, 0, 0, time.Local) time.Time 12",
            ),
            (
                "{{ duration \"90\" }} {{ duration 90 }} {{ duration 3.5 }} {{ duration \"x\" }} {{ duration (int64 -90) }}",
                "1m30s 0s 0s 0s -1m30s",
            ),
            (
                "{{ range list \"2h10m5s\" \"2400h\" \"x\" 5 \"-400h\" \"1h\" }}{{ durationRound . }} {{ end }}",
                "2h 3mo 0s 0s 16d 60m ",
            ),
            ("{{ ago 0 }}", "0s"),
        ] {
            assert_eq!(render(&template.replace("DAY", DAY)), format!("\"{result}\""), "{template}");
        }
        assert_eq!(
            render(&"{{ mustDateModify \"x\" DAY }}".replace("DAY", DAY)),
            "ERR mustDateModify: time: invalid duration \"x\""
        );
    }
}
