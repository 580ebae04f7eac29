//! How a batch is tried again after an error of the database, and what its callers are answered (L4, L8). A trigger
//! raises the errors.

use futures_util::future::join_all;
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::answer::Refusal;
use crate::harness::gateway::{DATABASE_UNAVAILABLE, NO_RESERVATION, app_with_wallet, asks, balances, refused};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::wait::eventually;
use crate::harness::{Caller, START, TestApp};

/// Lets the next writes of the ledger fail, this many.
async fn fails(pool: &PgPool, times: i64, error: &str) {
    fails_in(pool, "charges", times, error).await;
}

/// Lets the next writes of a table fail, this many.
async fn fails_in(pool: &PgPool, table: &str, times: i64, error: &str) {
    let sql = format!(
        "drop trigger if exists injected on {table}; drop function if exists injected; drop sequence if exists writes; \
         create sequence writes; \
         create function injected() returns trigger language plpgsql as $$ begin \
           if nextval('writes') <= {times} then raise exception 'injected' using {error}; end if; return null; \
         end $$; \
         create trigger injected before insert on {table} for each statement execute function injected();"
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.unwrap();
}

/// An index that is being replaced, or belongs to a shard, has another name, and messages may be in any language.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_gets_its_answer_whatever_the_violated_constraint_is_called(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    sqlx::query("alter table idempotency_records rename constraint idempotency_records_pkey to other")
        .execute(&app.pool)
        .await
        .unwrap();
    let body = json!({ "key": key, "quota": 40, "request_id": "r 1" });
    let charged = asks(&gateway, "charge", &body).await.ok();
    for n in 0..2 {
        assert_eq!(asks(&gateway.at(&app.server_ahead(n)), "charge", &body).await.ok(), charged);
    }
    assert_eq!(balances(&app, &ana, &key).await, [40, 60, 40, 960]);
    assert_ledger_invariants(&app.pool).await;
}

/// The number of writes since, also of those that failed: sequences are not rolled back.
async fn writes(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select last_value from writes").fetch_one(pool).await.unwrap()
}

/// The value of a metric; 0 if it was never counted.
async fn counted(app: &TestApp, name: &str) -> u64 {
    let text = app.stranger().get("/metrics").await.text;
    text.lines().find_map(|line| line.strip_prefix(name)).map_or(0, |value| value.trim().parse().unwrap())
}

async fn retries(app: &TestApp, reason: &str) -> u64 {
    counted(app, &format!(r#"keymeter_ledger_retries_total{{reason="{reason}"}}"#)).await
}

async fn refused_as_busy(app: &TestApp) -> u64 {
    counted(app, r#"keymeter_ledger_operations_total{operation="charge",outcome="busy"}"#).await
}

/// Owners with a filled wallet, each with a key that the server knows.
async fn owners_with_keys(app: &TestApp, gateway: &Caller, names: &[&str]) -> Vec<(Caller, String)> {
    let mut made = Vec::new();
    for name in names {
        let owner = app.enabled_user(name).await;
        app.fills(&owner, 1_000).await;
        let (_, key) = owner.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
        asks(gateway, "verify", &json!({ "key": key })).await.ok();
        made.push((owner, key));
    }
    made
}

/// Connections to the same database that wait only 100 ms for a row.
async fn impatient(pool: &PgPool) -> PgPool {
    waiting_at_most(pool, "100ms").await
}

/// Connections to the same database that wait so long for a row.
async fn waiting_at_most(pool: &PgPool, time: &str) -> PgPool {
    let options = pool.connect_options().as_ref().clone().options([("lock_timeout", time)]);
    PgPoolOptions::new().max_connections(8).connect_with(options).await.unwrap()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_batch_is_tried_again_after_errors_that_can_pass_but_not_for_ever(pool: PgPool) {
    const INTERNAL: Refusal = (500, "internal", "internal error; quote X-Request-Id to your operator");
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let serialization = "errcode = '40001'";
    let deadlock = "errcode = '40P01'";
    let other_server = "errcode = '23505', constraint = 'idempotency_records_pkey'";
    let locked_table = "errcode = '55P03'";
    let shut_down = "errcode = '57P01'";
    let table = [
        // error, how often: writes, retries that are counted, the refusal
        (serialization, 1, 2, ("contended", 1), None),
        (serialization, 4, 5, ("contended", 4), None),
        (deadlock, 9, 5, ("contended", 4), Some(DATABASE_UNAVAILABLE)),
        (other_server, 4, 5, ("idempotency_key", 4), None),
        (other_server, 9, 5, ("idempotency_key", 4), Some(INTERNAL)),
        (locked_table, 1, 2, ("locked", 1), None),
        (locked_table, 9, 2, ("locked", 1), Some(DATABASE_UNAVAILABLE)),
        (shut_down, 1, 1, ("halved", 0), Some(DATABASE_UNAVAILABLE)),
    ];
    let mut charged = 0;
    for (error, times, written, (reason, expected), refusal) in table {
        fails(&pool, times, error).await;
        let before = retries(&app, reason).await;
        let body = json!({ "key": key, "quota": 1, "request_id": format!("{error} {times}") });
        let answer = asks(&gateway, "charge", &body).await;
        match refusal {
            None => {
                charged += 1;
                assert_eq!(answer.ok()["remain_quota"], 100 - charged, "{error}, {times} times");
            }
            Some(refusal) => refused(&answer, refusal),
        }
        assert_eq!(writes(&pool).await, written, "{error}, {times} times");
        assert_eq!(retries(&app, reason).await - before, expected, "{error}, {times} times");
        assert_eq!(balances(&app, &ana, &key).await, [charged, 100 - charged, charged, 1_000 - charged]);
    }
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_reservation_whose_id_another_batch_has_just_used_gets_another_id(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let body = |id: Option<&str>| json!({ "key": key, "quota": 10, "request_id": id });
    asks(&gateway, "reserve", &body(None)).await.ok();
    // The next two rows get the id of the first, also those of a batch that was tried again.
    let sql = "create sequence writes; create function use_first_id() returns trigger language plpgsql as $$ begin \
                 if nextval('writes') <= 2 then new.id := (select min(id) from reservations); end if; return new; \
               end $$; \
               create trigger use_first_id before insert on reservations for each row execute function use_first_id();";
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    asks(&gateway, "reserve", &body(None)).await.ok();
    assert_eq!((writes(&pool).await, retries(&app, "contended").await), (3, 2));

    sqlx::query("alter sequence writes restart").execute(&pool).await.unwrap();
    let ids = ["r 1", "r 2", "r 3", "r 4"];
    let made = join_all(ids.map(async |id| asks(&gateway, "reserve", &body(Some(id))).await)).await;
    for (id, made) in ids.iter().zip(made) {
        let made = made.ok();
        assert_eq!(asks(&gateway, "reserve", &body(Some(id))).await.ok(), made);
        asks(&gateway, "settle", &json!({ "reservation_id": made["reservation_id"], "quota": 10 })).await.ok();
    }
    assert!(retries(&app, "contended").await > 2);
    let [used, left, ..] = balances(&app, &ana, &key).await;
    assert_eq!((used, left), (60, 40));
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s3_a_reservation_is_not_found_by_the_id_of_another_owner_in_the_same_batch(pool: PgPool) {
    let patient = waiting_at_most(&pool, "4s").await;
    let app = TestApp::with(patient.clone(), &[("KEYMETER_LEDGER__LANES", "1")]).await;
    let gateway = app.gateway().await;
    let keys = owners_with_keys(&app, &gateway, &["ana", "bob", "eve"]).await;
    let [(ana, of_ana), (bob, _), (_, of_eve)] = &keys[..] else { panic!("three owners") };
    let made = asks(&gateway, "reserve", &json!({ "key": of_ana, "quota": 10 })).await.ok();
    let id = made["reservation_id"].as_str().unwrap();
    let of_bob = id.replacen(&ana.id.to_string(), &bob.id.to_string(), 1);
    assert_ne!(id, of_bob);

    for (call, body) in [("settle", json!({ "quota": 1 })), ("release", json!({})), ("extend", json!({ "quota": 20 }))]
    {
        let ask = |path: &'static str, body: Value| {
            let gateway = gateway.clone();
            tokio::spawn(async move { asks(&gateway, path, &body).await })
        };
        // While the batch before waits, the next one gets an operation of each owner. It waits for a table: a wallet
        // that is locked is left out, and waited for only for a moment.
        let mut holder = pool.begin().await.unwrap();
        sqlx::query("lock table charges in share mode").execute(&mut *holder).await.unwrap();
        let before = ask("charge", json!({ "key": of_eve, "quota": 1 }));
        let waiting = "select exists (select from pg_stat_activity \
                         where datname = current_database() and wait_event_type = 'Lock')";
        eventually("it waits", async || sqlx::query_scalar(waiting).fetch_one(&pool).await.unwrap()).await;
        let mut body = body;
        body["reservation_id"] = json!(of_bob);
        let (right, wrong) = (ask("charge", json!({ "key": of_ana, "quota": 1 })), ask(call, body));
        eventually("two wait", async || counted(&app, "keymeter_ledger_queue").await == 2).await;
        holder.rollback().await.unwrap();
        before.await.unwrap().ok();
        right.await.unwrap().ok();
        refused(&wrong.await.unwrap(), NO_RESERVATION);
    }
    asks(&gateway, "settle", &json!({ "reservation_id": id, "quota": 10 })).await.ok();
    assert_ledger_invariants(&pool).await;
    patient.close().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_charge_that_meets_the_partition_of_its_day_being_attached_is_tried_again(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    asks(&gateway, "verify", &json!({ "key": key })).await.ok();

    let mut job = pool.begin().await.unwrap();
    sqlx::query("select make_charges_partition($1)").bind(START - START % 86_400).execute(&mut *job).await.unwrap();
    // The row of the charge waits to get into the default partition, where rows of its day may not be any more.
    let attach = async {
        let waiting = "select exists (select from pg_locks where not granted and relation = 'charges_rest'::regclass)";
        eventually("the charge waits", async || sqlx::query_scalar(waiting).fetch_one(&pool).await.unwrap()).await;
        job.commit().await.unwrap();
    };
    let body = json!({ "key": key, "quota": 1 });
    let (answer, ()) = tokio::join!(asks(&gateway, "charge", &body), attach);
    assert_eq!(answer.ok()["remain_quota"], json!(99));
    assert_eq!(retries(&app, "contended").await, 1);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_batch_is_halved_only_after_an_error_that_may_be_of_one_row(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    asks(&gateway, "verify", &json!({ "key": key })).await.ok();
    // All ten are queued before the lane runs, so they are one batch.
    let ten = json!({ "charges": vec![json!({ "key": key, "quota": 1 }); 10] });
    let table = [
        // The whole batch fails at once.
        ("errcode = '57P01'", 1, 0, 0),
        // A damaged page: the first half is tried again, and then the second.
        ("errcode = 'XX001'", 3, 1, 10),
    ];
    let mut taken = 0;
    for (error, written, halved, charged) in table {
        fails(&pool, 1, error).await;
        let answers = asks(&gateway, "charges", &ten).await.ok();
        let successes = answers.as_array().unwrap().iter().filter(|answer| answer["success"] == json!(true)).count();
        assert_eq!((successes, writes(&pool).await), (charged, written), "{error}");
        assert_eq!(retries(&app, "halved").await, halved, "{error}");
        taken += i64::try_from(charged).unwrap();
        assert_eq!(balances(&app, &ana, &key).await, [taken, 100 - taken, taken, 1_000 - taken]);
    }
    assert_ledger_invariants(&pool).await;
}

/// Reservations are written after balances and records, and none of these is kept without them.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_nothing_of_a_batch_is_kept_whose_reservations_cannot_be_written(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let reserve = json!({ "key": key, "quota": 40, "request_id": "r 1" });
    fails_in(&pool, "reservations", 1, "errcode = '57P01'").await;
    refused(&asks(&gateway, "reserve", &reserve).await, DATABASE_UNAVAILABLE);
    assert_eq!(balances(&app, &ana, &key).await, [0, 100, 0, 1_000]);
    let reserved = asks(&gateway, "reserve", &reserve).await.ok();
    assert_eq!(balances(&app, &ana, &key).await, [40, 60, 40, 960]);

    let settle = json!({ "reservation_id": reserved["reservation_id"], "quota": 30 });
    fails_in(&pool, "reservations", 1, "errcode = '57P01'").await;
    refused(&asks(&gateway, "settle", &settle).await, DATABASE_UNAVAILABLE);
    assert_eq!(balances(&app, &ana, &key).await, [40, 60, 40, 960]);
    assert_ledger_invariants(&pool).await;
    for _ in 0..2 {
        assert_eq!(asks(&gateway, "settle", &settle).await.ok()["charged"], json!(30));
    }
    assert_eq!(balances(&app, &ana, &key).await, [30, 70, 30, 970]);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l8_a_caller_that_leaves_gives_up_its_place_beside_a_held_wallet(pool: PgPool) {
    let impatient = impatient(&pool).await;
    let (app, ana, gateway) = app_with_wallet(impatient.clone(), 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();

    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select 1 from users where id = $1 for update").bind(ana.id).execute(&mut *holder).await.unwrap();
    let charge = |quota: i64| {
        let (gateway, key) = (gateway.clone(), key.clone());
        tokio::spawn(async move { asks(&gateway, "charge", &json!({ "key": key, "quota": quota })).await })
    };
    let hits = r#"keymeter_key_cache_lookups_total{result="hit"}"#;
    let before = counted(&app, hits).await;
    let (stays, leaves) = (charge(2), charge(4));
    eventually("both charges are queued and the lane has found their wallet locked", async || {
        counted(&app, hits).await == before + 2 && retries(&app, "locked").await == 1
    })
    .await;
    leaves.abort();
    eventually("the one that left is counted as busy", async || refused_as_busy(&app).await == 1).await;
    assert!(!stays.is_finished(), "the other one, which came first, still waits");
    holder.rollback().await.unwrap();
    assert_eq!(stays.await.unwrap().ok()["charged"], 2);
    assert_eq!(balances(&app, &ana, &key).await, [3, 97, 3, 997]);
    assert_ledger_invariants(&impatient).await;
    impatient.close().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l8_at_most_1024_operations_wait_for_held_wallets(pool: PgPool) {
    let impatient = impatient(&pool).await;
    let (app, ana, gateway) = app_with_wallet(impatient.clone(), 10_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10_000 })).await;
    asks(&gateway, "verify", &json!({ "key": key })).await.ok();

    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select 1 from users where id = $1 for update").bind(ana.id).execute(&mut *holder).await.unwrap();
    let calls = [700, 400].map(|charges| {
        let body = json!({ "charges": vec![json!({ "key": key, "quota": 1 }); charges] });
        let gateway = gateway.clone();
        tokio::spawn(async move { asks(&gateway, "charges", &body).await.ok() })
    });
    eventually("76 of 1,100 are refused", async || refused_as_busy(&app).await == 76).await;
    holder.rollback().await.unwrap();
    let mut charged = 0;
    for call in calls {
        let answers = call.await.unwrap();
        charged += answers.as_array().unwrap().iter().filter(|answer| answer["success"] == json!(true)).count();
    }
    assert_eq!((charged, refused_as_busy(&app).await), (1_024, 76));
    assert_eq!(balances(&app, &ana, &key).await, [1_024, 8_976, 1_024, 8_976]);
    assert_ledger_invariants(&impatient).await;
    impatient.close().await;
}

/// Who holds one wallet often holds others: a paused server holds those of a whole batch.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_only_the_first_of_many_held_wallets_is_waited_for(pool: PgPool) {
    let impatient = impatient(&pool).await;
    let app = TestApp::with(impatient.clone(), &[("KEYMETER_LEDGER__LANES", "1")]).await;
    let gateway = app.gateway().await;
    let keys = owners_with_keys(&app, &gateway, &["ana", "bob", "eve"]).await;
    let mut holder = pool.begin().await.unwrap();
    for (owner, _) in &keys[..2] {
        sqlx::query("select 1 from users where id = $1 for update").bind(owner.id).execute(&mut *holder).await.unwrap();
    }
    let charge = |at: usize| {
        let (gateway, key) = (gateway.clone(), keys[at].1.clone());
        tokio::spawn(async move { asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await })
    };
    let first = charge(0);
    eventually("the first is found locked", async || retries(&app, "locked").await == 1).await;
    let second = charge(1);
    charge(2).await.unwrap().ok();
    assert!(!first.is_finished() && !second.is_finished());
    assert_eq!(retries(&app, "locked").await, 1, "no batch has waited for the second");
    holder.rollback().await.unwrap();
    for charge in [first, second] {
        assert_eq!(charge.await.unwrap().ok()["charged"], 1);
    }
    assert_ledger_invariants(&impatient).await;
    impatient.close().await;
}

/// Ten charges of one call, while the wallets of some of them are locked.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_charges_of_free_wallets_are_committed_beside_charges_of_held_ones(pool: PgPool) {
    let impatient = impatient(&pool).await;
    let app = TestApp::with(impatient.clone(), &[("KEYMETER_LEDGER__LANES", "1")]).await;
    let gateway = app.gateway().await;
    let keys = owners_with_keys(&app, &gateway, &["ana", "bob"]).await;
    for lock in ["select 1 from users where id = $1 for update", "select 1 from tokens where user_id = $1 for update"] {
        let before = balances(&app, &keys[0].0, &keys[0].1).await[0];
        let mut holder = pool.begin().await.unwrap();
        sqlx::query(lock).bind(keys[0].0.id).execute(&mut *holder).await.unwrap();
        let charges: Vec<_> = (0..10)
            .map(|n| {
                let (gateway, key) = (gateway.clone(), keys[n % 2].1.clone());
                tokio::spawn(async move { asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await })
            })
            .collect();
        eventually("the free ones are charged", async || {
            charges.iter().filter(|charge| charge.is_finished()).count() == 5
        })
        .await;
        // These come while the others wait.
        for _ in 0..3 {
            asks(&gateway, "charge", &json!({ "key": keys[1].1, "quota": 0 })).await.ok();
        }
        holder.rollback().await.unwrap();
        for answer in join_all(charges).await {
            assert_eq!(answer.unwrap().ok()["charged"], 1);
        }
        for (owner, key) in &keys {
            assert_eq!(balances(&app, owner, key).await[0], before + 5);
        }
    }
    assert_ledger_invariants(&impatient).await;
    impatient.close().await;
}
