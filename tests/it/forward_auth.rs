//! Forward-auth by real proxies in front of the real program: `examples/{nginx,traefik,envoy}` and the Caddy recipe of
//! `docs/gateways.md`, with other ports and paths. `forward_auth_clients.rs` tests what different clients send and
//! read.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;

use crate::harness::database::url;
use crate::harness::process::free_port;
use crate::harness::project::project_file;
use crate::harness::proxy::{self, Kind, Proxy, adapted, installed};
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Server};

/// The headers in which the upstream gets the properties of a token.
const TOKEN_HEADERS: [&str; 4] = ["x-token-id", "x-user-id", "x-token-group", "x-remain-quota"];

/// A loopback address that is not a trusted proxy.
pub const CLIENT: &str = "127.0.0.2";

/// A proxy in front of an upstream, and the Keymeter server that checks its requests.
pub struct Front {
    _proxy: Proxy,
    pub listen: SocketAddr,
    served: Arc<AtomicUsize>,
    keymeter: Server,
    pub ana: Client,
    root: Client,
    user: i64,
    credential: String,
    _dir: TempDir,
}

impl Front {
    pub async fn start(kind: Kind, pool: &PgPool) -> Self {
        Self::with(kind, pool, str::to_owned, |config| config).await
    }

    /// `present` returns the credential that the proxy sends, given the right one; `change` changes the configuration
    /// of nginx.
    pub async fn with(
        kind: Kind,
        pool: &PgPool,
        present: impl Fn(&str) -> String,
        change: impl Fn(String) -> String,
    ) -> Self {
        let program = installed(kind);
        let dir = tempfile::tempdir().unwrap();
        let settings = [("DATABASE_URL", url(pool)), ("KEYMETER_SERVER__TRUSTED_PROXIES", "127.0.0.1/32".to_owned())];
        let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
        let keymeter = Server::start(dir.path(), &settings).await;
        let root = Client::root(&keymeter).await;
        let account = json!({ "username": "ana", "password": "ana's password", "token_api_enabled": true });
        let user = root.post("/api/admin/users", account).await.ok()["id"].as_i64().unwrap();
        root.post(&format!("/api/admin/users/{user}/quota"), json!({ "set": 1_000 })).await.ok();
        let ana = Client::signed_in(&keymeter, "ana", "ana's password").await;
        let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
        let credential = made["credential"].as_str().unwrap().to_owned();

        let served = Arc::new(AtomicUsize::new(0));
        let upstream = upstream(Arc::clone(&served)).await;
        let listen = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let presented = present(&credential);
        let command = match kind {
            Kind::Nginx => nginx(program, dir.path(), listen, keymeter.address(), upstream, &presented, change),
            Kind::Caddy => caddy(program, dir.path(), listen, keymeter.address(), upstream, &presented),
            Kind::Traefik => traefik(program, dir.path(), listen, keymeter.address(), upstream, &presented),
            Kind::Envoy => envoy(program, dir.path(), listen, keymeter.address(), upstream, &presented),
        };
        let proxy = Proxy::start(command, dir.path(), listen).await;
        eventually("the proxy has its routes", async || {
            reqwest::get(format!("http://{listen}/")).await.is_ok_and(|answer| answer.status() != 404)
        })
        .await;
        Self { _proxy: proxy, listen, served, keymeter, ana, root, user, credential, _dir: dir }
    }

    /// Sends a request through the proxy from this address, with this key and these headers.
    async fn send(&self, from: &str, key: Option<&str>, headers: &[(&str, &str)]) -> Answer {
        let authorization = key.map(|key| format!("Bearer {key}"));
        let authorization = authorization.as_deref().map(|value| ("authorization", value));
        let headers: Vec<_> = headers.iter().copied().chain(authorization).collect();
        self.request(from, Method::POST, "/chat?stream=1", &headers).await
    }

    /// Sends a request through the proxy from this address, with these headers.
    pub async fn request(&self, from: &str, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        let from: IpAddr = from.parse().unwrap();
        let client = reqwest::Client::builder().local_address(from).build().unwrap();
        let mut request = client.request(method, format!("http://{}{path}", self.listen)).body("a question");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        Answer { status, headers, text: answer.text().await.unwrap() }
    }

    pub async fn create_key(&self, token: Value) -> (i64, String) {
        self.ana.creates(token).await.unwrap()
    }

    /// No key, and keys that are refused, each with the status and code of Keymeter.
    pub async fn refused_keys(&self) -> Vec<(Option<String>, u16, &'static str)> {
        let (id, disabled) = self.create_key(json!({ "name": "off", "remain_quota": 5 })).await;
        self.ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
        let (_, expired) =
            self.create_key(json!({ "name": "old", "remain_quota": 5, "expired_time": 1_000_000_000 })).await;
        let (_, exhausted) = self.create_key(json!({ "name": "spent", "remain_quota": 5 })).await;
        let gateway = Client::with(&self.keymeter, &format!("Bearer {}", self.credential));
        gateway.post("/api/gateway/charge", json!({ "key": exhausted, "quota": 5 })).await.ok();
        let (_, empty) = self.create_key(json!({ "name": "empty", "remain_quota": 0 })).await;
        let no_more_today = json!({ "name": "limited", "remain_quota": 5, "period_limits": { "day": 1 } });
        let (_, limited) = self.create_key(no_more_today).await;
        gateway.post("/api/gateway/charge", json!({ "key": limited, "quota": 1 })).await.ok();
        let (deleted_id, deleted) = self.create_key(json!({ "name": "gone", "remain_quota": 5 })).await;
        self.ana.delete(&format!("/api/token/{deleted_id}")).await.ok();
        vec![
            (None, 401, "invalid_key"),
            (Some("sk-nonsense".to_owned()), 401, "invalid_key"),
            (Some(deleted), 401, "invalid_key"),
            (Some(disabled), 403, "token_disabled"),
            (Some(expired), 403, "token_expired"),
            (Some(exhausted), 402, "token_exhausted"),
            (Some(empty), 402, "token_quota_insufficient"),
            (Some(limited), 429, "token_period_exceeded"),
        ]
    }

    async fn disable_ana(&self) {
        let client = &self.root;
        client
            .send(Method::PATCH, &format!("/api/admin/users/{}", self.user), json!({ "status": 2 }).to_string())
            .await
            .ok();
    }

    /// How many requests reached the upstream.
    pub fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }

    /// A valid key: the request reaches the upstream with the token headers and without the key. Headers that the
    /// client forges are replaced.
    async fn check_valid_key(&self) {
        let (id, key) = self.create_key(json!({ "name": "good", "remain_quota": 500 })).await;
        let forged = TOKEN_HEADERS.map(|name| (name, "forged"));
        let answer = self.send(CLIENT, Some(&key), &forged).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let received = answer.json();
        assert_eq!((&received["request"], &received["body"]), (&json!("POST /chat?stream=1"), &json!("a question")));
        let token_headers = TOKEN_HEADERS.map(|name| received["headers"][name].clone());
        assert_eq!(
            token_headers,
            [json!([id.to_string()]), json!([self.user.to_string()]), json!(["default"]), json!(["500"])]
        );
        assert_eq!(received["headers"]["x-forwarded-for"], json!([CLIENT]));
        for secret in [key.as_str(), &self.credential] {
            assert!(!answer.text.contains(secret), "{}", answer.text);
        }
        assert_eq!(self.served(), 1);
    }

    /// Every refusal reaches the client as Keymeter answered it, and the upstream gets nothing.
    async fn check_refusals(&self) {
        for (key, status, error) in self.refused_keys().await {
            self.send(CLIENT, key.as_deref(), &[]).await.refuses(status, error);
        }
        let (_, key) = self.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
        self.disable_ana().await;
        self.send(CLIENT, Some(&key), &[]).await.refuses(403, "user_disabled");
        assert_eq!(self.served(), 0);
    }

    /// The allowlist of a key is checked against the real address of the client, not one that the client claims.
    async fn check_addresses(&self, refusal: &str) {
        let (_, key) = self.create_key(json!({ "name": "here", "remain_quota": 5, "allow_ips": CLIENT })).await;
        assert_eq!(self.send(CLIENT, Some(&key), &[]).await.status, 200);
        assert_eq!(self.send(CLIENT, Some(&key), &[("x-forwarded-for", "127.0.0.3")]).await.status, 200);
        for from in ["127.0.0.1", "127.0.0.3", "127.0.0.5"] {
            self.send(from, Some(&key), &[]).await.refuses(403, refusal);
            self.send(from, Some(&key), &[("x-forwarded-for", CLIENT)]).await.refuses(403, refusal);
        }
        assert_eq!(self.served(), 2);
    }
}

/// An upstream that answers with what it received, and counts the requests.
async fn upstream(served: Arc<AtomicUsize>) -> SocketAddr {
    let echo = move |method: Method, uri: http::Uri, headers: HeaderMap, body: String| async move {
        served.fetch_add(1, Ordering::SeqCst);
        let values = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>();
        let seen: serde_json::Map<_, _> = headers.keys().map(|name| (name.to_string(), json!(values(name)))).collect();
        json!({ "request": format!("{method} {uri}"), "headers": seen, "body": body }).to_string()
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, Router::new().fallback(echo)).into_future());
    address
}

/// `examples/nginx/nginx.conf` with other ports.
pub fn nginx(
    program: PathBuf,
    dir: &Path,
    listen: SocketAddr,
    keymeter: &str,
    upstream: SocketAddr,
    credential: &str,
    change: impl Fn(String) -> String,
) -> Command {
    let changes = [
        ("127.0.0.1:3000", keymeter.to_owned()),
        ("127.0.0.1:9000", upstream.to_string()),
        ("127.0.0.1:8080", listen.to_string()),
    ];
    let placeholder = [("PUT-THE-CREDENTIAL-HERE", credential.to_owned())];
    let include = adapted(&project_file("examples/nginx/gateway-credential.conf.example"), &placeholder);
    std::fs::write(dir.join("gateway-credential.conf"), include).unwrap();
    proxy::nginx(program, dir, &adapted(&change(project_file("examples/nginx/nginx.conf")), &changes))
}

/// The recipe of `docs/gateways.md` with other addresses.
fn caddy(
    program: PathBuf,
    dir: &Path,
    listen: SocketAddr,
    keymeter: &str,
    upstream: SocketAddr,
    credential: &str,
) -> Command {
    let page = project_file("docs/gateways.md");
    let recipe = page.split("```caddyfile\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let changes = [
        ("api.example.org", format!("http://{listen}")),
        ("127.0.0.1:3000", keymeter.to_owned()),
        ("127.0.0.1:9000", upstream.to_string()),
    ];
    let config = dir.join("Caddyfile");
    std::fs::write(&config, format!("{{\n\tadmin off\n}}\n{}", adapted(recipe, &changes))).unwrap();
    let mut command = Command::new(program);
    command.env("HOME", dir).env("XDG_DATA_HOME", dir).env("XDG_CONFIG_HOME", dir);
    command.env("GATEWAY_CREDENTIAL", credential);
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(config);
    command
}

/// `examples/traefik` with other addresses, for every host.
fn traefik(
    program: PathBuf,
    dir: &Path,
    listen: SocketAddr,
    keymeter: &str,
    upstream: SocketAddr,
    credential: &str,
) -> Command {
    let routes = adapted(
        &project_file("examples/traefik/routes.yaml"),
        &[
            ("Host(`api.example.org`)", "PathPrefix(`/`)".to_owned()),
            ("127.0.0.1:3000", keymeter.to_owned()),
            ("127.0.0.1:9000", upstream.to_string()),
            ("\"PUT-THE-CREDENTIAL-HERE\"", format!("{credential:?}")),
        ],
    );
    std::fs::write(dir.join("routes.yaml"), routes).unwrap();
    let at = |file: &str| dir.join(file).display().to_string();
    let fixed = [("127.0.0.1:8080", listen.to_string()), ("routes.yaml", at("routes.yaml"))];
    let config = adapted(&project_file("examples/traefik/traefik.yaml"), &fixed);
    std::fs::write(dir.join("traefik.yaml"), config).unwrap();
    let mut command = Command::new(program);
    command.arg(format!("--configfile={}", at("traefik.yaml")));
    command
}

/// `examples/envoy` with other addresses.
fn envoy(
    program: PathBuf,
    dir: &Path,
    listen: SocketAddr,
    keymeter: &str,
    upstream: SocketAddr,
    credential: &str,
) -> Command {
    let port = |address: &str| format!("port_value: {}", address.rsplit(':').next().unwrap());
    let changes = [
        ("port_value: 8080", port(&listen.to_string())),
        ("port_value: 3000", port(keymeter)),
        ("port_value: 9000", port(&upstream.to_string())),
        ("http://127.0.0.1:3000", format!("http://{keymeter}")),
        (" PUT-THE-CREDENTIAL-HERE }", format!(" {credential} }}")),
    ];
    let config = dir.join("envoy.yaml");
    std::fs::write(&config, adapted(&project_file("examples/envoy/envoy.yaml"), &changes)).unwrap();
    let mut command = Command::new(program);
    command.args(["--disable-hot-restart", "--concurrency", "1", "--log-level", "warn", "-c"]).arg(config);
    command
}

/// The type, code and message with which nginx answers this status.
pub fn nginx_refusal(status: u16) -> (&'static str, &'static str, &'static str) {
    match status {
        401 => (
            "authentication_error",
            "invalid_key",
            "send a valid API key as `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`, not in the address",
        ),
        402 => ("invalid_request_error", "quota_insufficient", "this API key or its account has used up its quota"),
        403 => ("permission_error", "not_allowed", "this API key is disabled, expired, or not for this address"),
        429 => (
            "rate_limit_error",
            "token_period_exceeded",
            "this API key or its account has reached a limit; `Retry-After` has the seconds to wait, if waiting helps",
        ),
        _ => ("server_error", "unavailable", "API keys cannot be checked now; retry shortly"),
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_passes_a_valid_key_with_the_token_headers(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    front.check_valid_key().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_answers_every_refusal_with_its_own_status(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    let (_, good) = front.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
    for (key, status, code) in front.refused_keys().await {
        let (_, error, message) = nginx_refusal(status);
        let answer = front.send(CLIENT, key.as_deref(), &[]).await;
        answer.refuses_saying(status, error, message);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-error-code"), Some(code));
        assert_eq!(answer.header("retry-after").is_some(), status == 429);
        assert_eq!(answer.header("www-authenticate"), (status == 401).then_some("Bearer"));
    }
    front.root.post(&format!("/api/admin/users/{}/quota", front.user), json!({ "set": 0 })).await.ok();
    front.send(CLIENT, Some(&good), &[]).await.refuses(402, "quota_insufficient");
    front.disable_ana().await;
    front.send(CLIENT, Some(&good), &[]).await.refuses(403, "not_allowed");
    assert_eq!(front.served(), 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_refuses_every_request_with_a_wrong_gateway_credential(pool: PgPool) {
    let front = Front::with(Kind::Nginx, &pool, |right| format!("{right}x"), |config| config).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
    let own = [("x-gateway-credential", front.credential.as_str())];
    for headers in [&[][..], &own] {
        front.send(CLIENT, Some(&key), headers).await.refuses(503, "unavailable");
    }
    assert_eq!(front.served(), 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_checks_the_real_address_of_the_client(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    front.check_addresses("not_allowed").await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_refuses_every_request_while_keymeter_is_down(pool: PgPool) {
    let mut front = Front::start(Kind::Nginx, &pool).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
    front.keymeter.kill();
    for _ in 0..2 {
        let answer = front.send(CLIENT, Some(&key), &[]).await;
        answer.refuses_saying(503, "unavailable", "API keys cannot be checked now; retry shortly");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert_eq!(front.served(), 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_passes_a_valid_key_with_the_token_headers(pool: PgPool) {
    let front = Front::start(Kind::Caddy, &pool).await;
    front.check_valid_key().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_forwards_every_refusal_unchanged(pool: PgPool) {
    Front::start(Kind::Caddy, &pool).await.check_refusals().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_refuses_every_request_with_a_wrong_gateway_credential(pool: PgPool) {
    let front = Front::with(Kind::Caddy, &pool, |right| format!("{right}x"), |config| config).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
    let own = [("x-gateway-credential", front.credential.as_str())];
    for headers in [&[][..], &own] {
        front.send(CLIENT, Some(&key), headers).await.refuses(401, "invalid_gateway");
    }
    assert_eq!(front.served(), 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_checks_the_real_address_of_the_client(pool: PgPool) {
    let front = Front::start(Kind::Caddy, &pool).await;
    front.check_addresses("ip_not_allowed").await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn traefik_passes_a_valid_key_with_the_token_headers(pool: PgPool) {
    Front::start(Kind::Traefik, &pool).await.check_valid_key().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn traefik_forwards_every_refusal_unchanged(pool: PgPool) {
    Front::start(Kind::Traefik, &pool).await.check_refusals().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn traefik_checks_the_real_address_of_the_client(pool: PgPool) {
    Front::start(Kind::Traefik, &pool).await.check_addresses("ip_not_allowed").await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn traefik_refuses_every_request_with_a_wrong_gateway_credential_or_without_keymeter(pool: PgPool) {
    let mut front = Front::with(Kind::Traefik, &pool, |right| format!("{right}x"), |config| config).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
    let own = [("x-gateway-credential", front.credential.as_str())];
    for headers in [&[][..], &own] {
        front.send(CLIENT, Some(&key), headers).await.refuses(401, "invalid_gateway");
    }
    front.keymeter.kill();
    assert!(front.send(CLIENT, Some(&key), &[]).await.status.is_server_error());
    assert_eq!(front.served(), 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn envoy_passes_a_valid_key_with_the_token_headers(pool: PgPool) {
    Front::start(Kind::Envoy, &pool).await.check_valid_key().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn envoy_forwards_every_refusal_unchanged(pool: PgPool) {
    Front::start(Kind::Envoy, &pool).await.check_refusals().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn envoy_checks_the_real_address_of_the_client(pool: PgPool) {
    Front::start(Kind::Envoy, &pool).await.check_addresses("ip_not_allowed").await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn envoy_refuses_every_request_with_a_wrong_gateway_credential_or_without_keymeter(pool: PgPool) {
    let mut front = Front::with(Kind::Envoy, &pool, |right| format!("{right}x"), |config| config).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
    let own = [("x-gateway-credential", front.credential.as_str())];
    for headers in [&[][..], &own] {
        front.send(CLIENT, Some(&key), headers).await.refuses(401, "invalid_gateway");
    }
    front.keymeter.kill();
    assert!(front.send(CLIENT, Some(&key), &[]).await.status.is_server_error());
    assert_eq!(front.served(), 0);
}
