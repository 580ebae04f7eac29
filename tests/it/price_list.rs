//! What everyone sees of the price list (specification §11, Price list): its pages, and what a request would cost.

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::NamedTempFile;

use crate::harness::gateway::asks;
use crate::harness::{Caller, TestApp};

const GROUPS: &str = r#"
    [groups.default]
    description = ""
    ratio = "1"
    [groups.half]
    description = ""
    ratio = "0.5"
    [groups.staff]
    description = ""
    ratio = "0"
    open = false
"#;

/// A service with a list: prices of one's own, and models of two providers that count, and of one that does not.
async fn app_with_list(pool: PgPool) -> (TestApp, Caller) {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), GROUPS).unwrap();
    let app = TestApp::with_file(pool, file.path()).await;
    let tiered = json!({ "base": 3, "tiers": [{ "start": 1000, "price": 6 }] });
    let sonnet = json!({ "id": "sonnet", "match": { "starts_with": "sonnet" },
        "prices": { "input_mtok": tiered, "output_mtok": 15, "cache_read_mtok": 0.3, "cache_write_mtok": 3.75,
            "cache_write_1h_mtok": 6, "web_searches_kcount": 10 },
        "price_variants": [{ "when": { "service_tier": "batch" }, "prices": { "input_mtok": 1.5, "output_mtok": 7.5 } }] });
    let model = |id: &str, dollars: i64| json!({ "id": id, "match": { "equals": id }, "prices": { "input_mtok": dollars, "output_mtok": 10 } });
    let data = json!([
        { "id": "lab", "name": "", "models": [sonnet, model("both", 1)] },
        { "id": "shop", "name": "", "models": [model("both", 2)] },
        { "id": "other", "name": "", "models": [model("hidden", 2)] },
    ]);
    let file = json!({ "providers": ["shop", "lab"], "models": {
        "mine": { "input_mtok": "1" }, "My-*": { "input_mtok": "2" }, "chosen": { "provider": "shop" } } });
    app.root().await.put("/api/admin/prices", json!({ "file": file, "data": data })).await.ok();
    let ana = app.enabled_user("ana").await;
    (app, ana)
}

fn names(listed: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let name = |item: &Value| format!("{} {} {}", text(&item["model"]), text(&item["provider"]), item["own"]);
    listed["items"].as_array().unwrap().iter().map(name).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_list_has_pages_and_a_search(pool: PgPool) {
    let (app, ana) = app_with_list(pool).await;
    let all =
        ["My-* - true", "chosen shop true", "mine - true", "both lab false", "sonnet lab false", "both shop false"];
    let table: [(&str, usize, &[&str]); 9] = [
        ("", 6, &all),
        ("?size=2&p=1", 6, &all[2..4]),
        ("?page_size=4&p=2", 6, &all[4..]),
        ("?keyword=%20SONN", 1, &all[4..5]),
        ("?keyword=lab%2F", 2, &all[3..5]),
        ("?keyword=my-model", 1, &all[..1]),
        ("?own=true", 3, &all[..3]),
        ("?own=true&keyword=m", 2, &["My-* - true", "mine - true"]),
        ("?keyword=hidden", 0, &[]),
    ];
    for (query, total, expected) in table {
        let listed = ana.get(&format!("/api/prices{query}")).await.ok();
        assert_eq!(
            (names(&listed), &listed["total"]),
            (expected.iter().map(|s| (*s).to_owned()).collect(), &json!(total))
        );
    }
    for query in ["?size=x", "?p=-1"] {
        ana.get(&format!("/api/prices{query}")).await.refuses(400, "invalid_page");
    }
    ana.get("/api/prices?own=maybe").await.refuses(400, "invalid_query");
    app.stranger().get("/api/prices").await.refuses(401, "not_signed_in");

    let listed = ana.get("/api/prices?keyword=sonnet").await.ok();
    let item = &listed["items"][0];
    let rate = item["rates"].as_array().unwrap().iter().find(|rate| rate["unit"] == "input_tokens").unwrap();
    let tiers = json!([{ "start": 1000, "usd": "6" }]);
    let expected = json!({ "unit": "input_tokens", "per": 1_000_000, "key": "input_mtok", "usd": "3", "tiers": tiers });
    assert_eq!((item["rates"].as_array().unwrap().len(), rate), (6, &expected));
    let variant = &item["variants"][0];
    assert_eq!((&variant["when"], &variant["rates"][0]["usd"]), (&json!({ "service_tier": "batch" }), &json!("1.5")));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_cost_is_what_would_be_charged_and_says_its_rates(pool: PgPool) {
    let (app, ana) = app_with_list(pool).await;
    let gateway = app.gateway().await;
    app.fills(&ana, 1_000_000).await;
    let costs = async |body: &Value| ana.post("/api/prices/cost", body.clone()).await;
    let units = json!({ "input_tokens": 900, "cache_write_tokens": 500, "cache_write_1h_tokens": 200,
        "output_tokens": 10, "web_searches": 2 });
    let body = json!({ "model": "sonnet", "units": units });
    let line = |unit: &str, count: &str, rate: &str, per: i64, usd: &str| json!({ "unit": unit, "count": count, "rate": rate, "per": per, "usd": usd });
    let mut cost = costs(&body).await.ok();
    cost["lines"].as_array_mut().unwrap().sort_by_key(|line| line["unit"].to_string());
    let lines = [
        line("cache_write_1h_tokens", "200", "6", 1_000_000, "0.0012"),
        line("cache_write_tokens", "300", "3.75", 1_000_000, "0.001125"),
        line("input_tokens", "400", "3", 1_000_000, "0.0012"),
        line("output_tokens", "10", "15", 1_000_000, "0.00015"),
        line("web_searches", "2", "10", 1_000, "0.02"),
    ];
    assert_eq!(cost["lines"], json!(lines));
    // 0.023675 dollars; and what is written to a cache at most.
    assert_eq!([&cost["quota"], &cost["hold"], &cost["ratio"]], [&json!(11_838), &json!(12_775), &json!("1")]);

    for group in ["", "half"] {
        for context in [json!({}), json!({ "service_tier": "batch" })] {
            for input in [1_000, 1_001] {
                let mut body = body.clone();
                body["context"] = context.clone();
                body["units"]["input_tokens"] = json!(input);
                let mut named = body.clone();
                named["group"] = json!(group);
                let (cost, name) = (costs(&named).await.ok(), format!("{group}{context}{input}"));
                let (_, key) = ana
                    .creates_with_key(
                        json!({ "name": &name[..20.min(name.len())], "unlimited_quota": true, "group": group }),
                    )
                    .await;
                body["key"] = json!(key);
                assert_eq!(asks(&gateway, "charge", &body).await.ok()["charged"], cost["quota"], "{name}");
                assert_eq!(asks(&gateway, "reserve", &body).await.ok()["reserved"], cost["hold"], "{name}");
            }
        }
    }
    let table = [
        (json!({ "model": "hidden", "units": {} }), 403, "model_not_priced"),
        (json!({ "model": "both", "units": { "input_tokens": 1 } }), 403, "model_not_priced"),
        (json!({ "model": "mine", "units": { "output_tokens": 1 } }), 403, "model_not_priced"),
        (json!({ "model": "mine", "units": { "input_token": 1 } }), 400, "invalid_count"),
        (json!({ "model": "mine", "units": {} }), 400, "invalid_count"),
        (json!({ "model": "mine", "units": { "input_tokens": 1 }, "group": "staff" }), 400, "invalid_group"),
        (json!({ "model": "m".repeat(300), "units": { "input_tokens": 1 } }), 400, "invalid_model"),
        (json!({ "model": "mine", "units": { "input_tokens": 1 }, "provider": "\n" }), 400, "invalid_context"),
        (json!({ "units": { "input_tokens": 1 } }), 400, "missing_field"),
        (json!({ "model": "mine" }), 400, "missing_field"),
    ];
    for (body, status, code) in table {
        costs(&body).await.refuses(status, code);
    }
    let of_shop = json!({ "model": "both", "units": { "input_tokens": 1 }, "provider": "shop" });
    assert_eq!(costs(&of_shop).await.ok()["quota"], 1);
    app.stranger().post("/api/prices/cost", body).await.refuses(401, "not_signed_in");
}
