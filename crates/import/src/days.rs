//! The calendar days of a time zone as SQL. Databases disagree about time zones, so the offsets of the zone become
//! numbers in the statement.

use chrono::{Offset, TimeZone};
use chrono_tz::Tz;

use keymeter::domain::time::DAY;

/// Offsets from UTC, in seconds, each from a second on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayOffsets {
    first: i64,
    later: Vec<(i64, i64)>,
}

impl DayOffsets {
    /// The offsets of `zone` between two seconds. Zones change their offset on a full quarter of an hour.
    pub fn of(zone: Tz, from: i64, to: i64) -> Self {
        const STEP: i64 = 900;
        let offset = |at: i64| {
            let utc = chrono::DateTime::from_timestamp(at, 0).unwrap_or_default().naive_utc();
            i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc())
        };
        let start = from.max(0).div_euclid(DAY) * DAY;
        let first = offset(start);
        let (mut later, mut current, mut day) = (Vec::new(), first, start);
        while day < to {
            let next = day + DAY;
            if offset(next) != current {
                let mut at = day;
                while at < next {
                    at += STEP;
                    if offset(at) != current {
                        current = offset(at);
                        later.push((at, current));
                    }
                }
            }
            day = next;
        }
        Self { first, later }
    }

    /// The number of the day of the second `column`, as an expression. `div` divides whole numbers.
    pub fn day(&self, column: &str, div: &str) -> String {
        let day = |offset: i64| format!("({column} + ({offset})) {div} {DAY}");
        if self.later.is_empty() {
            return day(self.first);
        }
        let branch = |(from, offset): &(i64, i64)| format!("when {column} >= {from} then {}", day(*offset));
        let branches: Vec<String> = self.later.iter().rev().map(branch).collect();
        format!("case {} else {} end", branches.join(" "), day(self.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_and_zones_without_summer_time_have_one_offset() {
        let utc = DayOffsets::of(Tz::UTC, 0, 1_800_000_000);
        assert_eq!(utc.day("at", "/"), "(at + (0)) / 86400");
        let shanghai = DayOffsets::of(Tz::Asia__Shanghai, 1_700_000_000, 1_800_000_000);
        assert_eq!(shanghai.day("`at`", "div"), "(`at` + (28800)) div 86400");
    }

    #[test]
    fn a_zone_with_summer_time_has_an_offset_for_each_part_of_the_year() {
        // 2026-01-01 to 2026-12-31; summer time from 2026-03-29 01:00 UTC to 2026-10-25 01:00 UTC.
        let berlin = DayOffsets::of(Tz::Europe__Berlin, 1_767_225_600, 1_798_675_200);
        let expected = DayOffsets { first: 3_600, later: vec![(1_774_746_000, 7_200), (1_792_890_000, 3_600)] };
        assert_eq!(berlin, expected);
        assert_eq!(
            berlin.day("at", "/"),
            "case when at >= 1792890000 then (at + (3600)) / 86400 \
             when at >= 1774746000 then (at + (7200)) / 86400 else (at + (3600)) / 86400 end"
        );
    }
}
