//! The state that every handler shares.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ipnet::IpNet;

use super::dashboard::files::DashboardFiles;
use super::dashboard::logo::Logo;
use super::same_site::Cookies;
use crate::domain::page::FirstPage;
use crate::domain::setting::Setting;
use crate::domain::usage::UnlimitedLimit;
use crate::service::access_tokens::AccessTokens;
use crate::service::audit::Audit;
use crate::service::authenticator::Authenticator;
use crate::service::core::Core;
use crate::service::enablement::Enablement;
use crate::service::forecasts::Forecasts;
use crate::service::foreign_keys::KeyReader;
use crate::service::gateways::Gateways;
use crate::service::imports::Imports;
use crate::service::keys::Keys;
use crate::service::ledger::Ledger;
use crate::service::old_keys::OldKeys;
use crate::service::overview::Overviews;
use crate::service::price_versions::PriceVersions;
use crate::service::prices::Prices;
use crate::service::request_history::RequestHistory;
use crate::service::sessions::Sessions;
use crate::service::sign_in::SignIn;
use crate::service::sign_in_limits::SignInLimits;
use crate::service::system::System;
use crate::service::tokens::Tokens;
use crate::service::usage::Usage;
use crate::service::usage_reports::UsageReports;
use crate::service::users::{AccountRules, Users};
use crate::telemetry::requests::HttpMetrics;
use crate::telemetry::{Metrics, MetricsAccess};

/// The services and settings that handlers use.
pub struct AppState {
    pub core: Core,
    pub tokens: Tokens,
    pub keys: Keys,
    pub old_keys: OldKeys,
    /// Recognises API keys where none belongs.
    pub key_reader: KeyReader,
    pub usage: Usage,
    pub usage_reports: UsageReports,
    pub request_history: RequestHistory,
    pub forecasts: Forecasts,
    pub overviews: Overviews,
    pub users: Users,
    pub sign_in: SignIn,
    pub sign_in_limits: Arc<SignInLimits>,
    pub sessions: Sessions,
    pub access_tokens: AccessTokens,
    pub enablement: Enablement,
    pub gateways: Gateways,
    pub audit: Audit,
    pub imports: Imports,
    pub system: System,
    pub account_rules: Arc<AccountRules>,
    pub ledger: Arc<Ledger>,
    pub prices: Arc<Prices>,
    pub price_versions: PriceVersions,
    pub authenticator: Arc<Authenticator>,
    pub metrics: Arc<Metrics>,
    pub http_metrics: HttpMetrics,
    /// True once the server begins to stop.
    pub draining: Arc<AtomicBool>,
    /// True when a newer program needs the database for itself.
    pub is_outdated: Arc<AtomicBool>,
    pub dashboard: Arc<DashboardFiles>,
    /// `dashboard.logo`, if it is set.
    pub logo: Option<Logo>,
    pub settings: ApiSettings,
}

/// The settings that handlers use.
pub struct ApiSettings {
    pub metrics_access: MetricsAccess,
    pub trusted_proxies: Vec<IpNet>,
    pub cookies: Cookies,
    pub request_timeout: Duration,
    pub errors_as_200: bool,
    /// `compat.client` is one-api.
    pub one_api: bool,
    pub masked_list_key: bool,
    pub first_page: FirstPage,
    pub unlimited_limit: UnlimitedLimit,
    pub models: Vec<String>,
    pub time_zone: String,
    /// `http.public_url`, the address that users type; may be empty.
    pub public_url: String,
    /// `dashboard.name`, the name of this installation.
    pub dashboard_name: String,
    /// `dashboard.api_base_url`; may be empty.
    pub api_base_url: String,
    /// All settings, for administrators.
    pub shown: Vec<Setting>,
}
