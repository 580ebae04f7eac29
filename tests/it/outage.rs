//! Outages of PostgreSQL: the service answers 503 with `Retry-After` (specification §7) and recovers.

use serde_json::json;

use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Cluster, ROOT_PASSWORD, Server};

#[track_caller]
fn assert_unavailable(answer: &Answer) {
    answer.refuses_saying(503, "database_unavailable", "database unavailable; retry shortly");
    assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok_and(|n| n > 0)));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn during_an_outage_the_service_answers_503_and_then_recovers() {
    let cluster = Cluster::start();
    let dir = tempfile::tempdir().unwrap();
    let database = cluster.url();
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_DATABASE__ACQUIRE_SECONDS", "1")];
    let mut server = Server::start(dir.path(), &settings).await;
    let stranger = Client::stranger(&server);
    let session = Client::signed_in(&server, "root", ROOT_PASSWORD).await;
    let root = Client::root(&server).await;
    let (id, key) = root.creates(json!({ "name": "before" })).await.unwrap();
    let holder = Client::with(&server, &format!("Bearer {key}"));

    for _ in 0..2 {
        stranger.get("/readyz").await.ok();
        cluster.crash();
        assert_unavailable(&root.get("/api/token/").await);
        assert_unavailable(&root.get(&format!("/api/token/{id}")).await);
        assert_unavailable(&root.post("/api/token/", json!({ "name": "meanwhile" })).await);
        assert_unavailable(&session.get("/api/token/").await);
        assert_unavailable(&stranger.login("root", ROOT_PASSWORD).await);
        assert_unavailable(&stranger.get("/readyz").await);
        let by_key = holder.get("/api/usage/token/").await;
        assert_unavailable(&by_key);
        assert_eq!(by_key.json()["code"], json!(false));
        stranger.get("/healthz").await.ok();
        stranger.get("/api/status").await.ok();

        cluster.resume();
        eventually("the service is ready again", async || stranger.get("/readyz").await.status == 200).await;
        for caller in [&root, &session] {
            let list = caller.get("/api/token/").await.ok();
            assert_eq!((&list["total"], &list["items"][0]["name"]), (&json!(1), &json!("before")));
        }
        holder.get("/api/usage/token/").await.ok();
        Client::signed_in(&server, "root", ROOT_PASSWORD).await;
    }
    assert_eq!(server.terminate(), Some(0));
}

#[tokio::test]
async fn the_service_stops_gracefully_during_an_outage() {
    let cluster = Cluster::start();
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[("DATABASE_URL", &cluster.url())]).await;
    Client::root(&server).await.get("/api/token/").await.ok();
    cluster.crash();
    assert_eq!(server.terminate(), Some(0));
}
