//! The real program under faults of the database and of other servers: a transaction that holds a wallet, a paused
//! server, a row that fails its batch, a read-only database after a failover, tables without statistics, a wrong clock,
//! an encoding without emoji.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use keymeter::storage::{Db, DbOptions, Hosts};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};

use crate::harness::cluster::running_as_root;
use crate::harness::database::url;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::process::{free_port, kill, libfaketime, run};
use crate::harness::proxy::{Proxy, installed_program};
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Cluster, MASTER_KEY, PLENTY, Server, Servers};

/// Servers with a single lane, which all wallets share.
async fn servers(database: &str, count: usize) -> Servers {
    Servers::start(database, count, &[("KEYMETER_LEDGER__LANES", "1")]).await
}

async fn charge(gateway: &Client, key: &str) -> Answer {
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await
}

/// Makes this many charges, which must all succeed.
async fn charge_often(gateway: &Client, key: &str, charges: usize) {
    for _ in 0..charges {
        charge(gateway, key).await.ok();
    }
}

#[sqlx::test(migrations = false)]
async fn a_locked_wallet_does_not_delay_other_wallets(pool: PgPool) {
    let servers = servers(&url(&pool), 1).await;
    let held = servers.owner("held", PLENTY).await;
    let held_key = held.unlimited_key().await;
    let free_key = servers.owner("free", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    charge(&gateway, &held_key).await.ok();
    charge(&gateway, &free_key).await.ok();

    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select 1 from users where id = $1 for update").bind(held.id).execute(&mut *holder).await.unwrap();
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let (gateway, key) = (gateway.clone(), held_key.clone());
            tokio::spawn(async move { charge(&gateway, &key).await })
        })
        .collect();
    charge_often(&gateway, &free_key, 30).await;
    assert!(waiting.iter().all(|charge| !charge.is_finished()), "they wait for their wallet");
    holder.rollback().await.unwrap();
    for charge in join_all(waiting).await {
        charge.unwrap().ok();
    }

    // Charges of a wallet that stays locked are refused after a while and take nothing.
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select 1 from users where id = $1 for update").bind(held.id).execute(&mut *holder).await.unwrap();
    let refused = charge(&gateway, &held_key).await;
    refused.refuses_saying(503, "ledger_busy", "the ledger is busy; retry shortly");
    assert!(refused.header("retry-after").is_some());
    holder.rollback().await.unwrap();
    assert_ledger_invariants(&servers.pool().await).await;
}

#[sqlx::test(migrations = false)]
async fn a_locked_token_does_not_delay_other_tokens(pool: PgPool) {
    let servers = servers(&url(&pool), 1).await;
    let held = servers.owner("held", PLENTY).await;
    let held_key = held.unlimited_key().await;
    let free_key = servers.owner("free", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    let mut holder = pool.begin().await.unwrap();
    let lock = "select 1 from tokens where user_id = $1 for update";
    sqlx::query(lock).bind(held.id).execute(&mut *holder).await.unwrap();
    let waiting = {
        let (gateway, key) = (gateway.clone(), held_key.clone());
        tokio::spawn(async move { charge(&gateway, &key).await })
    };
    charge_often(&gateway, &free_key, 10).await;
    assert!(!waiting.is_finished());
    holder.rollback().await.unwrap();
    waiting.await.unwrap().ok();
    assert_ledger_invariants(&servers.pool().await).await;
}

#[sqlx::test(migrations = false)]
async fn slow_requests_of_users_take_no_connection_from_gateways(pool: PgPool) {
    // Six are reserved, and the jobs have their lock in one.
    let settings = [("KEYMETER_LEDGER__LANES", "1"), ("KEYMETER_DATABASE__CONNECTIONS", "17")];
    let servers = Servers::start(&url(&pool), 1, &settings).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    charge(&gateway, &key).await.ok();
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("lock table enablement_requests in access exclusive mode").execute(&mut *holder).await.unwrap();
    let readers: Vec<_> = (0..64)
        .map(|_| {
            let root = servers.root.clone();
            tokio::spawn(async move {
                loop {
                    root.get("/api/admin/token_api_requests").await.refuses(503, "database_unavailable");
                }
            })
        })
        .collect();
    let waiting =
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    eventually("every connection for users is waiting", async || {
        sqlx::query_scalar::<_, i64>(waiting).fetch_one(&pool).await.unwrap() >= 10
    })
    .await;
    for n in 0..100 {
        charge(&gateway, &key).await.ok();
        let verified = gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok();
        assert_eq!(verified["valid"], json!(true));
        // Longer than the two seconds for which caches are used without reading again.
        if n % 20 == 0 {
            tokio::time::sleep(Duration::from_millis(600)).await;
        }
    }
    for reader in readers {
        reader.abort();
    }
    holder.rollback().await.unwrap();
    assert_ledger_invariants(&servers.pool().await).await;
}

#[sqlx::test(migrations = false)]
async fn a_paused_server_releases_the_wallets_it_locked(pool: PgPool) {
    let servers = servers(&url(&pool), 2).await;
    let mut keys = Vec::new();
    for n in 0..4 {
        keys.push(servers.owner(&format!("owner-{n}"), PLENTY).await.unlimited_key().await);
    }
    let (paused, healthy) = (servers.gateway(0), servers.gateway(1));
    // Load on the first server, so that it is paused inside a transaction.
    let load: Vec<_> = (0..32)
        .map(|n| {
            let (gateway, key) = (paused.clone(), keys[n % keys.len()].clone());
            tokio::spawn(async move {
                loop {
                    let body = json!({ "key": key, "quota": 1 }).to_string();
                    let _ = gateway.try_send(http::Method::POST, "/api/gateway/charge", body).await;
                }
            })
        })
        .collect();
    let count_in_transaction = "select count(*) from pg_stat_activity where datname = current_database() \
                          and state = 'idle in transaction' and application_name = 'keymeter'";
    let mut seen = 0;
    for _ in 0..200 {
        servers.running[0].signal("STOP");
        seen = sqlx::query_scalar::<_, i64>(count_in_transaction).fetch_one(&pool).await.unwrap();
        if seen > 0 {
            break;
        }
        servers.running[0].signal("CONT");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(seen > 0, "the server was never paused inside a transaction");
    for key in &keys {
        eventually("every wallet can be charged on the other server", async || {
            charge(&healthy, key).await.status == 200
        })
        .await;
    }
    servers.running[0].signal("CONT");
    for client in load {
        client.abort();
    }
    eventually("the paused server charges again", async || charge(&paused, &keys[0]).await.status == 200).await;
    assert_ledger_invariants(&servers.pool().await).await;
}

#[sqlx::test(migrations = false)]
async fn one_invalid_row_does_not_fail_its_batch(pool: PgPool) {
    let servers = servers(&url(&pool), 1).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    // A row that the database refuses, which no input can cause.
    sqlx::query("alter table charges add constraint not_13 check (quota <> 13)").execute(&pool).await.unwrap();
    let answers = join_all((0..200).map(|n| {
        let (gateway, key) = (gateway.clone(), key.clone());
        let quota = if n % 100 == 50 { 13 } else { 1 };
        async move { (quota, gateway.post("/api/gateway/charge", json!({ "key": key, "quota": quota })).await) }
    }))
    .await;
    for (quota, answer) in &answers {
        match quota {
            13 => answer.refuses(500, "internal"),
            _ => drop(answer.ok()),
        }
    }
    let charged: i64 = sqlx::query_scalar("select sum(quota)::bigint from charges").fetch_one(&pool).await.unwrap();
    assert_eq!(charged, 198);
    sqlx::query("alter table charges drop constraint not_13").execute(&pool).await.unwrap();
    assert_ledger_invariants(&servers.pool().await).await;
}

#[sqlx::test(migrations = false)]
async fn overflowing_counts_do_not_fail_a_batch(pool: PgPool) {
    let servers = servers(&url(&pool), 1).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    let body = json!({ "key": key, "quota": 1, "prompt_tokens": 1_000_000_000_000_i64, "completion_tokens": 5 });
    gateway.post("/api/gateway/charge", body.clone()).await.ok();
    let near =
        "update usage_daily set prompt_tokens = 9223372036854775807 - 10, completion_tokens = 9223372036854775807";
    sqlx::query(near).execute(&pool).await.unwrap();
    gateway.post("/api/gateway/charge", body).await.ok();
    let other_model = json!({ "key": key, "quota": 1, "prompt_tokens": 7, "model": "other" });
    gateway.post("/api/gateway/charge", other_model).await.ok();
    let ana = Client::signed_in(&servers.running[0], "ana", "ana's password").await;
    let id = ana.get("/api/token/").await.ok()["items"][0]["id"].clone();
    let today = ana.get(&format!("/api/token/{id}/usage")).await.ok()["daily"][0].clone();
    assert_eq!((&today["prompt_tokens"], &today["requests"]), (&json!(i64::MAX), &json!(3)));
    assert_eq!(ana.get("/api/user/self/overview").await.status, 200);
}

#[tokio::test]
async fn a_read_only_database_is_unavailable_and_the_service_recovers_without_a_restart() {
    let cluster = Cluster::start();
    let database = cluster.url();
    let servers = servers(&database, 1).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    let alter = async |sql: &'static str| {
        let mut conn = PgConnection::connect(&database).await.unwrap();
        // This session may write whatever the default is.
        sqlx::query("set default_transaction_read_only = off").execute(&mut conn).await.unwrap();
        sqlx::query(AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
        sqlx::query("select pg_reload_conf()").execute(&mut conn).await.unwrap();
    };
    for _ in 0..2 {
        charge(&gateway, &key).await.ok();
        alter("alter system set default_transaction_read_only = on").await;
        eventually("the service is not ready", async || {
            let ready = gateway.get("/readyz").await;
            ready.status == 503 && ready.json()["error"] == json!("database_read_only")
        })
        .await;
        charge(&gateway, &key).await.refuses(503, "database_unavailable");
        servers.root.post("/api/token/", json!({ "name": "two" })).await.refuses(503, "database_unavailable");
        alter("alter system reset default_transaction_read_only").await;
        eventually("the service is ready again", async || gateway.get("/readyz").await.status == 200).await;
        eventually("the service charges again", async || charge(&gateway, &key).await.status == 200).await;
    }
}

#[tokio::test]
async fn a_database_with_another_encoding_than_utf8_is_refused() {
    let cluster = Cluster::start();
    let mut conn = PgConnection::connect(&cluster.url()).await.unwrap();
    let latin = "create database latin encoding 'LATIN1' locale 'C' template template0";
    sqlx::query(latin).execute(&mut conn).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let database = cluster.url().replace("/postgres", "/latin").replace("postgres://latin", "postgres://postgres");
    let refused = run(dir.path(), &[("DATABASE_URL", &database)], &["serve"]);
    assert_eq!(refused.status.code(), Some(1));
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(
        stderr.starts_with("keymeter: the database's encoding is LATIN1, and Keymeter needs UTF8; make a"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1);
}

/// Superusers may call everything, so another role runs this server.
#[tokio::test]
async fn l4_a_server_that_may_not_wait_for_the_disk_acknowledges_nothing_and_does_not_start() {
    let cluster = Cluster::start();
    let superuser = PgPool::connect(&cluster.url()).await.unwrap();
    sqlx::raw_sql("create role keymeter login; grant create on schema public to keymeter")
        .execute(&superuser)
        .await
        .unwrap();
    let database = cluster.url().replace("postgres@", "keymeter@");
    let servers = servers(&database, 1).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    charge(&servers.gateway(0), &key).await.ok();
    // It has another argument since PostgreSQL 17.
    let find = "select oid::regprocedure::text from pg_proc where proname = 'pg_logical_emit_message' \
                and proargtypes[2] = 'text'::regtype";
    let function: String = sqlx::query_scalar(find).fetch_one(&superuser).await.unwrap();
    let revoke = format!("revoke execute on function {function} from public");
    sqlx::query(AssertSqlSafe(revoke)).execute(&superuser).await.unwrap();
    charge(&servers.gateway(0), &key).await.refuses(503, "database_unavailable");
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &[("DATABASE_URL", &database)], &["serve"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(refused.stderr).unwrap(),
        format!(
            "keymeter: the role keymeter may not call pg_logical_emit_message, with which Keymeter waits for the disk; \
             allow it with `grant execute on function {function} to keymeter`\n"
        )
    );
}

/// One connection with the settings of the service.
fn service_options(database: &str) -> DbOptions {
    DbOptions {
        plan_cache_mode: "force_generic_plan",
        hosts: Arc::new(Hosts::new(database.parse().unwrap(), [])),
        connections: 1,
        reserved: 0,
        acquire: Duration::from_secs(3),
        statement_timeout: Duration::from_secs(15),
        patience: Duration::from_secs(5),
        rest: Duration::from_mins(1),
    }
}

/// Each takes some megabytes of PostgreSQL.
#[sqlx::test(migrations = false)]
async fn connections_that_rest_are_closed_also_if_each_is_used_now_and_then(pool: PgPool) {
    let options = DbOptions { connections: 6, rest: Duration::from_millis(600), ..service_options(&url(&pool)) };
    let db = Db::open(&options);
    let mut watcher = PgConnection::connect(&url(&pool)).await.unwrap();
    // Those of the test itself may end meanwhile.
    let others = "select pid from pg_stat_activity where datname = current_database()";
    let others: Vec<i32> = sqlx::query_scalar(others).fetch_all(&mut watcher).await.unwrap();
    let mut open = async || -> i64 {
        let opened = "select count(*) from pg_stat_activity where datname = current_database() and pid <> all($1)";
        sqlx::query_scalar(opened).bind(&others).fetch_one(&mut watcher).await.unwrap()
    };
    let all = futures_util::future::join_all((0..6).map(|_| db.acquire())).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(open().await, 6);
    drop(all);
    eventually("one is left", async || {
        drop(db.acquire().await.unwrap());
        // Until it is back in the pool; else the next one is opened beside it.
        tokio::time::sleep(Duration::from_millis(20)).await;
        open().await == 1
    })
    .await;
    db.close().await;
}

/// A connection with the settings of the service.
pub async fn service_connection(database: &str) -> sqlx::pool::PoolConnection<sqlx::Postgres> {
    Db::open(&service_options(database)).acquire().await.unwrap()
}

#[sqlx::test(migrations = false)]
async fn l4_a_request_cancelled_while_its_transaction_begins_loses_no_others_statement(pool: PgPool) {
    sqlx::query("create table made (id int)").execute(&pool).await.unwrap();
    let db = Db::open(&service_options(&url(&pool)));
    for polls in 1..=4 {
        drop(db.acquire().await.unwrap());
        // Until it is back in the pool.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mut begin = Box::pin(db.begin());
        // Each of the first steps sends or waits; at one of them the database has begun, and its answer is still to
        // come.
        for _ in 0..polls {
            if futures_util::poll!(&mut begin).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(begin);
        sqlx::query("insert into made values ($1)")
            .bind(polls)
            .execute(&mut *db.acquire().await.unwrap())
            .await
            .unwrap();
        let made: i64 = sqlx::query_scalar("select count(*) from made").fetch_one(&pool).await.unwrap();
        assert_eq!(made, i64::from(polls), "after {polls} polls");
    }
}

#[tokio::test]
async fn a_transaction_whose_begin_is_never_answered_gives_its_connection_back() {
    let cluster = Cluster::start();
    let db = Db::open(&DbOptions { statement_timeout: Duration::from_secs(1), ..service_options(&cluster.url()) });
    let pid: i32 =
        sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut *db.acquire().await.unwrap()).await.unwrap();
    // Until it is back in the pool.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let pid = u32::try_from(pid).unwrap();
    kill("-STOP", pid);
    let mut begin = Box::pin(db.begin());
    assert!(futures_util::poll!(&mut begin).is_pending());
    tokio::task::yield_now().await;
    drop(begin);
    eventually("there is a connection again", async || db.acquire().await.is_ok()).await;
    kill("-CONT", pid);
}

#[sqlx::test(migrations = false)]
async fn l4_commits_are_durable_even_if_the_database_turns_them_off(pool: PgPool) {
    let name: String = sqlx::query_scalar("select current_database()::text").fetch_one(&pool).await.unwrap();
    let alter = format!("alter database \"{name}\" set synchronous_commit = off");
    sqlx::query(AssertSqlSafe(alter)).execute(&pool).await.unwrap();
    let mut conn = service_connection(&url(&pool)).await;
    let set: String = sqlx::query_scalar("show synchronous_commit").fetch_one(&mut *conn).await.unwrap();
    assert_eq!(set, "on");
}

/// The wait for a standby to apply it is more than the wait for its disk.
#[sqlx::test(migrations = false)]
async fn l4_commits_wait_for_more_if_the_database_says_so(pool: PgPool) {
    let name: String = sqlx::query_scalar("select current_database()::text").fetch_one(&pool).await.unwrap();
    let alter = format!("alter database \"{name}\" set synchronous_commit = remote_apply");
    sqlx::query(AssertSqlSafe(alter)).execute(&pool).await.unwrap();
    let mut conn = service_connection(&url(&pool)).await;
    let set: String = sqlx::query_scalar("show synchronous_commit").fetch_one(&mut *conn).await.unwrap();
    assert_eq!(set, "remote_apply");
}

/// `PgBouncer` in session mode, as its own documentation configures it for clients that send options.
#[sqlx::test(migrations = false)]
async fn pgbouncer_drops_the_settings_of_sessions_and_is_refused(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let (port, options) = (free_port(), pool.connect_options());
    let (host, server_port, user) = (options.get_host(), options.get_port(), options.get_username());
    let config = format!(
        "[databases]\n* = host={host} port={server_port} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = any\npool_mode = session\nignore_startup_parameters = extra_float_digits,options\n"
    );
    let file = dir.path().join("pgbouncer.ini");
    std::fs::write(&file, config).unwrap();
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(installed_program("pgbouncer"));
    command.arg("-q").args(running_as_root().then_some(["-u", "postgres"]).into_iter().flatten()).arg(&file);
    let _pgbouncer = Proxy::start(command, dir.path(), ([127, 0, 0, 1], port).into()).await;
    let name = options.get_database().unwrap();
    let pooled = format!("postgres://{user}@127.0.0.1:{port}/{name}");
    let refused = run(dir.path(), &[("DATABASE_URL", &pooled)], &["serve"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("enable_bitmapscan, ") && said.contains("statement_timeout"), "{said}");
    assert!(said.contains("a pooler such as PgBouncer drops them; connect to PostgreSQL itself"), "{said}");
    let found = run(dir.path(), &[("DATABASE_URL", &pooled)], &["doctor"]);
    assert!(
        String::from_utf8(found.stdout).unwrap().contains("WRONG  database: the database did not take the settings")
    );
}

#[sqlx::test(migrations = false)]
async fn reading_keys_uses_indexes_without_statistics(pool: PgPool) {
    let servers = servers(&url(&pool), 1).await;
    let owner = servers.owner("ana", PLENTY).await;
    owner.unlimited_key().await;
    let others = "insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, \
                  created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, \
                  model_limits, allow_ips, group_name, cross_group_retry) \
                  select $1, sha256(n::text::bytea), '', 'abcdwxyz', 'n', 'n', '', 1, 1, 0, true, 0, false, '', '', \
                  '', false from generate_series(1, 20000) n";
    for sql in ["alter table tokens set (autovacuum_enabled = off)", "alter table users set (autovacuum_enabled = off)"]
    {
        sqlx::query(sql).execute(&pool).await.unwrap();
    }
    // Rows without statistics, as after a restore.
    sqlx::query(others).bind(owner.id).execute(&pool).await.unwrap();
    sqlx::query("delete from pg_statistic where starelid in ('tokens'::regclass, 'users'::regclass)")
        .execute(&pool)
        .await
        .unwrap();
    let mut conn = service_connection(&url(&pool)).await;
    let digests: Vec<keymeter::domain::key::Digest> = Vec::new();
    keymeter::storage::keys::list_with_owners(&mut conn, &digests).await.unwrap();
    // The plan of the prepared statement, for keys that exist.
    let statement: String = sqlx::query_scalar(
        "select statement from pg_prepared_statements where statement like 'select id%from tokens where key_digest = requested.digest%'",
    )
    .fetch_one(&mut *conn)
    .await
    .unwrap();
    let statement = statement.replace("$1", "(select array_agg(sha256(n::text::bytea)) from generate_series(1, 50) n)");
    let explain = format!("explain (analyze, format json) {statement}");
    let plan: Value = sqlx::query_scalar(AssertSqlSafe(explain)).fetch_one(&mut *conn).await.unwrap();
    let plan = plan.to_string();
    assert!(plan.contains("tokens_key_digest_unique"), "{plan}");
    for forbidden in ["tokens_of_user", "Seq Scan", "Hash Join", "Merge Join", "BitmapAnd"] {
        assert!(!plan.contains(forbidden), "{forbidden} in {plan}");
    }
}

#[sqlx::test(migrations = false)]
async fn verify_uses_the_new_balance_right_after_a_charge(pool: PgPool) {
    let servers = servers(&url(&pool), 1).await;
    let owner = servers.owner("ana", PLENTY).await;
    let unlimited = owner.unlimited_key().await;
    let ana = Client::signed_in(&servers.running[0], "ana", "ana's password").await;
    let gateway = servers.gateway(0);
    let verify = async |key: &str| gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok();
    for n in 0..20 {
        let limited = json!({ "name": format!("limited {n}"), "remain_quota": 5 });
        let (_, key) = ana.creates(limited).await.unwrap();
        assert_eq!(verify(&key).await["valid"], json!(true));
        gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 5 })).await.ok();
        let verified = verify(&key).await;
        assert_eq!((&verified["reason"], &verified["remain_quota"]), (&json!("token_exhausted"), &json!(0)));
    }
    // A charge of one key empties the wallet of the other.
    servers.root.post(&format!("/api/admin/users/{}/quota", owner.id), json!({ "set": 5 })).await.ok();
    let (_, other) = ana.creates(json!({ "name": "other", "unlimited_quota": true })).await.unwrap();
    assert_eq!(verify(&other).await["usable_quota"], json!(5));
    gateway.post("/api/gateway/charge", json!({ "key": unlimited, "quota": 5 })).await.ok();
    assert_eq!(verify(&other).await["usable_quota"], json!(0));
}

#[sqlx::test(migrations = false)]
async fn a_token_is_refused_in_a_group_that_its_owner_left(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("keymeter.toml");
    let groups = "[groups.default]\ndescription = \"\"\nratio = \"1\"\n\
                  [groups.vip]\ndescription = \"\"\nratio = \"1\"\nopen = false\n";
    std::fs::write(&file, groups).unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str())];
    let server = Server::start_with(dir.path(), &settings, &["--config", file.to_str().unwrap()]).await;
    let root = Client::root(&server).await;
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let gateway = Client::with(&server, made["credential"].as_str().unwrap());
    let account = json!({ "username": "ana", "password": "ana's password", "token_api_enabled": true, "quota": 100,
                          "group": "vip" });
    let id = root.post("/api/admin/users", account).await.ok()["id"].clone();
    let ana = Client::signed_in(&server, "ana", "ana's password").await;
    let (_, vip) = ana.creates(json!({ "name": "vip", "unlimited_quota": true, "group": "vip" })).await.unwrap();
    let (_, own) = ana.creates(json!({ "name": "own", "unlimited_quota": true })).await.unwrap();
    let verify = async |key: &str| gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok();
    assert_eq!(verify(&vip).await["valid"], json!(true));
    charge(&gateway, &vip).await.ok();

    root.patch(&format!("/api/admin/users/{id}"), json!({ "group": "default" })).await.ok();
    let verified = verify(&vip).await;
    assert_eq!((&verified["valid"], &verified["reason"]), (&json!(false), &json!("group_not_allowed")));
    let sentence = "the owner of this token may not use its group";
    charge(&gateway, &vip).await.refuses_saying(403, "group_not_allowed", sentence);
    gateway.post("/api/gateway/reserve", json!({ "key": vip, "quota": 1 })).await.refuses_saying(
        403,
        "group_not_allowed",
        sentence,
    );
    charge(&gateway, &own).await.ok();
}

#[sqlx::test(migrations = false)]
async fn a_server_four_days_ahead_deletes_nothing_and_no_retry_is_charged_twice(pool: PgPool) {
    let servers = servers(&url(&pool), 1).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let once = json!({ "key": key, "quota": 7, "request_id": "once" });
    servers.gateway(0).post("/api/gateway/charge", once.clone()).await.ok();
    for ahead in ["+4d", "+100d"] {
        let dir = tempfile::tempdir().unwrap();
        let database = url(&pool);
        let settings = [
            ("DATABASE_URL", database.as_str()),
            ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
            ("LD_PRELOAD", libfaketime()),
            ("FAKETIME", ahead),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let wrong = Server::start(dir.path(), &settings).await;
        let gateway = Client::with(&wrong, &servers.credential);
        gateway.get("/readyz").await.ok();
        wrong.logged(|line| line.contains("nothing is deleted for its age")).await;
        gateway.post("/api/gateway/charge", once.clone()).await.ok();
        let charged: i64 = sqlx::query_scalar("select sum(quota)::bigint from charges").fetch_one(&pool).await.unwrap();
        assert_eq!(charged, 7, "{ahead}");
    }
    servers.gateway(0).get("/readyz").await.ok();
}
