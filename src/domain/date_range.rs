//! Ranges of days that callers give as `from` and `to` (spec §13).

use super::time::{Day, DayInvalid};

/// The days from `from` to `to`, both included; `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRange {
    pub from: Option<Day>,
    pub to: Option<Day>,
}

/// Why a range was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DateRangeInvalid {
    #[error("`from` {0}")]
    From(DayInvalid),
    #[error("`to` {0}")]
    To(DayInvalid),
    #[error("`from` is after `to`")]
    Reversed,
}

impl DateRange {
    /// From the texts of the API; `None` and an empty text are open.
    ///
    /// # Errors
    /// See [`DateRangeInvalid`].
    pub fn parse(from: Option<&str>, to: Option<&str>) -> Result<Self, DateRangeInvalid> {
        let [from, to] = [from, to].map(|text| text.filter(|text| !text.is_empty()));
        let from = from.map(Day::parse).transpose().map_err(DateRangeInvalid::From)?;
        let to = to.map(Day::parse).transpose().map_err(DateRangeInvalid::To)?;
        match (from, to) {
            (Some(from), Some(to)) if from > to => Err(DateRangeInvalid::Reversed),
            (from, to) => Ok(Self { from, to }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_optional_and_in_order() {
        let day = |text: &str| Day::parse(text).ok();
        let range = |from, to| Ok(DateRange { from: day(from), to: day(to) });
        for (from, to) in [("", ""), ("2026-03-01", ""), ("", "2026-03-01"), ("2026-03-01", "2026-03-01")] {
            assert_eq!(DateRange::parse(Some(from), Some(to)), range(from, to), "{from} {to}");
        }
        assert_eq!(DateRange::parse(None, None), Ok(DateRange::default()));
        let refused = |from, to| DateRange::parse(Some(from), Some(to)).map_err(|error| error.to_string());
        let date = "must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05";
        assert_eq!(refused("2026-3-1", ""), Err(format!("`from` {date}")));
        assert_eq!(refused("", "2026-02-30"), Err(format!("`to` {date}")));
        assert_eq!(refused("2026-03-02", "2026-03-01"), Err("`from` is after `to`".to_owned()));
    }
}
