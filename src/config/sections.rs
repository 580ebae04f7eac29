//! The sections of the settings as types. `config/default.toml` documents each setting.

use std::num::NonZeroU32;
use std::path::PathBuf;

use ipnet::IpNet;
use secrecy::SecretString;
use serde::Deserialize;

use crate::domain::bounds::MAX_LABEL_CHARS;
use crate::domain::calendar::Calendar;
use crate::domain::cell::CellLabel;
use crate::domain::client_addresses::ClientAddresses;
use crate::domain::ip_allowlist::network;
use crate::domain::page::FirstPage;
use crate::domain::text::hides_something;
use crate::domain::usage::UnlimitedLimit;
use crate::telemetry::MetricsAccess;
use crate::telemetry::log::LogFormat;

/// The most characters of `server.name` and of `accounts.contact`.
const MAX_LINE_CHARS: usize = 255;

/// The name of an installation that has no other.
const PRODUCT_NAME: &str = "Keymeter";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    #[serde(deserialize_with = "server_name")]
    pub name: String,
    pub listen: String,
    #[serde(deserialize_with = "networks")]
    pub trusted_proxies: Vec<IpNet>,
    pub request_timeout_seconds: u64,
    pub header_timeout_seconds: NonZeroU32,
    pub idle_timeout_seconds: NonZeroU32,
    pub max_connections: NonZeroU32,
    pub stop_delay_seconds: u64,
    pub drain_seconds: u64,
    pub max_clock_skew_seconds: u32,
    pub metrics: MetricsAccess,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    pub errors_as_200: bool,
    pub secure_cookies: SecureCookies,
    pub public_url: String,
}

/// `http.secure_cookies`
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecureCookies {
    Auto,
    Always,
    Never,
}

impl UsageSettings {
    /// The days and weeks of usage and of limits.
    pub const fn calendar(&self) -> Calendar {
        Calendar { zone: self.time_zone, week_starts: self.week_starts }
    }
}

impl HttpSettings {
    /// Whether the session cookie is for HTTPS alone.
    pub fn cookies_are_secure(&self) -> bool {
        match self.secure_cookies {
            SecureCookies::Auto => self.public_url.starts_with("https://"),
            SecureCookies::Always => true,
            SecureCookies::Never => false,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DashboardSettings {
    pub dir: PathBuf,
    #[serde(deserialize_with = "dashboard_name")]
    pub name: String,
    #[serde(deserialize_with = "path")]
    pub logo: Option<PathBuf>,
    #[serde(deserialize_with = "web_address")]
    pub api_base_url: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSettings {
    #[serde(deserialize_with = "secret")]
    pub url: Option<SecretString>,
    #[serde(deserialize_with = "path")]
    pub programs: Option<PathBuf>,
    pub shared_buffers_mb: u32,
    pub connections: u32,
    pub plan_cache_mode: PlanCacheMode,
    pub wait_seconds: u64,
    pub acquire_seconds: u64,
    pub statement_timeout_seconds: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSettings {
    #[serde(deserialize_with = "cell_label")]
    pub label: CellLabel,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretsSettings {
    #[serde(deserialize_with = "secret")]
    pub master_key: Option<SecretString>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootSettings {
    #[serde(deserialize_with = "secret")]
    pub password: Option<SecretString>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountsSettings {
    pub registration: Registration,
    pub token_api: TokenApi,
    #[serde(deserialize_with = "contact")]
    pub contact: String,
    pub initial_quota: i64,
    pub initial_group: String,
    pub max_tokens: i64,
}

/// `database.plan_cache_mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanCacheMode {
    ForceGenericPlan,
    Auto,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokensSettings {
    pub restore_days: u32,
}

/// `accounts.registration`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    Closed,
    Open,
}

/// `accounts.token_api`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenApi {
    ByRequest,
    Enabled,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsSettings {
    pub search_per_minute: u32,
    pub login_per_minute: u32,
    pub usage_per_minute: u32,
    pub drop_in_per_minute: u32,
    pub wrong_keys_per_minute: u32,
    pub wrong_credentials_per_minute: u32,
    pub register_per_minute: u32,
    pub writes_per_minute: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageSettings {
    #[serde(deserialize_with = "zone")]
    pub time_zone: chrono_tz::Tz,
    #[serde(deserialize_with = "weekday")]
    pub week_starts: chrono::Weekday,
    pub retention_days: u32,
    pub client_addresses: ClientAddresses,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerSettings {
    pub lanes: u32,
    pub patience_seconds: NonZeroU32,
    pub queue: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompatSettings {
    pub client: ClientOf,
    pub list_key: ListKey,
    pub first_page: FirstPage,
    pub unlimited_limit: UnlimitedLimit,
}

/// `compat.client`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientOf {
    NewApi,
    OneApi,
}

/// `compat.list_key`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListKey {
    Empty,
    Masked,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    pub filter: String,
    pub format: LogFormat,
    pub otlp_endpoint: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelsSettings {
    pub names: Vec<String>,
}

/// An empty text is an absent secret.
fn secret<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(if text.is_empty() { None } else { Some(SecretString::from(text)) })
}

/// An empty text is an absent path.
fn path<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(if text.is_empty() { None } else { Some(text.into()) })
}

/// An empty text is the name of the machine.
fn server_name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = line::<D::Error>(&String::deserialize(deserializer)?, MAX_LINE_CHARS)?;
    if !name.is_empty() {
        return Ok(name);
    }
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let machine = line::<D::Error>(&machine, MAX_LINE_CHARS).unwrap_or_default();
    Ok(if machine.is_empty() { "unnamed".to_owned() } else { machine })
}

/// An empty text is the name of the product.
fn dashboard_name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = line::<D::Error>(&String::deserialize(deserializer)?, MAX_LABEL_CHARS)?;
    Ok(if name.is_empty() { PRODUCT_NAME.to_owned() } else { name })
}

fn contact<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    line(&String::deserialize(deserializer)?, MAX_LINE_CHARS)
}

/// A text of one line, trimmed; may be empty.
fn line<E: serde::de::Error>(text: &str, max_chars: usize) -> Result<String, E> {
    let text = text.trim();
    if text.chars().count() > max_chars || text.chars().any(char::is_control) || hides_something(text) {
        let what = format!("it must have at most {max_chars} characters, without control or invisible characters");
        return Err(E::custom(what));
    }
    Ok(text.to_owned())
}

/// Networks, or single addresses.
fn networks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let wrong = |text: &String| serde::de::Error::custom(format!("{text:?} is neither an address nor a network"));
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| network(text).ok_or_else(|| wrong(text))).collect()
}

/// Empty, or an address without a slash at its end. Quotes are refused, because the address becomes part of programs.
fn web_address<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let address = text.trim_end_matches('/');
    let is_web = |uri: &http::Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none();
    let is_valid = address.is_empty()
        || (!address.contains(['\'', '"', '`', '\\', '$'])
            && address.parse::<http::Uri>().is_ok_and(|uri| is_web(&uri)));
    if is_valid {
        Ok(address.to_owned())
    } else {
        Err(serde::de::Error::custom(format!("{text:?} is not an address, such as \"https://llm.example.org/v1\"")))
    }
}

fn cell_label<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<CellLabel, D::Error> {
    let text = String::deserialize(deserializer)?;
    CellLabel::parse(&text).map_err(serde::de::Error::custom)
}

fn weekday<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<chrono::Weekday, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map_err(|_| serde::de::Error::custom(format!("{name:?} is not a day of the week, such as \"monday\"")))
}

fn zone<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<chrono_tz::Tz, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse()
        .map_err(|_| serde::de::Error::custom(format!("{name:?} is not a time zone, such as \"Europe/Berlin\"")))
}
