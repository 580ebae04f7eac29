//! The service inside the test: the real router over a real database.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use keymeter::api::state::AppState;
use keymeter::app::{App, Opened};
use keymeter::config::Config;
use keymeter::domain::bounds;
use keymeter::domain::clock::{Clock, ManualClock};
use keymeter::domain::price_settings::PriceSettings;
use keymeter::domain::time::UnixTime;
use keymeter::service::clock;
use keymeter::service::foreign_keys::ForeignKeys;
use keymeter::service::jobs::expire_overdue;
use keymeter::service::old_key_uses::OldKeyUses;
use keymeter::service::passwords::HashCost;
use keymeter::service::price_file::file_of;
use keymeter::service::prices::Prices;
use keymeter::service::refused_requests::RefusedRequests;
use keymeter::service::rng::Rng;
use keymeter::service::vault::{MasterKey, Vault};
use keymeter::storage::Db;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::caller::{Auth, Caller};
use super::{MASTER_KEY, ROOT_PASSWORD, START};

/// The service of one test.
pub struct TestApp {
    pub router: Router,
    pub clock: Arc<ManualClock>,
    pub pool: PgPool,
    pub foreign_keys: Arc<ForeignKeys>,
    pub refused_requests: Arc<RefusedRequests>,
    pub old_key_uses: Arc<OldKeyUses>,
    pub prices: Arc<Prices>,
}

impl TestApp {
    /// With the default settings and without rate limits: a test that needs a limit sets it.
    pub async fn new(pool: PgPool) -> Self {
        Self::with(pool, &[]).await
    }

    /// The same with these settings, given as environment variables: `("KEYMETER_ACCOUNTS__CONTACT", "…")`.
    pub async fn with(pool: PgPool, settings: &[(&str, &str)]) -> Self {
        Self::start(pool, None, settings).await
    }

    /// The same with a settings file.
    pub async fn with_file(pool: PgPool, file: &Path) -> Self {
        Self::start(pool, Some(file), &[]).await
    }

    async fn start(pool: PgPool, file: Option<&Path>, settings: &[(&str, &str)]) -> Self {
        let clock = Arc::new(ManualClock::at(UnixTime::new(START)));
        let app = assemble(&pool, clock.clone(), file, settings, 1);
        app.state.users.ensure_root(Some(&ROOT_PASSWORD.into())).await.unwrap();
        if let Some(file) = file {
            app.state.price_versions.adopt(&prices_of(&std::fs::read_to_string(file).unwrap())).await.unwrap();
        }
        Self::of(app, clock, pool)
    }

    /// Sets the prices of this section of settings as the list of all servers.
    pub async fn sets_prices(&self, section: &str) {
        let file: serde_json::Value = serde_json::from_str(&file_of(&prices_of(section))).unwrap();
        self.root().await.put("/api/admin/prices", json!({ "file": file, "accept": true })).await.ok();
    }

    fn of(app: App, clock: Arc<ManualClock>, pool: PgPool) -> Self {
        let App { router, foreign_keys, refused_requests, old_key_uses, prices, .. } = app;
        Self { router, clock, pool, foreign_keys, refused_requests, old_key_uses, prices }
    }

    /// Another server on the same database, with the same clock and this settings file.
    pub async fn server_with_file(&self, file: &Path) -> Self {
        let app = assemble(&self.pool, self.clock.clone(), Some(file), &[], 5);
        app.state.price_versions.adopt(&prices_of(&std::fs::read_to_string(file).unwrap())).await.unwrap();
        Self::of(app, self.clock.clone(), self.pool.clone())
    }

    /// Another server on the same database, with the same clock and other random numbers.
    pub fn replica(&self) -> Arc<AppState> {
        assemble(&self.pool, self.clock.clone(), None, &[], 2).state
    }

    /// Another server on the same database, whose clock is `ahead` seconds ahead of this one's (negative: behind).
    pub fn server_ahead(&self, ahead: i64) -> Self {
        let clock = Arc::new(ManualClock::at(self.clock.now().plus(ahead)));
        let app = assemble(&self.pool, clock.clone(), None, &[], 3 + ahead.unsigned_abs());
        Self::of(app, clock, self.pool.clone())
    }

    /// Runs the job that ends overdue reservations once, on another server of the same database.
    pub async fn expire_overdue(&self) {
        expire_on(&self.replica()).await;
    }

    /// Runs the repair of what was written while the clock was ahead once, on another server of the same database.
    pub async fn repair_all(&self) {
        let (repairer, _queue) = assemble(&self.pool, self.clock.clone(), None, &[], 4).repairer.unwrap();
        repairer.repair_all().await.unwrap();
    }

    /// Not signed in.
    pub fn stranger(&self) -> Caller {
        Caller { router: self.router.clone(), id: 0, username: String::new(), auth: Auth::Nothing }
    }

    /// `root`, by session.
    pub async fn root(&self) -> Caller {
        self.signs_in("root", ROOT_PASSWORD).await
    }

    /// A user who is not enabled for the token API, by session. The password is `"{name}'s password"`.
    pub async fn user(&self, name: &str) -> Caller {
        self.makes(json!({ "username": name })).await
    }

    /// A user who is enabled for the token API, by session.
    pub async fn enabled_user(&self, name: &str) -> Caller {
        self.makes(json!({ "username": name, "token_api_enabled": true })).await
    }

    /// An administrator whom root created, by session.
    pub async fn admin(&self, name: &str) -> Caller {
        self.makes(json!({ "username": name, "role": 10 })).await
    }

    /// Creates this account as root, and signs in to it.
    pub async fn makes(&self, mut account: Value) -> Caller {
        let name = account["username"].as_str().unwrap().to_owned();
        let password = format!("{name}'s password");
        account["password"] = json!(password);
        self.root().await.post("/api/admin/users", account).await.ok();
        self.signs_in(&name, &password).await
    }

    /// Signs in. The caller then sends the session cookie and `Origin`.
    pub async fn signs_in(&self, username: &str, password: &str) -> Caller {
        let answer =
            self.stranger().post("/api/user/login", json!({ "username": username, "password": password })).await;
        let cookie = answer.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let user = answer.ok();
        Caller {
            router: self.router.clone(),
            id: user["id"].as_i64().unwrap(),
            username: username.to_owned(),
            auth: Auth::Session(cookie),
        }
    }

    /// A caller that sends this API key.
    pub fn holder_of(&self, key: &str) -> Caller {
        Caller { auth: Auth::Key(key.to_owned()), ..self.stranger() }
    }

    /// A new gateway, by its credential.
    pub async fn gateway(&self) -> Caller {
        let made = self.root().await.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
        self.stranger().with_access_token(made["credential"].as_str().unwrap())
    }

    /// Sets the quota of a user's wallet.
    pub async fn fills(&self, user: &Caller, quota: i64) {
        let path = format!("/api/admin/users/{}/quota", user.id);
        self.root().await.post(&path, json!({ "set": quota })).await.ok();
    }

    /// Moves quota of a token from remain to used, without a gateway.
    pub async fn spend(&self, token: i64, quota: i64) {
        let done = sqlx::query(
            "update tokens set remain_quota = case when unlimited_quota then remain_quota else remain_quota - $2 end, \
             used_quota = used_quota + $2 where id = $1",
        )
        .bind(token)
        .bind(quota)
        .execute(&self.pool)
        .await
        .unwrap();
        assert_eq!(done.rows_affected(), 1);
    }
}

/// The parts of one more server on the database of running ones. It goes by that database's clock.
pub async fn beside(pool: &PgPool) -> Arc<AppState> {
    let clock = clock::start(&Db::new(pool.clone())).await.unwrap();
    assemble(pool, clock, None, &[], 4).state
}

/// The service over this database, without rate limits. `seed` is that of its random numbers.
/// The section `[prices]` of the text of settings.
fn prices_of(settings: &str) -> PriceSettings {
    let mut all: toml::Table = toml::from_str(settings).unwrap();
    all.remove("prices").map_or_else(PriceSettings::default, |prices| prices.try_into().unwrap())
}

fn assemble(pool: &PgPool, clock: Arc<dyn Clock>, file: Option<&Path>, settings: &[(&str, &str)], seed: u64) -> App {
    let unlimited = ["SEARCH", "LOGIN", "USAGE", "DROP_IN", "WRONG_KEYS", "WRONG_CREDENTIALS", "REGISTER", "WRITES"]
        .map(|limit| (format!("KEYMETER_LIMITS__{limit}_PER_MINUTE"), "0".to_owned()));
    let given = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let all: BTreeMap<_, _> = unlimited.into_iter().chain(given).collect();
    let variables = all.into_iter().map(|(name, value)| (name.into(), value.into()));
    let config = Config::from_sources(file, variables).unwrap();
    let vault = Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap());
    let opened = Opened { db: Db::new(pool.clone()), vault };
    App::assemble(opened, &config, clock, Rng::seeded(seed), HashCost::LEAST).unwrap()
}

/// Runs the job that ends overdue reservations once, on this server.
pub async fn expire_on(server: &AppState) {
    expire_overdue(&server.core.db, &server.core.clock, &server.ledger, bounds::CHARGE_ON_EXPIRY_AFTER).await.unwrap();
}
