//! No secret appears in the log at any level, in the metrics, in an answer that must not have it, or as plain text in
//! the database (spec §2.1, §5: encrypted or hashed at rest).

use std::sync::Mutex;

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::{contents, url};
use crate::harness::{Answer, Client, MASTER_KEY, ROOT_PASSWORD, Server};

/// The secrets of one test, and the answers that must not contain them.
#[derive(Default)]
struct Secrets {
    secrets: Mutex<Vec<(&'static str, String)>>,
    answers: Mutex<Vec<String>>,
}

impl Secrets {
    fn add(&self, what: &'static str, text: &str) -> String {
        self.secrets.lock().unwrap().push((what, text.to_owned()));
        text.to_owned()
    }

    /// Keeps an answer that must not contain a secret.
    fn check_later(&self, answer: Answer) -> Answer {
        self.answers.lock().unwrap().push(format!("{:?}\n{}", answer.headers, answer.text));
        answer
    }

    /// The secrets in `text`, each with its line.
    fn find_in(&self, place: &str, text: &str) -> Vec<String> {
        let secrets = self.secrets.lock().unwrap();
        let line_with = |secret: &str| {
            let at = text.find(secret)?;
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            Some(text[start..].lines().next().unwrap_or_default().to_owned())
        };
        secrets
            .iter()
            .filter_map(|(what, secret)| Some(format!("{place} contains {what}: {}", line_with(secret)?)))
            .collect()
    }
}

fn text_field(answer: &Answer, field: &str) -> String {
    answer.ok()[field].as_str().unwrap().to_owned()
}

#[sqlx::test(migrations = false)]
async fn no_secret_is_in_the_log_the_metrics_or_the_database(pool: PgPool) {
    let secrets = Secrets::default();
    let dir = tempfile::tempdir().unwrap();
    let plain = url(&pool);
    let database_password = secrets.add("the database's password", "Database-Password-1");
    let (_, place) = plain.split_once("://postgres").unwrap();
    let place = place.split_once('@').unwrap().1;
    let database = format!("postgres://postgres:{database_password}@{place}");
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("KEYMETER_SECRETS__MASTER_KEY", &secrets.add("the master key", MASTER_KEY)),
        ("KEYMETER_ROOT__PASSWORD", &secrets.add("root's password", ROOT_PASSWORD)),
        ("KEYMETER_LOG__FILTER", "trace"),
        ("KEYMETER_ACCOUNTS__REGISTRATION", "open"),
        ("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "0"),
    ];
    let mut server = Server::start(dir.path(), &settings).await;
    let stranger = Client::stranger(&server);

    // Passwords: right, wrong, and typed as the username.
    let wrong = secrets.add("a wrong password", "Wrong-Password-2");
    for name in ["root", "nobody"] {
        secrets.check_later(stranger.login(name, &wrong).await).refuses(401, "wrong_credentials");
    }
    let misplaced = secrets.add("a password typed as the name", "Misplaced-Password-3");
    secrets.check_later(stranger.login(&misplaced, "whatever it is").await).refuses(401, "wrong_credentials");
    let root = Client::signed_in(&server, "root", ROOT_PASSWORD).await;
    let cookie = root.headers["cookie"].to_str().unwrap().strip_prefix("session=").unwrap();
    secrets.add("a session cookie", cookie);
    let first = secrets.add("a first password", "First-Password-4");
    let register = json!({ "username": "ana", "password": first });
    secrets.check_later(stranger.post("/api/user/register", register).await).ok();
    let ana = Client::signed_in(&server, "ana", &first).await;
    let second = secrets.add("a second password", "Second-Password-5");
    let change = json!({ "password": second, "original_password": first });
    secrets.check_later(ana.put("/api/user/self", change.clone()).await).ok();
    secrets.check_later(ana.put("/api/user/self", change).await).refuses(401, "not_signed_in");
    let third = secrets.add("a password by an administrator", "Third-Password-6");
    secrets.check_later(root.post("/api/admin/users", json!({ "username": "bob", "password": third })).await).ok();
    secrets.check_later(stranger.login("bob", &third).await).ok();

    // Bodies that cannot be read.
    let unread = secrets.add("a password in a bad body", "Unread-Password-7");
    for body in [
        format!(r#"{{"username":"root","password":"{unread}"#),
        format!(r#"{{"username":"root","password":{unread}}}"#),
        format!(r#"{{"username":"root","password":["{unread}"]}}"#),
        format!(r#"{{"username":"root","password":{{"{unread}":1}}}}"#),
        format!(r#""{unread}""#),
        format!("username=root&password={unread}"),
    ] {
        assert_eq!(secrets.check_later(stranger.send(Method::POST, "/api/user/login", body).await).status, 400);
    }
    assert_eq!(
        secrets.check_later(root.post("/api/token/", json!({ "name": "x", "remain_quota": unread })).await).status,
        400
    );

    // Access tokens.
    let access_token = root.get("/api/user/token").await.ok();
    let by_token = Client::with(&server, &secrets.add("an access token", access_token.as_str().unwrap()));
    let made = root.post("/api/user/access_tokens", json!({ "name": "named" })).await;
    secrets.add("a named access token", &text_field(&made, "token"));
    secrets.check_later(by_token.get("/api/user/access_tokens").await).ok();
    let unknown = secrets.add("an unknown credential", "kma_UnknownCredential8UnknownCredential8Unknown8");
    for credential in [unknown.clone(), format!("Bearer {unknown}")] {
        let caller = Client::with(&server, &credential);
        secrets.check_later(caller.get("/api/token/").await).refuses(401, "invalid_credential");
        secrets.check_later(caller.get("/api/usage/token/").await).refuses(401, "invalid_key");
    }

    // Keys.
    let (id, key) = by_token.creates(json!({ "name": "kept", "remain_quota": 7 })).await.unwrap();
    secrets.add("a key", key.strip_prefix("sk-").unwrap());
    let part = &key[10..30];
    secrets.add("the middle of a key", part);
    assert_eq!(text_field(&by_token.get(&format!("/api/token/{id}")).await, "key"), key);
    by_token.post(&format!("/api/token/{id}/key"), Value::Null).await.ok();
    for path in [
        "/api/token/".to_owned(),
        format!("/api/token/search?token={key}"),
        format!("/api/token/search?token={part}"),
        format!("/api/token/search?keyword={key}"),
        format!("/api/token/search?token={key}&token={key}"),
        format!("/api/token/?p={key}"),
        format!("/api/token/?size={key}"),
        format!("/api/token/{key}"),
        format!("/api/token/{key}/usage"),
        format!("/api/token/{id}/usage?start_date={key}"),
        format!("/nowhere/{key}?key={key}"),
        "/api/admin/tokens".to_owned(),
        format!("/api/admin/users?keyword={key}"),
        format!("/api/admin/tokens?user_id={key}"),
        format!("/api/admin/audit?action={key}"),
        "/api/admin/audit?size=100".to_owned(),
        "/api/admin/audit?format=csv".to_owned(),
        format!("/api/token/{id}/details"),
        format!("/api/token/?sort={key}"),
        format!("/api/token/?group={key}"),
        format!("/api/admin/tokens/{id}"),
        format!("/api/admin/users?status={key}"),
        "/api/user/sessions".to_owned(),
        "/api/user/activity?size=100".to_owned(),
        format!("/api/user/activity?from={key}"),
        format!("/api/usage?group_by={key}"),
        "/api/usage?group_by=token&format=csv".to_owned(),
    ] {
        secrets.check_later(by_token.get(&path).await);
    }
    // A key in a body.
    for path in ["/api/token/search", "/api/admin/tokens/search"] {
        for body in [
            json!({ "token": key }),
            json!({ "token": part }),
            json!({ "token": key[..30] }),
            json!({ "token": key, "p": key }),
            json!({ "token": key, "group": key }),
            json!({ "token": [key] }),
        ] {
            secrets.check_later(by_token.post(path, body).await);
        }
    }
    secrets
        .check_later(by_token.put("/api/token/", json!({ "id": id, "remain_quota": key })).await)
        .refuses(400, "invalid_field");
    secrets.check_later(by_token.put("/api/token/", json!({ "id": id, "name": "renamed" })).await).ok();
    secrets.check_later(by_token.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await).ok();
    secrets.check_later(by_token.post("/api/token/", json!({ "name": "plain" })).await).ok();
    let holder = Client::with(&server, &format!("Bearer {key}"));
    secrets.check_later(holder.get("/api/usage/token/").await).ok();
    secrets.check_later(holder.get("/api/token/").await).refuses(401, "invalid_credential");

    // Gateways.
    let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await;
    secrets.add("a gateway credential", &text_field(&gateway, "credential"));
    secrets.check_later(root.get("/api/admin/gateways").await).ok();

    secrets.check_later(by_token.delete(&format!("/api/token/{id}")).await).ok();
    secrets.check_later(stranger.get("/readyz").await).ok();
    secrets.check_later(stranger.get("/api/status").await).ok();
    let metrics = secrets.check_later(stranger.get("/metrics").await).text;
    let dump = contents(&pool).await;
    assert_eq!(server.terminate(), Some(0));

    let log = server.output();
    assert!(log.contains("TRACE") && log.contains("/api/user/login"), "the log is not at level trace");
    assert!(metrics.contains("keymeter_requests_total"), "{metrics}");
    let mut leaks = secrets.find_in("the log", &log);
    leaks.extend(secrets.find_in("/metrics", &metrics));
    leaks.extend(secrets.find_in("the database", &dump));
    for answer in secrets.answers.lock().unwrap().iter() {
        leaks.extend(secrets.find_in("an answer", answer));
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

#[sqlx::test(migrations = false)]
async fn unknown_methods_and_paths_add_no_metric_series(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[("DATABASE_URL", &url(&pool))]).await;
    let stranger = Client::stranger(&server);
    let series = async || stranger.get("/metrics").await.text.lines().count();
    let visits = async |n: std::ops::Range<u32>| {
        for n in n {
            let method = Method::from_bytes(format!("METHOD{n}").as_bytes()).unwrap();
            stranger.send(method, "/api/status", String::new()).await;
            stranger.send(Method::GET, &format!("/nowhere/{n}?n={n}"), String::new()).await;
        }
    };
    visits(0..3).await;
    series().await; // adds the series of its own route
    let before = series().await;
    visits(3..30).await;
    assert_eq!(series().await, before);
}

#[sqlx::test(migrations = false)]
async fn a_request_is_one_line_of_the_log_with_the_route_and_never_the_path(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", &*url(&pool)), ("KEYMETER_LOG__FORMAT", "json")];
    let mut server = Server::start(dir.path(), &settings).await;
    let mut root = Client::root(&server).await;
    root.headers.insert("x-request-id", "one-of-mine".parse().unwrap());
    root.get("/api/token/471147114711?p=1").await.refuses(404, "not_found");
    assert_eq!(server.terminate(), Some(0));
    let log = server.output();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let own: Vec<Value> = lines.filter(|line| line["http_request_id"] == "one-of-mine").collect();
    assert_eq!(own.len(), 1, "{log}");
    let line = &own[0];
    for (field, value) in [
        ("target", json!("keymeter::request")),
        ("method", json!("GET")),
        ("route", json!("/api/token/{id}")),
        ("status", json!(404)),
        ("error", json!("not_found")),
        ("ip", json!("127.0.0.1")),
        ("user_id", json!(1)),
    ] {
        assert_eq!(line[field], value, "{field} in {line}");
    }
    assert!(line["us"].is_u64(), "{line}");
    assert!(!log.contains("471147114711"));
}
