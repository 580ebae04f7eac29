//! The services of a process, and what they share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use tokio::sync::mpsc;

use super::database::Opened;
use super::error::StartError;
use super::pool_sizes::PoolSizes;
use crate::api::dashboard::{DashboardFiles, Logo};
use crate::api::{
    router,
    same_site::Cookies,
    state::{ApiSettings, AppState},
};
use crate::config::{ClientOf, Config, ListKey, Registration, TokenApi};
use crate::domain::clock::Clock;
use crate::domain::group::Groups;
use crate::domain::id::UserId;
use crate::domain::ip_allowlist;
use crate::domain::money::Quota;
use crate::service::access_tokens::AccessTokens;
use crate::service::acknowledged::LastAnswers;
use crate::service::audit::Audit;
use crate::service::authenticator::Authenticator;
use crate::service::base::Base;
use crate::service::clock::ClockReader;
use crate::service::clock_repair::{ClockRepairer, ClockRepairs};
use crate::service::core::Core;
use crate::service::database_watch::DatabaseWatch;
use crate::service::enablement::Enablement;
use crate::service::forecasts::Forecasts;
use crate::service::foreign_keys::{ForeignKeys, KeyReader};
use crate::service::gateways::Gateways;
use crate::service::imports::Imports;
use crate::service::invalidator::Invalidator;
use crate::service::jobs;
use crate::service::key_cache::KeyCache;
use crate::service::key_holders::KeyHolders;
use crate::service::keys::Keys;
use crate::service::ledger::{Ledger, LedgerParts, LedgerRules};
use crate::service::old_key_uses::OldKeyUses;
use crate::service::old_keys::OldKeys;
use crate::service::outlooks::Outlooks;
use crate::service::overview::Overviews;
use crate::service::own_tokens::OwnTokens;
use crate::service::passwords::{HashCost, Passwords};
use crate::service::price_versions::PriceVersions;
use crate::service::prices::Prices;
use crate::service::rate_limiter::{RateLimiter, RequestLimits};
use crate::service::recent_balances::RecentBalances;
use crate::service::refused_requests::RefusedRequests;
use crate::service::report_queue::ReportQueue;
use crate::service::request_history::RequestHistory;
use crate::service::rng::Rng;
use crate::service::servers::Servers;
use crate::service::sessions::Sessions;
use crate::service::sign_in::SignIn;
use crate::service::sign_in_limits::SignInLimits;
use crate::service::system::System;
use crate::service::tokens::{TokenRules, Tokens};
use crate::service::usage::Usage;
use crate::service::usage_reports::UsageReports;
use crate::service::users::{AccountRules, Users};
use crate::storage::loader::Loader;
use crate::storage::sessions::SessionTable;
use crate::telemetry::caches::InvalidationMetrics;
use crate::telemetry::clock::ClockMetrics;
use crate::telemetry::jobs::JobMetrics;
use crate::telemetry::recent_figures::RecentMetrics;
use crate::telemetry::requests::HttpMetrics;
use crate::telemetry::{self, Metrics};
use crate::version::{self, VERSION};

/// The assembled service.
pub struct App {
    pub state: Arc<AppState>,
    pub router: Router,
    pub foreign_keys: Arc<ForeignKeys>,
    pub refused_requests: Arc<RefusedRequests>,
    pub old_key_uses: Arc<OldKeyUses>,
    pub prices: Arc<Prices>,
    pub(super) clock_reader: Arc<ClockReader>,
    pub(super) job_metrics: JobMetrics,
    pub(super) recent: Arc<RecentMetrics>,
    pub(super) servers: Arc<Servers>,
    /// Ends the usage that was counted in the future. Taken by the background task.
    pub repairer: Option<(ClockRepairer, mpsc::Receiver<UserId>)>,
    /// Taken when the service begins.
    pub(super) watch: Option<DatabaseWatch>,
}

impl App {
    /// # Errors
    /// Settings that contradict each other.
    #[expect(clippy::too_many_lines, reason = "names every part of the service once")]
    pub fn assemble(
        opened: Opened,
        config: &Config,
        clock: Arc<dyn Clock>,
        rng: Rng,
        cost: HashCost,
    ) -> Result<Self, StartError> {
        let Opened { db, vault } = opened;
        let base = Base { db, clock, rng, vault };
        let Base { db, clock, rng, vault } = &base;
        let mut registry = telemetry::registry(&config.server.name, version::commit());
        let http_metrics = HttpMetrics::register(&mut registry);
        db.register_metrics(&mut registry);
        let groups = Groups::new(config.groups.clone());
        let calendar = config.usage.calendar();
        let account_rules = Arc::new(account_rules(config, &groups)?);
        let rate_limiter = Arc::new(RateLimiter::new(request_limits(config), clock));
        let foreign_keys = Arc::new(ForeignKeys::new(&base));
        let counted = Arc::clone(&foreign_keys);
        telemetry::caches::register_foreign_keys(&mut registry, move || counted.len() as u64);
        let key_reader = KeyReader::new(vault.clone(), Arc::clone(&foreign_keys));
        let authenticator = Arc::new(Authenticator::new(&base, Arc::clone(&rate_limiter)));
        let recent_balances = Arc::new(RecentBalances::new());
        let key_cache = Arc::new(KeyCache::start(&base, Arc::clone(&recent_balances), &mut registry));
        let prices = Arc::new(Prices::new(&base));
        let invalidator = Invalidator::new(
            Arc::clone(&authenticator),
            Arc::clone(&key_cache),
            Arc::clone(&foreign_keys),
            Arc::clone(&prices),
            InvalidationMetrics::register(&mut registry),
        );
        let core = Core::new(&base, invalidator, rate_limiter, calendar, groups);

        let addresses = config.usage.client_addresses;
        let refused_requests = Arc::new(RefusedRequests::new(&base, addresses, &mut registry));
        let old_key_uses = Arc::new(OldKeyUses::new(&base));
        let (repairs, repair_queue) = ClockRepairs::new();
        let repairer = ClockRepairer::new(core.clone());
        let clock_reader =
            Arc::new(ClockReader::new(db.clone(), Arc::clone(clock), ClockMetrics::register(&mut registry)));
        let PoolSizes { lanes, flushes, .. } = PoolSizes::of(config);
        let rules = LedgerRules { lanes, flushes, queue: config.ledger.queue, client_addresses: addresses };
        let (last_answers, is_outdated) = (Arc::new(LastAnswers::default()), Arc::new(AtomicBool::new(false)));
        let data_dir = config.database.url.is_none().then(|| config.data_dir.clone());
        let watch = DatabaseWatch::new(
            core.clone(),
            Arc::clone(&last_answers),
            Arc::clone(&is_outdated),
            data_dir,
            &mut registry,
        );
        let parts = LedgerParts {
            key_reader: key_reader.clone(),
            key_cache,
            recent_balances,
            clock_reader: Arc::clone(&clock_reader),
            repairs,
            refused_requests: Arc::clone(&refused_requests),
            prices: Arc::clone(&prices),
            old_key_uses: Arc::clone(&old_key_uses),
            last_answers: Arc::clone(&last_answers),
        };
        let ledger = Arc::new(Ledger::start(core.clone(), parts, &rules, &mut registry));
        let job_metrics = JobMetrics::register(&mut registry, jobs::names());
        let metrics = Arc::new(Metrics::new(registry));
        let recent = Arc::new(RecentMetrics::new(Arc::clone(&metrics)));
        let servers = Arc::new(Servers::new(&base, (&config.server.name, VERSION), &config.shown));

        let own_tokens = Arc::new(Loader::start(OwnTokens(db.clone())));
        let key_holders = Arc::new(KeyHolders::new(&core, key_reader.clone()));
        let passwords = Passwords::new(rng.clone(), cost);
        let sign_in_limits = Arc::new(SignInLimits::new(&base, config.limits.login_per_minute));
        let reports = Arc::new(ReportQueue::new());
        let token_rules = TokenRules {
            max_tokens: config.accounts.max_tokens,
            restore_days: config.tokens.restore_days,
            token_api_open: account_rules.token_api_open,
            cell: config.cell.label,
        };
        let logo = config.dashboard.logo.as_deref().map(Logo::load).transpose();
        let outlooks = Outlooks::new(core.clone(), Arc::clone(&prices), Arc::clone(&account_rules));
        let state = Arc::new(AppState {
            tokens: Tokens::new(core.clone(), token_rules),
            old_keys: OldKeys::new(core.clone(), config.cell.label, account_rules.token_api_open),
            keys: Keys::new(core.clone(), Arc::clone(&own_tokens)),
            key_reader,
            usage: Usage::new(core.clone(), Arc::clone(&key_holders), own_tokens),
            request_history: RequestHistory::new(
                core.clone(),
                key_holders,
                Arc::clone(&reports),
                outlooks.clone(),
                Arc::clone(&prices),
            ),
            usage_reports: UsageReports::new(core.clone(), Arc::clone(&reports)),
            forecasts: Forecasts::new(core.clone()),
            overviews: Overviews::new(core.clone(), Arc::clone(&reports), outlooks),
            users: Users::new(core.clone(), Arc::clone(&sign_in_limits), passwords.clone(), Arc::clone(&account_rules)),
            sign_in: SignIn::new(core.clone(), Arc::clone(&sign_in_limits), passwords, Arc::clone(&account_rules)),
            sign_in_limits,
            sessions: Sessions::new(core.clone()),
            access_tokens: AccessTokens::new(core.clone()),
            enablement: Enablement::new(core.clone(), Arc::clone(&account_rules)),
            gateways: Gateways::new(core.clone()),
            imports: Imports::new(core.clone()),
            audit: Audit::new(core.clone(), reports),
            account_rules,
            ledger,
            price_versions: PriceVersions::new(core.clone(), Arc::clone(&prices)),
            prices: Arc::clone(&prices),
            authenticator,
            system: System::new(core.clone(), Arc::clone(&servers), Arc::clone(&recent), job_metrics.clone()),
            metrics,
            http_metrics,
            draining: Arc::default(),
            is_outdated,
            dashboard: DashboardFiles::load(&config.dashboard.dir)
                .map_err(|error| StartError::Setting("dashboard.dir", error.to_string()))?,
            logo: logo.map_err(|error| StartError::Setting("dashboard.logo", error.to_string()))?,
            settings: api_settings(config),
            core,
        });
        let sessions = SessionTable::new(db.clone(), Arc::clone(clock), vault.digests().clone());
        let router = router::router(Arc::clone(&state), sessions, config.http.cookies_are_secure());
        Ok(Self {
            state,
            router,
            foreign_keys,
            refused_requests,
            old_key_uses,
            prices,
            clock_reader,
            job_metrics,
            recent,
            servers,
            repairer: Some((repairer, repair_queue)),
            watch: Some(watch),
        })
    }
}

fn api_settings(config: &Config) -> ApiSettings {
    ApiSettings {
        metrics_access: config.server.metrics,
        trusted_proxies: config.server.trusted_proxies.iter().copied().map(ip_allowlist::canonical).collect(),
        cookies: if config.http.cookies_are_secure() { Cookies::ForHttpsAlone } else { Cookies::ForAll },
        request_timeout: Duration::from_secs(config.server.request_timeout_seconds),
        errors_as_200: config.http.errors_as_200,
        unlimited_limit: config.compat.unlimited_limit,
        one_api: config.compat.client == ClientOf::OneApi,
        masked_list_key: config.compat.list_key == ListKey::Masked,
        first_page: config.compat.first_page,
        models: config.models.names.clone(),
        time_zone: config.usage.time_zone.to_string(),
        public_url: config.http.public_url.clone(),
        dashboard_name: config.dashboard.name.clone(),
        api_base_url: config.dashboard.api_base_url.clone(),
        shown: config.shown.clone(),
    }
}

fn request_limits(config: &Config) -> RequestLimits {
    let limits = &config.limits;
    RequestLimits {
        search: limits.search_per_minute,
        login: limits.login_per_minute,
        usage: limits.usage_per_minute,
        drop_in: limits.drop_in_per_minute,
        wrong_keys: limits.wrong_keys_per_minute,
        wrong_credentials: limits.wrong_credentials_per_minute,
        register: limits.register_per_minute,
        writes: limits.writes_per_minute,
    }
}

fn account_rules(config: &Config, groups: &Groups) -> Result<AccountRules, StartError> {
    let settings = &config.accounts;
    if !groups.contains(&settings.initial_group) {
        let known = format!("it must be one of the groups: {}", groups.names());
        return Err(StartError::Setting("accounts.initial_group", known));
    }
    let initial_quota = Quota::grant(settings.initial_quota)
        .map_err(|error| StartError::Setting("accounts.initial_quota", error.to_string()))?;
    Ok(AccountRules {
        registration_open: settings.registration == Registration::Open,
        token_api_open: settings.token_api == TokenApi::Enabled,
        contact: settings.contact.clone(),
        initial_quota,
        initial_group: settings.initial_group.clone(),
    })
}
