//! Single requests that were charged, as those who paid for them and administrators read them (spec §13.8).

use super::id::{GatewayId, ReservationId, TokenId, UserId};
use super::ledger::ReservationHandle;
use super::money::Quota;
use super::time::UnixTime;

/// A charge, with the names of what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRequest {
    pub id: i64,
    pub at: UnixTime,
    pub token_id: TokenId,
    /// The present name, also of a deleted token.
    pub token_name: String,
    pub user_id: UserId,
    pub username: String,
    /// As the gateway named it; empty if it named none.
    pub model: String,
    pub quota: Quota,
    /// The part of the cost that neither balance could cover.
    pub shortfall: Quota,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    /// The end client's address, if the gateway sent it.
    pub ip: Option<String>,
    /// `None` for charges of older versions.
    pub request_id: Option<String>,
    pub reservation_id: Option<ReservationId>,
    pub gateway_id: Option<GatewayId>,
    /// `None` if it was revoked.
    pub gateway_name: Option<String>,
}

impl PastRequest {
    /// The reservation that was settled, as its gateway knows it.
    #[must_use]
    pub fn reservation(&self) -> Option<ReservationHandle> {
        self.reservation_id.map(|id| ReservationHandle { owner: self.user_id, id })
    }
}

/// Which requests to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFilter {
    /// The first second.
    pub from: UnixTime,
    /// The last second.
    pub to: UnixTime,
    pub model: Option<String>,
    pub gateway_id: Option<GatewayId>,
    pub request_id: Option<String>,
}

impl RequestFilter {
    /// Whether it leaves out requests of its time. Then a page reads rows that it does not show.
    #[must_use]
    pub const fn is_selective(&self) -> bool {
        self.model.is_some() || self.gateway_id.is_some() || self.request_id.is_some()
    }
}

/// A place between two requests, newest first: those before it in time follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub at: UnixTime,
    pub id: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`after` must be the `next` of a page")]
pub struct PositionInvalid;

impl Position {
    /// Before all requests.
    pub const NEWEST: Self = Self { at: UnixTime::LAST, id: i64::MAX };

    /// After all requests from `time` on.
    #[must_use]
    pub const fn before(time: UnixTime) -> Self {
        // Ids are positive.
        Self { at: time, id: 0 }
    }

    /// From `after` of the API.
    ///
    /// # Errors
    /// It is not the text of a position.
    pub fn parse(text: &str) -> Result<Self, PositionInvalid> {
        let (at, id) = text.split_once('.').ok_or(PositionInvalid)?;
        let number = |text: &str| text.parse().map_err(|_| PositionInvalid);
        let position = Self { at: UnixTime::new(number(at)?), id: number(id)? };
        // Only the text that a page gives: no plus sign, no zeros before a number.
        if position.to_string() == text { Ok(position) } else { Err(PositionInvalid) }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.at.get(), self.id)
    }
}

/// Seconds that are read together, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: UnixTime,
    pub to: UnixTime,
}

impl Window {
    const FIRST_SECONDS: i64 = 60;
    const GROWTH: i64 = 4;
    /// A window longer than this would hold all charges that are kept, or nearly so.
    const LONGEST: i64 = 365 * 86_400;

    /// Windows from `to` back to `from`, each longer than the one before it, without a gap. Requests lie at unknown distances:
    /// so few reads find those of long ago, and those of a busy minute are not read with a whole year. `now` is the present;
    /// later requests, made while the clock was wrong, are in the first window.
    pub fn back_from(to: UnixTime, from: UnixTime, now: UnixTime) -> impl Iterator<Item = Self> {
        let mut seconds = Self::FIRST_SECONDS;
        let mut last = Some(to);
        std::iter::from_fn(move || {
            let to = last.filter(|to| *to >= from)?;
            let start = if seconds > Self::LONGEST { from } else { to.min(now).plus(1 - seconds).max(from) };
            seconds = seconds.saturating_mul(Self::GROWTH);
            last = (start > from).then(|| start.plus(-1));
            Some(Self { from: start, to })
        })
    }
}

/// Which page to read.
#[derive(Debug, Clone, Copy)]
pub struct PagePlace {
    /// The requests that follow this one, newest first.
    pub after: Position,
    /// Requests on the page.
    pub size: usize,
}

/// A page of requests.
#[derive(Debug)]
pub struct RequestPage {
    /// Newest first. There can be fewer than were asked for, even none, although older ones follow: a page reads a bounded
    /// number of rows.
    pub requests: Vec<PastRequest>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Position>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn time(seconds: i64) -> UnixTime {
        UnixTime::new(seconds)
    }

    #[test]
    fn windows_grow_until_they_reach_the_beginning() {
        let windows: Vec<_> = Window::back_from(UnixTime::LAST, time(0), time(1_000)).collect();
        let expected = [(941, i64::MAX), (701, 940), (0, 700)];
        assert_eq!(windows, expected.map(|(from, to)| Window { from: time(from), to: time(to) }));
        assert_eq!(Window::back_from(time(5), time(6), time(9)).count(), 0);
        assert_eq!(Window::back_from(time(5), time(5), time(9)).count(), 1);
        assert_eq!(Window::back_from(time(5), time(0), time(-9)).count(), 1, "a clock that was far ahead");
        assert!(Window::back_from(UnixTime::LAST, UnixTime::FIRST, time(1_800_000_000)).count() < 16);
    }

    #[test]
    fn positions_are_read_as_they_are_written_and_in_no_other_way() {
        for position in [Position::NEWEST, Position::before(time(7)), Position { at: time(-3), id: 12 }] {
            assert_eq!(Position::parse(&position.to_string()), Ok(position));
        }
        for text in ["", ".", "7", "7.", "+7.1", "07.1", "7.1.2", "7.-0", "a.1", "7.9223372036854775808"] {
            assert_eq!(Position::parse(text), Err(PositionInvalid), "{text}");
        }
    }

    proptest! {
        #[test]
        fn windows_cover_every_second_once(
            from in 0..2_000_000_000_i64,
            length in 0..2_000_000_000_i64,
            now in 0..2_000_000_000_i64,
        ) {
            let (from, to) = (time(from), time(from).plus(length));
            let windows: Vec<_> = Window::back_from(to, from, time(now)).collect();
            prop_assert_eq!((windows[0].to, windows[windows.len() - 1].from), (to, from));
            for pair in windows.windows(2) {
                prop_assert_eq!(pair[1].to, pair[0].from.plus(-1));
            }
            prop_assert!(windows.iter().all(|window| window.from <= window.to));
        }
    }
}
