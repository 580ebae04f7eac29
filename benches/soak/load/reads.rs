//! Calls that read: verify, lists, usage, administration.

use rand::RngExt;
use serde_json::json;

use super::{Client, LIMITED};
use crate::answers::{Call, Outcome};

impl Client {
    pub(super) async fn verify(&mut self) {
        let token = self.token();
        let body = json!({ "key": self.world.tokens[token].key, "quota": 1 });
        let verify = Call::post("verify", "/api/gateway/verify", &self.world.gateway, body);
        if let Outcome::Done(data, _) = self.send_to_any(&verify, &[]).await {
            let reason = data["reason"].as_str().unwrap_or_default();
            let is_explained = data["valid"] == true || self.refusals(token).contains(&reason);
            if !is_explained || data["token_id"] != self.world.tokens[token].id {
                self.world.record_finding("an unexpected answer of verify", &data.to_string());
            }
        }
    }

    pub(super) async fn read_usage(&mut self) {
        let (token, is_by_key) = (self.token(), self.rng.random_bool(0.6));
        let (token, owner) = self.token_and_owner(token);
        let call = if is_by_key {
            Call::get("usage by key", "/api/usage/token/", format!("Bearer {}", token.key))
        } else {
            Call::get("daily usage", format!("/api/token/{}/usage", token.id), &owner.access_token)
        };
        self.send_to_any(&call, &LIMITED).await;
    }

    pub(super) async fn read_tokens(&mut self) {
        let token = self.token();
        let (token, owner) = self.token_and_owner(token);
        let (id, key, access) = (token.id, token.key.clone(), owner.access_token.clone());
        match self.rng.random_range(0..10) {
            0..4 => {
                let page = self.rng.random_range(0..3);
                let list = Call::get("list", format!("/api/token/?p={page}&size=20"), access);
                if let Outcome::Done(data, _) = self.send_to_any(&list, &[]).await {
                    let items = data["items"].as_array().cloned().unwrap_or_default();
                    if items.iter().any(|item| item["key"] != "") || data["total"] == 0 {
                        self.world.record_finding("a list shows keys or no tokens", &data["total"].to_string());
                    }
                }
            }
            4..6 => {
                let search = Call::get("search", "/api/token/search?keyword=plenty", access);
                self.send_to_any(&search, &LIMITED).await;
            }
            _ => {
                let get = Call::get("get", format!("/api/token/{id}"), access);
                if let Outcome::Done(data, _) = self.send_to_any(&get, &[]).await
                    && data["key"] != key.as_str()
                {
                    self.world.record_finding("a token was read with another key", &format!("token {id}"));
                }
            }
        }
    }

    pub(super) async fn read_as_administrator(&mut self) {
        let path = ["/api/admin/audit", "/api/admin/users", "/api/admin/tokens"][self.rng.random_range(0..3)];
        let read = Call::get("administration", path, &self.world.root);
        self.send_to_any(&read, &[]).await;
    }
}
