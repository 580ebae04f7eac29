//! The invariants of the ledger (L1 to L7) as SQL, for the tests and the soak test.

use sqlx::{AssertSqlSafe, PgPool};

/// Each invariant, and a statement whose rows violate it. Every statement is one snapshot, so it also holds under load.
const VIOLATIONS: [(&str, &str); 7] = [
    (
        "L1: a balance below zero",
        "select 'token', id from tokens where remain_quota < 0 or used_quota < 0 \
         union all select 'wallet', id from users where quota < 0 or used_quota < 0",
    ),
    (
        "L3: `used_quota` of a token is not the sum of its charges and open reservations",
        "select t.id, t.used_quota, c.sum, r.sum from tokens t \
         left join (select token_id, sum(quota) from charges group by 1) c on c.token_id = t.id \
         left join (select token_id, sum(held) from reservations where state = 'open' group by 1) \
           r on r.token_id = t.id \
         where t.used_quota <> coalesce(c.sum, 0) + coalesce(r.sum, 0)",
    ),
    (
        "L3: `used_quota` of a wallet is not the sum of its charges and open reservations",
        "select u.id, u.used_quota, u.request_count, c.sum, c.count, r.sum from users u \
         left join (select user_id, sum(quota), count(*) from charges group by 1) c on c.user_id = u.id \
         left join (select user_id, sum(held) from reservations where state = 'open' group by 1) \
           r on r.user_id = u.id \
         where u.used_quota <> coalesce(c.sum, 0) + coalesce(r.sum, 0) or u.request_count <> coalesce(c.count, 0)",
    ),
    (
        "L5: a day's sum is not the sum of its charges",
        "with c as (select token_id, (to_timestamp(at) at time zone 'UTC')::date as day, model, sum(quota) as quota, \
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
        "select r.sum, c.sum from (select coalesce(sum(charged), 0) as sum, count(*) from idempotency_records) r, \
         (select coalesce(sum(quota), 0) as sum, count(*) from charges) c where r.sum > c.sum or r.count > c.count",
    ),
    (
        "L7: a reservation whose state does not match its charges",
        "select r.id, r.state, r.charged, c.sum from reservations r \
         left join (select reservation_id, sum(quota), count(*) from charges group by 1) c on c.reservation_id = r.id \
         where coalesce(c.count, 0) <> (r.state = 'settled')::int or r.charged is distinct from c.sum",
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
    Ok(found)
}

/// Asserts that every invariant holds.
pub async fn assert_ledger_invariants(pool: &PgPool) {
    assert_eq!(violations(pool).await.unwrap(), Vec::<String>::new());
}
