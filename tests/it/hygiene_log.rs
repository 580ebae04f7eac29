//! No secret leaves by a side door: not by the log, however loud, not by the metrics, not by an answer that is
//! about something else, and not by the database (spec §2.1, §5: encrypted or hashed at rest).

use std::sync::Mutex;

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::{contents, url};
use crate::harness::{Answer, Client, MASTER_KEY, ROOT_PASSWORD, Server};

/// The secrets of one test, and the answers that must not hold them.
#[derive(Default)]
struct Hush {
    secrets: Mutex<Vec<(&'static str, String)>>,
    answers: Mutex<Vec<String>>,
}

impl Hush {
    fn secret(&self, what: &'static str, text: &str) -> String {
        self.secrets.lock().unwrap().push((what, text.to_owned()));
        text.to_owned()
    }

    /// An answer that has no business with secrets.
    fn hears(&self, answer: Answer) -> Answer {
        self.answers.lock().unwrap().push(format!("{:?}\n{}", answer.headers, answer.text));
        answer
    }

    /// Where in `text` which secrets are.
    fn told_in(&self, place: &str, text: &str) -> Vec<String> {
        let secrets = self.secrets.lock().unwrap();
        let told = |secret: &str| {
            let at = text.find(secret)?;
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            Some(text[start..].lines().next().unwrap_or_default().to_owned())
        };
        secrets.iter().filter_map(|(what, secret)| Some(format!("{place} tells {what}: {}", told(secret)?))).collect()
    }
}

fn word(answer: &Answer, member: &str) -> String {
    answer.ok()[member].as_str().unwrap().to_owned()
}

#[sqlx::test(migrations = false)]
async fn no_secret_leaves_by_a_side_door(pool: PgPool) {
    let hush = Hush::default();
    let dir = tempfile::tempdir().unwrap();
    let plain = url(&pool);
    let database_password = hush.secret("the database's password", "Database-Password-1");
    let (_, place) = plain.split_once("://postgres").unwrap();
    let place = place.split_once('@').unwrap().1;
    let database = format!("postgres://postgres:{database_password}@{place}");
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("KEYMETER_SECRETS__MASTER_KEY", &hush.secret("the master key", MASTER_KEY)),
        ("KEYMETER_ROOT__PASSWORD", &hush.secret("root's password", ROOT_PASSWORD)),
        ("KEYMETER_LOG__FILTER", "trace"),
        ("KEYMETER_ACCOUNTS__REGISTRATION", "open"),
        ("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "0"),
    ];
    let mut server = Server::start(dir.path(), &settings).await;
    let stranger = Client::stranger(&server);

    // Passwords, right and wrong, and one where the name belongs.
    let wrong = hush.secret("a wrong password", "Wrong-Password-2");
    for name in ["root", "nobody"] {
        hush.hears(stranger.login(name, &wrong).await).refuses(401, "wrong_credentials");
    }
    let slipped = hush.secret("a password typed as the name", "Slipped-Password-3");
    hush.hears(stranger.login(&slipped, "whatever it is").await).refuses(401, "wrong_credentials");
    let root = Client::signed_in(&server, "root", ROOT_PASSWORD).await;
    let cookie = root.headers["cookie"].to_str().unwrap().strip_prefix("session=").unwrap();
    hush.secret("a session cookie", cookie);
    let first = hush.secret("a first password", "First-Password-4");
    let register = json!({ "username": "ana", "password": first });
    hush.hears(stranger.post("/api/user/register", register).await).ok();
    let ana = Client::signed_in(&server, "ana", &first).await;
    let second = hush.secret("a second password", "Second-Password-5");
    let change = json!({ "password": second, "original_password": first });
    hush.hears(ana.put("/api/user/self", change.clone()).await).ok();
    hush.hears(ana.put("/api/user/self", change).await).refuses(401, "not_signed_in");
    let third = hush.secret("a password by an administrator", "Third-Password-6");
    hush.hears(root.post("/api/admin/users", json!({ "username": "bob", "password": third })).await).ok();
    hush.hears(stranger.login("bob", &third).await).ok();

    // Bodies that cannot be read.
    let buried = hush.secret("a password in a bad body", "Buried-Password-7");
    for body in [
        format!(r#"{{"username":"root","password":"{buried}"#),
        format!(r#"{{"username":"root","password":{buried}}}"#),
        format!(r#"{{"username":"root","password":["{buried}"]}}"#),
        format!(r#"{{"username":"root","password":{{"{buried}":1}}}}"#),
        format!(r#""{buried}""#),
        format!("username=root&password={buried}"),
    ] {
        assert_eq!(hush.hears(stranger.send(Method::POST, "/api/user/login", body).await).status, 400);
    }
    assert_eq!(hush.hears(root.post("/api/token/", json!({ "name": "x", "remain_quota": buried })).await).status, 400);

    // Access tokens.
    let minted = root.get("/api/user/token").await.ok();
    let by_token = Client::with(&server, &hush.secret("an access token", minted.as_str().unwrap()));
    let made = root.post("/api/user/access_tokens", json!({ "name": "named" })).await;
    hush.secret("a named access token", &word(&made, "token"));
    hush.hears(by_token.get("/api/user/access_tokens").await).ok();
    let unknown = hush.secret("an unknown credential", "kma_UnknownCredential8UnknownCredential8Unknown8");
    for credential in [unknown.clone(), format!("Bearer {unknown}")] {
        let caller = Client::with(&server, &credential);
        hush.hears(caller.get("/api/token/").await).refuses(401, "invalid_credential");
        hush.hears(caller.get("/api/usage/token/").await).refuses(401, "invalid_key");
    }

    // Keys.
    let (id, key) = by_token.creates(json!({ "name": "kept", "remain_quota": 7 })).await.unwrap();
    hush.secret("a key", key.strip_prefix("sk-").unwrap());
    let part = &key[10..30];
    hush.secret("the middle of a key", part);
    assert_eq!(word(&by_token.get(&format!("/api/token/{id}")).await, "key"), key);
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
    ] {
        hush.hears(by_token.get(&path).await);
    }
    hush.hears(by_token.put("/api/token/", json!({ "id": id, "remain_quota": key })).await)
        .refuses(400, "invalid_field");
    hush.hears(by_token.put("/api/token/", json!({ "id": id, "name": "renamed" })).await).ok();
    hush.hears(by_token.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await).ok();
    hush.hears(by_token.post("/api/token/", json!({ "name": "plain" })).await).ok();
    let holder = Client::with(&server, &format!("Bearer {key}"));
    hush.hears(holder.get("/api/usage/token/").await).ok();
    hush.hears(holder.get("/api/token/").await).refuses(401, "invalid_credential");

    // Gateways.
    let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await;
    hush.secret("a gateway credential", &word(&gateway, "credential"));
    hush.hears(root.get("/api/admin/gateways").await).ok();

    hush.hears(by_token.delete(&format!("/api/token/{id}")).await).ok();
    hush.hears(stranger.get("/readyz").await).ok();
    hush.hears(stranger.get("/api/status").await).ok();
    let metrics = hush.hears(stranger.get("/metrics").await).text;
    let dump = contents(&pool).await;
    assert_eq!(server.terminate(), Some(0));

    let log = server.output();
    assert!(log.contains("TRACE") && log.contains("/api/user/login"), "the log is not loud");
    assert!(metrics.contains("keymeter_requests_total"), "{metrics}");
    let mut told = hush.told_in("the log", &log);
    told.extend(hush.told_in("/metrics", &metrics));
    told.extend(hush.told_in("the database", &dump));
    for answer in hush.answers.lock().unwrap().iter() {
        told.extend(hush.told_in("an answer", answer));
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[sqlx::test(migrations = false)]
async fn strangers_cannot_make_the_metrics_grow(pool: PgPool) {
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
    series().await; // which is a route of its own from now on
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
    let own: Vec<Value> = lines.filter(|line| line["request_id"] == "one-of-mine").collect();
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
