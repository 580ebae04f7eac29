//! The real router over a real database, with a clock that stands still and seeded rng, and the
//! kinds of caller there are.

#![allow(dead_code, reason = "not every test uses every piece, and the names say what they are")]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use keymeter::app::{App, Opened};
use keymeter::config::Config;
use keymeter::domain::time::{ManualClock, UnixTime};
use keymeter::service::rng::Rng;
use keymeter::service::vault::{MasterKey, Vault};
use keymeter::storage::Db;
use serde_json::{Value, json};
use sqlx::PgPool;
use tower::ServiceExt;

pub mod cluster;
pub mod constraints;
pub mod document;
pub mod law;
pub mod process;

/// 2026-03-10 12:00:00 UTC, a Tuesday.
pub const START: i64 = 1_773_144_000;

pub const ROOT_PASSWORD: &str = "the root password";
pub const MASTER_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A whole service for one test.
pub struct TestApp {
    pub router: Router,
    pub clock: Arc<ManualClock>,
    pub pool: PgPool,
}

/// Somebody who sends requests.
#[derive(Clone)]
pub struct Caller {
    router: Router,
    pub id: i64,
    pub username: String,
    auth: Auth,
}

#[derive(Clone)]
enum Auth {
    Nothing,
    AccessToken(String),
    Session(String),
    Key(String),
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl TestApp {
    /// With the default settings, but for limits, which are off, so that tests only meet those
    /// they turn on.
    pub async fn new(pool: PgPool) -> Self {
        Self::with(pool, &[]).await
    }

    /// With these settings beside, as environment variables: `("KEYMETER_ACCOUNTS__CONTACT", "…")`.
    pub async fn with(pool: PgPool, settings: &[(&str, &str)]) -> Self {
        let quiet = ["SEARCH", "LOGIN", "USAGE", "WRONG_KEYS", "REGISTER"]
            .map(|limit| (format!("KEYMETER_LIMITS__{limit}_PER_MINUTE"), "0".to_owned()));
        // The clock of a test stands where the test wants it.
        let quiet = quiet.into_iter().chain([("KEYMETER_SERVER__MAX_CLOCK_SKEW_SECONDS".into(), u32::MAX.to_string())]);
        let given = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let all: std::collections::BTreeMap<_, _> = quiet.chain(given).collect();
        let config = Config::from_sources(None, all.into_iter()).unwrap();
        let clock = Arc::new(ManualClock::at(UnixTime::new(START)));
        let vault = Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap());
        let opened = Opened { db: Db::new(pool.clone()), vault };
        let app = App::assemble(opened, &config, clock.clone(), Rng::seeded(1)).unwrap();
        app.state.users.ensure_root(Some(&ROOT_PASSWORD.into())).await.unwrap();
        Self { router: app.router, clock, pool }
    }

    /// Not signed in.
    pub fn stranger(&self) -> Caller {
        Caller { router: self.router.clone(), id: 0, username: String::new(), auth: Auth::Nothing }
    }

    /// `root`, by session.
    pub async fn root(&self) -> Caller {
        self.signs_in("root", ROOT_PASSWORD).await
    }

    /// A user who is not enabled for the token API; the password is `"{name}'s password"`. By session.
    pub async fn user(&self, name: &str) -> Caller {
        self.makes(json!({ "username": name })).await
    }

    /// A user who is enabled for the token API. By session.
    pub async fn enabled_user(&self, name: &str) -> Caller {
        self.makes(json!({ "username": name, "token_api_enabled": true })).await
    }

    /// An administrator, made by root. By session.
    pub async fn admin(&self, name: &str) -> Caller {
        self.makes(json!({ "username": name, "role": 10 })).await
    }

    /// An account as root asks for it, signed in.
    pub async fn makes(&self, mut account: Value) -> Caller {
        let name = account["username"].as_str().unwrap().to_owned();
        let password = format!("{name}'s password");
        account["password"] = json!(password);
        self.root().await.post("/api/admin/users", account).await.ok();
        self.signs_in(&name, &password).await
    }

    /// Signs in with the login call; the caller then sends the session cookie and `Origin`.
    pub async fn signs_in(&self, username: &str, password: &str) -> Caller {
        let answer =
            self.stranger().post("/api/user/login", json!({ "username": username, "password": password })).await;
        let cookie = answer.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let user = answer.ok();
        Caller {
            router: self.router.clone(),
            id: user["id"].as_i64().unwrap(),
            username: username.to_owned(),
            auth: Auth::Session(cookie),
        }
    }

    /// Somebody who holds this API key and nothing else.
    pub fn holder_of(&self, key: &str) -> Caller {
        Caller { auth: Auth::Key(key.to_owned()), ..self.stranger() }
    }

    /// A gateway, by its credential.
    pub async fn gateway(&self) -> Caller {
        let made = self.root().await.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
        self.stranger().with_access_token(made["credential"].as_str().unwrap())
    }

    /// Puts this much into a user's wallet.
    pub async fn fills(&self, user: &Caller, quota: i64) {
        let path = format!("/api/admin/users/{}/quota", user.id);
        self.root().await.post(&path, json!({ "set": quota })).await.ok();
    }

    /// A charge without a gateway: moves quota from remain to used, for tests of what follows.
    pub async fn spend(&self, token: i64, quota: i64) {
        let done = sqlx::query(
            "update tokens set remain_quota = case when unlimited_quota then remain_quota else remain_quota - $2 end, \
             used_quota = used_quota + $2 where id = $1",
        )
        .bind(token)
        .bind(quota)
        .execute(&self.pool)
        .await
        .unwrap();
        assert_eq!(done.rows_affected(), 1);
    }
}

impl Caller {
    /// The same person with an access token in `Authorization`.
    pub async fn by_access_token(&self) -> Self {
        let token = self.get("/api/user/token").await.ok();
        self.with_access_token(token.as_str().unwrap())
    }

    /// The same person with this text in `Authorization`.
    pub fn with_access_token(&self, token: &str) -> Self {
        Self { auth: Auth::AccessToken(token.to_owned()), ..self.clone() }
    }

    /// The cookie or token that this caller sends.
    pub fn secret(&self) -> &str {
        match &self.auth {
            Auth::Nothing => "",
            Auth::AccessToken(secret) | Auth::Session(secret) | Auth::Key(secret) => secret,
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::POST, path, &body).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::PUT, path, &body).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::PATCH, path, &body).await
    }

    async fn send_json(&self, method: Method, path: &str, body: &Value) -> Answer {
        let mut request = self.request(method, path);
        *request.body_mut() = Body::from(body.to_string());
        request.headers_mut().insert("content-type", "application/json".parse().unwrap());
        self.send(request).await
    }

    /// A request with this caller's credential, for tests that add to it before they [`send`](Self::send) it.
    pub fn request(&self, method: Method, path: &str) -> Request<Body> {
        let mut request = Request::builder().method(method).uri(path).header("host", "keys.test");
        request = match &self.auth {
            Auth::Nothing => request,
            Auth::AccessToken(token) => request.header("authorization", token),
            Auth::Session(cookie) => request.header("cookie", cookie).header("origin", "https://keys.test"),
            Auth::Key(key) => request.header("authorization", format!("Bearer {key}")),
        };
        request.body(Body::empty()).unwrap()
    }

    /// Sends a request as it is. The answer must be one that the OpenAPI document declares.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        document::assert_declared(&method, &path, parts.status, &parts.headers);
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    /// Creates a token and returns its id.
    pub async fn creates(&self, token: Value) -> i64 {
        self.creates_with_key(token).await.0
    }

    /// Creates a token and returns its id and its key.
    pub async fn creates_with_key(&self, token: Value) -> (i64, String) {
        let mut request = self.request(Method::POST, "/api/token/");
        *request.body_mut() = Body::from(token.to_string());
        request.headers_mut().insert("prefer", "return=representation".parse().unwrap());
        let token = self.send(request).await.ok();
        (token["id"].as_i64().unwrap(), token["key"].as_str().unwrap().to_owned())
    }
}

impl Answer {
    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {:?}", self.text))
    }

    /// Asserts 200 and `success`, and returns `data` (`null` if there is none).
    #[track_caller]
    pub fn ok(&self) -> Value {
        let body = self.json();
        assert_eq!(self.status, StatusCode::OK, "{body}");
        assert!(body["success"] == json!(true) || body["code"] == json!(true), "{body}");
        body["data"].clone()
    }

    /// Asserts a failure of this status and code, in the envelope of spec §7.1.
    #[track_caller]
    pub fn refuses(&self, status: u16, error: &str) {
        let body = self.json();
        assert_eq!((self.status.as_u16(), body["error"].as_str()), (status, Some(error)), "{body}");
        assert_eq!(body["success"], json!(false), "{body}");
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    }

    /// The same, with its exact sentence.
    #[track_caller]
    pub fn refuses_saying(&self, status: u16, error: &str, message: &str) {
        self.refuses(status, error);
        assert_eq!(self.json()["message"], message);
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
