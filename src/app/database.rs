//! The database of a process: a PostgreSQL of the operator, or the private one; migrated, and with the right master
//! key.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use keymeter_postgres::data_dir::{MASTER_KEY_FILE, make_private};
use keymeter_postgres::{PostgresSettings, PrivateError, PrivatePostgres, SocketAddress, Use};
use secrecy::ExposeSecret;

use super::database_url;
use super::error::StartError;
use super::master_key::{find_master_key, make_master_key};
use super::pool_sizes::PoolSizes;
use super::stop_signals::StopSignals;
use crate::config::{Config, PlanCacheMode};
use crate::service::secrets::SecretsError;
use crate::service::vault::Vault;
use crate::storage::{self, Db, DbOptions, Hosts, SchemaState, installation, secrets};

/// After so long, connections that were not needed are closed.
const CONNECTIONS_REST: Duration = Duration::from_mins(1);

/// Connections of a command, at most. An import writes four accounts at a time.
const COMMAND_CONNECTIONS: u32 = 8;

/// How long a command waits until a server has prepared its database.
const SERVER_PREPARES: Duration = Duration::from_mins(1);

/// A PostgreSQL of the operator, or the private one.
pub struct Database {
    pub options: DbOptions,
    private: Option<PrivatePostgres>,
}

impl Database {
    /// Starts the private PostgreSQL if the settings name no other. Changes no data.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(config: &Config, purpose: Use) -> Result<Self, StartError> {
        let settings = &config.database;
        let (connections, reserved) = match purpose {
            Use::Serve => (settings.connections.max(1), PoolSizes::of(config).reserved),
            // Those of a command come on top of the server's.
            Use::Command => (settings.connections.clamp(1, COMMAND_CONNECTIONS), 0),
        };
        let options = |hosts| DbOptions {
            hosts: Arc::new(hosts),
            connections,
            reserved,
            plan_cache_mode: match settings.plan_cache_mode {
                PlanCacheMode::ForceGenericPlan => "force_generic_plan",
                PlanCacheMode::Auto => "auto",
            },
            acquire: Duration::from_secs(settings.acquire_seconds),
            statement_timeout: Duration::from_secs(settings.statement_timeout_seconds),
            patience: Duration::from_secs(config.ledger.patience_seconds.get().into()),
            rest: CONNECTIONS_REST,
        };
        if let Some(url) = &settings.url {
            let hosts = database_url::read(url.expose_secret())
                .map_err(|invalid| StartError::Setting("database.url", invalid.to_string()))?;
            return Ok(Self { options: options(hosts), private: None });
        }
        let settings = PostgresSettings {
            data_dir: &config.data_dir,
            programs: settings.programs.as_deref(),
            connections: settings.connections,
            shared_buffers_mb: settings.shared_buffers_mb,
        };
        let private = PrivatePostgres::start(&settings, purpose).await?;
        Ok(Self { options: options(Hosts::new(private.connect_options(), [])), private: Some(private) })
    }

    /// For messages: without user and password.
    pub fn describe(&self, config: &Config) -> String {
        if let Some(private) = &self.private {
            return format!("{} in {}", private.describe(), config.data_dir.display());
        }
        let hosts = &self.options.hosts;
        let places: Vec<_> = hosts.all().iter().map(|one| format!("{}:{}", one.get_host(), one.get_port())).collect();
        let connect = hosts.current();
        let database = connect.get_database().unwrap_or_else(|| connect.get_username());
        format!("PostgreSQL {}/{database}", places.join(","))
    }

    /// How other programs connect to the private PostgreSQL.
    pub fn private_socket(&self) -> Option<SocketAddress> {
        self.private.as_ref().map(PrivatePostgres::socket)
    }

    pub const fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// Stops the private PostgreSQL, unless another process runs it. All connections must be closed before.
    pub async fn stop(self) {
        if let Some(private) = self.private {
            private.stop().await;
        }
    }
}

/// Refuses a command about data where there are none: it would make an empty database and say that all is well.
///
/// # Errors
/// The data directory has no private PostgreSQL, and the settings name no other.
pub fn require_data(config: &Config) -> Result<(), StartError> {
    if config.database.url.is_some() || PrivatePostgres::exists(&config.data_dir) {
        return Ok(());
    }
    Err(PrivateError::NoData(config.data_dir.clone()).into())
}

/// If this process is root, prepares it and the settings for the private PostgreSQL. Must be called before threads are
/// started.
///
/// # Errors
/// There is no account that PostgreSQL can run as.
pub fn prepare_as_root(config: &mut Config) -> Result<(), StartError> {
    if config.database.url.is_none()
        && let Some(data_dir) =
            keymeter_postgres::prepare_as_root(&config.data_dir, Path::new(Config::DEFAULT_DATA_DIR))?
    {
        config.data_dir = data_dir;
    }
    Ok(())
}

/// Starts the database for a command, and stops it at the end, also if a signal ends the command.
///
/// # Errors
/// See [`StartError`]; those of the command.
pub async fn with_database<T, E: From<StartError>>(
    config: &Config,
    command: impl AsyncFnOnce(&Database) -> Result<T, E>,
) -> Result<T, E> {
    let mut stop = StopSignals::catch();
    let database = tokio::select! {
        database = Database::start(config, Use::Command) => database?,
        () = stop.received() => return Err(StartError::Interrupted.into()),
    };
    let outcome = tokio::select! {
        outcome = command(&database) => outcome,
        () = stop.received() => Err(StartError::Interrupted.into()),
    };
    database.stop().await;
    outcome
}

/// A migrated database, and the vault of its master key.
pub struct Opened {
    pub db: Db,
    pub vault: Vault,
}

/// The state of the database. A command beside a server that starts for the first time waits: two that choose a master
/// key would choose two.
async fn inspect(config: &Config, database: &Database) -> Result<SchemaState, StartError> {
    let end = Instant::now() + SERVER_PREPARES;
    loop {
        let found = storage::inspect(&database.options).await?;
        let is_prepared = !found.key_checks.is_empty();
        if is_prepared || !database.private.as_ref().is_some_and(PrivatePostgres::is_of_server) {
            return Ok(found);
        }
        if Instant::now() > end {
            return Err(PrivateError::NotReady(config.data_dir.clone()).into());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Checks the master key and the cell, migrates, and opens the pool. Changes nothing if the master key is wrong.
///
/// # Errors
/// See [`StartError`].
pub async fn open(config: &Config, database: &Database) -> Result<Opened, StartError> {
    let found = inspect(config, database).await?;
    let file = config.data_dir.join(MASTER_KEY_FILE);
    let master_key = match (find_master_key(config)?, found.key_checks.is_empty()) {
        (Some(key), _) => key,
        (None, false) => return Err(StartError::MasterKeyMissing(file)),
        (None, true) => make_master_key(&file)?,
    };
    let check = master_key.check();
    if !found.key_checks.is_empty() && !found.key_checks.iter().any(|known| *known == check) {
        return Err(StartError::MasterKeyWrong(file));
    }
    if config.secrets.master_key.is_none() && !database.is_private() {
        make_private(&config.data_dir, 0o700).map_err(|error| StartError::DataDir(file.clone(), error))?;
    }
    // A start that has nothing to change writes nothing, so a standby is enough for it.
    if found.pending > 0 {
        storage::migrate(&database.options).await?;
    }
    let db = Db::open(&database.options);
    let vault = {
        let mut conn = db.acquire().await?;
        if found.key_checks.is_empty() {
            let now = storage::read_clock(&mut conn).await?.seconds();
            installation::insert(&mut conn, &check, config.cell.label, now).await?;
        }
        // Of two servers that start at once, each with a new key, one must stop. A change may have begun or ended
        // meanwhile.
        let vault = match Vault::load(&mut conn, &master_key).await {
            Err(SecretsError::OtherMasterKey) => return Err(StartError::MasterKeyWrong(file)),
            loaded => loaded?,
        };
        let is_changed = !secrets::list_wrapped(&mut conn).await?.is_empty();
        if !is_changed && installation::find_key_check(&mut conn).await?.is_some_and(|known| known != check) {
            return Err(StartError::MasterKeyWrong(file));
        }
        if let Some(label) = installation::find_cell_label(&mut conn).await?
            && label != config.cell.label.as_str()
        {
            return Err(StartError::WrongCell { database: label, setting: config.cell.label });
        }
        let week_starts = i16::try_from(config.usage.week_starts.number_from_monday()).unwrap_or(1);
        if installation::change_week_start(&mut conn, week_starts).await? {
            tracing::info!(week_starts = %config.usage.week_starts, "counted the present week of every limit again");
        }
        vault
    };
    Ok(Opened { db, vault })
}
