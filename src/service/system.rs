//! What all servers are doing, for administrators.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::core::Core;
use super::jobs;
use super::servers::Servers;
use crate::domain::known_server::{DifferingSetting, KnownServer, differing_settings};
use crate::domain::time::UnixTime;
use crate::storage::database_figures::{self, DatabaseFigures};
use crate::storage::proof_rounds::{self, ProvedInvariant};
use crate::storage::server_state::{self, ServerState};
use crate::storage::servers;
use crate::storage::{Conn, Db, StorageError, installation};
use crate::telemetry::jobs::JobMetrics;
use crate::telemetry::recent_figures::{RecentFigures, RecentMetrics};

/// For how long administrators who look at once share what was read from the database.
const SHARED_FOR: Duration = Duration::from_secs(1);

/// A report of the whole system.
#[derive(Debug)]
pub struct SystemReport {
    pub installation: InstallationReport,
    /// The server that reports.
    pub own: KnownServer,
    /// What it did in the last seconds.
    pub recent: RecentFigures,
    /// When each job last did all that there was to do on this server.
    pub jobs: Vec<(&'static str, Option<UnixTime>)>,
    /// A commit of this server waits for the disk or a standby for too long.
    pub is_stalled: bool,
}

/// What everybody finds in the database: its servers, its own state, the proof of the ledger.
#[derive(Debug, Clone)]
pub struct InstallationReport {
    pub now: UnixTime,
    /// All servers of the last hour.
    pub servers: Vec<KnownServer>,
    pub differing_settings: Vec<DifferingSetting>,
    pub database: ServerState,
    pub figures: DatabaseFigures,
    pub invariants: Vec<ProvedInvariant>,
    /// The end of the last whole proof of the ledger.
    pub proved_time: Option<UnixTime>,
    pub backup: Option<Backup>,
}

/// The newest backup that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    pub time: UnixTime,
    pub source: BackupSource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupSource {
    /// `keymeter backup` ended.
    Command,
    /// PostgreSQL archived a file of its log.
    Archiver,
}

#[derive(Debug)]
pub struct System {
    core: Core,
    servers: Arc<Servers>,
    recent: Arc<RecentMetrics>,
    jobs: JobMetrics,
    last: Mutex<Option<(Instant, InstallationReport)>>,
}

impl System {
    pub fn new(core: Core, servers: Arc<Servers>, recent: Arc<RecentMetrics>, jobs: JobMetrics) -> Self {
        Self { core, servers, recent, jobs, last: Mutex::default() }
    }

    /// # Errors
    /// The database.
    pub async fn report(&self) -> Result<SystemReport, StorageError> {
        let db = &self.core.db;
        Ok(SystemReport {
            installation: self.read_or_share().await?,
            own: self.servers.own(),
            recent: self.recent.figures(),
            jobs: self.jobs.list(jobs::names()).map(|(name, at)| (name, at.map(UnixTime::new))).collect(),
            is_stalled: db.is_stalled(),
        })
    }
}

impl System {
    /// Reads the report of the installation, unless it was read a moment ago: it counts rows.
    async fn read_or_share(&self) -> Result<InstallationReport, StorageError> {
        let mut last = self.last.lock().await;
        if let Some((at, report)) = &*last
            && at.elapsed() < SHARED_FOR
        {
            return Ok(report.clone());
        }
        let report = InstallationReport::read(&self.core.db, self.core.clock.now()).await?;
        *last = Some((Instant::now(), report.clone()));
        Ok(report)
    }
}

impl InstallationReport {
    /// Reads it as of now.
    ///
    /// # Errors
    /// The database.
    pub async fn read(db: &Db, now: UnixTime) -> Result<Self, StorageError> {
        let read = async |conn: &mut Conn| {
            let (invariants, proved_time) = proof_rounds::list(conn).await?;
            let (servers, database) = (servers::list(conn).await?, server_state::find(conn).await?);
            let made = installation::find_backup_time(conn).await?.map(Backup::by_command);
            let archived = database.last_archived_time.map(Backup::by_archiver);
            Ok(Self {
                now,
                differing_settings: differing_settings(&servers, now),
                servers,
                database,
                figures: database_figures::read(conn, now).await?,
                invariants,
                proved_time,
                backup: made.into_iter().chain(archived).max_by_key(|backup| backup.time),
            })
        };
        db.bounded_not_reserved(read).await
    }
}

impl Backup {
    const fn by_command(time: UnixTime) -> Self {
        Self { time, source: BackupSource::Command }
    }

    const fn by_archiver(time: UnixTime) -> Self {
        Self { time, source: BackupSource::Archiver }
    }
}
