//! Periodic work. A job is a function here, or in a file of its own, and one line in `JOBS`.
//!
//! Each step of a job is a short transaction of its own, so it can be killed at any point, and one server at a time
//! does it. The time is the database's. Rows are deleted for their age only while this server's own clock agrees with
//! it: a database whose clock is days ahead must not delete what is still needed.

mod expire_reservations;
mod index_requests;
mod partitions;
mod proof;
mod usage_rollup;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use expire_reservations::{expire_overdue, expire_reservations};
use futures_util::future::BoxFuture;
pub use index_requests::{index_one_day, index_requests};
use tracing::Instrument;

use super::rate_limiter::RateLimiter;
use crate::domain::bounds;
use crate::domain::calendar::Calendar;
use crate::domain::clock::Clock;
use crate::domain::time::{DAY, Micros, UnixTime};
use crate::storage::{self, Conn, Db, StorageError, retention, sign_in_limits};
use crate::telemetry::jobs::JobMetrics;

/// Every job that works on the tables, in this order.
const JOBS: [Job; 20] = [
    Job::any_time("make partitions of charges", |conn, round| Box::pin(partitions::make(conn, round))),
    Job::by_age("drop partitions of charges", |conn, round| Box::pin(partitions::drop_oldest(conn, round))),
    Job::any_time("make partitions of refusals", |conn, round| Box::pin(partitions::make_of_refusals(conn, round))),
    Job::by_age("drop partitions of refusals", |conn, round| {
        Box::pin(partitions::drop_oldest_of_refusals(conn, round))
    }),
    Job::by_age("delete old charges without a partition", |conn, round| Box::pin(charges(conn, round))),
    Job::by_age("delete old imported requests", |conn, round| Box::pin(imported_requests(conn, round))),
    Job::by_age("delete old idempotency records", |conn, round| Box::pin(idempotency_records(conn, round))),
    Job::by_age("delete old idempotency keys", |conn, round| Box::pin(idempotency_keys(conn, round))),
    Job::by_age("delete ended reservations", |conn, round| Box::pin(reservations(conn, round))),
    Job::by_age("delete ended keys", |conn, round| Box::pin(old_keys(conn, round))),
    Job::by_age("erase keys of deleted tokens", |conn, round| Box::pin(deleted_tokens(conn, round))),
    Job::by_age("delete expired sessions", |conn, round| Box::pin(sessions(conn, round))),
    Job::by_age("delete expired access tokens", |conn, round| Box::pin(access_tokens(conn, round))),
    Job::by_age("delete old counts of refused requests", |conn, round| Box::pin(refused_requests(conn, round))),
    // An empty bucket says as much as none.
    Job::any_time("delete empty limits of sign-ins", |conn, round| Box::pin(empty_sign_in_limits(conn, round))),
    Job::by_age("delete old networks of sign-ins", |conn, round| Box::pin(sign_in_networks(conn, round))),
    Job::by_age("delete old refused sign-ins", |conn, round| Box::pin(sign_in_lockouts(conn, round))),
    Job::by_age("add up usage", |conn, round| Box::pin(usage_rollup::step(conn, round))),
    Job::any_time("analyse tables without statistics", |conn, _| Box::pin(statistics(conn))),
    Job::any_time("prove the ledger", |conn, round| Box::pin(proof::step(conn, round))),
];

/// The names of all jobs, for the metric.
pub fn names() -> impl Iterator<Item = &'static str> {
    JOBS.iter().map(|job| job.name).chain([expire_reservations::NAME, index_requests::NAME])
}

/// How often the jobs run.
const INTERVAL: Duration = Duration::from_mins(1);

/// How long a job goes on in one round.
const LONGEST: Duration = Duration::from_secs(30);

/// A job that works on the tables.
struct Job {
    /// For the log and the metric.
    name: &'static str,
    /// Whether it deletes rows for their age, or closes days.
    needs_right_clock: bool,
    /// One step, in a transaction that the caller commits. [`StorageError::Blocked`] ends the job until the next round.
    step: Step,
}

type Step = for<'c> fn(&'c mut Conn, Round) -> BoxFuture<'c, Result<Progress, StorageError>>;

impl Job {
    const fn any_time(name: &'static str, step: Step) -> Self {
        Self { name, needs_right_clock: false, step }
    }

    const fn by_age(name: &'static str, step: Step) -> Self {
        Self { name, needs_right_clock: true, step }
    }
}

/// What a step leaves.
enum Progress {
    MoreToDo,
    Done,
    /// Another server is doing it.
    DoneElsewhere,
}

impl Progress {
    /// Of a step that deletes at most [`retention::BATCH`] rows.
    const fn after_deleting(rows: u64) -> Self {
        if rows < retention::BATCH { Self::Done } else { Self::MoreToDo }
    }
}

/// Whether a job has done all that there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    Yes,
    Later,
}

/// One round of all jobs.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// The database's time.
    now: UnixTime,
    retention_days: u32,
    restore_days: u32,
    calendar: Calendar,
}

impl Round {
    /// The start of the first day whose charges are kept.
    fn charges_since(self) -> UnixTime {
        self.now.utc_midnight().plus(-DAY * i64::from(self.retention_days))
    }

    /// The time since which idempotency records and ended reservations are kept.
    fn answers_since(self) -> UnixTime {
        self.now.plus(-bounds::IDEMPOTENCY_RECORD_SECONDS)
    }
}

/// The jobs of a server.
#[derive(Debug)]
pub struct Jobs {
    db: Db,
    own_clock: Arc<dyn Clock>,
    rate_limiter: Arc<RateLimiter>,
    rules: JobRules,
    metrics: JobMetrics,
}

/// Settings of the jobs.
#[derive(Debug, Clone, Copy)]
pub struct JobRules {
    /// Days for which single charges are kept.
    pub retention_days: u32,
    /// Days for which a deleted token can be restored.
    pub restore_days: u32,
    /// Of the days of usage.
    pub calendar: Calendar,
    /// The most seconds by which this server's clock may differ from the database's.
    pub max_clock_skew: i64,
}

impl Jobs {
    /// Jobs on `db`. `own_clock` is the wall clock of this machine.
    pub const fn new(
        db: Db,
        own_clock: Arc<dyn Clock>,
        rate_limiter: Arc<RateLimiter>,
        rules: JobRules,
        metrics: JobMetrics,
    ) -> Self {
        Self { db, own_clock, rate_limiter, rules, metrics }
    }

    /// Runs the jobs every minute, for as long as the server runs.
    pub async fn run(self) {
        let mut ticks = tokio::time::interval(INTERVAL);
        loop {
            ticks.tick().await;
            self.rate_limiter.tidy();
            if self.db.is_stalled() {
                continue;
            }
            // What failed has its line in the log.
            let _ = self.run_once().await;
        }
    }

    /// Runs every job once, at the database's time; without those that delete rows, if the clocks differ too much.
    ///
    /// # Errors
    /// See [`Self::run_as_of`].
    pub async fn run_once(&self) -> Result<(), StorageError> {
        let now = async { storage::read_clock(&mut *self.db.acquire().await?).await };
        let now = now
            .await
            .inspect_err(|error| tracing::warn!(%error, "no job can run without the database's clock"))?
            .seconds();
        let skew = self.own_clock.now().since(now);
        let clock_is_right = skew.abs() <= self.rules.max_clock_skew;
        if !clock_is_right {
            tracing::error!(
                skew_seconds = skew,
                "this server's clock is too far from the database's: nothing is deleted for its age, and no day is closed; correct the clock \
                 that is wrong (NTP)"
            );
        }
        self.run_jobs(now, |job| clock_is_right || !job.needs_right_clock).await
    }

    /// Runs every job once, as if it were `now`. A job that fails does not keep the others from running.
    ///
    /// # Errors
    /// The first failure, after every job was tried.
    pub async fn run_as_of(&self, now: UnixTime) -> Result<(), StorageError> {
        self.run_jobs(now, |_| true).await
    }

    async fn run_jobs(&self, now: UnixTime, may_run: impl Fn(&Job) -> bool) -> Result<(), StorageError> {
        let JobRules { retention_days, restore_days, calendar, .. } = self.rules;
        let round = Round { now, retention_days, restore_days, calendar };
        let mut outcome = Ok(());
        for job in JOBS.iter().filter(|job| may_run(job)) {
            let span = tracing::error_span!("job", job = job.name);
            let finished = self.finish(job, round).instrument(span).await;
            match &finished {
                Ok(Finished::Yes) => self.metrics.succeeded(job.name, now.get()),
                Ok(Finished::Later) => {}
                Err(error) => tracing::warn!(job = job.name, %error, "a job failed; the next round tries again"),
            }
            outcome = outcome.and(finished.map(drop));
        }
        outcome
    }

    /// Runs the steps of a job until nothing is left to do, or it has taken its time: other jobs wait, and the time of
    /// the round gets old.
    async fn finish(&self, job: &Job, round: Round) -> Result<Finished, StorageError> {
        let started = Instant::now();
        loop {
            match self.step(job, round).await {
                Ok(Progress::MoreToDo) if started.elapsed() > LONGEST => return Ok(Finished::Later),
                Ok(Progress::MoreToDo) => {}
                Ok(Progress::Done) => return Ok(Finished::Yes),
                Ok(Progress::DoneElsewhere) => return Ok(Finished::Later),
                Err(StorageError::Blocked(reason)) => {
                    tracing::info!(job = job.name, %reason, "a table is in use; the next round tries again");
                    return Ok(Finished::Later);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs one step in a transaction of its own, unless another server is running one.
    async fn step(&self, job: &Job, round: Round) -> Result<Progress, StorageError> {
        let mut tx = self.db.begin().await?;
        if !retention::lock(&mut tx).await? {
            return Ok(Progress::DoneElsewhere);
        }
        match (job.step)(&mut tx, round).await {
            Ok(progress) => {
                storage::commit(tx).await?;
                Ok(progress)
            }
            Err(error) => {
                // Now, and not when the connection is used again: the next job of the round needs the lock.
                let _ = tx.rollback().await;
                Err(error)
            }
        }
    }
}

async fn charges(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(retention::delete_charges_without_partition(conn, round.charges_since()).await?))
}

async fn imported_requests(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(storage::imported_requests::delete(conn, round.charges_since()).await?))
}

async fn idempotency_records(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(retention::delete_idempotency_records(conn, round.answers_since()).await?))
}

async fn idempotency_keys(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(storage::idempotency_keys::delete_old(conn, round.answers_since()).await?))
}

async fn reservations(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(retention::delete_reservations(conn, round.answers_since()).await?))
}

async fn old_keys(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let then = round.now.plus(-bounds::ENDED_KEY_SECONDS);
    Ok(Progress::after_deleting(storage::old_keys::delete_ended(conn, then).await?))
}

async fn deleted_tokens(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let then = round.now.plus(-DAY * i64::from(round.restore_days));
    Ok(Progress::after_deleting(storage::tokens::erase_keys(conn, then).await?))
}

async fn sessions(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(storage::sessions::delete_expired(conn, round.now).await?))
}

async fn access_tokens(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(storage::access_tokens::delete_expired(conn, round.now).await?))
}

async fn refused_requests(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let day = round.charges_since().day_in(chrono_tz::UTC);
    Ok(Progress::after_deleting(storage::refused_requests::delete_before(conn, day).await?))
}

async fn empty_sign_in_limits(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let now = Micros::new(round.now.get().saturating_mul(Micros::PER_SECOND));
    Ok(Progress::after_deleting(sign_in_limits::delete_empty(conn, now).await?))
}

async fn sign_in_networks(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let before = round.now.plus(-DAY * bounds::KNOWN_NETWORK_DAYS);
    Ok(Progress::after_deleting(sign_in_limits::delete_networks_before(conn, before).await?))
}

async fn sign_in_lockouts(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let (known, unknown) = (bounds::LOCKOUT_SECONDS, bounds::UNKNOWN_LOCKOUT_SECONDS);
    let (known, unknown) = (round.now.plus(-known), round.now.plus(-unknown));
    Ok(Progress::after_deleting(sign_in_limits::delete_lockouts_before(conn, known, unknown).await?))
}

async fn statistics(conn: &mut Conn) -> Result<Progress, StorageError> {
    let Some(table) = retention::analyze_one_table(conn).await? else {
        return Ok(Progress::Done);
    };
    tracing::info!(table, "analysed a table that had no statistics");
    Ok(Progress::MoreToDo)
}
