//! The invariants of the ledger, for the tests and the soak test: L1 to L9 as SQL, L10 by the proof of the doctor.

use keymeter::domain::time::Day;
use keymeter::storage::price_proof::list_price_violations;
use sqlx::{AssertSqlSafe, PgPool};

/// Each invariant, and a statement whose rows violate it. Every statement is one snapshot, so it also holds under load.
const VIOLATIONS: [(&str, &str); 10] = [
    (
        "L1: a balance below zero",
        "select 'token', id from tokens where remain_quota < 0 or used_quota < 0 \
         union all select 'wallet', id from users where quota < 0 or used_quota < 0",
    ),
    (
        "L3: `used_quota` of a token is not the sum of its opening, its charges and open reservations",
        "select t.id, t.used_quota, t.opening_used, c.sum, r.sum from tokens t \
         left join (select token_id, sum(quota) from charges group by 1) c on c.token_id = t.id \
         left join (select token_id, sum(held) from reservations where state = 'open' group by 1) \
           r on r.token_id = t.id \
         where t.used_quota <> t.opening_used + coalesce(c.sum, 0) + coalesce(r.sum, 0)",
    ),
    (
        "L3: `used_quota` of a wallet is not the sum of its opening, its charges and open reservations",
        "select u.id, u.used_quota, u.opening_used, u.request_count, c.sum, c.count, r.sum from users u \
         left join (select user_id, sum(quota), count(*) from charges group by 1) c on c.user_id = u.id \
         left join (select user_id, sum(held) from reservations where state = 'open' group by 1) \
           r on r.user_id = u.id \
         where u.used_quota <> u.opening_used + coalesce(c.sum, 0) + coalesce(r.sum, 0) \
           or u.request_count < coalesce(c.count, 0) \
           or (u.request_count > coalesce(c.count, 0) \
             and not exists (select from imports i where i.kind = 'user' and i.local_id = u.id))",
    ),
    (
        "L5: a day's sum is not the sum of its charges",
        "with c as (select token_id, day, model, sum(quota) as quota, \
             count(*) as requests, sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens \
           from charges group by 1, 2, 3) \
         select token_id, day, model, d.quota, c.quota from usage_daily d full join c using (token_id, day, model) \
         where (d.quota, d.requests, d.prompt_tokens, d.completion_tokens) \
           is distinct from (c.quota, c.requests, c.prompt_tokens, c.completion_tokens)",
    ),
    (
        "L4: a request id with more than one record",
        "select gateway_id, request_id from idempotency_records group by 1, 2 having count(*) > 1",
    ),
    (
        "L4: idempotency records without charges",
        "select r.sum, c.sum from (select coalesce(sum(charged), 0) as sum, count(*) from idempotency_records \
           where reservation_id is null) r, \
         (select coalesce(sum(quota), 0) as sum, count(*) from charges) c where r.sum > c.sum or r.count > c.count",
    ),
    (
        "L4: idempotency records without their reservation, or with another request id or owner than it has",
        "select i.gateway_id, i.request_id, r.* from idempotency_records i left join reservations r on r.id = i.reservation_id \
         where i.reservation_id is not null and (i.gateway_id, i.request_id, i.user_id) \
           is distinct from (r.gateway_id, r.request_id, r.user_id)",
    ),
    (
        "L7: a reservation whose state does not match its charges",
        "select r.id, r.state, r.charged, c.sum from reservations r \
         left join (select reservation_id, sum(quota), count(*) from charges group by 1) c on c.reservation_id = r.id \
         where coalesce(c.count, 0) <> (r.state = 'settled')::int or r.charged is distinct from c.sum",
    ),
    (
        "L9: a token whose holds or period counters are not the sums of its reservations and charges",
        "select t.id, t.held, t.open_reservations, t.period_day, t.day_used, t.week_used, t.month_used, c.*, r.* \
         from tokens t cross join lateral (select coalesce(sum(quota) filter (where day = t.period_day), 0) as in_day, \
             coalesce(sum(quota) filter (where day >= date_trunc('week', t.period_day)::date), 0) as in_week, \
             coalesce(sum(quota) filter (where day >= date_trunc('month', t.period_day)::date), 0) as in_month \
           from charges where token_id = t.id) c \
         left join (select token_id, sum(held), count(*) from reservations where state = 'open' group by 1) r \
           on r.token_id = t.id \
         where (t.day_used, t.week_used, t.month_used, t.held, t.open_reservations) is distinct from \
           (c.in_day, c.in_week, c.in_month, coalesce(r.sum, 0), coalesce(r.count, 0))",
    ),
    (
        "L9: a wallet whose holds or period counters are not the sums of its tokens",
        "with c as (select u.id, coalesce(sum(c.quota) filter (where c.day = u.period_day), 0) as in_day, \
             coalesce(sum(c.quota) filter (where c.day >= date_trunc('week', u.period_day)::date), 0) as in_week, \
             coalesce(sum(c.quota) filter (where c.day >= date_trunc('month', u.period_day)::date), 0) as in_month \
           from users u left join charges c on c.user_id = u.id group by u.id) \
         select u.id, u.held, u.period_day, u.day_used, u.week_used, u.month_used, c.in_day, c.in_week, c.in_month, t.held as sum_of_held \
         from users u join c on c.id = u.id \
         left join (select user_id, sum(held) as held from tokens group by 1) t on t.user_id = u.id \
         where (u.day_used, u.week_used, u.month_used, u.held) is distinct from \
           (c.in_day, c.in_week, c.in_month, coalesce(t.held, 0))",
    ),
];

/// The violated invariants with up to 20 rows each; empty if all hold.
pub async fn violations(pool: &PgPool) -> sqlx::Result<Vec<String>> {
    let mut found = Vec::new();
    for (invariant, rows) in VIOLATIONS {
        let rows = format!("select v::text from ({rows}) v limit 20");
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_all(pool).await?;
        found.extend((!rows.is_empty()).then(|| format!("{invariant}: {rows:?}")));
    }
    let priced = list_price_violations(&mut *pool.acquire().await?, 0, i64::MAX, Day::FIRST).await.unwrap();
    found.extend((!priced.is_empty()).then(|| format!("L10: charges that are not what their prices say: {priced:?}")));
    Ok(found)
}

/// Asserts that every invariant holds.
pub async fn assert_ledger_invariants(pool: &PgPool) {
    assert_eq!(violations(pool).await.unwrap(), Vec::<String>::new());
}
