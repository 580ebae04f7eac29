//! What all servers are doing: they find each other, compare their settings, prove the ledger and say it to
//! administrators.

use keymeter::domain::clock::Clock;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::database::url;
use crate::harness::wait::eventually;
use crate::harness::{Client, MASTER_KEY, PLENTY, Server, Servers, TestApp};
use crate::jobs::jobs_on;

async fn system(root: &Client) -> Value {
    root.get("/api/admin/system").await.ok()
}

fn names(report: &Value) -> Vec<&str> {
    report["servers"].as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap()).collect()
}

#[sqlx::test(migrations = false)]
async fn servers_see_each_other_and_the_settings_in_which_they_differ(pool: PgPool) {
    let database = url(&pool);
    let start = async |name: &str, limit: &str| {
        let settings = [
            ("DATABASE_URL", database.as_str()),
            ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
            ("KEYMETER_SERVER__NAME", name),
            ("KEYMETER_LIMITS__USAGE_PER_MINUTE", limit),
            ("KEYMETER_SERVER__STOP_DELAY_SECONDS", "0"),
        ];
        let dir = tempfile::tempdir().unwrap();
        (Server::start(dir.path(), &settings).await, dir)
    };
    let (first, _first_dir) = start("east", "30").await;
    let (mut second, _second_dir) = start("west", "31").await;
    let root = Client::root(&first).await;
    eventually("both are seen", async || names(&system(&root).await) == ["east", "west"]).await;
    let report = system(&root).await;
    let servers = report["servers"].as_array().unwrap();
    assert_eq!(report["server"]["name"], "east");
    assert_eq!(report["server"]["id"], servers[0]["id"]);
    assert!(servers.iter().all(|server| server["running"] == true && server["newest_migration"].as_i64() >= Some(29)));
    let values = json!([
        { "server_id": servers[0]["id"], "value": "30" },
        { "server_id": servers[1]["id"], "value": "31" }
    ]);
    assert_eq!(report["differing_settings"], json!([{ "name": "limits.usage_per_minute", "values": values }]));
    let metrics = Client::stranger(&second).get("/metrics").await.text;
    assert!(metrics.contains(r#"server="west""#), "{metrics}");

    assert_eq!(second.terminate(), Some(0));
    eventually("the one that stopped is gone", async || names(&system(&root).await) == ["east"]).await;
    assert_eq!(system(&root).await["differing_settings"], json!([]));
    let text: String =
        sqlx::query_scalar("select string_agg(s::text, '') from servers s").fetch_one(&pool).await.unwrap();
    assert!(!text.contains(&database) && !text.contains(MASTER_KEY), "{text}");
}

#[sqlx::test(migrations = false)]
async fn servers_that_were_not_seen_for_an_hour_are_forgotten(pool: PgPool) {
    let servers = Servers::start(&url(&pool), 1, &[]).await;
    eventually("it is seen", async || names(&system(&servers.root).await).len() == 1).await;
    let insert = async |name: &str, seconds: i32| {
        let sql = "insert into servers values ($1, $1, '1', 1, '{}', 1, extract(epoch from now())::bigint - $2)";
        sqlx::query(sql).bind(name).bind(seconds).execute(&pool).await.unwrap();
    };
    insert("killed", 600).await;
    insert("old", 3_700).await;
    let seen = async || system(&servers.root).await;
    let is_tidy = |report: &Value| names(report).contains(&"killed") && !names(report).contains(&"old");
    eventually("the old one is forgotten", async || is_tidy(&seen().await)).await;
    let report = seen().await;
    let killed = report["servers"].as_array().unwrap().iter().find(|server| server["name"] == "killed").unwrap();
    assert_eq!(killed["running"], false);
}

#[sqlx::test(migrations = false)]
async fn the_figures_are_those_of_the_last_seconds(pool: PgPool) {
    let servers = Servers::start(&url(&pool), 1, &[]).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    for _ in 0..20 {
        gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 3 })).await.ok();
    }
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": PLENTY })).await;
    let recent = system(&servers.root).await["recent"].clone();
    assert_eq!((&recent["operations"]["charge"], &recent["refused"]), (&json!(21), &json!(1)), "{recent}");
    assert_eq!((&recent["quota"], &recent["in_flight"], &recent["queue"]), (&json!(60), &json!(1), &json!(0)));
    assert!(recent["requests"].as_u64() > Some(20) && recent["request"]["p99_us"].as_u64() > Some(0), "{recent}");
    assert!(recent["slowest_step"].is_string() && recent["batches"].as_u64() > Some(0), "{recent}");
    let report = system(&servers.root).await;
    assert_eq!((&report["degraded"], &report["database"]["is_writable"]), (&json!([]), &json!(true)));
    assert!(report["database"]["bytes"].as_i64() > Some(1_000_000), "{report}");
}

/// The violations that the last round found, by invariant.
async fn violations(pool: &PgPool) -> Vec<(String, i64)> {
    let sql = "select name, violations from invariants where violations > 0 order by length(name), name";
    sqlx::query_as(sql).fetch_all(pool).await.unwrap()
}

/// Two steps are a round of a small ledger.
async fn prove(app: &TestApp) {
    let jobs = jobs_on(&app.pool, app.clock.clone(), 90);
    for _ in 0..2 {
        app.clock.advance(60);
        for _ in ["this server", "another one"] {
            jobs.run_as_of(app.clock.now()).await.unwrap();
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_ledger_is_proved_again_and_again(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let first_start = "insert into installation (id, key_check, cell_label, created_time) values (1, '', '00', 1)";
    sqlx::query(first_start).execute(&app.pool).await.unwrap();
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 5 })).await.ok();
    prove(&app).await;
    assert_eq!(violations(&app.pool).await, []);
    let report = app.root().await.get("/api/admin/system").await.ok();
    assert_eq!(report["proof"]["ended_time"], app.clock.now().get());
    let names: Vec<_> = report["proof"]["invariants"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["L3", "L5", "L9", "L10"]);

    for (breaks, mends, expected) in [
        ("update tokens set used_quota = 6", "update tokens set used_quota = 5", &[("L3", 2)][..]),
        (
            "update users set day_used = 6 where day_used = 5",
            "update users set day_used = 5 where day_used = 6",
            &[("L9", 1)],
        ),
        ("update charges set quota = 4", "update charges set quota = 5", &[("L5", 1)]),
    ] {
        sqlx::query(breaks).execute(&app.pool).await.unwrap();
        prove(&app).await;
        let expected: Vec<_> = expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(violations(&app.pool).await, expected, "{breaks}");
        sqlx::query(mends).execute(&app.pool).await.unwrap();
        prove(&app).await;
        assert_eq!(violations(&app.pool).await, [], "{mends}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_with_more_charges_than_a_slice_is_proved_of_its_newest_days(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for name in ["one", "two", "three"] {
        ana.creates_with_key(json!({ "name": name })).await;
    }
    // Of days that have no charges: each is a violation of L5 that is found.
    let day = |token: &str, days_ago: i32, requests: i32| {
        format!(
            "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
             select id, user_id, to_timestamp({now})::date - {days_ago}, 'm', 0, {requests}, 0, 0 \
             from tokens where name = '{token}'",
            now = app.clock.now().get()
        )
    };
    for sql in [
        day("two", 1, 30_000),
        day("two", 2, 30_000),
        day("two", 3, 30_000),
        day("two", 4, 30_000),
        day("three", 1, 100_001),
        day("one", 1, 3),
    ] {
        sqlx::query(AssertSqlSafe(sql)).execute(&app.pool).await.unwrap();
    }
    let jobs = jobs_on(&app.pool, app.clock.clone(), 90);
    let mut found = Vec::new();
    for _ in 0..4 {
        app.clock.advance(60);
        jobs.run_as_of(app.clock.now()).await.unwrap();
        let sql = "select max(greatest(found, violations)) from invariants where name = 'L5'";
        found.push(sqlx::query_scalar::<_, i64>(sql).fetch_one(&app.pool).await.unwrap());
    }
    // The first token, the newest of three days that fit of the second, nothing of the third; then the round ends.
    assert_eq!(found, [1, 2, 2, 2]);
}

#[tokio::test]
async fn a_backup_is_seen() {
    let servers = Servers::start_private(&[]).await;
    assert_eq!(system(&servers.root).await["backup"], Value::Null);
    let to = tempfile::tempdir().unwrap();
    let made = servers.run(&["backup", to.path().join("backup").to_str().unwrap()]);
    assert!(made.status.success(), "{made:?}");
    // A report is shared for a second.
    eventually("the report has it", async || !system(&servers.root).await["backup"].is_null()).await;
    let report = system(&servers.root).await;
    let age = report["time"].as_i64().unwrap() - report["backup"]["time"].as_i64().unwrap();
    assert_eq!(report["backup"]["source"], "keymeter_backup");
    assert!((-5..60).contains(&age), "{report}");
}
