//! Charges and settlements by the usage that providers tell, as it came (specification §11, Usage).

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::NamedTempFile;

use crate::harness::gateway::asks;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Caller, TestApp};

/// A unit of quota is two millionths of a dollar.
fn prices() -> Value {
    let openai = json!({ "id": "openai", "name": "OpenAI", "models": [
        { "id": "gpt", "match": { "starts_with": "gpt" },
          "prices": { "input_mtok": 2, "cache_read_mtok": 0.2, "output_mtok": 10, "web_searches_kcount": 10 },
          "price_variants": [{ "when": { "service_tier": "priority" },
            "prices": { "input_mtok": 4, "cache_read_mtok": 0.4, "output_mtok": 20 } }] }],
        "extractors": [{ "api_flavor": "embeddings", "root": "usage", "model_path": "model",
            "mappings": [{ "path": "prompt_tokens", "dest": "input_tokens", "required": true }] }] });
    let anthropic = json!({ "id": "anthropic", "name": "Anthropic", "models": [
        { "id": "claude", "match": { "starts_with": "claude" },
          "prices": { "input_mtok": 2, "cache_read_mtok": 0.2, "cache_write_mtok": 2.5, "cache_write_1h_mtok": 4,
            "output_mtok": 10, "web_searches_kcount": 10 } }] });
    let google = json!({ "id": "google", "name": "Google", "models": [
        { "id": "gemini", "match": { "starts_with": "gemini" }, "prices": { "input_mtok": 2, "output_mtok": 10 } }],
        "extractors": [{ "api_flavor": "default", "root": "usageMetadata", "model_path": "modelVersion", "mappings": [
            { "path": "promptTokenCount", "dest": "input_tokens", "required": false },
            { "path": "toolUsePromptTokenCount", "dest": "input_tokens", "required": false },
            { "path": "candidatesTokenCount", "dest": "output_tokens", "required": false },
            { "path": "thoughtsTokenCount", "dest": "output_tokens", "required": false }] }] });
    let file = json!({
        "providers": ["openai", "anthropic", "google"],
        "models": { "mine": { "input_mtok": "2", "output_mtok": "10" },
            "ours": { "input_mtok": "2", "output_mtok": "10", "shape": "acme" } },
        "extractors": [{ "providers": { "acme": ["default"] }, "extractor": { "root": "stats",
            "mappings": [{ "path": "read", "dest": "input_tokens" }, { "path": "written", "dest": "output_tokens" }] } }],
    });
    json!({ "file": file, "data": [openai, anthropic, google] })
}

async fn app_with_providers(pool: &PgPool) -> (TestApp, Caller, String) {
    let app = TestApp::new(pool.clone()).await;
    let (root, ana, gateway) = (app.root().await, app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 100_000_000).await;
    root.put("/api/admin/prices", prices()).await.ok();
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    (app, gateway, key)
}

/// Settles a reservation of 777 for a model with these fields; the answer.
async fn settles(gateway: &Caller, key: &str, model: &str, mut fields: Value) -> Value {
    let reserve = json!({ "key": key, "model": model, "quota": 777 });
    fields["reservation_id"] = asks(gateway, "reserve", &reserve).await.ok()["reservation_id"].clone();
    let settled = asks(gateway, "settle", &fields).await.ok();
    assert_eq!(asks(gateway, "settle", &fields).await.ok(), settled, "a retry");
    settled
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l10_usage_costs_what_its_units_cost(pool: PgPool) {
    let (_app, gateway, key) = app_with_providers(&pool).await;
    let chat = json!({ "prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010,
        "prompt_tokens_details": { "cached_tokens": 900 } });
    let priority = json!({ "model": "gpt-5", "service_tier": "priority", "usage": chat });
    let answered = json!({ "model": "gpt-5-2026", "output": [{ "type": "web_search_call" }, { "type": "message" }],
        "usage": { "input_tokens": 100, "output_tokens": 10, "total_tokens": 110 } });
    let messages = json!({ "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 50, "cache_creation": { "ephemeral_1h_input_tokens": 50 },
        "server_tool_use": { "web_search_requests": 1 }, "service_tier": "standard" });
    // Anthropic's names beside the prompt, in OpenAI's shape.
    let rewritten = json!({ "prompt_tokens": 10, "completion_tokens": 5, "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 50, "total_tokens": 965 });
    let gemini = json!({ "usageMetadata": { "promptTokenCount": 100, "toolUsePromptTokenCount": 20,
        "candidatesTokenCount": 10, "thoughtsTokenCount": 30, "totalTokenCount": 160 } });
    let table = [
        ("gpt-5", json!({ "usage": chat }), 240),
        ("gpt-5", json!({ "usage": { "usage": chat } }), 240),
        ("gpt-5", json!({ "usage": priority }), 480),
        ("gpt-5", json!({ "usage": answered }), 5_150),
        ("gpt-5", json!({ "usage": { "prompt_tokens": 8, "total_tokens": 8 }, "flavor": "embeddings" }), 8),
        ("gpt-5", json!({ "usage": chat, "units": { "web_searches": 2 } }), 10_240),
        ("claude-5", json!({ "usage": messages }), 5_225),
        ("claude-5", json!({ "usage": rewritten, "flavor": "chat" }), 188),
        ("gemini-3", json!({ "usage": gemini }), 320),
        ("mine", json!({ "usage": { "prompt_tokens": 7, "completion_tokens": 3 } }), 22),
        ("ours", json!({ "usage": { "stats": { "read": 7, "written": 3 } } }), 22),
        ("mine", json!({ "usage": { "read": 7, "written": 3 }, "provider": "ACME" }), 22),
    ];
    for (model, fields, expected) in table {
        let settled = settles(&gateway, &key, model, fields.clone()).await;
        assert_eq!((&settled["charged"], &settled["priced_by"]), (&json!(expected), &json!("units")), "{fields}");
        let mut charge = fields.clone();
        charge.as_object_mut().unwrap().extend([("key".to_owned(), json!(key)), ("model".to_owned(), json!(model))]);
        assert_eq!(asks(&gateway, "charge", &charge).await.ok()["charged"], expected, "{fields}");
    }
    // Charged is the model that the gateway names, not the provider's own name of it.
    let models = sqlx::query_scalar("select distinct model from charges where model like 'gpt%' order by 1");
    let models: Vec<String> = models.fetch_all(&pool).await.unwrap();
    assert_eq!(models, ["gpt-5"]);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_cost_that_an_answer_tells_counts(pool: PgPool) {
    let (_app, gateway, key) = app_with_providers(&pool).await;
    let told = |usage: Value| json!({ "usage": usage, "provider": "openrouter" });
    let counts = |more: Value| {
        let mut usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
        usage.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        usage
    };
    let table = [
        (told(counts(json!({ "cost": 0.000_1 }))), 50, "told"),
        (
            told(counts(json!({ "cost": 0.000_1, "is_byok": true,
                "cost_details": { "upstream_inference_cost": 0.002 } }))),
            1_050,
            "told",
        ),
        // None, so the counts say it.
        (told(counts(json!({ "cost": 0 }))), 35, "units"),
        (told(counts(json!({ "cost": -1 }))), 35, "units"),
    ];
    for (fields, expected, by) in table {
        let settled = settles(&gateway, &key, "mine", fields.clone()).await;
        assert_eq!((&settled["charged"], &settled["priced_by"]), (&json!(expected), &json!(by)), "{fields}");
    }
    // Units that the list does not know decide nothing, and their names are stored nowhere.
    for unit in ["a\"b", "\0", "requests"] {
        let mut fields = told(counts(json!({ "cost": 0.000_1 })));
        fields["units"] = json!({ unit: 1 });
        assert_eq!(settles(&gateway, &key, "mine", fields.clone()).await["charged"], 50, "{unit:?}");
        fields.as_object_mut().unwrap().extend([("key".to_owned(), json!(key)), ("model".to_owned(), json!("mine"))]);
        assert_eq!(asks(&gateway, "charge", &fields).await.ok()["charged"], 50, "{unit:?}");
    }
    let stored: i64 = sqlx::query_scalar("select count(units) from charges").fetch_one(&pool).await.unwrap();
    assert_eq!(stored, 0);
    // What the gateway sends counts before what the answer tells.
    let both = json!({ "usage": counts(json!({ "cost": 5 })), "provider": "openrouter", "quota": 3 });
    assert_eq!(settles(&gateway, &key, "mine", both).await["charged"], 3);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_that_cannot_be_read_costs_the_hold_and_never_nothing(pool: PgPool) {
    let (app, gateway, key) = app_with_providers(&pool).await;
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!({ "a": deep });
    }
    let large = json!({ "prompt_tokens": 1, "completion_tokens": 1, "text": "x".repeat(70_000) });
    let chat = |more: Value| {
        let mut usage = json!({ "prompt_tokens": 10, "completion_tokens": 5 });
        usage.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        usage
    };
    let (unread, invalid, not_priced) = ("invalid_usage", "invalid_count", "model_not_priced");
    let table = [
        (json!({ "usage": "3 tokens" }), unread, (400, unread)),
        (json!({ "usage": [1, 2] }), unread, (400, unread)),
        (json!({ "usage": {} }), unread, (400, unread)),
        (json!({ "usage": deep }), unread, (400, unread)),
        (json!({ "usage": large }), unread, (400, unread)),
        (json!({ "usage": { "promptTokenCount": 3, "candidatesTokenCount": 4 } }), unread, (400, unread)),
        (json!({ "usage": { "prompt_tokens": 3 } }), unread, (400, unread)),
        (json!({ "usage": { "prompt_tokens": "3", "completion_tokens": 4 } }), unread, (400, unread)),
        (json!({ "usage": { "prompt_tokens": -3, "completion_tokens": 4 } }), unread, (400, unread)),
        (json!({ "usage": chat(json!({})), "flavor": "video" }), unread, (400, unread)),
        (json!({ "usage": chat(json!({})), "units": { "input_tokens": 11 } }), unread, (400, unread)),
        (json!({ "usage": { "prompt_tokens": 1e14, "completion_tokens": 4 } }), unread, (400, unread)),
        (
            json!({ "usage": chat(json!({ "prompt_tokens_details": { "cached_tokens": 11 } })) }),
            invalid,
            (400, invalid),
        ),
        (json!({ "usage": { "prompt_tokens": 0, "completion_tokens": 0 } }), "nothing_used", (400, invalid)),
        (json!({ "usage": { "service_tier": "flex", "usage": chat(json!({})) } }), not_priced, (403, not_priced)),
    ];
    for (fields, reason, (status, code)) in table {
        let settled = settles(&gateway, &key, "gpt-5", fields.clone()).await;
        let found = (&settled["charged"], &settled["priced_by"], &settled["hold_reason"]);
        let shown = fields.to_string().chars().take(200).collect::<String>();
        assert_eq!(found, (&json!(777), &json!("hold"), &json!(reason)), "{shown}");
        let mut charge = fields.clone();
        charge.as_object_mut().unwrap().extend([("key".to_owned(), json!(key)), ("model".to_owned(), json!("gpt-5"))]);
        asks(&gateway, "charge", &charge).await.refuses(status, code);
    }
    // It decides nothing beside an amount.
    let told = settles(&gateway, &key, "gpt-5", json!({ "usage": "?", "quota": 5 })).await;
    assert_eq!((&told["charged"], &told["priced_by"]), (&json!(5), &json!("told")));
    // A number that nobody reads is counted, and its name is in the log.
    settles(&gateway, &key, "gpt-5", json!({ "usage": chat(json!({ "pictures": 3 })) })).await;
    let metrics = app.stranger().get("/metrics").await.text;
    assert!(metrics.contains("keymeter_ledger_unread_usages_total 2\n"), "{metrics}");
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn gateways_get_the_extractors_of_the_list_in_force(pool: PgPool) {
    let (app, gateway, _) = app_with_providers(&pool).await;
    let served = gateway.get("/api/gateway/prices/extractors").await;
    assert_eq!(served.header("etag"), Some("\"1\""));
    let served = served.ok();
    assert_eq!((&served["version"], &served["own"]), (&json!(1), &prices()["file"]["extractors"]));
    let ids: Vec<_> = served["published"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["openai", "google"]);
    // They read what the server reads.
    let mut extractors = keymeter_meter::extractors::Extractors::default();
    for own in ["own", "known"] {
        extractors.add_own(&served[own].to_string(), |_| true).unwrap();
    }
    extractors.add_published(&served["published"].to_string(), |_| true).unwrap();
    for (provider, flavor) in [("acme", "default"), ("anthropic", "default"), ("openai", "embeddings")] {
        assert!(extractors.get(provider, flavor).is_some(), "{provider} {flavor}");
    }
    let mut again = gateway.request(http::Method::GET, "/api/gateway/prices/extractors");
    again.headers_mut().insert(http::header::IF_NONE_MATCH, http::HeaderValue::from_static("\"1\""));
    assert_eq!(gateway.send(again).await.status, 304);
    app.stranger().get("/api/gateway/prices/extractors").await.refuses(401, "invalid_gateway");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_repeats_the_usage_as_it_was_sent(pool: PgPool) {
    let (app, gateway, key) = app_with_providers(&pool).await;
    let body = |usage: &str| -> Value {
        let text = format!(r#"{{"key": "{key}", "model": "gpt-5", "request_id": "r", "usage": {{{usage}}}}}"#);
        serde_json::from_str(&text).unwrap()
    };
    let first = body(r#""prompt_tokens": 10, "completion_tokens": 5"#);
    let charged = asks(&gateway, "charge", &first).await.ok();
    assert_eq!(charged["charged"], 35);
    // Another list, by which it would cost something else.
    let dearer = prices().to_string().replace("\"input_mtok\":2,", "\"input_mtok\":3,");
    app.root().await.put("/api/admin/prices", serde_json::from_str::<Value>(&dearer).unwrap()).await.ok();
    for same in [&first, &body(r#""completion_tokens": 5, "prompt_tokens": 10"#)] {
        assert_eq!(asks(&gateway, "charge", same).await.ok(), charged);
    }
    for other in
        [r#""prompt_tokens": 10, "completion_tokens": 6"#, r#""prompt_tokens": 10, "completion_tokens": 5, "more": 0"#]
    {
        asks(&gateway, "charge", &body(other)).await.refuses(409, "request_id_reused");
    }
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_cost_that_an_answer_tells_is_multiplied_where_the_group_says_so(pool: PgPool) {
    let groups = NamedTempFile::new().unwrap();
    let text = r#"
        [groups.default]
        description = ""
        ratio = "2"
        [groups.resold]
        description = ""
        ratio = "1.5"
        ratio_of_told = true
        [groups.gift]
        description = ""
        ratio = "0"
        ratio_of_told = true
    "#;
    std::fs::write(groups.path(), text).unwrap();
    let app = TestApp::with_file(pool, groups.path()).await;
    let (root, ana, gateway) = (app.root().await, app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 100_000_000).await;
    root.put("/api/admin/prices", prices()).await.ok();
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "cost": 0.00001 });
    let free = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "cost": 0 });
    // The cost as it was told, one of 0, and an amount that the gateway sends.
    for (group, told, counted, sent) in [("", 5, 300, 7), ("resold", 8, 225, 7), ("gift", 0, 0, 7)] {
        let name = format!("of {group}");
        let (_, key) = ana.creates_with_key(json!({ "name": name, "unlimited_quota": true, "group": group })).await;
        for (fields, expected) in [
            (json!({ "usage": usage, "provider": "openrouter" }), told),
            (json!({ "usage": free, "provider": "openai" }), counted),
            (json!({ "usage": usage, "provider": "openrouter", "quota": 7 }), sent),
            (json!({ "usd": "0.000014" }), sent),
        ] {
            assert_eq!(settles(&gateway, &key, "gpt-5", fields.clone()).await["charged"], expected, "{group} {fields}");
            let mut charge = fields.clone();
            charge["key"] = json!(key);
            charge["model"] = json!("gpt-5");
            assert_eq!(asks(&gateway, "charge", &charge).await.ok()["charged"], expected, "{group} {fields}");
        }
    }
    assert_ledger_invariants(&app.pool).await;
}
