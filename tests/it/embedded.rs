//! The real program on its embedded database: normal use, stops and crashes.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::harness::client::access_token_of_root;
use crate::harness::process::run;
use crate::harness::wait::eventually;
use crate::harness::{Client, Server};

#[tokio::test]
async fn the_token_api_works_on_the_embedded_database() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let root = Client::root(&server).await;

    root.post("/api/admin/users", json!({ "username": "ana", "password": "ana's password" })).await.ok();
    let session = Client::signed_in(&server, "ana", "ana's password").await;
    let ana = Client::with(&server, session.get("/api/user/token").await.ok().as_str().unwrap());
    ana.get("/api/token/").await.refuses(403, "token_api_not_enabled");
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "work" })).await.ok()["id"].clone();
    root.post(&format!("/api/admin/token_api_requests/{request}"), json!({ "decision": "approve" })).await.ok();

    let created = ana.post("/api/token/", json!({ "name": "first", "remain_quota": 500_000 })).await;
    assert_eq!(created.text, r#"{"success":true,"message":""}"#);
    let list = ana.get("/api/token/").await.ok();
    assert_eq!((&list["total"], &list["items"][0]["key"]), (&json!(1), &json!("")));
    let id = list["items"][0]["id"].clone();
    let found = ana.get("/api/token/search?keyword=FIR").await.ok();
    assert_eq!(found["items"], list["items"]);
    let key = ana.get(&format!("/api/token/{id}")).await.ok()["key"].as_str().unwrap().to_owned();
    assert_eq!(ana.get(&format!("/api/token/search?token={key}")).await.ok()["items"], list["items"]);
    assert_eq!(ana.get(&format!("/api/token/search?token={}", &key[10..20])).await.ok()["items"], list["items"]);

    assert_eq!(ana.put("/api/token/", json!({ "id": id, "name": "renamed" })).await.ok()["name"], "renamed");
    for status in [2, 1] {
        let switched = ana.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await;
        assert_eq!(switched.ok()["status"], status);
    }
    let holder = Client::with(&server, &format!("Bearer {key}"));
    assert_eq!(holder.get("/api/usage/token/").await.ok()["total_available"], 500_000);
    assert_eq!(ana.get(&format!("/api/token/{id}/usage")).await.ok()["daily"].as_array().unwrap().len(), 1);

    ana.delete(&format!("/api/token/{id}")).await.ok();
    ana.delete(&format!("/api/token/{id}")).await.refuses(404, "not_found");
    ana.get(&format!("/api/token/{id}")).await.refuses(404, "not_found");
    holder.get("/api/usage/token/").await.refuses(401, "invalid_key");
}

#[tokio::test]
async fn confirmed_tokens_survive_kill_9() {
    const WRITERS: usize = 4;
    const BEFORE_THE_KILL: usize = 12;
    let dir = tempfile::tempdir().unwrap();
    let confirmed = Arc::new(Mutex::new(Vec::<(i64, String)>::new()));
    let mut server = Server::start(dir.path(), &[]).await;
    let access_token = access_token_of_root(&server).await;
    for round in 0..3 {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (root, confirmed) = (Client::with(&server, &access_token), Arc::clone(&confirmed));
                tokio::spawn(async move {
                    while let Some(made) = root.creates(json!({ "name": format!("{round} of {writer}") })).await {
                        confirmed.lock().unwrap().push(made);
                    }
                })
            })
            .collect();
        let count = || confirmed.lock().unwrap().len();
        let enough = count() + BEFORE_THE_KILL;
        eventually("the writers created tokens", async || count() >= enough).await;
        server.kill();
        for writer in writers {
            writer.await.unwrap();
        }

        server = Server::start(dir.path(), &[]).await;
        let root = Client::with(&server, &access_token);
        let all = confirmed.lock().unwrap().clone();
        for (id, key) in &all {
            assert_eq!(root.get(&format!("/api/token/{id}")).await.ok()["key"], key.as_str(), "token {id}");
        }
        let total = root.get("/api/token/").await.ok()["total"].as_u64().unwrap();
        let unconfirmed = u64::try_from(WRITERS * (round + 1)).unwrap();
        let known = u64::try_from(all.len()).unwrap();
        assert!((known..=known + unconfirmed).contains(&total), "{known} were confirmed, {total} are there");
    }
}

#[tokio::test]
async fn tokens_and_sessions_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let root = Client::root(&server).await;
    let (id, key) = root.creates(json!({ "name": "kept" })).await.unwrap();
    let session = Client::signed_in(&server, "root", crate::harness::ROOT_PASSWORD).await;
    assert_eq!(server.terminate(), Some(0));

    server = Server::start(dir.path(), &[]).await;
    for mut caller in [root, session] {
        caller.base.clone_from(&server.base);
        assert_eq!(caller.get(&format!("/api/token/{id}")).await.ok()["key"], key.as_str());
    }
}

#[tokio::test]
async fn only_one_process_at_a_time_uses_a_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let data = dir.path().join("data").canonicalize().unwrap();
    for arguments in [&["serve"][..], &["migrate"], &["user", "create", "ana"], &["gateway", "list"]] {
        let refused = run(dir.path(), &[], arguments);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        let stderr = String::from_utf8(refused.stderr).unwrap();
        let sentence = "is in use by another keymeter; stop it, or set KEYMETER_DATA_DIR";
        assert_eq!(stderr, format!("keymeter: the data directory {} {sentence}\n", data.display()));
    }
    Client::root(&server).await.get("/api/token/").await.ok();
    assert_eq!(server.terminate(), Some(0));
    assert!(run(dir.path(), &[], &["gateway", "list"]).status.success());
}

#[tokio::test]
async fn a_data_directory_with_a_long_path_works() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a-very-long-name-of-a-directory".repeat(5));
    let data = deep.to_str().unwrap();
    let settings = [("KEYMETER_DATA_DIR", data)];
    let mut server = Server::start(dir.path(), &settings).await;
    let (id, _) = Client::root(&server).await.creates(json!({ "name": "deep" })).await.unwrap();
    assert_eq!(server.terminate(), Some(0));
    server = Server::start(dir.path(), &settings).await;
    Client::root(&server).await.get(&format!("/api/token/{id}")).await.ok();
}

/// The startup message of PostgreSQL's protocol.
#[cfg(feature = "embedded")]
fn startup() -> Vec<u8> {
    let parameters = b"user\0postgres\0database\0postgres\0\0";
    let length = u32::try_from(8 + parameters.len()).unwrap();
    [length.to_be_bytes().as_slice(), 196_608_u32.to_be_bytes().as_slice(), parameters].concat()
}

#[cfg(feature = "embedded")]
fn query(sql: &str) -> Vec<u8> {
    let length = u32::try_from(5 + sql.len()).unwrap();
    [b"Q".as_slice(), length.to_be_bytes().as_slice(), sql.as_bytes(), b"\0"].concat()
}

#[cfg(feature = "embedded")]
#[tokio::test(flavor = "multi_thread")]
async fn the_database_survives_connections_that_are_cut_off() {
    use std::io::{Read, Write};
    let dir = tempfile::tempdir().unwrap();
    let database = keymeter::storage::embedded::Embedded::start(dir.path()).unwrap();
    let socket = dir.path().join("run/.s.PGSQL.5432");
    let many = query("select repeat('x', 1000) from generate_series(1, 20000)");
    let cut_off = [
        startup(),
        startup()[..6].to_vec(),
        [startup(), many.clone()].concat(),
        [startup(), many[..20].to_vec()].concat(),
        [startup(), query("begin"), query("create table half (id int)")].concat(),
        [startup(), many.clone(), many].concat(),
    ];
    for bytes in cut_off {
        // A client that is cut off neither reads the rest of the answer nor ends the session.
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        stream.write_all(&bytes).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(1))).unwrap();
        // One byte of the answer, if there is one; the rest is never read.
        let _ = stream.read(&mut [0]);
        drop(stream);
        let next_client = async {
            let mut conn = sqlx::ConnectOptions::connect(&database.connect_options()).await?;
            sqlx::query_scalar::<_, Option<String>>("select to_regclass('half')::text").fetch_one(&mut conn).await
        };
        let half = tokio::time::timeout(std::time::Duration::from_secs(30), next_client).await;
        assert_eq!(
            half.expect("the database answers in time").expect("the database answers without an error"),
            None,
            "the uncommitted table does not exist"
        );
    }
    database.stop().unwrap();
}
