//! Specification §15.2: `ETag` and `If-Match`, so that nobody overwrites an edit that they have not seen.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use http::{HeaderValue, Method, header};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::answer::Refusal;
use crate::harness::gateway::{app_with_wallet, asks, edits};
use crate::harness::{Answer, Caller, TestApp};

const CHANGED: Refusal = (412, "token_changed", "the token was changed since you read it; read it again");
const MALFORMED: Refusal =
    (400, "invalid_if_match", "`If-Match` must be `*`, or entity tags in quotes, separated by commas");

/// The answer to a request with this `If-Match`.
async fn sends(ana: &Caller, method: Method, path: &str, tag: &str, body: Value) -> Answer {
    let mut request = ana.request(method, path);
    request.headers_mut().insert(header::IF_MATCH, HeaderValue::from_str(tag).unwrap());
    *request.body_mut() = body.to_string().into();
    ana.send(request).await
}

async fn puts(ana: &Caller, tag: &str, body: Value) -> Answer {
    sends(ana, Method::PUT, "/api/token/", tag, body).await
}

fn tag(answer: &Answer) -> String {
    answer.header("etag").expect("an ETag").to_owned()
}

async fn tag_of(ana: &Caller, id: i64) -> String {
    tag(&ana.get(&format!("/api/token/{id}/details")).await)
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_2_the_tag_changes_with_every_edit_and_with_no_charge(pool: PgPool) {
    let (_app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let made = ana.post("/api/token/", json!({ "name": "one", "remain_quota": 100 })).await;
    let first = tag(&made);
    let id = made.header("location").unwrap().rsplit('/').next().unwrap().parse::<i64>().unwrap();
    let shown = ana.get(&format!("/api/token/{id}")).await;
    assert_eq!((tag(&shown), tag_of(&ana, id).await), (first.clone(), first.clone()));
    let token = shown.ok();
    let key = &token["key"];
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
    let hold = asks(&gateway, "reserve", &json!({ "key": key, "quota": 5 })).await.ok()["reservation_id"].clone();
    asks(&gateway, "settle", &json!({ "reservation_id": hold, "quota": 2 })).await.ok();
    assert_eq!(tag_of(&ana, id).await, first, "charges change nothing that is edited");

    let mut seen = BTreeSet::from([first]);
    for (path, body) in [
        ("/api/token/", json!({ "id": id, "note": "blue" })),
        ("/api/token/", json!({ "id": id, "note": "blue" })),
        ("/api/token/", json!({ "id": id, "add_quota": 5 })),
        ("/api/token/?status_only=1", json!({ "id": id, "status": 2 })),
        ("/api/token/?status_only=1", json!({ "id": id, "status": 1 })),
    ] {
        let answer = ana.put(path, body.clone()).await;
        assert_eq!(tag_of(&ana, id).await, tag(&answer));
        assert!(seen.insert(tag(&answer)), "{body}");
    }
    ana.post(&format!("/api/token/{id}/rotate"), json!({})).await.ok();
    assert!(seen.insert(tag_of(&ana, id).await), "a rotation");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_2_a_rotation_has_a_version_and_a_bulk_change_has_none(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    let old = tag_of(&ana, id).await;
    edits(&ana, id, json!({ "note": "theirs" })).await;
    let present = tag_of(&ana, id).await;
    let path = format!("/api/token/{id}/rotate");
    let refused = sends(&ana, Method::POST, &path, &old, json!({})).await;
    refused.is(CHANGED);
    assert_eq!(tag(&refused), present);
    sends(&ana, Method::POST, &path, &present, json!({})).await.ok();
    assert_eq!(ana.get(&format!("/api/token/{id}/old_keys")).await.ok().as_array().unwrap().len(), 1);

    let change = json!({ "ids": [id], "set": { "note": "ours" } });
    let many =
        (400, "invalid_if_match", "this call changes many tokens and takes no `If-Match`; change them one by one");
    for tag in ["*", &tag_of(&ana, id).await] {
        sends(&ana, Method::PATCH, "/api/token/bulk", tag, change.clone()).await.is(many);
    }
    assert_eq!(ana.get(&format!("/api/token/{id}/details")).await.ok()["note"], "theirs");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_2_a_change_with_another_tag_is_refused_with_the_present_one(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let old = tag_of(&ana, id).await;
    edits(&ana, id, json!({ "note": "theirs" })).await;
    let edit = json!({ "id": id, "note": "mine" });
    let (disable, path) = (json!({ "id": id, "status": 2 }), format!("/api/token/{id}"));
    // A proxy that compresses answers makes tags weak, or adds the coding.
    for (before, after) in [("W/", ""), ("", "-gzip"), ("W/", "-br")] {
        let version = tag_of(&ana, id).await.trim_matches('"').to_owned();
        puts(&ana, &format!("{before}\"{version}{after}\""), json!({ "id": id })).await.ok();
    }
    let weak = format!("W/{old}");
    let present = tag_of(&ana, id).await;
    for wrong in [old.as_str(), weak.as_str(), "\"\"", "\"x\"", &format!("{old}, \"5\"")] {
        let answers = [
            puts(&ana, wrong, edit.clone()).await,
            sends(&ana, Method::PUT, "/api/token/?status_only=1", wrong, disable.clone()).await,
            sends(&ana, Method::DELETE, &path, wrong, json!({})).await,
        ];
        for answer in answers {
            answer.is(CHANGED);
            assert_eq!(tag(&answer), present, "{wrong}");
        }
    }
    for bad in ["7", "\"7", "\"7\" \"8\"", "", ","] {
        puts(&ana, bad, edit.clone()).await.is(MALFORMED);
        sends(&ana, Method::DELETE, &path, bad, json!({})).await.is(MALFORMED);
    }
    let token = ana.get(&format!("/api/token/{id}/details")).await.ok();
    assert_eq!((&token["note"], &token["status"], &tag_of(&ana, id).await), (&json!("theirs"), &json!(1), &present));

    let after = puts(&ana, &format!("{old}, {present}"), edit).await;
    assert_eq!(after.ok()["note"], "mine");
    let after = sends(&ana, Method::PUT, "/api/token/?status_only=1", &tag(&after), disable).await;
    puts(&ana, "*", json!({ "id": id, "name": "two" })).await.ok();
    sends(&ana, Method::DELETE, &path, &tag(&after), json!({})).await.is(CHANGED);
    let present = tag_of(&ana, id).await;
    sends(&ana, Method::DELETE, &path, &present, json!({})).await.ok();
    // What does not exist matches nothing, but its absence comes first.
    sends(&ana, Method::DELETE, &path, "*", json!({})).await.refuses(404, "not_found");
    puts(&ana, &present, json!({ "id": id })).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_2_calls_that_compare_no_version_refuse_one(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    let present = tag_of(&ana, id).await;
    sends(&ana, Method::POST, "/api/token/batch", &present, json!({ "ids": [id] }))
        .await
        .refuses(400, "invalid_if_match");
    ana.delete(&format!("/api/token/{id}")).await.ok();
    let path = format!("/api/token/{id}/restore");
    sends(&ana, Method::POST, &path, &present, json!({})).await.refuses(400, "invalid_if_match");
    ana.post(&path, json!({})).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_2_of_fifty_parallel_edits_one_wins_each_round_and_none_is_lost_unseen(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let servers = [ana.clone(), ana.at(&app.server_ahead(0)), ana.at(&app.server_ahead(1))];
    for round in 0..6 {
        let before = tag_of(&ana, id).await;
        let all = (0..50).map(|n| {
            let (ana, before) = (&servers[n % 3], &before);
            async move { puts(ana, before, json!({ "id": id, "note": format!("{round} {n}") })).await }
        });
        let answers = join_all(all).await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 49));
        let present = tag_of(&ana, id).await;
        for answer in lost {
            answer.is(CHANGED);
            assert_eq!(tag(answer), present);
        }
        let token = ana.get(&format!("/api/token/{id}/details")).await.ok();
        assert_eq!(token["note"], won[0].ok()["note"]);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_2_a_refused_condition_is_never_answered_as_200(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_HTTP__ERRORS_AS_200", "true")]).await;
    let ana = app.enabled_user("ana").await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    puts(&ana, "\"1\"", json!({ "id": id, "note": "mine" })).await.is(CHANGED);
}
