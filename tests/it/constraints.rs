//! Every named constraint of the schema refuses invalid rows (specification §2, §8).

use std::collections::BTreeMap;

use keymeter::domain::user::Role;
use keymeter::domain::{bounds, key};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::constraints::{Break, assert_all_tested, assert_each_refused};

/// One valid row of every table, each with the id 1.
const ROWS: [&str; 27] = [
    "insert into installation (id, key_check, cell_label, created_time) values (1, '\\x00', '00', 1)",
    "insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name, \
     quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton) overriding system value \
     values (1, 'Ana', 'ana', '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('ana', 'ana', '[]'))",
    "insert into sessions (digest, data, expires_at) values ('\\x01', '{\"user_id\": 1}', 1)",
    "insert into access_tokens (id, user_id, name, digest, created_time) overriding system value \
     values (1, 1, 'one', decode(repeat('01', 32), 'hex'), 1)",
    "insert into enablement_requests (id, user_id, requested_by, reason, state, created_time, note) \
     overriding system value values (1, 1, 1, 'x', 'pending', 1, '')",
    "insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time, \
     accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, \
     group_name, cross_group_retry) overriding system value \
     values (1, 1, decode(repeat('01', 32), 'hex'), '\\x01', 'abcdwxyz', 'one', 'one', '', 1, 1, 0, false, 0, \
     false, '', '', '', false)",
    "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
     values (1, 1, '2026-03-10', 'o1', 0, 0, 0, 0)",
    "insert into gateways (id, name, created_time, created_by) overriding system value values (1, 'edge', 1, 1)",
    "insert into gateway_credentials (id, gateway_id, digest, hint, created_time, created_by) \
     overriding system value values (1, 1, decode(repeat('01', 32), 'hex'), 'wxyz', 1, 1)",
    "insert into usage_imported (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
     values (1, 1, '2026-03-09', 'o1', 0, 0, 0, 0)",
    "insert into imports (source, kind, foreign_id, local_id, at) values ('new-api', 'token', 1, 1, 1)",
    "insert into sign_in_limits (account, network, tat) values ('\\x01', '', 1)",
    "insert into sign_in_networks (user_id, network, last_time) values (1, '192.0.2.1', 1)",
    "insert into sign_in_lockouts (account, user_id, last_time) values ('\\x01', 1, 1)",
    "insert into refused_requests (user_id, day, token_id, reason, requests) \
     values (1, '2026-03-10', 1, 'token_expired', 1)",
    "insert into refusals (at, user_id, token_id, gateway_id, call, reason, model, suppressed) \
     values (1, 1, 1, 1, 'verify', 'token_expired', '', 0)",
    "insert into usage_by_model (user_id, day, model, gateway_id, quota, requests, prompt_tokens, completion_tokens) \
     values (1, '2026-03-10', 'o1', 1, 0, 0, 0, 0)",
    "insert into usage_by_month (user_id, month, token_id, model, quota, requests, prompt_tokens, completion_tokens) \
     values (1, '2026-03-01', 1, 'o1', 0, 0, 0, 0)",
    "insert into requests_imported (source, foreign_id, at, user_id, token_id, model, quota, prompt_tokens, completion_tokens) \
     values ('new-api', 1, 1, 1, 1, 'o1', 0, 0, 0)",
    "insert into prices (id, content, first_used_at) overriding system value values (1, '{}', 1)",
    "insert into price_lists (digest, since, seen_at) values (repeat('a', 64), 1, 1)",
    "insert into old_keys (id, key_digest, token_id, key_hint, key_foreign, rotated_at, grace_seconds, expires_at, waits_for_use) \
     overriding system value values (1, decode(repeat('02', 32), 'hex'), 1, 'abcdwxyz', false, 1, 60, 61, false)",
    "insert into idempotency_keys (user_id, key, request_hash, token_ids, key_digests, created_time) \
     values (1, 'a', decode(repeat('01', 32), 'hex'), '{}', '{}', 1)",
    "insert into restorable_tokens (token_id, user_id, deleted_time) values (1, 1, 1)",
    "insert into wrapped_secrets (generation, key_check, wrapped) values (1, '\\x01', '\\x00')",
    "insert into price_versions (number, created_time, created_by, note, file, data) values (1, 1, 1, '', '{}', '[]')",
    "insert into servers (id, name, version, newest_migration, settings, started_time, seen_time) \
     values ('a', 'a', '1', 1, '{}', 1, 1)",
];

const AUDIT_ROW: &str = "insert into audit_log (id, at, actor_name, action, subject_kind, ip, request_id, details) \
                         overriding system value values (1, 1, '', '', '', '', '', '{}')";

/// Each constraint, and statements that violate only this constraint.
const BREAKS: [Break; 122] = [
    ("servers_pkey", &[ROWS[26]]),
    ("servers_name_length", &["update servers set name = ''", "update servers set name = repeat('a', 256)"]),
    ("servers_started_before_seen", &["update servers set started_time = seen_time + 1"]),
    ("invariants_pkey", &["insert into invariants (name) values ('L3')"]),
    ("invariants_counts", &["update invariants set found = -1", "update invariants set violations = -1"]),
    ("proof_round_pkey", &["insert into proof_round default values"]),
    ("proof_round_one_row", &["insert into proof_round (id) values (2)"]),
    ("restorable_tokens_pkey", &[ROWS[23]]),
    ("restorable_tokens_token_fk", &["update restorable_tokens set token_id = 2"]),
    ("restorable_tokens_user_fk", &["update restorable_tokens set user_id = 2"]),
    ("idempotency_keys_pkey", &[ROWS[22]]),
    ("idempotency_keys_user_fk", &["update idempotency_keys set user_id = 2"]),
    (
        "idempotency_keys_key_length",
        &["update idempotency_keys set key = ''", "update idempotency_keys set key = repeat('x', 256)"],
    ),
    ("idempotency_keys_request_hash_length", &["update idempotency_keys set request_hash = '\\x01'"]),
    ("idempotency_keys_digest_each", &["update idempotency_keys set token_ids = '{1}'"]),
    (
        "old_keys_pkey",
        &[
            "insert into old_keys (id, key_digest, token_id, key_hint, key_foreign, rotated_at, grace_seconds, expires_at, \
            waits_for_use) overriding system value values (1, decode(repeat('03', 32), 'hex'), 1, '', false, 1, 60, 61, false)",
        ],
    ),
    (
        "old_keys_key_digest_unique",
        &[
            "insert into old_keys (id, key_digest, token_id, key_hint, key_foreign, rotated_at, grace_seconds, expires_at, \
            waits_for_use) overriding system value values (2, decode(repeat('02', 32), 'hex'), 1, '', false, 1, 60, 61, false)",
        ],
    ),
    ("old_keys_token_fk", &["update old_keys set token_id = 2"]),
    ("old_keys_key_digest_length", &["update old_keys set key_digest = '\\x02'"]),
    ("old_keys_key_hint_length", &["update old_keys set key_hint = repeat('x', 9)"]),
    (
        "old_keys_grace_in_range",
        &["update old_keys set grace_seconds = -1", "update old_keys set grace_seconds = 2592001"],
    ),
    ("old_keys_expires_after_rotation", &["update old_keys set expires_at = 0"]),
    ("prices_pkey", &["insert into prices (id, content, first_used_at) overriding system value values (1, '{1}', 1)"]),
    (
        "prices_content_unique",
        &["insert into prices (id, content, first_used_at) overriding system value values (2, '{}', 2)"],
    ),
    ("prices_content_length", &["update prices set content = ''", "update prices set content = repeat('x', 2601)"]),
    ("price_lists_pkey", &[ROWS[20]]),
    ("price_versions_pkey", &[ROWS[25]]),
    ("price_versions_number_positive", &["update price_versions set number = 0"]),
    ("price_versions_note_length", &["update price_versions set note = repeat('x', 2001)"]),
    ("price_lists_digest_length", &["update price_lists set digest = repeat('a', 63)"]),
    ("price_lists_times", &["update price_lists set since = 2"]),
    (
        "wrapped_secrets_pkey",
        &["insert into wrapped_secrets (generation, key_check, wrapped) values (1, '\\x02', '\\x00')"],
    ),
    (
        "wrapped_secrets_key_check_unique",
        &["insert into wrapped_secrets (generation, key_check, wrapped) values (2, '\\x01', '\\x00')"],
    ),
    ("wrapped_secrets_generation_positive", &["update wrapped_secrets set generation = 0"]),
    ("sealing_key_pkey", &["insert into sealing_key (id, data_key_id) values (1, 0)"]),
    ("sealing_key_one_row", &["insert into sealing_key (id, data_key_id) values (2, 0)"]),
    ("sealing_key_data_key_not_negative", &["update sealing_key set data_key_id = -1"]),
    ("refused_requests_pkey", &[ROWS[14]]),
    ("refused_requests_positive", &["update refused_requests set requests = 0"]),
    ("refusals_suppressed_not_negative", &["update refusals set suppressed = -1"]),
    ("installation_pkey", &[ROWS[0]]),
    (
        "installation_one_row",
        &["insert into installation (id, key_check, cell_label, created_time) values (2, '\\x00', '00', 1)"],
    ),
    (
        "installation_week_starts_known",
        &["update installation set week_starts = 0", "update installation set week_starts = 8"],
    ),
    ("installation_min_migration", &["update installation set min_migration = -1"]),
    ("installation_cell_label_format", &["update installation set cell_label = '0-'"]),
    (
        "users_pkey",
        &["insert into users (id, username, username_folded, display_name, email, password_hash, role, status, \
         group_name, quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton) overriding system value \
         values (1, 'ben', 'ben', '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('ben', 'ben', '[]'))"],
    ),
    (
        "users_username_unique",
        &["insert into users (username, username_folded, display_name, email, password_hash, role, status, \
         group_name, quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton) \
         select 'ANA', username_folded, '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('x', 'x', '[]') from users where id = 1"],
    ),
    (
        "users_username_skeleton_unique",
        &["insert into users (username, username_folded, display_name, email, password_hash, role, status, \
         group_name, quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton) \
         select name, name, '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('a', 'b', '[]') \
         from (values ('ben'), ('bea')) as names (name)"],
    ),
    ("users_role_known", &["update users set role = 0", "update users set role = 11"]),
    ("users_status_known", &["update users set status = 0", "update users set status = 3"]),
    ("users_disabled_by_known", &["update users set status = 2, disabled_by = 1"]),
    ("users_disabled_by_someone", &["update users set status = 2", "update users set disabled_by = 10"]),
    ("users_quota_not_negative", &["update users set quota = -1"]),
    ("users_used_quota_not_negative", &["update users set used_quota = -1"]),
    ("users_request_count_not_negative", &["update users set request_count = -1"]),
    ("users_max_tokens_not_negative", &["update users set max_tokens = -1"]),
    ("users_held_not_negative", &["update users set held = -1"]),
    (
        "users_period_limits_not_negative",
        &[
            "update users set day_limit = -1",
            "update users set week_limit = -1",
            "update users set month_limit = -1, day_limit = 1",
        ],
    ),
    (
        "users_period_used_not_negative",
        &["update users set day_used = -1", "update users set week_used = -1", "update users set month_used = -1"],
    ),
    ("users_opening_used_not_negative", &["update users set opening_used = -1"]),
    ("sign_in_limits_pkey", &[ROWS[11]]),
    ("sign_in_networks_pkey", &[ROWS[12]]),
    ("sign_in_networks_user_fk", &["update sign_in_networks set user_id = 2"]),
    ("sign_in_lockouts_pkey", &[ROWS[13]]),
    ("sign_in_lockouts_user_fk", &["update sign_in_lockouts set user_id = 2"]),
    ("sessions_pkey", &[ROWS[2]]),
    ("sessions_user_fk", &["update sessions set data = '{\"user_id\": 2}'"]),
    (
        "access_tokens_pkey",
        &["insert into access_tokens (id, user_id, name, digest, created_time) overriding system value \
         values (1, 1, 'two', decode(repeat('02', 32), 'hex'), 1)"],
    ),
    ("access_tokens_user_fk", &["update access_tokens set user_id = 2"]),
    (
        "access_tokens_digest_unique",
        &["insert into access_tokens (user_id, name, digest, created_time) \
         select user_id, name, digest, 1 from access_tokens"],
    ),
    ("access_tokens_digest_length", &["update access_tokens set digest = '\\x01'"]),
    (
        "enablement_requests_pkey",
        &[
            "insert into enablement_requests (id, user_id, requested_by, reason, state, created_time, decided_time, note) \
         overriding system value values (1, 1, 1, 'x', 'refused', 1, 1, '')",
        ],
    ),
    ("enablement_requests_user_fk", &["update enablement_requests set user_id = 2"]),
    ("enablement_requests_requested_by_fk", &["update enablement_requests set requested_by = 2"]),
    ("enablement_requests_decided_by_fk", &["update enablement_requests set decided_by = 2"]),
    ("enablement_requests_state_known", &["update enablement_requests set state = 'lost', decided_time = 1"]),
    (
        "enablement_requests_decided",
        &["update enablement_requests set decided_time = 1", "update enablement_requests set state = 'approved'"],
    ),
    (
        "enablement_requests_one_pending",
        &["insert into enablement_requests (user_id, requested_by, reason, state, created_time, note) \
         values (1, 1, 'again', 'pending', 1, '')"],
    ),
    (
        "tokens_pkey",
        &["insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, \
         created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, \
         allow_ips, group_name, cross_group_retry) overriding system value \
         values (1, 1, decode(repeat('02', 32), 'hex'), '\\x01', '', 'two', 'two', '', 1, 1, 0, false, 0, false, \
         '', '', '', false)"],
    ),
    ("tokens_user_fk", &["update tokens set user_id = 2"]),
    (
        "tokens_key_digest_unique",
        &["insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, \
         created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, \
         allow_ips, group_name, cross_group_retry) select user_id, key_digest, '\\x02', '', 'two', 'two', '', 1, 1, \
         0, false, 0, false, '', '', '', false from tokens"],
    ),
    ("tokens_key_digest_length", &["update tokens set key_digest = '\\x01'"]),
    ("tokens_key_hint_length", &["update tokens set key_hint = '123456789'"]),
    ("tokens_name_length", &["update tokens set name = ''", "update tokens set name = repeat('ü', 51)"]),
    ("tokens_expires_after_1970", &["update tokens set expires_at = 0", "update tokens set expires_at = -1"]),
    ("tokens_switched_off_by_known", &["update tokens set switched_off_by = 2"]),
    ("tokens_note_length", &["update tokens set note = repeat('ü', 501)"]),
    ("tokens_remain_quota_not_negative", &["update tokens set remain_quota = -1"]),
    ("tokens_used_quota_not_negative", &["update tokens set used_quota = -1"]),
    ("tokens_held_not_negative", &["update tokens set held = -1"]),
    (
        "tokens_period_limits_not_negative",
        &[
            "update tokens set day_limit = -1",
            "update tokens set week_limit = -1",
            "update tokens set month_limit = -1, day_limit = 1",
        ],
    ),
    (
        "tokens_period_used_not_negative",
        &["update tokens set day_used = -1", "update tokens set week_used = -1", "update tokens set month_used = -1"],
    ),
    (
        "tokens_rates_not_negative",
        &[
            "update tokens set requests_per_minute = -1",
            "update tokens set tokens_per_minute = -1",
            "update tokens set concurrency = -1, tokens_per_minute = 1",
        ],
    ),
    ("tokens_open_reservations_not_negative", &["update tokens set open_reservations = -1"]),
    ("tokens_retry_only_in_auto", &["update tokens set cross_group_retry = true"]),
    ("tokens_opening_used_not_negative", &["update tokens set opening_used = -1"]),
    ("usage_daily_pkey", &[ROWS[6]]),
    ("usage_by_model_pkey", &[ROWS[16]]),
    (
        "usage_by_model_not_negative",
        &[
            "update usage_by_model set quota = -1",
            "update usage_by_model set requests = -1",
            "update usage_by_model set prompt_tokens = -1",
            "update usage_by_model set completion_tokens = -1",
        ],
    ),
    ("usage_by_month_pkey", &[ROWS[17]]),
    (
        "usage_by_month_not_negative",
        &[
            "update usage_by_month set quota = -1",
            "update usage_by_month set requests = -1",
            "update usage_by_month set prompt_tokens = -1",
            "update usage_by_month set completion_tokens = -1",
        ],
    ),
    ("usage_by_month_first_day", &["update usage_by_month set month = '2026-03-02'"]),
    ("requests_imported_pkey", &[ROWS[18]]),
    (
        "requests_imported_not_negative",
        &[
            "update requests_imported set quota = -1",
            "update requests_imported set prompt_tokens = -1",
            "update requests_imported set completion_tokens = -1",
        ],
    ),
    ("usage_rollup_pkey", &["insert into usage_rollup default values"]),
    ("usage_rollup_one_row", &["insert into usage_rollup (id) values (2)"]),
    (
        "usage_rollup_days_closed",
        &[
            "update usage_rollup set rolled_until = '2026-03-10'",
            "update usage_rollup set rolling_until = '2026-03-10'",
            "update usage_rollup set closed_until = '2026-03-10', rolled_until = '2026-03-09', rolling_until = '2026-03-08'",
        ],
    ),
    (
        "usage_daily_not_negative",
        &[
            "update usage_daily set quota = -1",
            "update usage_daily set requests = -1",
            "update usage_daily set prompt_tokens = -1",
            "update usage_daily set completion_tokens = -1",
        ],
    ),
    ("gateways_pkey", &["insert into gateways (id, name, created_time) overriding system value values (1, 'two', 1)"]),
    ("gateways_created_by_fk", &["update gateways set created_by = 2"]),
    (
        "gateway_credentials_pkey",
        &["insert into gateway_credentials (id, gateway_id, digest, hint, created_time) overriding system value \
         values (1, 1, decode(repeat('02', 32), 'hex'), '', 1)"],
    ),
    ("gateway_credentials_gateway_fk", &["update gateway_credentials set gateway_id = 2"]),
    ("gateway_credentials_created_by_fk", &["update gateway_credentials set created_by = 2"]),
    (
        "gateway_credentials_digest_unique",
        &["insert into gateway_credentials (gateway_id, digest, hint, created_time) \
         select gateway_id, digest, '', 1 from gateway_credentials"],
    ),
    ("gateway_credentials_digest_length", &["update gateway_credentials set digest = '\\x01'"]),
    ("gateway_credentials_hint_length", &["update gateway_credentials set hint = '12345'"]),
    ("audit_log_pkey", &[AUDIT_ROW]),
    ("usage_imported_pkey", &[ROWS[9]]),
    (
        "usage_imported_not_negative",
        &[
            "update usage_imported set quota = -1",
            "update usage_imported set requests = -1",
            "update usage_imported set prompt_tokens = -1",
            "update usage_imported set completion_tokens = -1",
        ],
    ),
    ("imports_pkey", &[ROWS[10]]),
    ("imports_kind_known", &["update imports set kind = 'channel'"]),
    ("imports_digest_length", &["update imports set digest = '\\x01'"]),
];

/// Inserts one row into every table; generated ids begin at 1000.
async fn fill(pool: &PgPool) {
    for row in ROWS.into_iter().chain([AUDIT_ROW]) {
        sqlx::query(row).execute(pool).await.unwrap();
    }
    for table in
        ["users", "access_tokens", "enablement_requests", "tokens", "gateways", "gateway_credentials", "audit_log"]
    {
        let restart = format!("alter table {table} alter column id restart with 1000");
        sqlx::query(AssertSqlSafe(restart)).execute(pool).await.unwrap();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_constraint_refuses_invalid_rows(pool: PgPool) {
    fill(&pool).await;
    assert_each_refused(&pool, &BREAKS).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_constraint_outside_the_ledger_is_tested(pool: PgPool) {
    let tables = [
        "installation",
        "users",
        "sessions",
        "access_tokens",
        "enablement_requests",
        "tokens",
        "usage_daily",
        "gateways",
        "gateway_credentials",
        "audit_log",
        "old_keys",
        "idempotency_keys",
        "restorable_tokens",
        "usage_imported",
        "imports",
        "sign_in_limits",
        "sign_in_networks",
        "sign_in_lockouts",
        "refused_requests",
        "refusals",
        "usage_rollup",
        "usage_by_model",
        "usage_by_month",
        "requests_imported",
        "prices",
        "price_lists",
        "price_versions",
        "wrapped_secrets",
        "sealing_key",
        "servers",
        "invariants",
        "proof_round",
    ];
    assert_all_tested(&pool, &tables, &BREAKS).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn values_at_the_bounds_are_accepted(pool: PgPool) {
    fill(&pool).await;
    for statement in [
        "update users set role = 100, status = 2, disabled_by = 100, max_tokens = 0",
        "update users set deleted_time = 1",
        "insert into users (username, username_folded, display_name, email, password_hash, role, status, \
         group_name, quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton) \
         values ('ana', 'ana', '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('ana', 'ana', '[]'))",
        "update tokens set name = repeat('ü', 50), expires_at = 1, key_hint = ''",
        "update tokens set switched_off_by = 100",
        "update gateway_credentials set hint = ''",
        "delete from gateways",
        "update tokens set group_name = 'auto', cross_group_retry = true",
        "update tokens set remain_quota = 9223372036854775807, used_quota = 9223372036854775807",
        "update enablement_requests set state = 'refused', decided_time = 1, decided_by = 1",
        "insert into enablement_requests (user_id, requested_by, reason, state, created_time, note) \
         values (1, 1, 'again', 'pending', 1, '')",
    ] {
        sqlx::query(statement).execute(&pool).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// The numbers of each constraint that repeats a length or the roles of the domain.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_lengths_and_roles_of_the_schema_are_those_of_the_domain(pool: PgPool) {
    let digest = size_of::<[u8; 32]>();
    let roles = Role::ALL.map(|role| role.code().unsigned_abs().into());
    let expected: BTreeMap<&str, Vec<usize>> = BTreeMap::from([
        ("access_tokens_digest_length", vec![digest]),
        ("charges_hold_reason_length", vec![1, 32]),
        ("charges_request_id_length", vec![1, bounds::MAX_REQUEST_ID_CHARS]),
        ("charges_settled_digest_length", vec![digest]),
        ("gateway_credentials_digest_length", vec![digest]),
        ("gateway_credentials_hint_length", vec![key::HINT_CHARS]),
        ("idempotency_keys_key_length", vec![1, bounds::MAX_IDEMPOTENCY_KEY_CHARS]),
        ("idempotency_keys_request_hash_length", vec![digest]),
        ("idempotency_records_request_hash_length", vec![digest]),
        ("imports_digest_length", vec![digest]),
        ("old_keys_key_digest_length", vec![digest]),
        ("old_keys_key_hint_length", vec![2 * key::HINT_CHARS]),
        ("price_lists_digest_length", vec![2 * digest]),
        ("price_versions_note_length", vec![bounds::MAX_REASON_CHARS]),
        ("prices_content_length", vec![1, bounds::MAX_PRICE_CONTENT_CHARS]),
        ("reservations_request_id_length", vec![1, bounds::MAX_REQUEST_ID_CHARS]),
        ("tokens_key_digest_length", vec![digest]),
        ("tokens_key_hint_length", vec![2 * key::HINT_CHARS]),
        ("tokens_name_length", vec![1, bounds::MAX_NAME_CHARS]),
        ("tokens_note_length", vec![bounds::MAX_NOTE_CHARS]),
        ("tokens_switched_off_by_known", roles.to_vec()),
        ("users_disabled_by_known", roles[1..].to_vec()),
        ("users_role_known", roles.to_vec()),
    ]);
    let found: Vec<(String, String)> = sqlx::query_as(
        "select distinct conname::text, pg_get_constraintdef(oid) from pg_constraint where contype = 'c' \
         and (pg_get_constraintdef(oid) like '%\\_length(%' or conname in \
         ('tokens_switched_off_by_known', 'users_disabled_by_known', 'users_role_known'))",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let found = found.iter().map(|(name, check)| (name.as_str(), numbers(check))).collect::<BTreeMap<_, _>>();
    assert_eq!(found, expected);
}

fn numbers(text: &str) -> Vec<usize> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}
