//! What people see of a key.

use serde::Deserialize;
use serde_json::Value;

use super::terminal::{dollars, print_facts, time};

/// What people see of a key.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
pub struct Key {
    pub id: i64,
    /// The owner, where the keys are those of all users.
    pub username: Option<String>,
    pub name: String,
    #[serde(default)]
    pub key: String,
    pub masked_key: String,
    pub state: String,
    disabled_by: Option<String>,
    created_time: i64,
    accessed_time: i64,
    expired_time: i64,
    remain_quota: i64,
    unlimited_quota: bool,
    pub used_quota: i64,
    model_limits_enabled: bool,
    model_limits: String,
    allow_ips: String,
    group: String,
    note: String,
    period_limits: Value,
    rate_limits: Value,
}

#[derive(Debug, Deserialize)]
pub struct DeletedKey {
    #[serde(flatten)]
    pub key: Key,
    pub deleted_time: i64,
    pub restorable_until: i64,
}

impl Key {
    pub fn remaining(&self) -> String {
        if self.unlimited_quota { "unlimited".to_owned() } else { dollars(self.remain_quota) }
    }

    pub fn expires(&self) -> String {
        if self.expired_time < 0 { "never".to_owned() } else { time(self.expired_time) }
    }

    pub fn print(&self) {
        let or = |text: &str, empty: &str| if text.is_empty() { empty.to_owned() } else { text.to_owned() };
        let state = match &self.disabled_by {
            Some(role) => format!("{} (by {role})", self.state),
            None => self.state.clone(),
        };
        let models = if self.model_limits_enabled { self.model_limits.clone() } else { "all".to_owned() };
        print_facts(&[
            ("id", self.id.to_string()),
            ("name", self.name.clone()),
            ("key", self.masked_key.clone()),
            ("state", state),
            ("remaining", self.remaining()),
            ("used", dollars(self.used_quota)),
            ("expires", self.expires()),
            ("created", time(self.created_time)),
            (
                "last used",
                if self.accessed_time > self.created_time { time(self.accessed_time) } else { "never".into() },
            ),
            ("models", models),
            ("addresses", or(&self.allow_ips.replace('\n', ","), "all")),
            ("group", or(&self.group, "the owner's")),
            ("period limits", period_limits(&self.period_limits)),
            ("rate limits", rate_limits(&self.rate_limits)),
            ("note", self.note.clone()),
        ]);
    }
}

/// The limits that renew, of a key or a user: `$10.00 a day, $50.00 a month`.
pub fn period_limits(limits: &Value) -> String {
    limits_of(limits, |period, units| format!("{} a {period}", dollars(units)))
}

fn rate_limits(limits: &Value) -> String {
    limits_of(limits, |name, limit| format!("{} {limit}", name.replace('_', " ")))
}

/// The members of an object of limits that limit something.
fn limits_of(limits: &Value, wording: impl Fn(&str, i64) -> String) -> String {
    let members = limits.as_object().into_iter().flatten();
    let set: Vec<String> = members
        .filter_map(|(name, limit)| Some((name, limit.as_i64().filter(|limit| *limit >= 0)?)))
        .map(|(name, limit)| wording(name, limit))
        .collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}
