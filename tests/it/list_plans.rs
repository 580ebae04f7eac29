//! Lists, searches and reports read what their caller may see by an index, on tables without statistics and among the
//! rows of others.

use keymeter::domain::bounds;
use keymeter::domain::id::{TokenId, UserId};
use keymeter::domain::page::PageRequest;
use keymeter::domain::request_history::{OutcomeKind, Position, RequestFilter, Window};
use keymeter::domain::request_search::windows_of;
use keymeter::domain::scope::Scope;
use keymeter::domain::spend::SpendParts;
use keymeter::domain::time::{Day, UnixTime};
use keymeter::domain::token_listing::TokenListing;
use keymeter::domain::usage_report_request::{Grouping, ReportSpan};
use keymeter::storage::ledger::Changes;
use keymeter::storage::tokens::{Listed, OwnersPage};
use keymeter::storage::{
    held_charges, keys, ledger, refused_requests, request_history, request_lookup, reservations, spend, tokens,
    usage_reports,
};
use serde_json::json;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgPool, Postgres};

use crate::harness::database::url;
use crate::harness::{START, TestApp};
use crate::hostile_database::service_connection;

/// The generic plan of the one prepared statement whose text is like `part`, for these arguments.
async fn plan(conn: &mut PoolConnection<Postgres>, part: &str, arguments: &str) -> String {
    let statements: Vec<String> = sqlx::query_scalar(
        "select name from pg_prepared_statements where statement like '%' || $1 || '%' and name ~ '^sqlx'",
    )
    .persistent(false)
    .bind(part)
    .fetch_all(&mut **conn)
    .await
    .unwrap();
    assert_eq!(statements.len(), 1, "{part}: {statements:?}");
    let explain = format!("explain execute {}({arguments})", statements[0]);
    let lines: Vec<String> = sqlx::raw_sql(AssertSqlSafe(explain))
        .fetch_all(&mut **conn)
        .await
        .unwrap()
        .iter()
        .map(|row| sqlx::Row::get(row, 0))
        .collect();
    lines.join("\n")
}

fn assert_uses(plan: &str, index: &str) {
    assert!(plan.contains(index), "{index} is not in {plan}");
    for forbidden in ["Seq Scan", "Hash Join", "Merge Join", "Bitmap"] {
        assert!(!plan.contains(forbidden), "{forbidden} in {plan}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn lists_searches_and_reports_use_indexes_without_statistics(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    for table in ["tokens", "usage_daily", "usage_imported", "refused_requests", "charges_rest"] {
        let off = format!("alter table {table} set (autovacuum_enabled = off)");
        sqlx::query(AssertSqlSafe(off)).execute(&pool).await.unwrap();
    }
    let others = "insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, \
                  created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, \
                  model_limits, allow_ips, group_name, cross_group_retry) \
                  select $1, sha256(n::text::bytea), '', left(md5(n::text), 8), 'n', 'n', '', 1, 1, 0, true, 0, false, '', '', \
                  '', false from generate_series(1, 20000) n";
    sqlx::query(others).bind(ben.id).execute(&pool).await.unwrap();
    let usage = "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, \
                 completion_tokens) select n, $1, '2026-01-01'::date + n % 60, 'o1', 1, 1, 1, 1 \
                 from generate_series(1, 20000) n";
    for table in ["usage_daily", "usage_imported"] {
        let sql = usage.replace("usage_daily", table);
        sqlx::query(AssertSqlSafe(sql)).bind(ben.id).execute(&pool).await.unwrap();
    }

    let charges = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, \
                   completion_tokens) select n, n, $1, 'o1', 1, 0, 1, 1 from generate_series(1, 20000) n";
    sqlx::query(charges).bind(ben.id).execute(&pool).await.unwrap();
    let refused = "insert into refused_requests (user_id, day, token_id, reason, requests) \
                   select $1, '2026-01-01'::date + n % 60, n, 'token_expired', 1 from generate_series(1, 20000) n";
    sqlx::query(refused).bind(ben.id).execute(&pool).await.unwrap();

    let mut conn = service_connection(&url(&pool)).await;
    let listing = TokenListing::default();
    let what =
        Listed { owner: Some(UserId::new(ana.id)), ids: None, like: "%", listing: &listing, now: UnixTime::new(1) };
    let page = PageRequest::from_zero(None, None).unwrap();
    tokens::list_listed(&mut conn, what, page).await.unwrap();
    let arguments = format!("null, null, 1, 'used_quota', true, 10, 0, {}, null, 10000, '%'", ana.id);
    let listed = plan(&mut conn, "id = any(case when $9", &arguments).await;
    assert_uses(&listed, "tokens_live_by_user");
    assert!(listed.contains("Index Cond: (id = ANY"), "{listed}");
    tokens::list_summaries(&mut conn, Some(UserId::new(ana.id))).await.unwrap();
    let summaries = plan(&mut conn, "id = any(case when $1", &format!("{}, 10001", ana.id)).await;
    assert_uses(&summaries, "tokens_live_by_user");
    assert!(summaries.contains("Index Cond: (id = ANY"), "{summaries}");
    let arguments = format!("'{{{}, 2}}', '{{an%, an%}}', '{{10, 10}}', '{{0, 0}}'", ana.id);
    for (like, part) in [(None, "deleted_time is null) as counted"), (Some("an%".to_owned()), "like wanted.pattern")] {
        tokens::list_pages(&mut conn, &[OwnersPage { owner: UserId::new(ana.id), like, page }]).await.unwrap();
        let pages = plan(&mut conn, part, &arguments).await;
        assert_uses(&pages, "tokens_live_by_user");
        assert!(!pages.contains("Sort"), "{pages}");
        assert_eq!(pages.matches("Index Cond: (user_id = wanted.owner)").count(), 2, "{pages}");
    }
    let newest = tokens::list_listed(&mut conn, Listed { owner: None, ..what }, page).await.unwrap();
    assert_eq!(newest.total, 10_000);
    let among = Listed { ids: Some(&[TokenId::new(1)]), ..what };
    assert_eq!(tokens::list_listed(&mut conn, among, page).await.unwrap().total, 0, "another owner's");
    keys::list_sealed_keys_beginning(&mut conn, "abcd", 10).await.unwrap();
    let beginning = plan(&mut conn, "and key_hint collate \"C\" >= $1", "'abcd', 'abce', 10").await;
    assert_uses(&beginning, "tokens_by_first_characters");
    keys::list_sealed_keys_ending(&mut conn, "abcd", 10).await.unwrap();
    let ending = plan(&mut conn, "and reverse(key_hint) collate \"C\" >= $1", "'abcd', 'abce', 10").await;
    assert_uses(&ending, "tokens_by_last_characters");

    let day = |text: &str| Day::parse(text).unwrap();
    let span = ReportSpan { from: day("2026-01-01"), to: day("2026-01-31") };
    let arguments =
        |more: &str| format!("'2026-01-01', '2026-01-31', 'day', false, false, false, false, 50001, {more}");
    let anas = UserId::new(ana.id);
    // Of a user, of a token and of all users.
    for by in ["day", "day,token", "token"] {
        let grouping = Grouping::parse_all_users(Some(by)).unwrap();
        usage_reports::list(&mut conn, Scope::User(anas), span, &grouping, bounds::MAX_REPORT_READ).await.unwrap();
    }
    let sums =
        plan(&mut conn, "day between r.first and r.last", &arguments("2000001, 1, null, '2026-02-01', 'days', false"))
            .await;
    for index in [
        "usage_daily_by_user",
        "usage_daily_pkey",
        "usage_daily_by_day",
        "usage_by_month_pkey",
        "usage_by_month_by_month",
        "usage_by_model_pkey",
        "usage_imported_pkey",
        "usage_imported_by_token",
        "usage_imported_by_day",
    ] {
        assert_uses(&sums, index);
    }

    let parts = SpendParts::new(UnixTime::new(1), UnixTime::new(1_000_000_000), None, UnixTime::new(1_000_000_000));
    let everything = RequestFilter::of(&OutcomeKind::PAID);
    spend::sum_of_user(&mut conn, UserId::new(ana.id), &everything, &parts, "UTC").await.unwrap();
    let arguments = format!("{}, 1, 9, null, null, '1970-01-01', '1970-01-02', '{{1}}', '{{2}}', 'UTC'", ana.id);
    let spend = plan(&mut conn, "c.quota::numeric * (", &arguments).await;
    assert_uses(&spend, "usage_daily_by_user");
    assert_uses(&spend, "charges_rest_token_id_at_idx");
    assert_uses(&spend, "tokens_by_user");

    refused_requests::list(&mut conn, Scope::User(anas), span, page).await.unwrap();
    let arguments = format!("'2026-01-01', '2026-01-31', {}, null, 2000001, 100, 0", ana.id);
    let refused = plan(&mut conn, "from refused_requests where user_id = $3", &arguments).await;
    for index in ["refused_requests_pkey", "refused_requests_by_token", "refused_requests_by_day"] {
        assert_uses(&refused, index);
    }
}

/// A batch looks up each row that it changes, also by a plan that was made while the tables were small.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_a_batch_writes_is_looked_up_after_the_tables_were_small(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    let gateway = app.gateway().await;
    let ana = app.enabled_user("ana").await;
    app.fills(&ana, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    gateway.post("/api/gateway/reserve", json!({ "key": key, "quota": 5 })).await.ok();
    sqlx::query("vacuum analyze").execute(&pool).await.unwrap();
    let mut conn = service_connection(&url(&pool)).await;
    ledger::write(&mut conn, &Changes::new(UnixTime::new(START))).await.unwrap();
    reservations::write(&mut conn, UnixTime::new(START), &[], &[]).await.unwrap();
    for (statement, parameters, indexes) in [
        ("with updated_wallets", 54, &["users_pkey", "tokens_pkey"][..]),
        ("insert into reservations", 22, &["reservations_pkey"]),
    ] {
        let arguments = format!("{START}{}", ", null".repeat(parameters));
        let plan = plan(&mut conn, statement, &arguments).await;
        for index in indexes {
            assert_uses(&plan, index);
        }
        assert!(!plan.contains("Join Filter"), "{plan}");
    }
}

/// Requests of all users are found by time: refusals by a btree, charges by the BRIN index of their day.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_of_all_users_are_found_by_time(pool: PgPool) {
    let day = START - START % 86_400 + 9 * 86_400;
    sqlx::query("select make_charges_partition($1)").bind(day).execute(&pool).await.unwrap();
    let charges = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
                   select $1 + n / 4, 1, 1, 'o1', 1, 0, 0, 0 from generate_series(0, 200000) n";
    sqlx::query(charges).bind(day).execute(&pool).await.unwrap();
    let refusals = "insert into refusals (at, user_id, token_id, gateway_id, call, reason, model, suppressed) \
                    select $1 + n, 1, n % 100, 1, 'verify', 'token_expired', '', 0 from generate_series(0, 20000) n";
    sqlx::query(refusals).bind(day).execute(&pool).await.unwrap();
    let mut conn = service_connection(&url(&pool)).await;
    let window = Window { from: UnixTime::new(day), to: UnixTime::new(day + 60) };
    // The index is summarised by autovacuum, or now.
    sqlx::query("vacuum charges").execute(&pool).await.unwrap();
    let (newest, filter) = (Position::NEWEST, RequestFilter::of(&OutcomeKind::ALL));
    let read_all = async |conn: &mut PoolConnection<Postgres>, scope: Scope| {
        let refused = request_history::count(conn, OutcomeKind::Refused, scope, window, None, 1_000).await.unwrap();
        let charged = request_history::count(conn, OutcomeKind::Charged, scope, window, None, 1_000).await.unwrap();
        let list = request_history::list_charges(conn, scope, window, newest, &filter, 10).await.unwrap();
        request_history::list_refusals(conn, scope, window, newest, &filter, 10).await.unwrap();
        request_history::list_imported(conn, scope, window, newest, &filter, 10).await.unwrap();
        (refused, charged, list.len())
    };
    let count_charges = ("select 1 from charges", "1000, 'charged', null, null");
    let more = "9000000000, 1, null, null, null, null, null, 10";
    let list_charges = ("select * from charges where at between", more);
    let list_refusals = ("select * from refusals where at between", &*format!("{more}, null, null"));
    let list_imported = ("select * from requests_imported where at between", more);
    let seconds = format!("{day}, {}", day + 60);

    // The plan for one user or token is kept, and finds the newest rows of each token in order.
    assert_eq!(read_all(&mut conn, Scope::Token(TokenId::new(1))).await, (1, 244, 10));
    for ((statement, more), indexes) in [
        (count_charges, &["_token_id_at_idx", "tokens_by_user"][..]),
        (list_charges, &["_token_id_at_idx", "tokens_by_user"]),
        (list_refusals, &["refusals_rest_token_id_at_idx", "tokens_by_user"]),
        (list_imported, &["requests_imported_of_token", "requests_imported_of_user"]),
    ] {
        let plan = plan(&mut conn, statement, &format!("{seconds}, null, 1, {more}")).await;
        for index in indexes {
            assert!(plan.contains(index), "{index}: {plan}");
        }
        for forbidden in ["Hash Join", "Merge Join"] {
            assert!(!plan.contains(forbidden), "{plan}");
        }
    }

    // That of all users is made for each of their transactions, from the same statement.
    sqlx::query("begin").execute(&mut *conn).await.unwrap();
    request_history::use_index_of_time(&mut conn, Scope::Everyone).await.unwrap();
    assert_eq!(read_all(&mut conn, Scope::Everyone).await, (61, 244, 10));
    for ((statement, more), index) in [
        (count_charges, "_by_time"),
        (list_charges, "_by_time"),
        (list_refusals, "refusals_rest_at_id_idx"),
        (list_imported, "requests_imported_by_time"),
    ] {
        let plan = plan(&mut conn, statement, &format!("{seconds}, null, null, {more}")).await;
        assert!(plan.contains(index) && !plan.contains("Seq Scan"), "{index}: {plan}");
    }
}

/// Charges that were their holds are few, and found by an index of them alone.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn charges_that_were_their_holds_are_found_by_their_index(pool: PgPool) {
    let day = START - START % 86_400 + 9 * 86_400;
    sqlx::query("select make_charges_partition($1)").bind(day).execute(&pool).await.unwrap();
    let charges = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, \
                   completion_tokens, hold_reason) \
                   select $1 + n / 4, 1, 1, 'o1', 1, 0, 0, 0, case when n % 1000 = 0 then 'no_input' end \
                   from generate_series(0, 200000) n";
    sqlx::query(charges).bind(day).execute(&pool).await.unwrap();
    sqlx::query("vacuum analyze charges").execute(&pool).await.unwrap();
    let mut conn = service_connection(&url(&pool)).await;
    let found = held_charges::list_recent(&mut conn, UnixTime::new(day + 40_000)).await.unwrap();
    assert_eq!(found.iter().map(|held| held.requests).collect::<Vec<_>>(), [41]);
    let plan = plan(&mut conn, "hold_reason is not null", &format!("{}, 20000, 20", day + 40_000)).await;
    assert!(plan.contains("_held") && !plan.contains("by_time"), "{plan}");
}

/// An id is looked up in the index of each day that has one. No row of another day is read.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_request_of_an_ended_day_is_found_by_the_index_of_its_day(pool: PgPool) {
    let day = START - START % 86_400;
    for number in 0..3 {
        sqlx::query("select make_charges_partition($1)").bind(day + number * 86_400).execute(&pool).await.unwrap();
    }
    let charges = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, \
                   completion_tokens, request_id) \
                   select $1 + d * 86400 + n, n % 10, 1, 'o1', 1, 0, 0, 0, d || '-' || n \
                   from generate_series(0, 2) d, generate_series(0, 20000) n";
    sqlx::query(charges).bind(day).execute(&pool).await.unwrap();
    for name in ["charges_20260310", "charges_20260312"] {
        let index = format!("create index concurrently {name}_by_request on {name} using hash (request_id)");
        sqlx::query(AssertSqlSafe(index)).execute(&pool).await.unwrap();
    }
    let mut conn = service_connection(&url(&pool)).await;
    let days = request_lookup::list_indexed_days(&mut conn).await.unwrap();
    assert_eq!(days, [day, day + 2 * 86_400].map(UnixTime::new));
    let windows = windows_of(&days);
    for (id, expected) in [("2-7", 1), ("1-7", 0)] {
        let found = request_lookup::list_indexed(&mut conn, Scope::Everyone, &windows, id).await.unwrap();
        assert_eq!(found.len(), expected, "{id}");
    }
    let seconds = |of: fn(&Window) -> UnixTime| {
        let seconds: Vec<_> = windows.iter().map(|window| of(window).get().to_string()).collect();
        format!("'{{{}}}'", seconds.join(","))
    };
    let arguments = format!("{}, {}, '2-7', null, null", seconds(|window| window.from), seconds(|window| window.to));
    let found = plan(&mut conn, "as w (first, last)", &arguments).await;
    for index in ["charges_20260310_by_request", "charges_20260312_by_request"] {
        assert_uses(&found, index);
    }
    assert!(found.contains("Index Cond: (request_id = $3)"), "{found}");

    request_lookup::list_recorded(&mut conn, Scope::Everyone, "2-7").await.unwrap();
    let recorded = plan(&mut conn, "from gateways g", "'2-7', null, null").await;
    for index in ["idempotency_records_pkey", "charges_20260312_token_id_at_idx", "tokens_by_user"] {
        assert_uses(&recorded, index);
    }
}
