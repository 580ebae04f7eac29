//! The named constraints of the ledger's tables, and the partitions of `charges`.

use sqlx::{PgPool, Row};

use crate::harness::constraints::{Break, assert_all_tested, assert_each_refused};

/// A user and a token, then one valid row of each table of the ledger.
const ROWS: [&str; 5] = [
    "insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name, \
     quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton) overriding system value \
     values (1, 'ana', 'ana', '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('ana', 'ana', '[]'))",
    "insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time, \
     accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, \
     group_name, cross_group_retry) overriding system value \
     values (1, 1, decode(repeat('01', 32), 'hex'), '\\x01', 'abcdwxyz', 'one', 'one', '', 1, 1, 0, false, 0, \
     false, '', '', '', false)",
    "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
     values (1, 1, 1, '', 0, 0, 0, 0)",
    "insert into reservations (id, token_id, user_id, model, held, from_remain, created_time, expires_at, state) \
     values (1, 1, 1, '', 0, true, 1, 2, 'open')",
    "insert into idempotency_records (gateway_id, request_id, user_id, created_time, request_hash, charged, remain_quota) \
     values (1, 'r1', 1, 1, decode(repeat('01', 32), 'hex'), 0, 0)",
];

/// Each constraint, and statements that violate only this constraint.
const BREAKS: [Break; 18] = [
    ("charges_quota_not_negative", &["update charges set quota = -1"]),
    ("charges_shortfall_not_negative", &["update charges set shortfall = -1"]),
    (
        "charges_counts_not_negative",
        &["update charges set prompt_tokens = -1", "update charges set completion_tokens = -1"],
    ),
    ("charges_units_object", &["update charges set units = '[]'"]),
    ("charges_hold_reason_length", &["update charges set hold_reason = ''"]),
    ("charges_hold_reason_or_price", &["update charges set hold_reason = 'expired', price_id = 1"]),
    ("charges_settled_digest_length", &["update charges set settled_digest = '\\x01'"]),
    ("reservations_asked_object", &["update reservations set asked = '1'"]),
    (
        "charges_request_id_length",
        &["update charges set request_id = ''", "update charges set request_id = repeat('r', 129)"],
    ),
    (
        "charges_parts_not_negative",
        &[
            "update charges set cached_tokens = -1",
            "update charges set cache_write_tokens = -1",
            "update charges set reasoning_tokens = -1, cached_tokens = 1",
        ],
    ),
    (
        "reservations_request_id_length",
        &["update reservations set request_id = ''", "update reservations set request_id = repeat('r', 129)"],
    ),
    ("reservations_pkey", &[ROWS[3]]),
    ("reservations_held_not_negative", &["update reservations set held = -1"]),
    ("reservations_state_known", &["update reservations set state = 'lost', ended_time = 1"]),
    ("reservations_ended", &["update reservations set ended_time = 1", "update reservations set state = 'released'"]),
    (
        "reservations_settled",
        &[
            "update reservations set state = 'settled', ended_time = 1",
            "update reservations set state = 'settled', ended_time = 1, requested = 1, charged = 1",
            "update reservations set requested = 1, charged = 1, shortfall = 0, was_expired = false",
        ],
    ),
    ("idempotency_records_pkey", &[ROWS[4]]),
    ("idempotency_records_request_hash_length", &["update idempotency_records set request_hash = '\\x01'"]),
];

/// 2026-03-10, at midnight.
const TODAY: i64 = 1_773_100_800;
const DAY: i64 = 86_400;

async fn fill(pool: &PgPool) {
    for row in ROWS {
        sqlx::query(row).execute(pool).await.unwrap();
    }
}

/// Creates the partition of a day if it needs one, and returns true if it did.
async fn make(pool: &PgPool, day: i64) -> bool {
    let missing = sqlx::query("select missing_charges_partitions($1, $1)").bind(day).fetch_all(pool).await.unwrap();
    if !missing.is_empty() {
        sqlx::query("select make_charges_partition($1)").bind(day).execute(pool).await.unwrap();
    }
    !missing.is_empty()
}

/// Drops the partitions of days before this one, and returns how many there were.
async fn drop_before(pool: &PgPool, day: i64) -> i32 {
    let mut dropped = 0;
    while sqlx::query_scalar("select drop_oldest_charges_partition($1)").bind(day).fetch_one(pool).await.unwrap() {
        dropped += 1;
    }
    dropped
}

async fn charge(pool: &PgPool, at: i64) {
    let insert = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, \
                  completion_tokens) values ($1, 1, 1, '', 1, 0, 0, 0)";
    sqlx::query(insert).bind(at).execute(pool).await.unwrap();
}

/// The time and the partition of every charge, by time.
async fn charges(pool: &PgPool) -> Vec<(i64, String)> {
    let rows = sqlx::query("select at, tableoid::regclass::text from charges order by at").fetch_all(pool).await;
    rows.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_constraint_of_the_ledger_refuses_invalid_rows(pool: PgPool) {
    fill(&pool).await;
    assert_eq!(charges(&pool).await, [(1, "charges_rest".to_owned())]);
    assert_each_refused(&pool, &BREAKS).await;

    // The same constraints hold in the partition of a day.
    sqlx::query("delete from charges").execute(&pool).await.unwrap();
    assert!(make(&pool, TODAY).await);
    charge(&pool, TODAY).await;
    assert_eq!(charges(&pool).await, [(TODAY, "charges_20260310".to_owned())]);
    assert_each_refused(&pool, &BREAKS).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_constraint_of_the_ledger_is_tested(pool: PgPool) {
    assert_all_tested(&pool, &["charges", "reservations", "idempotency_records"], &BREAKS).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_end_of_a_reservation_and_a_request_id_per_gateway_are_accepted(pool: PgPool) {
    fill(&pool).await;
    for statement in [
        "update reservations set state = 'released', ended_time = 1",
        "update reservations set state = 'expired', ended_time = 1",
        "update reservations set state = 'settled', ended_time = 1, requested = 9, charged = 0, shortfall = 9, \
         was_expired = true",
        "update reservations set held = 9223372036854775807",
        "insert into idempotency_records (gateway_id, request_id, user_id, created_time, request_hash, charged, remain_quota) \
         select 2, request_id, user_id, created_time, request_hash, charged, remain_quota from idempotency_records",
        "update charges set quota = 9223372036854775807, shortfall = 9223372036854775807",
        "update charges set request_id = repeat('ü', 128), ip = '2001:db8::1', cached_tokens = 0, reasoning_tokens = 7",
        "update reservations set request_id = repeat('ü', 128), ip = '10.1.2.3', charge_on_expiry = true",
    ] {
        sqlx::query(statement).execute(&pool).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_day_has_one_partition_from_its_first_second_to_its_last(pool: PgPool) {
    assert!(make(&pool, TODAY).await);
    assert!(!make(&pool, TODAY).await, "the partition exists already");
    for at in [TODAY - 1, TODAY, TODAY + DAY - 1, TODAY + DAY] {
        charge(&pool, at).await;
    }
    let (rest, today) = ("charges_rest".to_owned(), "charges_20260310".to_owned());
    let expected = [(TODAY - 1, rest.clone()), (TODAY, today.clone()), (TODAY + DAY - 1, today), (TODAY + DAY, rest)];
    assert_eq!(charges(&pool).await, expected);
    assert!(!make(&pool, TODAY - DAY).await && !make(&pool, TODAY + DAY).await, "charges_rest has rows of these days");
    assert!(make(&pool, TODAY + 2 * DAY).await);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_partitions_of_days_before_the_given_day_are_dropped(pool: PgPool) {
    let first_start = "insert into installation (id, key_check, cell_label, created_time) values (1, '\\x00', '00', 1)";
    sqlx::query(first_start).execute(&pool).await.unwrap();
    charge(&pool, TODAY - 9 * DAY).await;
    for day in -2..=1 {
        assert!(make(&pool, TODAY + day * DAY).await);
        charge(&pool, TODAY + day * DAY).await;
    }
    assert_eq!(drop_before(&pool, TODAY - 3 * DAY).await, 0);
    assert_eq!(drop_before(&pool, TODAY).await, 2);
    assert_eq!(drop_before(&pool, TODAY).await, 0, "they are dropped already");
    let left: Vec<i64> = charges(&pool).await.into_iter().map(|(at, _)| at).collect();
    assert_eq!(left, [TODAY - 9 * DAY, TODAY, TODAY + DAY], "charges_rest keeps its rows");
    let since: Option<i64> =
        sqlx::query_scalar("select charges_since from installation").fetch_optional(&pool).await.unwrap().flatten();
    assert_eq!(since, Some(TODAY), "the time from which on every charge is stored is recorded");
    assert!(make(&pool, TODAY - DAY).await, "the partition of a day can be created again");
}
