//! The table `refusals`: single requests that were refused.

use super::retention::{BATCH_ROWS, wait_briefly};
use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::calendar::Period;
use crate::domain::client_addresses::StoredAddress;
use crate::domain::id::{TokenId, UserId};
use crate::domain::ledger::{Figures, Refusal, RefusalReason};
use crate::domain::money::Quota;
use crate::domain::period_limits::PeriodExceeded;
use crate::domain::rate_limits::RateExceeded;
use crate::domain::refusals::{RecentRefusals, RefusalSample, RefusedCall};
use crate::domain::remedy::{Outlook, RefusedAttempt};
use crate::domain::request_history::RequestToken;
use crate::domain::time::UnixTime;

/// The limit that refused, as columns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LimitColumns<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) amount: Option<i64>,
    pub(super) used: Option<i64>,
    pub(super) resets_at: Option<i64>,
    pub(super) retry_after: Option<i64>,
}

impl LimitColumns<'static> {
    const fn of(figures: Figures) -> Self {
        let (name, amount, used, resets_at, retry_after) = match figures {
            Figures::None => (None, None, None, None, None),
            Figures::Period(PeriodExceeded { period, limit, used, resets_at, retry_after }) => {
                (Some(period.as_str()), Some(limit.get()), Some(used.get()), Some(resets_at.get()), retry_after)
            }
            Figures::Rate(RateExceeded::Requests { limit, retry_after }) => {
                (Some("requests"), Some(limit), None, None, retry_after)
            }
            Figures::Rate(RateExceeded::Tokens { limit, retry_after }) => {
                (Some("tokens"), Some(limit), None, None, retry_after)
            }
            Figures::Concurrency(limit) => (Some("concurrency"), Some(limit), None, None, None),
        };
        Self { name, amount, used, resets_at, retry_after }
    }
}

impl LimitColumns<'_> {
    /// The refusal of a row. A limit that this version does not know is left out.
    pub(super) fn refusal(self, reason: RefusalReason) -> Refusal {
        let Self { name, amount, used, resets_at, retry_after } = self;
        let figures = match (name, amount) {
            (Some("requests"), Some(limit)) => Figures::Rate(RateExceeded::Requests { limit, retry_after }),
            (Some("tokens"), Some(limit)) => Figures::Rate(RateExceeded::Tokens { limit, retry_after }),
            (Some("concurrency"), Some(limit)) => Figures::Concurrency(limit),
            (Some(name), Some(limit)) => {
                let quota = |units| Quota::grant(units).unwrap_or(Quota::ZERO);
                let period = Period::ALL.into_iter().find(|period| period.as_str() == name);
                period.map_or(Figures::None, |period| {
                    Figures::Period(PeriodExceeded {
                        period,
                        limit: quota(limit),
                        used: quota(used.unwrap_or_default()),
                        resets_at: UnixTime::new(resets_at.unwrap_or_default()),
                        retry_after,
                    })
                })
            }
            _ => Figures::None,
        };
        Refusal { reason, figures }
    }
}

/// Inserts refusals. One with a digest gets the deleted token that had this key, if there is one; also if it was an old
/// key.
pub async fn insert(conn: &mut Conn, samples: &[(RefusalSample, Option<StoredAddress>)]) -> Result<(), StorageError> {
    fn column<T>(samples: &[(RefusalSample, Option<StoredAddress>)], value: impl Fn(&RefusalSample) -> T) -> Vec<T> {
        samples.iter().map(|(sample, _)| value(sample)).collect()
    }
    let limits: Vec<LimitColumns<'_>> = column(samples, |sample| LimitColumns::of(sample.refusal.figures));
    let limit = |value: fn(&LimitColumns<'_>) -> Option<i64>| limits.iter().map(value).collect::<Vec<_>>();
    let digest = |sample: &RefusalSample| sample.digest.as_ref().map(|digest| digest.as_bytes().to_vec());
    sqlx::query!(
        r#"insert into refusals (at, user_id, token_id, gateway_id, call, reason, limit_name, limit_amount, limit_used,
             resets_at, retry_after, model, quota, request_id, ip, suppressed)
           select s.at, coalesce(s.user_id, t.user_id, 0), coalesce(s.token_id, t.id, 0), s.gateway_id, s.call, s.reason,
             s.limit_name, s.limit_amount, s.limit_used, s.resets_at, s.retry_after, s.model, s.quota, s.request_id, s.ip,
             s.suppressed
           from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::text[], $7::text[],
             $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::bigint[],
             $15::text[], $16::text[], $17::bigint[])
             as s (at, user_id, token_id, digest, gateway_id, call, reason, limit_name, limit_amount, limit_used,
               resets_at, retry_after, model, quota, request_id, ip, suppressed)
           left join lateral (select id, user_id from tokens where key_digest = s.digest
             union all select t.id, t.user_id from old_keys o join tokens t on t.id = o.token_id
             where o.key_digest = s.digest) t on true
           where set_config('synchronous_commit', 'off', true) = 'off'"#,
        &column(samples, |sample| sample.at.get()),
        &column(samples, |sample| sample.token.map(|(user, _)| user.get())) as &[Option<i64>],
        &column(samples, |sample| sample.token.map(|(_, token)| token.get())) as &[Option<i64>],
        &column(samples, digest) as &[Option<Vec<u8>>],
        &column(samples, |sample| sample.gateway.get()),
        &column(samples, |sample| sample.call.as_str().to_owned()),
        &column(samples, |sample| sample.refusal.reason.as_str().to_owned()),
        &limits.iter().map(|limit| limit.name.map(str::to_owned)).collect::<Vec<_>>() as &[Option<String>],
        &limit(|limit| limit.amount) as &[Option<i64>],
        &limit(|limit| limit.used) as &[Option<i64>],
        &limit(|limit| limit.resets_at) as &[Option<i64>],
        &limit(|limit| limit.retry_after) as &[Option<i64>],
        &column(samples, |sample| sample.model.clone()),
        &column(samples, |sample| sample.quota.map(Quota::get)) as &[Option<i64>],
        &column(samples, |sample| sample.request_id.clone()) as &[Option<String>],
        &samples.iter().map(|(_, ip)| ip.as_ref().map(|ip| ip.as_str().to_owned())).collect::<Vec<_>>()
            as &[Option<String>],
        &column(samples, |sample| sample.suppressed)
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The numbers of refusals of the tokens of a user, or of all users, since a time, by token and reason, with the newest
/// row that stands for no others; the largest first. Only one of the two sources is read.
pub async fn list_recent(
    conn: &mut Conn,
    user: Option<UserId>,
    since: UnixTime,
) -> Result<Vec<RecentRefusals>, StorageError> {
    let rows = sqlx::query!(
        r#"with r as materialized (
             (select r.* from tokens t cross join lateral (
                select * from refusals where token_id = t.id and at >= $1 offset 0) r
              where t.user_id = $2 limit $3)
             union all
             (select * from refusals where at >= $1 and $2::bigint is null order by at desc, id desc limit $3))
           select g.token_id as "token_id!: TokenId", g.user_id as "user_id!: UserId",
             g.reason as "reason!: RefusalReason", g.requests as "requests!", g.last as "last!: UnixTime",
             coalesce((select name from tokens where id = g.token_id), '') as "token_name!",
             coalesce((select username from users where id = g.user_id), '') as "username!",
             n.at as "at?: UnixTime", n.call as "call?: RefusedCall", n.limit_name as "limit_name?",
             n.limit_amount as "limit_amount?", n.limit_used as "limit_used?", n.resets_at as "resets_at?",
             n.retry_after as "retry_after?", n.quota as "quota?: Quota", n.model as "model?", n.ip as "ip?"
           from (
             select token_id, user_id, reason, sum(1 + suppressed)::bigint as requests, max(at) as last
             from r where reason = any($4) group by token_id, user_id, reason
             order by 4 desc, 1, 3 limit $5) g
           left join lateral (
             select * from r where token_id = g.token_id and reason = g.reason and suppressed = 0 and call = any($6)
             order by at desc, id desc limit 1) n on true
           order by g.requests desc, g.token_id, g.reason"#,
        since as UnixTime,
        user as Option<UserId>,
        bounds::MAX_RECENT_REFUSALS_READ,
        // Rows of a later version may have other reasons and calls.
        &RefusalReason::ALL.map(|reason| reason.as_str().to_owned()),
        bounds::MAX_RECENT_REFUSALS,
        &RefusedCall::ALL.map(|call| call.as_str().to_owned())
    )
    .fetch_all(conn)
    .await?;
    let recent = rows.into_iter().map(|row| {
        let limit = LimitColumns {
            name: row.limit_name.as_deref(),
            amount: row.limit_amount,
            used: row.limit_used,
            resets_at: row.resets_at,
            retry_after: row.retry_after,
        };
        let refusal = limit.refusal(row.reason);
        let (model, ip) = (row.model.unwrap_or_default(), row.ip.map(StoredAddress::from_stored));
        let attempt = |call| RefusedAttempt { call, refusal, quota: row.quota, model, ip, is_summary: false };
        RecentRefusals {
            token: RequestToken::of_row(row.token_id, row.token_name, row.user_id, row.username),
            reason: row.reason,
            requests: row.requests,
            last: row.last,
            newest: row.at.zip(row.call.map(attempt)),
            outlook: Outlook::default(),
        }
    });
    Ok(recent.collect())
}

/// Makes the partitions of the UTC days from the day of `first` to the day of `last`. [`StorageError::Blocked`] while
/// another transaction uses the table.
pub async fn make_partitions(conn: &mut Conn, first: UnixTime, last: UnixTime) -> Result<(), StorageError> {
    wait_briefly(conn).await?;
    sqlx::query!(
        r#"select make_refusals_partitions($1, $2) as "made!: ()""#,
        first.utc_midnight() as UnixTime,
        last.utc_midnight() as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Drops the oldest partition of a UTC day that is before `day_start`, or before today if there are more than
/// [`bounds::MAX_REFUSALS`] rows. Returns true if one was dropped.
pub async fn drop_oldest_partition(conn: &mut Conn, day_start: UnixTime, now: UnixTime) -> Result<bool, StorageError> {
    wait_briefly(conn).await?;
    let dropped = sqlx::query_scalar!(
        r#"select drop_oldest_refusals_partition($1, $2, $3) as "dropped!""#,
        day_start as UnixTime,
        now.utc_midnight() as UnixTime,
        bounds::MAX_REFUSALS
    )
    .fetch_one(conn)
    .await?;
    Ok(dropped)
}

/// Deletes refusals before `first` and after `last` that are in no partition of a day, at most
/// [`BATCH`](super::retention::BATCH) of each. Returns how many.
pub async fn delete_without_partition(conn: &mut Conn, first: UnixTime, last: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from refusals_rest where ctid = any(array( \
           (select ctid from refusals_rest where at < $1 limit $3) union all \
           (select ctid from refusals_rest where at > $2 limit $3)))",
        first as UnixTime,
        last as UnixTime,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
