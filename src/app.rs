//! The composition root: settings become a database, services, a router, background tasks, and a
//! graceful stop. The only room that knows everyone.

pub mod connections;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use secrecy::ExposeSecret;
use sqlx::postgres::PgConnectOptions;
use tokio::net::TcpListener;
use zeroize::Zeroizing;

use crate::api::{openapi, router, state::AppState};
use crate::config::{Config, ListKey, PlanCacheMode, Registration, TokenApi};
use crate::demo::{self, DemoError};
#[cfg(feature = "embedded")]
use crate::doctor;
use crate::domain::cell::CellLabel;
use crate::domain::group::Groups;
use crate::domain::money::Quota;
use crate::domain::password::random_password;
use crate::domain::time::{Clock, DAY, ManualClock, SystemClock};
use crate::service::access_tokens::AccessTokens;
use crate::service::audit::Audit;
use crate::service::authenticator::Authenticator;
use crate::service::enablement::Enablement;
use crate::service::gateways::Gateways;
use crate::service::invalidator::Invalidator;
use crate::service::jobs::{JobRules, Jobs};
use crate::service::key_cache::KeyCache;
use crate::service::keys::Keys;
use crate::service::ledger::{Lanes, Ledger, LedgerRules};
use crate::service::overview::Overviews;
use crate::service::passwords::Passwords;
use crate::service::rate_limiter::{Limits, RateLimiter};
use crate::service::recent_balances::RecentBalances;
use crate::service::rng::Rng;
use crate::service::sign_in::SignIn;
use crate::service::tokens::{TokenRules, Tokens};
use crate::service::usage::Usage;
use crate::service::users::{AccountRules, Users, UsersError};
use crate::service::vault::{MasterKey, MasterKeyInvalid, Vault};
#[cfg(feature = "embedded")]
use crate::storage::embedded::{self, Embedded, EmbeddedError};
use crate::storage::sessions::SessionTable;
use crate::storage::{self, Db, DbOptions, OpenError, StorageError, installation, retention, users};
use crate::telemetry::requests::HttpMetrics;
use crate::telemetry::{self, Metrics};

const MASTER_KEY_FILE: &str = "master.key";

/// Why the service does not start. One line each, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot listen on {0}: {1}; free the port or set KEYMETER_SERVER__LISTEN")]
    Listen(String, std::io::Error),
    #[error("the setting `{0}` cannot be used: {1}")]
    Setting(&'static str, String),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[cfg(feature = "embedded")]
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    #[error("this keymeter was built without the embedded database; set DATABASE_URL")]
    NoDatabase,
    #[error("cannot use {0}: {1}; make the data directory writable or set KEYMETER_DATA_DIR")]
    DataDir(PathBuf, std::io::Error),
    #[error("{0}: {1}")]
    MasterKeyFile(PathBuf, MasterKeyInvalid),
    #[error(
        "the master key is missing: this database was made with one; set KEYMETER_SECRETS__MASTER_KEY \
         or put it back at {0}"
    )]
    MasterKeyMissing(PathBuf),
    #[error(
        "the master key does not fit this database; use the one it was made with \
         (KEYMETER_SECRETS__MASTER_KEY or {0})"
    )]
    MasterKeyWrong(PathBuf),
    #[error(
        "this database belongs to the cell `{database}`, and `cell.label` is `{setting}`; set KEYMETER_CELL__LABEL={database} \
         or use another database"
    )]
    WrongCell { database: String, setting: CellLabel },
    #[error("cannot make the root account: {0}; set KEYMETER_ROOT__PASSWORD")]
    Root(UsersError),
    #[error(
        "this database is in use, and a demo fills only an empty one; name another KEYMETER_DATA_DIR or DATABASE_URL"
    )]
    DemoNotEmpty,
    #[error("the demo could not be made, and the database is half filled: {0}; use another one")]
    Demo(#[from] DemoError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The database of a running process: elsewhere, or inside.
pub struct Database {
    /// How to reach it.
    pub options: DbOptions,
    #[cfg(feature = "embedded")]
    embedded: Option<Embedded>,
}

impl Database {
    /// Finds or starts the database that the settings name. Changes nothing in it.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(config: &Config) -> Result<Self, StartError> {
        let settings = &config.database;
        let options = |connect, connections| DbOptions {
            connect,
            connections,
            // One for each lane, one to read keys, one for the audit log, one to read credentials.
            reserved: u32::try_from(lanes(config.ledger.lanes) + 3).unwrap_or(u32::MAX),
            plan_cache_mode: match settings.plan_cache_mode {
                PlanCacheMode::ForceGenericPlan => "force_generic_plan",
                PlanCacheMode::Auto => "auto",
            },
            acquire: Duration::from_secs(settings.acquire_seconds),
            statement_timeout: Duration::from_secs(settings.statement_timeout_seconds),
        };
        if let Some(url) = &settings.url {
            let connect = PgConnectOptions::from_str(url.expose_secret())
                .map_err(|_| {
                    StartError::Setting("database.url", "it is not postgres://user:password@host:port/name".into())
                })?
                .application_name("keymeter");
            return Ok(Self {
                options: options(connect, settings.connections.max(1)),
                #[cfg(feature = "embedded")]
                embedded: None,
            });
        }
        #[cfg(feature = "embedded")]
        {
            make_private(&config.data_dir)
                .map_err(|cause| EmbeddedError::Directory { path: config.data_dir.clone(), cause })?;
            let embedded = Embedded::start(&config.data_dir)?;
            Ok(Self { options: options(embedded.connect_options(), 1), embedded: Some(embedded) })
        }
        #[cfg(not(feature = "embedded"))]
        Err(StartError::NoDatabase)
    }

    /// Whether it is the embedded one.
    #[must_use]
    pub const fn is_embedded(&self) -> bool {
        #[cfg(feature = "embedded")]
        return self.embedded.is_some();
        #[cfg(not(feature = "embedded"))]
        false
    }

    /// Stops it, if it is ours to stop, after every connection was closed.
    #[cfg_attr(not(feature = "embedded"), expect(clippy::unused_async, reason = "only the embedded one takes time"))]
    pub async fn stop(self) {
        #[cfg(feature = "embedded")]
        if let Some(embedded) = self.embedded {
            let stopped = tokio::task::spawn_blocking(|| embedded.stop()).await;
            if let Ok(Err(error)) = stopped {
                tracing::warn!(error, "the embedded database did not stop cleanly; what was committed is safe");
            }
        }
    }
}

/// A database that is migrated and whose master key is known to fit.
pub struct Opened {
    /// The pool.
    pub db: Db,
    /// The vault of its master key.
    pub vault: Vault,
}

/// Looks, checks the master key, migrates, opens; nothing is changed where the key does not fit.
///
/// # Errors
/// See [`StartError`].
pub async fn open(config: &Config, database: &Database) -> Result<Opened, StartError> {
    let found = storage::inspect(&database.options).await?;
    let file = config.data_dir.join(MASTER_KEY_FILE);
    let vault = Vault::new(&match (find_master_key(config)?, &found.key_check) {
        (Some(key), _) => key,
        (None, Some(_)) => return Err(StartError::MasterKeyMissing(file)),
        (None, None) => make_master_key(&file)?,
    });
    if found.key_check.is_some_and(|check| check != vault.check()) {
        return Err(StartError::MasterKeyWrong(file));
    }
    if config.secrets.master_key.is_none() && !database.is_embedded() {
        make_private(&config.data_dir).map_err(|error| StartError::DataDir(file.clone(), error))?;
    }
    storage::migrate(&database.options).await?;
    let db = Db::open(&database.options);
    {
        let mut conn = db.acquire().await?;
        installation::insert(&mut conn, vault.check(), config.cell.label, SystemClock.now()).await?;
        // Of two replicas that start at once with keys of their own, one has to give way.
        if installation::find_key_check(&mut conn).await?.is_some_and(|check| check != vault.check()) {
            return Err(StartError::MasterKeyWrong(file));
        }
        if let Some(label) = installation::find_cell_label(&mut conn).await?
            && label != config.cell.label.as_str()
        {
            return Err(StartError::WrongCell { database: label, setting: config.cell.label });
        }
    }
    Ok(Opened { db, vault })
}

/// The master key of the settings or of its file; `None` if there is none yet.
///
/// # Errors
/// It cannot be read, or is none.
pub fn find_master_key(config: &Config) -> Result<Option<MasterKey>, StartError> {
    if let Some(hex) = &config.secrets.master_key {
        let key = MasterKey::from_hex(hex.expose_secret());
        return key.map(Some).map_err(|error| StartError::Setting("secrets.master_key", error.to_string()));
    }
    let file = config.data_dir.join(MASTER_KEY_FILE);
    match std::fs::read_to_string(&file) {
        Ok(hex) => {
            let hex = Zeroizing::new(hex);
            MasterKey::from_hex(&hex).map(Some).map_err(|error| StartError::MasterKeyFile(file, error))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StartError::DataDir(file, error)),
    }
}

/// Makes the data directory if it is absent, and closes it and what lies openly in it to other users. A directory that
/// is not ours alone, such as a volume that an orchestrator mounts for a group, stays as it is, with a warning: there,
/// the master key and the files of the embedded database are closed by themselves.
fn make_private(data_dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir)?;
    let mode = |path: &Path| std::fs::metadata(path).map(|found| found.permissions().mode());
    let close = |path: &Path, to: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(to));
    let found = mode(data_dir)?;
    if found & 0o077 != 0 {
        // The sticky bit says that it is meant to be shared, as /tmp is.
        let is_shared = found & 0o1000 != 0;
        if !is_shared && close(data_dir, 0o700).is_ok() {
            tracing::warn!("the data directory was open to other users; it is closed to them now");
        } else {
            tracing::warn!(
                directory = %data_dir.display(),
                "the data directory is shared with other users and stays so; name one of its own (KEYMETER_DATA_DIR)"
            );
        }
    }
    for (name, private) in [(MASTER_KEY_FILE, 0o600), ("postgres", 0o700)] {
        let path = data_dir.join(name);
        if mode(&path).is_ok_and(|mode| mode & 0o077 != 0) {
            close(&path, private)?;
        }
    }
    Ok(())
}

/// Makes a master key and writes it, whole and for its owner alone, before anything relies on it.
fn make_master_key(file: &Path) -> Result<MasterKey, StartError> {
    use std::os::unix::fs::OpenOptionsExt;
    let key = Rng::system().generate(|rng| MasterKey::generate(rng));
    let write = || -> std::io::Result<()> {
        let directory = file.parent().unwrap_or(Path::new("."));
        if !directory.exists() {
            make_private(directory)?;
        }
        let draft = directory.join("master.key.new");
        let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        writeln!(out, "{}", *key.to_hex())?;
        out.sync_all()?;
        std::fs::rename(&draft, file)?;
        std::fs::File::open(directory)?.sync_all()
    };
    write().map_err(|error| StartError::DataDir(file.to_owned(), error))?;
    Ok(key)
}

/// The assembled service.
pub struct App {
    /// What handlers reach.
    pub state: Arc<AppState>,
    /// Answers requests.
    pub router: Router,
    rate_limiter: Arc<RateLimiter>,
    invalidator: Invalidator,
    #[cfg(feature = "embedded")]
    vault: Vault,
}

impl App {
    /// Puts the services together.
    ///
    /// # Errors
    /// A setting that does not fit another one.
    pub fn assemble(opened: Opened, config: &Config, clock: Arc<dyn Clock>, rng: Rng) -> Result<Self, StartError> {
        let Opened { db, vault } = opened;
        let mut registry = telemetry::registry();
        let http_metrics = HttpMetrics::register(&mut registry);
        db.register_metrics(&mut registry);
        let groups = Groups::new(config.groups.clone());
        let account_rules = Arc::new(account_rules(config, &groups)?);
        let limits = Limits {
            search: config.limits.search_per_minute,
            login: config.limits.login_per_minute,
            usage: config.limits.usage_per_minute,
            wrong_keys: config.limits.wrong_keys_per_minute,
            register: config.limits.register_per_minute,
        };
        let rate_limiter = Arc::new(RateLimiter::new(limits, &clock));
        let passwords = Passwords::new(rng.clone());
        let authenticator = Arc::new(Authenticator::new(db.clone(), Arc::clone(&clock), vault.clone()));
        let balances = Arc::new(RecentBalances::new());
        let key_cache = Arc::new(KeyCache::start(db.clone(), Arc::clone(&clock), Arc::clone(&balances)));
        let invalidator = Invalidator::new(Arc::clone(&authenticator), Arc::clone(&key_cache));
        let ledger_rules = LedgerRules {
            lanes: lanes(config.ledger.lanes),
            queue: config.ledger.queue,
            zone: config.usage.time_zone,
            groups: groups.clone(),
        };
        let lanes = Lanes::start(&db, &clock, &rng, &balances, &ledger_rules);
        let ledger =
            Ledger::new(db.clone(), vault.clone(), key_cache, lanes, Arc::clone(&clock), rng.clone(), groups.clone());
        let token_rules =
            TokenRules { max_tokens: config.accounts.max_tokens, groups: groups.clone(), cell: config.cell.label };
        let state = Arc::new(AppState {
            tokens: Tokens::new(
                db.clone(),
                vault.clone(),
                rng.clone(),
                Arc::clone(&clock),
                Arc::clone(&rate_limiter),
                invalidator.clone(),
                token_rules,
            ),
            keys: Keys::new(db.clone(), vault.clone(), Arc::clone(&clock)),
            usage: Usage::new(
                db.clone(),
                vault.clone(),
                Arc::clone(&clock),
                Arc::clone(&rate_limiter),
                config.usage.time_zone,
            ),
            overviews: Overviews::new(db.clone(), Arc::clone(&clock), config.usage.time_zone),
            users: Users::new(
                db.clone(),
                rng.clone(),
                Arc::clone(&clock),
                Arc::clone(&rate_limiter),
                passwords.clone(),
                invalidator.clone(),
                groups,
                Arc::clone(&account_rules),
            ),
            sign_in: SignIn::new(
                db.clone(),
                Arc::clone(&clock),
                Arc::clone(&rate_limiter),
                passwords,
                Arc::clone(&account_rules),
            ),
            access_tokens: AccessTokens::new(
                db.clone(),
                vault.clone(),
                rng.clone(),
                Arc::clone(&clock),
                invalidator.clone(),
            ),
            enablement: Enablement::new(
                db.clone(),
                Arc::clone(&clock),
                invalidator.clone(),
                Arc::clone(&account_rules),
            ),
            gateways: Gateways::new(db.clone(), vault.clone(), rng.clone(), Arc::clone(&clock), invalidator.clone()),
            audit: Audit::new(db.clone()),
            account_rules,
            ledger: Arc::new(ledger),
            authenticator,
            clock: Arc::clone(&clock),
            rng,
            metrics: Metrics::new(registry),
            http_metrics,
            db: db.clone(),
            draining: AtomicBool::new(false),
            openapi: openapi_json().into(),
            metrics_access: config.server.metrics,
            trusted_proxies: config.server.trusted_proxies.clone(),
            request_timeout: Duration::from_secs(config.server.request_timeout_seconds),
            max_clock_skew: i64::from(config.server.max_clock_skew_seconds),
            errors_as_200: config.http.errors_as_200,
            masked_list_key: config.compat.list_key == ListKey::Masked,
            models: config.models.names.clone(),
            dashboard: find_dashboard(&config.dashboard.dir),
            time_zone: config.usage.time_zone.to_string(),
            public_url: config.http.public_url.clone(),
        });
        let sessions = SessionTable::new(db, clock, vault.digests().clone());
        let router = router::router(Arc::clone(&state), sessions, config.http.cookies_are_secure());
        Ok(Self {
            state,
            router,
            rate_limiter,
            invalidator,
            #[cfg(feature = "embedded")]
            vault,
        })
    }

    /// Starts what runs beside the answers: jobs, and an ear for the other servers.
    fn background(&self, database: &Database, config: &Config) -> Vec<tokio::task::JoinHandle<()>> {
        let (db, clock) = (self.state.db.clone(), Arc::clone(&self.state.clock));
        let rules = JobRules { retention_days: config.usage.retention_days, max_clock_skew: self.state.max_clock_skew };
        let jobs = Jobs::new(db.clone(), Arc::clone(&clock), Arc::clone(&self.rate_limiter), rules);
        let ledger = Arc::downgrade(&self.state.ledger);
        let expire = Jobs::expire(db.clone(), clock, rules.max_clock_skew, move || ledger.upgrade());
        let mut tasks = vec![tokio::spawn(jobs.tidy()), tokio::spawn(expire)];
        if !database.is_embedded() {
            tasks.push(tokio::spawn(self.invalidator.clone().listen(db)));
        }
        #[cfg(feature = "embedded")]
        if database.is_embedded() {
            tasks.extend(self.answer_doctor(&config.data_dir));
        }
        tasks
    }

    /// Listens for `keymeter doctor`, which cannot reach the embedded database beside this server.
    #[cfg(feature = "embedded")]
    fn answer_doctor(&self, data_dir: &Path) -> Option<tokio::task::JoinHandle<()>> {
        let listen = || {
            let socket = embedded::doctor_socket(data_dir)?;
            // Left by a process that was killed: the lock of the data directory is ours.
            let _ = std::fs::remove_file(&socket);
            tokio::net::UnixListener::bind(socket)
        };
        match listen() {
            Ok(socket) => {
                let (db, vault) = (self.state.db.clone(), self.vault.clone());
                Some(tokio::spawn(doctor::answer(socket, db, vault, self.state.time_zone.clone())))
            }
            Err(error) => {
                tracing::warn!(%error, "`keymeter doctor` cannot reach this server while it runs");
                None
            }
        }
    }
}

fn account_rules(config: &Config, groups: &Groups) -> Result<AccountRules, StartError> {
    let settings = &config.accounts;
    if !groups.contains(&settings.initial_group) {
        let known = format!("it must be one of the groups: {}", groups.names());
        return Err(StartError::Setting("accounts.initial_group", known));
    }
    for (name, info) in groups.open_to("") {
        let is_number = serde_json::from_str::<serde_json::Number>(&info.ratio).is_ok();
        if !is_number {
            return Err(StartError::Setting("groups", format!("the ratio of {name} is not a number")));
        }
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

/// As many lanes as the settings say, or as there are processors.
fn lanes(setting: usize) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if setting == 0 { processors().min(8) } else { setting }
}

/// The directory of the built dashboard: the one of the settings, or where a build leaves it.
fn find_dashboard(dir: &Path) -> Option<PathBuf> {
    let is_built = |dir: &PathBuf| dir.join("index.html").is_file();
    if !dir.as_os_str().is_empty() {
        return Some(dir.to_owned()).filter(is_built);
    }
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("dashboard/dist")));
    [Some(PathBuf::from("dashboard/dist")), beside].into_iter().flatten().find(is_built)
}

/// The OpenAPI document as JSON.
#[must_use]
#[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "a document of our own making is serialisable")]
pub fn openapi_json() -> String {
    openapi::openapi().to_pretty_json().expect("serialisable")
}

/// `keymeter serve`: from the settings to a graceful end.
///
/// # Errors
/// See [`StartError`]. Whatever it is, nothing was changed that a better start would miss.
pub async fn serve(config: Config, with_demo: bool) -> Result<(), StartError> {
    let listener = connections::listen(&config.server.listen)
        .await
        .map_err(|error| StartError::Listen(config.server.listen.clone(), error))?;
    let database = Database::start(&config)?;
    let opened = open(&config, &database).await?;
    let db = opened.db.clone();
    if with_demo {
        fill_with_demo(&opened, &config).await?;
    }
    let app = App::assemble(opened, &config, Arc::new(SystemClock), Rng::system())?;
    let made_up = app.state.users.ensure_root(config.root.password.as_ref()).await.map_err(StartError::Root)?;
    greet(&listener, &config, &database, app.state.dashboard.is_some(), made_up.as_ref());
    let background = app.background(&database, &config);
    let limits = connections::Limits::new(&config.server, config.database.connections);
    connections::serve(listener, app.state, app.router, limits, stop_signal()).await;
    for task in background {
        task.abort();
    }
    db.close().await;
    database.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// Fills an empty database with a demo that ends now.
#[expect(clippy::print_stdout, reason = "this takes a moment, and the operator watches")]
async fn fill_with_demo(opened: &Opened, config: &Config) -> Result<(), StartError> {
    let start = SystemClock.now().plus(-demo::DAYS * DAY);
    {
        let mut tx = opened.db.begin().await?;
        if users::exist(&mut tx).await? {
            return Err(StartError::DemoNotEmpty);
        }
        for day in retention::list_missing_partitions(&mut tx, start, start.plus(demo::DAYS * DAY)).await? {
            retention::make_partition(&mut tx, day).await?;
        }
        storage::commit(tx).await?;
    }
    let password = config.root.password.clone();
    let password = password.unwrap_or_else(|| Rng::system().generate(|rng| random_password(rng)).as_str().into());
    let clock = Arc::new(ManualClock::at(start));
    let opened = Opened { db: opened.db.clone(), vault: opened.vault.clone() };
    let app = App::assemble(opened, config, Arc::<ManualClock>::clone(&clock), Rng::system())?;
    app.state.users.ensure_root(Some(&password)).await.map_err(StartError::Root)?;
    print!("Filling a demo, day by day:");
    demo::fill(&app.state, &clock, &password, |day| {
        print!(" {day}");
        // Whether it is seen at once does not matter.
        let _ = std::io::stdout().flush();
    })
    .await?;
    println!();
    println!("Sign in as `ana`, or as the administrator `root`, with the password {}", password.expose_secret());
    Ok(())
}

/// What the operator reads first. The password goes to the terminal and nowhere else.
#[expect(clippy::print_stdout, reason = "this is what the operator reads")]
fn greet(
    listener: &TcpListener,
    config: &Config,
    database: &Database,
    has_dashboard: bool,
    made_up: Option<&Zeroizing<String>>,
) {
    let address = listener.local_addr().map_or_else(|_| config.server.listen.clone(), |address| address.to_string());
    println!("Keymeter {} answers at http://{address}", env!("CARGO_PKG_VERSION"));
    if let Some(password) = made_up {
        println!("Sign in as `root` with the password {} (it is shown only this once)", **password);
    }
    if database.is_embedded() {
        println!("Data: embedded PostgreSQL in {}", config.data_dir.display());
        tracing::warn!(
            "the embedded database survives crashes of this process, but a power cut can lose its last moments; \
             for production set DATABASE_URL"
        );
    }
    if !has_dashboard {
        println!(
            "Dashboard: not built (`make dashboard` builds it, with Node.js 20 or newer); the API works without it"
        );
    }
    if config.secrets.master_key.is_none() {
        let file = config.data_dir.join(MASTER_KEY_FILE);
        println!("Master key: {} (keep a copy elsewhere; without it no key can be used)", file.display());
    }
}

/// Comes with SIGTERM or Ctrl-C.
async fn stop_signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending::<()>().await,
        }
    };
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
