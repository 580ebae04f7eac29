//! The balances that a batch has locked, and the operations on them.

use std::collections::BTreeMap;

use super::accounts::Accounts;
use super::admission::{Purpose, RequestContext, TokenState, admit, admit_use};
use super::locked_token::{CurrentPolicy, LockedToken};
use super::refusal::{Refusal, RefusalReason};
use super::reservation::{Extension, OnExpiry, Reservation, ReservationState, Settlement};
use crate::domain::account::Account;
use crate::domain::calendar::Moment;
use crate::domain::group::Ratio;
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::time::{Day, UnixTime};
use crate::domain::user::UserStatus;

/// The rows that a batch has locked.
#[derive(Debug, Clone, Default)]
pub struct Balances {
    /// The wallets of the owners.
    pub wallets: BTreeMap<UserId, Wallet>,
    /// The tokens; also deleted ones, whose reservations still end.
    pub tokens: BTreeMap<TokenId, LockedToken>,
    /// The policies of tokens that may be charged. A token without one is deleted, or only its reservations end.
    pub policies: BTreeMap<TokenId, CurrentPolicy>,
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

/// What a gateway is answered to a charge, now and when it is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChargeOutcome {
    /// What was taken.
    pub charged: Quota,
    /// What the token had left.
    pub remain_quota: Quota,
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
    /// `model_tokens` count against its tokens per minute.
    ///
    /// # Errors
    /// See [`Refusal`]; nothing was taken then.
    pub fn charge(
        &mut self,
        id: TokenId,
        quota: Quota,
        model_tokens: i64,
        context: &RequestContext,
        at: &Moment,
    ) -> Result<(), Refusal> {
        self.take(id, Purpose::Charge(quota), context, at)?;
        self.count_charge(id, quota, model_tokens, at);
        Ok(())
    }

    /// Whether a request may use a token, whatever it costs.
    ///
    /// # Errors
    /// See [`admit_use`].
    pub fn check_use(&self, id: TokenId, context: &RequestContext, at: &Moment) -> Result<(), Refusal> {
        let (policy, state) = self.find_usable(id)?;
        admit_use(policy.get(), &state, context, at).map(drop)
    }

    /// Holds `quota` for the gateway `by`, until its time is over.
    ///
    /// # Errors
    /// See [`Refusal`]; nothing is held then.
    pub fn reserve(
        &mut self,
        by: GatewayId,
        id: TokenId,
        quota: Quota,
        context: &RequestContext,
        (expires_at, on_expiry): (UnixTime, OnExpiry),
        at: &Moment,
    ) -> Result<Reservation, Refusal> {
        let ratio = self.policies.get(&id).map_or(Ratio::ONE, CurrentPolicy::ratio);
        let token = self.take(id, Purpose::Hold(quota), context, at)?;
        let from_remain = !token.account.budget.is_unlimited();
        Ok(Reservation {
            created_time: at.now,
            token_id: id,
            user_id: token.user_id,
            gateway_id: Some(by),
            held: quota,
            from_remain,
            expires_at,
            on_expiry,
            ratio,
            state: ReservationState::Open,
        })
    }

    /// Lets a reservation hold more, or for longer, if that would be admitted as a reservation made now. Extending it
    /// again, or to less than it is, changes nothing.
    ///
    /// # Errors
    /// The reservation is unknown to the gateway `by`, or has ended, or its time is over; or see [`Refusal`].
    pub fn extend(
        &mut self,
        by: GatewayId,
        id: ReservationId,
        to: Extension,
        context: &RequestContext,
        at: &Moment,
    ) -> Result<(), Refusal> {
        let before = *self.made_by(by, id)?;
        if before.state != ReservationState::Open || before.expires_at <= at.now {
            return Err(RefusalReason::ReservationEnded.into());
        }
        let held = to.quota.unwrap_or_default().max(before.held);
        let expires_at = to.until.unwrap_or(before.expires_at).max(before.expires_at);
        if (held, expires_at) == (before.held, before.expires_at) {
            return Ok(());
        }
        let added = held.saturating_sub(before.held);
        let token = self.take(before.token_id, Purpose::Extend(added), context, at)?;
        let mut extended = Reservation { held, expires_at, ..before };
        if !added.is_zero() {
            extended.from_remain = !token.account.budget.is_unlimited();
        }
        if extended.from_remain != before.from_remain {
            // The token was made unlimited or limited since. The whole hold ends in one way, so all of it is taken in
            // that way.
            self.give_back(&before, before.held);
            self.take_up_to(before.token_id, before.held);
        }
        self.reservations.insert(id, extended);
        Ok(())
    }

    /// Ends a reservation as a charge of `actual`. If less than that was held, the rest is taken as far as both
    /// balances reach, also beyond period limits: the work was admitted when it began. If more was held, the rest is
    /// given back. An expired reservation holds nothing. Settling again with the same amount returns the same
    /// settlement.
    ///
    /// # Errors
    /// The reservation is unknown to the gateway `by`, or ended in another way.
    pub fn settle(
        &mut self,
        by: GatewayId,
        id: ReservationId,
        actual: Quota,
        model_tokens: i64,
        at: &Moment,
    ) -> Result<(Settlement, Effect), Refusal> {
        let reservation = *self.to_settle(by, id)?;
        let held = match reservation.state {
            ReservationState::Open => reservation.held,
            ReservationState::Expired => Quota::ZERO,
            ReservationState::Settled(before) if before.requested == actual => {
                return Ok((before, Effect::Unchanged));
            }
            ReservationState::Settled(_) | ReservationState::Released | ReservationState::ChargedOnExpiry(_) => {
                return Err(RefusalReason::ReservationEnded.into());
            }
        };
        let kept = held.min(actual);
        if reservation.state == ReservationState::Open {
            self.end_hold(&reservation);
        }
        self.give_back(&reservation, held.saturating_sub(kept));
        let missing = actual.saturating_sub(kept);
        let extra = self.take_up_to(reservation.token_id, missing);
        let settlement = Settlement {
            requested: actual,
            charged: kept.checked_add(extra).unwrap_or(kept),
            shortfall: missing.saturating_sub(extra),
            was_expired: reservation.state == ReservationState::Expired,
        };
        self.set_state(id, ReservationState::Settled(settlement));
        self.count_charge(reservation.token_id, settlement.charged, model_tokens, at);
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

    /// Ends a reservation whose time is over: gives its hold back or, if it was made so, charges it. Changes nothing if
    /// it has ended, or before its time.
    ///
    /// # Errors
    /// The reservation is unknown, or settled.
    pub fn expire(&mut self, id: ReservationId, at: &Moment) -> Result<Effect, Refusal> {
        let reservation = *self.reservations.get(&id).ok_or(RefusalReason::ReservationNotFound)?;
        if reservation.expires_at > at.now {
            return Ok(Effect::Unchanged);
        }
        if (reservation.state, reservation.on_expiry) != (ReservationState::Open, OnExpiry::Charge) {
            return self.end_unused(id, ReservationState::Expired);
        }
        self.end_hold(&reservation);
        let charged = reservation.held;
        let settlement = Settlement { requested: charged, charged, shortfall: Quota::ZERO, was_expired: true };
        self.set_state(id, ReservationState::ChargedOnExpiry(settlement));
        self.count_charge(reservation.token_id, charged, 0, at);
        Ok(Effect::Applied)
    }

    /// What a token has left; nothing if it is not locked here.
    pub fn remain(&self, id: TokenId) -> Quota {
        self.tokens.get(&id).map_or(Quota::ZERO, |token| token.account.remain())
    }

    /// The day that the last charge of a token belongs to: that of the charge, or a later one that had already begun on
    /// another server.
    pub fn charge_day(&self, id: TokenId, at: &Moment) -> Day {
        self.tokens.get(&id).map_or(at.today, |token| token.account.period_counters.day)
    }

    /// A reservation that the gateway `by` can settle, or has settled.
    ///
    /// # Errors
    /// It is unknown to the gateway, or ended in another way.
    pub fn to_settle(&self, by: GatewayId, id: ReservationId) -> Result<&Reservation, Refusal> {
        let reservation = self.made_by(by, id)?;
        match reservation.state {
            ReservationState::Open | ReservationState::Expired | ReservationState::Settled(_) => Ok(reservation),
            ReservationState::Released | ReservationState::ChargedOnExpiry(_) => {
                Err(RefusalReason::ReservationEnded.into())
            }
        }
    }

    /// A reservation, if this gateway made it.
    fn made_by(&self, by: GatewayId, id: ReservationId) -> Result<&Reservation, Refusal> {
        self.reservations
            .get(&id)
            .filter(|made| made.gateway_id == Some(by))
            .ok_or_else(|| RefusalReason::ReservationNotFound.into())
    }

    fn end_unused(&mut self, id: ReservationId, state: ReservationState) -> Result<Effect, Refusal> {
        let reservation = *self.reservations.get(&id).ok_or(RefusalReason::ReservationNotFound)?;
        match reservation.state {
            ReservationState::Open => {
                self.end_hold(&reservation);
                self.give_back(&reservation, reservation.held);
                self.set_state(id, state);
                Ok(Effect::Applied)
            }
            ReservationState::Released | ReservationState::Expired => Ok(Effect::Unchanged),
            ReservationState::Settled(_) | ReservationState::ChargedOnExpiry(_) => {
                Err(RefusalReason::ReservationEnded.into())
            }
        }
    }

    /// What decides about the use of a token.
    fn find_usable(&self, id: TokenId) -> Result<(&CurrentPolicy, TokenState), Refusal> {
        let policy = self.policies.get(&id).ok_or(RefusalReason::InvalidKey)?;
        let token = self.tokens.get(&id).ok_or(RefusalReason::InvalidKey)?;
        let wallet = self.wallets.get(&token.user_id).ok_or(RefusalReason::InvalidKey)?;
        let state = TokenState {
            owner: wallet.status,
            group_is_open: policy.group_is_open(),
            accounts: Accounts::new(token.account, wallet.account),
            rate_limits: token.rate_limits,
            rate_counters: token.rate_counters,
        };
        Ok((policy, state))
    }

    /// Takes a cost from a token and its owner's wallet, and returns the token after that.
    fn take(
        &mut self,
        id: TokenId,
        purpose: Purpose,
        context: &RequestContext,
        at: &Moment,
    ) -> Result<&LockedToken, Refusal> {
        let (policy, state) = self.find_usable(id)?;
        let admitted = admit(policy.get(), &state, purpose, context, at)?;
        let token = self.tokens.get_mut(&id).ok_or(RefusalReason::InvalidKey)?;
        let wallet = self.wallets.get_mut(&token.user_id).ok_or(RefusalReason::InvalidKey)?;
        (token.account, wallet.account) = (*admitted.accounts.token(), *admitted.accounts.wallet());
        token.rate_counters = admitted.rate_counters;
        Ok(token)
    }

    /// Takes as much of `missing` as the token and the wallet can pay, and returns it: a cost beyond a hold, for work
    /// that was allowed when it began.
    fn take_up_to(&mut self, id: TokenId, missing: Quota) -> Quota {
        self.with_accounts(id, |accounts| {
            let extra = missing.min(accounts.funds());
            accounts.spend(extra).map_or(Quota::ZERO, |after| {
                *accounts = after;
                extra
            })
        })
        .unwrap_or(Quota::ZERO)
    }

    /// Changes the accounts of a token and its owner; `None` if they are not locked here.
    fn with_accounts<T>(&mut self, id: TokenId, change: impl FnOnce(&mut Accounts) -> T) -> Option<T> {
        let token = self.tokens.get_mut(&id)?;
        let wallet = self.wallets.get_mut(&token.user_id)?;
        let mut accounts = Accounts::new(token.account, wallet.account);
        let changed = change(&mut accounts);
        (token.account, wallet.account) = (*accounts.token(), *accounts.wallet());
        Some(changed)
    }

    /// An open reservation holds nothing any more. Its quota stays used until it is given back.
    fn end_hold(&mut self, reservation: &Reservation) {
        self.with_accounts(reservation.token_id, |accounts| accounts.end_hold(reservation.held));
        if let Some(token) = self.tokens.get_mut(&reservation.token_id) {
            token.rate_counters.open_reservations = (token.rate_counters.open_reservations - 1).max(0);
        }
    }

    /// Moves quota that a reservation held back from used.
    fn give_back(&mut self, reservation: &Reservation, quota: Quota) {
        self.with_accounts(reservation.token_id, |accounts| accounts.give_back(quota, reservation.from_remain));
    }

    fn set_state(&mut self, id: ReservationId, state: ReservationState) {
        if let Some(reservation) = self.reservations.get_mut(&id) {
            reservation.state = state;
        }
    }

    /// Counts a charge: in the periods of the token and the wallet, as model tokens, and as one more request. A token's
    /// last access never moves back.
    fn count_charge(&mut self, id: TokenId, charged: Quota, model_tokens: i64, at: &Moment) {
        self.with_accounts(id, |accounts| accounts.count(charged, at.today, at.calendar));
        let Some(token) = self.tokens.get_mut(&id) else {
            return;
        };
        token.accessed_time = token.accessed_time.max(at.now);
        token.rate_counters = token.rate_limits.count_tokens(token.rate_counters, model_tokens, at.micros);
        if let Some(wallet) = self.wallets.get_mut(&token.user_id) {
            wallet.request_count = wallet.request_count.saturating_add(1);
        }
    }
}
