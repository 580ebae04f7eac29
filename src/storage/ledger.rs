//! What a batch of the ledger reads under its locks, and how it is written: balances, charges, daily usage and
//! idempotency records in one statement, and [`reservations`] in another. Only batches write these, except balances,
//! which are always written under the same locks.

use std::collections::BTreeMap;

use super::columns::{column, wallet};
use super::conn::Conn;
use super::errors::StorageError;
use super::reservations::{self, NewReservation};
use super::units;
use crate::domain::id::{GatewayId, OldKeyId, PriceId, ReservationId, TokenId, UserId};
use crate::domain::ledger::{ChargeOutcome, LockedToken, RequestDetails, Reservation, Wallet};
use crate::domain::money::Quota;
use crate::domain::prices::cost::GroupPrice;
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::domain::prices::unit::{CACHE_READ_TOKENS, CACHE_WRITE_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};
use crate::domain::prices::units::Units;
use crate::domain::time::{Day, UnixTime};

/// A locked wallet.
#[derive(Debug)]
pub struct LockedWallet {
    pub owner: UserId,
    pub owner_group: String,
    pub wallet: Wallet,
    /// No charge may count in a day before this one (see [`usage_rollup`](super::usage_rollup)).
    pub usage_closed_until: Day,
    /// The version of the price list that is in force; 0 if there is none.
    pub price_version: i64,
}

/// The locked wallet of a row of the two statements below.
macro_rules! locked_wallet {
    ($row:expr) => {{
        LockedWallet {
            owner: $row.id,
            wallet: Wallet { account: wallet!($row), request_count: $row.request_count, status: $row.status },
            owner_group: $row.group_name,
            usage_closed_until: $row.usage_closed_until,
            price_version: $row.price_version,
        }
    }};
}

/// Locks wallets, ids ascending. Those of deleted accounts too: their reservations still end.
pub async fn lock_wallets(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<LockedWallet>, StorageError> {
    let rows = sqlx::query!(
        "select id, quota, used_quota, held, day_limit, week_limit, month_limit, period_day, day_used, week_used, \
           month_used, request_count, status, group_name, \
           (select closed_until from usage_rollup where id = 1) as \"usage_closed_until!: Day\", \
           (select coalesce(max(number), 0) from price_versions) as \"price_version!\" \
         from users where id = any($1) order by id for no key update",
        ids as &[UserId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| locked_wallet!(row)).collect())
}

/// Like [`lock_wallets`], but leaves out wallets that another transaction has locked.
pub async fn lock_free_wallets(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<LockedWallet>, StorageError> {
    let rows = sqlx::query!(
        "select id, quota, used_quota, held, day_limit, week_limit, month_limit, period_day, day_used, week_used, \
           month_used, request_count, status, group_name, \
           (select closed_until from usage_rollup where id = 1) as \"usage_closed_until!: Day\", \
           (select coalesce(max(number), 0) from price_versions) as \"price_version!\" \
         from users where id = any($1) order by id for no key update skip locked",
        ids as &[UserId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| locked_wallet!(row)).collect())
}

/// The ids of those users that exist: a wallet that [`lock_free_wallets`] left out is blocked if its user exists.
pub async fn list_existing_users(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<UserId>, StorageError> {
    Ok(sqlx::query_scalar!("select id from users where id = any($1)", ids as &[UserId]).fetch_all(conn).await?)
}

/// A gateway's own id of a charge or a reservation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GatewayRequestId {
    /// Each gateway has its own ids.
    pub gateway_id: GatewayId,
    /// The id.
    pub request_id: String,
}

/// What a gateway was answered to a request with an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestIdRecord {
    /// The owner of the token.
    pub user_id: UserId,
    /// SHA-256 of the request. The same id with another hash is refused.
    pub request_hash: Vec<u8>,
    pub answer: RecordedAnswer,
}

/// The answer to a request with an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedAnswer {
    Charge(ChargeOutcome),
    Reservation(RecordedReservation),
}

/// A reservation that was made by a request with an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedReservation {
    pub id: ReservationId,
    /// What the token had left.
    pub remain_quota: Quota,
    /// What it holds and until when, as of the reading of the record; `None` if it has ended.
    pub open: Option<(Quota, UnixTime)>,
}

impl RecordedAnswer {
    const fn charged(self) -> Quota {
        match self {
            Self::Charge(outcome) => outcome.charged,
            Self::Reservation(_) => Quota::ZERO,
        }
    }

    const fn remain_quota(self) -> Quota {
        match self {
            Self::Charge(outcome) => outcome.remain_quota,
            Self::Reservation(made) => made.remain_quota,
        }
    }

    const fn reservation_id(self) -> Option<ReservationId> {
        match self {
            Self::Charge(_) => None,
            Self::Reservation(made) => Some(made.id),
        }
    }
}

/// The records of those keys that have one. A caller that holds the lock of the owner's wallet is the only one to
/// change a reservation among them.
pub async fn list_idempotency_records(
    conn: &mut Conn,
    keys: &[&GatewayRequestId],
) -> Result<BTreeMap<GatewayRequestId, RequestIdRecord>, StorageError> {
    let gateways: Vec<GatewayId> = keys.iter().map(|key| key.gateway_id).collect();
    let ids: Vec<String> = keys.iter().map(|key| key.request_id.clone()).collect();
    let rows = sqlx::query!(
        r#"select r.gateway_id, r.request_id, r.user_id, r.request_hash, r.charged, r.remain_quota,
             r.reservation_id as "reservation_id: ReservationId", v.held as "held?: Quota",
             v.expires_at as "expires_at?: UnixTime"
           from unnest($1::bigint[], $2::text[]) as k (gateway_id, request_id)
           cross join lateral (select * from idempotency_records i where i.gateway_id = k.gateway_id
             and i.request_id = k.request_id offset 0) r
           left join lateral (select held, expires_at from reservations
             where id = r.reservation_id and state = 'open' offset 0) v on true"#,
        &gateways as &[GatewayId],
        &ids
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let remain_quota = row.remain_quota;
            let answer = match row.reservation_id {
                None => RecordedAnswer::Charge(ChargeOutcome { charged: row.charged, remain_quota }),
                Some(id) => {
                    let open = row.held.zip(row.expires_at);
                    RecordedAnswer::Reservation(RecordedReservation { id, remain_quota, open })
                }
            };
            let record = RequestIdRecord { user_id: row.user_id, request_hash: row.request_hash, answer };
            (GatewayRequestId { gateway_id: row.gateway_id, request_id: row.request_id }, record)
        })
        .collect())
}

/// Everything that a batch writes, each field to the table of its name.
#[derive(Debug)]
pub struct Changes {
    /// The time of the batch.
    pub now: UnixTime,
    pub wallets: Vec<(UserId, Wallet)>,
    pub tokens: Vec<LockedToken>,
    pub charges: Vec<NewCharge>,
    pub new_reservations: Vec<NewReservation>,
    /// Reservations that were extended, or that were open or expired and are in another state now.
    pub changed_reservations: Vec<(ReservationId, Reservation)>,
    pub idempotency_records: Vec<(GatewayRequestId, RequestIdRecord)>,
    /// The ids of the prices of the charges.
    pub price_ids: BTreeMap<GroupPrice, PriceId>,
    /// Usages with a number that nobody reads, of this batch. Not written.
    pub unread_usages: u64,
    /// The newest key of each token by whose use the grace periods of older keys begin; see
    /// [`old_keys::start_grace`](super::old_keys::start_grace). Not written by [`write()`].
    pub begun_graces: Vec<(UserId, TokenId, Option<OldKeyId>)>,
}

/// A charge to be inserted.
#[derive(Debug, Clone)]
pub struct NewCharge {
    pub gateway_id: Option<GatewayId>,
    pub token_id: TokenId,
    pub user_id: UserId,
    pub reservation_id: Option<ReservationId>,
    /// The day that it counts in.
    pub day: Day,
    pub request: RequestDetails,
    pub quota: Quota,
    pub shortfall: Quota,
    pub units: Units,
    /// By which quota and shortfall were computed, if they were.
    pub price: Option<GroupPrice>,
    /// Why quota and shortfall are the hold of the reservation, if they are.
    pub hold_reason: Option<HoldReason>,
    /// Of what a settlement was computed from; see [`SettledBy`](super::reservations::SettledBy).
    pub settled_digest: Option<Vec<u8>>,
}

impl NewCharge {
    /// What decided its amount.
    pub const fn priced_by(&self) -> PricedBy {
        PricedBy::of(self.price.is_some(), self.hold_reason)
    }
}

impl Changes {
    /// Nothing to write yet.
    pub const fn new(now: UnixTime) -> Self {
        Self {
            now,
            wallets: Vec::new(),
            tokens: Vec::new(),
            charges: Vec::new(),
            new_reservations: Vec::new(),
            changed_reservations: Vec::new(),
            idempotency_records: Vec::new(),
            price_ids: BTreeMap::new(),
            unread_usages: 0,
            begun_graces: Vec::new(),
        }
    }

    /// Returns true if [`write()`] has nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.wallets.is_empty()
            && self.tokens.is_empty()
            && self.charges.is_empty()
            && self.new_reservations.is_empty()
            && self.changed_reservations.is_empty()
            && self.idempotency_records.is_empty()
    }
}

/// A row of `usage_daily`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct UsageKey<'a> {
    token_id: TokenId,
    user_id: UserId,
    day: Day,
    model: &'a str,
}

/// The sum of a batch's charges of one token, day and model.
#[derive(Debug, Default, Clone, Copy)]
struct UsageSum {
    quota: i64,
    requests: i64,
    prompt_tokens: i64,
    completion_tokens: i64,
}

/// L5: what `usage_daily` grows by is the sum of the charges that the same statement inserts.
fn usage_sums(charges: &[NewCharge]) -> Vec<(UsageKey<'_>, UsageSum)> {
    let mut sums: BTreeMap<UsageKey<'_>, UsageSum> = BTreeMap::new();
    for charge in charges {
        let NewCharge { token_id, user_id, day, ref request, .. } = *charge;
        let sum = sums.entry(UsageKey { token_id, user_id, day, model: &request.model }).or_default();
        sum.quota = sum.quota.saturating_add(charge.quota.get());
        sum.requests = sum.requests.saturating_add(1);
        sum.prompt_tokens = sum.prompt_tokens.saturating_add(charge.units.tokens(INPUT_TOKENS).unwrap_or(0));
        sum.completion_tokens = sum.completion_tokens.saturating_add(charge.units.tokens(OUTPUT_TOKENS).unwrap_or(0));
    }
    sums.into_iter().collect()
}

/// Writes all of a batch. The rows that it updates are locked.
///
/// Rows are passed as an array a column. `unnest` in the list of a `select` is three times as fast as in `from`, which
/// stores each array as a table of one column first. `id = any(array[v.id])` is `id = v.id` that can only be looked up:
/// a plan that was made while the table was small would read all of the index for `=`, in every batch, until the next
/// `analyze`.
///
/// Counts of model tokens come from outside: their sums stop at the largest `bigint`, so that no sum
/// can fail a batch.
#[expect(clippy::too_many_lines, reason = "one statement and its parameters")]
pub async fn write(conn: &mut Conn, changes: &Changes) -> Result<(), StorageError> {
    let Changes {
        now,
        wallets,
        tokens,
        charges,
        new_reservations,
        changed_reservations,
        idempotency_records,
        price_ids,
        unread_usages: _,
        begun_graces: _,
    } = changes;
    let sums = usage_sums(charges);
    sqlx::query!(
        "with updated_wallets as ( \
           update users u set quota = v.quota, used_quota = v.used_quota, request_count = v.request_count, \
             held = v.held, period_day = v.period_day, day_used = v.day_used, week_used = v.week_used, \
             month_used = v.month_used \
           from (select unnest($2::bigint[]) as id, unnest($3::bigint[]) as quota, unnest($4::bigint[]) as used_quota, \
             unnest($5::bigint[]) as request_count, unnest($6::bigint[]) as held, unnest($7::date[]) as period_day, \
             unnest($8::bigint[]) as day_used, unnest($9::bigint[]) as week_used, unnest($10::bigint[]) as month_used) v \
           where u.id = any(array[v.id])), \
         updated_tokens as ( \
           update tokens t set remain_quota = v.remain_quota, used_quota = v.used_quota, accessed_time = v.accessed_time, \
             held = v.held, period_day = v.period_day, day_used = v.day_used, \
             week_used = v.week_used, month_used = v.month_used, requests_tat = v.requests_tat, \
             tokens_tat = v.tokens_tat, open_reservations = v.open_reservations \
           from (select unnest($11::bigint[]) as id, unnest($12::bigint[]) as remain_quota, \
             unnest($13::bigint[]) as used_quota, unnest($14::bigint[]) as accessed_time, unnest($15::bigint[]) as held, \
             unnest($16::date[]) as period_day, unnest($17::bigint[]) as day_used, unnest($18::bigint[]) as week_used, \
             unnest($19::bigint[]) as month_used, unnest($20::bigint[]) as requests_tat, \
             unnest($21::bigint[]) as tokens_tat, unnest($22::bigint[]) as open_reservations) v \
           where t.id = any(array[v.id])), \
         inserted_charges as ( \
           insert into charges (at, gateway_id, token_id, user_id, reservation_id, day, model, request_id, ip, quota, \
             shortfall, prompt_tokens, completion_tokens, price_id, cached_tokens, cache_write_tokens, units, \
             hold_reason, settled_digest) \
           select $1, unnest($23::bigint[]), unnest($24::bigint[]), unnest($25::bigint[]), unnest($26::bigint[]), \
             unnest($27::date[]), unnest($28::text[]), unnest($29::text[]), unnest($30::text[]), unnest($31::bigint[]), \
             unnest($32::bigint[]), unnest($33::bigint[]), unnest($34::bigint[]), unnest($35::bigint[]), \
             unnest($36::bigint[]), unnest($37::bigint[]), unnest($53::text[])::jsonb, unnest($54::text[]), \
             unnest($55::bytea[])), \
         added_usage as ( \
           insert into usage_daily as d (day, token_id, user_id, model, quota, requests, prompt_tokens, \
             completion_tokens) \
           select unnest($38::date[]), unnest($39::bigint[]), unnest($40::bigint[]), unnest($41::text[]), \
             unnest($42::bigint[]), unnest($43::bigint[]), unnest($44::bigint[]), unnest($45::bigint[]) \
           on conflict on constraint usage_daily_pkey do update set quota = d.quota + excluded.quota, \
             requests = d.requests + excluded.requests, \
             prompt_tokens = case when d.prompt_tokens > 9223372036854775807 - excluded.prompt_tokens \
               then 9223372036854775807 else d.prompt_tokens + excluded.prompt_tokens end, \
             completion_tokens = case when d.completion_tokens > 9223372036854775807 - excluded.completion_tokens \
               then 9223372036854775807 else d.completion_tokens + excluded.completion_tokens end) \
         insert into idempotency_records (created_time, gateway_id, request_id, user_id, request_hash, \
           charged, remain_quota, reservation_id) \
         select $1, unnest($46::bigint[]), unnest($47::text[]), unnest($48::bigint[]), \
           unnest($49::bytea[]), unnest($50::bigint[]), unnest($51::bigint[]), unnest($52::bigint[])",
        *now as UnixTime,
        // wallets
        &column(wallets, |(id, _)| id.get()),
        &column(wallets, |(_, wallet)| wallet.account.remain().get()),
        &column(wallets, |(_, wallet)| wallet.account.used.get()),
        &column(wallets, |(_, wallet)| wallet.request_count),
        &column(wallets, |(_, wallet)| wallet.account.held.get()),
        &column(wallets, |(_, wallet)| wallet.account.period_counters.day) as &[Day],
        &column(wallets, |(_, wallet)| wallet.account.period_counters.day_used.get()),
        &column(wallets, |(_, wallet)| wallet.account.period_counters.week_used.get()),
        &column(wallets, |(_, wallet)| wallet.account.period_counters.month_used.get()),
        // tokens
        &column(tokens, |token| token.id.get()),
        &column(tokens, |token| token.account.remain().get()),
        &column(tokens, |token| token.account.used.get()),
        &column(tokens, |token| token.accessed_time.get()),
        &column(tokens, |token| token.account.held.get()),
        &column(tokens, |token| token.account.period_counters.day) as &[Day],
        &column(tokens, |token| token.account.period_counters.day_used.get()),
        &column(tokens, |token| token.account.period_counters.week_used.get()),
        &column(tokens, |token| token.account.period_counters.month_used.get()),
        &column(tokens, |token| token.rate_counters.requests_tat.get()),
        &column(tokens, |token| token.rate_counters.tokens_tat.get()),
        &column(tokens, |token| token.rate_counters.open_reservations),
        // charges
        &column(charges, |charge| charge.gateway_id.map(GatewayId::get)) as &[Option<i64>],
        &column(charges, |charge| charge.token_id.get()),
        &column(charges, |charge| charge.user_id.get()),
        &column(charges, |charge| charge.reservation_id.map(ReservationId::get)) as &[Option<i64>],
        &column(charges, |charge| charge.day) as &[Day],
        &column(charges, |charge| charge.request.model.clone()),
        &column(charges, |charge| charge.request.request_id.clone()) as &[Option<String>],
        &column(charges, |charge| charge.request.address()) as &[Option<String>],
        &column(charges, |charge| charge.quota.get()),
        &column(charges, |charge| charge.shortfall.get()),
        &column(charges, |charge| charge.units.tokens(INPUT_TOKENS).unwrap_or(0)),
        &column(charges, |charge| charge.units.tokens(OUTPUT_TOKENS).unwrap_or(0)),
        &column(charges, |charge| Some(price_ids.get(charge.price.as_ref()?)?.get())) as &[Option<i64>],
        &column(charges, |charge| charge.units.tokens(CACHE_READ_TOKENS)) as &[Option<i64>],
        &column(charges, |charge| charge.units.tokens(CACHE_WRITE_TOKENS)) as &[Option<i64>],
        // usage_daily
        &column(&sums, |(key, _)| key.day) as &[Day],
        &column(&sums, |(key, _)| key.token_id.get()),
        &column(&sums, |(key, _)| key.user_id.get()),
        &column(&sums, |(key, _)| key.model.to_owned()),
        &column(&sums, |(_, sum)| sum.quota),
        &column(&sums, |(_, sum)| sum.requests),
        &column(&sums, |(_, sum)| sum.prompt_tokens),
        &column(&sums, |(_, sum)| sum.completion_tokens),
        // idempotency_records
        &column(idempotency_records, |(key, _)| key.gateway_id.get()),
        &column(idempotency_records, |(key, _)| key.request_id.clone()),
        &column(idempotency_records, |(_, record)| record.user_id.get()),
        &column(idempotency_records, |(_, record)| record.request_hash.clone()),
        &column(idempotency_records, |(_, record)| record.answer.charged().get()),
        &column(idempotency_records, |(_, record)| record.answer.remain_quota().get()),
        &column(idempotency_records, |(_, record)| record.answer.reservation_id().map(ReservationId::get))
            as &[Option<i64>],
        // charges, too
        &column(charges, |charge| units::others(&charge.units)) as &[Option<String>],
        &column(charges, |charge| Some(charge.hold_reason?.as_str().to_owned())) as &[Option<String>],
        &column(charges, |charge| charge.settled_digest.clone()) as &[Option<Vec<u8>>],
    )
    .execute(&mut *conn)
    .await?;
    // Most batches change none, and a statement that could would take PostgreSQL longer to begin.
    if !new_reservations.is_empty() || !changed_reservations.is_empty() {
        reservations::write(conn, *now, new_reservations, changed_reservations).await?;
    }
    Ok(())
}
