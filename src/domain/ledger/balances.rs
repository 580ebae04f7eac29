//! The balances that a batch has locked, and the operations on them.

use std::collections::BTreeMap;

use super::{Refusal, RequestContext, Reservation, ReservationState, Settlement};
use crate::domain::account::Account;
use crate::domain::calendar::Moment;
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::time::{Day, UnixTime};
use crate::domain::token::Token;
use crate::domain::user::UserStatus;

/// The rows that a batch has locked.
#[derive(Debug, Clone, Default)]
pub struct Balances {
    /// The wallets of the owners.
    pub wallets: BTreeMap<UserId, Wallet>,
    /// The tokens; also deleted ones, whose reservations still end.
    pub tokens: BTreeMap<TokenId, LockedToken>,
    /// The reservations that the operations name.
    pub reservations: BTreeMap<ReservationId, Reservation>,
}

/// A user's wallet: what all of the user's tokens together can spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wallet {
    pub account: Account,
    /// The number of charges so far.
    pub request_count: i64,
    /// The status of its owner.
    pub status: UserStatus,
}

/// A token as it was locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedToken {
    /// The token.
    pub token: Token,
    /// A deleted token refuses charges and reservations; its open reservations still end.
    pub is_deleted: bool,
    /// Whether its owner may use its group.
    pub group_is_open: bool,
}

/// What a gateway is answered to a charge, now and when it is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChargeOutcome {
    /// What was taken.
    pub charged: Quota,
    /// What the token had left.
    pub remain_quota: Quota,
}

/// Tokens in and out of a model, as the gateway counted them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Input tokens.
    pub prompt_tokens: i64,
    /// Output tokens.
    pub completion_tokens: i64,
}

impl Counts {
    /// Both together; stops at the largest number.
    #[must_use]
    pub const fn total(self) -> i64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

/// What an admitted amount is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// It is charged now.
    Charge,
    /// It is held.
    Hold,
}

/// Whether an operation changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It did.
    Applied,
    /// It had been done before, or it is too early.
    Unchanged,
}

impl Balances {
    /// Takes `quota` from a token and its owner's wallet, both or neither.
    ///
    /// # Errors
    /// See [`Refusal`]; nothing was taken then.
    pub fn charge(
        &mut self,
        id: TokenId,
        quota: Quota,
        counts: Counts,
        context: &RequestContext,
        at: &Moment,
    ) -> Result<(), Refusal> {
        self.take(id, quota, Purpose::Charge, context, at)?;
        self.count_charge(id, quota, counts, at);
        Ok(())
    }

    /// Holds `quota` until `expires_at` for the gateway `by`.
    ///
    /// # Errors
    /// See [`Refusal`]; nothing is held then.
    pub fn reserve(
        &mut self,
        by: GatewayId,
        id: TokenId,
        quota: Quota,
        context: &RequestContext,
        expires_at: UnixTime,
        at: &Moment,
    ) -> Result<Reservation, Refusal> {
        let user_id = self.tokens.get(&id).ok_or(Refusal::InvalidKey)?.token.user_id;
        let from_remain = self.take(id, quota, Purpose::Hold, context, at)?;
        let state = ReservationState::Open;
        Ok(Reservation { token_id: id, user_id, gateway_id: Some(by), held: quota, from_remain, expires_at, state })
    }

    /// Ends a reservation as a charge of `actual`. If less than that was held, the rest is taken as far as both balances
    /// reach, also beyond period limits: the work was admitted when it began. If more was held, the rest is given back. An
    /// expired reservation holds nothing. Settling again with the same amount returns the same settlement.
    ///
    /// # Errors
    /// The reservation is unknown to the gateway `by`, or ended in another way.
    pub fn settle(
        &mut self,
        by: GatewayId,
        id: ReservationId,
        actual: Quota,
        counts: Counts,
        at: &Moment,
    ) -> Result<(Settlement, Effect), Refusal> {
        let reservation = *self.made_by(by, id)?;
        let held = match reservation.state {
            ReservationState::Open => reservation.held,
            ReservationState::Expired => Quota::ZERO,
            ReservationState::Settled(before) if before.requested == actual => {
                return Ok((before, Effect::Unchanged));
            }
            ReservationState::Settled(_) | ReservationState::Released => return Err(Refusal::ReservationEnded),
        };
        let kept = held.min(actual);
        if reservation.state == ReservationState::Open {
            self.end_hold(&reservation);
        }
        self.give_back(&reservation, held.saturating_sub(kept));
        let missing = actual.saturating_sub(kept);
        let extra = self.take_up_to(&reservation, missing);
        let settlement = Settlement {
            requested: actual,
            charged: kept.checked_add(extra).unwrap_or(kept),
            shortfall: missing.saturating_sub(extra),
            was_expired: reservation.state == ReservationState::Expired,
        };
        self.set_state(id, ReservationState::Settled(settlement));
        self.count_charge(reservation.token_id, settlement.charged, counts, at);
        Ok((settlement, Effect::Applied))
    }

    /// Ends a reservation and gives its hold back. Releasing again changes nothing.
    ///
    /// # Errors
    /// The reservation is unknown to the gateway `by`, or settled.
    pub fn release(&mut self, by: GatewayId, id: ReservationId) -> Result<Effect, Refusal> {
        self.made_by(by, id)?;
        self.end_unused(id, ReservationState::Released)
    }

    /// Ends a reservation whose time is over and gives its hold back. Changes nothing if it has ended, or before its time.
    ///
    /// # Errors
    /// The reservation is unknown, or settled.
    pub fn expire(&mut self, id: ReservationId, now: UnixTime) -> Result<Effect, Refusal> {
        match self.reservations.get(&id) {
            Some(reservation) if reservation.expires_at > now => Ok(Effect::Unchanged),
            _ => self.end_unused(id, ReservationState::Expired),
        }
    }

    /// What a token has left; nothing if it is not locked here.
    #[must_use]
    pub fn remain(&self, id: TokenId) -> Quota {
        self.tokens.get(&id).map_or(Quota::ZERO, |locked| locked.token.account.remain())
    }

    /// The day that the last charge of a token belongs to: that of the charge, or a later one that had already begun on
    /// another server.
    #[must_use]
    pub fn charge_day(&self, id: TokenId, at: &Moment) -> Day {
        self.tokens.get(&id).map_or(at.today, |locked| locked.token.account.period_counters.day)
    }

    /// A reservation, if this gateway made it.
    fn made_by(&self, by: GatewayId, id: ReservationId) -> Result<&Reservation, Refusal> {
        self.reservations.get(&id).filter(|made| made.gateway_id == Some(by)).ok_or(Refusal::NoReservation)
    }

    fn end_unused(&mut self, id: ReservationId, state: ReservationState) -> Result<Effect, Refusal> {
        let reservation = *self.reservations.get(&id).ok_or(Refusal::NoReservation)?;
        match reservation.state {
            ReservationState::Open => {
                self.end_hold(&reservation);
                self.give_back(&reservation, reservation.held);
                self.set_state(id, state);
                Ok(Effect::Applied)
            }
            ReservationState::Released | ReservationState::Expired => Ok(Effect::Unchanged),
            ReservationState::Settled(_) => Err(Refusal::ReservationEnded),
        }
    }

    /// Moves `quota` from remain to used, on the token and in the wallet, if everything admits it. Returns true if the
    /// token is limited, so that the amount came from its `remain`.
    fn take(
        &mut self,
        id: TokenId,
        quota: Quota,
        purpose: Purpose,
        context: &RequestContext,
        at: &Moment,
    ) -> Result<bool, Refusal> {
        let locked = self.tokens.get_mut(&id).filter(|locked| !locked.is_deleted).ok_or(Refusal::InvalidKey)?;
        let token = &mut locked.token;
        let wallet = self.wallets.get_mut(&token.user_id).ok_or(Refusal::InvalidKey)?;
        token.admits(wallet.status, locked.group_is_open, context, at.now)?;
        token.affords(wallet, quota)?;
        token.fits_periods(wallet, quota, at)?;
        let mut rate_counters =
            token.rate_limits.admit(token.rate_counters, at.micros).map_err(Refusal::RateExceeded)?;
        if purpose == Purpose::Hold {
            if !token.rate_limits.admit_reservation(rate_counters) {
                let ever_fits = token.rate_limits.concurrency != Some(0);
                return Err(if ever_fits { Refusal::TooManyConcurrent } else { Refusal::NoConcurrency });
            }
            rate_counters.open_reservations = rate_counters.open_reservations.saturating_add(1);
        }
        let taken = |account: Account| match purpose {
            Purpose::Charge => account.spend(quota),
            Purpose::Hold => account.hold(quota),
        };
        let of_token = taken(token.account).ok_or(Refusal::TokenQuotaInsufficient)?;
        let of_wallet = taken(wallet.account).ok_or(Refusal::UserQuotaInsufficient)?;
        (token.account, wallet.account, token.rate_counters) = (of_token, of_wallet, rate_counters);
        Ok(!token.account.budget.is_unlimited())
    }

    /// Takes as much of `missing` as the token and the wallet can pay, and returns it: a cost beyond a hold, for work
    /// that was allowed when it began.
    fn take_up_to(&mut self, reservation: &Reservation, missing: Quota) -> Quota {
        let (Some(locked), Some(wallet)) =
            (self.tokens.get_mut(&reservation.token_id), self.wallets.get_mut(&reservation.user_id))
        else {
            return Quota::ZERO;
        };
        let token = &mut locked.token;
        let extra = missing.min(token.funds(wallet));
        let (Some(of_token), Some(of_wallet)) = (token.account.spend(extra), wallet.account.spend(extra)) else {
            return Quota::ZERO;
        };
        (token.account, wallet.account) = (of_token, of_wallet);
        extra
    }

    /// The accounts of a reservation's token and wallet.
    fn accounts(&mut self, reservation: &Reservation) -> impl Iterator<Item = &mut Account> {
        let token = self.tokens.get_mut(&reservation.token_id).map(|locked| &mut locked.token.account);
        let wallet = self.wallets.get_mut(&reservation.user_id).map(|wallet| &mut wallet.account);
        token.into_iter().chain(wallet)
    }

    /// An open reservation holds nothing any more. Its quota stays used until it is given back.
    fn end_hold(&mut self, reservation: &Reservation) {
        self.accounts(reservation).for_each(|account| account.end_hold(reservation.held));
        if let Some(LockedToken { token, .. }) = self.tokens.get_mut(&reservation.token_id) {
            token.rate_counters.open_reservations = (token.rate_counters.open_reservations - 1).max(0);
        }
    }

    /// Moves quota that a reservation held back from used.
    fn give_back(&mut self, reservation: &Reservation, quota: Quota) {
        self.accounts(reservation).for_each(|account| account.give_back(quota, reservation.from_remain));
    }

    fn set_state(&mut self, id: ReservationId, state: ReservationState) {
        if let Some(reservation) = self.reservations.get_mut(&id) {
            reservation.state = state;
        }
    }

    /// Counts a charge: in the periods of the token and the wallet, as model tokens, and as one more request. A token's
    /// last access never moves back.
    fn count_charge(&mut self, id: TokenId, charged: Quota, counts: Counts, at: &Moment) {
        let Some(LockedToken { token, .. }) = self.tokens.get_mut(&id) else {
            return;
        };
        token.accessed_time = token.accessed_time.max(at.now);
        token.rate_counters = token.rate_limits.count_tokens(token.rate_counters, counts.total(), at.micros);
        // One day for both, the later one: L9 compares them with the same rows of `usage_daily`.
        let mut today = at.today.max(token.account.period_counters.day);
        if let Some(wallet) = self.wallets.get_mut(&token.user_id) {
            wallet.request_count = wallet.request_count.saturating_add(1);
            today = today.max(wallet.account.period_counters.day);
            wallet.account.count(charged, today, at.calendar);
        }
        token.account.count(charged, today, at.calendar);
    }
}
