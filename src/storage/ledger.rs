//! What the committer reads under its locks and writes in one statement: balances, charges,
//! roll-ups, reservations, receipts. Nobody else writes any of these but balances, and those only
//! under the same locks.

use std::collections::BTreeMap;

use super::{Conn, StorageError};
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::ledger::{ChargeOutcome, Counts, Reservation, ReservationState, Settlement, Wallet};
use crate::domain::money::Quota;
use crate::domain::time::{Day, UnixTime};
use crate::domain::token::Token;

/// A locked wallet, and the group of its owner.
pub type LockedWallet = (UserId, Wallet, String);

/// The locked wallet in a row of the two statements below.
macro_rules! locked_wallet {
    ($row:expr) => {{
        let (quota, used_quota, request_count) = ($row.quota, $row.used_quota, $row.request_count);
        ($row.id, Wallet { quota, used_quota, request_count, status: $row.status }, $row.group_name)
    }};
}

/// Locks wallets, ids ascending; also those of deleted accounts, whose reservations still end.
pub async fn lock_wallets(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<LockedWallet>, StorageError> {
    let rows = sqlx::query!(
        "select id, quota, used_quota, request_count, status, group_name from users where id = any($1) order by id \
         for no key update",
        ids as &[UserId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| locked_wallet!(row)).collect())
}

/// Like [`lock_wallets`], and leaves out what another transaction holds.
pub async fn lock_free_wallets(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<LockedWallet>, StorageError> {
    let rows = sqlx::query!(
        "select id, quota, used_quota, request_count, status, group_name from users where id = any($1) order by id \
         for no key update skip locked",
        ids as &[UserId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| locked_wallet!(row)).collect())
}

/// Those of `ids` that exist: what is not among them was not left out for being locked.
pub async fn existing_wallets(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<UserId>, StorageError> {
    Ok(sqlx::query_scalar!("select id from users where id = any($1)", ids as &[UserId]).fetch_all(conn).await?)
}

/// Reservations by id. Their wallets are locked, so nobody else is changing them.
pub async fn find_reservations(
    conn: &mut Conn,
    ids: &[ReservationId],
) -> Result<BTreeMap<ReservationId, (Reservation, String)>, StorageError> {
    let rows = sqlx::query!(
        "select id, token_id, user_id, gateway_id, model, held, from_remain, expires_at, state, requested, charged, shortfall, \
         was_expired from reservations where id = any($1)",
        ids as &[ReservationId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let state = match (row.state.as_str(), row.requested, row.charged, row.shortfall) {
                ("settled", Some(requested), Some(charged), Some(shortfall)) => {
                    let was_expired = row.was_expired.unwrap_or_default();
                    ReservationState::Settled(Settlement { requested, charged, shortfall, was_expired })
                }
                ("released", ..) => ReservationState::Released,
                ("expired", ..) => ReservationState::Expired,
                _ => ReservationState::Open,
            };
            let reservation = Reservation {
                token_id: row.token_id,
                user_id: row.user_id,
                gateway_id: row.gateway_id,
                held: row.held,
                from_remain: row.from_remain,
                expires_at: row.expires_at,
                state,
            };
            (row.id, (reservation, row.model))
        })
        .collect())
}

/// Open reservations whose time is over, oldest first, with their owners.
pub async fn list_overdue(
    conn: &mut Conn,
    now: UnixTime,
    most: i64,
) -> Result<Vec<(ReservationId, UserId)>, StorageError> {
    let rows = sqlx::query!(
        "select id, user_id from reservations where state = 'open' and expires_at <= $1 order by expires_at limit $2",
        now as UnixTime,
        most
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.user_id)).collect())
}

/// A gateway's own id of a charge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdempotencyKey {
    /// Each gateway has its own ids.
    pub gateway_id: GatewayId,
    /// The id.
    pub request_id: String,
}

/// What a gateway was answered to a charge with an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The owner of the token that was charged.
    pub user_id: UserId,
    /// SHA-256 of the request. The same id with another hash is refused.
    pub request_hash: Vec<u8>,
    /// The answer.
    pub outcome: ChargeOutcome,
}

/// The records of those keys that have one.
pub async fn find_idempotency_records(
    conn: &mut Conn,
    keys: &[IdempotencyKey],
) -> Result<BTreeMap<IdempotencyKey, IdempotencyRecord>, StorageError> {
    let gateways: Vec<GatewayId> = keys.iter().map(|key| key.gateway_id).collect();
    let ids: Vec<String> = keys.iter().map(|key| key.request_id.clone()).collect();
    let rows = sqlx::query!(
        "select r.gateway_id, r.request_id, r.user_id, r.request_hash, r.charged, r.remain_quota \
         from unnest($1::bigint[], $2::text[]) as k (gateway_id, request_id) \
         cross join lateral (select * from idempotency_records i where i.gateway_id = k.gateway_id \
           and i.request_id = k.request_id offset 0) r",
        &gateways as &[GatewayId],
        &ids
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let record = IdempotencyRecord {
                user_id: row.user_id,
                request_hash: row.request_hash,
                outcome: ChargeOutcome { charged: row.charged, remain_quota: row.remain_quota },
            };
            (IdempotencyKey { gateway_id: row.gateway_id, request_id: row.request_id }, record)
        })
        .collect())
}

/// A charge to be written.
#[derive(Debug, Clone)]
pub struct NewCharge {
    pub at: UnixTime,
    pub day: Day,
    pub gateway_id: GatewayId,
    pub token_id: TokenId,
    pub user_id: UserId,
    pub reservation_id: Option<ReservationId>,
    pub model: String,
    pub quota: Quota,
    pub shortfall: Quota,
    pub counts: Counts,
}

/// A reservation to be written.
#[derive(Debug, Clone)]
pub struct NewReservation {
    pub id: ReservationId,
    pub reservation: Reservation,
    pub model: String,
    pub created_time: UnixTime,
}

/// Everything that a batch changes.
#[derive(Debug, Default)]
pub struct Changes {
    pub wallets: Vec<(UserId, Wallet)>,
    pub tokens: Vec<Token>,
    pub charges: Vec<NewCharge>,
    pub reserved: Vec<NewReservation>,
    pub ended: Vec<(ReservationId, Reservation)>,
    pub records: Vec<(IdempotencyKey, IdempotencyRecord)>,
}

impl Changes {
    /// Whether there is nothing to write.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.wallets.is_empty()
            && self.tokens.is_empty()
            && self.charges.is_empty()
            && self.reserved.is_empty()
            && self.ended.is_empty()
            && self.records.is_empty()
    }
}

/// The sum of a day's charges of one token and model.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    quota: i64,
    requests: i64,
    prompt_tokens: i64,
    completion_tokens: i64,
}

/// Writes all of a batch in one statement. The rows it updates are locked. What is deleted for its age later is dated by
/// the database's clock, which is the one that decides then. Counts of tokens stay at the largest number that can be
/// stored: they come from outside, and no sum of them may fail a batch.
#[expect(clippy::too_many_lines, reason = "one statement, whose columns are named one by one")]
pub async fn write(conn: &mut Conn, changes: &Changes) -> Result<(), StorageError> {
    fn column<T, U>(rows: &[T], value: impl Fn(&T) -> U) -> Vec<U> {
        rows.iter().map(value).collect()
    }
    // L5: the roll-up is the sum of the charges beside it, in the same statement.
    let mut sums: BTreeMap<(TokenId, UserId, Day, &str), Sum> = BTreeMap::new();
    for charge in &changes.charges {
        let sum = sums.entry((charge.token_id, charge.user_id, charge.day, &charge.model)).or_default();
        sum.quota = sum.quota.saturating_add(charge.quota.get());
        sum.requests = sum.requests.saturating_add(1);
        sum.prompt_tokens = sum.prompt_tokens.saturating_add(charge.counts.prompt_tokens);
        sum.completion_tokens = sum.completion_tokens.saturating_add(charge.counts.completion_tokens);
    }
    let sums: Vec<_> = sums.into_iter().collect();
    let (wallets, tokens, charges) = (&changes.wallets, &changes.tokens, &changes.charges);
    let (reserved, ended, records) = (&changes.reserved, &changes.ended, &changes.records);
    sqlx::query!(
        "with wallets as ( \
           update users u set quota = v.quota, used_quota = v.used_quota, request_count = v.request_count \
           from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) \
             as v (id, quota, used_quota, request_count) where u.id = v.id), \
         accounts as ( \
           update tokens t set remain_quota = v.remain_quota, used_quota = v.used_quota, \
             accessed_time = v.accessed_time \
           from unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]) \
             as v (id, remain_quota, used_quota, accessed_time) where t.id = v.id), \
         charged as ( \
           insert into charges (at, gateway_id, token_id, user_id, reservation_id, model, quota, shortfall, \
             prompt_tokens, completion_tokens) \
           select * from unnest($9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], \
             $14::text[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[])), \
         rolled_up as ( \
           insert into usage_daily as d (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
           select * from unnest($19::bigint[], $20::bigint[], $21::date[], $22::text[], $23::bigint[], $24::bigint[], \
             $25::bigint[], $26::bigint[]) \
           on conflict on constraint usage_daily_pkey do update set quota = d.quota + excluded.quota, \
             requests = d.requests + excluded.requests, \
             prompt_tokens = case when d.prompt_tokens > 9223372036854775807 - excluded.prompt_tokens \
               then 9223372036854775807 else d.prompt_tokens + excluded.prompt_tokens end, \
             completion_tokens = case when d.completion_tokens > 9223372036854775807 - excluded.completion_tokens \
               then 9223372036854775807 else d.completion_tokens + excluded.completion_tokens end), \
         reserved as ( \
           insert into reservations (id, token_id, user_id, gateway_id, model, held, from_remain, created_time, \
             expires_at, state) \
           select v.*, 'open' from unnest($27::bigint[], $28::bigint[], $29::bigint[], $30::bigint[], $31::text[], \
             $32::bigint[], $33::boolean[], $34::bigint[], $35::bigint[]) as v), \
         ended as ( \
           update reservations r set state = v.state, ended_time = extract(epoch from now())::bigint, requested = v.requested, charged = v.charged, \
             shortfall = v.shortfall, was_expired = v.was_expired \
           from unnest($36::bigint[], $37::text[], $38::bigint[], $39::bigint[], $40::bigint[], $41::boolean[]) \
             as v (id, state, requested, charged, shortfall, was_expired) where r.id = v.id) \
         insert into idempotency_records (gateway_id, request_id, user_id, created_time, request_hash, charged, remain_quota) \
         select v.gateway_id, v.request_id, v.user_id, extract(epoch from now())::bigint, v.request_hash, v.charged, v.remain_quota \
         from unnest($42::bigint[], $43::text[], $44::bigint[], $45::bytea[], $46::bigint[], $47::bigint[]) \
           as v (gateway_id, request_id, user_id, request_hash, charged, remain_quota)",
        &column(wallets, |(id, _)| id.get()),
        &column(wallets, |(_, wallet)| wallet.quota.get()),
        &column(wallets, |(_, wallet)| wallet.used_quota.get()),
        &column(wallets, |(_, wallet)| wallet.request_count),
        &column(tokens, |token| token.id.get()),
        &column(tokens, |token| token.budget.remain().get()),
        &column(tokens, |token| token.used_quota.get()),
        &column(tokens, |token| token.accessed_time.get()),
        &column(charges, |charge| charge.at.get()),
        &column(charges, |charge| charge.gateway_id.get()),
        &column(charges, |charge| charge.token_id.get()),
        &column(charges, |charge| charge.user_id.get()),
        &column(charges, |charge| charge.reservation_id.map(ReservationId::get)) as &[Option<i64>],
        &column(charges, |charge| charge.model.clone()),
        &column(charges, |charge| charge.quota.get()),
        &column(charges, |charge| charge.shortfall.get()),
        &column(charges, |charge| charge.counts.prompt_tokens),
        &column(charges, |charge| charge.counts.completion_tokens),
        &column(&sums, |((token, ..), _)| token.get()),
        &column(&sums, |((_, user, ..), _)| user.get()),
        &column(&sums, |((_, _, day, _), _)| *day) as &[Day],
        &column(&sums, |((_, _, _, model), _)| (*model).to_owned()),
        &column(&sums, |(_, sum)| sum.quota),
        &column(&sums, |(_, sum)| sum.requests),
        &column(&sums, |(_, sum)| sum.prompt_tokens),
        &column(&sums, |(_, sum)| sum.completion_tokens),
        &column(reserved, |new| new.id.get()),
        &column(reserved, |new| new.reservation.token_id.get()),
        &column(reserved, |new| new.reservation.user_id.get()),
        &column(reserved, |new| new.reservation.gateway_id.map(GatewayId::get)) as &[Option<i64>],
        &column(reserved, |new| new.model.clone()),
        &column(reserved, |new| new.reservation.held.get()),
        &column(reserved, |new| new.reservation.from_remain),
        &column(reserved, |new| new.created_time.get()),
        &column(reserved, |new| new.reservation.expires_at.get()),
        &column(ended, |(id, _)| id.get()),
        &column(ended, |(_, reservation)| reservation.state.as_str().to_owned()),
        &column(ended, |(_, reservation)| reservation.state.settlement().map(|s| s.requested.get())) as &[Option<i64>],
        &column(ended, |(_, reservation)| reservation.state.settlement().map(|s| s.charged.get())) as &[Option<i64>],
        &column(ended, |(_, reservation)| reservation.state.settlement().map(|s| s.shortfall.get())) as &[Option<i64>],
        &column(ended, |(_, reservation)| reservation.state.settlement().map(|s| s.was_expired)) as &[Option<bool>],
        &column(records, |(key, _)| key.gateway_id.get()),
        &column(records, |(key, _)| key.request_id.clone()),
        &column(records, |(_, record)| record.user_id.get()),
        &column(records, |(_, record)| record.request_hash.clone()),
        &column(records, |(_, record)| record.outcome.charged.get()),
        &column(records, |(_, record)| record.outcome.remain_quota.get()),
    )
    .execute(conn)
    .await?;
    Ok(())
}
