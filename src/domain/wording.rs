//! Numbers in sentences for people.

use std::fmt;

use super::time::DAY;

/// A number of things: `1 request`, `2 requests`. The thing must form its plural with an `s`.
#[derive(Debug, Clone, Copy)]
pub struct Count<'a>(pub i64, pub &'a str);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, thing) = self;
        write!(f, "{number} {thing}{}", if *number == 1 { "" } else { "s" })
    }
}

/// Seconds to wait, in their two largest units: `37 s`, `12 min 30 s`, `22 h 51 min`, `5 days 12 h`. Rounded up, so
/// that a client that waits this long does not come too early.
#[derive(Debug, Clone, Copy)]
pub struct Wait(pub i64);

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        let seconds = self.0.max(0);
        let whole = |unit: i64| round_up(seconds, unit) / unit;
        if seconds < MINUTE {
            write!(f, "{seconds} s")
        } else if seconds < HOUR {
            both(f, format_args!("{} min", seconds / MINUTE), seconds % MINUTE, "s")
        } else if whole(MINUTE) * MINUTE < DAY {
            both(f, format_args!("{} h", whole(MINUTE) / 60), whole(MINUTE) % 60, "min")
        } else {
            both(f, format_args!("{}", Count(whole(HOUR) / 24, "day")), whole(HOUR) % 24, "h")
        }
    }
}

/// The larger unit, and the smaller one unless it is 0.
fn both(f: &mut fmt::Formatter<'_>, larger: fmt::Arguments<'_>, smaller: i64, unit: &str) -> fmt::Result {
    f.write_fmt(larger)?;
    if smaller == 0 { Ok(()) } else { write!(f, " {smaller} {unit}") }
}

const fn round_up(number: i64, unit: i64) -> i64 {
    number.saturating_add(unit - 1) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        let table = [(0, "0 requests"), (1, "1 request"), (2, "2 requests"), (-1, "-1 requests")];
        for (number, text) in table {
            assert_eq!(Count(number, "request").to_string(), text);
        }
    }

    #[test]
    fn waits_have_two_units_and_are_rounded_up() {
        let table = [
            (-5, "0 s"),
            (1, "1 s"),
            (59, "59 s"),
            (60, "1 min"),
            (61, "1 min 1 s"),
            (3_599, "59 min 59 s"),
            (3_600, "1 h"),
            (3_601, "1 h 1 min"),
            (82_260, "22 h 51 min"),
            (82_259, "22 h 51 min"),
            (86_340, "23 h 59 min"),
            (86_341, "1 day"),
            (86_400, "1 day"),
            (86_401, "1 day 1 h"),
            (475_200, "5 days 12 h"),
            (475_201, "5 days 13 h"),
            (604_799, "7 days"),
            (i64::MAX, "106751991167300 days 15 h"),
        ];
        for (seconds, text) in table {
            assert_eq!(Wait(seconds).to_string(), text, "{seconds}");
        }
    }
}
