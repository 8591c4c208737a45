//! Moments on the Gregorian calendar, with a fixed zone.

use std::rc::Rc;

/// Which clock a time is shown by. Only UTC, the local zone (which is UTC here) and fixed offsets exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// UTC.
    Utc,
    /// The local zone of the program; a render's is UTC.
    Local,
    /// A fixed offset in seconds east of UTC, with an abbreviation that may be empty.
    Fixed(i32, Rc<str>),
}

impl Zone {
    /// Seconds east of UTC.
    pub fn offset(&self) -> i32 {
        match self {
            Zone::Fixed(offset, _) => *offset,
            Zone::Utc | Zone::Local => 0,
        }
    }

    /// The abbreviation; empty if there is none.
    pub fn abbreviation(&self) -> &str {
        match self {
            Zone::Fixed(_, name) => name,
            Zone::Utc | Zone::Local => "UTC",
        }
    }
}

/// A moment and the zone it is shown in: Go's `time.Time`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    /// Seconds since 1970 UTC.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
    /// Zone.
    pub zone: Zone,
    /// It comes from the running clock: prints its monotonic part.
    pub monotonic: bool,
}

/// A moment in parts, in its zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Parts {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// Day of the year, from 1.
    pub year_day: i64,
    /// Sunday is 0.
    pub weekday: i64,
}

const DAY: i64 = 86_400;
/// Seconds from year 1 to 1970.
const YEAR_ONE: i64 = -62_135_596_800;

/// Days since 1970 of a date; months beyond 1 to 12 carry over.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let carry = (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    let year = year.saturating_add(carry).clamp(-1_000_000_000, 1_000_000_000);
    // Count from March, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468 + (day - 1).clamp(-1 << 40, 1 << 40)
}

/// Days in a month.
pub fn days_in(year: i64, month: i64) -> i64 {
    days(year, month + 1, 1) - days(year, month, 1)
}

impl Time {
    /// Go's zero time: year 1.
    pub fn zero() -> Time {
        Time { seconds: YEAR_ONE, nanos: 0, zone: Zone::Utc, monotonic: false }
    }

    /// Seconds since 1970, shown in local time.
    pub fn unix(seconds: i64) -> Time {
        Time { seconds, nanos: 0, zone: Zone::Local, monotonic: false }
    }

    /// Nanoseconds since 1970, shown in local time.
    pub fn unix_nanos(nanos: i128) -> Time {
        let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or(0);
        Time { seconds, nanos: nanos.rem_euclid(1_000_000_000) as u32, zone: Zone::Local, monotonic: false }
    }

    /// A moment from parts, which may overflow their ranges, in a zone.
    pub fn from_parts(date: [i64; 3], clock: [i64; 3], nanos: u32, zone: Zone) -> Time {
        let [year, month, day] = date;
        let [hour, minute, second] = clock;
        let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second - i64::from(zone.offset());
        Time { seconds, nanos, zone, monotonic: false }
    }

    /// Nanoseconds since 1970.
    pub fn total_nanos(&self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }

    /// The moment so many nanoseconds later.
    pub fn plus(&self, nanos: i64) -> Time {
        let moved = Time::unix_nanos(self.total_nanos() + i128::from(nanos));
        Time { zone: self.zone.clone(), monotonic: self.monotonic, ..moved }
    }

    /// The multiple of so many nanoseconds since year 1 before it, or the nearest one.
    pub fn multiple(&self, nanos: i64, nearest: bool) -> Time {
        let exact = Time { monotonic: false, ..self.clone() };
        if nanos <= 0 {
            return exact;
        }
        let rest = (self.total_nanos() - Time::zero().total_nanos()).rem_euclid(i128::from(nanos)) as i64;
        let up = nearest && rest >= nanos - rest;
        exact.plus(if up { nanos - rest } else { -rest })
    }

    /// The same moment in another zone.
    pub fn shown_in(&self, zone: Zone) -> Time {
        Time { zone, monotonic: false, ..self.clone() }
    }

    /// The nanoseconds from another moment to this one, at the ends of `int64` where they do not fit.
    pub fn since(&self, other: &Time) -> i64 {
        let nanos = self.total_nanos() - other.total_nanos();
        i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
    }

    /// The date, clock and weekday in its zone.
    pub fn parts(&self) -> Parts {
        let local = self.seconds.saturating_add(i64::from(self.zone.offset()));
        let day_number = local.div_euclid(DAY);
        let clock = local.rem_euclid(DAY);
        let shifted = day_number + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = (shifted_month + 2) % 12 + 1;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Parts {
            year,
            month,
            day: of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: clock / 3600,
            minute: clock / 60 % 60,
            second: clock % 60,
            year_day: day_number - days(year, 1, 1) + 1,
            weekday: (day_number + 4).rem_euclid(7),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_inverse_over_leap_years_and_centuries() {
        for day in (-800_000..800_000).step_by(97) {
            let parts = Time::unix(day * DAY + 5).parts();
            assert_eq!(days(parts.year, parts.month, parts.day), day);
            assert_eq!(days(parts.year, 1, parts.year_day), day);
        }
        assert_eq!(days_in(2000, 2), 29);
        assert_eq!(days_in(1900, 2), 28);
        assert_eq!(days(2018, 13, 1), days(2019, 1, 1));
    }
}
