//! The sums of past days and months that reports read: the same numbers as without them, whatever interrupts the job,
//! and no charge is missed at midnight.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{join, join_all};
use keymeter::domain::clock::SystemClock;
use keymeter::domain::id::UserId;
use keymeter::domain::time::{Day, UnixTime};
use keymeter::service::jobs::Jobs;
use keymeter::storage::{StorageError, consistency, ledger, usage_rollup};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::asks;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::wait::eventually;
use crate::harness::{Caller, Cluster, PLENTY, START, Servers, TestApp};
use crate::jobs::jobs_on;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// Runs the jobs as of a time, and cuts them off at a random point.
async fn run_interrupted(jobs: &Jobs, now: i64, rng: &mut StdRng) {
    let patience = Duration::from_micros(rng.random_range(500..60_000));
    let _ = tokio::time::timeout(patience, jobs.run_as_of(UnixTime::new(now))).await;
}

/// Runs the jobs until the sums have all days before this one.
async fn finish(pool: &PgPool, jobs: &Jobs, now: i64, until: &str) {
    eventually("all days are added up", async || {
        jobs.run_as_of(UnixTime::new(now)).await.unwrap();
        rolled_until(pool).await == until
    })
    .await;
}

/// The first day whose sums are not there yet.
async fn rolled_until(pool: &PgPool) -> String {
    sqlx::query_scalar("select rolled_until::text from usage_rollup").fetch_one(pool).await.unwrap()
}

async fn assert_the_sums_are_right(pool: &PgPool) {
    let conn = &mut *pool.acquire().await.unwrap();
    assert_eq!(consistency::list_rollup_violations(conn, 0, i64::MAX).await.unwrap(), []);
    assert_eq!(consistency::list_rollup_violations_of_everyone(conn).await.unwrap(), []);
}

/// Every report that the sums may answer, of a user and of all users.
async fn reports(user: &Caller, admin: &Caller) -> Vec<Value> {
    let mut all = Vec::new();
    for span in ["from=2025-12-01&to=2026-03-10", "from=2026-01-01&to=2026-02-28", "from=2026-01-07&to=2026-01-19"] {
        for by in [
            "day",
            "month",
            "model",
            "day,model",
            "month,model",
            "token",
            "token,model",
            "group,model",
            "month,token",
            "day,token",
        ] {
            all.push(user.get(&format!("/api/usage?{span}&group_by={by}")).await.ok());
            all.push(admin.get(&format!("/api/admin/usage?{span}&group_by={by}")).await.ok());
        }
        for by in ["user", "day,user", "month,user,model", "gateway", "day,gateway", "user,month,gateway,model"] {
            all.push(admin.get(&format!("/api/admin/usage?{span}&group_by={by}")).await.ok());
        }
        let of_user = format!("/api/admin/usage?{span}&group_by=gateway,model&user_id={}", user.id);
        all.push(admin.get(&of_user).await.ok());
    }
    all
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn reports_have_the_same_numbers_before_and_after_days_are_added_up(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let admin = app.admin("carla").await;
    let mut rng = StdRng::seed_from_u64(7);
    let mut users = Vec::new();
    for name in ["ana", "ben", "cyd"] {
        let user = app.enabled_user(name).await;
        let mut tokens = Vec::new();
        for token in ["one", "two", "three"] {
            tokens.push(user.creates(json!({ "name": token })).await);
        }
        users.push((user, tokens));
    }
    let mut two = Vec::new();
    for name in ["one", "two"] {
        let gateway = app.root().await.post("/api/admin/gateways", json!({ "name": name })).await.ok();
        two.push(gateway["id"].as_i64().unwrap());
    }
    for _ in 0..400 {
        let (user, tokens) = &users[rng.random_range(0..users.len())];
        let token = tokens[rng.random_range(0..tokens.len())];
        let (days, model) = (rng.random_range(0..96), ["", "o1", "o2"][rng.random_range(0..3)]);
        let quota = rng.random_range(0..1_000_i64);
        if rng.random_bool(0.3) {
            let insert = "insert into usage_imported (token_id, user_id, day, model, quota, requests, prompt_tokens, \
                          completion_tokens) values ($1, $2, '2025-12-05'::date + $3, $4, $5, 3, 4, 9223372036854775807) \
                          on conflict do nothing";
            let insert = sqlx::query(insert).bind(token).bind(user.id).bind(days).bind(model).bind(quota);
            insert.execute(&app.pool).await.unwrap();
            continue;
        }
        // As a batch writes it. A charge may be made some hours from its day, and without a gateway.
        let gateway = [None, Some(two[0]), Some(two[1])][rng.random_range(0..3)];
        let charge = "with charged as ( \
                        insert into charges (at, gateway_id, token_id, user_id, day, model, quota, shortfall, prompt_tokens, \
                          completion_tokens) \
                        select extract(epoch from '2025-12-05'::date + $3)::bigint + $7, $6, $1, $2, '2025-12-05'::date + $3, \
                          $4, $5, 0, 4, 5 \
                        returning *) \
                      insert into usage_daily as d (token_id, user_id, day, model, quota, requests, prompt_tokens, \
                        completion_tokens) \
                      select token_id, user_id, day, model, quota, 1, 4, 5 from charged \
                      on conflict (token_id, day, model) do update set quota = d.quota + excluded.quota, \
                        requests = d.requests + 1, prompt_tokens = d.prompt_tokens + 4, completion_tokens = d.completion_tokens + 5";
        let charge = sqlx::query(charge).bind(token).bind(user.id).bind(days).bind(model).bind(quota).bind(gateway);
        let charge = charge.bind(rng.random_range(-10 * HOUR..DAY + 10 * HOUR));
        charge.execute(&app.pool).await.unwrap();
    }
    let last_days =
        "update users u set period_day = coalesce((select max(day) from usage_daily where user_id = u.id), period_day)";
    sqlx::query(last_days).execute(&app.pool).await.unwrap();
    let ana = &users[0].0;
    let expected = reports(ana, &admin).await;

    let jobs = jobs_on(&app.pool, app.clock.clone(), 10_000);
    for (days_ago, hour, until) in
        [(60, 12, "2026-01-09"), (37, 1, "2026-01-31"), (37, 2, "2026-02-01"), (0, 12, "2026-03-10")]
    {
        let noon = START - days_ago * DAY;
        let now = noon - 12 * HOUR + hour * HOUR - 1;
        for _ in 0..20 {
            run_interrupted(&jobs, now, &mut rng).await;
        }
        finish(&app.pool, &jobs, now, until).await;
        assert_the_sums_are_right(&app.pool).await;
        assert_eq!(reports(ana, &admin).await, expected, "{until}");
    }
    // They stay when charges are deleted for their age, also by gateway. What was deleted before is of no gateway.
    let by_gateway = async || admin.get("/api/admin/usage?from=2025-12-05&to=2026-03-09&group_by=gateway").await.ok();
    let (before, deleted) = (by_gateway().await, sqlx::query("delete from charges").execute(&app.pool).await.unwrap());
    assert!(deleted.rows_affected() > 200);
    let names: Vec<_> = before["rows"].as_array().unwrap().iter().map(|row| row["gateway_name"].clone()).collect();
    assert!(names.contains(&json!("one")) && names.contains(&json!("two")) && names.contains(&json!("")), "{names:?}");
    assert_eq!(by_gateway().await, before);
    let mut tx = app.pool.begin().await.unwrap();
    usage_rollup::reopen_days(&mut tx, Day::parse("2025-12-05").unwrap()).await.unwrap();
    tx.commit().await.unwrap();
    finish(&app.pool, &jobs, START, "2026-03-10").await;
    assert_the_sums_are_right(&app.pool).await;
    let without = by_gateway().await;
    assert_eq!(without["total"], before["total"]);
    assert_eq!(without["rows"].as_array().unwrap().len(), 1);
    assert_eq!((&without["rows"][0]["gateway_id"], &without["rows"][0]["gateway_name"]), (&Value::Null, &json!("")));
    // And reports do read them.
    for table in ["usage_by_model", "usage_by_month"] {
        let done = sqlx::query(sqlx::AssertSqlSafe(format!("delete from {table}"))).execute(&app.pool).await.unwrap();
        assert!(done.rows_affected() > 0, "{table}");
    }
    let without = reports(ana, &admin).await;
    assert_eq!(
        without.iter().zip(&expected).filter(|(without, with)| without == with).count(),
        14,
        "by token or group within a month, or by token and day"
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_charge_counts_in_no_day_that_is_closed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 100).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
    let mut tx = app.pool.begin().await.unwrap();
    usage_rollup::close_days(&mut tx, Day::parse("2026-03-11").unwrap()).await.unwrap();
    tx.commit().await.unwrap();
    asks(&gateway, "charge", &json!({ "key": key, "quota": 2 })).await.ok();
    let reservation = asks(&gateway, "reserve", &json!({ "key": key, "quota": 9 })).await.ok();
    let id = &reservation["reservation_id"];
    asks(&gateway, "settle", &json!({ "reservation_id": id, "quota": 4 })).await.ok();
    let days = "select day::text, quota from charges order by quota";
    let days: Vec<(String, i64)> = sqlx::query_as(days).fetch_all(&app.pool).await.unwrap();
    let expected = [("2026-03-10", 1), ("2026-03-11", 2), ("2026-03-11", 4)];
    assert_eq!(days, expected.map(|(day, quota)| (day.to_owned(), quota)));
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_day_is_closed_only_between_batches(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 100).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let owner = [UserId::new(ana.id)];
    // A batch that holds a wallet has read which days are closed, so none is closed until it ends.
    let mut batch = app.pool.begin().await.unwrap();
    let locked = ledger::lock_wallets(&mut batch, &owner).await.unwrap();
    assert_eq!(locked[0].usage_closed_until.to_string(), "0001-01-01");
    let tomorrow = Day::parse("2026-03-11").unwrap();
    let mut closing = app.pool.begin().await.unwrap();
    let refused = usage_rollup::close_days(&mut closing, tomorrow).await;
    assert!(matches!(refused, Err(StorageError::Blocked(_))), "{refused:?}");
    closing.rollback().await.unwrap();
    batch.rollback().await.unwrap();
    // A batch that begins while days are being closed waits, and finds them closed; also one that waits for no wallet.
    for skips in [false, true] {
        let mut closing = app.pool.begin().await.unwrap();
        usage_rollup::close_days(&mut closing, tomorrow).await.unwrap();
        let (pool, gateway, key) = (app.pool.clone(), gateway.clone(), key.clone());
        let waiting = tokio::spawn(async move {
            if skips {
                let mut batch = pool.begin().await.unwrap();
                let locked = ledger::lock_free_wallets(&mut batch, &owner).await.unwrap();
                assert_eq!(locked[0].usage_closed_until, tomorrow);
            } else {
                asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
            }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!waiting.is_finished(), "{skips}");
        closing.commit().await.unwrap();
        waiting.await.unwrap();
    }
    let days: Vec<String> = sqlx::query_scalar("select day::text from charges").fetch_all(&app.pool).await.unwrap();
    assert_eq!(days, ["2026-03-11"]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn days_that_a_clock_ahead_has_closed_are_opened_unless_the_clock_is_behind_now(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let closed = async |until: &str| {
        let closed = "update usage_rollup set closed_until = $1::text::date, rolled_until = $1::text::date";
        sqlx::query(closed).bind(until).execute(&app.pool).await.unwrap();
        sqlx::query("delete from usage_by_model").execute(&app.pool).await.unwrap();
    };
    let sums_of = async |days: i32| {
        let sums = "insert into usage_by_model select '2026-03-08'::date + n, '', 0, 1, 1, 1, 1, 0 from generate_series(1, $1) n";
        sqlx::query(sums).bind(days).execute(&app.pool).await.unwrap();
    };
    let state = async || -> (String, i64) {
        let state = "select closed_until::text, (select count(*) from usage_by_model) from usage_rollup";
        sqlx::query_as(state).fetch_one(&app.pool).await.unwrap()
    };
    // Today is 2026-03-10. A day too early, then days far ahead: a charge may have counted yesterday meanwhile.
    for (until, left) in
        [("2026-03-10", ("2026-03-10", 3)), ("2026-03-11", ("2026-03-10", 1)), ("2026-03-20", ("2026-03-09", 0))]
    {
        closed(until).await;
        sums_of(3).await;
        app.repair_all().await;
        assert_eq!(state().await, (left.0.to_owned(), left.1), "{until}");
    }
    // Usage of 32 days from today on: the clock is behind. More users than are looked for at once are ahead of it.
    closed("2026-05-01").await;
    sums_of(33).await;
    let users = "insert into users (username, username_folded, display_name, email, password_hash, role, status, group_name, \
                   quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton, period_day) \
                 select 'u' || n, 'u' || n, '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('u' || n, 'u' || n, '[]'), \
                   '2026-05-01' from generate_series(1, 101) n";
    sqlx::query(users).execute(&app.pool).await.unwrap();
    sqlx::query("update users set period_day = '2026-05-01' where id = $1")
        .bind(ana.id)
        .execute(&app.pool)
        .await
        .unwrap();
    app.repair_all().await;
    assert_eq!(state().await, ("2026-05-01".to_owned(), 33));
    let ahead = "select count(*) from users where period_day = '2026-05-01'";
    assert_eq!(sqlx::query_scalar::<_, i64>(ahead).fetch_one(&app.pool).await.unwrap(), 102);
}

#[tokio::test]
async fn no_charge_is_missed_while_days_are_closed_on_three_servers_or_the_clock_was_ahead() {
    let cluster = Cluster::with_movable_clock();
    let servers = Servers::start(&cluster.url(), 3, &[]).await;
    let pool = servers.pool().await;
    let mut keys = Vec::new();
    for name in ["ana", "ben", "cyd"] {
        let owner = servers.owner(name, PLENTY).await;
        for _ in 0..3 {
            keys.push(owner.unlimited_key().await);
        }
    }
    let gateways = [0, 1, 2].map(|server| servers.gateway(server));
    let jobs = jobs_on(&pool, Arc::new(SystemClock), 10_000);
    let now = async || {
        sqlx::query_scalar::<_, i64>("select extract(epoch from clock_timestamp())::bigint")
            .fetch_one(&pool)
            .await
            .unwrap()
    };
    // Charges without a pause while the jobs close every day as soon as it has ended, not an hour later.
    let charge_until = async |end: i64| {
        let stop = AtomicBool::new(false);
        let clients = gateways.iter().flat_map(|gateway| keys.iter().map(move |key| (gateway, key)));
        let charging = join_all(clients.enumerate().map(async |(nth, (gateway, key))| {
            while !stop.load(Ordering::SeqCst) {
                let model = ["", "o1", "o2"][nth % 3];
                let charge = json!({ "key": key, "quota": 1, "model": model, "prompt_tokens": 2 });
                gateway.post("/api/gateway/charge", charge).await.ok();
            }
        }));
        let closing = async {
            let mut rng = StdRng::seed_from_u64(11);
            while now().await < end {
                run_interrupted(&jobs, now().await + HOUR, &mut rng).await;
                jobs.run_as_of(UnixTime::new(now().await + HOUR)).await.unwrap();
            }
            stop.store(true, Ordering::SeqCst);
        };
        join(charging, closing).await;
    };

    let day = |at: i64| UnixTime::new(at).day_in(chrono_tz::Tz::UTC).to_string();
    let to_midnight = DAY - now().await.rem_euclid(DAY);
    let nearly = format!("+{}", to_midnight - 3);
    cluster.set_clock(&nearly);
    let midnight = now().await / DAY * DAY + DAY;
    charge_until(midnight + 3).await;
    let closed = "select closed_until::text from usage_rollup";
    let closed: String = sqlx::query_scalar(closed).fetch_one(&pool).await.unwrap();
    assert_eq!(closed, day(midnight), "closed while charges went on");
    finish(&pool, &jobs, now().await + HOUR, &day(midnight)).await;
    let days = "select count(distinct day) from usage_daily";
    assert_eq!(sqlx::query_scalar::<_, i64>(days).fetch_one(&pool).await.unwrap(), 2, "charges of both days");
    assert_the_sums_are_right(&pool).await;
    assert_ledger_invariants(&pool).await;

    // Days of the future are closed and added up, until the clock is right again.
    cluster.set_clock(&format!("+{}", to_midnight + 4 * DAY));
    charge_until(midnight + 4 * DAY + 5).await;
    finish(&pool, &jobs, now().await + HOUR, &day(midnight + 4 * DAY)).await;
    cluster.set_clock(&format!("+{to_midnight}"));
    charge_until(now().await + 3).await;
    eventually("no usage is of the future", async || {
        let ahead = "select count(*) from users where period_day > (clock_timestamp() at time zone 'UTC')::date + 1";
        sqlx::query_scalar::<_, i64>(ahead).fetch_one(&pool).await.unwrap() == 0
    })
    .await;
    finish(&pool, &jobs, now().await + HOUR, &day(midnight)).await;
    assert_the_sums_are_right(&pool).await;
    assert_ledger_invariants(&pool).await;
}
