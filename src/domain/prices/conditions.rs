//! When a price holds: from a day on, or in some hours of each day. Days and hours are those of UTC.

use std::fmt::{Display, Formatter};

use chrono::{DateTime, NaiveDate, NaiveTime, Timelike};
use serde::Deserialize;

use crate::domain::time::{DAY, UnixTime};

/// When a price holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// From the start of a day on.
    From(UnixTime),
    /// Each day from one second to before another one; over midnight if the second is less.
    Daily { start: i64, end: i64 },
}

/// A condition as the data has it.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum ConditionData {
    From(StartDate),
    Daily(Hours),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartDate {
    start_date: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hours {
    start_time: String,
    end_time: String,
}

/// Texts that are no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionInvalid {
    #[error("{0:?} is not a day, such as 2026-10-12")]
    Day(String),
    #[error("{0:?} is not a time of day in whole seconds, such as 16:30:00Z")]
    Hour(String),
}

impl Condition {
    /// Returns true if the price holds at this time.
    pub const fn holds(self, at: UnixTime) -> bool {
        match self {
            Self::From(start) => at.get() >= start.get(),
            Self::Daily { start, end } => {
                let second = at.get().rem_euclid(DAY);
                if end < start { second >= start || second < end } else { start <= second && second < end }
            }
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let hour = |second: &i64| format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
        match self {
            Self::From(start) => write!(f, "from {}", start.day_in(chrono_tz::UTC)),
            Self::Daily { start, end } => write!(f, "{}-{}", hour(start), hour(end)),
        }
    }
}

impl TryFrom<ConditionData> for Condition {
    type Error = ConditionInvalid;

    fn try_from(data: ConditionData) -> Result<Self, ConditionInvalid> {
        Ok(match data {
            ConditionData::From(StartDate { start_date }) => {
                let day = NaiveDate::parse_from_str(&start_date, "%Y-%m-%d");
                let day = day.map_err(|_| ConditionInvalid::Day(start_date))?;
                Self::From(UnixTime::new(day.and_time(NaiveTime::MIN).and_utc().timestamp()))
            }
            ConditionData::Daily(Hours { start_time, end_time }) => {
                Self::Daily { start: utc_second(&start_time)?, end: utc_second(&end_time)? }
            }
        })
    }
}

/// The second of the day in UTC. A time without a zone is UTC.
fn utc_second(text: &str) -> Result<i64, ConditionInvalid> {
    let with_zone = DateTime::parse_from_rfc3339(&format!("1970-01-02T{text}"))
        .or_else(|_| DateTime::parse_from_rfc3339(&format!("1970-01-02T{text}Z")));
    let time = with_zone.map_err(|_| ConditionInvalid::Hour(text.to_owned()))?.to_utc().time();
    match (time.nanosecond(), i64::from(time.num_seconds_from_midnight())) {
        (0, second) => Ok(second),
        _ => Err(ConditionInvalid::Hour(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(json: &str) -> Condition {
        serde_json::from_str::<ConditionData>(json).unwrap().try_into().unwrap()
    }

    #[test]
    fn a_day_begins_at_midnight_utc() {
        let from = condition(r#"{"start_date": "2026-10-12"}"#);
        let midnight = 1_791_763_200;
        assert_eq!([-1, 0, 86_400].map(|after| from.holds(UnixTime::new(midnight + after))), [false, true, true]);
    }

    #[test]
    fn hours_may_pass_midnight_and_be_of_another_zone() {
        let table = [
            (r#"{"start_time": "00:30:00Z", "end_time": "16:30:00Z"}"#, ["00:30", "16:29"], ["00:29", "16:30"]),
            (r#"{"start_time": "16:30:00", "end_time": "00:30:00"}"#, ["16:30", "00:29"], ["00:30", "16:29"]),
            (
                r#"{"start_time": "08:30:00+08:00", "end_time": "00:30:00+08:00"}"#,
                ["00:30", "16:29"],
                ["00:29", "16:30"],
            ),
        ];
        let at = |time: &str| {
            let time = NaiveTime::parse_from_str(time, "%H:%M").unwrap();
            UnixTime::new(1_791_763_200 + i64::from(time.num_seconds_from_midnight()))
        };
        for (json, inside, outside) in table {
            assert!(inside.iter().all(|time| condition(json).holds(at(time))), "{json}");
            assert!(!outside.iter().any(|time| condition(json).holds(at(time))), "{json}");
        }
        for json in [r#"{"start_time": "25:00:00Z", "end_time": "16:30:00Z"}"#, r#"{"start_time": "", "end_time": ""}"#]
        {
            assert!(Condition::try_from(serde_json::from_str::<ConditionData>(json).unwrap()).is_err(), "{json}");
        }
        assert!(serde_json::from_str::<ConditionData>(r#"{"start_date": "2026-10-12", "weekday": 1}"#).is_err());
    }
}
