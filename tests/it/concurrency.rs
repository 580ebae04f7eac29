//! Parallel requests: limits are exact (specification §8), changes of one token do not mix (§4.5), and nothing is
//! deleted or decided twice (§1, §4.6, §4.7). Also at three servers.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, TestApp};

/// Runs the tasks in parallel; the answers are in no particular order.
async fn at_once<F>(tasks: impl Iterator<Item = F>) -> Vec<Answer>
where
    F: Future<Output = Answer> + Send + 'static,
{
    tasks.collect::<JoinSet<_>>().join_all().await
}

fn succeeded(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.status == 200).count()
}

async fn create(caller: Caller, name: String) -> Answer {
    caller.post("/api/token/", json!({ "name": name })).await
}

async fn delete_batch(caller: Caller, ids: Vec<i64>) -> Answer {
    caller.post("/api/token/batch", json!({ "ids": ids })).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn parallel_creations_never_exceed_the_limit(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.makes(json!({ "username": "ana", "token_api_enabled": true, "max_tokens": 7 })).await;
    let answers = at_once((0..30).map(|n| create(ana.clone(), format!("token {n}")))).await;
    assert_eq!(succeeded(&answers), 7);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        let message = "this account has reached its limit of 7 tokens; delete one first";
        answer.refuses_saying(409, "token_limit_reached", message);
    }
    assert_eq!(ana.get("/api/token/").await.ok()["total"], 7);
}

/// Pages that are asked for at the same time are read together.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn parallel_lists_and_searches_get_the_pages_they_get_alone(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "0")]).await;
    let users = [("ana", 7), ("ben", 3), ("cleo", 0)];
    let mut asked = Vec::new();
    for (name, tokens) in users {
        let user = app.enabled_user(name).await;
        for n in 0..tokens {
            user.creates(json!({ "name": format!("{name} {n}") })).await;
        }
        let paths = [
            "?size=2",
            "?p=1&size=2",
            "?p=3&size=2",
            "?p=9&size=2",
            "?size=100",
            "/search?keyword=a%25n%25",
            "/search?keyword=n%201",
        ];
        for path in paths.map(|path| format!("/api/token{path}")) {
            let alone = user.get(&path).await.ok();
            asked.extend([(user.clone(), path.clone(), alone.clone()), (user.clone(), path, alone)]);
        }
    }
    let at_once = |(user, path, alone): (Caller, String, Value)| async move {
        let answer = user.get(&path).await;
        assert_eq!(answer.ok(), alone, "{path}");
    };
    for _ in 0..10 {
        asked.iter().cloned().map(at_once).collect::<JoinSet<_>>().join_all().await;
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn parallel_changes_of_one_token_are_all_made(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "before", "model_limits": "o1", "allow_ips": "10.0.0.1" })).await;
    let changes = [
        json!({ "name": "after" }),
        json!({ "remain_quota": 77 }),
        json!({ "model_limits": "gpt-4o", "model_limits_enabled": true }),
        json!({ "group": "auto", "cross_group_retry": true }),
        json!({ "expired_time": 4_000_000_000_i64 }),
    ];
    let tasks = (0..30).map(|n| {
        let (ana, change) = (ana.clone(), changes.get(n % 6).cloned());
        async move {
            if let Some(mut change) = change {
                change["id"] = json!(token);
                ana.put("/api/token/", change).await
            } else {
                let status = json!({ "id": token, "status": 1 + (n / 6) % 2 });
                ana.put("/api/token/?status_only=1", status).await
            }
        }
    });
    assert_eq!(succeeded(&at_once(tasks).await), 30);
    let shown = ana.get(&format!("/api/token/{token}")).await.ok();
    for (field, value) in changes.iter().flat_map(|change| change.as_object().unwrap()) {
        assert_eq!(&shown[field], value, "{field}");
    }
    assert_eq!(shown["allow_ips"], "10.0.0.1");
    assert!([json!(1), json!(2)].contains(&shown["status"]), "{shown}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_parallel_deletes_of_one_token_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    let delete = |ana: Caller| async move { ana.delete(&format!("/api/token/{token}")).await };
    let answers = at_once((0..20).map(|_| delete(ana.clone()))).await;
    assert_eq!(succeeded(&answers), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refuses_saying(404, "not_found", "there is no such token");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn overlapping_batches_delete_every_token_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let mut ids = Vec::new();
    for n in 0..20 {
        ids.push(ana.creates(json!({ "name": format!("token {n}") })).await);
    }
    let batches = (0..20).map(|n| {
        let mut batch: Vec<i64> = (0..8).map(|step| ids[(n + step) % 20]).collect();
        if n % 2 == 0 {
            batch.reverse();
        }
        delete_batch(ana.clone(), batch)
    });
    let deleted: i64 = at_once(batches).await.iter().map(|answer| answer.ok().as_i64().unwrap()).sum();
    assert_eq!((deleted, &ana.get("/api/token/").await.ok()["total"]), (20, &json!(0)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_deleted_while_it_is_changed_stays_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    let tasks = (0..20).map(|n| {
        let ana = ana.clone();
        async move {
            if n == 10 {
                return ana.delete(&format!("/api/token/{token}")).await;
            }
            ana.put("/api/token/", json!({ "id": token, "name": format!("name {n}") })).await
        }
    });
    for answer in at_once(tasks).await.iter().filter(|answer| answer.status != 200) {
        answer.refuses(404, "not_found");
    }
    ana.get(&format!("/api/token/{token}")).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_parallel_decisions_on_one_request_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "our CI" })).await.ok();
    let path = format!("/api/admin/token_api_requests/{}", request["id"]);
    let tasks = (0..20).map(|n| {
        let (root, path) = (root.clone(), path.clone());
        let decision = if n % 2 == 0 { "approve" } else { "refuse" };
        async move { root.post(&path, json!({ "decision": decision })).await }
    });
    let answers = at_once(tasks).await;
    assert_eq!(succeeded(&answers), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refuses_saying(409, "already_decided", "this request has been decided already");
    }
    let state = ana.get("/api/user/token_api_request").await.ok();
    assert_eq!(state["enabled"], json!(state["state"] == "approved"));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_parallel_enablement_requests_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let request = |ana: Caller| async move { ana.post("/api/user/token_api_request", json!({ "reason": "x" })).await };
    let answers = at_once((0..20).map(|_| request(ana.clone()))).await;
    assert_eq!(succeeded(&answers), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refuses(409, "token_api_requested");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn parallel_changes_of_a_wallet_are_all_made(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let path = format!("/api/admin/users/{}/quota", ana.id);
    let tasks = (1..=20).map(|units| {
        let (root, path) = (root.clone(), path.clone());
        async move { root.post(&path, json!({ "delta": units })).await }
    });
    assert_eq!(succeeded(&at_once(tasks).await), 20);
    assert_eq!(ana.get("/api/user/self").await.ok()["quota"], 210);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_parallel_creations_of_one_username_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let tasks = (0..8).map(|n| {
        let root = root.clone();
        let name = if n % 2 == 0 { "ana" } else { "ANA" };
        async move { root.post("/api/admin/users", json!({ "username": name, "password": "12345678" })).await }
    });
    let answers = at_once(tasks).await;
    assert_eq!(succeeded(&answers), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refuses_saying(409, "username_taken", "this username is taken");
    }
}

/// Statements are shared by the requests that wait, but a request never gets rows that were read before it came.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_is_read_after_a_charge_includes_it_on_every_server(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100_000 })).await;
    let servers = [app.server_ahead(0), app.server_ahead(1)];
    let readers: Vec<(Caller, Caller)> = [&app, &servers[0], &servers[1]]
        .into_iter()
        .map(|server| (server.stranger().with_access_token(&format!("Bearer {key}")), ana.at(server)))
        .collect();
    let read = async |(holder, owner): &(Caller, Caller)| {
        let (usage, shown) =
            tokio::join!(holder.get("/api/usage/token/"), async { owner.get(&format!("/api/token/{id}")).await.ok() });
        [usage.json()["data"]["total_used"].as_i64().unwrap(), shown["used_quota"].as_i64().unwrap()]
    };
    // Readers whose statements are under way all the time, for the same rows.
    let mut busy = JoinSet::new();
    for (holder, owner) in readers.iter().cycle().take(9) {
        let (holder, owner) = (holder.clone(), owner.clone());
        busy.spawn(async move {
            let path = format!("/api/token/{id}");
            loop {
                tokio::join!(holder.get("/api/usage/token/"), owner.get(&path));
            }
        });
    }
    for charged in 1..=20 {
        asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
        for reader in &readers {
            assert_eq!(read(reader).await, [charged, charged]);
        }
    }
    busy.shutdown().await;
}

/// L7: each server reads the reservation under the lock of its wallet, not before it waits for it.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_reservation_settled_at_three_servers_that_wait_for_its_wallet_is_charged_once(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let servers = [gateway.clone(), gateway.at(&app.server_ahead(0)), gateway.at(&app.server_ahead(1))];
    for round in 0..5 {
        let made = asks(&gateway, "reserve", &json!({ "key": key, "quota": 100 })).await.ok();
        let mut wallet = app.pool.begin().await.unwrap();
        sqlx::query("select from users where id = $1 for no key update")
            .bind(ana.id)
            .execute(&mut *wallet)
            .await
            .unwrap();
        let settle = json!({ "reservation_id": made["reservation_id"], "quota": 40 });
        let waiting = servers.clone().map(|server| {
            let settle = settle.clone();
            tokio::spawn(async move { asks(&server, "settle", &settle).await.ok() })
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(waiting.iter().all(|task| !task.is_finished()));
        wallet.rollback().await.unwrap();
        for task in waiting {
            let settled: Value = task.await.unwrap();
            assert_eq!((&settled["charged"], &settled["remain_quota"]), (&json!(40), &json!(1_000 - 40 * (round + 1))));
        }
    }
    assert_ledger_invariants(&app.pool).await;
}
