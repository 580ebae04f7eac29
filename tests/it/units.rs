//! Costs of units by name (specification §11): what is counted, refused, and charged the hold.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::asks;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Caller, START, TestApp};

/// Two dollars for a million are a unit of quota for one.
fn prices() -> Value {
    let lab = json!({ "id": "lab", "name": "Lab", "models": [
        { "id": "m", "match": { "starts_with": "m" },
          "prices": { "input_mtok": 2, "cache_read_mtok": 0.2, "cache_write_mtok": 2.5, "cache_write_1h_mtok": 4,
            "output_mtok": 10, "web_searches_kcount": 10 },
          "price_variants": [{ "when": { "service_tier": "priority" },
            "prices": { "input_mtok": 4, "output_mtok": 20 } }] },
        { "id": "shared", "match": { "equals": "shared" }, "prices": { "input_mtok": 2, "output_mtok": 2 } },
        { "id": "sound", "match": { "equals": "sound" },
          "prices": { "input_mtok": 2, "cache_read_mtok": 0.2, "output_mtok": 10, "input_audio_mtok": 20,
            "cache_audio_read_mtok": 2 } },
        { "id": "speech", "match": { "equals": "speech" }, "prices": { "audio_hours": 3.6 } }] });
    let other = json!({ "id": "other", "name": "Other", "models": [
        { "id": "shared", "match": { "equals": "shared" }, "prices": { "input_mtok": 6, "output_mtok": 6 } }] });
    json!({
        "file": { "providers": ["lab", "other"], "models": { "once": { "requests_kcount": "4" } } },
        "data": [lab, other],
    })
}

/// A service with these prices, a key without a limit, and a gateway.
async fn app_with_units(pool: &PgPool) -> (TestApp, Caller, Caller, String) {
    let app = TestApp::new(pool.clone()).await;
    let (root, ana, gateway) = (app.root().await, app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 100_000_000).await;
    root.put("/api/admin/prices", prices()).await.ok();
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    (app, ana, gateway, key)
}

fn with(mut body: Value, fields: &Value) -> Value {
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l10_units_cost_what_the_list_says_however_they_are_named(pool: PgPool) {
    let (_app, ana, gateway, key) = app_with_units(&pool).await;
    let table = [
        (json!({ "units": { "input_tokens": 100, "output_tokens": 10 } }), 150),
        (json!({ "prompt_tokens": 100, "completion_tokens": 10 }), 150),
        (json!({ "prompt_tokens": 100, "completion_tokens": 10, "units": { "input_tokens": 100 } }), 150),
        (json!({ "prompt_tokens": 100, "completion_tokens": 0, "cached_tokens": 50 }), 55),
        (json!({ "units": { "input_tokens": 100, "cache_read_tokens": 50, "output_tokens": null } }), 55),
        (json!({ "units": { "input_tokens": 1000, "cache_write_tokens": 1000, "cache_write_1h_tokens": 400 } }), 1550),
        (json!({ "model": "sound", "units": { "input_tokens": 100, "input_audio_tokens": 50 } }), 550),
        (json!({ "units": { "input_tokens": 100, "web_searches": 2 } }), 10_100),
        (json!({ "units": { "input_tokens": 100 }, "context": { "service_tier": "priority" } }), 200),
        (json!({ "units": { "input_tokens": 100 }, "context": { "service_tier": "default" } }), 100),
        (json!({ "units": { "input_tokens": 100 }, "provider": "lab" }), 100),
        (json!({ "model": "shared", "units": { "input_tokens": 100 }, "provider": "other" }), 300),
        (json!({ "model": "speech", "units": { "audio_seconds": 12.5 } }), 6_250),
        (json!({ "model": "once", "units": {} }), 2_000),
    ];
    for (fields, expected) in table {
        let charged = asks(&gateway, "charge", &with(json!({ "key": key, "model": "m" }), &fields)).await.ok();
        assert_eq!((&charged["charged"], &charged["priced_by"]), (&json!(expected), &json!("units")), "{fields}");
        assert!(charged.get("hold_reason").is_none(), "{charged}");
        let model = fields.get("model").cloned().unwrap_or_else(|| json!("m"));
        let reserved = asks(&gateway, "reserve", &json!({ "key": key, "model": model, "quota": 1 })).await.ok();
        let settle = with(json!({ "reservation_id": reserved["reservation_id"] }), &fields);
        let settled = asks(&gateway, "settle", &settle).await.ok();
        assert_eq!((&settled["charged"], &settled["priced_by"]), (&json!(expected), &json!("units")), "{fields}");
    }
    // The list of requests has all of them.
    let all = ana.get("/api/usage/requests?size=100").await.ok()["items"].clone();
    let shown: Vec<_> = all.as_array().unwrap().iter().map(|row| (&row["quota"], &row["units"])).collect();
    let searched = json!({ "input_tokens": 100, "web_searches": 2 });
    assert_eq!(shown.iter().filter(|row| **row == (&json!(10_100), &searched)).count(), 2, "{shown:?}");
    assert!(all.as_array().unwrap().iter().all(|row| row["priced_by"] == "units"), "{all}");
    // Units with a column and those without.
    let rows: Vec<(i64, Option<i64>, Option<Value>)> = sqlx::query_as(
        "select distinct on (units) prompt_tokens, cache_write_tokens, units from charges order by units, id",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let others: Vec<String> = rows.iter().filter_map(|(.., units)| Some(units.as_ref()?.to_string())).collect();
    assert_eq!(
        others,
        [
            r#"{"audio_seconds":12.5}"#,
            r#"{"cache_write_1h_tokens":400}"#,
            r#"{"input_audio_tokens":50}"#,
            r#"{"web_searches":2}"#
        ]
        .map(str::to_owned),
        "{rows:?}"
    );
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn units_that_cannot_be_are_refused_and_a_settlement_with_them_costs_its_hold(pool: PgPool) {
    let (_app, _, gateway, key) = app_with_units(&pool).await;
    let (invalid, not_priced) = ((400, "invalid_count"), (403, "model_not_priced"));
    let parts = "`cache_read_tokens` and `cache_write_tokens` are parts of `input_tokens`, so together they must not \
                 be more than that";
    let number = "must be a number from 0 to 1000000000000, with 9 decimals at most";
    let table = [
        (json!({ "units": { "input_token": 1 } }), invalid, "the unit `input_token` is not known".to_owned()),
        (json!({ "units": { "input_tokens": 1, "a\"b\\": 1 } }), invalid, "the unit `a\"b\\` is not known".into()),
        (json!({ "units": { "input_tokens": 1, "\0": 1 } }), invalid, "the unit `\0` is not known".into()),
        (json!({ "units": { "requests": 2, "input_tokens": 1 } }), invalid, "the unit `requests` is not known".into()),
        (
            json!({ "units": { "cache_read_tokens": 1 } }),
            invalid,
            "`cache_read_tokens` counts a part of `input_tokens`, so it must not be more than that".into(),
        ),
        (
            json!({ "units": { "input_tokens": 9, "cache_read_tokens": 5, "cache_write_tokens": 5 } }),
            invalid,
            parts.into(),
        ),
        (
            json!({ "prompt_tokens": 1, "completion_tokens": 1, "units": { "input_tokens": 2 } }),
            invalid,
            "`input_tokens` was sent twice, with different numbers".into(),
        ),
        (json!({ "units": { "input_tokens": 1.5 } }), invalid, "`input_tokens` must be a whole number".into()),
        (json!({ "units": { "input_tokens": -1 } }), invalid, format!("`input_tokens` {number}")),
        (json!({ "units": { "input_tokens": "7" } }), invalid, format!("`input_tokens` {number}")),
        (json!({ "units": { "input_tokens": 1e18 } }), invalid, format!("`input_tokens` {number}")),
        (json!({ "prompt_tokens": 1e30, "completion_tokens": 1 }), invalid, format!("`prompt_tokens` {number}")),
        (
            json!({ "units": [1] }),
            invalid,
            "`units` must be an object of numbers by the names of units, at most 64".into(),
        ),
        (
            json!({ "model": "sound", "units": { "input_tokens": 10, "input_audio_tokens": 5, "cache_read_tokens": 5 } }),
            invalid,
            "`cache_audio_read_tokens` is missing: other units were counted that may be the same".into(),
        ),
        (
            json!({ "units": { "input_tokens": 1, "storage_searches": 1 } }),
            not_priced,
            "the model \"m\" has no rate for `storage_searches`".into(),
        ),
        (
            json!({ "units": { "input_tokens": 1 }, "context": { "service_tier": "scale" } }),
            not_priced,
            "the model \"m\" has no price for service_tier = \"scale\"".into(),
        ),
        (
            json!({ "units": { "input_tokens": 1 }, "provider": "nobody" }),
            not_priced,
            "the model \"m\" has no price at \"nobody\": the price list has no such provider".into(),
        ),
        (
            json!({ "units": { "input_tokens": 1 }, "model": "shared" }),
            not_priced,
            "the model \"shared\" has different prices at \"lab\" and \"other\": send `provider`, or choose one of them \
             in the price list"
                .into(),
        ),
    ];
    for (fields, (status, code), message) in table {
        let body = with(json!({ "key": key, "model": "m" }), &fields);
        for call in ["charge", "reserve"] {
            asks(&gateway, call, &body).await.refuses_saying(status, code, &message);
        }
        let verified = asks(&gateway, "verify", &body).await;
        if status == 400 {
            verified.refuses_saying(status, code, &message);
        } else {
            assert_eq!(verified.ok()["reason"], code, "{fields}");
        }
        let reserve = json!({ "key": key, "model": body["model"], "quota": 77 });
        let reserved = asks(&gateway, "reserve", &reserve).await.ok();
        let settle = with(json!({ "reservation_id": reserved["reservation_id"] }), &fields);
        for _ in 0..2 {
            let settled = asks(&gateway, "settle", &settle).await.ok();
            let reason = if status == 400 { "invalid_count" } else { "model_not_priced" };
            let found = (&settled["charged"], &settled["priced_by"], &settled["hold_reason"]);
            assert_eq!(found, (&json!(77), &json!("hold"), &json!(reason)), "{fields}");
        }
    }
    let many: serde_json::Map<String, Value> = (0..9).map(|at| (format!("k{at}"), json!("v"))).collect();
    let message = "`context` must have 1 to 64 visible characters, and a context at most 8 members";
    let body = json!({ "key": key, "model": "m", "units": { "input_tokens": 1 }, "context": many });
    asks(&gateway, "charge", &body).await.refuses_saying(400, "invalid_context", message);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn without_a_list_no_model_has_a_price(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let message = "the model \"m\" has no price: add one with `keymeter prices set`, or send `quota` or `usd`";
    for counts in [
        json!({ "prompt_tokens": 1, "completion_tokens": 1 }),
        json!({ "units": { "input_tokens": 1, "web_searches": 1 } }),
        json!({ "usage": { "prompt_tokens": 1, "completion_tokens": 1 } }),
    ] {
        let body = with(json!({ "key": key, "model": "m" }), &counts);
        asks(&gateway, "charge", &body).await.refuses_saying(403, "model_not_priced", message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nothing_counted_is_never_free(pool: PgPool) {
    let (app, ana, gateway, key) = app_with_units(&pool).await;
    let nothing = "nothing was counted; to charge nothing, send `quota`: 0";
    for counts in [json!({ "units": {} }), json!({ "prompt_tokens": 0, "completion_tokens": 0 })] {
        let body = with(json!({ "key": key, "model": "m" }), &counts);
        asks(&gateway, "charge", &body).await.refuses_saying(400, "invalid_count", nothing);
    }
    let settles = async |reserve: Value, settle: Value| {
        let reserve = with(json!({ "key": key, "model": "m" }), &reserve);
        let reserved = asks(&gateway, "reserve", &reserve).await.ok();
        let settle = with(json!({ "reservation_id": reserved["reservation_id"] }), &settle);
        let settled = asks(&gateway, "settle", &settle).await.ok();
        (settled["charged"].as_i64().unwrap(), settled["hold_reason"].as_str().map(str::to_owned))
    };
    let held = |reason: &str| Some(reason.to_owned());
    let named = json!({ "units": { "input_tokens": 20, "output_tokens": 10 } });
    let table = [
        (json!({ "quota": 70 }), json!({ "units": {} }), (70, held("nothing_used"))),
        (named.clone(), json!({ "prompt_tokens": 0, "completion_tokens": 0 }), (90, held("nothing_used"))),
        (named.clone(), json!({ "units": { "output_tokens": 7 } }), (90, held("no_input"))),
        (json!({ "quota": 70 }), json!({ "units": { "output_tokens": 7 } }), (35, None)),
        (named.clone(), json!({ "quota": 0, "units": { "output_tokens": 7 } }), (0, None)),
        // The tier that was asked for, unless another one was served.
        (with(named.clone(), &json!({ "context": { "service_tier": "priority" } })), named.clone(), (140, None)),
        (
            with(named.clone(), &json!({ "context": { "service_tier": "priority" } })),
            with(named.clone(), &json!({ "context": { "service_tier": "default" } })),
            (70, None),
        ),
        (with(named.clone(), &json!({ "provider": "other", "model": "shared" })), named.clone(), (90, None)),
    ];
    for (reserve, settle, expected) in table {
        assert_eq!(settles(reserve.clone(), settle.clone()).await, expected, "{reserve} {settle}");
    }
    let held = ana.get("/api/usage/requests?size=100&format=csv").await.text;
    assert_eq!(held.matches(",hold,nothing_used\r\n").count(), 2, "{held}");
    assert_eq!(held.matches(",hold,no_input\r\n").count(), 1, "{held}");
    let metrics = app.stranger().get("/metrics").await.text;
    let no_input = "keymeter_ledger_charges_total{priced_by=\"hold\",hold_reason=\"no_input\"} 1";
    assert!(metrics.contains(no_input), "{metrics}");
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_repeats_units_context_and_provider(pool: PgPool) {
    let (app, _, gateway, key) = app_with_units(&pool).await;
    let all = json!({ "units": { "input_tokens": 10, "web_searches": 1 }, "context": { "service_tier": "priority" },
        "provider": "lab" });
    let others = [
        json!({ "units": { "input_tokens": 10, "web_searches": 2 } }),
        json!({ "units": { "input_tokens": 10 } }),
        json!({ "context": { "service_tier": "default" } }),
        json!({ "context": null }),
        json!({ "provider": null }),
    ];
    for call in ["charge", "reserve"] {
        let first = with(json!({ "key": key, "model": "m", "request_id": call }), &all);
        let answer = asks(&gateway, call, &first).await.ok();
        assert_eq!(asks(&gateway, call, &first).await.ok(), answer);
        for other in &others {
            asks(&gateway, call, &with(first.clone(), other)).await.refuses(409, "request_id_reused");
        }
        let told = with(json!({ "key": key, "model": "m", "request_id": format!("told {call}"), "quota": 5 }), &all);
        asks(&gateway, call, &told).await.ok();
        asks(&gateway, call, &with(told, &others[0])).await.refuses(409, "request_id_reused");
    }
    let reserved = asks(&gateway, "reserve", &json!({ "key": key, "model": "m", "quota": 9_000 })).await.ok();
    let settle = with(json!({ "reservation_id": reserved["reservation_id"] }), &all);
    let settled = asks(&gateway, "settle", &settle).await.ok();
    assert_eq!((&settled["charged"], asks(&gateway, "settle", &settle).await.ok()), (&json!(5_020), settled.clone()));
    for other in &others[..3] {
        asks(&gateway, "settle", &with(settle.clone(), other)).await.refuses(409, "reservation_ended");
    }
    let reserved = asks(&gateway, "reserve", &json!({ "key": key, "model": "m", "quota": 9_000 })).await.ok();
    let plain = json!({ "reservation_id": reserved["reservation_id"], "units": { "input_tokens": 10 } });
    let settled_plain = asks(&gateway, "settle", &plain).await.ok();
    // Another price changes nothing of what was settled.
    let dearer = prices().to_string().replace("\"input_mtok\":4", "\"input_mtok\":6");
    let dearer = dearer.replace("\"input_mtok\":2", "\"input_mtok\":3");
    let mut dearer: Value = serde_json::from_str(&dearer).unwrap();
    dearer["note"] = json!("dearer");
    app.root().await.put("/api/admin/prices", dearer).await.ok();
    assert_eq!(asks(&gateway, "settle", &settle).await.ok(), settled);
    for units in [json!({ "input_tokens": 10 }), json!({ "input_tokens": 10, "output_tokens": 0 })] {
        let again = json!({ "reservation_id": plain["reservation_id"], "units": units });
        assert_eq!(asks(&gateway, "settle", &again).await.ok(), settled_plain);
    }
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_see_which_models_were_charged_their_holds_in_the_last_hour(pool: PgPool) {
    let (app, _ana, gateway, key) = app_with_units(&pool).await;
    let admin = app.admin("carla").await;
    let held = async || admin.get("/api/admin/overview").await.ok()["charged_by_hold_last_hour"].clone();
    assert_eq!(held().await, json!([]));
    for (model, units) in
        [("m", json!({ "web_search": 1 })), ("nobody", json!({})), ("m", json!({ "x": 1 })), ("m", json!({}))]
    {
        let reserve = json!({ "key": key, "quota": 7 });
        let id = asks(&gateway, "reserve", &reserve).await.ok()["reservation_id"].clone();
        let settle = json!({ "reservation_id": id, "model": model, "units": units });
        assert_eq!(asks(&gateway, "settle", &settle).await.ok()["priced_by"], "hold", "{settle}");
    }
    let line = |model: &str, reason: &str, requests: i64| json!({ "model": model, "reason": reason, "requests": requests, "last": START });
    let expected = [line("m", "invalid_count", 2), line("m", "nothing_used", 1), line("nobody", "model_not_priced", 1)];
    assert_eq!(held().await, json!(expected));
    app.clock.advance(3_601);
    assert_eq!(held().await, json!([]));
}
