//! One batch: what its operations decide and add, over the rows that they need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::LedgerError;
use super::locked::LockedRows;
use super::provider_usage::{ProviderUsage, ReadUsage, UsageInvalid};
use crate::domain::calendar::Moment;
use crate::domain::client_addresses::ClientAddresses;
use crate::domain::group::Ratio;
use crate::domain::id::{ReservationId, TokenId, UserId};
use crate::domain::ledger::{
    Asked, Balances, CurrentPolicy, Refusal, RefusalReason, RequestContext, RequestDetails, Reservation,
    ReservationHandle, UsedKeys, settled_cost,
};
use crate::domain::money::Quota;
use crate::domain::old_key::UsedKey;
use crate::domain::prices::cost::{Amount, Cost};
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::domain::prices::unknown::Unknown;
use crate::domain::time::UnixTime;
use crate::service::key_cache::CachedKey;
use crate::service::price_file::ReadPrices;
use crate::service::rng::Rng;
use crate::storage::ledger::{Changes, GatewayRequestId, NewCharge, RecordedReservation, RequestIdRecord};
use crate::storage::reservations::{NewReservation, ReservedFor, SettledBy};

/// The locked rows of a batch, and what its operations add.
pub(super) struct Batch<'a> {
    /// When every operation in it is decided.
    pub(super) at: Moment,
    pub(super) balances: Balances,
    /// The keys by which the operations came.
    pub(super) used_keys: UsedKeys,
    before: Balances,
    /// Owners of which another transaction has locked a row.
    blocked: BTreeSet<UserId>,
    reserved_for: BTreeMap<ReservationId, ReservedFor>,
    records: BTreeMap<GatewayRequestId, RequestIdRecord>,
    /// By what reservations were settled, for those that are settled again.
    settled_by: BTreeMap<ReservationId, SettledBy>,
    prices: Arc<ReadPrices>,
    changes: Changes,
    last_reservation: Option<ReservationId>,
    rng: &'a Rng,
    addresses: ClientAddresses,
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        locked: LockedRows,
        at: Moment,
        prices: Arc<ReadPrices>,
        rng: &'a Rng,
        addresses: ClientAddresses,
    ) -> Self {
        let LockedRows { balances, used_keys, blocked, reserved_for, records, settled_by, usage_closed_until, .. } =
            locked;
        let at = at.after_closed_days(usage_closed_until);
        let changes = Changes::new(at.now);
        let before = balances.clone();
        Self {
            at,
            balances,
            used_keys,
            before,
            blocked,
            reserved_for,
            records,
            settled_by,
            prices,
            changes,
            last_reservation: None,
            rng,
            addresses,
        }
    }

    /// Returns true if another transaction has locked a row of this owner.
    pub(super) fn is_blocked(&self, owner: UserId) -> bool {
        self.blocked.contains(&owner)
    }

    /// Which of its token's keys a request came with.
    pub(super) fn find_key(&self, key: &CachedKey) -> Result<UsedKey, Refusal> {
        let id = key.token.id;
        let version = self.balances.tokens.get(&id).and_then(|locked| locked.version);
        let remembered = (version == Some(key.token.policy.version)).then_some(key.used);
        self.used_keys.find(id, &key.digest, remembered, self.at.now)
    }

    /// The record of a request with this id: written before, or by an operation of this batch.
    pub(super) fn record(&self, key: &GatewayRequestId) -> Option<&RequestIdRecord> {
        self.records.get(key)
    }

    /// Adds the record of a request.
    pub(super) fn add_record(&mut self, key: GatewayRequestId, record: RequestIdRecord) {
        self.records.insert(key.clone(), record.clone());
        self.changes.idempotency_records.push((key, record));
    }

    /// What a request used and cost, with what its provider's answer says. A cost that it tells is multiplied by
    /// `ratio_of_told`.
    pub(super) fn read_usage(
        &mut self,
        sent: &Cost,
        usage: Option<&ProviderUsage>,
        model: Option<&str>,
        ratio_of_told: Option<Ratio>,
    ) -> Result<ReadUsage, UsageInvalid> {
        let Some(usage) = usage else {
            return Ok(ReadUsage { cost: sent.clone(), unread: BTreeSet::new() });
        };
        let read = usage.cost(sent, model.unwrap_or_default(), &self.prices, ratio_of_told)?;
        if !read.unread.is_empty() {
            self.prices.note_unread(&read.unread);
            self.changes.unread_usages += 1;
        }
        Ok(read)
    }

    /// Why nothing is charged by a usage that cannot be read: a token that may not be used is refused for that.
    pub(super) fn refuse_usage(&self, id: TokenId, why: UsageInvalid, context: &RequestContext) -> LedgerError {
        match self.balances.check_use(id, context, &self.at) {
            Ok(()) => why.into(),
            Err(refusal) => refusal.into(),
        }
    }

    /// What a charge of a token costs: what its gateway says, or what the price of the model says.
    pub(super) fn amount(&self, id: TokenId, cost: &Cost, context: &RequestContext) -> Result<Amount, LedgerError> {
        let amount = self.prices.list.amount(cost, context.model.as_deref(), self.at.now, self.ratio(id));
        amount.map_err(|unknown| self.refuse_unknown(id, unknown, context))
    }

    /// What a reservation of a token holds: the same, but the most that a request with these counts can cost.
    pub(super) fn most(&self, id: TokenId, cost: &Cost, context: &RequestContext) -> Result<Quota, LedgerError> {
        let most = self.prices.list.most(cost, context.model.as_deref(), self.at.now, self.ratio(id));
        most.map_err(|unknown| self.refuse_unknown(id, unknown, context))
    }

    fn ratio(&self, id: TokenId) -> Ratio {
        self.balances.policies.get(&id).map_or(Ratio::ONE, CurrentPolicy::ratio)
    }

    /// By which costs of a token are multiplied that answers tell, if they are.
    pub(super) fn ratio_of_told(&self, id: TokenId) -> Option<Ratio> {
        self.balances.policies.get(&id).and_then(CurrentPolicy::ratio_of_told)
    }

    /// A token that may not be used is refused for that, not for a price.
    fn refuse_unknown(&self, id: TokenId, why: Unknown, context: &RequestContext) -> LedgerError {
        match self.balances.check_use(id, context, &self.at) {
            Ok(()) => LedgerError::UnknownCost { model: context.model.clone().unwrap_or_default(), why },
            Err(refusal) => refusal.into(),
        }
    }

    /// What decided when a reservation was settled, if that was with the same counts and usage, and without an amount.
    pub(super) fn settled_before(
        &self,
        id: ReservationId,
        sent: Result<&Cost, HoldReason>,
        digest: Option<&Vec<u8>>,
    ) -> Option<PricedBy> {
        let before = self.settled_by.get(&id)?;
        let sent = sent.ok().filter(|sent| sent.quota.is_none())?;
        let is_same = match (&before.digest, digest) {
            (None, None) => before.units.used().eq(sent.units.used()),
            (before, now) => before.as_ref() == now,
        };
        is_same.then_some(before.priced_by)
    }

    /// What a settlement costs; `models` are the one that answered and the one that was requested.
    pub(super) fn settled_amount(
        &self,
        reserved: (&Reservation, &Asked),
        before: Option<PricedBy>,
        cost: Result<&Cost, HoldReason>,
        models: (&str, &str),
    ) -> Amount {
        let amount = settled_cost(&self.prices.list, reserved, before, cost, models);
        if let PricedBy::Hold(reason) = amount.priced_by {
            let (model, reason) = (models.0, reason.as_str());
            tracing::warn!(model, reason, "a settlement is charged its hold");
        }
        amount
    }

    /// What a request is for, as it is stored.
    pub(super) fn details(&self, context: &RequestContext, request_id: String) -> RequestDetails {
        context.details(request_id, self.addresses)
    }

    /// Adds the row of a charge. A reservation may have stored its address under another setting.
    pub(super) fn add_charge(&mut self, mut charge: NewCharge) {
        charge.request.ip = charge.request.ip.take().and_then(|ip| self.addresses.stored_again(ip));
        if charge.price.is_none() {
            // Nothing has checked them: they decided nothing.
            charge.units = self.prices.list.recorded(charge.units);
        }
        if let Some(id) = charge.reservation_id {
            let priced_by = charge.priced_by();
            let (units, digest) = (charge.units.clone(), charge.settled_digest.clone());
            self.settled_by.insert(id, SettledBy { units, digest, priced_by });
        }
        self.changes.charges.push(charge);
    }

    /// Adds the row of a reservation, and returns its id.
    pub(super) fn add_reservation(&mut self, reservation: Reservation, reserved_for: ReservedFor) -> ReservationId {
        let first = || self.rng.generate_fast(|rng| ReservationId::first(self.at.micros, rng));
        let id = self.last_reservation.map_or_else(first, ReservationId::next);
        self.last_reservation = Some(id);
        self.changes.new_reservations.push(NewReservation { id, reservation, reserved_for });
        id
    }

    /// A reservation and what it was made for.
    pub(super) fn reservation(&self, handle: ReservationHandle) -> Result<(Reservation, ReservedFor), Refusal> {
        let found = self.balances.reservations.get(&handle.id).filter(|found| found.user_id == handle.owner);
        let reservation = found.ok_or(RefusalReason::ReservationNotFound)?;
        Ok((*reservation, self.reserved_for.get(&handle.id).cloned().unwrap_or_default()))
    }

    /// What the reservation of a record holds and until when; `None` if it has ended. An operation of this batch may
    /// have changed it since the record was read.
    pub(super) fn open_hold(&self, made: &RecordedReservation) -> Option<(Quota, UnixTime)> {
        self.balances.reservations.get(&made.id).map_or(made.open, Reservation::hold)
    }

    /// Everything that has to be written.
    pub(super) fn into_changes(self) -> Changes {
        let (before, after, mut changes) = (self.before, self.balances, self.changes);
        let owner = |id: TokenId| after.tokens.get(&id).map(|token| token.user_id);
        let begun = self.used_keys.into_begun().into_iter();
        changes.begun_graces.extend(begun.filter_map(|(id, used)| Some((owner(id)?, id, used))));
        let wallets = after.wallets.into_iter().filter(|(id, wallet)| before.wallets.get(id) != Some(wallet));
        changes.wallets.extend(wallets);
        changes.tokens.extend(after.tokens.into_values().filter(|token| before.tokens.get(&token.id) != Some(token)));
        let reservations = after.reservations.into_iter().filter(|(id, now)| before.reservations.get(id) != Some(now));
        changes.changed_reservations.extend(reservations);
        changes
    }
}
