//! Price lists that administrators set (specification §11, Price list): versions, and what no list changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use http::{HeaderValue, Method, header};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::asks;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, PLENTY, START, Servers, TestApp, database};

const PRICES: &str = "/api/admin/prices";

/// Two providers; of the first, a model that costs a unit for each input token.
fn data() -> Value {
    json!([
        { "id": "lab", "name": "Lab", "models": [
            { "id": "m", "match": { "starts_with": "m" }, "prices": { "input_mtok": 2, "output_mtok": 10 } },
            { "id": "free", "match": { "equals": "free" }, "prices": {} }] },
        { "id": "other", "name": "Other", "models": [
            { "id": "o", "match": { "equals": "o" }, "prices": { "input_mtok": 4, "output_mtok": 10 } }] },
    ])
}

fn file(dollars: &str) -> Value {
    json!({ "providers": ["lab"], "models": { "mine": { "input_mtok": dollars, "output_mtok": "10" } } })
}

async fn sets(root: &Caller, body: Value) -> Answer {
    root.put(PRICES, body).await
}

async fn sets_if(root: &Caller, tag: &str, body: Value) -> Answer {
    let mut request = root.request(Method::PUT, PRICES);
    request.headers_mut().insert(header::IF_MATCH, HeaderValue::from_str(tag).unwrap());
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *request.body_mut() = Body::from(body.to_string());
    root.send(request).await
}

/// What 100 input tokens of a model cost.
async fn cost(gateway: &Caller, key: &str, model: &str) -> Result<i64, String> {
    let body = json!({ "key": key, "model": model, "prompt_tokens": 100, "completion_tokens": 0 });
    let answer = asks(gateway, "charge", &body).await;
    match answer.status.as_u16() {
        200 => Ok(answer.ok()["charged"].as_i64().unwrap()),
        _ => Err(answer.json()["error"].as_str().unwrap().to_owned()),
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l10_a_list_that_is_set_is_in_force_on_every_server_at_once(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    let (root, ana, gateway) = (app.root().await, app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let second = gateway.at(&app.server_ahead(0));
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let not_priced = || Err("model_not_priced".to_owned());
    let none = root.get(PRICES).await;
    let none = (none.header("etag").map(str::to_owned), none.ok()["number"].clone(), none.ok()["file"].clone());
    assert_eq!(none, (Some("\"0\"".to_owned()), json!(0), json!({})));

    let set = sets(&root, json!({ "file": file("3"), "data": data(), "note": "first" })).await;
    assert_eq!(set.header("etag"), Some("\"1\""));
    let left_out = json!([{ "provider": "lab", "model": "free",
        "reason": "it has no price: it is free, or sold by subscription" }]);
    let shown = json!({ "number": 1, "created_time": START, "created_by": 1, "note": "first", "file": file("3"),
        "data_bytes": data().to_string().len(), "left_out": left_out });
    assert_eq!(set.ok(), shown);
    assert_eq!(root.get(PRICES).await.ok(), shown);
    for gateway in [&gateway, &second] {
        assert_eq!(cost(gateway, &key, "mine").await, Ok(150));
        assert_eq!(cost(gateway, &key, "M-2").await, Ok(100), "names of providers are in any case");
        for model in ["free", "o", "nobody"] {
            assert_eq!(cost(gateway, &key, model).await, not_priced(), "{model}");
        }
    }

    // The data alone: the file stays.
    let cheaper = data().to_string().replace("\"input_mtok\":2", "\"input_mtok\":1");
    let cheaper: Value = serde_json::from_str(&cheaper).unwrap();
    sets(&root, json!({ "data": cheaper })).await.ok();
    for gateway in [&gateway, &second] {
        assert_eq!((cost(gateway, &key, "mine").await, cost(gateway, &key, "m").await), (Ok(150), Ok(50)));
    }
    // And a former version again.
    sets(&root, json!({ "version": 1, "note": "back" })).await.ok();
    assert_eq!(cost(&second, &key, "m").await, Ok(100));
    let versions = root.get("/api/admin/prices/versions").await.ok();
    let notes: Vec<_> =
        versions.as_array().unwrap().iter().map(|version| (&version["number"], &version["note"])).collect();
    assert_eq!(notes, [(&json!(3), &json!("back")), (&json!(2), &json!("")), (&json!(1), &json!("first"))]);
    let second_version = root.get("/api/admin/prices/versions/2").await.ok();
    assert_eq!((&second_version["data"], &second_version["file"]), (&cheaper, &file("3")));
    root.get("/api/admin/prices/versions/4").await.refuses(404, "not_found");

    let audit = root.get("/api/admin/audit?action=prices.set").await.ok();
    assert_eq!((&audit["total"], &audit["items"][0]["details"]["version"]), (&json!(3), &json!("3")));
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_list_that_cannot_be_used_changes_nothing(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    let (root, ana, gateway) = (app.root().await, app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    sets(&root, json!({ "file": file("3"), "data": data() })).await.ok();
    let table = [
        (json!({ "file": [] }), 400, "invalid_prices"),
        (json!({ "file": { "model": {} } }), 400, "invalid_prices"),
        (json!({ "data": {} }), 400, "invalid_prices"),
        (json!({ "file": { "providers": ["labs"] } }), 400, "invalid_prices"),
        (json!({ "file": { "models": { "a": { "input_mtok": -1 } } } }), 400, "invalid_prices"),
        (json!({ "files": file("3") }), 400, "invalid_field"),
        (json!({ "version": 7 }), 404, "not_found"),
        (json!({ "note": "x".repeat(2_001) }), 400, "invalid_text"),
        // Beyond double, and a model that was charged goes.
        (json!({ "file": file("6.1") }), 409, "prices_need_acceptance"),
        (json!({ "file": { "models": {} } }), 409, "prices_need_acceptance"),
    ];
    assert_eq!(cost(&gateway, &key, "mine").await, Ok(150));
    for (body, status, code) in table {
        sets(&root, body.clone()).await.refuses(status, code);
        assert_eq!(cost(&gateway, &key, "mine").await, Ok(150), "{body}");
    }
    let far = "this list needs to be accepted (`accept`): mine: input_tokens from 3 to 6.1";
    sets(&root, json!({ "file": file("6.1") })).await.refuses_saying(409, "prices_need_acceptance", far);
    let compared = root.post("/api/admin/prices/diff", json!({ "file": file("6.1") })).await.ok();
    let change = json!({ "model": "mine", "rate": "input_tokens", "from": "3", "to": "6.1" });
    let expected = json!({ "number": 1, "changes": [change], "need_acceptance": ["mine: input_tokens from 3 to 6.1"],
        "left_out": compared["left_out"] });
    assert_eq!((compared["left_out"].as_array().unwrap().len(), compared), (1, expected));
    root.post("/api/admin/prices/diff", json!({ "file": [] })).await.refuses(400, "invalid_prices");
    ana.post("/api/admin/prices/diff", json!({})).await.refuses(403, "not_an_administrator");
    sets_if(&root, "\"7\"", json!({ "file": file("4") })).await.refuses(412, "prices_changed");
    sets_if(&root, "7", json!({ "file": file("4") })).await.refuses(400, "invalid_if_match");
    assert_eq!(root.get(PRICES).await.ok()["number"], 1);
    for caller in [&ana, &gateway, &app.stranger()] {
        assert!([401, 403].contains(&caller.put(PRICES, json!({ "file": file("4") })).await.status.as_u16()));
        assert!([401, 403].contains(&caller.get(PRICES).await.status.as_u16()));
    }

    sets(&root, json!({ "file": file("6.1"), "accept": true })).await.ok();
    assert_eq!(cost(&gateway, &key, "mine").await, Ok(305));
    sets_if(&root, "\"2\"", json!({ "file": file("4") })).await.ok();
    assert_eq!(cost(&gateway, &key, "mine").await, Ok(200));
    // Of lists that are set at once, one is.
    let both =
        futures_util::future::join_all((0..4).map(|_| sets_if(&root, "\"3\"", json!({ "file": file("5") })))).await;
    let set: Vec<u16> = both.iter().map(|answer| answer.status.as_u16()).filter(|status| *status == 200).collect();
    assert_eq!(set, [200]);
    assert_eq!(root.get(PRICES).await.ok()["number"], 4);
}

#[sqlx::test(migrations = false)]
async fn l10_no_charge_goes_by_a_list_that_was_replaced_on_three_servers_under_load(pool: PgPool) {
    let servers = Arc::new(Servers::start(&database::url(&pool), 3, &[]).await);
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let set = async |dollars: &str| {
        let body =
            json!({ "file": { "models": { "m": { "input_mtok": dollars, "output_mtok": "1" } } }, "accept": true });
        servers.root.put(PRICES, body).await.ok();
    };
    set("2").await;
    let stop = Arc::new(AtomicBool::new(false));
    let load: Vec<_> = (0..12)
        .map(|n| {
            let (servers, stop, key) = (Arc::clone(&servers), Arc::clone(&stop), key.clone());
            tokio::spawn(async move {
                let gateway = servers.gateway(n % 3);
                while !stop.load(Ordering::Relaxed) {
                    let body = json!({ "key": key, "model": "m", "prompt_tokens": 100, "completion_tokens": 0 });
                    let charged = gateway.post("/api/gateway/charge", body).await.ok()["charged"].as_i64().unwrap();
                    assert!([100, 150].contains(&charged), "{charged}");
                }
            })
        })
        .collect();
    for round in 0..20 {
        let (dollars, units) = [("3", 150), ("2", 100)][round % 2];
        set(dollars).await;
        for server in 0..3 {
            let body = json!({ "key": key, "model": "m", "prompt_tokens": 100, "completion_tokens": 0 });
            let charged = servers.gateway(server).post("/api/gateway/charge", body).await.ok()["charged"].clone();
            assert_eq!(charged, units, "server {server} in round {round}");
        }
    }
    stop.store(true, Ordering::Relaxed);
    for one in load {
        one.await.unwrap();
    }
    assert_ledger_invariants(&servers.pool().await).await;
    assert!(servers.doctor().contains("L10 hold"), "{}", servers.doctor());
}
