//! A real HTTP client for tests of the real binary, and what they ask of its database and its log.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::{HeaderMap, Method};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, PgPool};

use crate::harness::document;
use crate::harness::process::Server;
use crate::harness::{Answer, ROOT_PASSWORD};

/// The first of the ports that tests listen on, and how many there are.
const FIRST_PORT: u16 = 15_000;
const PORTS: u32 = 16_000;

/// Somebody who calls a server over the network.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    pub base: String,
    pub headers: HeaderMap,
}

impl Client {
    /// Not signed in.
    pub fn stranger(server: &Server) -> Self {
        Self { http: reqwest::Client::new(), base: server.base.clone(), headers: HeaderMap::new() }
    }

    /// With this text in `Authorization`: an access token, or `Bearer` and a key.
    pub fn with(server: &Server, authorization: &str) -> Self {
        let mut client = Self::stranger(server);
        client.headers.insert("authorization", authorization.parse().unwrap());
        client
    }

    /// Signed in, with the session cookie.
    pub async fn signed_in(server: &Server, username: &str, password: &str) -> Self {
        let mut client = Self::stranger(server);
        let answer = client.login(username, password).await;
        answer.ok();
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap();
        client.headers.insert("cookie", cookie.parse().unwrap());
        client.headers.insert("origin", server.base.parse().unwrap());
        client
    }

    /// `root`, with an access token.
    pub async fn root(server: &Server) -> Self {
        Self::with(server, &access_token_of_root(server).await)
    }

    pub async fn login(&self, username: &str, password: &str) -> Answer {
        self.post("/api/user/login", json!({ "username": username, "password": password })).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, String::new()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, String::new()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, body.to_string()).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, body.to_string()).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, body.to_string()).await
    }

    pub async fn send(&self, method: Method, path: &str, body: String) -> Answer {
        self.try_send(method, path, body).await.unwrap()
    }

    /// The same where nobody may answer.
    pub async fn try_send(&self, method: Method, path: &str, body: String) -> reqwest::Result<Answer> {
        let request = self.http.request(method.clone(), format!("{}{path}", self.base)).headers(self.headers.clone());
        let answer = request.body(body).send().await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        document::assert_declared(&method, path, status, &headers);
        Ok(Answer { status, headers, text: answer.text().await? })
    }

    /// Creates a token and returns its id and its key; `None` if that was not confirmed.
    pub async fn creates(&self, token: Value) -> Option<(i64, String)> {
        let mut client = self.clone();
        client.headers.insert("prefer", "return=representation".parse().unwrap());
        let answer = client.try_send(Method::POST, "/api/token/", token.to_string()).await.ok()?;
        let token = (answer.status == 200).then(|| answer.ok())?;
        Some((token["id"].as_i64().unwrap(), token["key"].as_str().unwrap().to_owned()))
    }
}

pub async fn access_token_of_root(server: &Server) -> String {
    let root = Client::signed_in(server, "root", ROOT_PASSWORD).await;
    root.get("/api/user/token").await.ok().as_str().unwrap().to_owned()
}

/// The `DATABASE_URL` of a test's own database.
pub fn url(pool: &PgPool) -> String {
    pool.connect_options().to_url_lossy().to_string()
}

/// Every row of every table, as text.
pub async fn contents(pool: &PgPool) -> String {
    let tables: Vec<String> =
        sqlx::query_scalar("select tablename::text from pg_tables where schemaname = 'public' order by 1")
            .fetch_all(pool)
            .await
            .unwrap();
    let mut all = String::new();
    for table in tables {
        let rows = format!("select coalesce(string_agg(t::text, e'\\n' order by t::text), '') from \"{table}\" t");
        let rows: String = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_one(pool).await.unwrap();
        all.extend([table, rows].map(|text| text + "\n"));
    }
    all
}

/// Waits until it holds, a while and no longer.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..400 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not come to pass: {what}");
}

/// A port on the loopback where nobody listens, below those that systems give to outgoing connections: a client that
/// tries again and again would sooner or later take it while its server is down. Each call gives another one.
pub fn free_port() -> u16 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    for _ in 0..PORTS {
        let next = std::process::id().wrapping_mul(101).wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed));
        let port = FIRST_PORT + u16::try_from(next % PORTS).unwrap();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("every port from {FIRST_PORT} on is taken");
}
