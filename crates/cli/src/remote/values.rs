//! What the arguments of commands mean: amounts, limits and times.

use std::str::FromStr;

use chrono::{DateTime, NaiveDate};

use keymeter::domain::time::{DAY, UnixTime};
use keymeter::domain::usd_cost::UsdCost;

/// When something expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    Never,
    /// So many seconds after now.
    After(i64),
    At(UnixTime),
}

impl Expiry {
    /// Reads `never`, `30d`, `2027-01-31` (the start of that day, UTC) or `2027-01-31T12:00:00Z`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self::Never);
        }
        let duration = duration(text);
        let day = || NaiveDate::from_str(text).ok()?.and_hms_opt(0, 0, 0).map(|time| time.and_utc().timestamp());
        let moment = || DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp());
        match duration {
            Some(seconds) => Ok(Self::After(seconds)),
            None => day().or_else(moment).map(|time| Self::At(UnixTime::new(time))).ok_or_else(|| {
                "use never, a time from now such as 12h or 90d, a day such as 2027-01-31, or 2027-01-31T12:00:00Z"
                    .to_owned()
            }),
        }
    }

    /// `expired_time` of the API: -1 means never.
    pub const fn timestamp(self, now: UnixTime) -> i64 {
        match self {
            Self::Never => -1,
            Self::After(seconds) => now.plus(seconds).get(),
            Self::At(time) => time.get(),
        }
    }
}

/// Reads the id of a token, a gateway or a key.
pub fn id_arg(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "an id is a number; `list` shows it".to_owned())
}

/// Reads seconds from `90s`, `30m`, `12h`, `7d` or `2w`.
pub fn duration_arg(text: &str) -> Result<i64, String> {
    duration(text).ok_or_else(|| "use a number with s, m, h, d or w, such as 24h".to_owned())
}

/// Seconds of `90s`, `30m`, `12h`, `7d` or `2w`.
fn duration(text: &str) -> Option<i64> {
    let number = text.strip_suffix(['s', 'm', 'h', 'd', 'w'])?;
    let unit = match text.as_bytes().last()? {
        b's' => 1,
        b'm' => 60,
        b'h' => 3_600,
        b'd' => DAY,
        _ => 7 * DAY,
    };
    // A sign would be read as a number too.
    number.bytes().all(|digit| digit.is_ascii_digit()).then(|| number.parse::<i64>().ok())??.checked_mul(unit)
}

/// Reads a limit: a number, or `none` for no limit, which the API writes as -1.
pub fn limit_arg(text: &str) -> Result<i64, String> {
    if text == "none" {
        return Ok(-1);
    }
    text.parse().ok().filter(|limit| *limit >= 0).ok_or_else(|| "use a whole number, or none for no limit".to_owned())
}

/// Reads dollars, such as `2.50`, as quota units. A part of a unit counts as one.
pub fn usd_arg(text: &str) -> Result<i64, String> {
    let cost = text.parse::<UsdCost>().and_then(UsdCost::quota);
    cost.map(keymeter::domain::money::Quota::get).map_err(|error| format!("an amount in dollars {error}"))
}

/// The same with a sign: `-2.50` takes away.
pub fn signed_usd_arg(text: &str) -> Result<i64, String> {
    match text.strip_prefix('-') {
        Some(amount) => usd_arg(amount).map(|units| -units),
        None => usd_arg(text),
    }
}

/// Reads a limit in dollars, or `none` for no limit.
pub fn usd_limit_arg(text: &str) -> Result<i64, String> {
    if text == "none" { Ok(-1) } else { usd_arg(text) }
}

/// The option that named an amount.
pub const fn amount_option(usd: Option<i64>, in_dollars: &'static str, in_units: &'static str) -> &'static str {
    if usd.is_some() { in_dollars } else { in_units }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiries_are_durations_days_and_moments() {
        let now = UnixTime::new(1_000);
        for (text, timestamp) in [
            ("never", Some(-1)),
            ("30s", Some(1_030)),
            ("2m", Some(1_120)),
            ("1h", Some(4_600)),
            ("90d", Some(1_000 + 90 * 86_400)),
            ("2w", Some(1_000 + 14 * 86_400)),
            ("2026-03-10", Some(1_773_100_800)),
            ("2026-03-10T12:00:00Z", Some(1_773_144_000)),
            ("2026-03-10T13:00:00+01:00", Some(1_773_144_000)),
            ("", None),
            ("d", None),
            ("-1d", None),
            ("10", None),
            ("tomorrow", None),
            ("2026-02-30", None),
            ("9223372036854775807w", None),
        ] {
            assert_eq!(Expiry::parse(text).map(|expiry| expiry.timestamp(now)).ok(), timestamp, "{text}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!([duration_arg("0s"), duration_arg("24h")], [Ok(0), Ok(86_400)]);
        assert!(duration_arg("24").is_err() && duration_arg("never").is_err());
    }

    #[test]
    fn limits_and_dollars_are_exact() {
        assert_eq!([limit_arg("0"), limit_arg("none")], [Ok(0), Ok(-1)]);
        assert!(limit_arg("-1").is_err() && limit_arg("many").is_err());
        assert_eq!([usd_arg("2.50"), usd_arg("0.000002"), usd_arg("0")], [Ok(1_250_000), Ok(1), Ok(0)]);
        assert_eq!([usd_limit_arg("10"), usd_limit_arg("none")], [Ok(5_000_000), Ok(-1)]);
        assert!(usd_limit_arg("-1").is_err() && usd_limit_arg("").is_err());
        assert_eq!(signed_usd_arg("-1"), Ok(-500_000));
        assert!(usd_arg("-1").is_err() && usd_arg("two").is_err() && signed_usd_arg("--1").is_err());
    }
}
