//! The metering front in front of an upstream that answers as the cases of `crates/meter` say, on a real Keymeter: what
//! is refused, charged, or nothing; forty requests at once; and a Keymeter that is killed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use keymeter::domain::usd_cost::UsdCost;
use keymeter_door::settings::{DoorOptions, DoorSettings};
use keymeter_front::front;
use keymeter_front::settings::{FrontOptions, FrontSettings, OnLeave};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::harness::client::Client;
use crate::harness::database::url;
use crate::harness::process::Server;
use crate::harness::project::project;
use crate::harness::wait::eventually;

/// What each key has: more than any case costs.
const QUOTA: i64 = 1_000_000_000;

/// A Keymeter with prices for all units of the cases, and an account.
struct Keymeter {
    server: Server,
    ana: Client,
    credential: String,
    settings: Vec<(String, String)>,
    dir: tempfile::TempDir,
}

impl Keymeter {
    async fn start(pool: &PgPool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings = vec![
            ("DATABASE_URL".to_owned(), url(pool)),
            ("KEYMETER_SECRETS__MASTER_KEY".to_owned(), crate::harness::MASTER_KEY.to_owned()),
        ];
        let server = Server::start(dir.path(), &borrowed(&settings)).await;
        let root = Client::root(&server).await;
        let rates = json!({ "input_mtok": "2", "output_mtok": "10", "cache_read_mtok": "0.2", "cache_write_mtok": "2.5",
            "cache_write_1h_mtok": "4", "web_searches_kcount": "10",
            "price_variants": [{ "when": { "service_tier": "priority" }, "prices": { "input_mtok": "4" } }] });
        root.put("/api/admin/prices", json!({ "file": { "models": { "*": rates } } })).await.ok();
        let account = json!({ "username": "ana", "password": "ana's password", "token_api_enabled": true });
        let user = root.post("/api/admin/users", account).await.ok()["id"].as_i64().unwrap();
        root.post(&format!("/api/admin/users/{user}/quota"), json!({ "set": 1_000 * QUOTA })).await.ok();
        let ana = Client::signed_in(&server, "ana", "ana's password").await;
        let made = root.post("/api/admin/gateways", json!({ "name": "front" })).await.ok();
        let credential = made["credential"].as_str().unwrap().to_owned();
        Self { server, ana, credential, settings, dir }
    }

    async fn restart(&mut self) {
        let address = self.server.address().to_owned();
        let mut settings = self.settings.clone();
        settings.push(("KEYMETER_SERVER__LISTEN".to_owned(), address));
        self.server = Server::start(self.dir.path(), &borrowed(&settings)).await;
    }

    fn door(&self, options: DoorOptions) -> DoorSettings {
        let (url, credential) = (self.server.base.parse().unwrap(), self.credential.clone().into());
        DoorSettings { url, credential, options }
    }

    /// A front before this upstream, and what stops it.
    async fn front(&self, upstream: SocketAddr, door: DoorOptions, options: FrontOptions) -> RunningFront {
        let settings = FrontSettings {
            door: self.door(door),
            listen: "127.0.0.1:0".to_owned(),
            upstream: format!("http://{upstream}/v1").parse().unwrap(),
            upstream_key: None,
            upstream_ca: None,
            operation_listen: None,
            options,
        };
        let ((started, address), (stop, stopped)) = (oneshot::channel(), oneshot::channel::<()>());
        let task = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            front::run(&settings, |address| started.send(address).unwrap(), stopped).await.unwrap();
        });
        RunningFront { address: address.await.unwrap(), stop, task }
    }

    async fn key(&self, quota: i64) -> (i64, String) {
        self.ana.creates(json!({ "name": "one", "remain_quota": quota })).await.unwrap()
    }

    async fn remain(&self, id: i64) -> i64 {
        self.ana.get(&format!("/api/token/{id}")).await.ok()["remain_quota"].as_i64().unwrap()
    }

    /// What units cost and what a reservation of them holds, by the price of all models.
    async fn cost(&self, units: &Value, context: &Value) -> (i64, i64) {
        let body = json!({ "model": "m", "units": units, "context": context });
        let cost = self.ana.post("/api/prices/cost", body).await.ok();
        (cost["quota"].as_i64().unwrap(), cost["hold"].as_i64().unwrap())
    }
}

fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

struct RunningFront {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl RunningFront {
    /// Stops it, when it has settled all.
    async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap();
    }

    async fn post(&self, path: &str, key: &str, headers: &[(&str, &str)], body: Vec<u8>) -> reqwest::Response {
        let client = reqwest::Client::new();
        let mut request = client.post(format!("http://{}{path}", self.address)).bearer_auth(key).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        // Until it knows how answers are read.
        loop {
            let answer = request.try_clone().unwrap().send().await.unwrap();
            if answer.status() != 503 {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// What an upstream does after it has sent its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Complete,
    Broken,
    /// Nothing, until it is left.
    Silent,
}

/// An upstream that answers each request with these bytes.
async fn upstream(head: String, body: Vec<u8>, ending: Ending) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(stream, head.clone(), body.clone(), ending));
        }
    });
    address
}

async fn answer(mut stream: TcpStream, head: String, body: Vec<u8>, ending: Ending) -> std::io::Result<()> {
    read_request(&mut stream).await?;
    stream.write_all(format!("{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    for chunk in body.chunks(1_000) {
        stream.write_all(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat()).await?;
    }
    match ending {
        Ending::Complete => stream.write_all(b"0\r\n\r\n").await,
        Ending::Broken => Ok(()),
        Ending::Silent => stream.read(&mut [0]).await.map(|_| ()),
    }
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let count = stream.read(&mut piece).await?;
        read.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&read);
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        if count == 0 || read.len() >= head.len() + 4 + length {
            return Ok(());
        }
    }
}

/// The cases, by name.
fn cases() -> Vec<(String, Value)> {
    let directory: PathBuf = project().join("crates/meter/cases");
    let read = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), serde_json::from_str(&text).unwrap())
    };
    let mut cases: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| read(entry.unwrap())).collect();
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    cases
}

fn text(value: &Value) -> Vec<u8> {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).into_bytes()
}

fn answer_bytes(answer: &Value) -> Vec<u8> {
    let event = |event: &Value| event.as_str().map_or_else(|| format!("data: {event}\n\n"), str::to_owned);
    match (&answer["body"], answer["events"].as_array(), answer["text"].as_str()) {
        (_, Some(events), _) => events.iter().map(event).collect::<String>().into_bytes(),
        (_, None, Some(text)) => text.as_bytes().to_vec(),
        (body, None, None) => body.to_string().into_bytes(),
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_case_of_the_meter_is_refused_or_charged_as_it_says(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let mut tried = 0;
    for (name, case) in cases() {
        let request = &case["request"];
        let is_answered = case.get("answer").is_some();
        if !is_answered && case.get("refused").is_none() {
            // What is held is compared in the crate.
            continue;
        }
        tried += 1;
        let answer = &case["answer"];
        let status = answer["status"].as_u64().unwrap_or(200);
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Type: text/event-stream\r\n");
        for (header, value) in [("Content-Encoding", "encoding"), ("x-litellm-response-cost", "told_usd")] {
            if let Some(value) = answer[value].as_str() {
                head = format!("{head}{header}: {value}\r\n");
            }
        }
        let end = answer["end"].as_str().unwrap_or("complete");
        let ending = match end {
            "complete" => Ending::Complete,
            "broken" => Ending::Broken,
            _ => Ending::Silent,
        };
        let sent = answer_bytes(answer);
        let upstream = upstream(head, sent.clone(), ending).await;
        let meter = serde_json::from_value(case.get("settings").cloned().unwrap_or_else(|| json!({}))).unwrap();
        let (on_leave, read_timeout_seconds) = (OnLeave::Close, if end == "given_up" { 1 } else { 30 });
        let options = FrontOptions { on_leave, read_timeout_seconds, ..FrontOptions::default() };
        let front = keymeter.front(upstream, DoorOptions { meter, ..DoorOptions::default() }, options).await;
        let (id, key) = keymeter.key(QUOTA).await;
        let body = request["text"].as_str().map_or_else(|| text(&request["body"]), |text| text.as_bytes().to_vec());
        let betas = request["betas"].as_str().map(|betas| ("anthropic-beta", betas));
        let headers: Vec<_> = betas.into_iter().collect();
        let mut answered = front.post(request["path"].as_str().unwrap(), &key, &headers, body).await;
        if let Some(refused) = case.get("refused") {
            assert_eq!(u64::from(answered.status().as_u16()), refused["status"].as_u64().unwrap(), "{name}");
            let said = answered.text().await.unwrap();
            assert!(said.contains(&json!(refused["says"]).as_str().unwrap().replace('"', "\\\"")), "{name}: {said}");
            front.stop().await;
            assert_eq!(keymeter.remain(id).await, QUOTA, "{name}");
            continue;
        }
        let mut read = Vec::new();
        while read.len() < sent.len() || end == "complete" {
            match answered.chunk().await {
                Ok(Some(chunk)) => read.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        assert_eq!(read, sent, "{name}: the answer passes as it is");
        if end != "given_up" {
            drop(answered);
        }
        front.stop().await;
        let (_, hold) =
            keymeter.cost(&case_hold(&case), &json!(case.get("context").cloned().unwrap_or(json!({})))).await;
        let expected = match &case["charged"] {
            Value::String(charge) if charge == "nothing" => 0,
            Value::String(_) => hold,
            told if told.get("usd").is_some() => {
                let dollars: UsdCost = told["usd"].as_str().unwrap().parse().unwrap();
                dollars.quota().unwrap().get()
            }
            units => keymeter.cost(units, &json!(case.get("served").cloned().unwrap_or(json!({})))).await.0,
        };
        assert_eq!(QUOTA - keymeter.remain(id).await, expected, "{name}: {}", case["about"]);
    }
    assert!(tried > 100, "{tried} cases");
}

/// What is held for the request of a case: as it says, or by its bytes.
fn case_hold(case: &Value) -> Value {
    if let Some(hold) = case.get("hold") {
        return hold.clone();
    }
    let settings = serde_json::from_value(case.get("settings").cloned().unwrap_or_else(|| json!({}))).unwrap();
    let path = case["request"]["path"].as_str().unwrap();
    let route = keymeter_meter::route::Route::find("POST", path).unwrap();
    let mut extractors = keymeter_meter::extractors::Extractors::default();
    extractors.add_own(keymeter_meter::extractors::OWN_EXTRACTORS, |_| true).unwrap();
    let extractor = route.extractor(&settings, &extractors);
    let body = text(&case["request"]["body"]);
    json!(keymeter_meter::request::read_request(route, &body, extractor, &settings).unwrap().hold)
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forty_at_once_with_quota_for_five(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }], "max_tokens": 100 });
    let bytes = body.to_string().len();
    let usage = json!({ "prompt_tokens": bytes.div_ceil(3), "completion_tokens": 100 });
    let upstream =
        upstream(HEAD.to_owned(), json!({ "usage": usage }).to_string().into_bytes(), Ending::Complete).await;
    let front = keymeter.front(upstream, DoorOptions::default(), FrontOptions::default()).await;
    let units = json!({ "input_tokens": bytes.div_ceil(3), "output_tokens": 100 });
    let (_, hold) = keymeter.cost(&units, &json!({})).await;
    let (id, key) = keymeter.key(5 * hold).await;
    let posts = (0..40).map(|_| front.post("/v1/chat/completions", &key, &[], body.to_string().into_bytes()));
    let mut statuses: Vec<u16> =
        futures_util::future::join_all(posts).await.iter().map(|answer| answer.status().as_u16()).collect();
    statuses.sort_unstable();
    // Those that end soon give back what they held above their cost, so some more may pass; never more than is paid.
    let passed = statuses.iter().filter(|status| **status == 200).count();
    assert!((5..40).contains(&passed) && statuses.iter().all(|status| matches!(status, 200 | 402)), "{statuses:?}");
    front.stop().await;
    let (cost, _) = keymeter.cost(&units, &json!({})).await;
    assert_eq!(keymeter.remain(id).await, 5 * hold - i64::try_from(passed).unwrap() * cost);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nothing_passes_without_keymeter_and_what_was_done_is_charged_when_it_is_back(pool: PgPool) {
    let mut keymeter = Keymeter::start(&pool).await;
    let usage = json!({ "usage": { "prompt_tokens": 100, "completion_tokens": 10 } }).to_string().into_bytes();
    let upstream = upstream(HEAD.to_owned(), usage, Ending::Complete).await;
    let front = keymeter.front(upstream, DoorOptions::default(), FrontOptions::default()).await;
    let (id, key) = keymeter.key(QUOTA).await;
    let body = json!({ "model": "m", "messages": [], "max_tokens": 100 }).to_string().into_bytes();
    assert_eq!(front.post("/v1/chat/completions", &key, &[], body.clone()).await.status(), 200);
    keymeter.server.kill();
    let refused = reqwest::Client::new().post(format!("http://{}/v1/chat/completions", front.address));
    let refused = refused.bearer_auth(&key).body(body.clone()).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"2".parse().unwrap()));
    assert!(refused.text().await.unwrap().contains("keymeter_unavailable"));
    keymeter.restart().await;
    assert_eq!(front.post("/v1/chat/completions", &key, &[], body).await.status(), 200);
    eventually("both are charged", async || keymeter.remain(id).await == QUOTA - 300).await;
    front.stop().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_hold_is_extended_for_as_long_as_an_answer_comes(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        // None of the pauses is as long as half of the hold.
        for _ in 0..12 {
            stream.write_all(b": still thinking\n\n").await.unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
        stream.write_all(format!("data: {usage}\n\n").as_bytes()).await.unwrap();
    });
    let front = keymeter
        .front(upstream, DoorOptions { ttl_seconds: 2, ..DoorOptions::default() }, FrontOptions::default())
        .await;
    let (id, key) = keymeter.key(QUOTA).await;
    let body = json!({ "model": "m", "messages": [], "max_tokens": 100, "stream": true }).to_string().into_bytes();
    let answer = front.post("/v1/chat/completions", &key, &[], body).await;
    assert!(answer.text().await.unwrap().contains("completion_tokens"));
    front.stop().await;
    assert_eq!(keymeter.remain(id).await, QUOTA - 150);
    let seconds: i64 =
        sqlx::query_scalar("select expires_at - created_time from reservations").fetch_one(&pool).await.unwrap();
    assert!(seconds > 3, "{seconds}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_demo_upstream_is_metered_whole_and_streamed(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let front = keymeter
        .front(keymeter_front::demo_upstream::start().await.unwrap(), DoorOptions::default(), FrontOptions::default())
        .await;
    let (id, key) = keymeter.key(QUOTA).await;
    for is_stream in [false, true] {
        let body = json!({ "model": "echo", "stream": is_stream, "max_tokens": 100,
            "messages": [{ "role": "user", "content": "hello" }] });
        let answer = front.post("/v1/chat/completions", &key, &[], body.to_string().into_bytes()).await;
        assert_eq!(answer.status(), 200);
        let said = answer.text().await.unwrap();
        assert!(said.contains("hello") && said.contains("\"usage\""), "{said}");
    }
    let models = reqwest::Client::new().get(format!("http://{}/v1/models", front.address)).bearer_auth(&key);
    assert!(models.send().await.unwrap().text().await.unwrap().contains("echo"));
    front.stop().await;
    // "You said: hello" are four tokens, and a body of some hundred bytes some thirty.
    let cost = QUOTA - keymeter.remain(id).await;
    assert!((80..130).contains(&cost), "{cost}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_hold_that_is_charged_says_so_and_an_unknown_address_passes_nothing(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let upstream = upstream(HEAD.to_owned(), b"{}".to_vec(), Ending::Complete).await;
    let trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    let front = keymeter
        .front(upstream, DoorOptions { trusted_proxies, ..DoorOptions::default() }, FrontOptions::default())
        .await;
    let (id, key) = keymeter.key(QUOTA).await;
    let body = json!({ "model": "m", "messages": [], "max_tokens": 100 }).to_string().into_bytes();
    for forwarded in ["garbage", "", "127.0.0.1, ::x"] {
        let headers = [("x-forwarded-for", forwarded)];
        let answer = front.post("/v1/chat/completions", &key, &headers, body.clone()).await;
        assert_eq!(answer.status(), 500, "{forwarded}");
    }
    let headers = [("x-forwarded-for", "203.0.113.5")];
    assert_eq!(front.post("/v1/chat/completions", &key, &headers, body).await.status(), 200);
    front.stop().await;
    let charge: (i64, Option<String>) =
        sqlx::query_as("select quota, hold_reason from charges").fetch_one(&pool).await.unwrap();
    assert_eq!(charge, (QUOTA - keymeter.remain(id).await, Some("invalid_usage".to_owned())));
}

/// A request that nobody bills has its place until its client has read the answer, so that clients who do not read
/// cannot take more than there are.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_free_request_has_a_place_as_long_as_its_answer_comes(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let upstream = upstream(HEAD.to_owned(), b"{".to_vec(), Ending::Silent).await;
    let max_requests = std::num::NonZeroUsize::MIN;
    let front =
        keymeter.front(upstream, DoorOptions { max_requests, ..DoorOptions::default() }, FrontOptions::default()).await;
    let (_, key) = keymeter.key(QUOTA).await;
    let models = async || {
        let request = reqwest::Client::new().get(format!("http://{}/v1/models", front.address)).bearer_auth(&key);
        request.send().await.unwrap()
    };
    let mut first = models().await;
    while first.status() == 503 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        first = models().await;
    }
    assert_eq!(first.chunk().await.unwrap().unwrap(), "{");
    assert_eq!(models().await.status(), 503);
    drop(first);
    eventually("its place is free again", async || models().await.status() == 200).await;
    front.stop().await;
}
