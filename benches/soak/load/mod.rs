//! The load: clients that send one operation after the other to any server, and know which answers are correct.

mod charges;
mod credentials;
mod new_token;
mod reads;
mod reservations;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::answers::{Call, Caller, Outcome};
use crate::world::{Budget, LoadToken, Owner, SERVERS, World};

/// The number of a client is part of the marks of its charges. Probes count as clients.
pub const MAX_CLIENTS: usize = 4_000;
const MARKS: i64 = 4_096;

/// Pause between two charges of a probe.
const PROBE_EVERY: Duration = Duration::from_millis(200);

/// A server that has not answered for this time is avoided, as by a load balancer.
const AVOIDED_AFTER: Duration = Duration::from_millis(1_500);

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
        (0..world.options.clients).map(|n| tokio::spawn(Client::new(Arc::clone(world), n).run())).collect();
    let probes = world.tokens.iter().enumerate().filter(|(_, token)| token.budget == Budget::Probe);
    for (at, _) in probes {
        for server in 0..SERVERS {
            let client = Client::new(Arc::clone(world), tasks.len());
            tasks.push(tokio::spawn(client.run_probe(at, server)));
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

impl Client {
    fn new(world: Arc<World>, n: usize) -> Self {
        let seed = world.options.seed ^ (u64::try_from(n).unwrap() + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rng = StdRng::seed_from_u64(seed);
        Self { world, caller: None, n, rng, serial: 0, acknowledged: VecDeque::new() }
    }

    async fn run(mut self) {
        self.caller = Some(Caller::new(Arc::clone(&self.world)).await);
        while !self.world.is_stopping() {
            match self.rng.random_range(0..1_000) {
                0..300 => self.charge_with_request_id().await,
                300..400 => self.charge_without_request_id().await,
                400..430 => self.charge_batch().await,
                430..530 => self.reserve_and_end().await,
                530..730 => self.verify().await,
                730..760 => self.repeat_charge().await,
                760..800 => self.read_usage().await,
                800..900 => self.read_tokens().await,
                900..930 => self.use_new_token().await,
                930..950 => self.refill().await,
                950..985 => self.try_wrong_keys().await,
                985..995 => self.read_as_administrator().await,
                _ => self.sign_in_and_out().await,
            }
            let pause = self.world.options.pause.as_secs_f64() * self.rng.random::<f64>();
            sleep(Duration::from_secs_f64(pause)).await;
        }
    }

    /// Charges one token through one server all the time, so that gaps are measured.
    async fn run_probe(mut self, token: usize, server: usize) {
        self.caller = Some(Caller::new(Arc::clone(&self.world)).await);
        while !self.world.is_stopping() {
            let charge = self.new_charge(token, 1, false);
            self.send_charge(&charge, "probe", Some(server), &[]).await;
            sleep(PROBE_EVERY).await;
        }
    }

    async fn send(&mut self, server: usize, call: &Call, expected: &[&str]) -> Outcome {
        // Random addresses, so that the rate limits by address have many to count.
        let address = format!("10.{}.{}.{}", self.n % 256, self.rng.random::<u8>(), self.rng.random::<u8>());
        self.caller.as_ref().unwrap().send(server, &address, call, expected).await
    }

    /// Sends a request to any server.
    async fn send_to_any(&mut self, call: &Call, expected: &[&str]) -> Outcome {
        let server = self.server();
        self.send(server, call, expected).await
    }

    /// A random server, preferably one that answers.
    fn server(&mut self) -> usize {
        let first = self.rng.random_range(0..SERVERS);
        let ignores_silence = self.rng.random_bool(0.05);
        let answers = |server: &usize| self.world.last_activity.answered(*server).elapsed() < AVOIDED_AFTER;
        if ignores_silence {
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

    fn token_and_owner(&self, token: usize) -> (&LoadToken, &Owner) {
        let token = &self.world.tokens[token];
        (token, &self.world.owners[token.owner])
    }

    /// Why a charge of this token may be refused.
    fn refusals(&self, token: usize) -> Vec<&'static str> {
        let (token, owner) = self.token_and_owner(token);
        let mut refusals = Vec::new();
        if matches!(token.budget, Budget::Tiny | Budget::Refilled) {
            refusals.extend(OF_TOKEN);
        }
        if !owner.is_rich {
            refusals.extend(OF_WALLET);
        }
        refusals
    }

    /// Repeats an idempotent request, through any server, until there is a clear answer.
    async fn repeat_until_known(&mut self, call: &Call, expected: &[&str]) -> Outcome {
        let since = Instant::now();
        loop {
            let outcome = self.send_to_any(call, expected).await;
            let is_unknown = matches!(outcome, Outcome::Unknown);
            if !is_unknown || since.elapsed() > RETRIES || self.world.is_stopping() {
                return outcome;
            }
            sleep(Duration::from_millis(self.rng.random_range(20..300))).await;
        }
    }

    /// Refills a limited token or a wallet.
    async fn refill(&mut self) {
        let more = self.rng.random_range(50..=400);
        if self.rng.random_bool(0.5) {
            let refilled: Vec<usize> = (0..self.world.tokens.len())
                .filter(|token| self.world.tokens[*token].budget == Budget::Refilled)
                .collect();
            let token = refilled[self.rng.random_range(0..refilled.len())];
            let (token, owner) = self.token_and_owner(token);
            token.granted.fetch_add(more, Ordering::SeqCst);
            let body = json!({ "id": token.id, "remain_quota": more });
            let edit = Call::post("edit", "/api/token/", &owner.access_token, body);
            self.send_to_any(&Call { method: Method::PUT, ..edit }, &[]).await;
            return;
        }
        let at = self.rng.random_range(0..self.world.owners.len());
        let path = format!("/api/admin/users/{}/quota", self.world.owners[at].id);
        let grant = Call::post("top up", path, &self.world.root, json!({ "delta": more }));
        match self.send_to_any(&grant, &[]).await {
            Outcome::Done(..) => self.world.owners[at].granted.fetch_add(more, Ordering::SeqCst),
            Outcome::Refused => 0,
            Outcome::Unknown => self.world.owners[at].maybe_granted.fetch_add(more, Ordering::SeqCst),
        };
    }
}
