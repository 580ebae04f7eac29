//! Specification §11: what gateway calls accept as input.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::START;
use crate::harness::answer::Refusal;
use crate::harness::gateway::{CALLS, EXHAUSTED, INVALID_KEY, app_with_wallet, asks, balances, refused, reserves};

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn invalid_input_is_refused_with_the_name_of_its_field_and_charges_nothing(pool: PgPool) {
    const NEITHER: Refusal = (
        400,
        "missing_field",
        "`quota`, `usd`, `units`, `usage`, or `prompt_tokens` and `completion_tokens` are required",
    );
    const BOTH: Refusal = (400, "ambiguous_amount", "send either `quota` or `usd`, not both");
    const WHOLE: Refusal = (400, "invalid_field", "`quota` must be a whole number");
    const QUOTA: Refusal = (400, "invalid_quota", "`quota` must be a whole number from 0 to 500000000000000");
    const BAD_IP: Refusal = (400, "invalid_ip", "`ip` must be an IPv4 or IPv6 address");
    const BAD_MODEL: Refusal = (400, "invalid_model", "`model` must have at most 128 characters");
    const TTL: Refusal = (400, "invalid_ttl", "`ttl_seconds` must be 1 to 86400");
    const ON_EXPIRY: Refusal = (400, "invalid_on_expiry", "`on_expiry` must be `release` or `charge`");
    const ID: Refusal = (400, "invalid_request_id", "`request_id` must have 1 to 128 visible characters");
    const PROMPT: Refusal =
        (400, "invalid_count", "`prompt_tokens` must be a number from 0 to 1000000000000, with 9 decimals at most");
    const COMPLETION: Refusal =
        (400, "invalid_count", "`completion_tokens` must be a number from 0 to 1000000000000, with 9 decimals at most");
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let held = reserves(&gateway, &key, 100).await;
    let good = json!({ "key": key, "quota": 1, "reservation_id": held });
    let spends: &[&str] = &["charge", "reserve"];
    let amounts: &[&str] = &["verify", "charge", "reserve", "settle"];
    let counts: &[&str] = &["charge", "reserve"];
    let table: &[(&[&str], &str, Value, Refusal)] = &[
        (&["charge", "reserve", "settle"], "quota", json!(null), NEITHER),
        (amounts, "usd", json!("0.1"), BOTH),
        (amounts, "usd", json!("nonsense"), BOTH),
        (amounts, "quota", json!(-1), QUOTA),
        (amounts, "quota", json!(i64::MIN), QUOTA),
        (amounts, "quota", json!(500_000_000_000_001_i64), QUOTA),
        (amounts, "quota", json!(i64::MAX), QUOTA),
        (amounts, "quota", json!(9_223_372_036_854_775_808_u64), WHOLE),
        (amounts, "quota", json!(1e300), WHOLE),
        (amounts, "quota", json!(0.5), WHOLE),
        (amounts, "quota", json!("5"), WHOLE),
        (&["verify", "charge", "reserve"], "ip", json!("10.0.0.0/8"), BAD_IP),
        (spends, "ip", json!("somewhere"), BAD_IP),
        (&["verify", "charge", "reserve"], "model", json!("m".repeat(129)), BAD_MODEL),
        (spends, "model", json!("o1\n"), BAD_MODEL),
        (spends, "request_id", json!(""), ID),
        (spends, "request_id", json!("r".repeat(129)), ID),
        (spends, "request_id", json!("r\0"), ID),
        (spends, "request_id", json!(7), (400, "invalid_field", "`request_id` must be a string")),
        (&["reserve"], "on_expiry", json!("keep"), ON_EXPIRY),
        (&["reserve"], "on_expiry", json!(""), ON_EXPIRY),
        (&["reserve"], "on_expiry", json!("CHARGE"), ON_EXPIRY),
        (&["reserve"], "on_expiry", json!(true), (400, "invalid_field", "`on_expiry` must be a string")),
        (&["reserve"], "ttl_seconds", json!(0), TTL),
        (&["reserve"], "ttl_seconds", json!(-1), TTL),
        (&["reserve"], "ttl_seconds", json!(86_401), TTL),
        (&["reserve"], "ttl_seconds", json!(1.5), (400, "invalid_field", "`ttl_seconds` must be a whole number")),
        (counts, "prompt_tokens", json!(-1), PROMPT),
        (counts, "prompt_tokens", json!(1_000_000_000_001_i64), PROMPT),
        (counts, "completion_tokens", json!(-1), COMPLETION),
        (counts, "completion_tokens", json!(1_000_000_000_001_i64), COMPLETION),
        (&["settle", "release"], "reservation_id", json!(null), (400, "missing_field", "`reservation_id` is required")),
        (
            &["settle", "release"],
            "reservation_id",
            json!(7),
            (400, "invalid_field", "`reservation_id` must be a string"),
        ),
        (&["verify", "charge", "reserve"], "key", json!(7), (400, "invalid_field", "`key` must be a string")),
        (spends, "key", json!(null), INVALID_KEY),
        (spends, "key", json!("sk-short"), INVALID_KEY),
    ];
    for (calls, field, value, (status, error, message)) in table {
        for call in *calls {
            let mut body = good.clone();
            body[*field] = value.clone();
            let answer = asks(&gateway, call, &body).await;
            let body = answer.json();
            let expected = json!({ "success": false, "error": error, "message": message });
            assert_eq!((answer.status.as_u16(), body), (*status, expected), "{call} {field} {value}");
        }
    }
    for call in CALLS {
        let answer = asks(&gateway, call, &json!([])).await;
        refused(&answer, (400, "invalid_json", "the body must be a JSON object"));
    }
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_cost_in_dollars_is_read_from_its_text_and_rounded_up_to_quota(pool: PgPool) {
    const USD: Refusal = (400, "invalid_usd", "`usd` must be a decimal number from 0 to 1000000000");
    let (app, ana, gateway) = app_with_wallet(pool, 1_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000_000 })).await;
    // The texts are sent as they are: a parser in between would round them.
    let table = [
        ("0.003", 1_500),
        (r#""0.003""#, 1_500),
        ("3e-3", 1_500),
        (r#""3E-3""#, 1_500),
        ("0.30000000000000004", 150_000),
        (r#""0.000002000001""#, 2),
        ("0.000002000000400000000000000000000000000000000001", 1),
        ("1e-13", 0),
        ("-0.0", 0),
        ("0", 0),
    ];
    for (usd, quota) in table {
        let body = format!(r#"{{ "key": "{key}", "usd": {usd} }}"#);
        let charged = gateway.post_text("/api/gateway/charge", &body).await.ok();
        assert_eq!(charged["charged"], quota, "{usd}");
        let many = gateway.post_text("/api/gateway/charges", &format!(r#"{{ "charges": [{body}] }}"#)).await.ok();
        assert_eq!(many[0]["charged"], quota, "{usd}");
        let held = gateway.post_text("/api/gateway/reserve", &body).await.ok();
        assert_eq!(held["reserved"], quota, "{usd}");
        let settle = format!(r#"{{ "reservation_id": {}, "usd": {usd} }}"#, held["reservation_id"]);
        assert_eq!(gateway.post_text("/api/gateway/settle", &settle).await.ok()["charged"], quota, "{usd}");
        assert_eq!(gateway.post_text("/api/gateway/verify", &body).await.ok()["valid"], true, "{usd}");
    }
    let spent: i64 = table.iter().map(|(_, quota)| 3 * quota).sum();
    assert_eq!(balances(&app, &ana, &key).await, [spent, 1_000_000 - spent, spent, 1_000_000 - spent]);
    let verdict = gateway.post_text("/api/gateway/verify", &format!(r#"{{ "key": "{key}", "usd": 2 }}"#)).await.ok();
    assert_eq!(verdict["reason"], "token_quota_insufficient");

    let held = reserves(&gateway, &key, 100).await;
    for usd in [
        r#""""#,
        r#""NaN""#,
        r#"" 1""#,
        r#""1,5""#,
        r#""$1""#,
        r#""\ud800""#,
        "true",
        "[]",
        "{}",
        "-1",
        "-1e-9",
        "1e10",
        "1e400",
        "1000000000.000001",
        r#""-0.1""#,
    ] {
        let body = format!(r#"{{ "key": "{key}", "reservation_id": {held}, "usd": {usd} }}"#);
        for call in ["verify", "charge", "reserve", "settle"] {
            refused(&gateway.post_text(&format!("/api/gateway/{call}"), &body).await, USD);
        }
        let many = gateway.post_text("/api/gateway/charges", &format!(r#"{{ "charges": [{body}] }}"#)).await.ok();
        let outcome = json!([{ "success": false, "error": "invalid_usd", "message": USD.2 }]);
        assert_eq!(many, outcome, "{usd}");
    }
    let with_null = json!({ "key": key, "quota": 1, "usd": null });
    assert_eq!(asks(&gateway, "charge", &with_null).await.ok()["charged"], 1);
    let spent = spent + 101;
    assert_eq!(balances(&app, &ana, &key).await, [spent, 1_000_000 - spent, spent, 1_000_000 - spent]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn values_at_the_bounds_are_accepted(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 500_000_000_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500_000_000_000_000_i64 })).await;
    let counts = 1_000_000_000_000_i64;
    let nothing = json!({
        "key": key, "quota": 0, "request_id": "r".repeat(128), "model": "m".repeat(128), "ip": "",
        "prompt_tokens": counts, "completion_tokens": counts,
    });
    let charged = asks(&gateway, "charge", &nothing).await.ok();
    assert_eq!((&charged["charged"], &charged["remain_quota"]), (&json!(0), &json!(500_000_000_000_000_i64)));
    for (ttl, lasts) in [(json!(1), 1), (json!(86_400), 86_400), (json!(null), 600)] {
        let body = json!({ "key": key, "quota": 0, "ttl_seconds": ttl });
        assert_eq!(asks(&gateway, "reserve", &body).await.ok()["expires_at"], START + lasts);
    }
    let all = json!({ "key": key, "quota": 500_000_000_000_000_i64 });
    assert_eq!(asks(&gateway, "charge", &all).await.ok()["remain_quota"], 0);
    asks(&gateway, "charge", &json!({ "key": key, "quota": 0 })).await.ok();
    refused(&asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await, EXHAUSTED);
    assert_eq!(balances(&app, &ana, &key).await, [500_000_000_000_000, 0, 500_000_000_000_000, 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn lengths_are_counted_in_characters_and_not_in_bytes(pool: PgPool) {
    let (_, ana, gateway) = app_with_wallet(pool, 100).await;
    let model = "ü".repeat(128);
    let token = json!({ "name": "one", "remain_quota": 9, "model_limits_enabled": true, "model_limits": model });
    let (_, key) = ana.creates_with_key(token).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1, "model": model })).await.ok();
    let long = json!({ "key": key, "quota": 1, "model": model, "request_id": "ü".repeat(128) });
    asks(&gateway, "charge", &long).await.ok();
}
