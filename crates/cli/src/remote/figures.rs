//! Rates, times and sizes as people read them, by integer arithmetic.

use keymeter::domain::bounds::MICRO_USD_PER_QUOTA;

/// What stands for a figure that there is none of.
pub const NONE: &str = "-";

const MILLIS_PER_SECOND: u64 = 1_000;
const MICROS_PER_MILLI: u64 = 1_000;
const MICROS_PER_SECOND: u64 = 1_000_000;
const MICRO_USD_PER_CENT: u128 = 10_000;
const MICRO_USD_PER_USD: u128 = 1_000_000;

/// What was counted in so many milliseconds: `0.3/s`, `1200/s`.
pub fn per_second(count: u64, milliseconds: u64) -> String {
    let tenths = ratio(u128::from(count) * 10 * u128::from(MILLIS_PER_SECOND), milliseconds);
    tenths.map_or_else(|| NONE.to_owned(), |tenths| format!("{}/s", of_tenths(tenths)))
}

/// The dollars of quota units that were charged in so many milliseconds: `$0.000600/s`, `$12.35/s`.
pub fn dollars_per_second(quota: u64, milliseconds: u64) -> String {
    let per_unit = MICRO_USD_PER_QUOTA.unsigned_abs() * u128::from(MILLIS_PER_SECOND);
    match ratio(u128::from(quota) * per_unit, milliseconds) {
        None => NONE.to_owned(),
        Some(micros @ 0..MICRO_USD_PER_USD) => format!("$0.{micros:06}/s"),
        Some(micros) => {
            let cents = (micros + MICRO_USD_PER_CENT / 2) / MICRO_USD_PER_CENT;
            format!("${}.{:02}/s", cents / 100, cents % 100)
        }
    }
}

/// How many of `count` each of `parts` has on average: `8.5`.
pub fn average(count: u64, parts: u64) -> String {
    ratio(u128::from(count) * 10, parts).map_or_else(|| NONE.to_owned(), of_tenths)
}

/// A time in microseconds: `850 µs`, `2.5 ms`, `12.0 s`.
pub fn time_of_micros(micros: Option<u64>) -> String {
    match micros {
        None => NONE.to_owned(),
        Some(micros @ 0..MICROS_PER_MILLI) => format!("{micros} µs"),
        Some(micros @ ..MICROS_PER_SECOND) => format!("{} ms", average(micros, MICROS_PER_MILLI)),
        Some(micros) => format!("{} s", average(micros, MICROS_PER_SECOND)),
    }
}

/// Bytes: `512 B`, `1.5 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS.iter().find(|(_, unit)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes} B"), |(name, unit)| format!("{} {name}", average(bytes, *unit)))
}

/// Seconds that have passed: `95 s`, `12 min`, `5 h`, `3 d`.
pub fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The nearest whole number; `None` if there is nothing to divide by.
fn ratio(count: u128, of: u64) -> Option<u128> {
    (count + u128::from(of / 2)).checked_div(of.into())
}

/// With one decimal, below a hundred.
fn of_tenths(tenths: u128) -> String {
    if tenths < 1_000 { format!("{}.{}", tenths / 10, tenths % 10) } else { (tenths / 10).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_counts_over_the_time_that_they_are_of() {
        for (count, milliseconds, rate) in [
            (0, 10_000, "0.0/s"),
            (3, 12_000, "0.3/s"),
            (1, 10_000, "0.1/s"),
            (123, 10_000, "12.3/s"),
            (12_345, 10_000, "1234/s"),
            (999, 10_000, "99.9/s"),
            (7, 0, "-"),
            (u64::MAX, 1, "18446744073709551615000/s"),
        ] {
            assert_eq!(per_second(count, milliseconds), rate);
        }
        assert_eq!([average(17, 2), average(640, 5), average(0, 0)], ["8.5", "128", "-"]);
    }

    #[test]
    fn quota_is_shown_in_dollars() {
        for (quota, milliseconds, rate) in [
            (0, 10_000, "$0.000000/s"),
            (3, 10_000, "$0.000001/s"),
            (3_000, 10_000, "$0.000600/s"),
            (500_000, 1_000, "$1.00/s"),
            (61_728_000, 10_000, "$12.35/s"),
            (5, 0, "-"),
        ] {
            assert_eq!(dollars_per_second(quota, milliseconds), rate);
        }
    }

    #[test]
    fn times_and_sizes_have_the_unit_that_fits() {
        let times =
            [(850, "850 µs"), (2_549, "2.5 ms"), (99_960, "100 ms"), (250_400, "250 ms"), (12_000_000, "12.0 s")];
        for (micros, time) in times {
            assert_eq!(time_of_micros(Some(micros)), time);
        }
        assert_eq!(time_of_micros(None), "-");
        assert_eq!([size(0), size(1_023), size(1_536), size(5 << 40)], ["0 B", "1023 B", "1.5 KiB", "5.0 TiB"]);
        assert_eq!([age(95), age(120), age(7_200), age(200_000)], ["95 s", "2 min", "2 h", "2 d"]);
    }
}
