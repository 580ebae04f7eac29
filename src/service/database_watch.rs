//! Notices that the database forgot what was answered, and that a newer program needs it for itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use prometheus_client::registry::Registry;

use super::acknowledged::LastAnswers;
use super::core::Core;
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::storage::acknowledged::Acknowledged;
use crate::storage::server_state::DatabaseState;
use crate::storage::{self, Conn, StorageError, audit, database_figures, newest_migration, proof_rounds};
use crate::telemetry::database::{DatabaseMetrics, DiskMetrics};
use crate::telemetry::disk::DiskSpace;
use crate::telemetry::ledger::LostAnswers;
use crate::telemetry::seldom::Seldom;

/// How often the state of the database is read.
const EVERY: Duration = Duration::from_secs(1);

/// How often the figures of the metrics are read.
const MEASURE_EVERY: Duration = Duration::from_mins(1);

/// The most answers that are looked up: during an outage more come than can be lost.
const MOST_SUSPECTS: usize = 1_000;

/// The most days that a disk is said to last: a hundred years.
const MOST_DAYS: i64 = 36_500;

/// How many lost answers the audit log and the log name.
const NAMED: usize = 10;

/// Reads the state of the database, for as long as the server may use it.
pub struct DatabaseWatch {
    core: Core,
    answers: Arc<LastAnswers>,
    /// True when this program is too old for the database.
    is_outdated: Arc<AtomicBool>,
    lost: LostAnswers,
    metrics: DatabaseMetrics,
    /// Of the private PostgreSQL.
    disk: Option<(PathBuf, DiskMetrics)>,
}

impl DatabaseWatch {
    /// `data_dir` is that of the private PostgreSQL.
    pub fn new(
        core: Core,
        answers: Arc<LastAnswers>,
        is_outdated: Arc<AtomicBool>,
        data_dir: Option<PathBuf>,
        registry: &mut Registry,
    ) -> Self {
        let (lost, metrics) = (LostAnswers::register(registry), DatabaseMetrics::register(registry));
        let disk = data_dir.map(|data_dir| (data_dir, DiskMetrics::register(registry)));
        Self { core, answers, is_outdated, lost, metrics, disk }
    }

    /// Returns the oldest newest migration of a program that may use the database, when this one is older.
    pub async fn run(self) -> i64 {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (mut measured, mut line) = (None, Seldom::default());
        let mut unrecorded = None;
        let (mut before, mut previous, mut suspects) = (None, Vec::<Acknowledged>::new(), Vec::<Acknowledged>::new());
        loop {
            ticks.tick().await;
            // Copied before the question: what is answered after a failover pushes out what was answered before.
            let last = self.answers.list();
            if self.core.db.is_stalled() && line.is_due() {
                tracing::warn!("a commit waits for the disk or a synchronous standby; nothing is changed meanwhile");
            }
            let state = self.core.db.state().await;
            let is_changed = match &state {
                Ok(state) => before.is_some_and(|before: DatabaseState| {
                    (before.process, before.timeline) != (state.process, state.timeline)
                }),
                Err(_) => before.is_some(),
            };
            if is_changed {
                for one in previous.iter().chain(&last) {
                    if suspects.len() < MOST_SUSPECTS && !suspects.contains(one) {
                        suspects.push(one.clone());
                    }
                }
            }
            previous = last;
            let Ok(state) = state else { continue };
            if measured.is_none_or(|at: Instant| at.elapsed() >= MEASURE_EVERY) {
                measured = Some(Instant::now());
                if let Err(error) = self.measure().await {
                    tracing::debug!(%error, "the figures of the database could not be read");
                }
            }
            before = Some(state);
            if state.min_migration > newest_migration() {
                self.is_outdated.store(true, Ordering::Relaxed);
                return state.min_migration;
            }
            // A standby may only be behind.
            if state.is_writable && !suspects.is_empty() {
                match self.find_lost(&suspects).await {
                    Ok(lost) => {
                        unrecorded = lost.or(unrecorded);
                        suspects.clear();
                    }
                    Err(error) => tracing::warn!(%error, "the last answers could not be looked up; trying again"),
                }
            }
            // Nothing may be changed yet, if no standby has come back.
            if let Some(entry) = &unrecorded
                && !self.core.db.is_stalled()
            {
                match self.record(entry.clone()).await {
                    Ok(()) | Err(StorageError::NotDurable) => unrecorded = None,
                    Err(error) => tracing::debug!(%error, "lost answers could not be recorded; trying again"),
                }
            }
        }
    }

    async fn measure(&self) -> Result<(), StorageError> {
        let now = self.core.clock.now();
        let read =
            async |conn: &mut Conn| Ok((database_figures::read(conn, now).await?, proof_rounds::list(conn).await?));
        let (figures, (invariants, _)) = self.core.db.bounded_not_reserved(read).await?;
        for (gauge, value) in [
            (&self.metrics.reservations_open, figures.reservations_open),
            (&self.metrics.reservations_overdue, figures.reservations_overdue_seconds),
            (&self.metrics.partitions_ahead, figures.partitions_ahead_days),
            (&self.metrics.default_partition_rows, figures.default_partition_rows),
            (&self.metrics.size, figures.database_bytes),
            (&self.metrics.idempotency_records, figures.idempotency_records_bytes),
            (&self.metrics.archiver_failed, figures.archiver_failed),
        ] {
            gauge.set(value);
        }
        for invariant in &invariants {
            self.metrics.set_violations(&invariant.name, invariant.violations);
        }
        if let Some((data_dir, metrics)) = &self.disk
            && let Ok(disk) = DiskSpace::of(data_dir)
        {
            let free = i64::try_from(disk.free).unwrap_or(i64::MAX);
            metrics.free.set(free);
            metrics.days_left.set(free.checked_div(figures.growth_bytes).map_or(MOST_DAYS, |days| days.min(MOST_DAYS)));
        }
        self.metrics.set_standbys(figures.synchronous_standbys, figures.other_standbys);
        Ok(())
    }

    /// Tells of the lost ones of these answers, once. Returns the line of the audit log about them.
    async fn find_lost(&self, suspects: &[Acknowledged]) -> Result<Option<AuditEntry>, StorageError> {
        let lost = self.core.db.list_lost(suspects).await?;
        if lost.is_empty() {
            return Ok(None);
        }
        let count = lost.len();
        let named: Vec<_> = lost.iter().take(NAMED).map(ToString::to_string).collect();
        let named = named.join(", ");
        self.lost.add(count);
        tracing::error!(
            count,
            named,
            looked_up = suspects.len(),
            "the database has lost what was answered: a failover without synchronous standbys, or a restore; \
             docs/operations.md says what to do"
        );
        let details = [("lost", count.to_string()), ("looked_up", suspects.len().to_string()), ("named", named)];
        let entry = AuditEntry::new(self.core.clock.now(), Actor::Service, Action::AnswersLost, Subject::database())
            .with(details);
        Ok(Some(entry))
    }

    async fn record(&self, entry: AuditEntry) -> Result<(), StorageError> {
        let mut tx = self.core.db.begin().await?;
        audit::insert(&mut tx, entry).await?;
        storage::commit(tx).await
    }
}
