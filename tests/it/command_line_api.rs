//! `keymeter api`, and what goes to standard output and what to standard error.

use serde_json::{Value, json};

use crate::command_line::{Person, stdout_of};
use crate::harness::Server;

#[tokio::test]
async fn any_call_of_the_api_can_be_sent() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[("KEYMETER_HTTP__ERRORS_AS_200", "true")]).await;
    let person = Person::root(&server).await;
    let parsed = |output: &std::process::Output| serde_json::from_str::<Value>(&stdout_of(output)).unwrap();

    let created = person.run(&["api", "post", "/api/token/", "--data", r#"{"name": "ci", "unlimited_quota": true}"#]);
    assert_eq!(parsed(&created)["success"], true);
    let list = parsed(&person.run(&["api", "GET", "/api/token/?p=1&page_size=10"]));
    assert_eq!((&list["data"]["total"], &list["data"]["items"][0]["name"]), (&json!(1), &json!("ci")));
    let id = list["data"]["items"][0]["id"].clone();
    let file = dir.path().join("body.json");
    std::fs::write(&file, json!({ "id": id, "name": "file" }).to_string()).unwrap();
    let data = format!("@{}", file.display());
    assert_eq!(parsed(&person.run(&["api", "PUT", "/api/token/", "--data", &data]))["data"]["name"], "file");
    let input = json!({ "id": id, "name": "input" }).to_string();
    let changed = person.run_with_input(&["api", "PUT", "/api/token/", "--data", "@-"], &input);
    assert_eq!(parsed(&changed)["data"]["name"], "input");
    // Not everything is JSON with an envelope.
    let csv = person.stdout(&["api", "GET", "/api/usage?format=csv"]);
    assert!(csv.starts_with("date,requests,"), "{csv}");

    // Failures are those of every command, whatever the status.
    let missing = (4, "there is no such token (not_found)".to_owned());
    assert_eq!(person.refusal(&["api", "DELETE", "/api/token/99"]), missing);
    assert_eq!(person.refusal(&["api", "GET", "/api/token/", "--data", "{}"]).0, 2);
    assert_eq!(person.refusal(&["api", "POST", "/api/token/", "--data", "@nowhere"]).0, 2);
    for wrong in [&["api", "TRACE", "/api/status"][..], &["api", "GET", "api/status"], &["api", "GET", "/a b"]] {
        assert_eq!(person.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}
