//! When a charge is answered: after it is on disk and on synchronous standbys (L4), while its wallet is free before. A
//! standby that is not there lets PostgreSQL wait for as long as the test likes.

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinHandle;

use crate::harness::gateway::DATABASE_UNAVAILABLE;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Cluster, PLENTY, Servers};

/// A service, and the PostgreSQL that it uses.
struct World {
    servers: Servers,
    pool: PgPool,
    key: String,
    /// Dropped after the service.
    _cluster: Cluster,
}

impl World {
    async fn start(servers: usize) -> Self {
        let cluster = Cluster::start();
        let servers = Servers::start(&cluster.url(), servers, &[]).await;
        let key = servers.owner("ana", PLENTY).await.key(json!({ "name": "a", "remain_quota": 1_000 })).await.1;
        // Every server knows the key and the gateway.
        for server in 0..servers.running.len() {
            servers.gateway(server).post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await.ok();
        }
        Self { pool: servers.pool().await, servers, key, _cluster: cluster }
    }

    /// From now on commits that wait for the disk wait for a standby, too.
    async fn wait_for_a_standby(&self, name: &str) {
        let set = format!("alter system set synchronous_standby_names = '{name}'");
        sqlx::query(sqlx::AssertSqlSafe(set)).execute(&self.pool).await.unwrap();
        sqlx::query("select pg_reload_conf()").execute(&self.pool).await.unwrap();
        eventually("the setting is in force", async || {
            let show = "show synchronous_standby_names";
            sqlx::query_scalar::<_, String>(show).fetch_one(&self.pool).await.unwrap() == name
        })
        .await;
    }

    fn charges(&self, server: usize, request_id: &str) -> JoinHandle<Answer> {
        let body = json!({ "key": self.key, "quota": 40, "request_id": request_id });
        let gateway: Client = self.servers.gateway(server);
        tokio::spawn(
            async move { gateway.try_send(Method::POST, "/api/gateway/charge", body.to_string()).await.unwrap() },
        )
    }

    async fn is_visible(&self, request_id: &str) {
        eventually("the charge is committed", async || {
            let count = "select count(*) from charges where request_id = $1";
            sqlx::query_scalar::<_, i64>(count).bind(request_id).fetch_one(&self.pool).await.unwrap() == 1
        })
        .await;
    }

    /// The processes of PostgreSQL in which a batch waits for the standby.
    async fn waiting(&self) -> Vec<i32> {
        let waiting = "select pid from pg_stat_activity \
                       where wait_event = 'SyncRep' and query like '%pg_logical_emit_message%'";
        sqlx::query_scalar(waiting).fetch_all(&self.pool).await.unwrap()
    }
}

fn remaining(answer: &Answer) -> Value {
    answer.ok()["remain_quota"].clone()
}

#[tokio::test]
async fn l4_a_charge_is_answered_when_it_is_on_disk_and_its_wallet_is_free_before() {
    let world = World::start(2).await;
    world.wait_for_a_standby("nobody").await;
    let first = world.charges(0, "first");
    world.is_visible("first").await;
    // The same wallet, on the same server and on another one.
    let second = world.charges(0, "second");
    world.is_visible("second").await;
    let third = world.charges(1, "third");
    world.is_visible("third").await;
    // A retry reads a record that is not on disk.
    let again = world.charges(1, "first");
    eventually("all four wait for the disk", async || world.waiting().await.len() == 4).await;
    let all = [first, second, third, again];
    assert!(all.iter().all(|one| !one.is_finished()));
    world.wait_for_a_standby("").await;
    let [first, second, third, again] = all.map(async |one| remaining(&one.await.unwrap()));
    assert_eq!((first.await, second.await, third.await, again.await), (json!(958), json!(918), json!(878), json!(958)));
    assert_ledger_invariants(&world.pool).await;
}

#[tokio::test]
async fn l4_a_charge_that_may_not_be_on_disk_is_refused_and_a_retry_finds_it() {
    let world = World::start(1).await;
    world.wait_for_a_standby("nobody").await;
    let charge = world.charges(0, "lost");
    eventually("it waits for the disk", async || world.waiting().await.len() == 1).await;
    sqlx::query("select pg_terminate_backend($1)").bind(world.waiting().await[0]).execute(&world.pool).await.unwrap();
    let (status, error, message) = DATABASE_UNAVAILABLE;
    charge.await.unwrap().refuses_saying(status, error, message);
    world.wait_for_a_standby("").await;
    assert_eq!(remaining(&world.charges(0, "lost").await.unwrap()), 959);
    assert_ledger_invariants(&world.pool).await;
}
