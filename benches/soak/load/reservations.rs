//! Reservations, and their settlement or release.

use std::time::Duration;

use rand::RngExt;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Client, SETTLE};
use crate::answers::{Call, Outcome};
use crate::records::{Entry, LedgerOutcome, UnresolvedOperation};

impl Client {
    /// Reserves quota through one server; settles, releases or leaves the reservation through another.
    pub(super) async fn reserve_and_end(&mut self) {
        let (token, quota) = (self.token(), self.amount());
        let (id, key) = (self.world.tokens[token].id, self.world.tokens[token].key.clone());
        let gateway = self.world.gateway.clone();
        let end = self.rng.random_range(0..100);
        let seconds = if end < 85 { 60 } else { self.rng.random_range(1..=5) };
        let body = json!({ "key": key, "quota": quota, "ttl_seconds": seconds });
        let refusals = self.refusals(token);
        let reserve = Call::post("reserve", "/api/gateway/reserve", &gateway, body);
        let Outcome::Done(made, _) = self.send_to_any(&reserve, &refusals).await else {
            return;
        };
        let reservation = made["reservation_id"].clone();
        sleep(Duration::from_millis(self.rng.random_range(0..200))).await;
        match end {
            0..60 => self.settle(id, &reservation, quota).await,
            60..85 => {
                let body = json!({ "reservation_id": reservation });
                self.repeat_until_known(&Call::post("release", "/api/gateway/release", gateway, body), &[]).await;
            }
            // Left to expire; some are settled later in spite of that.
            97.. => {
                sleep(Duration::from_secs(self.rng.random_range(1..=8))).await;
                self.settle(id, &reservation, quota).await;
            }
            _ => {}
        }
    }

    pub(super) async fn settle(&mut self, token: i64, reservation: &Value, held: i64) {
        let (mark, quota) = (self.next_mark(), self.rng.random_range(0..=held * 2));
        let body = json!({ "reservation_id": reservation, "quota": quota, "prompt_tokens": mark });
        let settle = Call::post("settle", SETTLE, &self.world.gateway, body.clone());
        let entry = |outcome, quota| Entry { mark, token, quota, outcome, has_request_id: false };
        match self.repeat_until_known(&settle, &[]).await {
            Outcome::Done(data, _) => {
                let (charged, shortfall) = (data["charged"].as_i64().unwrap(), data["shortfall"].as_i64().unwrap());
                if charged + shortfall != quota {
                    self.world.record_finding("a settlement has a wrong answer", &format!("{data} to {quota}"));
                }
                self.world.records.add(entry(LedgerOutcome::Charged, charged));
            }
            Outcome::Refused => self.world.records.add(entry(LedgerOutcome::Refused, quota)),
            Outcome::Unknown => {
                self.world.records.add_unresolved(UnresolvedOperation {
                    entry: entry(LedgerOutcome::Unclear, quota),
                    path: SETTLE,
                    body,
                });
            }
        }
    }
}
