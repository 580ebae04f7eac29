//! Sends requests and checks the answers: which answers are never allowed, and when an answer may be missing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue, Method};
use serde_json::Value;

use crate::harness::{Answer, Client};
use crate::world::World;

/// How long a client waits for an answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// A request and the name under which it is counted.
pub struct Call {
    pub name: &'static str,
    pub method: Method,
    pub path: String,
    /// The text of `Authorization`; none if empty.
    pub authorization: String,
    /// The session cookie; none if empty.
    pub cookie: String,
    /// `null` for none.
    pub body: Value,
}

impl Call {
    pub fn get(name: &'static str, path: impl Into<String>, authorization: impl Into<String>) -> Self {
        let (path, authorization) = (path.into(), authorization.into());
        Self { name, method: Method::GET, path, authorization, cookie: String::new(), body: Value::Null }
    }

    pub fn post(name: &'static str, path: impl Into<String>, authorization: impl Into<String>, body: Value) -> Self {
        Self { method: Method::POST, body, ..Self::get(name, path, authorization) }
    }
}

/// The outcome of a request, as far as the client knows it.
#[derive(Debug)]
pub enum Outcome {
    /// It was done, with `data` and the session cookie, if any.
    Done(Value, Option<String>),
    /// It was not done. An unexpected reason is a finding.
    Refused,
    /// 503 or no answer: it was done completely or not at all.
    Unknown,
}

/// One client, with a connection of its own to each server.
pub struct Caller {
    pub world: Arc<World>,
    client: Client,
}

impl Caller {
    pub async fn new(world: Arc<World>) -> Self {
        let client = loop {
            if let Some(server) = &*world.servers[0].process.lock().await {
                break Client::stranger(server);
            }
        };
        Self { world, client }
    }

    /// Sends a request to a server, from the client address `address`. A refusal with a code that is not `expected` is
    /// a finding.
    pub async fn send(&self, server: usize, address: &str, call: &Call, expected: &[&str]) -> Outcome {
        let mut client = self.client.clone();
        client.base = self.world.base(server);
        let headers = [
            ("authorization", call.authorization.as_str()),
            ("cookie", call.cookie.as_str()),
            ("x-forwarded-for", address),
            ("prefer", if call.name == "create" { "return=representation" } else { "" }),
            ("origin", if call.cookie.is_empty() { "" } else { client.base.as_str() }),
        ];
        for (name, value) in headers.into_iter().filter(|(_, value)| !value.is_empty()) {
            client.headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        let body = if call.body.is_null() { String::new() } else { call.body.to_string() };
        let sent_at = Instant::now();
        let answer = client.try_send(call.method.clone(), &call.path, body);
        match tokio::time::timeout(CLIENT_TIMEOUT, answer).await {
            Ok(Ok(answer)) => {
                self.world.last_activity.record_answer(server);
                self.check_answer(server, call, sent_at, &answer, expected)
            }
            Ok(Err(error)) => {
                if let Some(what) = self.world.windows.finding_for_broken_connection(server, sent_at) {
                    let cause = error_chain(&error);
                    self.world.record_finding(what, &format!("{} on server {server}: {cause}", call.name));
                }
                self.unanswered(call, sent_at)
            }
            Err(_) => {
                if !self.world.windows.explain_missing_answer(sent_at) {
                    let detail = format!("{} on server {server} waited {CLIENT_TIMEOUT:?}", call.name);
                    self.world.record_finding("no answer while there was no fault", &detail);
                }
                self.unanswered(call, sent_at)
            }
        }
    }

    fn unanswered(&self, call: &Call, sent_at: Instant) -> Outcome {
        self.world.tallies.add(call.name, sent_at.elapsed(), |tally| tally.unanswered += 1);
        Outcome::Unknown
    }

    fn check_answer(
        &self,
        server: usize,
        call: &Call,
        sent_at: Instant,
        answer: &Answer,
        expected: &[&str],
    ) -> Outcome {
        let (world, took, status) = (&self.world, sent_at.elapsed(), answer.status.as_u16());
        let describe = || format!("{} on server {server}: {status} {}", call.name, shortened(&answer.text));
        let Ok(body) = serde_json::from_str::<Value>(&answer.text) else {
            world.record_finding("an answer that is not JSON", &describe());
            return Outcome::Unknown;
        };
        let code = body["error"].as_str().unwrap_or_default();
        match status {
            200 if body["success"] == true || body["code"] == true => {
                world.tallies.add(call.name, took, |tally| tally.done += 1);
                let cookie = answer.header("set-cookie").and_then(|cookie| cookie.split(';').next());
                Outcome::Done(body["data"].clone(), cookie.map(str::to_owned))
            }
            503 => {
                world.tallies.add(call.name, took, |tally| tally.unavailable += 1);
                world.windows.count_unavailable(sent_at);
                let has_retry_after =
                    answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok());
                if !has_retry_after || code.is_empty() {
                    world.record_finding("a 503 without Retry-After or without a code", &describe());
                }
                Outcome::Unknown
            }
            400..500 if !code.is_empty() => {
                world.tallies.add(call.name, took, |tally| tally.refused += 1);
                if !expected.contains(&code) {
                    world.record_finding("an unexpected refusal", &describe());
                }
                Outcome::Refused
            }
            _ => {
                world.record_finding("an answer that is never allowed", &describe());
                Outcome::Unknown
            }
        }
    }
}

/// An error with all its causes: the first one only says that sending failed.
fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
