//! PostgreSQL goes away and comes back, and the service outlasts it (contract §1: 503 with `Retry-After`).

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::process::Server;
use crate::harness::{Answer, ROOT_PASSWORD};
use crate::wire::{Client, eventually, free_port};

/// A PostgreSQL of a test's own, which can be stopped. Gone when dropped.
struct Cluster {
    home: tempfile::TempDir,
    bin: PathBuf,
    port: u16,
}

impl Cluster {
    fn make() -> Self {
        let home = tempfile::tempdir().unwrap();
        let cluster = Self { home, bin: programs(), port: free_port() };
        if we_are_root() {
            assert!(Command::new("chown").arg("postgres").arg(cluster.home.path()).status().unwrap().success());
        }
        cluster.does("initdb", &["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        cluster
    }

    fn start(&self) {
        let socket = self.home.path().display();
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -c fsync=off -k {socket}", self.port);
        self.does("pg_ctl", &["start", "-w", "-o", &options]);
    }

    /// As a crash would stop it.
    fn stop(&self) {
        self.does("pg_ctl", &["stop", "-m", "immediate"]);
    }

    fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Runs one of its programs, as the user `postgres` where we are root: PostgreSQL refuses to run as root.
    fn does(&self, program: &str, arguments: &[&str]) {
        let program = self.bin.join(program);
        let mut command = if we_are_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // The log goes to a file: the server would keep a pipe of ours open for as long as it runs.
        let log = self.home.path().join("log");
        let out = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        command.arg("-D").arg(self.home.path().join("data")).args(arguments).current_dir("/").stdin(Stdio::null());
        let status = command.stdout(out.try_clone().unwrap()).stderr(out).status().unwrap();
        assert!(status.success(), "{}", std::fs::read_to_string(log).unwrap());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.home.path().join("data/postmaster.pid").exists() {
            self.stop();
        }
    }
}

fn we_are_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Where PostgreSQL's programs are: `PG_BIN`, or the newest that Debian's packages hold.
fn programs() -> PathBuf {
    if let Some(bin) = std::env::var_os("PG_BIN") {
        return bin.into();
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PG_BIN must name PostgreSQL's programs");
    let version = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let newest = versions.map(|entry| entry.unwrap().path()).max_by_key(|path| version(path));
    newest.unwrap().join("bin")
}

#[track_caller]
fn is_away(answer: &Answer) {
    answer.refuses_saying(503, "database_unavailable", "the database is away; try again in a moment");
    assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok_and(|n| n > 0)));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn an_outage_answers_503_and_ends_by_itself() {
    let cluster = Cluster::make();
    cluster.start();
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
        cluster.stop();
        is_away(&root.get("/api/token/").await);
        is_away(&root.get(&format!("/api/token/{id}")).await);
        is_away(&root.post("/api/token/", json!({ "name": "meanwhile" })).await);
        is_away(&session.get("/api/token/").await);
        is_away(&stranger.login("root", ROOT_PASSWORD).await);
        is_away(&stranger.get("/readyz").await);
        let by_key = holder.get("/api/usage/token/").await;
        is_away(&by_key);
        assert_eq!(by_key.json()["code"], json!(false));
        stranger.get("/healthz").await.ok();
        stranger.get("/api/status").await.ok();

        cluster.start();
        eventually("it is ready again", async || stranger.get("/readyz").await.status == 200).await;
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
async fn it_stops_gracefully_while_the_database_is_away() {
    let cluster = Cluster::make();
    cluster.start();
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[("DATABASE_URL", &cluster.url())]).await;
    Client::root(&server).await.get("/api/token/").await.ok();
    cluster.stop();
    assert_eq!(server.terminate(), Some(0));
}
