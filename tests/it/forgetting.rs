//! A server that notices that its database forgot what was answered: a restore, or a failover that loses commits.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::wait::eventually;
use crate::harness::{Client, Cluster, PLENTY, Servers};

struct World {
    servers: Servers,
    gateway: Client,
    key: String,
    cluster: Cluster,
}

impl World {
    async fn start() -> Self {
        let cluster = Cluster::start();
        // Long enough to see what a server answers that ends.
        let settings = [("KEYMETER_SERVER__STOP_DELAY_SECONDS", "5")];
        let servers = Servers::start(&cluster.url(), 1, &settings).await;
        let key = servers.owner("ana", PLENTY).await.unlimited_key().await;
        Self { gateway: servers.gateway(0), servers, key, cluster }
    }

    async fn charge(&self, id: &str) {
        self.gateway.post("/api/gateway/charge", json!({ "key": self.key, "quota": 1, "request_id": id })).await.ok();
    }

    async fn reserve(&self) -> Value {
        let made = self.gateway.post("/api/gateway/reserve", json!({ "key": self.key, "quota": 10 })).await.ok();
        made["reservation_id"].clone()
    }

    async fn lost(&self) -> u64 {
        let metrics = Client::stranger(&self.servers.running[0]).get("/metrics").await.text;
        let value = metrics.lines().find_map(|line| line.strip_prefix("keymeter_acknowledged_lost_total "));
        value.unwrap().parse().unwrap()
    }

    /// Waits until the server takes charges again and has looked its answers up.
    async fn reconnected(&self) {
        let stranger = Client::stranger(&self.servers.running[0]);
        eventually("the server is ready", async || stranger.get("/readyz").await.status == 200).await;
        tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    }
}

#[tokio::test]
async fn what_a_restore_took_away_is_named() {
    let world = World::start().await;
    world.charge("kept").await;
    let open = world.reserve().await;
    world.cluster.stop();
    world.cluster.save();
    world.cluster.resume();
    world.reconnected().await;
    assert_eq!(world.lost().await, 0);
    world.charge("gone").await;
    world.reserve().await;
    world.gateway.post("/api/gateway/settle", json!({ "reservation_id": open, "quota": 4 })).await.ok();
    world.cluster.stop();
    world.cluster.restore();
    world.cluster.resume();
    world.reconnected().await;
    assert_eq!(world.lost().await, 3);
    let pool = PgPool::connect(&world.cluster.url()).await.unwrap();
    let details = "select details from audit_log where action = 'database.answers_lost'";
    let details: Vec<Value> = sqlx::query_scalar(details).fetch_all(&pool).await.unwrap();
    assert_eq!(details.len(), 1, "{details:?}");
    let named = details[0]["named"].as_str().unwrap();
    assert_eq!(details[0]["lost"], "3");
    assert!(named.starts_with("request gone of gateway 1, reservation "), "{named}");
    assert!(named.contains(", the end of reservation "), "{named}");
    let logged = world.servers.running[0].logged(|line| line.contains("ERROR") && line.contains("has lost")).await;
    assert!(logged[0].contains("request gone of gateway 1"), "{logged:?}");
}

#[tokio::test]
async fn a_hundred_reconnects_without_a_loss_name_none() {
    let world = World::start().await;
    let pool = PgPool::connect(&world.cluster.url()).await.unwrap();
    let reservation = world.reserve().await;
    world.gateway.post("/api/gateway/release", json!({ "reservation_id": reservation })).await.ok();
    for round in 0..100 {
        let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                   where application_name = 'keymeter' and pid <> pg_backend_pid()";
        assert!(sqlx::query_scalar::<_, i64>(end).fetch_one(&pool).await.unwrap() > 0);
        let charged = async || {
            let charge = json!({ "key": world.key, "quota": 1, "request_id": format!("{round}") });
            world.gateway.post("/api/gateway/charge", charge).await.status == 200
        };
        eventually("the server charges again", charged).await;
    }
    world.cluster.crash();
    world.cluster.resume();
    world.reconnected().await;
    assert_eq!(world.lost().await, 0);
}

#[tokio::test]
async fn a_program_that_is_too_old_for_the_database_says_so_and_ends() {
    let mut world = World::start().await;
    let pool = PgPool::connect(&world.cluster.url()).await.unwrap();
    sqlx::query("update installation set min_migration = 9999").execute(&pool).await.unwrap();
    let stranger = Client::stranger(&world.servers.running[0]);
    eventually("it answers so", async || {
        let answer = stranger.try_send(reqwest::Method::GET, "/readyz", String::new()).await;
        answer.is_ok_and(|answer| answer.error_code() == Some("program_too_old"))
    })
    .await;
    let ended = world.servers.running[0].child.wait().unwrap();
    assert_eq!(ended.code(), Some(1));
    assert!(world.servers.running[0].output().contains("only programs with migration 9999 can use it"));
}
