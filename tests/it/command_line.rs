//! The command line against a server: what each command prints, where it acts, and its refusals.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::harness::client::access_token_of_root;
use crate::harness::process::keymeter;
use crate::harness::{Client, ROOT_PASSWORD, Server};

/// A person at a machine of their own.
pub struct Person {
    pub home: tempfile::TempDir,
    pub environment: Vec<(&'static str, String)>,
}

impl Person {
    pub fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    /// With the access token of `root` in the environment.
    pub async fn root(server: &Server) -> Self {
        let mut person = Self::new();
        person.environment.push(("KEYMETER_URL", server.base.clone()));
        person.environment.push(("KEYMETER_ACCESS_TOKEN", access_token_of_root(server).await));
        person
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.run_with_input(arguments, "")
    }

    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Output {
        let home = self.home.path().to_str().unwrap();
        let environment = self.environment.iter().map(|(name, value)| (*name, value.as_str()));
        let settings: Vec<_> = environment.chain([("HOME", home)]).collect();
        let mut command = keymeter(self.home.path(), &settings);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        // A command that does not read it may have ended.
        let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
        process.wait_with_output().unwrap()
    }

    #[track_caller]
    pub fn stdout(&self, arguments: &[&str]) -> String {
        stdout_of(&self.run(arguments))
    }

    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.stdout(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// What a command says that was done: the last line of standard error. It prints nothing.
    #[track_caller]
    pub fn said(&self, arguments: &[&str]) -> String {
        said_by(&self.run(arguments))
    }

    /// The exit code and the last line of standard error.
    #[track_caller]
    pub fn refusal(&self, arguments: &[&str]) -> (i32, String) {
        refusal_of(&self.run(arguments))
    }

    pub fn login_file(&self) -> PathBuf {
        self.home.path().join(".config/keymeter/login.toml")
    }
}

#[track_caller]
pub fn stdout_of(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr_of(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr_of(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// See [`Person::said`].
#[track_caller]
pub fn said_by(output: &Output) -> String {
    assert_eq!(stdout_of(output), "");
    stderr_of(output).lines().last().unwrap().strip_prefix("keymeter: ").unwrap().to_owned()
}

#[track_caller]
pub fn refusal_of(output: &Output) -> (i32, String) {
    let stderr = stderr_of(output);
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    let last = stderr.lines().last().unwrap_or_default();
    (output.status.code().unwrap(), last.strip_prefix("keymeter: ").unwrap_or_else(|| panic!("{stderr}")).to_owned())
}

/// A server that gives each request this answer, and keeps the last request.
fn other_server(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            connection.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        connection.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    (address, thread)
}

#[tokio::test]
async fn a_login_is_stored_for_its_owner_only_and_a_logout_revokes_it() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::new();
    let arguments = ["login", "--server", &server.base, "--username", "root", "--password-stdin"];

    let wrong = refusal_of(&person.run_with_input(&arguments, "not the password\n"));
    assert_eq!(wrong, (3, "the username or the password is wrong (wrong_credentials)".to_owned()));
    assert!(!person.login_file().exists());

    let said = said_by(&person.run_with_input(&arguments, &format!("{ROOT_PASSWORD}\n")));
    assert!(said.starts_with(&format!("signed in to {} as root until ", server.base)), "{said}");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = person.login_file();
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let stored: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    let access_token = stored["access_token"].as_str().unwrap().to_owned();
    assert!(!said.contains(&access_token));

    let output = person.run(&["whoami"]);
    assert_eq!(stderr_of(&output), format!("keymeter: on {} as root (keymeter login)\n", server.base));
    assert!(stdout_of(&output).contains("username   root\n"));
    // The session that made the token has ended: only the one of this look is there.
    let client = Client::signed_in(&server, "root", ROOT_PASSWORD).await;
    assert_eq!(client.get("/api/user/sessions").await.json()["data"].as_array().unwrap().len(), 1);

    // Another login replaces the first, whose token is revoked.
    stdout_of(&person.run_with_input(&arguments, ROOT_PASSWORD));
    let first = Client::with(&server, &access_token);
    assert_eq!(first.get("/api/user/self").await.json()["error"], "invalid_credential");
    let stored: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    let second = Client::with(&server, stored["access_token"].as_str().unwrap());

    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let (code, message) = person.refusal(&["whoami"]);
    let path = file.display();
    assert_eq!(
        (code, message),
        (3, format!("others on this machine can read the login {path}; run: chmod 600 {path}"))
    );
    // Others may know that token: a new login revokes it.
    stdout_of(&person.run_with_input(&arguments, ROOT_PASSWORD));
    assert_eq!(second.get("/api/user/self").await.json()["error"], "invalid_credential");
    assert_eq!(mode(&file), 0o600);
    let stored: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    let third = Client::with(&server, stored["access_token"].as_str().unwrap());

    let other = "the login is one of {}, not of https://other.example; nothing was done".replace("{}", &server.base);
    assert_eq!(person.refusal(&["logout", "--server", "https://other.example"]), (2, other));

    assert_eq!(person.said(&["logout"]), format!("signed out of {}; its access token is revoked", server.base));
    assert!(!file.exists());
    assert_eq!(third.get("/api/user/self").await.json()["error"], "invalid_credential");
    assert_eq!(person.said(&["logout"]), "there is no login; nothing was done");

    // A token that somebody has already stays valid.
    let token = access_token_of_root(&server).await;
    let arguments = ["login", "--server", &server.base, "--access-token-stdin"];
    stdout_of(&person.run_with_input(&arguments, &token));
    assert_eq!(person.json(&["whoami"])["username"], "root");
    assert!(person.said(&["logout"]).ends_with("was not made by `keymeter login`, and stays valid"));
    Client::with(&server, &token).get("/api/user/self").await.ok();
}

#[tokio::test]
async fn keys_are_managed_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;

    let created = person.run(&["key", "create", "ci", "--usd", "5", "--models", "gpt-4*", "--per-day", "100"]);
    let key = stdout_of(&created).trim_end().to_owned();
    assert!(key.starts_with("sk-") && key.len() == 51, "{key}");
    let said = stderr_of(&created);
    assert!(said.starts_with(&format!("keymeter: on {} (KEYMETER_URL)\n", server.base)), "{said}");
    assert!(!said.contains(&key));
    let id = person.json(&["key", "list"])[0]["id"].to_string();
    assert_eq!(person.stdout(&["key", "reveal", &id]), format!("{key}\n"));

    let table = person.stdout(&["key", "list", "--search", "ci"]);
    assert!(table.lines().nth(1).unwrap().contains("  $5.00  ") && !table.contains(&key), "{table}");
    assert_eq!(person.json(&["key", "list", "--status", "disabled"]), json!([]));

    // What is not named stays.
    person.stdout(&["key", "update", &id, "--add-usd=-1", "--per-week", "700", "--expires", "2100-01-01"]);
    let token = person.json(&["key", "show", &id]);
    assert_eq!(token["remain_quota"], 2_000_000);
    assert_eq!(token["period_limits"], json!({ "day": 100, "week": 700, "month": -1 }));
    assert_eq!((&token["model_limits"], &token["expired_time"]), (&json!("gpt-4*"), &json!(4_102_444_800_i64)));
    assert_eq!((&token["key"], &token["name"]), (&json!(""), &json!("ci")));
    person.stdout(&["key", "update", &id, "--models", "all", "--expires", "never"]);
    let token = person.json(&["key", "show", &id]);
    assert_eq!((&token["model_limits_enabled"], &token["expired_time"]), (&json!(false), &json!(-1)));

    assert_eq!(person.said(&["key", "disable", &id]), format!("disabled the key {id}"));
    assert_eq!(person.json(&["key", "show", &id])["state"], "disabled");
    assert_eq!(person.said(&["key", "enable", &id]), format!("enabled the key {id}"));

    let (code, message) = person.refusal(&["key", "update", &id, "--add-quota=-2000001"]);
    assert_eq!((code, message.contains("(insufficient_quota)")), (5, true), "{message}");
    let nothing = "name what to change; `keymeter key update --help` lists the fields";
    assert_eq!(person.refusal(&["key", "update", &id]), (2, nothing.to_owned()));
    let (code, message) = person.refusal(&["key", "delete", &id]);
    assert_eq!((code, message.ends_with("; use --yes")), (2, true), "{message}");
    assert_eq!(person.said(&["key", "delete", &id, "--yes"]), format!("deleted the key {id}"));
    let unknown = (4, "there is no such token (not_found)".to_owned());
    for arguments in [&["show", &id][..], &["reveal", &id], &["disable", &id], &["delete", &id, "--yes"]] {
        assert_eq!(person.refusal(&[&["key"], arguments].concat()), unknown);
    }
    assert_eq!(person.run(&["key", "create", "free"]).status.code(), Some(2));

    let lines = person.json(&["audit", "list", "--action", "token.key_revealed"]);
    assert_eq!(lines.as_array().unwrap().len(), 1);
    assert!(person.stdout(&["audit", "list", "--everyone"]).contains("token.deleted"));
    assert_eq!(person.json(&["usage", "report"])["total"]["requests"], 0);
    assert_eq!(person.json(&["usage", "requests"]), json!([]));
}

/// What the commands were called before.
#[tokio::test]
async fn scripts_that_say_token_run_on() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    let created = person.json(&["token", "create", "ci", "--quota", "500000", "--per-day", "100"]);
    assert_eq!(
        (&created["remain_quota"], &created["period_limits"]["day"], &created["name"]),
        (&json!(500_000), &json!(100), &json!("ci"))
    );
    let id = created["id"].to_string();
    assert_eq!(person.stdout(&["token", "key", &id]), format!("{}\n", created["key"].as_str().unwrap()));
    assert_eq!(person.json(&["token", "key", &id])["key"], created["key"]);
    assert_eq!(person.json(&["token", "list", "--status", "enabled", "--sort", "used_quota"])[0]["id"], created["id"]);
    assert_eq!(person.json(&["token", "disable", &id])["state"], "disabled");
    assert_eq!(person.json(&["token", "show", &id])["state"], "disabled");
    let report = person.json(&["usage", "report", "--by", "token,model", "--token", &id]);
    assert_eq!(report["group_by"], json!(["token", "model"]));
    assert_eq!(person.json(&["usage", "requests", "--token", &id]), json!([]));
    assert_eq!(person.json(&["token", "delete", &id, "--yes"]), Value::Null);
    assert_eq!(person.refusal(&["token", "show", &id]).0, 4);
}

#[tokio::test]
async fn keys_are_rotated_and_deleted_tokens_restored_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    let first = person.stdout(&["key", "create", "ci", "--unlimited"]).trim_end().to_owned();
    let id = person.json(&["key", "list"])[0]["id"].to_string();

    let rotated = person.run(&["key", "rotate", &id]);
    let second = stdout_of(&rotated).trim_end().to_owned();
    assert!(second.starts_with("sk-") && second != first, "{second}");
    let waits = "works until 1 day after the first use of the new key\n";
    assert!(stderr_of(&rotated).ends_with(waits) && !stderr_of(&rotated).contains(&first), "{}", stderr_of(&rotated));
    assert_eq!(person.stdout(&["key", "reveal", &id]), format!("{second}\n"));
    let old = person.json(&["key", "old-keys", &id]);
    assert_eq!((old.as_array().unwrap().len(), &old[0]["expires_at"]), (1, &Value::Null));
    let table = person.stdout(&["key", "old-keys", &id]);
    assert!(table.lines().nth(1).unwrap().ends_with("never"), "{table}");

    let old_id = old[0]["id"].to_string();
    let ended = person.said(&["key", "end-old-key", &id, &old_id, "--yes"]);
    assert_eq!(ended, format!("ended the old key {old_id} of the key {id}"));
    assert_eq!(person.json(&["key", "old-keys", &id]), json!([]));
    let gone = (4, "this token has no such old key that still works (not_found)".to_owned());
    assert_eq!(person.refusal(&["key", "end-old-key", &id, &old_id, "--yes"]), gone);

    let leaked = person.run(&["key", "rotate", &id, "--grace", "0s", "--grace-from", "now"]);
    assert!(!stderr_of(&leaked).contains("works until"), "{}", stderr_of(&leaked));
    let (code, message) = person.refusal(&["key", "rotate", &id, "--grace", "31d"]);
    assert_eq!((code, message.as_str()), (1, "`--grace` must be 0 to 2592000 (invalid_grace)"));

    person.stdout(&["key", "delete", &id, "--yes"]);
    assert_eq!(person.json(&["key", "list"]), json!([]));
    assert_eq!(person.json(&["key", "list", "--deleted"])[0]["id"].to_string(), id);
    let table = person.stdout(&["key", "list", "--deleted"]);
    let columns = |line: usize| table.lines().nth(line).unwrap().split("  ").map(str::trim).collect::<Vec<_>>();
    assert!(columns(0).ends_with(&["RESTORABLE UNTIL"]) && columns(1)[0] == id && table.contains("ci"), "{table}");
    assert_eq!(person.said(&["key", "restore", &id]), format!("restored the key {id}"));
    assert_eq!(person.json(&["key", "list"])[0]["id"].to_string(), id);
    assert_eq!(person.refusal(&["key", "restore", &id]), (4, "there is no such token (not_found)".to_owned()));
}

#[tokio::test]
async fn lists_read_all_pages() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let root = Client::root(&server).await;
    for number in 0..103 {
        root.post("/api/token/", json!({ "name": format!("k{number}"), "remain_quota": 1 })).await.ok();
    }
    let person = Person::root(&server).await;
    let names = |value: &Value| value.as_array().unwrap().iter().map(|t| t["name"].clone()).collect::<Vec<_>>();
    let all = names(&person.json(&["key", "list", "--ascending"]));
    assert_eq!(all, (0..103).map(|number| json!(format!("k{number}"))).collect::<Vec<_>>());
    let output = person.run(&["key", "list", "--limit", "101", "--json"]);
    assert_eq!(names(&serde_json::from_slice(&output.stdout).unwrap()).len(), 101);
    assert!(stderr_of(&output).ends_with("keymeter: these are 101 of 103; --limit N shows more\n"));
}

#[tokio::test]
async fn the_price_list_is_set_and_set_back_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let own = file("prices.json", r#"{"providers": ["lab"], "models": {"mine": {"input_mtok": "0.1"}}}"#);
    let data = r#"[{"id": "lab", "models": [{"id": "m", "match": {"equals": "m"}, "prices": {"input_mtok": 1e-18}},
        {"id": "free", "match": {"equals": "free"}, "prices": {}}]}]"#;
    let data = file("data.json", data);
    let set = person.run(&["prices", "set", &own, &data, "--note", "first"]);
    assert!(stdout_of(&set).is_empty() && stderr_of(&set).contains("keymeter: version 1 of the prices is in force\n"));
    let left_out = "1 models of these providers have no price:\nkeymeter:   lab/free: it has no price: it is free";
    assert!(stderr_of(&set).contains(left_out), "{}", stderr_of(&set));
    assert!(person.stdout(&["prices", "show"]).contains(r#""mine": {"input_mtok": "0.1"}"#));
    let version = person.json(&["prices", "history"])[0].clone();
    assert_eq!((&version["number"], &version["note"]), (&json!(1), &json!("first")));

    let dearer = file("dearer.json", r#"{"models": {"mine": {"input_mtok": "0.3"}}}"#);
    let differs = person.run(&["prices", "diff", &dearer]);
    assert_eq!(
        stdout_of(&differs),
        "lab/m: input_tokens from 0.000000000000000001 to no rate\nmine: input_tokens from 0.1 to 0.3\n"
    );
    assert!(stderr_of(&differs).contains("setting it needs --accept:\nkeymeter:   mine: input_tokens from 0.1 to 0.3"));
    assert_eq!(person.stdout(&["prices", "diff", &own]), "no rate would be another one than in version 1\n");
    let (code, said) = person.refusal(&["prices", "set", &dearer]);
    assert!(code == 5 && said.contains("mine: input_tokens from 0.1 to 0.3"), "{code} {said}");
    assert_eq!(person.said(&["prices", "set", &dearer, "--accept"]), "version 2 of the prices is in force");
    let back = person.run(&["prices", "rollback", "1", "--accept"]);
    assert!(stderr_of(&back).contains("keymeter: version 3 of the prices is in force\n"), "{}", stderr_of(&back));
    assert_eq!(person.json(&["prices", "diff", "--version", "2"])["number"], 3);
    let cost = person.stdout(&["prices", "cost", "mine", "--input-tokens", "1000000", "--unit", "cache_read_tokens=9"]);
    let line = "input_tokens  1000000      0.1  1000000   0.1\n";
    assert!(
        cost.contains(line) && cost.ends_with("charged: 50000 ($0.1)\nheld by a reservation: 50000 ($0.1)\n"),
        "{cost}"
    );
    let refused = [
        (vec!["prices", "cost", "nobody", "--input-tokens", "1"], "the model \"nobody\" has no price"),
        (
            vec!["prices", "cost", "mine", "--input-tokens", "1", "--unit", "input_tokens=2"],
            "input_tokens was given twice",
        ),
        (vec!["prices", "set", &own, &dearer], "is the second of its kind"),
        (vec!["prices", "set", "no-such-file"], "cannot read no-such-file"),
        (vec!["prices", "set", "http://127.0.0.1:9/data.json"], "cannot download http://127.0.0.1:9/data.json"),
        (vec!["prices", "rollback", "9"], "there is no such version"),
    ];
    for (arguments, said) in refused {
        let refusal = person.refusal(&arguments).1;
        assert!(refusal.contains(said), "{arguments:?}: {refusal}");
    }
}

#[tokio::test]
async fn users_and_gateways_are_those_of_the_server_that_is_named_or_of_the_local_database() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    let on_server = format!("keymeter: on {} (KEYMETER_URL)\n", server.base);

    let created = person.run(&["user", "create", "ana", "--token-api"]);
    let said = stderr_of(&created);
    assert!(said.starts_with(&format!("{on_server}keymeter: created the user ana with the id ")), "{said}");
    Client::signed_in(&server, "ana", stdout_of(&created).trim_end()).await;
    let said = person.said(&["user", "grant", "ANA", "--usd", "2.5", "--note", "March"]);
    assert_eq!(said, "the wallet of ana now has $2.50");
    person.stdout(&["user", "update", "ana", "--per-month", "77"]);
    let ana = person.json(&["user", "show", "ana"]);
    assert_eq!((&ana["quota"], &ana["period_limits"]["month"]), (&json!(1_250_000), &json!(77)));
    let ana_id = ana["id"].to_string();
    assert_eq!(person.said(&["user", "disable", "ana"]), format!("disabled the user ana (id {ana_id})"));
    assert!(person.stdout(&["user", "list"]).contains("disabled"));
    let changed = person.run_with_input(&["user", "password", "ana", "--password-stdin", "--json"], "a new password\n");
    assert_eq!(serde_json::from_str::<Value>(&stdout_of(&changed)).unwrap()["username"], "ana");
    assert_eq!(person.refusal(&["user", "create", "ana"]), (5, "this username is taken (username_taken)".to_owned()));
    let unknown = "there is no user named \"bob\"; `keymeter user list` shows them";
    assert_eq!(person.refusal(&["user", "show", "bob"]), (4, unknown.to_owned()));
    // A search needs two characters, and takes `%` for a pattern.
    for name in ["x", "50%"] {
        person.stdout(&["user", "create", name]);
        assert_eq!(person.json(&["user", "show", name])["username"], name);
    }
    let only_local = "a server cannot do this; run on its machine: keymeter user unlock ana --local";
    assert_eq!(person.refusal(&["user", "unlock", "ana"]), (2, only_local.to_owned()));
    assert_eq!(person.said(&["user", "delete", &ana_id, "--yes"]), format!("deleted the user {ana_id}"));

    let gateway = person.json(&["gateway", "create", "edge"]);
    assert!(gateway["credential"].as_str().unwrap().starts_with("kmg_"));
    let id = gateway["id"].to_string();
    let secret = person.stdout(&["gateway", "credential", "create", &id]);
    assert!(secret.starts_with("kmg_") && secret.trim_end().len() > 40 && secret.lines().count() == 1, "{secret}");
    let table = person.stdout(&["gateway", "list"]);
    assert!(table.lines().count() == 3 && !table.contains("kmg_"), "{table}");

    // The same command with --local: another database, that of the person's own machine.
    let local = person.run(&["gateway", "list", "--local"]);
    assert!(stdout_of(&local).is_empty() && stderr_of(&local).contains("keymeter: on the local database\n"));
    assert_eq!(person.said(&["gateway", "revoke", &id, "--yes"]), format!("revoked the gateway {id}"));
    assert_eq!(
        person.refusal(&["gateway", "revoke", &id, "--yes"]),
        (4, "there is no such gateway (not_found)".to_owned())
    );

    // Without a name of a server it is the local database too.
    let nobody = Person::new();
    let created = nobody.run(&["user", "create", "ana"]);
    assert!(stderr_of(&created).contains("keymeter: on the local database\n"));
    // What fails there says so too, before the sentence.
    let again = nobody.run(&["user", "create", "ana"]);
    assert!(stderr_of(&again).contains("keymeter: on the local database\n"), "{}", stderr_of(&again));
    assert_eq!(refusal_of(&again), (5, "this username is taken".to_owned()));
    let needs =
        "this needs a server: give --server https://keys.example.org, set KEYMETER_URL, or run `keymeter login`";
    assert_eq!(nobody.refusal(&["user", "list"]), (2, needs.to_owned()));
    assert_eq!(nobody.refusal(&["gateway", "list", "--json"]), (2, needs.to_owned()));
    let sentence = "there is no access token for http://127.0.0.1:1; sign in with `keymeter login --server \
                    http://127.0.0.1:1`, or set KEYMETER_URL and KEYMETER_ACCESS_TOKEN; or act on the local database with \
                    --local";
    assert_eq!(nobody.refusal(&["user", "list", "--server", "http://127.0.0.1:1"]), (3, sentence.to_owned()));
}

#[tokio::test]
async fn a_user_without_rights_gets_the_sentence_of_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[("KEYMETER_HTTP__ERRORS_AS_200", "true")]).await;
    let root = Person::root(&server).await;
    let create = ["user", "create", "ana", "--password-stdin"];
    stdout_of(&root.run_with_input(&create, "a long password"));
    // The exit code is that of the cause, also where the server answers with status 200.
    assert_eq!(root.refusal(&["key", "show", "9"]), (4, "there is no such token (not_found)".to_owned()));
    let person = Person::new();
    let login = ["login", "--server", &server.base, "--username", "ana", "--password-stdin"];
    stdout_of(&person.run_with_input(&login, "a long password"));
    let (code, message) = person.refusal(&["key", "list"]);
    assert_eq!((code, message.contains("(token_api_not_enabled)")), (3, true), "{message}");
    let (code, message) = person.refusal(&["user", "list"]);
    assert_eq!((code, message.contains("(not_an_administrator)")), (3, true), "{message}");
}

#[tokio::test]
async fn an_access_token_that_is_not_valid_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let mut person = Person::new();
    person.environment = vec![("KEYMETER_URL", server.base.clone()), ("KEYMETER_ACCESS_TOKEN", "kma_wrong".into())];
    let sentence = format!(
        "the credential is not valid; sign in again or use a valid access token (invalid_credential); run: keymeter \
         login --server {}",
        server.base
    );
    assert_eq!(person.refusal(&["key", "list"]), (3, sentence));
}

#[test]
fn a_server_that_is_not_named_or_cannot_be_used_is_refused() {
    let person = Person::new();
    let sentence = "no server is named; sign in with `keymeter login --server https://keys.example.org`, or set \
                    KEYMETER_URL and KEYMETER_ACCESS_TOKEN";
    assert_eq!(person.refusal(&["key", "list"]), (3, sentence.to_owned()));
    let sentence = "which server? give its address: --server https://keys.example.org";
    assert_eq!(person.refusal(&["login"]), (2, sentence.to_owned()));
    let sentence = "http://keys.example.org would send your password or access token unencrypted; use https://, or \
                    allow it with --insecure-http";
    assert_eq!(person.refusal(&["key", "list", "--server", "http://keys.example.org"]), (2, sentence.to_owned()));
    let sentence = "there is no access token for http://127.0.0.1:1; sign in with `keymeter login --server \
                    http://127.0.0.1:1`, or set KEYMETER_URL and KEYMETER_ACCESS_TOKEN";
    assert_eq!(person.refusal(&["key", "list", "--server", "http://127.0.0.1:1"]), (3, sentence.to_owned()));

    let mut person = Person::new();
    person.environment.push(("KEYMETER_ACCESS_TOKEN", "kma_x".to_owned()));
    let (code, message) = person.refusal(&["key", "list", "--server", "http://127.0.0.1:1"]);
    let sentence = "cannot reach http://127.0.0.1:1: Connection refused (os error 111); check the address, and that the \
                    server runs";
    assert_eq!((code, message), (6, sentence.to_owned()));
}

#[test]
fn an_access_token_follows_no_redirect_and_no_login_of_another_server() {
    let mut person = Person::new();
    person.environment.push(("KEYMETER_ACCESS_TOKEN", "kma_x".to_owned()));
    let moved = "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:9/x\r\nContent-Length: 0\r\n\r\n";
    for arguments in [&["key", "list"][..], &["key", "enable", "7"]] {
        let (address, thread) = other_server(moved);
        let (code, message) = person.refusal(&[arguments, &["--server", &address]].concat());
        let sentence = format!(
            "{address} redirects to http://127.0.0.1:9/x; nothing was sent there. Give the server's final address with \
             --server"
        );
        assert_eq!((code, message), (1, sentence));
        assert!(thread.join().unwrap().contains("Bearer kma_x"));
    }

    let mut person = Person::new();
    let login = "server = \"http://127.0.0.1:1\"\nusername = \"ana\"\naccess_token = \"kma_secret\"\n";
    std::fs::create_dir_all(person.login_file().parent().unwrap()).unwrap();
    std::fs::write(person.login_file(), login).unwrap();
    std::fs::set_permissions(person.login_file(), PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(person.refusal(&["whoami"]).0, 6, "the login is used");
    assert_eq!(person.refusal(&["whoami", "--server", "http://127.0.0.1:2"]).0, 3);
    person.environment.push(("KEYMETER_ACCESS_TOKEN", "kma_x".to_owned()));
    let sentence = "KEYMETER_ACCESS_TOKEN is set, but for which server? Set KEYMETER_URL too, or give --server";
    assert_eq!(person.refusal(&["whoami"]), (2, sentence.to_owned()));
}

#[test]
fn a_server_that_is_not_keymeter_is_told() {
    let mut person = Person::new();
    person.environment.push(("KEYMETER_ACCESS_TOKEN", "kma_x".to_owned()));
    let (address, _) = other_server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    let sentence = format!("{address} does not answer like Keymeter (status 200); check the address");
    assert_eq!(person.refusal(&["whoami", "--server", &address]), (1, sentence));
    let (address, _) = other_server("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 5\r\n\r\nhello");
    let sentence = format!("{address} is unavailable (status 502); retry shortly");
    assert_eq!(person.refusal(&["whoami", "--server", &address]), (6, sentence));
    // What another server says cannot control the terminal.
    let (address, _) = other_server(
        "HTTP/1.1 400 Bad\r\nContent-Length: 61\r\n\r\n{\"success\":false,\"message\":\"a\\u001b[2Jb\",\"error\":\"bad_thing\"}",
    );
    assert_eq!(person.refusal(&["whoami", "--server", &address]), (1, "a [2Jb (bad_thing)".to_owned()));
}

/// Nobody knows a generated password before it is printed. If the answer was lost, the server may have set it.
#[test]
fn a_generated_password_is_printed_if_the_server_may_have_it() {
    let mut person = Person::new();
    person.environment.push(("KEYMETER_ACCESS_TOKEN", "kat_whatever".to_owned()));
    let create = |server: &str| person.run(&["user", "create", "ana", "--server", server]);

    let (server, request) = other_server("");
    let lost = create(&server);
    assert!(request.join().unwrap().starts_with("POST /api/admin/users HTTP/1.1\r\n"));
    let password = String::from_utf8(lost.stdout.clone()).unwrap();
    assert!(password.trim_end().len() >= 20 && password.lines().count() == 1, "{password}");
    assert!(stderr_of(&lost).contains("standard output has the password, if the change was made\n"));
    assert_eq!(lost.status.code(), Some(6));
    assert!(stderr_of(&lost).ends_with("; the change may have been made; look before you repeat it\n"));

    // Nothing was sent.
    let (code, sentence) = refusal_of(&create("http://127.0.0.1:1"));
    assert!(code == 6 && sentence.ends_with("check the address, and that the server runs"), "{sentence}");
}

#[test]
fn completion_and_manual_pages_know_the_commands_and_no_option_takes_a_secret() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = person.stdout(&["completion", shell]);
        assert!(script.contains("keymeter") && script.contains("whoami") && script.contains("add-usd"), "{shell}");
        for secret in ["--password ", "--access-token ", "--secret "] {
            assert!(!script.contains(secret), "{shell}: {secret}");
        }
    }
    let pages = person.home.path().join("man/man1");
    person.stdout(&["man", pages.to_str().unwrap()]);
    let page = std::fs::read_to_string(pages.join("keymeter-key-create.1")).unwrap();
    assert!(page.contains("keymeter key create ci"), "{page}");
    let help = person.stdout(&["--help"]);
    assert!(help.starts_with("Issues API keys and enforces what each may spend.\n"), "{help}");
    assert!(help.contains("Exit codes: 0 done") && help.contains("KEYMETER_ACCESS_TOKEN"));
}
