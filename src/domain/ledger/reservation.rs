//! Reservations: quota held for a request whose cost is not known yet.

use super::refusal::RefusalReason;
use crate::domain::group::Ratio;
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::named::named;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::count::UnitCount;
use crate::domain::prices::model_prices::PriceContext;
use crate::domain::prices::unit::INPUT_TOKENS;
use crate::domain::time::UnixTime;

/// Quota that is held for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// The token that the hold was taken from.
    pub token_id: TokenId,
    /// The owner of the wallet that the hold was taken from.
    pub user_id: UserId,
    /// The gateway that made it. Only this one can settle or release it.
    pub gateway_id: Option<GatewayId>,
    /// The amount held.
    pub held: Quota,
    /// Whether the token was limited, so that the hold was taken from its `remain_quota` and returns there. It also
    /// returns there if the token is limited when the hold ends (L2).
    pub from_remain: bool,
    /// When it was made: the day and the hour of its price.
    pub created_time: UnixTime,
    /// When it expires if it has not ended before.
    pub expires_at: UnixTime,
    pub on_expiry: OnExpiry,
    /// By which prices are multiplied when it is settled: that of the token's group when it was made, so that no change
    /// of the group makes work cheaper that has begun.
    pub ratio: Ratio,
    /// Whether it is open, or how it ended.
    pub state: ReservationState,
}

/// What the settlement of a reservation needs to find a price.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// Whether it named input tokens: then its answer must have some.
    pub names_input: bool,
    /// What its answer may say otherwise.
    pub context: PriceContext,
    pub provider: Option<String>,
    /// Whether a cost that its answer tells is multiplied by the ratio of the group.
    pub has_ratio_of_told: bool,
}

impl Asked {
    /// What a reservation with this cost asks, in a group with a ratio of told costs or without.
    pub fn of(cost: &Cost, has_ratio_of_told: bool) -> Self {
        Self {
            names_input: cost.units.get(INPUT_TOKENS) > UnitCount::ZERO,
            context: cost.context.clone(),
            provider: cost.provider.clone(),
            has_ratio_of_told,
        }
    }

    /// What a settlement says, and what the reservation said where that says nothing.
    pub fn completed(&self, cost: &Cost) -> Cost {
        let mut cost = cost.clone();
        cost.provider = cost.provider.or_else(|| self.provider.clone());
        for (key, value) in &self.context {
            cost.context.entry(key.clone()).or_insert_with(|| value.clone());
        }
        cost
    }
}

impl Reservation {
    /// What it holds and until when; `None` if it has ended.
    pub fn hold(&self) -> Option<(Quota, UnixTime)> {
        (self.state == ReservationState::Open).then_some((self.held, self.expires_at))
    }
}

/// The answer to a repeated reservation: what is held for it and until when. `hold` is that of the reservation that was
/// made at first.
///
/// # Errors
/// It has ended, or its time is over.
pub fn repeat(hold: Option<(Quota, UnixTime)>, now: UnixTime) -> Result<(Quota, UnixTime), RefusalReason> {
    hold.filter(|(_, expires_at)| *expires_at > now).ok_or(RefusalReason::ReservationEnded)
}

named! {
    /// What becomes of a hold whose time is over.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum OnExpiry {
        /// It is given back, and its reservation can still be settled.
        #[default]
        Release = "release",
        /// It is charged as a whole, and its reservation can never be settled otherwise.
        Charge = "charge",
    }
}

/// The state of a reservation. It is open once (L7). Of the others, only `Expired` can change: it can still be settled,
/// once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationState {
    /// It holds its quota.
    Open,
    /// It became a charge.
    Settled(Settlement),
    /// A gateway gave its hold back.
    Released,
    /// Its hold was given back because its time was over.
    Expired,
    /// Its hold was charged because its time was over.
    ChargedOnExpiry(Settlement),
}

impl ReservationState {
    /// The value of the column `state`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Settled(_) | Self::ChargedOnExpiry(_) => "settled",
            Self::Released => "released",
            Self::Expired => "expired",
        }
    }

    /// How it was charged, if it was.
    pub const fn settlement(self) -> Option<Settlement> {
        match self {
            Self::Settled(settlement) | Self::ChargedOnExpiry(settlement) => Some(settlement),
            Self::Open | Self::Released | Self::Expired => None,
        }
    }
}

/// What a reservation should be after it was extended. It never holds less than before, nor for a shorter time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// All that it should hold.
    pub quota: Option<Quota>,
    /// When its hold should be given back.
    pub until: Option<UnixTime>,
}

/// How a reservation was charged. `charged + shortfall = requested`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// The actual cost that the gateway reported.
    pub requested: Quota,
    /// What was taken.
    pub charged: Quota,
    /// What neither the hold nor the balances could cover.
    pub shortfall: Quota,
    /// Whether the reservation had expired before: it held nothing any more, or its hold was charged for that.
    pub was_expired: bool,
}

/// The id of a reservation as gateways see it, `r7.123`: its owner, who decides the lane, and its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservationHandle {
    /// The owner of the token. A reservation of another owner is not found.
    pub owner: UserId,
    /// The row.
    pub id: ReservationId,
}

/// The text is not the id of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservationHandleInvalid;

impl std::fmt::Display for ReservationHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "r{}.{}", self.owner, self.id)
    }
}

impl std::str::FromStr for ReservationHandle {
    type Err = ReservationHandleInvalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.strip_prefix('r').and_then(|rest| rest.split_once('.'));
        let (owner, id) = parts.ok_or(ReservationHandleInvalid)?;
        let number = |digits: &str| digits.parse::<i64>().map_err(|_| ReservationHandleInvalid);
        Ok(Self { owner: UserId::new(number(owner)?), id: ReservationId::new(number(id)?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_reservation_is_answered_while_it_holds_quota() {
        let (quota, second) = (Quota::grant(5).unwrap(), UnixTime::new);
        let table = [(Some(9), true), (Some(8), false), (Some(7), false), (None, false)];
        for (expires_at, is_answered) in table {
            let hold = expires_at.map(|at| (quota, second(at)));
            let expected = if is_answered { hold } else { None }.ok_or(RefusalReason::ReservationEnded);
            assert_eq!(repeat(hold, second(8)), expected, "{expires_at:?}");
        }
    }
}
