//! `keymeter serve --demo` fills an empty database through the ledger, so that every invariant holds.

use std::collections::BTreeSet;

use sqlx::PgPool;
use tempfile::TempDir;

use crate::harness::database::url;
use crate::harness::process::run;
use crate::harness::{Client, ROOT_PASSWORD, Server};

#[sqlx::test(migrations = false)]
async fn a_demo_fills_an_empty_database_and_refuses_one_in_use(pool: PgPool) {
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
    assert_eq!(limited("period_limits"), BTreeSet::from(["day"]));
    assert_eq!(limited("rate_limits"), BTreeSet::from(["requests_per_minute", "concurrency"]));
    assert_eq!(ana.get("/api/user/self").await.ok()["period_limits"]["month"], 200_000_000);
    let overview = ana.get("/api/user/self/overview").await.ok();
    // The last day may begin after the demo was filled.
    let days = &overview["daily"].as_array().unwrap()[..6];
    assert!(days.iter().all(|day| day["requests"].as_i64().unwrap() > 0), "{days:?}");
    let reasons: BTreeSet<&str> =
        overview["attention"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, BTreeSet::from(["expires_soon", "nearly_spent", "exhausted", "expired"]));
    assert_eq!(server.terminate(), Some(0));

    let charges = "select count(*), min(at) from charges";
    let before: (i64, i64) = sqlx::query_as(charges).fetch_one(&pool).await.unwrap();
    assert!(before.0 > 1_000, "{before:?}");
    let in_rest: i64 = sqlx::query_scalar("select count(*) from charges_rest").fetch_one(&pool).await.unwrap();
    assert_eq!(in_rest, 0, "each day has its partition");
    let doctor = run(dir.path(), &settings, &["doctor"]);
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));
    let again = run(dir.path(), &settings, &["serve", "--demo"]);
    let message = "keymeter: this database is not empty, and --demo needs an empty one; \
                   set another KEYMETER_DATA_DIR or DATABASE_URL\n";
    assert_eq!((again.status.code(), String::from_utf8_lossy(&again.stderr).as_ref()), (Some(1), message));
    assert_eq!(sqlx::query_as::<_, (i64, i64)>(charges).fetch_one(&pool).await.unwrap(), before);
}
