//! A database whose clock was ahead, and is right again: limits that were spent stay spent, and nothing stays frozen.

use serde_json::{Value, json};

use crate::clock::skew;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::process::run;
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Cluster, MASTER_KEY, PLENTY, Servers};

const DAY: i64 = 86_400;

async fn charge(gateway: &Client, key: &str, quota: i64) -> Answer {
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": quota })).await
}

fn retry_after(answer: &Answer) -> i64 {
    answer.header("retry-after").unwrap().parse().unwrap()
}

#[tokio::test]
async fn l9_a_database_that_was_40_days_ahead_leaves_nothing_frozen_and_no_limit_open() {
    let cluster = Cluster::with_movable_clock();
    let mut servers = Servers::start(&cluster.url(), 2, &[]).await;
    let (here, there) = (servers.gateway(0), servers.gateway(1));
    let pool = servers.pool().await;
    let owner = servers.owner("ana", PLENTY).await;
    let make = async |name: &str, more: Value| {
        let mut token = json!({ "name": name, "unlimited_quota": true });
        token.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        owner.key(token).await.1
    };
    let limited = make("limited", json!({ "period_limits": { "day": 10, "month": 15 } })).await;
    let rated = make("rated", json!({ "rate_limits": { "requests_per_minute": 2, "concurrency": 1 } })).await;
    let free = make("free", json!({})).await;
    let unused = make("unused", json!({ "period_limits": { "day": 10 } })).await;
    let both_go_by = async |expected: i64| {
        for server in [&here, &there] {
            let goes_by = async || skew(server).await.is_some_and(|skew| (skew - expected).abs() < 60);
            eventually("the server goes by the new time", goes_by).await;
        }
    };
    charge(&here, &limited, 10).await.ok();
    charge(&here, &limited, 1).await.refuses(429, "token_period_exceeded");

    cluster.set_clock("+40d");
    both_go_by(-40 * DAY).await;
    charge(&here, &limited, 10).await.ok();
    charge(&here, &unused, 10).await.ok();
    for _ in 0..2 {
        charge(&there, &rated, 1).await.ok();
    }
    charge(&there, &rated, 1).await.refuses(429, "rate_limited");
    let held = json!({ "key": free, "quota": 3, "ttl_seconds": 60 });
    let held = there.post("/api/gateway/reserve", held).await.ok();

    cluster.set_clock("+0");
    let today = async || {
        let day = "select count(*) from users where period_day > current_date";
        sqlx::query_scalar::<_, i64>(day).fetch_one(&pool).await.unwrap() == 0
    };
    eventually("the usage of the future is usage of today", async || {
        // A key in use is noticed at once.
        charge(&there, &free, 1).await;
        today().await
    })
    .await;
    // Until then, for up to a second, a server takes the days of the future for real ones.
    both_go_by(0).await;
    for gateway in [&here, &there] {
        for (key, error) in [(&limited, "token_period_exceeded"), (&unused, "token_period_exceeded")] {
            let refused = charge(gateway, key, 1).await;
            refused.refuses(429, error);
            assert!(retry_after(&refused) <= 31 * DAY, "{}", refused.text);
        }
        charge(gateway, &free, 1).await.ok();
        let refused = charge(gateway, &rated, 1).await;
        assert!(refused.status == 200 || retry_after(&refused) <= 60, "{}", refused.text);
    }
    let ahead = "select count(*) from charges where day > current_date or at > extract(epoch from now()) + 1";
    assert_eq!(sqlx::query_scalar::<_, i64>(ahead).fetch_one(&pool).await.unwrap(), 0);
    let end: i64 = sqlx::query_scalar("select expires_at - floor(extract(epoch from now()))::bigint from reservations")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(end <= DAY, "the reservation ends: {end}");
    there.post("/api/gateway/settle", json!({ "reservation_id": held["reservation_id"], "quota": 3 })).await.ok();
    assert_ledger_invariants(&pool).await;

    let log = servers.root.get("/api/admin/audit?action=user.future_usage_moved").await.ok();
    let line = &log["items"][0];
    let moved: i64 = line["details"]["quota"].as_str().unwrap().parse().unwrap();
    assert!(moved >= 22 && line["user_id"] == json!(owner.id), "{log}");
    let database = cluster.url();
    let dir = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let report = String::from_utf8(run(dir.path(), &settings, &["doctor"]).stdout).unwrap();
    assert!(report.contains("no errors found"), "{report}");
    assert!(report.contains("note   clock: the usage of the user") && report.contains("moved"), "{report}");
    // A server that starts afterwards finds the same.
    servers.restart().await;
    charge(&servers.gateway(0), &limited, 1).await.refuses(429, "token_period_exceeded");
    charge(&servers.gateway(0), &free, 1).await.ok();
}
