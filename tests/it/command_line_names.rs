//! Keys, users and gateways that commands are given by name.

use serde_json::{Value, json};

use crate::command_line::{Person, said_by, stderr_of};
use crate::harness::{Client, Server};

#[tokio::test]
async fn a_key_is_given_by_name_or_id_and_namesakes_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    let create = |name: &str| person.json(&["key", "create", name, "--unlimited"])["id"].to_string();
    let [ci, capitals, digits, first, second] = ["ci", "CI", "4711", "twin", "twin"].map(create);
    for (named, id) in [("ci", &ci), ("CI", &capitals), ("name:4711", &digits), (ci.as_str(), &ci), ("name:ci", &ci)] {
        assert_eq!(person.json(&["key", "show", named])["id"].to_string(), *id, "{named}");
    }
    assert_eq!(person.refusal(&["key", "show", "4711"]), (4, "there is no such token (not_found)".to_owned()));

    let twins = person.run(&["key", "disable", "twin"]);
    assert_eq!(twins.status.code(), Some(2));
    let said = stderr_of(&twins);
    let lines: Vec<&str> = said.lines().skip(1).collect();
    for (line, id) in lines.iter().zip([&second, &first]) {
        assert!(line.starts_with(&format!("keymeter:   {id}  sk-")) && line.ends_with("  account_empty"), "{said}");
    }
    assert_eq!(lines[2..], ["keymeter: 2 keys are named \"twin\"; give the id of one"]);
    let unknown = "there is no key named \"twi\"; `keymeter key list` shows them";
    assert_eq!(person.refusal(&["key", "delete", "twi", "--yes"]), (4, unknown.to_owned()));

    // Every command that takes an id.
    person.stdout(&["key", "disable", "ci"]);
    person.stdout(&["key", "enable", "ci"]);
    let key = person.stdout(&["key", "reveal", "ci"]);
    assert_ne!(person.stdout(&["key", "rotate", "ci"]), key);
    let old = person.json(&["key", "old-keys", "ci"])[0]["id"].to_string();
    person.stdout(&["key", "end-old-key", "ci", &old, "--yes"]);
    person.stdout(&["key", "update", "ci", "--note", "by name"]);
    person.stdout(&["key", "delete", "ci", "--yes"]);
    person.stdout(&["key", "restore", "ci"]);
    assert_eq!(person.json(&["usage", "requests", "--key", "ci"]), json!([]));
    assert_eq!(person.json(&["usage", "report", "--key", "ci", "--user", "root"])["rows"][0]["requests"], 0);
    let lines = person.json(&["audit", "list", "--subject-kind", "token", "--subject", "ci"]);
    let actions: Vec<&str> = lines.as_array().unwrap().iter().map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(actions[..2], ["token.restored", "token.deleted"]);

    // Those of others, for administrators.
    let ana = json!({ "username": "ana", "password": "correct horse", "token_api_enabled": true }).to_string();
    let ana = person.stdout(&["api", "POST", "/api/admin/users", "--data", &ana]);
    let ana = serde_json::from_str::<Value>(&ana).unwrap()["data"]["id"].to_string();
    let tokens = format!("/api/admin/users/{ana}/tokens");
    person.stdout(&["api", "POST", &tokens, "--data", r#"{"name": "hers"}"#]);
    assert_eq!(person.refusal(&["key", "disable", "hers"]).0, 4);
    let said = said_by(&person.run(&["key", "disable", "hers", "--everyone"]));
    assert!(said.starts_with("disabled the key hers (id "), "{said}");
    assert_eq!(person.json(&["key", "show", "hers", "--everyone"])["username"], "ana");
    assert_eq!(person.json(&["key", "enable", "hers", "--everyone"])["status"], 1);

    // A key is a secret, and arguments are none.
    let refused = person.run(&["key", "show", key.trim_end()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr_of(&refused).contains("give the key's name or id, not the key"), "{}", stderr_of(&refused));
}

#[tokio::test]
async fn a_user_whose_name_is_digits_is_not_taken_for_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let root = Client::root(&server).await;
    let create = async |name: &str| {
        let user = json!({ "username": name, "password": "a long password" });
        root.post("/api/admin/users", user).await.ok()["id"].as_i64().unwrap()
    };
    let person = Person::root(&server).await;
    let ana = create("ana").await;
    let namesake = create(&ana.to_string()).await;
    let lonely = create("4711").await;

    // Older versions took names only.
    assert_eq!(person.json(&["user", "show", "4711"])["id"], lonely);
    assert_eq!(person.json(&["user", "show", &namesake.to_string()])["username"], ana.to_string());
    let (code, message) = person.refusal(&["user", "delete", &ana.to_string(), "--yes"]);
    let sentence =
        format!("{ana} is the id of the user ana and the name of the user {namesake}; give ana or name:{ana}");
    assert_eq!((code, message), (2, sentence));
    assert_eq!(person.json(&["user", "show", &format!("name:{ana}")])["id"], namesake);
    assert_eq!(person.json(&["user", "show", "ANA"])["id"], ana);

    let gateway = person.json(&["gateway", "create", "edge"])["id"].to_string();
    person.json(&["gateway", "credential", "create", "edge"]);
    person.json(&["gateway", "create", "twin"]);
    person.json(&["gateway", "create", "twin"]);
    assert_eq!(person.refusal(&["gateway", "revoke", "twin", "--yes"]).0, 2);
    let revoked = person.said(&["gateway", "revoke", "edge", "--yes"]);
    assert_eq!(revoked, format!("revoked the gateway edge (id {gateway})"));
    let unknown = "there is no gateway named \"edge\"; `keymeter gateway list` shows them";
    assert_eq!(person.refusal(&["gateway", "revoke", "edge", "--yes"]), (4, unknown.to_owned()));
}
