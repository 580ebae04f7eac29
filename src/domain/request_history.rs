//! Single requests that were charged or refused, as those who paid for them and administrators read them (spec §13.8).

use super::charge_details::ChargeDetails;
use super::client_addresses::StoredAddress;
use super::group::Group;
use super::id::{GatewayId, PriceId, ReservationId, TokenId, UserId};
use super::ledger::{Refusal, RefusalReason, ReservationHandle};
use super::money::Quota;
use super::named::named;
use super::prices::priced_by::PricedBy;
use super::prices::units::Units;
use super::refusals::RefusedCall;
use super::remedy::{Outlook, RefusedAttempt};
use super::time::UnixTime;

/// A request, with the names of what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRequest {
    /// Of requests with the same kind of outcome.
    pub id: i64,
    pub at: UnixTime,
    /// `None` if no token ever had the key.
    pub token: Option<RequestToken>,
    /// The present group of the token.
    pub group: Group,
    /// As the gateway named it; empty if it named none.
    pub model: String,
    /// The end client's address or its network, if the gateway sent it and it is stored.
    pub ip: Option<String>,
    /// `None` for charges of older versions, and for refusals whose gateway sent none.
    pub request_id: Option<String>,
    pub gateway_id: Option<GatewayId>,
    /// `None` if it was revoked.
    pub gateway_name: Option<String>,
    pub outcome: PastOutcome,
}

/// The token of a request and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestToken {
    pub id: TokenId,
    /// The present name, also of a deleted token.
    pub name: String,
    pub user_id: UserId,
    pub username: String,
}

impl RequestToken {
    /// Of a row: a token id of 0 stands for a key that no token ever had.
    pub fn of_row(id: TokenId, name: String, user_id: UserId, username: String) -> Option<Self> {
        (id.get() != 0).then_some(Self { id, name, user_id, username })
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastOutcome {
    Charged {
        quota: Quota,
        /// The part of the cost that neither balance could cover.
        shortfall: Quota,
        units: Units,
        /// Charges of older versions may say `told` where it was the hold.
        priced_by: PricedBy,
        /// The price, if it was computed by one.
        price_id: Option<PriceId>,
        reservation_id: Option<ReservationId>,
        /// Only of a request that was asked for alone.
        details: Option<Box<ChargeDetails>>,
    },
    Refused {
        call: RefusedCall,
        refusal: Refusal,
        /// The amount that was asked for, if one was.
        quota: Option<Quota>,
        /// How many more of the same minute were refused like this and have no row.
        suppressed: i64,
        /// What is known of it now.
        outlook: Outlook,
    },
    /// Another service charged it, before an import.
    Imported { quota: Quota, units: Units },
}

named! {
    /// The kinds of outcomes. Of requests of one second, imported ones are the oldest, and charged ones the newest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum OutcomeKind {
        Imported = "imported",
        Refused = "refused",
        Charged = "charged",
    }
}

impl OutcomeKind {
    /// What was paid for.
    pub const PAID: [Self; 2] = [Self::Charged, Self::Imported];

    /// This kind alone.
    pub const fn alone(self) -> &'static [Self] {
        match self {
            Self::Imported => &[Self::Imported],
            Self::Refused => &[Self::Refused],
            Self::Charged => &[Self::Charged],
        }
    }

    /// The letter in the text of a position.
    const fn letter(self) -> char {
        match self {
            Self::Imported => 'i',
            Self::Refused => 'r',
            Self::Charged => 'c',
        }
    }
}

impl PastRequest {
    /// The reservation that was settled, as its gateway knows it.
    pub fn reservation(&self) -> Option<ReservationHandle> {
        let owner = self.token.as_ref()?.user_id;
        match self.outcome {
            PastOutcome::Charged { reservation_id, .. } => reservation_id.map(|id| ReservationHandle { owner, id }),
            PastOutcome::Refused { .. } | PastOutcome::Imported { .. } => None,
        }
    }

    /// What was refused, and of which token; `None` of other requests, and if no token ever had the key.
    pub fn attempt(&self) -> Option<(TokenId, RefusedAttempt)> {
        let PastOutcome::Refused { call, refusal, quota, suppressed, .. } = self.outcome else {
            return None;
        };
        let (model, ip) = (self.model.clone(), self.ip.clone().map(StoredAddress::from_stored));
        let attempt = RefusedAttempt { call, refusal, quota, model, ip, is_summary: suppressed > 0 };
        Some((self.token.as_ref()?.id, attempt))
    }

    /// Where it is.
    pub const fn position(&self) -> Position {
        let kind = match self.outcome {
            PastOutcome::Charged { .. } => OutcomeKind::Charged,
            PastOutcome::Refused { .. } => OutcomeKind::Refused,
            PastOutcome::Imported { .. } => OutcomeKind::Imported,
        };
        Position { at: self.at, kind, id: self.id }
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
    pub outcomes: &'static [OutcomeKind],
    /// Only refused requests have one.
    pub reason: Option<RefusalReason>,
    /// Only this request.
    pub only: Option<Position>,
    /// Only those of tokens with exactly this name.
    pub token_name: Option<String>,
}

impl RequestFilter {
    /// All requests with one of these outcomes.
    pub const fn of(outcomes: &'static [OutcomeKind]) -> Self {
        Self {
            from: UnixTime::FIRST,
            to: UnixTime::LAST,
            model: None,
            gateway_id: None,
            request_id: None,
            outcomes,
            reason: None,
            only: None,
            token_name: None,
        }
    }

    /// Whether it leaves out requests of its time and outcome. Then a page reads rows that it does not show.
    pub const fn is_selective(&self) -> bool {
        self.model.is_some()
            || self.gateway_id.is_some()
            || self.request_id.is_some()
            || self.reason.is_some()
            || self.token_name.is_some()
    }

    /// The id of requests that are wanted whenever they were made.
    pub fn id_of_any_time(&self) -> Option<&str> {
        let is_any_time = (self.from, self.to) == (UnixTime::FIRST, UnixTime::LAST) && self.only.is_none();
        self.request_id.as_deref().filter(|_| is_any_time)
    }

    /// Whether requests with this outcome can pass.
    pub fn allows(&self, kind: OutcomeKind) -> bool {
        self.outcomes.contains(&kind)
            && (self.reason.is_none() || kind == OutcomeKind::Refused)
            && self.only.is_none_or(|only| only.kind == kind)
    }

    /// The first and the last second.
    pub fn seconds(&self) -> (UnixTime, UnixTime) {
        self.only.map_or((self.from, self.to), |only| (self.from.max(only.at), self.to.min(only.at)))
    }
}

/// A place between two requests, newest first: those before it in time follow. Also the text by which a request is
/// found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub at: UnixTime,
    pub kind: OutcomeKind,
    pub id: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`after` must be the `next` of a page")]
pub struct PositionInvalid;

impl Position {
    /// Before all requests.
    pub const NEWEST: Self = Self { at: UnixTime::LAST, kind: OutcomeKind::Charged, id: i64::MAX };

    /// After all requests from `time` on.
    pub const fn before(time: UnixTime) -> Self {
        // Ids are positive.
        Self { at: time, kind: OutcomeKind::Imported, id: 0 }
    }

    /// The id before which requests of this kind and second follow it.
    pub fn id_bound(self, kind: OutcomeKind) -> i64 {
        match kind.cmp(&self.kind) {
            std::cmp::Ordering::Less => i64::MAX,
            std::cmp::Ordering::Equal => self.id,
            std::cmp::Ordering::Greater => 0,
        }
    }

    /// From `after` or `id` of the API.
    ///
    /// # Errors
    /// It is not the text of a position.
    pub fn parse(text: &str) -> Result<Self, PositionInvalid> {
        let (at, rest) = text.split_once('.').ok_or(PositionInvalid)?;
        let mut kinds = OutcomeKind::ALL.into_iter();
        let (kind, id) =
            kinds.find_map(|kind| Some((kind, rest.strip_prefix(kind.letter())?))).ok_or(PositionInvalid)?;
        let number = |text: &str| text.parse().map_err(|_| PositionInvalid);
        let position = Self { at: UnixTime::new(number(at)?), kind, id: number(id)? };
        // Only the text that a page gives: no plus sign, no zeros before a number.
        if position.to_string() == text { Ok(position) } else { Err(PositionInvalid) }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}{}", self.at.get(), self.kind.letter(), self.id)
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

    /// Windows from `to` back to `from`, each longer than the one before it, without a gap. Requests lie at unknown
    /// distances: so few reads find those of long ago, and those of a busy minute are not read with a whole year. `now`
    /// is the present; later requests, made while the clock was wrong, are in the first window.
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
    /// Newest first. There can be fewer than were asked for, even none, although older ones follow: a page reads a
    /// bounded number of rows.
    pub requests: Vec<PastRequest>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Position>,
    /// Of a search by an id of any time that found nothing: the second since which it searched all days, if not always.
    pub searched_from: Option<UnixTime>,
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
        let charge = Position { at: time(-3), kind: OutcomeKind::Charged, id: 12 };
        for position in [Position::NEWEST, Position::before(time(7)), charge] {
            assert_eq!(Position::parse(&position.to_string()), Ok(position));
        }
        assert_eq!(charge.to_string(), "-3.c12");
        for text in [
            "",
            ".",
            "7",
            "7.",
            "7.c",
            "7.1",
            "+7.c1",
            "07.c1",
            "7.c1.2",
            "7.c-0",
            "a.c1",
            "7.x1",
            "7.c9223372036854775808",
        ] {
            assert_eq!(Position::parse(text), Err(PositionInvalid), "{text}");
        }
    }

    #[test]
    fn what_follows_a_position_is_told_by_time_kind_and_id() {
        use OutcomeKind::{Charged, Refused};
        let all: Vec<Position> = [(4, Refused, 1), (4, Refused, 2), (4, Charged, 1), (4, Charged, 2), (5, Refused, 1)]
            .map(|(at, kind, id)| Position { at: time(at), kind, id })
            .into();
        for after in &all {
            for other in &all {
                let follows = (other.at, other.id) < (after.at, after.id_bound(other.kind));
                assert_eq!(follows, other < after, "{other} after {after}");
            }
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
