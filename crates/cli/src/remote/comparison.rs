//! `keymeter usage report --compare`: the days with which a report is compared.

use chrono::{Datelike, Days, Months, NaiveDate};

/// The days before a range: the same days of the month before if it begins with a month and stays in it, and the whole
/// month before if it is a whole month; else as many days. `None` if the range is none.
pub fn days_before(from: NaiveDate, to: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
    let day_before = from.pred_opt()?;
    if from.day() == 1 && from.with_day(to.day()) == Some(to) {
        let first = from.checked_sub_months(Months::new(1))?;
        let is_whole = to.succ_opt()?.day() == 1;
        let same_day = first.with_day(to.day()).filter(|_| !is_whole);
        return Some((first, same_day.unwrap_or(day_before)));
    }
    let count = u64::try_from(to.signed_duration_since(from).num_days()).ok()? + 1;
    Some((from.checked_sub_days(Days::new(count))?, day_before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_compared_with_the_same_days_of_the_month_before_and_others_with_as_many_days() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        for (from, to, before_from, before_to) in [
            ("2027-03-01", "2027-03-10", "2027-02-01", "2027-02-10"),
            ("2027-03-01", "2027-03-30", "2027-02-01", "2027-02-28"),
            ("2027-03-01", "2027-03-31", "2027-02-01", "2027-02-28"),
            ("2027-02-01", "2027-02-28", "2027-01-01", "2027-01-31"),
            ("2027-01-01", "2027-01-01", "2026-12-01", "2026-12-01"),
            ("2027-03-02", "2027-03-08", "2027-02-23", "2027-03-01"),
            ("2027-03-01", "2027-04-01", "2027-01-28", "2027-02-28"),
        ] {
            let expected = Some((day(before_from), day(before_to)));
            assert_eq!(days_before(day(from), day(to)), expected, "{from} {to}");
        }
        assert_eq!(days_before(day("2027-03-02"), day("2027-02-27")), None);
    }
}
