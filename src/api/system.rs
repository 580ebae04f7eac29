//! What all servers are doing, for administrators.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::Admin;
use super::envelope::Envelope;
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::fails::Fails;
use crate::domain::known_server::{DifferingSetting, KnownServer};
use crate::domain::time::UnixTime;
use crate::service::system::{Backup, BackupSource, InstallationReport, SystemReport};
use crate::telemetry::recent_figures::{Quantiles, RecentFigures};

/// The servers of this database, the database, and the proof of the ledger. Times are Unix timestamps.
#[derive(Debug, Serialize, ToSchema)]
pub struct SystemBody {
    #[serde(flatten)]
    installation: InstallationBody,
    /// The server that answers.
    server: ServerBody,
    recent: RecentBody,
    /// The jobs of the server that answers.
    jobs: Vec<JobBody>,
    /// As `/readyz` says it: `not_durable` while changes are refused.
    degraded: Vec<ErrorCode>,
}

/// What every server says of the database.
#[derive(Debug, Serialize, ToSchema)]
pub struct InstallationBody {
    time: i64,
    /// All servers that were seen in the last hour, by name.
    servers: Vec<ServerBody>,
    /// Of the settings that administrators see, those in which servers that run differ. Each should be the same on all
    /// servers, or callers get different answers.
    differing_settings: Vec<DifferingSettingBody>,
    database: DatabaseBody,
    proof: ProofBody,
    /// The newest backup; null if none is known.
    backup: Option<BackupBody>,
}

/// A server.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerBody {
    /// Random, of the process.
    id: String,
    /// The setting `server.name`, or the name of its machine.
    name: String,
    /// Its version; of a release with the commit and the day.
    version: String,
    /// The newest migration that its program knows.
    newest_migration: i64,
    started_time: i64,
    seen_time: i64,
    /// Whether it was seen in the last 30 seconds.
    running: bool,
}

/// What the server that answers did in the last 10 to 15 seconds, and what waits now.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecentBody {
    /// The time that all counts here are of. Shorter when the server has just started.
    milliseconds: u64,
    /// Answered requests.
    requests: u64,
    /// Those of them that were answered with a status of 500 or more.
    failures: u64,
    /// Time from request to answer.
    request: QuantilesBody,
    /// Answered operations of the ledger, by kind; one that none was of is absent.
    operations: BTreeMap<String, u64>,
    /// Those of them that were refused.
    refused: u64,
    /// Those of them that found the ledger busy, or the database failing.
    failed: u64,
    /// Quota units charged.
    quota: u64,
    /// Time from the queueing of an operation to its answer.
    operation: QuantilesBody,
    /// Committed batches of operations.
    batches: u64,
    /// Operations in them.
    batched_operations: u64,
    /// The steps of a batch, in their order: `lock`, `write`, `commit`, `flush`.
    steps: Vec<StepBody>,
    /// The step that takes longest; null without a batch.
    slowest_step: Option<&'static str>,
    /// Operations that wait now.
    queue: u64,
    /// Requests that are not answered yet, this one included.
    in_flight: u64,
}

/// Microseconds within which half of all were, and 99 of 100; null if there were none.
#[derive(Debug, Serialize, ToSchema)]
pub struct QuantilesBody {
    p50_us: Option<u64>,
    p99_us: Option<u64>,
}

/// A step of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub struct StepBody {
    step: &'static str,
    /// Microseconds; null without a batch.
    mean_us: Option<u64>,
}

/// A job.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobBody {
    name: &'static str,
    /// When it last did all that there was to do on this server; null until then.
    last_success_time: Option<i64>,
}

/// A setting, and its value on each server.
#[derive(Debug, Serialize, ToSchema)]
pub struct DifferingSettingBody {
    /// Section and name in the settings file, such as `limits.login_per_minute`.
    name: String,
    values: Vec<ServerValueBody>,
}

/// The value of a setting on a server.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerValueBody {
    server_id: String,
    /// As text.
    value: String,
}

/// The database.
#[derive(Debug, Serialize, ToSchema)]
pub struct DatabaseBody {
    /// Version of PostgreSQL.
    version: String,
    /// False for a standby.
    is_writable: bool,
    bytes: i64,
    /// The part of it that the records of request ids take.
    idempotency_records_bytes: i64,
    /// Open reservations, up to a million.
    reservations_open: i64,
    /// For how long the oldest of them should have ended; 0 if none should.
    reservations_overdue_seconds: i64,
    /// Of the next seven days, those that have a partition of charges.
    partitions_ahead_days: i64,
    /// Charges of days without a partition, up to a million.
    default_partition_rows: i64,
    /// Standbys that commits wait for. Roles without `pg_monitor` see none of these.
    synchronous_standbys: i64,
    other_standbys: i64,
    /// Files of PostgreSQL's log that could not be archived, since its statistics began.
    archiver_failures: i64,
    /// Whether the last file could not be archived.
    archiver_fails: bool,
}

/// The proof of the ledger, which goes on all the time, a slice each minute.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProofBody {
    /// When the last whole proof ended; null before the first.
    ended_time: Option<i64>,
    invariants: Vec<InvariantBody>,
}

/// An invariant of the ledger (docs/ledger.md).
#[derive(Debug, Serialize, ToSchema)]
pub struct InvariantBody {
    /// Such as `L3`.
    name: String,
    /// Violations that were found; always 0 unless rows were changed from outside.
    violations: i64,
}

/// The newest backup.
#[derive(Debug, Serialize, ToSchema)]
pub struct BackupBody {
    time: i64,
    /// `keymeter_backup`, or `archiver`: when PostgreSQL last archived a file of its log.
    source: &'static str,
}

/// The servers of this database, what the one that answers does, the database, and the proof of the ledger.
#[utoipa::path(get, path = "/api/admin/system", operation_id = "show_system", tag = "administration",
    responses((status = 200, body = Envelope<SystemBody>)))]
pub async fn show(State(app): State<Arc<AppState>>, _: Admin) -> Result<Envelope<SystemBody>, Fails<()>> {
    Ok(Envelope::of(app.system.report().await?.into()))
}

impl From<SystemReport> for SystemBody {
    fn from(report: SystemReport) -> Self {
        let job =
            |(name, at): (&'static str, Option<UnixTime>)| JobBody { name, last_success_time: at.map(UnixTime::get) };
        Self {
            server: ServerBody::new(report.own, report.installation.now),
            recent: report.recent.into(),
            jobs: report.jobs.into_iter().map(job).collect(),
            degraded: report.is_stalled.then_some(ErrorCode::NotDurable).into_iter().collect(),
            installation: report.installation.into(),
        }
    }
}

impl From<InstallationReport> for InstallationBody {
    fn from(report: InstallationReport) -> Self {
        let InstallationReport { now, figures, database, .. } = report;
        let invariants = report.invariants.into_iter();
        Self {
            time: now.get(),
            servers: report.servers.into_iter().map(|row| ServerBody::new(row, now)).collect(),
            differing_settings: report.differing_settings.into_iter().map(DifferingSettingBody::from).collect(),
            database: DatabaseBody {
                version: database.version,
                is_writable: database.is_writable,
                bytes: figures.database_bytes,
                idempotency_records_bytes: figures.idempotency_records_bytes,
                reservations_open: figures.reservations_open,
                reservations_overdue_seconds: figures.reservations_overdue_seconds,
                partitions_ahead_days: figures.partitions_ahead_days,
                default_partition_rows: figures.default_partition_rows,
                synchronous_standbys: figures.synchronous_standbys,
                other_standbys: figures.other_standbys,
                archiver_failures: figures.archiver_failed,
                archiver_fails: database.archiver_fails,
            },
            proof: ProofBody {
                ended_time: report.proved_time.map(UnixTime::get),
                invariants: invariants
                    .map(|one| InvariantBody { name: one.name, violations: one.violations })
                    .collect(),
            },
            backup: report.backup.map(BackupBody::from),
        }
    }
}

impl ServerBody {
    fn new(row: KnownServer, now: UnixTime) -> Self {
        Self {
            running: row.is_running(now),
            id: row.id,
            name: row.name,
            version: row.version,
            newest_migration: row.newest_migration,
            started_time: row.started_time.get(),
            seen_time: row.seen_time.get(),
        }
    }
}

impl From<RecentFigures> for RecentBody {
    fn from(recent: RecentFigures) -> Self {
        let slowest = recent.steps.iter().filter(|step| step.mean.is_some()).max_by_key(|step| step.mean);
        Self {
            slowest_step: slowest.map(|step| step.step),
            milliseconds: recent.milliseconds,
            requests: recent.requests,
            failures: recent.failures,
            request: recent.request.into(),
            operations: recent.operations,
            refused: recent.refused,
            failed: recent.failed,
            quota: recent.quota,
            operation: recent.operation.into(),
            batches: recent.batches,
            batched_operations: recent.batched,
            steps: recent.steps.iter().map(|step| StepBody { step: step.step, mean_us: step.mean }).collect(),
            queue: recent.queue,
            in_flight: recent.in_flight,
        }
    }
}

impl From<Quantiles> for QuantilesBody {
    fn from(Quantiles { p50, p99 }: Quantiles) -> Self {
        Self { p50_us: p50, p99_us: p99 }
    }
}

impl From<DifferingSetting> for DifferingSettingBody {
    fn from(setting: DifferingSetting) -> Self {
        let value = |(server_id, value)| ServerValueBody { server_id, value };
        Self { name: setting.name, values: setting.values.into_iter().map(value).collect() }
    }
}

impl From<Backup> for BackupBody {
    fn from(Backup { time, source }: Backup) -> Self {
        let source = match source {
            BackupSource::Command => "keymeter_backup",
            BackupSource::Archiver => "archiver",
        };
        Self { time: time.get(), source }
    }
}
