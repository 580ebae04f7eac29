//! The fields of a key as options, for creating and changing one. Only what is named is sent.

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::members;
use super::period_limits::{PeriodLimitArgs, named_limits};
use super::values::{Expiry, limit_arg};
use keymeter::domain::time::UnixTime;

/// Options that `key create` and `key update` share.
#[derive(Debug, Args)]
pub struct KeyFields {
    /// When the key stops working: never, a time from now (12h, 90d, 2w), a day (2027-01-31, from 00:00 UTC on), or
    /// 2027-01-31T12:00:00Z.
    #[arg(long, value_name = "WHEN", value_parser = Expiry::parse, help_heading = "Key")]
    expires: Option<Expiry>,
    /// Models that the key may use, separated by commas; `gpt-4*` is a pattern. `all` allows every model.
    #[arg(long, value_name = "NAMES", help_heading = "Key")]
    models: Option<String>,
    /// Addresses and networks that may use the key, separated by commas: 10.0.0.0/8,192.0.2.7. `all` allows every
    /// address.
    #[arg(long, value_name = "NETWORKS", help_heading = "Key")]
    addresses: Option<String>,
    #[command(flatten)]
    plain: PlainFields,
    #[command(flatten)]
    period_limits: PeriodLimitArgs,
    /// Requests in a minute, or none.
    #[arg(long, value_name = "NUMBER", value_parser = limit_arg, help_heading = "Limits")]
    requests_per_minute: Option<i64>,
    /// Model tokens in a minute, or none.
    #[arg(long, value_name = "NUMBER", value_parser = limit_arg, help_heading = "Limits")]
    tokens_per_minute: Option<i64>,
    /// Requests at the same time, or none.
    #[arg(long, value_name = "NUMBER", value_parser = limit_arg, help_heading = "Limits")]
    concurrency: Option<i64>,
}

/// Fields that the API writes like their options.
#[derive(Debug, Args, Serialize)]
struct PlainFields {
    /// The group; an empty text is the owner's group.
    #[arg(long, help_heading = "Key")]
    group: Option<String>,
    /// A note of the owner.
    #[arg(long, value_name = "TEXT", help_heading = "Key")]
    note: Option<String>,
    /// Whether users of the key see the addresses of its requests.
    #[arg(long, value_name = "YES", help_heading = "Key", value_parser = clap::builder::BoolishValueParser::new())]
    show_addresses: Option<bool>,
}

impl KeyFields {
    /// The fields that were named, as the API writes them.
    pub fn body(&self, now: UnixTime) -> Map<String, Value> {
        let addresses = self.addresses.as_deref().map(|addresses| if addresses == "all" { "" } else { addresses });
        let rates = [
            ("requests_per_minute", self.requests_per_minute),
            ("tokens_per_minute", self.tokens_per_minute),
            ("concurrency", self.concurrency),
        ];
        let mut body = members([
            ("expired_time", self.expires.map(|expiry| expiry.timestamp(now).into())),
            ("model_limits_enabled", self.models.as_deref().map(|models| (models != "all").into())),
            // The names stay where every model is allowed, as in the dashboard.
            ("model_limits", self.models.as_deref().filter(|&models| models != "all").map(Into::into)),
            ("allow_ips", addresses.map(Into::into)),
            ("period_limits", self.period_limits.body()),
            ("rate_limits", named_limits(&rates)),
        ]);
        if let Value::Object(plain) = json!(self.plain) {
            body.extend(plain.into_iter().filter(|(_, value)| !value.is_null()));
        }
        body
    }

    /// What its members are called in the API, and which option named them.
    pub fn options(&self) -> Vec<(&'static str, &'static str)> {
        let others = [
            ("expired_time", "--expires"),
            ("model_limits", "--models"),
            ("allow_ips", "--addresses"),
            ("rate_limits.requests_per_minute", "--requests-per-minute"),
            ("rate_limits.tokens_per_minute", "--tokens-per-minute"),
            ("rate_limits.concurrency", "--concurrency"),
            ("group", "--group"),
            ("note", "--note"),
        ];
        [self.period_limits.options().as_slice(), &others].concat()
    }
}
