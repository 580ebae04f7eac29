//! The load: clients that send one operation after the other to any server, and know which answers are correct.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::Method;
use keymeter::domain::cell::CellLabel;
use keymeter::domain::key::ApiKey;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::answers::{Call, Caller, Told};
use crate::records::{Doubt, Entry, Known, request_id};
use crate::world::{Budget, KnownToken, Owner, SERVERS, World};

/// The number of a client is part of the marks of its charges. Probes count as clients.
pub const MAX_CLIENTS: usize = 4_000;
const MARKS: i64 = 4_096;

/// Pause between two charges of a probe.
const PROBE_EVERY: Duration = Duration::from_millis(200);

/// A server that has not answered for this time is avoided, as by a load balancer.
const SILENT: Duration = Duration::from_millis(1_500);

/// How long a charge is repeated before it is left for the check at the end.
const RETRIES: Duration = Duration::from_secs(45);

/// Acknowledged charges that a client remembers, to send them again.
const REMEMBERED: usize = 32;

const CHARGE: &str = "/api/gateway/charge";
const SETTLE: &str = "/api/gateway/settle";

const OF_TOKEN: [&str; 2] = ["token_exhausted", "token_quota_insufficient"];
const OF_WALLET: [&str; 1] = ["user_quota_insufficient"];
const LIMITED: [&str; 1] = ["rate_limited"];

/// Starts all clients and probes. They end when the world stops.
pub fn start(world: &Arc<World>) -> Vec<JoinHandle<()>> {
    let mut tasks: Vec<_> =
        (0..world.options.clients).map(|n| tokio::spawn(Client::new(Arc::clone(world), n).works())).collect();
    let probes = world.tokens.iter().enumerate().filter(|(_, token)| token.budget == Budget::Probe);
    for (at, _) in probes {
        for server in 0..SERVERS {
            let client = Client::new(Arc::clone(world), tasks.len());
            tasks.push(tokio::spawn(client.probes(at, server)));
        }
    }
    tasks
}

/// A client or a probe.
struct Client {
    world: Arc<World>,
    caller: Option<Caller>,
    n: usize,
    rng: StdRng,
    /// Counts its charges and settlements.
    serial: i64,
    /// Bodies of charges that were acknowledged.
    acknowledged: VecDeque<Value>,
}

/// A charge to be sent.
struct Spend {
    mark: i64,
    token: i64,
    owner: usize,
    quota: i64,
    /// With a request id, it is repeated until its outcome is known.
    has_request_id: bool,
    body: Value,
}

/// The outcome of a charge.
#[derive(PartialEq, Eq)]
enum Outcome {
    Charged,
    Refused,
    /// Unknown: a server may have done it, or may still do it.
    Unclear,
}

impl Client {
    fn new(world: Arc<World>, n: usize) -> Self {
        let seed = world.options.seed ^ (u64::try_from(n).unwrap() + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rng = StdRng::seed_from_u64(seed);
        Self { world, caller: None, n, rng, serial: 0, acknowledged: VecDeque::new() }
    }

    async fn works(mut self) {
        self.caller = Some(Caller::new(Arc::clone(&self.world)).await);
        while !self.world.is_stopping() {
            match self.rng.random_range(0..1_000) {
                0..300 => self.charges_surely().await,
                300..400 => self.charges_once().await,
                400..430 => self.charges_many().await,
                430..530 => self.reserves().await,
                530..730 => self.verifies().await,
                730..760 => self.sends_again().await,
                760..800 => self.asks_by_key().await,
                800..900 => self.reads_tokens().await,
                900..930 => self.lives_through_a_token().await,
                930..950 => self.fills_up().await,
                950..985 => self.tries_wrong_keys().await,
                985..995 => self.reads_as_administrator().await,
                _ => self.signs_in().await,
            }
            let pause = self.world.options.pause.as_secs_f64() * self.rng.random::<f64>();
            sleep(Duration::from_secs_f64(pause)).await;
        }
    }

    /// Charges one token through one server all the time, so that gaps are measured.
    async fn probes(mut self, token: usize, server: usize) {
        self.caller = Some(Caller::new(Arc::clone(&self.world)).await);
        while !self.world.is_stopping() {
            let spend = self.spend(token, 1, false);
            self.send(&spend, "probe", Some(server), &[]).await;
            sleep(PROBE_EVERY).await;
        }
    }

    async fn ask(&mut self, server: usize, call: &Call, expected: &[&str]) -> Told {
        // Random addresses, so that the rate limits by address have many to count.
        let address = format!("10.{}.{}.{}", self.n % 256, self.rng.random::<u8>(), self.rng.random::<u8>());
        self.caller.as_ref().unwrap().ask(server, &address, call, expected).await
    }

    /// Sends a request to any server.
    async fn ask_any(&mut self, call: &Call, expected: &[&str]) -> Told {
        let server = self.server();
        self.ask(server, call, expected).await
    }

    /// A random server, preferably one that answers.
    fn server(&mut self) -> usize {
        let first = self.rng.random_range(0..SERVERS);
        let tries_anyway = self.rng.random_bool(0.05);
        let answers = |server: &usize| self.world.pulse.answered(*server).elapsed() < SILENT;
        if tries_anyway {
            return first;
        }
        (first..first + SERVERS).map(|n| n % SERVERS).find(answers).unwrap_or(first)
    }

    /// The index of a token, often one of a few hot ones.
    fn token(&mut self) -> usize {
        let count = self.world.tokens.len();
        if self.rng.random_bool(0.25) {
            self.rng.random_range(0..4) * (count / 4) + 1
        } else {
            self.rng.random_range(0..count)
        }
    }

    fn known(&self, token: usize) -> (&KnownToken, &Owner) {
        let token = &self.world.tokens[token];
        (token, &self.world.owners[token.owner])
    }

    /// Why a charge of this token may be refused.
    fn refusals(&self, token: usize) -> Vec<&'static str> {
        let (token, owner) = self.known(token);
        let mut refusals = Vec::new();
        if matches!(token.budget, Budget::Tiny | Budget::Refilled) {
            refusals.extend(OF_TOKEN);
        }
        if !owner.is_rich {
            refusals.extend(OF_WALLET);
        }
        refusals
    }

    fn next_mark(&mut self) -> i64 {
        self.serial += 1;
        self.serial * MARKS + i64::try_from(self.n).unwrap()
    }

    fn spend(&mut self, token: usize, quota: i64, has_request_id: bool) -> Spend {
        let (known, _) = self.known(token);
        let (id, key, owner) = (known.id, known.key.clone(), known.owner);
        self.spend_of(id, &key, owner, quota, has_request_id)
    }

    fn spend_of(&mut self, token: i64, key: &str, owner: usize, quota: i64, has_request_id: bool) -> Spend {
        let mark = self.next_mark();
        let model = format!("model {}", self.rng.random_range(0..4));
        let mut body = json!({
            "key": key, "quota": quota, "model": model, "prompt_tokens": mark, "completion_tokens": 1,
        });
        if has_request_id {
            body["request_id"] = json!(request_id(mark));
        }
        Spend { mark, token, owner, quota, has_request_id, body }
    }

    /// Sends a charge. With a request id, it is repeated, each time through another server, until its outcome is known.
    async fn send(&mut self, spend: &Spend, name: &'static str, at: Option<usize>, expected: &[&str]) -> Outcome {
        let (since, mut is_first) = (Instant::now(), true);
        let mut server = at.unwrap_or_else(|| self.server());
        let call = Call::post(name, CHARGE, &self.world.gateway, spend.body.clone());
        loop {
            match self.ask(server, &call, expected).await {
                Told::Done(data, _) => {
                    self.world.pulse.charges(server, spend.owner);
                    self.is_charged(spend, &data);
                    return Outcome::Charged;
                }
                Told::Refused if is_first => {
                    self.world.records.add(spend.entry(Known::Refused));
                    return Outcome::Refused;
                }
                // An earlier attempt may still be in progress, so it is checked at the end.
                Told::Refused => {
                    self.world.records.doubt(spend.doubt());
                    return Outcome::Unclear;
                }
                Told::Unknown if !spend.has_request_id => {
                    self.world.records.add(spend.entry(Known::Unclear));
                    return Outcome::Unclear;
                }
                Told::Unknown if since.elapsed() > RETRIES || self.world.is_stopping() => {
                    self.world.records.doubt(spend.doubt());
                    return Outcome::Unclear;
                }
                Told::Unknown => {
                    is_first = false;
                    sleep(Duration::from_millis(self.rng.random_range(20..300))).await;
                    server = self.server();
                }
            }
        }
    }

    /// An acknowledged charge must have the requested amount.
    fn is_charged(&mut self, spend: &Spend, data: &Value) {
        let is_right =
            data["charged"] == spend.quota && (!spend.has_request_id || data["request_id"] == spend.body["request_id"]);
        if !is_right {
            self.world.finds(
                "a charge was acknowledged with a wrong amount",
                &format!("{data} to {}", spend.body["request_id"]),
            );
        }
        self.world.records.add(spend.entry(Known::Charged));
        if spend.has_request_id {
            self.acknowledged.push_back(spend.body.clone());
            if self.acknowledged.len() > REMEMBERED {
                self.acknowledged.pop_front();
            }
        }
    }

    fn amount(&mut self) -> i64 {
        self.rng.random_range(1..=20)
    }

    async fn charges_surely(&mut self) {
        let (token, quota) = (self.token(), self.amount());
        let spend = self.spend(token, quota, true);
        let refusals = self.refusals(token);
        self.send(&spend, "charge once", None, &refusals).await;
    }

    async fn charges_once(&mut self) {
        let (token, quota) = (self.token(), self.amount());
        let spend = self.spend(token, quota, false);
        let refusals = self.refusals(token);
        self.send(&spend, "charge", None, &refusals).await;
    }

    /// Sends many charges in one call. Those without a clear answer are sent again one by one.
    async fn charges_many(&mut self) {
        let mut spends = Vec::new();
        for _ in 0..self.rng.random_range(2..=20) {
            let (token, quota) = (self.token(), self.amount());
            spends.push((self.spend(token, quota, true), self.refusals(token)));
        }
        let bodies: Vec<&Value> = spends.iter().map(|(spend, _)| &spend.body).collect();
        let gateway = self.world.gateway.clone();
        let call = Call::post("batch", "/api/gateway/charges", gateway, json!({ "charges": bodies }));
        let outcomes = match self.ask_any(&call, &[]).await {
            Told::Done(Value::Array(outcomes), _) if outcomes.len() == spends.len() => outcomes,
            Told::Done(data, _) => {
                self.world.finds("a batch has a wrong answer", &data.to_string());
                return;
            }
            Told::Refused | Told::Unknown => vec![Value::Null; spends.len()],
        };
        for ((spend, refusals), outcome) in spends.iter().zip(outcomes) {
            match outcome["error"].as_str() {
                _ if outcome["success"] == true => self.is_charged(spend, &outcome),
                Some(code) if refusals.contains(&code) => self.world.records.add(spend.entry(Known::Refused)),
                None | Some("database_unavailable" | "ledger_busy") => {
                    self.send_after_a_try(spend, refusals).await;
                }
                Some(_) => self.world.finds("an unexpected refusal", &format!("in a batch: {outcome}")),
            }
        }
    }

    /// Sends a charge that may have been done already, so that a refusal does not prove anything.
    async fn send_after_a_try(&mut self, spend: &Spend, refusals: &[&str]) {
        let call = Call::post("charge once", CHARGE, &self.world.gateway, spend.body.clone());
        match self.ask_any(&call, refusals).await {
            Told::Done(data, _) => self.is_charged(spend, &data),
            Told::Refused | Told::Unknown => self.world.records.doubt(spend.doubt()),
        }
    }

    /// Reserves quota through one server; settles, releases or leaves the reservation through another.
    async fn reserves(&mut self) {
        let (token, quota) = (self.token(), self.amount());
        let (id, key) = (self.known(token).0.id, self.known(token).0.key.clone());
        let gateway = self.world.gateway.clone();
        let end = self.rng.random_range(0..100);
        let seconds = if end < 85 { 60 } else { self.rng.random_range(1..=5) };
        let body = json!({ "key": key, "quota": quota, "ttl_seconds": seconds });
        let refusals = self.refusals(token);
        let reserve = Call::post("reserve", "/api/gateway/reserve", &gateway, body);
        let Told::Done(made, _) = self.ask_any(&reserve, &refusals).await else {
            return;
        };
        let reservation = made["reservation_id"].clone();
        sleep(Duration::from_millis(self.rng.random_range(0..200))).await;
        match end {
            0..60 => self.settles(id, &reservation, quota).await,
            60..85 => {
                let body = json!({ "reservation_id": reservation });
                self.until_known(&Call::post("release", "/api/gateway/release", gateway, body), &[]).await;
            }
            // Left to expire; some are settled later in spite of that.
            97.. => {
                sleep(Duration::from_secs(self.rng.random_range(1..=8))).await;
                self.settles(id, &reservation, quota).await;
            }
            _ => {}
        }
    }

    async fn settles(&mut self, token: i64, reservation: &Value, held: i64) {
        let (mark, quota) = (self.next_mark(), self.rng.random_range(0..=held * 2));
        let body = json!({ "reservation_id": reservation, "quota": quota, "prompt_tokens": mark });
        let settle = Call::post("settle", SETTLE, &self.world.gateway, body.clone());
        let entry = |known, quota| Entry { mark, token, quota, known, has_request_id: false };
        match self.until_known(&settle, &[]).await {
            Told::Done(data, _) => {
                let (charged, shortfall) = (data["charged"].as_i64().unwrap(), data["shortfall"].as_i64().unwrap());
                if charged + shortfall != quota {
                    self.world.finds("a settlement has a wrong answer", &format!("{data} to {quota}"));
                }
                self.world.records.add(entry(Known::Charged, charged));
            }
            Told::Refused => self.world.records.add(entry(Known::Refused, quota)),
            Told::Unknown => {
                self.world.records.doubt(Doubt { entry: entry(Known::Unclear, quota), path: SETTLE, body });
            }
        }
    }

    /// Repeats an idempotent request, through any server, until there is a clear answer.
    async fn until_known(&mut self, call: &Call, expected: &[&str]) -> Told {
        let since = Instant::now();
        loop {
            let told = self.ask_any(call, expected).await;
            let is_unknown = matches!(told, Told::Unknown);
            if !is_unknown || since.elapsed() > RETRIES || self.world.is_stopping() {
                return told;
            }
            sleep(Duration::from_millis(self.rng.random_range(20..300))).await;
        }
    }

    async fn verifies(&mut self) {
        let token = self.token();
        let body = json!({ "key": self.known(token).0.key, "quota": 1 });
        let verify = Call::post("verify", "/api/gateway/verify", &self.world.gateway, body);
        if let Told::Done(data, _) = self.ask_any(&verify, &[]).await {
            let reason = data["reason"].as_str().unwrap_or_default();
            let is_explained = data["valid"] == true || self.refusals(token).contains(&reason);
            if !is_explained || data["token_id"] != self.known(token).0.id {
                self.world.finds("an unexpected answer of verify", &data.to_string());
            }
        }
    }

    /// Repeats an acknowledged charge: the same body gets the same answer, and another body is refused.
    async fn sends_again(&mut self) {
        if self.acknowledged.is_empty() {
            return;
        }
        let at = self.rng.random_range(0..self.acknowledged.len());
        let mut body = self.acknowledged[at].clone();
        let quota = body["quota"].as_i64().unwrap();
        let is_same = self.rng.random_bool(0.6);
        body["quota"] = json!(quota + i64::from(!is_same));
        let again = Call::post("charge again", CHARGE, &self.world.gateway, body.clone());
        let expected: &[&str] = if is_same { &[] } else { &["request_id_reused"] };
        match self.ask_any(&again, expected).await {
            Told::Done(data, _) if !is_same || data["charged"] != quota => {
                self.world.finds("L4: a retry has another answer", &format!("{data} to {}", body["request_id"]));
            }
            Told::Done(..) | Told::Refused | Told::Unknown => {}
        }
    }

    async fn asks_by_key(&mut self) {
        let (token, is_by_key) = (self.token(), self.rng.random_bool(0.6));
        let (known, owner) = self.known(token);
        let call = if is_by_key {
            Call::get("usage by key", "/api/usage/token/", format!("Bearer {}", known.key))
        } else {
            Call::get("daily usage", format!("/api/token/{}/usage", known.id), &owner.access_token)
        };
        self.ask_any(&call, &LIMITED).await;
    }

    async fn reads_tokens(&mut self) {
        let token = self.token();
        let (known, owner) = self.known(token);
        let (id, key, access) = (known.id, known.key.clone(), owner.access_token.clone());
        match self.rng.random_range(0..10) {
            0..4 => {
                let page = self.rng.random_range(0..3);
                let list = Call::get("list", format!("/api/token/?p={page}&size=20"), access);
                if let Told::Done(data, _) = self.ask_any(&list, &[]).await {
                    let items = data["items"].as_array().cloned().unwrap_or_default();
                    if items.iter().any(|item| item["key"] != "") || data["total"] == 0 {
                        self.world.finds("a list shows keys or no tokens", &data["total"].to_string());
                    }
                }
            }
            4..6 => {
                let search = Call::get("search", "/api/token/search?keyword=plenty", access);
                self.ask_any(&search, &LIMITED).await;
            }
            _ => {
                let get = Call::get("get", format!("/api/token/{id}"), access);
                if let Told::Done(data, _) = self.ask_any(&get, &[]).await
                    && data["key"] != key.as_str()
                {
                    self.world.finds("a token was read with another key", &format!("token {id}"));
                }
            }
        }
    }

    /// Uses a token of this client alone, from creation to deletion, so that each correct answer is known. Stops early if an
    /// answer is missing, because that operation may still happen later.
    async fn lives_through_a_token(&mut self) {
        let owner = self.n % self.world.owners.len();
        let access = self.world.owners[owner].access_token.clone();
        let name = format!("passing {}.", self.n);
        let body = json!({ "name": name, "remain_quota": 500 });
        let create = Call::post("create", "/api/token/", &access, body);
        let Told::Done(made, _) = self.ask_any(&create, &["token_limit_reached"]).await else {
            return self.sweeps(&access, &name).await;
        };
        let (id, key) = (made["id"].as_i64().unwrap(), made["key"].as_str().unwrap().to_owned());
        if self.lives(owner, id, &key, &access).await.is_none() {
            return self.sweeps(&access, &name).await;
        }
        let delete = Call { method: Method::DELETE, ..Call::get("delete", format!("/api/token/{id}"), &access) };
        if !matches!(self.ask_any(&delete, &[]).await, Told::Done(..)) {
            return self.sweeps(&access, &name).await;
        }
        self.is_refused(owner, id, &key, 1, "invalid_key").await;
    }

    /// `None` if an answer was missing.
    async fn lives(&mut self, owner: usize, id: i64, key: &str, access: &str) -> Option<()> {
        let put = |name, path: &str, body| Call { method: Method::PUT, ..Call::post(name, path, access, body) };
        let wallet: &[&str] = if self.world.owners[owner].is_rich { &[] } else { &OF_WALLET };
        let first = self.spend_of(id, key, owner, 40, true);
        if self.send(&first, "charge once", None, wallet).await == Outcome::Unclear {
            return None;
        }
        for (status, refused) in [(2, Some("token_disabled")), (1, None)] {
            let switch = put("switch", "/api/token/?status_only=1", json!({ "id": id, "status": status }));
            let Told::Done(shown, _) = self.ask_any(&switch, &[]).await else {
                return None;
            };
            if shown["status"] != status {
                self.world.finds("a switch has a wrong answer", &shown.to_string());
            }
            if let Some(reason) = refused {
                self.is_refused(owner, id, key, 1, reason).await?;
            }
        }
        let edit = put("edit", "/api/token/", json!({ "id": id, "remain_quota": 7, "allow_ips": "10.0.0.0/8" }));
        let Told::Done(shown, _) = self.ask_any(&edit, &[]).await else {
            return None;
        };
        if shown["remain_quota"] != 7 {
            self.world.finds("an edit has a wrong answer", &shown.to_string());
        }
        self.is_refused(owner, id, key, 8, "token_quota_insufficient").await?;
        let last = self.spend_of(id, key, owner, 7, true);
        match self.send(&last, "charge once", None, wallet).await {
            Outcome::Charged => self.is_refused(owner, id, key, 1, "token_exhausted").await,
            Outcome::Refused => Some(()),
            Outcome::Unclear => None,
        }
    }

    /// L6: a change that one server has confirmed takes effect at once on all servers. `None` if the answer is unclear.
    async fn is_refused(&mut self, owner: usize, id: i64, key: &str, quota: i64, reason: &'static str) -> Option<()> {
        let spend = self.spend_of(id, key, owner, quota, true);
        match self.send(&spend, "charge once", None, &[reason]).await {
            Outcome::Charged => self.world.finds("L6: charged against the rules", &format!("token {id}: {reason}")),
            Outcome::Refused => {}
            Outcome::Unclear => return None,
        }
        Some(())
    }

    /// Deletes the tokens that this client left behind when answers were missing.
    async fn sweeps(&mut self, access: &str, name: &str) {
        let search =
            Call::get("search", format!("/api/token/search?keyword={}&size=100", name.replace(' ', "%20")), access);
        let Told::Done(page, _) = self.ask_any(&search, &LIMITED).await else {
            return;
        };
        let ids: Vec<i64> = page["items"].as_array().unwrap().iter().filter_map(|item| item["id"].as_i64()).collect();
        if !ids.is_empty() {
            let delete = Call::post("delete many", "/api/token/batch", access, json!({ "ids": ids }));
            self.ask_any(&delete, &[]).await;
        }
    }

    /// Refills a limited token or a wallet.
    async fn fills_up(&mut self) {
        let more = self.rng.random_range(50..=400);
        if self.rng.random_bool(0.5) {
            let refilled: Vec<usize> = (0..self.world.tokens.len())
                .filter(|token| self.world.tokens[*token].budget == Budget::Refilled)
                .collect();
            let token = refilled[self.rng.random_range(0..refilled.len())];
            let (known, owner) = self.known(token);
            known.granted.fetch_add(more, Ordering::SeqCst);
            let body = json!({ "id": known.id, "remain_quota": more });
            let edit = Call::post("edit", "/api/token/", &owner.access_token, body);
            self.ask_any(&Call { method: Method::PUT, ..edit }, &[]).await;
            return;
        }
        let at = self.rng.random_range(0..self.world.owners.len());
        let path = format!("/api/admin/users/{}/quota", self.world.owners[at].id);
        let grant = Call::post("top up", path, &self.world.root, json!({ "delta": more }));
        match self.ask_any(&grant, &[]).await {
            Told::Done(..) => self.world.owners[at].granted.fetch_add(more, Ordering::SeqCst),
            Told::Refused => 0,
            Told::Unknown => self.world.owners[at].maybe_granted.fetch_add(more, Ordering::SeqCst),
        };
    }

    async fn tries_wrong_keys(&mut self) {
        let gateway = self.world.gateway.clone();
        // A well-formed key that does not exist, and a key with a wrong checksum.
        let unknown = ApiKey::generate(&mut self.rng, CellLabel::default()).expose().to_owned();
        let key = if self.rng.random_bool(0.5) { unknown } else { format!("{}x", &unknown[..unknown.len() - 1]) };
        match self.rng.random_range(0..5) {
            0 => {
                let verify = Call::post("wrong key", "/api/gateway/verify", gateway, json!({ "key": key }));
                if let Told::Done(data, _) = self.ask_any(&verify, &[]).await
                    && data["reason"] != "invalid_key"
                {
                    self.world.finds("a wrong key was accepted", &data.to_string());
                }
            }
            1 => {
                let charge = Call::post("wrong key", CHARGE, gateway, json!({ "key": key, "quota": 1 }));
                self.is_unknown(&charge, &["invalid_key"]).await;
            }
            2 => {
                let usage = Call::get("wrong key", "/api/usage/token/", format!("Bearer {key}"));
                self.is_unknown(&usage, &["invalid_key", "rate_limited"]).await;
            }
            3 => {
                let charge =
                    Call::post("wrong key", CHARGE, format!("Bearer {key}"), json!({ "key": key, "quota": 1 }));
                self.is_unknown(&charge, &["invalid_gateway", "rate_limited"]).await;
            }
            _ => {
                let list = Call::get("wrong key", "/api/token/", key);
                self.is_unknown(&list, &["invalid_credential", "not_signed_in", "rate_limited"]).await;
            }
        }
    }

    async fn is_unknown(&mut self, call: &Call, refusals: &[&str]) {
        if let Told::Done(data, _) = self.ask_any(call, refusals).await {
            self.world.finds("a wrong key was accepted", &data.to_string());
        }
    }

    async fn reads_as_administrator(&mut self) {
        let path = ["/api/admin/audit", "/api/admin/users", "/api/admin/tokens"][self.rng.random_range(0..3)];
        let read = Call::get("administration", path, &self.world.root);
        self.ask_any(&read, &[]).await;
    }

    /// Signs in with the correct password and out again, or with a wrong password.
    async fn signs_in(&mut self) {
        let at = self.rng.random_range(0..self.world.owners.len());
        let (name, password) = (self.world.owners[at].name.clone(), self.world.owners[at].password.clone());
        let is_right = self.rng.random_bool(0.7);
        let password = if is_right { password } else { "not the password".to_owned() };
        let sign_in = Call::post("sign in", "/api/user/login", "", json!({ "username": name, "password": password }));
        let refusals: &[&str] = if is_right { &LIMITED } else { &["wrong_credentials", "rate_limited"] };
        let Told::Done(user, cookie) = self.ask_any(&sign_in, refusals).await else {
            return;
        };
        if !is_right || user["username"] != name.as_str() {
            self.world.finds("a sign-in has a wrong answer", &user.to_string());
        }
        let Some(cookie) = cookie else {
            return self.world.finds("a sign-in has a wrong answer", "there is no cookie");
        };
        let show = Call { cookie: cookie.clone(), ..Call::get("session", "/api/user/self", "") };
        self.ask_any(&show, &[]).await;
        let sign_out = Call { cookie, ..Call::post("sign out", "/api/user/logout", "", Value::Null) };
        self.ask_any(&sign_out, &[]).await;
    }
}

impl Spend {
    fn entry(&self, known: Known) -> Entry {
        let Self { mark, token, quota, has_request_id, .. } = *self;
        Entry { mark, token, quota, known, has_request_id }
    }

    fn doubt(&self) -> Doubt {
        Doubt { entry: self.entry(Known::Unclear), path: CHARGE, body: self.body.clone() }
    }
}
