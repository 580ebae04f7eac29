//! `keymeter doctor` checks the invariants of the ledger and names each row that violates one.

use std::process::Command;

use serde_json::json;
use sqlx::PgPool;

use crate::harness::database::record_first_start;
use crate::harness::process::run;
use crate::harness::wait::eventually;
use crate::harness::{Cluster, MASTER_KEY, START, Server, TestApp, process};

fn doctor(pool: &PgPool) -> (bool, String) {
    process::doctor(pool, &[])
}

/// A database with charges, an open reservation and a deleted token.
async fn ledger(pool: &PgPool) -> i64 {
    let app = TestApp::new(pool.clone()).await;
    record_first_start(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    let (deleted, deleted_key) = ana.creates_with_key(json!({ "name": "two", "unlimited_quota": true })).await;
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 100, "model": "m" })).await.ok();
    gateway.post("/api/gateway/charge", json!({ "key": deleted_key, "quota": 30 })).await.ok();
    gateway.post("/api/gateway/reserve", json!({ "key": key, "quota": 50 })).await.ok();
    ana.delete(&format!("/api/token/{deleted}")).await.ok();
    id
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_correct_ledger_is_reported_as_correct(pool: PgPool) {
    ledger(&pool).await;
    let (is_correct, report) = doctor(&pool);
    assert!(is_correct, "{report}");
    assert!(report.contains("ok     ledger: L1, L3, L5, L9 and L10 hold for every token and every wallet"), "{report}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_counts_what_was_used_before_an_import(pool: PgPool) {
    let id = ledger(&pool).await;
    // The account had used more than its tokens that are still there.
    let opening = [
        "update tokens set opening_used = 40, used_quota = used_quota + 40",
        "update users set opening_used = 1000, \
         used_quota = used_quota + 1000 where username = 'ana'",
    ];
    for sql in opening {
        sqlx::query(sql).execute(&pool).await.unwrap();
    }
    let (is_correct, report) = doctor(&pool);
    assert!(is_correct, "{report}");
    crate::harness::ledger_invariants::assert_ledger_invariants(&pool).await;
    sqlx::query("update tokens set opening_used = 41").execute(&pool).await.unwrap();
    let (is_correct, report) = doctor(&pool);
    let token = format!("L3: token {id} has used 190, but its charges and open reservations are 191");
    let wallet = "L3: the wallet of user 2 has used 1180, but its tokens have used 1178";
    assert!(!is_correct && report.contains(&token) && report.contains(wallet), "{report}");
    assert_eq!(crate::harness::ledger_invariants::violations(&pool).await.unwrap().len(), 1);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_row_that_violates_an_invariant_is_named(pool: PgPool) {
    let id = ledger(&pool).await;
    let table = [
        (
            format!("update tokens set used_quota = used_quota + 1 where id = {id}"),
            format!("L3: token {id} has used 151, but its charges and open reservations are 150"),
        ),
        (
            "update users set used_quota = 7 where username = 'ana'".to_owned(),
            "L3: the wallet of user 2 has used 7, but its tokens have used 181".to_owned(),
        ),
        (
            format!("update tokens set open_reservations = 2 where id = {id}"),
            format!("L9: token {id} counts 2 as held or as used in a period, but its reservations or charges are 1"),
        ),
        (
            format!("update tokens set open_reservations = 1, month_used = 99 where id = {id}"),
            format!("L9: token {id} counts 99 as held or as used in a period, but its reservations or charges are 100"),
        ),
        (
            "update users set week_used = 131 where username = 'ana'".to_owned(),
            "L9: the wallet of user 2 counts 131 as held or as used in a period, but its tokens have 130".to_owned(),
        ),
        (
            format!("delete from charges where token_id = {id}"),
            format!("L5: token {id} spent 100 on 2026-03-10, but its charges of that day are 0"),
        ),
    ];
    for (damage, finding) in table {
        sqlx::query(sqlx::AssertSqlSafe(damage)).execute(&pool).await.unwrap();
        let (is_correct, report) = doctor(&pool);
        assert!(!is_correct && report.contains(&format!("WRONG  ledger: {finding}")), "{report}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn rows_with_the_wrong_user_are_named(pool: PgPool) {
    let id = ledger(&pool).await;
    let day = format!("L5: token {id} spent 100 on 2026-03-10, but its charges of that day are 0");
    let table = [
        (
            "usage_daily",
            vec![
                format!("L3: token {id} has used 150, but its charges and open reservations are 50"),
                format!(
                    "L9: token {id} counts 100 as held or as used in a period, but its reservations or charges are 0"
                ),
                "L9: the wallet of user 2 counts 130 as held or as used in a period, but its tokens have 30".to_owned(),
                day.clone(),
            ],
        ),
        (
            "reservations",
            vec![
                format!("L3: token {id} has used 150, but its charges and open reservations are 100"),
                format!(
                    "L9: token {id} counts 50 as held or as used in a period, but its reservations or charges are 0"
                ),
            ],
        ),
        ("charges", vec![day]),
    ];
    for (name, findings) in table {
        let set_user = async |user: &str| {
            let update = format!("update {name} set user_id = {user} where token_id = {id}");
            sqlx::query(sqlx::AssertSqlSafe(update)).execute(&pool).await.unwrap();
        };
        set_user("1").await;
        let (is_correct, report) = doctor(&pool);
        let named = findings.iter().all(|finding| report.contains(&format!("WRONG  ledger: {finding}")));
        assert!(!is_correct && named, "{name}: {report}");
        assert_eq!(
            report.matches("WRONG").count(),
            findings.len() + usize::from(name != "reservations"),
            "{name}: {report}"
        );
        set_user("2").await;
        let (is_correct, report) = doctor(&pool);
        assert!(is_correct, "{name}: {report}");
    }
}

/// No foreign key forbids it.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_reservation_of_a_token_that_does_not_exist_is_noticed(pool: PgPool) {
    let id = ledger(&pool).await;
    sqlx::query("update reservations set token_id = 999").execute(&pool).await.unwrap();
    let (is_correct, report) = doctor(&pool);
    let finding = format!("L3: token {id} has used 150, but its charges and open reservations are 100");
    assert!(!is_correct && report.contains(&format!("WRONG  ledger: {finding}")), "{report}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn days_whose_charges_are_past_their_retention_time_are_not_reported(pool: PgPool) {
    let id = ledger(&pool).await;
    // One old charge in no partition, as a server with a wrong clock leaves it, and one in a partition that is dropped.
    let day = START - START % 86_400;
    let (ancient, old) = (day - 200 * 86_400, day - 100 * 86_400);
    sqlx::query("select make_charges_partition($1)").bind(old).execute(&pool).await.unwrap();
    for at in [ancient, old] {
        for sql in [
            "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
             select $1, id, user_id, '', 5, 0, 0, 0 from tokens where id = $2",
            "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
             select id, user_id, to_timestamp($1)::date, '', 5, 1, 0, 0 from tokens where id = $2",
            "update tokens set used_quota = used_quota + 5 + 0 * $1 where id = $2",
            "update users set used_quota = used_quota + 5 + 0 * $1 where id = (select user_id from tokens where id = $2)",
        ] {
            sqlx::query(sql).bind(at).bind(id).execute(&pool).await.unwrap();
        }
    }
    let (is_correct, report) = doctor(&pool);
    assert!(is_correct, "{report}");
    let dropped: bool = sqlx::query_scalar("select drop_oldest_charges_partition($1)")
        .bind(day - 90 * 86_400)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(dropped);
    let (is_correct, report) = doctor(&pool);
    assert!(is_correct, "{report}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn sums_for_reports_that_are_not_those_of_the_charges_are_named(pool: PgPool) {
    ledger(&pool).await;
    for sql in [
        "update usage_rollup set closed_until = '2026-04-01', rolled_until = '2026-04-01'",
        "insert into usage_by_model select day, model, user_id, quota, requests, prompt_tokens, completion_tokens, 0 \
         from usage_daily",
        "insert into usage_by_model select day, model, 0, quota, requests, prompt_tokens, completion_tokens, 0 \
         from usage_by_model",
        "insert into usage_by_month select token_id, '2026-03-01', model, user_id, quota, requests, prompt_tokens, \
         completion_tokens from usage_daily",
    ] {
        sqlx::query(sql).execute(&pool).await.unwrap();
    }
    let (is_correct, report) = doctor(&pool);
    assert!(is_correct, "{report}");
    assert!(
        report.contains("ok     reports: the sums of past days and months are those of the daily usage"),
        "{report}"
    );

    let id: i64 = sqlx::query_scalar("select id from users where username = 'ana'").fetch_one(&pool).await.unwrap();
    for (change, whose, day) in [
        (
            "update usage_by_model set quota = 101 where model = 'm' and user_id = 0",
            "everyone".to_owned(),
            "2026-03-10",
        ),
        ("update usage_by_model set quota = 101 where model = 'm'", format!("user {id}"), "2026-03-10"),
        ("update usage_by_month set quota = 101 where model = 'm'", format!("user {id}"), "2026-03-01"),
    ] {
        sqlx::query(change).execute(&pool).await.unwrap();
        let (is_correct, report) = doctor(&pool);
        assert!(!is_correct, "{change}");
        let expected = format!(
            "the sum of {whose} for the day or the month from {day} on is 101 with a model, but what was used is 100"
        );
        assert!(report.contains(&expected), "{change}: {report}");
    }
}

#[tokio::test]
async fn settings_of_postgresql_that_lose_answers_are_named() {
    let cluster = Cluster::start();
    let dir = tempfile::tempdir().unwrap();
    let url = cluster.url();
    let settings = [("DATABASE_URL", &*url), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    Server::start(dir.path(), &settings).await.terminate();
    let doctor = |settings: &[(&str, &str)]| {
        let output = run(dir.path(), settings, &["doctor"]);
        assert!(output.status.success(), "notes are no errors");
        String::from_utf8(output.stdout).unwrap()
    };
    let parts = [
        "commits wait for none of its standbys (1)",
        "`full_page_writes` is off",
        "it allows 97 connections, and each server needs up to 202",
        "ok     backup: the newest one that is known is 0 hours old",
        "note   address: requests come through a proxy",
    ];
    let clean = doctor(&settings);
    assert!(!parts.iter().any(|part| clean.contains(part)), "{clean}");
    assert!(clean.contains("note   backup: none is known; make one with `keymeter backup`"), "{clean}");
    let pool = PgPool::connect(&url).await.unwrap();
    sqlx::query("alter system set full_page_writes = off").execute(&pool).await.unwrap();
    sqlx::query("select pg_reload_conf()").execute(&pool).await.unwrap();
    let (log, port) = (tempfile::tempdir().unwrap(), pool.connect_options().get_port().to_string());
    let mut standby = Command::new(cluster.program("pg_receivewal"));
    standby.arg("-D").arg(log.path()).args(["-h", "127.0.0.1", "-U", "postgres", "-p", &port]);
    let mut standby = standby.spawn().unwrap();
    eventually("it is connected and the setting is in force", async || {
        let state = "select count(*) = 1 and current_setting('full_page_writes') = 'off' from pg_stat_replication";
        sqlx::query_scalar::<_, bool>(state).fetch_one(&pool).await.unwrap()
    })
    .await;
    let backup = "update installation set backup_time = extract(epoch from now())";
    sqlx::query(backup).execute(&pool).await.unwrap();
    let more = [("KEYMETER_DATABASE__CONNECTIONS", "200"), ("KEYMETER_SERVER__TRUSTED_PROXIES", "10.0.0.0/8")];
    let said = doctor(&[&settings[..], &more].concat());
    standby.kill().unwrap();
    standby.wait().unwrap();
    for part in parts {
        assert!(said.contains(part), "{said}");
    }
}
