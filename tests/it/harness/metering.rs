//! A Keymeter, an upstream that answers as it is told, and the cases of `crates/meter`: for the programs that meter.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keymeter::domain::usd_cost::UsdCost;
use keymeter_door::settings::{DoorOptions, DoorSettings};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::client::Client;
use super::database::url;
use super::process::Server;
use super::project::project;

/// What each key has: more than any case costs.
pub const QUOTA: i64 = 1_000_000_000;

/// A Keymeter with prices for all units of the cases, and an account.
pub struct Keymeter {
    pub server: Server,
    pub ana: Client,
    pub credential: String,
    settings: Vec<(String, String)>,
    dir: tempfile::TempDir,
}

impl Keymeter {
    pub async fn start(pool: &PgPool) -> Self {
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

    pub async fn restart(&mut self) {
        let address = self.server.address().to_owned();
        let mut settings = self.settings.clone();
        settings.push(("KEYMETER_SERVER__LISTEN".to_owned(), address));
        self.server = Server::start(self.dir.path(), &borrowed(&settings)).await;
    }

    pub fn door(&self, options: DoorOptions) -> DoorSettings {
        let (url, credential) = (self.server.base.parse().unwrap(), self.credential.clone().into());
        DoorSettings { url, credential, options }
    }

    pub async fn key(&self, quota: i64) -> (i64, String) {
        self.ana.creates(json!({ "name": "one", "remain_quota": quota })).await.unwrap()
    }

    pub async fn remain(&self, id: i64) -> i64 {
        self.ana.get(&format!("/api/token/{id}")).await.ok()["remain_quota"].as_i64().unwrap()
    }

    /// What units cost and what a reservation of them holds, by the price of all models.
    pub async fn cost(&self, units: &Value, context: &Value) -> (i64, i64) {
        let body = json!({ "model": "m", "units": units, "context": context });
        let cost = self.ana.post("/api/prices/cost", body).await.ok();
        (cost["quota"].as_i64().unwrap(), cost["hold"].as_i64().unwrap())
    }
}

fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

pub struct RunningDoor {
    pub address: SocketAddr,
    pub stop: oneshot::Sender<()>,
    pub task: JoinHandle<()>,
}

impl RunningDoor {
    /// Stops it, when it has settled all.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap();
    }

    pub async fn post(&self, path: &str, key: &str, headers: &[(&str, &str)], body: Vec<u8>) -> reqwest::Response {
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
pub enum Ending {
    Complete,
    Broken,
    /// Nothing, until it is left.
    Silent,
}

/// What an upstream answers.
#[derive(Clone)]
pub struct Planned {
    pub head: String,
    pub body: Vec<u8>,
    pub ending: Ending,
}

/// An upstream that answers each request as is planned then.
pub async fn planned_upstream(planned: Arc<Mutex<Planned>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(stream, planned.lock().unwrap().clone()));
        }
    });
    address
}

/// An upstream that answers each request with these bytes.
pub async fn upstream(head: String, body: Vec<u8>, ending: Ending) -> SocketAddr {
    planned_upstream(Arc::new(Mutex::new(Planned { head, body, ending }))).await
}

async fn answer(mut stream: TcpStream, planned: Planned) -> std::io::Result<()> {
    let Planned { head, body, ending } = planned;
    read_request(&mut stream).await?;
    stream.write_all(format!("{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    for chunk in body.chunks(1_000) {
        stream.write_all(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat()).await?;
    }
    match ending {
        Ending::Complete => stream.write_all(b"0\r\n\r\n").await,
        Ending::Broken => {
            // What has come is passed on before.
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok(())
        }
        Ending::Silent => stream.read(&mut [0]).await.map(|_| ()),
    }
}

/// Reads a request with its body.
pub async fn read_request(stream: &mut TcpStream) -> std::io::Result<String> {
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
            return Ok(text.into_owned());
        }
    }
}

/// A situation: a file of `crates/meter/cases`.
pub struct Case {
    pub name: String,
    values: Value,
}

/// The cases that are refused or answered; what is held is compared in the crate.
pub fn cases() -> Vec<Case> {
    let directory: PathBuf = project().join("crates/meter/cases");
    let read = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        Case { name: entry.file_name().into_string().unwrap(), values: serde_json::from_str(&text).unwrap() }
    };
    let mut cases: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| read(entry.unwrap())).collect();
    cases.retain(|case| case.values.get("answer").is_some() || case.values.get("refused").is_some());
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(cases.len() > 100, "{} cases", cases.len());
    cases
}

impl Case {
    /// How its answer ends.
    pub fn end(&self) -> &str {
        self.values["answer"]["end"].as_str().unwrap_or("complete")
    }

    /// What an operator says about its upstream.
    pub fn settings(&self) -> Value {
        self.values.get("settings").cloned().unwrap_or_else(|| json!({}))
    }

    /// What its upstream answers.
    pub fn planned(&self) -> Planned {
        let answer = &self.values["answer"];
        let status = answer["status"].as_u64().unwrap_or(200);
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Type: text/event-stream\r\n");
        for (header, value) in [("Content-Encoding", "encoding"), ("x-litellm-response-cost", "told_usd")] {
            if let Some(value) = answer[value].as_str() {
                head = format!("{head}{header}: {value}\r\n");
            }
        }
        let ending = match self.end() {
            "complete" => Ending::Complete,
            "broken" => Ending::Broken,
            _ => Ending::Silent,
        };
        Planned { head, body: answer_bytes(answer), ending }
    }

    /// Sends its request, and reads the refusal or the answer, as far as the case goes. The client has left then, but
    /// where the upstream was too slow: that is returned.
    pub async fn send(&self, door: &RunningDoor, key: &str) -> Option<reqwest::Response> {
        let (name, request) = (&self.name, &self.values["request"]);
        let body = request["text"].as_str().map_or_else(|| text(&request["body"]), |text| text.as_bytes().to_vec());
        let betas = request["betas"].as_str().map(|betas| ("anthropic-beta", betas));
        let headers: Vec<_> = betas.into_iter().collect();
        let mut answered = door.post(request["path"].as_str().unwrap(), key, &headers, body).await;
        if let Some(refused) = self.values.get("refused") {
            assert_eq!(u64::from(answered.status().as_u16()), refused["status"].as_u64().unwrap(), "{name}");
            let said = answered.text().await.unwrap();
            assert!(said.contains(&json!(refused["says"]).as_str().unwrap().replace('"', "\\\"")), "{name}: {said}");
            return None;
        }
        let (mut read, sent) = (Vec::new(), self.planned().body);
        while read.len() < sent.len() || self.end() == "complete" {
            match answered.chunk().await {
                Ok(Some(chunk)) => read.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        assert_eq!(read, sent, "{name}: the answer passes as it is");
        (self.end() == "given_up").then_some(answered)
    }

    /// What it is charged.
    pub async fn charge(&self, keymeter: &Keymeter) -> i64 {
        let case = &self.values;
        if case.get("refused").is_some() {
            return 0;
        }
        let of = |name: &str| case.get(name).cloned().unwrap_or_else(|| json!({}));
        let charged = &case["charged"];
        if let Some(charge) = charged.as_str() {
            return if charge == "nothing" { 0 } else { keymeter.cost(&self.hold(), &of("context")).await.1 };
        }
        if let Some(told) = charged.get("usd") {
            return told.as_str().unwrap().parse::<UsdCost>().unwrap().quota().unwrap().get();
        }
        keymeter.cost(charged, &of("served")).await.0
    }

    /// What is held for its request: as it says, or by its bytes.
    fn hold(&self) -> Value {
        let case = &self.values;
        if let Some(hold) = case.get("hold") {
            return hold.clone();
        }
        let settings = serde_json::from_value(self.settings()).unwrap();
        let route = keymeter_meter::route::Route::find("POST", case["request"]["path"].as_str().unwrap()).unwrap();
        let mut extractors = keymeter_meter::extractors::Extractors::default();
        extractors.add_own(keymeter_meter::extractors::OWN_EXTRACTORS, |_| true).unwrap();
        let extractor = route.extractor(&settings, &extractors);
        let body = text(&case["request"]["body"]);
        json!(keymeter_meter::request::read_request(route, &body, extractor, &settings).unwrap().hold)
    }
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
