//! `examples/walk.sh` and `examples/first-charge.sh` against the real program on a private PostgreSQL.

use std::process::{Command, Output};

use crate::harness::project::project;
use crate::harness::{ROOT_PASSWORD, Server};

fn walk(base: &str, password: &str) -> Output {
    run_example("walk.sh", base, password)
}

fn run_example(name: &str, base: &str, password: &str) -> Output {
    let script = project().join("examples").join(name);
    Command::new(script).env("BASE", base).env("ROOT_PASSWORD", password).output().unwrap()
}

#[tokio::test]
async fn the_walk_succeeds_and_succeeds_again() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    for _ in 0..2 {
        let walked = walk(&server.base, ROOT_PASSWORD);
        let output = String::from_utf8_lossy(&walked.stdout);
        assert!(walked.status.success(), "{output}{}", String::from_utf8_lossy(&walked.stderr));
        assert!(output.ends_with("All 19 steps passed.\n"), "{output}");
    }
}

#[tokio::test]
async fn a_walk_that_fails_names_the_step() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let nowhere = "http://127.0.0.1:1";
    for (base, password, message) in [
        (server.base.as_str(), "not the password", "walk: step 1: expected status 200, got 401\n"),
        (&server.base, "", "walk: set ROOT_PASSWORD to the password of root\n"),
        (nowhere, ROOT_PASSWORD, "walk: no answer from http://127.0.0.1:1; is the service running?\n"),
    ] {
        let walked = walk(base, password);
        assert_eq!(walked.status.code(), Some(1));
        let output = String::from_utf8_lossy(&walked.stderr).into_owned();
        assert!(output.ends_with(message), "{output}");
    }
}

#[tokio::test]
async fn the_first_charge_is_refused_above_the_limit_and_again_with_another_key() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    for _ in 0..2 {
        let charged = run_example("first-charge.sh", &server.base, ROOT_PASSWORD);
        let output = String::from_utf8_lossy(&charged.stdout);
        assert!(charged.status.success(), "{output}{}", String::from_utf8_lossy(&charged.stderr));
        let statuses: Vec<_> =
            output.lines().filter_map(|line| line.split_once(" {\"success\"")).map(|line| line.0).collect();
        assert_eq!(statuses, ["200", "200", "402", "200", "200"], "{output}");
        let refused = r#"402 {"success":false,"message":"insufficient token quota for this amount","error":"token_quota_insufficient"}"#;
        assert!(output.contains(refused) && output.contains("\"reason\":\"token_exhausted\""), "{output}");
    }
    let refused = run_example("first-charge.sh", &server.base, "not the password");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("wrong_credentials"));
}
