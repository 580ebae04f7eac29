//! Several hosts in `DATABASE_URL`: the server uses the one that takes writes, and follows it.

use serde_json::json;

use crate::harness::process::free_port;
use crate::harness::wait::eventually;
use crate::harness::{Client, Cluster, PLENTY, Servers};

#[tokio::test]
async fn the_server_follows_the_primary() {
    let primary = Cluster::start();
    let standby = primary.standby();
    // Nothing listens on the first, and the second takes no writes.
    let hosts = format!("127.0.0.1:{},{},{}", free_port(), standby.host(), primary.host());
    let url = format!("postgres://postgres@{hosts}/postgres?target_session_attrs=read-write");
    let servers = Servers::start(&url, 1, &[]).await;
    let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
    let gateway = servers.gateway(0);
    let charge = async |id: &str| {
        let charge = json!({ "key": key, "quota": 3, "request_id": id });
        gateway.post("/api/gateway/charge", charge).await.status
    };
    assert_eq!(charge("before").await, 200);
    eventually("the standby has all", async || {
        let pool = sqlx::PgPool::connect(&standby.url()).await.unwrap();
        sqlx::query_scalar::<_, i64>("select count(*) from charges").fetch_one(&pool).await.unwrap() == 1
    })
    .await;

    primary.crash();
    standby.promote();
    eventually("charges are answered by the new primary", async || charge("after").await == 200).await;
    eventually("it is ready", async || Client::stranger(&servers.running[0]).get("/readyz").await.status == 200).await;
    // The former primary comes back as what it was: the server stays where it is.
    let pool = sqlx::PgPool::connect(&standby.url()).await.unwrap();
    let ids: Vec<String> =
        sqlx::query_scalar("select request_id from charges order by at, id").fetch_all(&pool).await.unwrap();
    assert_eq!(ids, ["before", "after"]);
}
