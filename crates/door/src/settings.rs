//! What an operator sets.

use std::num::NonZeroUsize;

use clap::ValueEnum;
use http::Uri;
use ipnet::IpNet;
use keymeter_meter::settings::MeterSettings;
use secrecy::SecretString;

/// Where Keymeter is, and how its gateway meters.
#[derive(Debug, Clone)]
pub struct DoorSettings {
    /// Where Keymeter is. A path stands before those of its API.
    pub url: Uri,
    /// The credential of this gateway at Keymeter.
    pub credential: SecretString,
    pub options: DoorOptions,
}

/// Settings that have defaults.
#[derive(Debug, Clone)]
pub struct DoorOptions {
    /// Whose price of a model counts, if the price list has several.
    pub provider: Option<String>,
    /// Dollars that are held for each request, as decimal text, instead of what it may use.
    pub hold_usd: Option<String>,
    /// Seconds for which a hold lasts. It is extended for as long as an answer comes.
    pub ttl_seconds: u32,
    /// What becomes of the holds of a program that was killed.
    pub on_expiry: HoldExpiry,
    /// Requests that may be under way or wait for their settlement.
    pub max_requests: NonZeroUsize,
    /// The model that the answer names is charged, not the one that was asked for.
    pub answer_model: bool,
    /// Networks of proxies in front. `X-Forwarded-For` is believed only from these.
    pub trusted_proxies: Vec<IpNet>,
    /// Whether the address of a client has to be known, for the `allow_ips` of keys.
    pub checks_addresses: bool,
    pub meter: MeterSettings,
}

/// What becomes of a hold that nobody ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HoldExpiry {
    Charge,
    Release,
}

impl HoldExpiry {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Release => "release",
        }
    }
}

impl Default for DoorOptions {
    fn default() -> Self {
        Self {
            provider: None,
            hold_usd: None,
            ttl_seconds: 3_600,
            on_expiry: HoldExpiry::Charge,
            max_requests: NonZeroUsize::MIN.saturating_add(9_999),
            answer_model: false,
            trusted_proxies: Vec::new(),
            checks_addresses: true,
            meter: MeterSettings::default(),
        }
    }
}
