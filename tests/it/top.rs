//! `keymeter top` and `keymeter support-bundle`: what all servers are doing, in a terminal and in a file.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::client::access_token_of_root;
use crate::harness::database::url;
use crate::harness::process::{free_port, keymeter, kill, run};
use crate::harness::{Client, MASTER_KEY, PLENTY, ROOT_PASSWORD, Server, Servers};

#[track_caller]
fn stdout_of(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The exit code and the last line of standard error.
fn refusal_of(output: &Output) -> (i32, String) {
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    let stderr = String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), stderr.lines().last().unwrap_or_default().to_owned())
}

/// The access token of a caller that has one.
fn access_token(client: &Client) -> String {
    client.headers["authorization"].to_str().unwrap().to_owned()
}

#[sqlx::test(migrations = false)]
async fn top_shows_one_report_or_one_after_the_other(pool: PgPool) {
    let mut servers = Servers::start(&url(&pool), 1, &[("KEYMETER_SERVER__NAME", "east")]).await;
    let ana = servers.owner("ana", PLENTY).await;
    let key = ana.unlimited_key().await;
    for _ in 0..5 {
        servers.gateway(0).post("/api/gateway/charge", json!({ "key": key, "quota": 3 })).await.ok();
    }
    let dir = tempfile::tempdir().unwrap();
    let token = access_token(&servers.root);
    let environment = |token: &str| {
        [
            ("HOME", dir.path().to_str().unwrap().to_owned()),
            ("KEYMETER_URL", servers.running[0].base.clone()),
            ("KEYMETER_ACCESS_TOKEN", token.to_owned()),
        ]
    };
    let command = |token: &str, arguments: &[&str]| {
        let environment = environment(token);
        let settings: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut command = keymeter(dir.path(), &settings);
        command.arg("top").args(arguments);
        command
    };
    let top = |token: &str, arguments: &[&str]| command(token, arguments).output().unwrap();

    let report: Value = serde_json::from_str(&stdout_of(&top(&token, &["--once", "--json"]))).unwrap();
    assert_eq!(report["server"]["name"], "east");
    assert!(report["recent"]["operations"]["charge"].as_u64() > Some(0), "{report}");
    let page = stdout_of(&top(&token, &["--once"]));
    assert!(page.starts_with("east ") && !page.contains('\u{1b}'), "{page}");
    for text in [
        "  1 server runs  ",
        "\nneeds attention: no backup is known\n",
        "\noperations  ",
        "\nby kind   charge ",
        "\ndatabase  PostgreSQL ",
        "  running, answers  ",
    ] {
        assert!(page.contains(text), "{text:?}: {page}");
    }

    let message =
        "keymeter: standard output is no terminal; use --once for one report, or --json for one document a line";
    assert_eq!(refusal_of(&top(&token, &[])), (2, message.to_owned()));
    assert_eq!(top(&token, &["--json", "--interval", "0"]).status.code(), Some(2));
    let (code, message) = refusal_of(&top(&access_token(&ana.client), &["--once"]));
    assert!(code == 3 && message.ends_with(" (not_an_administrator)"), "{code} {message}");

    let mut repeated = command(&token, &["--json", "--interval", "1"]);
    let mut repeated = repeated.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(repeated.stdout.take().unwrap()).lines();
    let mut said = BufReader::new(repeated.stderr.take().unwrap()).lines();
    for _ in 0..2 {
        let report: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(report["server"]["name"], "east");
    }
    assert!(said.next().unwrap().unwrap().ends_with(" (KEYMETER_URL)"));
    let base = servers.running[0].base.clone();
    servers.running[0].kill();
    let outage = said.next().unwrap().unwrap();
    assert!(outage.starts_with(&format!("keymeter: no answer from {base}: ")), "{outage}");
    assert!(outage.ends_with("; trying again"), "{outage}");
    kill("-INT", repeated.id());
    assert_eq!(repeated.wait().unwrap().code(), Some(0));

    // The first report must be there.
    let (code, message) = refusal_of(&run(
        dir.path(),
        &[("KEYMETER_URL", &base), ("KEYMETER_ACCESS_TOKEN", &token), ("HOME", dir.path().to_str().unwrap())],
        &["top", "--json"],
    ));
    assert!(code == 6 && message.contains("cannot reach "), "{code} {message}");
}

/// The files of a bundle, by their names.
fn unpacked(bundle: &Path) -> BTreeMap<String, String> {
    assert_eq!(std::fs::metadata(bundle).unwrap().permissions().mode() & 0o777, 0o600);
    let mut archive = tar::Archive::new(GzDecoder::new(std::fs::File::open(bundle).unwrap()));
    let files = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        assert_eq!(entry.header().mode().unwrap(), 0o600);
        let name = entry.path().unwrap().to_str().unwrap().strip_prefix("keymeter-support/").unwrap().to_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (name, text)
    });
    files.collect()
}

/// Asserts that no file has one of these secrets, or anything like a key.
fn assert_no_secret(files: &BTreeMap<String, String>, secrets: &[&str]) {
    for (name, text) in files {
        for secret in secrets {
            assert!(!text.contains(secret), "{name} has {secret}");
        }
        let is_key =
            |(at, _): (usize, &str)| text[at + 3..].chars().take_while(char::is_ascii_alphanumeric).count() > 9;
        assert!(!text.match_indices("sk-").any(is_key), "{name}: {text}");
    }
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

const FILES: [&str; 5] = ["about.json", "doctor.txt", "metrics.txt", "settings.json", "system.json"];
const PROMISE: &str = "it contains no key and no secret; read it before you send it";

#[tokio::test]
async fn a_support_bundle_has_what_helps_and_no_secret() {
    let (dir, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let listen = format!("127.0.0.1:{}", free_port());
    let file = dir.path().join("keymeter.toml");
    std::fs::write(&file, "[limits]\nsearch_per_minute = 7\n").unwrap();
    let settings = [
        ("KEYMETER_SERVER__LISTEN", listen.as_str()),
        ("KEYMETER_SERVER__NAME", "east"),
        ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
    ];
    let server = Server::start(dir.path(), &settings).await;
    let token = access_token_of_root(&server).await;
    let (_, key) =
        Client::with(&server, &token).creates(json!({ "name": "one", "unlimited_quota": true })).await.unwrap();

    let mut command = keymeter(dir.path(), &settings);
    command.current_dir(here.path()).arg("--config").arg(&file).arg("support-bundle");
    let said = stdout_of(&command.output().unwrap());
    let made = files_in(here.path());
    let [bundle] = made.as_slice() else { panic!("{made:?}") };
    let name = bundle.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("keymeter-support-2") && name.ends_with(".tar.gz"), "{name}");
    assert!(said.starts_with(name) && said.ends_with(&format!("{PROMISE}\n")), "{said}");
    let files = unpacked(bundle);
    assert!(files.keys().eq(FILES) && FILES.iter().all(|name| said.contains(name)), "{files:?} {said}");
    assert_no_secret(&files, &[ROOT_PASSWORD, MASTER_KEY, &token, &key[3..]]);

    let read = |name: &str| serde_json::from_str::<Value>(&files[name]).unwrap();
    let about = read("about.json");
    assert_eq!((&about["server"], &about["database_is_private"]), (&json!("east"), &json!(true)));
    assert!(about["version"].is_string() && about["time"].is_i64() && about["kernel"].is_string(), "{about}");
    let settings = read("settings.json");
    let setting = |name: &str| settings.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone();
    let limit = setting("limits.search_per_minute");
    assert_eq!((&limit["value"], &limit["is_default"]), (&json!(7), &json!(false)));
    let master_key = setting("secrets.master_key");
    assert_eq!((&master_key["value"], &master_key["is_set"]), (&Value::Null, &json!(true)));
    let doctor = &files["doctor.txt"];
    assert!(doctor.contains("ok     ledger: ") && doctor.contains("no errors found\n"), "{doctor}");
    assert_eq!(doctor.lines().last(), Some("exit status: 0"));
    let system = read("system.json");
    assert_eq!((&system["servers"][0]["name"], &system["database"]["is_writable"]), (&json!("east"), &json!(true)));
    assert_eq!((&system["proof"]["invariants"][0]["name"], &system["recent"]), (&json!("L3"), &Value::Null));
    assert!(files["metrics.txt"].contains("keymeter_requests_total"), "{}", files["metrics.txt"]);

    let before = std::fs::read(bundle).unwrap();
    let again = run(dir.path(), &[], &["support-bundle", bundle.to_str().unwrap()]);
    let (code, message) = refusal_of(&again);
    assert!(code == 1 && message.starts_with(&format!("keymeter: cannot write {}: ", bundle.display())), "{message}");
    assert_eq!(std::fs::read(bundle).unwrap(), before);
}

#[test]
fn what_cannot_be_packed_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle.tar.gz");
    let database = format!("postgres://keymeter:secret-password@127.0.0.1:{}/keymeter", free_port());
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let said = stdout_of(&run(dir.path(), &settings, &["support-bundle", bundle.to_str().unwrap()]));
    assert!(said.ends_with(&format!("{PROMISE}\n")), "{said}");
    assert_eq!(files_in(dir.path()), std::slice::from_ref(&bundle));
    let files = unpacked(&bundle);
    assert_no_secret(&files, &["secret-password", MASTER_KEY, ROOT_PASSWORD]);
    let doctor = &files["doctor.txt"];
    assert!(doctor.contains("WRONG  database: cannot reach PostgreSQL at 127.0.0.1:"), "{doctor}");
    assert_eq!(doctor.lines().last(), Some("exit status: 1"));
    let system: Value = serde_json::from_str(&files["system.json"]).unwrap();
    assert!(system["error"].as_str().unwrap().starts_with("cannot reach PostgreSQL at 127.0.0.1:"), "{system}");
    let metrics = &files["metrics.txt"];
    assert!(metrics.starts_with("no metrics: no service answers at 127.0.0.1:0: "), "{metrics}");
    let about: Value = serde_json::from_str(&files["about.json"]).unwrap();
    assert_eq!(about["database_is_private"], false);
}
