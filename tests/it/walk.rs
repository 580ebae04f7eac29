//! The walk of the README, `examples/walk.sh`, against the real binary on the embedded database.

use std::path::Path;
use std::process::{Command, Output};

use crate::harness::ROOT_PASSWORD;
use crate::harness::process::Server;

fn walk(base: &str, password: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/walk.sh");
    Command::new(script).env("BASE", base).env("ROOT_PASSWORD", password).output().unwrap()
}

#[tokio::test]
async fn the_walk_succeeds_and_succeeds_again() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    for _ in 0..2 {
        let walked = walk(&server.base, ROOT_PASSWORD);
        let told = String::from_utf8_lossy(&walked.stdout);
        assert!(walked.status.success(), "{told}{}", String::from_utf8_lossy(&walked.stderr));
        assert!(told.ends_with("All 19 steps were answered as they should be.\n"), "{told}");
    }
}

#[tokio::test]
async fn a_walk_that_goes_wrong_says_where() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let nowhere = "http://127.0.0.1:1";
    for (base, password, sentence) in [
        (server.base.as_str(), "not the password", "walk: step 1 should be answered 200, not 401\n"),
        (&server.base, "", "walk: set ROOT_PASSWORD to the password of root\n"),
        (nowhere, ROOT_PASSWORD, "walk: nobody answers at http://127.0.0.1:1; is the service running?\n"),
    ] {
        let walked = walk(base, password);
        assert_eq!(walked.status.code(), Some(1));
        let told = String::from_utf8_lossy(&walked.stderr).into_owned();
        assert!(told.ends_with(sentence), "{told}");
    }
}
