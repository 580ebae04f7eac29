//! Charges: one at a time, in batches, and repeated.

use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{CHARGE, Client, MARKS, REMEMBERED, RETRIES};
use crate::answers::{Call, Outcome};
use crate::records::{Entry, LedgerOutcome, UnresolvedOperation, request_id};

/// A charge to be sent.
pub(super) struct NewCharge {
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
pub(super) enum ChargeOutcome {
    Charged,
    Refused,
    /// Unknown: a server may have done it, or may still do it.
    Unclear,
}

impl Client {
    pub(super) fn next_mark(&mut self) -> i64 {
        self.serial += 1;
        self.serial * MARKS + i64::try_from(self.n).unwrap()
    }

    pub(super) fn new_charge(&mut self, token: usize, quota: i64, has_request_id: bool) -> NewCharge {
        let (token, _) = self.token_and_owner(token);
        let (id, key, owner) = (token.id, token.key.clone(), token.owner);
        self.new_charge_of(id, &key, owner, quota, has_request_id)
    }

    pub(super) fn new_charge_of(
        &mut self,
        token: i64,
        key: &str,
        owner: usize,
        quota: i64,
        has_request_id: bool,
    ) -> NewCharge {
        let mark = self.next_mark();
        let model = format!("model {}", self.rng.random_range(0..4));
        let mut body = json!({
            "key": key, "quota": quota, "model": model, "prompt_tokens": mark, "completion_tokens": 1,
        });
        if has_request_id {
            body["request_id"] = json!(request_id(mark));
        }
        NewCharge { mark, token, owner, quota, has_request_id, body }
    }

    /// Sends a charge. With a request id, it is repeated, each time through another server, until its outcome is known.
    pub(super) async fn send_charge(
        &mut self,
        charge: &NewCharge,
        name: &'static str,
        at: Option<usize>,
        expected: &[&str],
    ) -> ChargeOutcome {
        let (since, mut is_first) = (Instant::now(), true);
        let mut server = at.unwrap_or_else(|| self.server());
        let call = Call::post(name, CHARGE, &self.world.gateway, charge.body.clone());
        loop {
            match self.send(server, &call, expected).await {
                Outcome::Done(data, _) => {
                    self.world.last_activity.record_charge(server, charge.owner);
                    self.record_charged(charge, &data);
                    return ChargeOutcome::Charged;
                }
                Outcome::Refused if is_first => {
                    self.world.records.add(charge.entry(LedgerOutcome::Refused));
                    return ChargeOutcome::Refused;
                }
                // An earlier attempt may still be in progress, so it is checked at the end.
                Outcome::Refused => {
                    self.world.records.add_unresolved(charge.unresolved());
                    return ChargeOutcome::Unclear;
                }
                Outcome::Unknown if !charge.has_request_id => {
                    self.world.records.add(charge.entry(LedgerOutcome::Unclear));
                    return ChargeOutcome::Unclear;
                }
                Outcome::Unknown if since.elapsed() > RETRIES || self.world.is_stopping() => {
                    self.world.records.add_unresolved(charge.unresolved());
                    return ChargeOutcome::Unclear;
                }
                Outcome::Unknown => {
                    is_first = false;
                    sleep(Duration::from_millis(self.rng.random_range(20..300))).await;
                    server = self.server();
                }
            }
        }
    }

    /// An acknowledged charge must have the requested amount.
    pub(super) fn record_charged(&mut self, charge: &NewCharge, data: &Value) {
        let is_right = data["charged"] == charge.quota
            && (!charge.has_request_id || data["request_id"] == charge.body["request_id"]);
        if !is_right {
            self.world.record_finding(
                "a charge was acknowledged with a wrong amount",
                &format!("{data} to {}", charge.body["request_id"]),
            );
        }
        self.world.records.add(charge.entry(LedgerOutcome::Charged));
        if charge.has_request_id {
            self.acknowledged.push_back(charge.body.clone());
            if self.acknowledged.len() > REMEMBERED {
                self.acknowledged.pop_front();
            }
        }
    }

    pub(super) fn amount(&mut self) -> i64 {
        self.rng.random_range(1..=20)
    }

    pub(super) async fn charge_with_request_id(&mut self) {
        let (token, quota) = (self.token(), self.amount());
        let charge = self.new_charge(token, quota, true);
        let refusals = self.refusals(token);
        self.send_charge(&charge, "charge once", None, &refusals).await;
    }

    pub(super) async fn charge_without_request_id(&mut self) {
        let (token, quota) = (self.token(), self.amount());
        let charge = self.new_charge(token, quota, false);
        let refusals = self.refusals(token);
        self.send_charge(&charge, "charge", None, &refusals).await;
    }

    /// Sends many charges in one call. Those without a clear answer are sent again one by one.
    pub(super) async fn charge_batch(&mut self) {
        let mut charges = Vec::new();
        for _ in 0..self.rng.random_range(2..=20) {
            let (token, quota) = (self.token(), self.amount());
            charges.push((self.new_charge(token, quota, true), self.refusals(token)));
        }
        let bodies: Vec<&Value> = charges.iter().map(|(charge, _)| &charge.body).collect();
        let gateway = self.world.gateway.clone();
        let call = Call::post("batch", "/api/gateway/charges", gateway, json!({ "charges": bodies }));
        let outcomes = match self.send_to_any(&call, &[]).await {
            Outcome::Done(Value::Array(outcomes), _) if outcomes.len() == charges.len() => outcomes,
            Outcome::Done(data, _) => {
                self.world.record_finding("a batch has a wrong answer", &data.to_string());
                return;
            }
            Outcome::Refused | Outcome::Unknown => vec![Value::Null; charges.len()],
        };
        for ((charge, refusals), outcome) in charges.iter().zip(outcomes) {
            match outcome["error"].as_str() {
                _ if outcome["success"] == true => self.record_charged(charge, &outcome),
                Some(code) if refusals.contains(&code) => self.world.records.add(charge.entry(LedgerOutcome::Refused)),
                None | Some("database_unavailable" | "ledger_busy") => {
                    self.resend_charge(charge, refusals).await;
                }
                Some(_) => self.world.record_finding("an unexpected refusal", &format!("in a batch: {outcome}")),
            }
        }
    }

    /// Sends a charge that may have been done already, so that a refusal does not prove anything.
    pub(super) async fn resend_charge(&mut self, charge: &NewCharge, refusals: &[&str]) {
        let call = Call::post("charge once", CHARGE, &self.world.gateway, charge.body.clone());
        match self.send_to_any(&call, refusals).await {
            Outcome::Done(data, _) => self.record_charged(charge, &data),
            Outcome::Refused | Outcome::Unknown => self.world.records.add_unresolved(charge.unresolved()),
        }
    }

    /// Repeats an acknowledged charge: the same body gets the same answer, and another body is refused.
    pub(super) async fn repeat_charge(&mut self) {
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
        match self.send_to_any(&again, expected).await {
            Outcome::Done(data, _) if !is_same || data["charged"] != quota => {
                self.world
                    .record_finding("L4: a retry has another answer", &format!("{data} to {}", body["request_id"]));
            }
            Outcome::Done(..) | Outcome::Refused | Outcome::Unknown => {}
        }
    }
}

impl NewCharge {
    fn entry(&self, outcome: LedgerOutcome) -> Entry {
        let Self { mark, token, quota, has_request_id, .. } = *self;
        Entry { mark, token, quota, outcome, has_request_id }
    }

    fn unresolved(&self) -> UnresolvedOperation {
        UnresolvedOperation { entry: self.entry(LedgerOutcome::Unclear), path: CHARGE, body: self.body.clone() }
    }
}
