//! `keymeter serve --demo` fills an empty database through the ledger, so that every invariant holds, and starts again
//! on the data that it made.

use std::collections::BTreeSet;

use sqlx::PgPool;
use tempfile::TempDir;

use crate::harness::database::{empty, url};
use crate::harness::process::run;
use crate::harness::{Client, ROOT_PASSWORD, Server};

#[sqlx::test(migrations = false)]
async fn a_demo_fills_an_empty_database_and_starts_again_on_it(pool: PgPool) {
    empty(&pool).await;
    let dir = TempDir::new().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str())];
    let mut server = Server::start_with(dir.path(), &settings, &["--demo"]).await;
    let ana = Client::signed_in(&server, "ana", ROOT_PASSWORD).await;
    let tokens = ana.get("/api/token/?size=100").await.ok();
    let statuses: BTreeSet<i64> =
        tokens["items"].as_array().unwrap().iter().map(|token| token["status"].as_i64().unwrap()).collect();
    assert_eq!(statuses, BTreeSet::from([1, 2, 3, 4]), "keys in every state");
    let limited = |member: &str| {
        let limits = tokens["items"].as_array().unwrap().iter().flat_map(|token| token[member].as_object().unwrap());
        limits.filter(|(_, limit)| **limit != -1).map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>()
    };
    assert_eq!(limited("period_limits"), BTreeSet::from(["day", "month", "week"]));
    assert_eq!(limited("rate_limits"), BTreeSet::from(["requests_per_minute", "tokens_per_minute", "concurrency"]));
    assert_eq!(ana.get("/api/user/self").await.ok()["period_limits"]["month"], 250_000_000);
    let overview = ana.get("/api/user/self/overview").await.ok();
    // The last day may begin after the demo was filled.
    let days = &overview["daily"].as_array().unwrap()[..6];
    assert!(days.iter().all(|day| day["requests"].as_i64().unwrap() > 0), "{days:?}");
    let reasons: BTreeSet<&str> =
        overview["attention"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, BTreeSet::from(["expires_soon", "nearly_spent", "exhausted", "expired"]));
    let report = ana.get("/api/usage?group_by=day").await.ok();
    assert_eq!(report["rows"].as_array().unwrap().len(), 30, "{report}");
    let refused = ana.get("/api/usage/refused_requests").await.ok();
    let refused: BTreeSet<&str> =
        refused["rows"].as_array().unwrap().iter().map(|row| row["reason"].as_str().unwrap()).collect();
    let expected = ["model_not_allowed", "token_disabled", "token_exhausted", "token_expired"];
    assert_eq!(refused, BTreeSet::from(expected));
    let root = Client::signed_in(&server, "root", ROOT_PASSWORD).await;
    let shown = root.get("/api/admin/settings").await.ok()["settings"].clone();
    let models = shown.as_array().unwrap().iter().find(|setting| setting["name"] == "models.names").unwrap();
    assert_eq!((&models["value"][0], &models["is_default"]), (&"gpt-4o".into(), &false.into()));
    assert_eq!(root.get("/api/admin/token_api_requests?state=pending").await.ok()["total"], 2, "requests that wait");
    let all_users = root.get("/api/admin/tokens?size=100").await.ok();
    let members = |member: &str| {
        let tokens = all_users["items"].as_array().unwrap().iter();
        tokens.filter_map(|token| token[member].as_str().map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    assert_eq!(members("group"), ["", "batch"].map(str::to_owned).into());
    assert!(members("disabled_by").contains("root"), "a key that root disabled");
    let gateways = root.get("/api/admin/gateways").await.ok();
    let credentials =
        gateways.as_array().unwrap().iter().flat_map(|gateway| gateway["credentials"].as_array().unwrap());
    let used = credentials.filter(|credential| credential["last_used_time"].as_i64().is_some_and(|time| time > 0));
    assert_eq!((gateways.as_array().unwrap().len(), used.count()), (3, 3), "{gateways}");
    assert_eq!(server.terminate(), Some(0));

    let charges = "select count(*), min(at) from charges";
    let before: (i64, i64) = sqlx::query_as(charges).fetch_one(&pool).await.unwrap();
    assert!(before.0 > 10_000, "{before:?}");
    let days = "select count(distinct day), count(*) > 500 from usage_daily";
    let days: (i64, bool) = sqlx::query_as(days).fetch_one(&pool).await.unwrap();
    assert!(days.0 >= 89 && days.1, "{days:?}");
    let in_rest: i64 = sqlx::query_scalar("select count(*) from charges_rest").fetch_one(&pool).await.unwrap();
    assert_eq!(in_rest, 0, "each day has its partition");
    let doctor = run(dir.path(), &settings, &["doctor"]);
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));

    let mut again = Server::start_with(dir.path(), &settings, &["--demo"]).await;
    assert!(Client::signed_in(&again, "ana", ROOT_PASSWORD).await.get("/api/user/models").await.ok().is_array());
    assert_eq!(again.terminate(), Some(0));
    assert!(again.output().contains(&format!("with the password {ROOT_PASSWORD}")), "{}", again.output());
    assert_eq!(sqlx::query_as::<_, (i64, i64)>(charges).fetch_one(&pool).await.unwrap(), before);
}

#[sqlx::test(migrations = false)]
async fn a_demo_refuses_a_database_that_it_did_not_fill(pool: PgPool) {
    let dir = TempDir::new().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str())];
    let mut server = Server::start(dir.path(), &settings).await;
    assert_eq!(server.terminate(), Some(0));
    let demo = run(dir.path(), &settings, &["serve", "--demo"]);
    let message = "keymeter: this database is not empty, and --demo needs an empty one or its own data; \
                   set another KEYMETER_DATA_DIR or DATABASE_URL\n";
    assert_eq!((demo.status.code(), String::from_utf8_lossy(&demo.stderr).as_ref()), (Some(1), message));
}
