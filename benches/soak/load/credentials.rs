//! Wrong keys, and sign-ins with right and wrong passwords.

use keymeter::domain::cell::CellLabel;
use keymeter::domain::key::ApiKey;
use rand::RngExt;
use serde_json::{Value, json};

use super::{CHARGE, Client, LIMITED};
use crate::answers::{Call, Outcome};

impl Client {
    pub(super) async fn try_wrong_keys(&mut self) {
        let gateway = self.world.gateway.clone();
        // A well-formed key that does not exist, and a key with a wrong checksum.
        let unknown = ApiKey::generate(&mut self.rng, CellLabel::default()).expose().to_owned();
        let key = if self.rng.random_bool(0.5) { unknown } else { format!("{}x", &unknown[..unknown.len() - 1]) };
        match self.rng.random_range(0..5) {
            0 => {
                let verify = Call::post("wrong key", "/api/gateway/verify", gateway, json!({ "key": key }));
                if let Outcome::Done(data, _) = self.send_to_any(&verify, &[]).await
                    && data["reason"] != "invalid_key"
                {
                    self.world.record_finding("a wrong key was accepted", &data.to_string());
                }
            }
            1 => {
                let charge = Call::post("wrong key", CHARGE, gateway, json!({ "key": key, "quota": 1 }));
                self.expect_key_refused(&charge, &["invalid_key"]).await;
            }
            2 => {
                let usage = Call::get("wrong key", "/api/usage/token/", format!("Bearer {key}"));
                self.expect_key_refused(&usage, &["invalid_key", "rate_limited"]).await;
            }
            3 => {
                let charge =
                    Call::post("wrong key", CHARGE, format!("Bearer {key}"), json!({ "key": key, "quota": 1 }));
                self.expect_key_refused(&charge, &["invalid_gateway", "rate_limited"]).await;
            }
            _ => {
                let list = Call::get("wrong key", "/api/token/", key);
                self.expect_key_refused(&list, &["invalid_credential", "not_signed_in", "rate_limited"]).await;
            }
        }
    }

    pub(super) async fn expect_key_refused(&mut self, call: &Call, refusals: &[&str]) {
        if let Outcome::Done(data, _) = self.send_to_any(call, refusals).await {
            self.world.record_finding("a wrong key was accepted", &data.to_string());
        }
    }

    /// Signs in with the correct password and out again, or with a wrong password.
    pub(super) async fn sign_in_and_out(&mut self) {
        let at = self.rng.random_range(0..self.world.owners.len());
        let (name, password) = (self.world.owners[at].name.clone(), self.world.owners[at].password.clone());
        let is_right = self.rng.random_bool(0.7);
        let password = if is_right { password } else { "not the password".to_owned() };
        let sign_in = Call::post("sign in", "/api/user/login", "", json!({ "username": name, "password": password }));
        let refusals: &[&str] = if is_right { &LIMITED } else { &["wrong_credentials", "rate_limited"] };
        let Outcome::Done(user, cookie) = self.send_to_any(&sign_in, refusals).await else {
            return;
        };
        if !is_right || user["username"] != name.as_str() {
            self.world.record_finding("a sign-in has a wrong answer", &user.to_string());
        }
        let Some(cookie) = cookie else {
            return self.world.record_finding("a sign-in has a wrong answer", "there is no cookie");
        };
        let show = Call { cookie: cookie.clone(), ..Call::get("session", "/api/user/self", "") };
        self.send_to_any(&show, &[]).await;
        let sign_out = Call { cookie, ..Call::post("sign out", "/api/user/logout", "", Value::Null) };
        self.send_to_any(&sign_out, &[]).await;
    }
}
