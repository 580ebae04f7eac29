//! The start of a server beside a database that is not there yet, or takes no writes.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use crate::harness::process::{free_port, run};
use crate::harness::wait::eventually;
use crate::harness::{Client, Cluster, Server};

/// A start on a port of its own, which says that it listens only when it is ready.
struct Starting {
    server: tokio::task::JoinHandle<Server>,
    base: String,
    dir: tempfile::TempDir,
}

impl Starting {
    fn beside(cluster: &Cluster) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (listen, url) = (format!("127.0.0.1:{}", free_port()), cluster.url());
        let (base, path) = (format!("http://{listen}"), dir.path().to_owned());
        let server = tokio::spawn(async move {
            Server::start(&path, &[("DATABASE_URL", &url), ("KEYMETER_SERVER__LISTEN", &listen)]).await
        });
        Self { server, base, dir }
    }

    async fn waits_and_says(&self, sentence: &str) {
        let client = Client::stranger_at(&self.base);
        let alive = async || client.try_send(Method::GET, "/healthz", String::new()).await.is_ok();
        eventually("the server answers", alive).await;
        client.get("/healthz").await.ok();
        for path in ["/readyz", "/api/status", "/api/token/", "/"] {
            let answer = client.get(path).await;
            answer.refuses_saying(503, "database_unavailable", "database unavailable; retry shortly");
            assert_eq!(answer.header("retry-after"), Some("1"), "{path}");
            assert!(answer.header("x-request-id").is_some(), "{path}");
        }
        let log = self.dir.path().join("keymeter.log");
        eventually("the log says what the start waits for", async || {
            let log = std::fs::read_to_string(&log).unwrap();
            log.contains("waiting for the database") && log.contains(sentence)
        })
        .await;
        assert!(!self.server.is_finished());
    }
}

#[tokio::test]
async fn a_start_waits_for_a_database_that_does_not_answer() {
    let cluster = Cluster::start();
    cluster.stop();
    let starting = Starting::beside(&cluster);
    starting.waits_and_says("cannot reach PostgreSQL at 127.0.0.1").await;
    cluster.resume();
    let mut server = starting.server.await.unwrap();
    Client::root(&server).await.creates(json!({ "name": "a" })).await.unwrap();
    assert_eq!(server.terminate(), Some(0));
}

#[tokio::test]
async fn a_start_that_must_write_waits_for_a_primary() {
    let cluster = Cluster::start();
    cluster.stop();
    cluster.resume_as_standby();
    let starting = Starting::beside(&cluster);
    starting.waits_and_says("read-only").await;
    cluster.promote();
    let server = starting.server.await.unwrap();
    Client::stranger(&server).get("/readyz").await.ok();
}

#[tokio::test]
async fn a_start_that_changes_nothing_writes_nothing() {
    let cluster = Cluster::start();
    let dir = tempfile::tempdir().unwrap();
    let url = cluster.url();
    let mut server = Server::start(dir.path(), &[("DATABASE_URL", &url)]).await;
    let root = Client::root(&server).await;
    let (_, key) = root.creates(json!({ "name": "a" })).await.unwrap();
    let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let gateway = gateway["credential"].as_str().unwrap().to_owned();
    assert_eq!(server.terminate(), Some(0));
    cluster.stop();
    cluster.resume_as_standby();
    let server = Server::start(dir.path(), &[("DATABASE_URL", &url)]).await;
    let examined = run(dir.path(), &[("DATABASE_URL", &url)], &["doctor"]);
    assert!(examined.status.success(), "{}", String::from_utf8_lossy(&examined.stdout));
    let stranger = Client::stranger(&server);
    stranger.get("/readyz").await.refuses_saying(
        503,
        "database_read_only",
        "the database accepts no writes; retry shortly",
    );
    Client::with(&server, &format!("Bearer {key}")).get("/api/usage/token/").await.ok();
    let credential = format!("Bearer {gateway}");
    let gateway = Client::with(&server, &credential);
    for _ in 0..2 {
        let verified = gateway.post("/api/gateway/verify", json!({ "key": key })).await;
        verified.refuses_saying(503, "database_read_only", "the database accepts no writes; retry shortly");
    }
    gateway.post("/api/gateway/verify", json!({ "key": "sk-no-such-key" })).await.ok();
    let mut in_front = Client::with(&server, &format!("Bearer {key}"));
    in_front.headers.insert("x-gateway-credential", credential.parse().unwrap());
    assert_eq!(in_front.get("/api/gateway/auth").await.status, 503);
    cluster.promote();
    eventually("the server is ready", async || stranger.get("/readyz").await.status == 200).await;
}

#[tokio::test]
async fn a_start_waits_no_longer_than_it_may() {
    let cluster = Cluster::start();
    cluster.stop();
    let dir = tempfile::tempdir().unwrap();
    let url = cluster.url();
    let settings = [("DATABASE_URL", url.as_str()), ("KEYMETER_DATABASE__WAIT_SECONDS", "2")];
    let started = Instant::now();
    let (ended, said) = ends(dir.path(), &settings);
    assert!(started.elapsed() >= Duration::from_secs(2));
    assert_eq!(ended, Some(1));
    assert!(said.contains("cannot reach PostgreSQL at 127.0.0.1"), "{said}");
}

#[tokio::test]
async fn a_start_waits_for_nothing_that_an_operator_must_mend() {
    let cluster = Cluster::start();
    let dir = tempfile::tempdir().unwrap();
    for (old, new, sentence) in [
        ("/postgres", "/keys", "database \"keys\" does not exist"),
        ("//postgres@", "//nobody@", "role \"nobody\" does not exist"),
    ] {
        let started = Instant::now();
        let url = cluster.url();
        let (before, after) = url.rsplit_once(old).unwrap();
        let url = format!("{before}{new}{after}");
        let (ended, said) = ends(dir.path(), &[("DATABASE_URL", &url)]);
        assert!(started.elapsed() < Duration::from_secs(30), "it waited");
        assert_eq!(ended, Some(1), "{said}");
        assert!(said.contains(sentence), "{said}");
    }
}

#[tokio::test]
async fn systemd_hears_when_the_server_is_ready_and_when_it_stops() {
    let cluster = Cluster::start();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = tokio::net::UnixDatagram::bind(&path).unwrap();
    let (url, path) = (cluster.url(), path.to_str().unwrap().to_owned());
    let mut server = Server::start(dir.path(), &[("DATABASE_URL", &url), ("NOTIFY_SOCKET", &path)]).await;
    for (expected, stops) in [("READY=1", true), ("STOPPING=1", false)] {
        let mut text = [0; 64];
        let length = tokio::time::timeout(Duration::from_secs(30), socket.recv(&mut text)).await.unwrap().unwrap();
        assert_eq!(String::from_utf8_lossy(&text[..length]).trim(), expected);
        if stops {
            assert_eq!(server.terminate(), Some(0));
        }
    }
}

/// How a start ends, and what it says.
fn ends(dir: &std::path::Path, settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = run(dir, settings, &["serve"]);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}
