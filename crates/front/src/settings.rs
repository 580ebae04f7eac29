//! What an operator sets.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use http::Uri;
use ipnet::IpNet;
use keymeter_meter::settings::MeterSettings;
use secrecy::SecretString;

/// The settings of a front.
#[derive(Debug, Clone)]
pub struct FrontSettings {
    /// Where clients send their requests, such as `127.0.0.1:8080`.
    pub listen: String,
    /// Where Keymeter is. A path stands before those of its API.
    pub url: Uri,
    /// The credential of this gateway at Keymeter.
    pub credential: SecretString,
    /// The base URL of the API, as SDKs take it: its path replaces `/v1`.
    pub upstream: Uri,
    /// The upstream's own key. Without one, none is sent.
    pub upstream_key: Option<SecretString>,
    /// Certificates that may sign that of the upstream, instead of the system's.
    pub upstream_ca: Option<PathBuf>,
    /// Where `/healthz`, `/readyz` and `/metrics` are, if they are anywhere.
    pub operation_listen: Option<String>,
    pub options: FrontOptions,
}

/// Settings that have defaults.
#[derive(Debug, Clone)]
pub struct FrontOptions {
    /// Where the key goes on messages: the header `x-api-key`, as Anthropic has it, or `authorization`.
    pub messages_key: KeyHeader,
    /// Headers that each request to the upstream has, by name.
    pub upstream_headers: Vec<(String, String)>,
    /// Whose price of a model counts, if the price list has several.
    pub provider: Option<String>,
    /// Dollars that are held for each request, as decimal text, instead of what it may use.
    pub hold_usd: Option<String>,
    /// Seconds for which a hold lasts. It is extended for as long as an answer comes.
    pub ttl_seconds: u32,
    /// What becomes of the holds of a front that was killed.
    pub on_expiry: HoldExpiry,
    /// Requests that may be under way or wait for their settlement.
    pub max_requests: NonZeroUsize,
    /// The model that the answer names is charged, not the one that was asked for.
    pub answer_model: bool,
    /// Networks of proxies in front. `X-Forwarded-For` is believed only from these.
    pub trusted_proxies: Vec<IpNet>,
    /// What happens if a client leaves: its answer is read to the end, because the provider bills it, or the upstream
    /// is left too, because one's own machines stop then.
    pub on_leave: OnLeave,
    /// Seconds of silence after which the upstream is given up.
    pub read_timeout_seconds: u32,
    pub meter: MeterSettings,
}

/// A header that has the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyHeader {
    XApiKey,
    Authorization,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLeave {
    Read,
    Close,
}

impl Default for FrontOptions {
    fn default() -> Self {
        Self {
            messages_key: KeyHeader::XApiKey,
            upstream_headers: Vec::new(),
            provider: None,
            hold_usd: None,
            ttl_seconds: 3_600,
            on_expiry: HoldExpiry::Charge,
            max_requests: NonZeroUsize::MIN.saturating_add(9_999),
            answer_model: false,
            trusted_proxies: Vec::new(),
            on_leave: OnLeave::Read,
            read_timeout_seconds: 600,
            meter: MeterSettings::default(),
        }
    }
}
