//! One batch: the rows that its operations need, locked, and what they add.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::LedgerError;
use super::rows::Rows;
use crate::domain::calendar::Moment;
use crate::domain::client_addresses::ClientAddresses;
use crate::domain::group::{Groups, Ratio};
use crate::domain::id::{ReservationId, TokenId, UserId};
use crate::domain::key::Digest;
use crate::domain::ledger::{
    Balances, Counts, CurrentPolicy, LockedToken, Refusal, RefusalReason, RequestContext, RequestDetails, Reservation,
    ReservationState, UsedKeys,
};
use crate::domain::money::Quota;
use crate::domain::old_key::UsedKey;
use crate::domain::price::{Cost, GroupPrice};
use crate::domain::price_list::{Amount, PriceList, Unknown};
use crate::domain::time::{Day, UnixTime};
use crate::domain::token::Token;
use crate::domain::token_policy::TokenPolicy;
use crate::service::clock_repair::ClockRepairs;
use crate::service::key_cache::CachedKey;
use crate::service::rng::Rng;
use crate::storage::ledger::{
    self, Changes, IdempotencyKey, IdempotencyRecord, LockedWallet, NewCharge, NewReservation, RecordedReservation,
};
use crate::storage::{Conn, StorageError, old_keys, reservations, tokens};

/// What to do about a row that another transaction has locked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Locking {
    /// Wait for it, as long as the connection's `lock_timeout`.
    Wait,
    /// Leave out the operations that need it.
    Skip,
}

/// What to do about the ids of requests that were answered before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestIds {
    /// Look their records up, and answer the same.
    LookUp,
    /// Take all ids for new, which they nearly always are. The record of one that is not fails to be written.
    TakeForNew,
}

/// The locked rows of a batch, and what its operations add.
pub(super) struct Batch<'a> {
    /// When every operation in it is decided.
    pub(super) at: Moment,
    pub(super) balances: Balances,
    /// The keys by which the operations came.
    pub(super) used_keys: UsedKeys,
    before: Balances,
    /// Owners of which another transaction holds a row.
    held: BTreeSet<UserId>,
    reserved_for: BTreeMap<ReservationId, RequestDetails>,
    records: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    /// The counts of reservations that are settled, for those that are settled by counts again.
    settled_by: BTreeMap<ReservationId, Counts>,
    prices: Arc<PriceList>,
    changes: Changes,
    rng: &'a Rng,
    addresses: ClientAddresses,
}

/// The locked rows, before the time of the batch is known.
pub(super) struct Locked {
    balances: Balances,
    used_keys: UsedKeys,
    held: BTreeSet<UserId>,
    reserved_for: BTreeMap<ReservationId, RequestDetails>,
    records: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    settled_by: BTreeMap<ReservationId, Counts>,
    usage_closed_until: Day,
}

impl Locked {
    /// Locks wallets and then tokens, ids ascending, and reads reservations and idempotency records under these locks.
    pub(super) async fn read(
        conn: &mut Conn,
        rows: Rows<'_>,
        locking: Locking,
        ids: RequestIds,
        groups: &Groups,
    ) -> Result<Self, StorageError> {
        let (wallets, mut held) = lock_wallets(conn, rows.owners, locking).await?;
        let mut balances = Balances::default();
        let (mut owner_groups, mut usage_closed_until) = (BTreeMap::new(), Day::FIRST);
        for locked in wallets {
            balances.wallets.insert(locked.owner, locked.wallet);
            owner_groups.insert(locked.owner, locked.owner_group);
            usage_closed_until = usage_closed_until.max(locked.usage_closed_until);
        }

        let mut owners: BTreeMap<TokenId, UserId> =
            rows.tokens.values().map(|token| (token.id, token.user_id)).collect();
        let mut reserved_for = BTreeMap::new();
        if !rows.reservations.is_empty() {
            for (id, (reservation, request)) in
                reservations::list_by_ids(conn, &Vec::from_iter(rows.reservations)).await?
            {
                // A reservation may be changed only while its own wallet is locked.
                if balances.wallets.contains_key(&reservation.user_id) {
                    owners.insert(reservation.token_id, reservation.user_id);
                    balances.reservations.insert(id, reservation);
                    reserved_for.insert(id, request);
                }
            }
        }

        owners.retain(|_, owner| !held.contains(owner));
        let (locked, held_tokens) = lock_tokens(conn, owners.keys().copied().collect(), locking).await?;
        held.extend(held_tokens.iter().filter_map(|token| owners.get(token)));
        // And only while its own token is locked.
        balances.reservations.retain(|_, reservation| !held_tokens.contains(&reservation.token_id));
        balances.tokens = locked.into_iter().map(|token| (token.id, token)).collect();
        let extended = rows.extended.iter().filter_map(|id| Some(balances.reservations.get(id)?.token_id)).collect();
        set_policies(conn, &mut balances, (&rows.tokens, &extended), groups, &owner_groups).await?;
        let used_keys = read_keys(conn, &balances, (&rows.tokens, &rows.in_several_versions), &rows.keys).await?;

        let records = if ids == RequestIds::TakeForNew || rows.idempotency_keys.is_empty() {
            BTreeMap::new()
        } else {
            ledger::list_idempotency_records(conn, &Vec::from_iter(rows.idempotency_keys)).await?
        };
        let is_settled = |id: &ReservationId| {
            let state = balances.reservations.get(id).map(|reservation| reservation.state);
            matches!(state, Some(ReservationState::Settled(_)))
        };
        let settled: Vec<ReservationId> = rows.priced.into_iter().filter(is_settled).collect();
        let settled_by = if settled.is_empty() {
            BTreeMap::new()
        } else {
            reservations::list_settled_counts(conn, &settled).await?
        };
        Ok(Self { balances, used_keys, held, reserved_for, records, settled_by, usage_closed_until })
    }

    /// Asks for a repair of the rows that are ahead of the clock.
    pub(super) fn check(&self, repairs: &ClockRepairs, at: &Moment) {
        for token in self.balances.tokens.values() {
            if let Some(wallet) = self.balances.wallets.get(&token.user_id) {
                let rates = (&token.rate_limits, token.rate_counters);
                repairs.check(token.user_id, &wallet.account, rates, at);
            }
        }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        locked: Locked,
        at: Moment,
        prices: Arc<PriceList>,
        rng: &'a Rng,
        addresses: ClientAddresses,
    ) -> Self {
        let Locked { balances, used_keys, held, reserved_for, records, settled_by, usage_closed_until } = locked;
        let at = at.after_closed_days(usage_closed_until);
        let changes = Changes::new(at.now);
        let before = balances.clone();
        Self {
            at,
            balances,
            used_keys,
            before,
            held,
            reserved_for,
            records,
            settled_by,
            prices,
            changes,
            rng,
            addresses,
        }
    }

    /// Returns true if another transaction holds a row of this owner.
    pub(super) fn is_held(&self, owner: UserId) -> bool {
        self.held.contains(&owner)
    }

    /// Which of its token's keys a request came with.
    pub(super) fn find_key(&self, key: &CachedKey) -> Result<UsedKey, Refusal> {
        let id = key.token.id;
        let version = self.balances.tokens.get(&id).and_then(|locked| locked.version);
        let remembered = (version == Some(key.token.policy.version)).then_some(key.used);
        self.used_keys.find(id, &key.digest, remembered, self.at.now)
    }

    /// The record of a request with this id: written before, or by an operation of this batch.
    pub(super) fn record(&self, key: &IdempotencyKey) -> Option<&IdempotencyRecord> {
        self.records.get(key)
    }

    /// Adds the record of a request.
    pub(super) fn add_record(&mut self, key: IdempotencyKey, record: IdempotencyRecord) {
        self.records.insert(key.clone(), record.clone());
        self.changes.idempotency_records.push((key, record));
    }

    /// What a charge of a token costs: what its gateway says, or what the price of the model says.
    pub(super) fn amount(&self, id: TokenId, cost: &Cost, context: &RequestContext) -> Result<Amount, LedgerError> {
        let amount = self.prices.amount(cost, context.model.as_deref(), self.ratio(id));
        amount.map_err(|unknown| self.refuse_unknown(id, unknown, context))
    }

    /// What a reservation of a token holds: the same, but the most that a request with these counts can cost.
    pub(super) fn most(&self, id: TokenId, cost: &Cost, context: &RequestContext) -> Result<Quota, LedgerError> {
        let most = self.prices.most(cost, context.model.as_deref(), self.ratio(id));
        most.map_err(|unknown| self.refuse_unknown(id, unknown, context))
    }

    fn ratio(&self, id: TokenId) -> Ratio {
        self.balances.policies.get(&id).map_or(Ratio::ONE, CurrentPolicy::ratio)
    }

    /// Reasons why the token may not be used come first.
    fn refuse_unknown(&self, id: TokenId, unknown: Unknown, context: &RequestContext) -> LedgerError {
        match (self.balances.check_use(id, context, &self.at), unknown) {
            (Err(refusal), _) => refusal.into(),
            (Ok(()), Unknown::NotPriced) => LedgerError::ModelNotPriced(context.model.clone().unwrap_or_default()),
            (Ok(()), Unknown::TooExpensive(error)) => error.into(),
        }
    }

    /// What a reservation costs that is settled with `model`. If it was settled by the same counts before, what it cost then.
    ///
    /// Its work is done, so it is never free because a price is missing: without one of this model, that of the model counts
    /// that it was made for, and without that, the whole hold.
    pub(super) fn settled_amount(
        &self,
        id: ReservationId,
        reservation: &Reservation,
        cost: &Cost,
        (answered, requested): (&str, &str),
    ) -> Result<Amount, LedgerError> {
        if let Some(quota) = cost.quota {
            return Ok(Amount { quota, price: None });
        }
        if let ReservationState::Settled(before) = reservation.state
            && self.settled_by.get(&id) == Some(&cost.counts)
        {
            return Ok(Amount { quota: before.requested, price: None });
        }
        // A price for all other models is one of the requested model only: it must not replace a price that this has.
        let Some(price) = self.prices.find_named(answered).or_else(|| self.prices.find(requested)) else {
            tracing::warn!(model = answered, "a settlement without a price is charged its hold");
            return Ok(Amount { quota: reservation.held, price: None });
        };
        let price = GroupPrice { price: *price, ratio: reservation.ratio };
        Ok(Amount { quota: price.cost(&cost.counts)?, price: Some(price) })
    }

    /// What a request is for, as it is stored.
    pub(super) fn details(&self, context: &RequestContext, request_id: String) -> RequestDetails {
        context.details(request_id, self.addresses)
    }

    /// Adds the row of a charge. A reservation may have stored its address under another setting.
    pub(super) fn add_charge(&mut self, mut charge: NewCharge) {
        charge.request.ip = charge.request.ip.take().and_then(|ip| self.addresses.stored_again(ip));
        if let Some(id) = charge.reservation_id {
            self.settled_by.insert(id, charge.counts);
        }
        self.changes.charges.push(charge);
    }

    /// Adds the row of a reservation, and returns its id.
    pub(super) fn add_reservation(&mut self, reservation: Reservation, request: RequestDetails) -> ReservationId {
        let id = self.rng.generate_fast(|rng| ReservationId::random(rng));
        self.changes.new_reservations.push(NewReservation { id, reservation, request });
        id
    }

    /// A reservation and what it was made for.
    pub(super) fn reservation(&self, id: ReservationId) -> Result<(Reservation, RequestDetails), Refusal> {
        let reservation = self.balances.reservations.get(&id).ok_or(RefusalReason::ReservationNotFound)?;
        Ok((*reservation, self.reserved_for.get(&id).cloned().unwrap_or_default()))
    }

    /// What the reservation of a record holds and until when; `None` if it has ended. An operation of this batch may have
    /// changed it since the record was read.
    pub(super) fn open_hold(&self, made: &RecordedReservation) -> Option<(Quota, UnixTime)> {
        let Some(reservation) = self.balances.reservations.get(&made.id) else {
            return made.open;
        };
        (reservation.state == ReservationState::Open).then_some((reservation.held, reservation.expires_at))
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

/// Locks wallets. Returns them, and the owners of those that another transaction holds.
async fn lock_wallets(
    conn: &mut Conn,
    owners: BTreeSet<UserId>,
    locking: Locking,
) -> Result<(Vec<LockedWallet>, BTreeSet<UserId>), StorageError> {
    let ids: Vec<UserId> = owners.iter().copied().collect();
    if locking == Locking::Wait {
        return Ok((ledger::lock_wallets(conn, &ids).await?, BTreeSet::new()));
    }
    let locked = ledger::lock_free_wallets(conn, &ids).await?;
    let mut missing = owners;
    for wallet in &locked {
        missing.remove(&wallet.owner);
    }
    if missing.is_empty() {
        return Ok((locked, BTreeSet::new()));
    }
    // A user that does not exist is not held.
    let held = ledger::list_existing_users(conn, &Vec::from_iter(missing)).await?;
    Ok((locked, held.into_iter().collect()))
}

/// Locks tokens whose wallets are locked. Returns them, and those that another transaction holds.
async fn lock_tokens(
    conn: &mut Conn,
    mut ids: BTreeSet<TokenId>,
    locking: Locking,
) -> Result<(Vec<LockedToken>, BTreeSet<TokenId>), StorageError> {
    let all: Vec<TokenId> = ids.iter().copied().collect();
    if locking == Locking::Wait {
        return Ok((tokens::lock_all(conn, &all).await?, BTreeSet::new()));
    }
    let locked = tokens::lock_free(conn, &all).await?;
    // Rows of tokens are never deleted: what is missing is held.
    for token in &locked {
        ids.remove(&token.id);
    }
    Ok((locked, ids))
}

/// Lets each token that may be charged be decided by its policy: the one that this server remembers if it is in force, else
/// the one that is read now, under the lock. That of a token whose reservation is extended is always read. A deleted token
/// gets none.
async fn set_policies(
    conn: &mut Conn,
    balances: &mut Balances,
    (cached, extended): (&BTreeMap<TokenId, &Token>, &BTreeSet<TokenId>),
    groups: &Groups,
    owner_groups: &BTreeMap<UserId, String>,
) -> Result<(), StorageError> {
    let current = |locked: &LockedToken, policy: (TokenId, &Arc<TokenPolicy>)| {
        owner_groups.get(&locked.user_id).and_then(|group| locked.with(policy, groups, group))
    };
    let mut to_read = Vec::new();
    for (id, locked) in balances.tokens.iter().filter(|(_, locked)| locked.version.is_some()) {
        let cached = cached.get(id);
        match cached.and_then(|cached| current(locked, (cached.id, &cached.policy))) {
            Some(policy) => drop(balances.policies.insert(*id, policy)),
            None if cached.is_some() || extended.contains(id) => to_read.push(*id),
            None => {}
        }
    }
    if to_read.is_empty() {
        return Ok(());
    }
    for (id, policy) in tokens::list_policies(conn, &to_read).await? {
        let policy = balances.tokens.get(&id).and_then(|locked| current(locked, (id, &Arc::new(policy))));
        balances.policies.extend(policy.map(|policy| (id, policy)));
    }
    Ok(())
}

/// Reads the keys of those tokens that changed after this server read a key by which they are charged now.
async fn read_keys(
    conn: &mut Conn,
    balances: &Balances,
    (tokens, in_several_versions): (&BTreeMap<TokenId, &Token>, &BTreeSet<TokenId>),
    keys: &[(TokenId, &Digest)],
) -> Result<UsedKeys, StorageError> {
    let is_changed = |(id, token): &(&TokenId, &&Token)| {
        let version = balances.tokens.get(id).and_then(|locked| locked.version);
        let is_remembered = version == Some(token.policy.version) && !in_several_versions.contains(id);
        version.is_some() && !is_remembered
    };
    let changed: BTreeSet<TokenId> = tokens.iter().filter(is_changed).map(|(id, _)| *id).collect();
    let mut used_keys = UsedKeys::default();
    if !changed.is_empty() {
        let used = keys.iter().filter(|(id, _)| changed.contains(id));
        let digests: Vec<Digest> = used.map(|(_, digest)| (*digest).clone()).collect();
        for key in old_keys::list_keys(conn, &Vec::from_iter(changed), &digests).await? {
            used_keys.add(key.token, key.digest, key.used);
        }
    }
    Ok(used_keys)
}
