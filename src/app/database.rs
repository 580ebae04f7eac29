//! The database of a process: an external server, or the embedded one; migrated, and with the right master key.

use std::str::FromStr;
use std::time::Duration;

use secrecy::ExposeSecret;
use sqlx::postgres::PgConnectOptions;

use super::StartError;
use super::assembly::lanes;
use super::master_key::{MASTER_KEY_FILE, find_master_key, make_master_key, make_private};
use crate::config::{Config, PlanCacheMode};
use crate::service::vault::Vault;
#[cfg(feature = "embedded")]
use crate::storage::embedded::{Embedded, EmbeddedError};
use crate::storage::{self, Db, DbOptions, installation};

/// An external PostgreSQL, or the embedded one.
pub struct Database {
    pub options: DbOptions,
    #[cfg(feature = "embedded")]
    embedded: Option<Embedded>,
}

impl Database {
    /// Starts the embedded database if the settings name no other. Changes no data.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(config: &Config) -> Result<Self, StartError> {
        let settings = &config.database;
        let options = |connect, connections| DbOptions {
            connect,
            connections,
            // One per lane, one to read keys, one for the audit log, one to read credentials, one to read the clock.
            reserved: u32::try_from(lanes(config.ledger.lanes) + 4).unwrap_or(u32::MAX),
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

    /// For messages: without user and password.
    #[must_use]
    pub fn describe(&self, config: &Config) -> String {
        if self.is_embedded() {
            return format!("the embedded database in {}", config.data_dir.display());
        }
        let connect = &self.options.connect;
        format!(
            "PostgreSQL {}:{}/{}",
            connect.get_host(),
            connect.get_port(),
            connect.get_database().unwrap_or_else(|| connect.get_username())
        )
    }

    #[must_use]
    pub const fn is_embedded(&self) -> bool {
        #[cfg(feature = "embedded")]
        return self.embedded.is_some();
        #[cfg(not(feature = "embedded"))]
        false
    }

    /// Stops the embedded database. All connections must be closed before.
    #[cfg_attr(not(feature = "embedded"), expect(clippy::unused_async, reason = "only the embedded one takes time"))]
    pub async fn stop(self) {
        #[cfg(feature = "embedded")]
        if let Some(embedded) = self.embedded {
            let stopped = tokio::task::spawn_blocking(|| embedded.stop()).await;
            if let Ok(Err(error)) = stopped {
                tracing::warn!(error, "the embedded database did not stop cleanly; committed data is safe");
            }
        }
    }
}

/// A migrated database, and the vault of its master key.
pub struct Opened {
    pub db: Db,
    pub vault: Vault,
}

/// Checks the master key and the cell, migrates, and opens the pool. Changes nothing if the master key is wrong.
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
        let now = storage::read_clock(&mut conn).await?.seconds();
        installation::insert(&mut conn, vault.check(), config.cell.label, now).await?;
        // Of two servers that start at once, each with a new key, one must stop.
        if installation::find_key_check(&mut conn).await?.is_some_and(|check| check != vault.check()) {
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
    }
    Ok(Opened { db, vault })
}
