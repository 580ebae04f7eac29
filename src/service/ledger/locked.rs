//! The rows that the operations of a batch need, locked and read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::rows::NeededRows;
use crate::domain::calendar::Moment;
use crate::domain::group::Groups;
use crate::domain::id::{ReservationId, TokenId, UserId};
use crate::domain::key::Digest;
use crate::domain::ledger::{Balances, LockedToken, ReservationState, UsedKeys};
use crate::domain::time::Day;
use crate::domain::token::Token;
use crate::domain::token_policy::TokenPolicy;
use crate::service::clock_repair::ClockRepairs;
use crate::storage::ledger::{self, GatewayRequestId, LockedWallet, RequestIdRecord};
use crate::storage::reservations::{ReservedFor, SettledBy};
use crate::storage::{Conn, StorageError, old_keys, reservations, tokens};

/// What to do about a row that another transaction has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Locking {
    /// Wait for it for a moment.
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

/// The locked rows, before the time of the batch is known.
pub(super) struct LockedRows {
    pub(super) balances: Balances,
    /// The keys by which the operations come, of tokens that changed since they were read.
    pub(super) used_keys: UsedKeys,
    /// Owners of which another transaction has locked a row.
    pub(super) blocked: BTreeSet<UserId>,
    pub(super) reserved_for: BTreeMap<ReservationId, ReservedFor>,
    pub(super) records: BTreeMap<GatewayRequestId, RequestIdRecord>,
    /// By what reservations were settled.
    pub(super) settled_by: BTreeMap<ReservationId, SettledBy>,
    pub(super) usage_closed_until: Day,
    /// The version of the price list in force; `None` if no wallet was locked.
    pub(super) price_version: Option<i64>,
}

impl LockedRows {
    /// Locks wallets and then tokens, ids ascending, and reads reservations and idempotency records under these locks.
    pub(super) async fn read(
        conn: &mut Conn,
        rows: NeededRows<'_>,
        locking: Locking,
        ids: RequestIds,
        groups: &Groups,
    ) -> Result<Self, StorageError> {
        let (wallets, mut blocked) = lock_wallets(conn, rows.owners, locking).await?;
        let mut balances = Balances::default();
        let (mut owner_groups, mut usage_closed_until, mut price_version) = (BTreeMap::new(), Day::FIRST, None);
        for locked in wallets {
            balances.wallets.insert(locked.owner, locked.wallet);
            owner_groups.insert(locked.owner, locked.owner_group);
            usage_closed_until = usage_closed_until.max(locked.usage_closed_until);
            price_version = Some(locked.price_version);
        }

        let mut owners: BTreeMap<TokenId, UserId> =
            rows.tokens.values().map(|token| (token.id, token.user_id)).collect();
        let mut reserved_for = BTreeMap::new();
        if !rows.reservations.is_empty() {
            for (id, (reservation, made_for)) in
                reservations::list_by_ids(conn, &Vec::from_iter(rows.reservations)).await?
            {
                // A reservation may be changed only while its own wallet is locked.
                if balances.wallets.contains_key(&reservation.user_id) {
                    owners.insert(reservation.token_id, reservation.user_id);
                    balances.reservations.insert(id, reservation);
                    reserved_for.insert(id, made_for);
                }
            }
        }

        owners.retain(|_, owner| !blocked.contains(owner));
        let (locked, held_tokens) = lock_tokens(conn, owners.keys().copied().collect(), locking).await?;
        blocked.extend(held_tokens.iter().filter_map(|token| owners.get(token)));
        // And only while its own token is locked.
        balances.reservations.retain(|_, reservation| !held_tokens.contains(&reservation.token_id));
        balances.tokens = locked.into_iter().map(|token| (token.id, token)).collect();
        let extended = rows.extended.iter().filter_map(|id| Some(balances.reservations.get(id)?.token_id)).collect();
        set_policies(conn, &mut balances, (&rows.tokens, &extended), groups, &owner_groups).await?;
        let used_keys = read_keys(conn, &balances, (&rows.tokens, &rows.in_several_versions), &rows.keys).await?;

        let records = if ids == RequestIds::TakeForNew || rows.request_ids.is_empty() {
            BTreeMap::new()
        } else {
            ledger::list_idempotency_records(conn, &Vec::from_iter(rows.request_ids)).await?
        };
        let is_settled = |id: &ReservationId| {
            let state = balances.reservations.get(id).map(|reservation| reservation.state);
            matches!(state, Some(ReservationState::Settled(_)))
        };
        let settled: Vec<ReservationId> = rows.priced.into_iter().filter(is_settled).collect();
        let settled_by =
            if settled.is_empty() { BTreeMap::new() } else { reservations::list_settled_by(conn, &settled).await? };
        Ok(Self { balances, used_keys, blocked, reserved_for, records, settled_by, usage_closed_until, price_version })
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

/// Locks wallets. Returns them, and the owners of those that another transaction has locked.
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
    // A user that does not exist is not blocked.
    let blocked = ledger::list_existing_users(conn, &Vec::from_iter(missing)).await?;
    Ok((locked, blocked.into_iter().collect()))
}

/// Locks tokens whose wallets are locked. Returns them, and those that another transaction has locked.
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
    // Rows of tokens are never deleted: what is missing is blocked.
    for token in &locked {
        ids.remove(&token.id);
    }
    Ok((locked, ids))
}

/// Lets each token that may be charged be decided by its policy: the one that this server remembers if it is in force,
/// else the one that is read now, under the lock. That of a token whose reservation is extended is always read. A
/// deleted token gets none.
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
