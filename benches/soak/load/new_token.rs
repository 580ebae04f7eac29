//! A token from its creation to its deletion, used by one client alone.

use http::Method;
use serde_json::json;

use super::charges::ChargeOutcome;
use super::{Client, LIMITED, OF_WALLET};
use crate::answers::{Call, Outcome};

impl Client {
    /// Uses a token of this client alone, from creation to deletion, so that each correct answer is known. Stops early
    /// if an answer is missing, because that operation may still happen later.
    pub(super) async fn use_new_token(&mut self) {
        let owner = self.n % self.world.owners.len();
        let access = self.world.owners[owner].access_token.clone();
        let name = format!("passing {}.", self.n);
        let body = json!({ "name": name, "remain_quota": 500 });
        let create = Call::post("create", "/api/token/", &access, body);
        let Outcome::Done(made, _) = self.send_to_any(&create, &["token_limit_reached"]).await else {
            return self.delete_leftovers(&access, &name).await;
        };
        let (id, key) = (made["id"].as_i64().unwrap(), made["key"].as_str().unwrap().to_owned());
        if self.charge_and_edit(owner, id, &key, &access).await.is_none() {
            return self.delete_leftovers(&access, &name).await;
        }
        let delete = Call { method: Method::DELETE, ..Call::get("delete", format!("/api/token/{id}"), &access) };
        if !matches!(self.send_to_any(&delete, &[]).await, Outcome::Done(..)) {
            return self.delete_leftovers(&access, &name).await;
        }
        self.expect_refused(owner, id, &key, 1, "invalid_key").await;
    }

    /// `None` if an answer was missing.
    pub(super) async fn charge_and_edit(&mut self, owner: usize, id: i64, key: &str, access: &str) -> Option<()> {
        let put = |name, path: &str, body| Call { method: Method::PUT, ..Call::post(name, path, access, body) };
        let wallet: &[&str] = if self.world.owners[owner].is_rich { &[] } else { &OF_WALLET };
        let first = self.new_charge_of(id, key, owner, 40, true);
        if self.send_charge(&first, "charge once", None, wallet).await == ChargeOutcome::Unclear {
            return None;
        }
        for (status, refused) in [(2, Some("token_disabled")), (1, None)] {
            let switch = put("switch", "/api/token/?status_only=1", json!({ "id": id, "status": status }));
            let Outcome::Done(shown, _) = self.send_to_any(&switch, &[]).await else {
                return None;
            };
            if shown["status"] != status {
                self.world.record_finding("a switch has a wrong answer", &shown.to_string());
            }
            if let Some(reason) = refused {
                self.expect_refused(owner, id, key, 1, reason).await?;
            }
        }
        let edit = put("edit", "/api/token/", json!({ "id": id, "remain_quota": 7, "allow_ips": "10.0.0.0/8" }));
        let Outcome::Done(shown, _) = self.send_to_any(&edit, &[]).await else {
            return None;
        };
        if shown["remain_quota"] != 7 {
            self.world.record_finding("an edit has a wrong answer", &shown.to_string());
        }
        self.expect_refused(owner, id, key, 8, "token_quota_insufficient").await?;
        let last = self.new_charge_of(id, key, owner, 7, true);
        match self.send_charge(&last, "charge once", None, wallet).await {
            ChargeOutcome::Charged => self.expect_refused(owner, id, key, 1, "token_exhausted").await,
            ChargeOutcome::Refused => Some(()),
            ChargeOutcome::Unclear => None,
        }
    }

    /// L6: a change that one server has confirmed takes effect at once on all servers. `None` if the answer is unclear.
    pub(super) async fn expect_refused(
        &mut self,
        owner: usize,
        id: i64,
        key: &str,
        quota: i64,
        reason: &'static str,
    ) -> Option<()> {
        let charge = self.new_charge_of(id, key, owner, quota, true);
        match self.send_charge(&charge, "charge once", None, &[reason]).await {
            ChargeOutcome::Charged => {
                self.world.record_finding("L6: charged against the rules", &format!("token {id}: {reason}"));
            }
            ChargeOutcome::Refused => {}
            ChargeOutcome::Unclear => return None,
        }
        Some(())
    }

    /// Deletes the tokens that this client left behind when answers were missing.
    pub(super) async fn delete_leftovers(&mut self, access: &str, name: &str) {
        let search =
            Call::get("search", format!("/api/token/search?keyword={}&size=100", name.replace(' ', "%20")), access);
        let Outcome::Done(page, _) = self.send_to_any(&search, &LIMITED).await else {
            return;
        };
        let ids: Vec<i64> = page["items"].as_array().unwrap().iter().filter_map(|item| item["id"].as_i64()).collect();
        if !ids.is_empty() {
            let delete = Call::post("delete many", "/api/token/batch", access, json!({ "ids": ids }));
            self.send_to_any(&delete, &[]).await;
        }
    }
}
