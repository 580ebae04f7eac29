//! How far the newest requests are searched for one of them (spec §13.8).

use super::bounds;
use super::id::TokenId;
use super::request_history::{Position, Window};
use super::time::{DAY, UnixTime};

/// Where a request is that has the id that was searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestPlace {
    pub position: Position,
    /// 0 if no token ever had the key.
    pub token_id: TokenId,
}

/// The times of these UTC days, whose first seconds ascend, as few windows as possible.
pub fn windows_of(days: &[UnixTime]) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for day in days {
        let last = day.plus(DAY - 1);
        match windows.last_mut() {
            Some(window) if window.to.plus(1) == *day => window.to = last,
            Some(_) | None => windows.push(Window { from: *day, to: last }),
        }
    }
    windows
}

/// A search through the newest rows, window by window. A window with too many rows is cut in two.
#[derive(Debug)]
pub struct RequestSearch {
    /// The oldest first; the last one is next.
    windows: Vec<Window>,
    now: UnixTime,
    most: i64,
    unread: i64,
    /// The next window has more rows than may still be read.
    has_ended: bool,
}

impl RequestSearch {
    /// It reads the newest rows outside of the `known` windows, which ascend: about `most`, and no more.
    pub fn new(known: &[Window], now: UnixTime, most: i64) -> Self {
        let newest_first = gaps(known).into_iter().flat_map(|gap| Window::back_from(gap.to, gap.from, now));
        let mut windows: Vec<Window> = newest_first.collect();
        windows.reverse();
        Self { windows, now, most, unread: most, has_ended: false }
    }

    /// What to read next; `None` at the end.
    pub fn window(&self) -> Option<Window> {
        self.windows.last().copied().filter(|_| !self.has_ended)
    }

    /// How many rows to read of it: one more than may be there.
    pub fn limit(&self) -> i64 {
        self.most_at_once().saturating_add(1)
    }

    /// So many rows take a fraction of the time of a statement.
    fn most_at_once(&self) -> i64 {
        self.unread.min(bounds::MAX_REQUESTS_READ_AT_ONCE)
    }

    /// Reads nothing more: it takes too long.
    pub const fn end(&mut self) {
        self.has_ended = true;
    }

    /// Goes on after so many rows of the window were read. Returns false if it has more than may be read: it is cut,
    /// and its newer part comes next.
    pub fn advance(&mut self, rows: i64) -> bool {
        let Some(window) = self.windows.pop() else { return true };
        if rows <= self.most_at_once() {
            self.unread -= rows;
            return true;
        }
        // Requests of a clock that was ahead are few, and those of a negative time none.
        let last = window.to.min(self.now);
        let middle = last.plus(-(last.since(window.from.max(UnixTime::new(0))) / 2));
        // Each cut reads rows in vain, so a small rest is not used up.
        if middle <= window.from || middle > window.to || self.unread < self.most / 16 {
            self.windows.push(window);
            self.has_ended = true;
        } else {
            self.windows.push(Window { from: window.from, to: middle.plus(-1) });
            self.windows.push(Window { from: middle, to: window.to });
        }
        false
    }

    /// The second since which everything was read, if not everything was.
    pub fn searched_from(&self) -> Option<UnixTime> {
        let window = self.windows.last().filter(|_| self.has_ended)?;
        Some(window.to.plus(1).min(self.now.plus(1)))
    }
}

/// The times between windows, before and after them, newest first.
fn gaps(known: &[Window]) -> Vec<Window> {
    let (mut gaps, mut to) = (Vec::new(), UnixTime::LAST);
    for window in known.iter().rev() {
        if window.to < to {
            gaps.push(Window { from: window.to.plus(1), to });
        }
        to = window.from.plus(-1);
    }
    gaps.push(Window { from: UnixTime::FIRST, to });
    gaps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn time(seconds: i64) -> UnixTime {
        UnixTime::new(seconds)
    }

    fn window(from: i64, to: i64) -> Window {
        Window { from: time(from), to: time(to) }
    }

    /// Searches rows with these times. Returns those that were read, newest window first.
    fn read(search: &mut RequestSearch, rows: &[i64]) -> Vec<i64> {
        let mut all = Vec::new();
        while let Some(window) = search.window() {
            let inside = |at: &i64| (window.from..=window.to).contains(&time(*at));
            let found: Vec<i64> = rows.iter().copied().filter(inside).collect();
            let count = i64::try_from(found.len()).unwrap();
            if search.advance(count.min(search.limit())) {
                all.extend(found);
            }
        }
        all
    }

    #[test]
    fn days_that_follow_each_other_are_one_window() {
        let days = [0, 1, 2, 4, 6, 7].map(|day| time(day * DAY));
        let expected = [(0, 3), (4, 5), (6, 8)].map(|(from, to)| window(from * DAY, to * DAY - 1));
        assert_eq!(windows_of(&days), expected);
        assert_eq!(windows_of(&[]), []);
    }

    #[test]
    fn a_search_leaves_out_what_is_known() {
        let known = windows_of(&[0, 1, 3].map(|day| time(day * DAY)));
        let mut search = RequestSearch::new(&known, time(5 * DAY), 100);
        let rows = [-1, 0, DAY, 2 * DAY, 3 * DAY - 1, 3 * DAY, 4 * DAY, 5 * DAY, 9 * DAY];
        assert_eq!(read(&mut search, &rows), [5 * DAY, 9 * DAY, 4 * DAY, 3 * DAY - 1, 2 * DAY, -1]);
        assert_eq!(search.searched_from(), None);
    }

    #[test]
    fn a_search_ends_where_the_rest_is_too_much_and_says_where() {
        // One row a second for a day.
        let rows: Vec<i64> = (0..DAY).collect();
        let mut search = RequestSearch::new(&[], time(DAY - 1), 20_000);
        let read = read(&mut search, &rows);
        assert!((18_750..=20_000).contains(&read.len()), "{}", read.len());
        let from = search.searched_from().unwrap();
        assert_eq!(from, time(DAY).plus(-i64::try_from(read.len()).unwrap()), "exactly these were read");

        let mut search = RequestSearch::new(&[], time(9), 20);
        assert_eq!(self::read(&mut search, &[5; 21]), [0; 0], "one second has too many");
        assert_eq!(search.searched_from(), Some(time(6)));
        let mut search = RequestSearch::new(&[], time(9), 20);
        assert_eq!(self::read(&mut search, &[9; 21]), [0; 0]);
        assert_eq!(search.searched_from(), Some(time(10)), "nothing was read");
        let mut search = RequestSearch::new(&[], time(9), 20);
        assert_eq!(self::read(&mut search, &[5; 20]).len(), 20);
        assert_eq!(search.searched_from(), None);
    }

    #[test]
    fn a_search_reads_parts_and_may_be_ended_after_any_of_them() {
        let rows = [2, 2, 5, 5, 5, 9];
        let mut search = RequestSearch::new(&[], time(9), 20);
        search.end();
        assert_eq!((read(&mut search, &rows), search.searched_from()), (vec![], Some(time(10))));
        // Of a window that has more than is read at once, the newer half comes next.
        let mut search = RequestSearch::new(&[], time(9), i64::MAX);
        let (window, most) = (search.window().unwrap(), bounds::MAX_REQUESTS_READ_AT_ONCE);
        assert_eq!(search.limit(), most + 1);
        assert!(!search.advance(most + 1));
        let newer = search.window().unwrap();
        assert!(newer.from > window.from && newer.to == window.to, "{newer:?}");
        assert!(search.advance(most));
        search.end();
        assert_eq!(search.searched_from(), Some(newer.from));
    }

    #[test]
    fn a_search_ends_whatever_the_clock_says() {
        for now in [-9, 0, 5, 1_000] {
            let mut search = RequestSearch::new(&[], time(now), 20);
            assert_eq!(read(&mut search, &[500; 21]), [0; 0], "{now}");
            assert!(search.searched_from().is_some(), "{now}");
        }
    }

    proptest! {
        #[test]
        fn a_search_reads_every_row_since_its_end_once(
            mut rows in proptest::collection::vec(0..3_000_000_i64, 0..200),
            days in proptest::collection::btree_set(0..35_i64, 0..20),
            most in 1..200_i64,
        ) {
            let known = windows_of(&days.iter().map(|day| time(day * DAY)).collect::<Vec<_>>());
            let mut search = RequestSearch::new(&known, time(3_000_000), most);
            let mut found = read(&mut search, &rows);
            let from = search.searched_from().unwrap_or(UnixTime::FIRST);
            rows.retain(|at| time(*at) >= from && !days.contains(&(at / DAY)));
            rows.sort_unstable();
            found.sort_unstable();
            prop_assert!(i64::try_from(found.len()).unwrap() <= most);
            prop_assert_eq!(found, rows);
        }
    }
}
