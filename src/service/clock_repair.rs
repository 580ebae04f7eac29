//! Brings back to the present what was written while the database's clock was ahead. Without that, a limit that was
//! used up in the future would refuse until that day.
//!
//! Verify and the lanes notice it on the keys in use; all others are looked for every ten seconds. The repair runs
//! under the lock of the wallet, like every change of balances.

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::domain::account::Account;
use crate::domain::audit::{Action, Actor, AuditEntry, Details, Subject};
use crate::domain::bounds;
use crate::domain::calendar::Moment;
use crate::domain::id::UserId;
use crate::domain::rate_limits::{RateCounters, RateLimits};
use crate::domain::time::Day;
use crate::service::core::Core;
use crate::storage::clock_repair::{self as rows, MovedUsage};
use crate::storage::ledger::LockedWallet;
use crate::storage::{self, Conn, StorageError, audit, ledger, usage_rollup};

/// How many users may wait. One that does not fit is found again.
const QUEUE: usize = 1_024;

/// How often users are looked for.
const INTERVAL: Duration = Duration::from_secs(10);

/// How many users are looked for at once.
const LIMIT: i64 = 100;

/// How many days with usage may be in the future. With more, the clock is not believed.
const MAX_OPENED_DAYS: i64 = 31;

/// Takes users whose rows may be ahead of the clock.
#[derive(Debug, Clone)]
pub struct ClockRepairs(mpsc::Sender<UserId>);

impl ClockRepairs {
    /// The sender, and the queue for [`ClockRepairer`].
    pub fn new() -> (Self, mpsc::Receiver<UserId>) {
        let (requests, queue) = mpsc::channel(QUEUE);
        (Self(requests), queue)
    }

    /// Asks for a repair of a user if the wallet, or the rates of one of the tokens, is ahead of the clock.
    pub fn check(&self, user: UserId, wallet: &Account, rates: (&RateLimits, RateCounters), at: &Moment) {
        if is_ahead(wallet, rates, at) {
            // The regular look finds what does not fit.
            let _ = self.0.try_send(user);
        }
    }
}

/// Repairs users, for as long as a server runs.
#[derive(Debug)]
pub struct ClockRepairer {
    core: Core,
}

impl ClockRepairer {
    pub const fn new(core: Core) -> Self {
        Self { core }
    }

    /// Repairs the users of `queue`, and looks for others.
    pub async fn run(self, mut queue: mpsc::Receiver<UserId>) {
        let mut ticks = tokio::time::interval(INTERVAL);
        let mut waiting = Vec::new();
        loop {
            let repaired = tokio::select! {
                _ = ticks.tick() => self.repair_all().await,
                1.. = queue.recv_many(&mut waiting, QUEUE) => {
                    let users: HashSet<UserId> = waiting.drain(..).collect();
                    self.repair_each(users).await
                }
                else => return,
            };
            if let Err(error) = repaired {
                // While nothing is changed, another line of the log says so.
                if !matches!(error, StorageError::Stalled) {
                    tracing::warn!(%error, "usage in the future was not repaired; the next round tries again");
                }
                tokio::time::sleep(bounds::CLOCK_INTERVAL).await;
            }
        }
    }

    /// Looks for users whose rows are ahead of the clock, and repairs them.
    ///
    /// # Errors
    /// The database failed.
    pub async fn repair_all(&self) -> Result<(), StorageError> {
        if !self.core.clock.is_current() || !self.open_days_of_the_future().await? {
            return Ok(());
        }
        // Never by a time that is known to be old.
        while self.core.clock.is_current() {
            let at = Moment::new(self.core.clock.micros(), self.core.calendar);
            let users = list_ahead(&mut *self.core.db.acquire().await?, &at).await?;
            let found = i64::try_from(users.len()).unwrap_or(LIMIT);
            self.repair_each(users).await?;
            if found < LIMIT {
                break;
            }
        }
        Ok(())
    }

    /// Opens days that were closed and have not ended. Returns false if nothing may be repaired.
    async fn open_days_of_the_future(&self) -> Result<bool, StorageError> {
        let mut tx = self.core.db.begin().await?;
        let at = Moment::new(self.core.clock.micros(), self.core.calendar);
        let may_repair = open_days(&mut tx, &at).await?;
        if !may_repair {
            tracing::error!(
                today = %at.today,
                "usage of more than {MAX_OPENED_DAYS} days is in the future: correct the database's clock; nothing is repaired before"
            );
        }
        storage::commit(tx).await?;
        Ok(may_repair)
    }

    async fn repair_each(&self, users: impl IntoIterator<Item = UserId>) -> Result<(), StorageError> {
        for user in users {
            self.repair(user).await?;
        }
        Ok(())
    }

    /// Repairs one user, in one transaction. Usage of the future becomes usage of today, so that a limit that was spent
    /// stays spent.
    async fn repair(&self, user: UserId) -> Result<(), StorageError> {
        if !self.core.clock.is_current() {
            return Ok(());
        }
        let mut tx = self.core.db.begin().await?;
        rows::allow_minutes(&mut tx).await?;
        let Some(LockedWallet { wallet, .. }) = ledger::lock_wallets(&mut tx, &[user]).await?.pop() else {
            return Ok(());
        };
        let at = Moment::new(self.core.clock.micros(), self.core.calendar);
        if wallet.account.period_counters.day > at.last_believable_day() {
            if !open_days(&mut tx, &at).await? {
                return Ok(());
            }
            let moved = rows::move_daily_usage(&mut tx, user, at.today).await?;
            let charges = rows::move_charges(&mut tx, user, at.today, at.now, self.core.calendar.zone.name()).await?;
            rows::count_periods(&mut tx, user, at.today).await?;
            let details = describe(moved, wallet.account.period_counters.day, at.today);
            tracing::warn!(%user, charges, ?details, "usage in the future was moved to today; check the database's clock");
            let entry = AuditEntry::new(at.now, Actor::Service, Action::FutureUsageMoved, Subject::user(user));
            audit::insert(&mut tx, entry.with(details)).await?;
        }
        let mut tokens = rows::lock_rates(&mut tx, user, at.micros).await?;
        for token in &mut tokens {
            token.counters = token.limits.cut(token.counters, at.micros);
        }
        rows::update_rates(&mut tx, &tokens, at.now).await?;
        rows::cut_reservations(&mut tx, user, at.now.plus(bounds::MAX_RESERVATION_SECONDS)).await?;
        self.core.invalidator.commit(tx, user).await
    }
}

/// Opens days that were closed and have not ended. Returns false, and opens none, if so many days from today on have
/// usage that no clock was ahead: it is behind now, and opening the days would lose sums that cannot be made again.
async fn open_days(conn: &mut Conn, at: &Moment) -> Result<bool, StorageError> {
    let closed_until = usage_rollup::find(conn).await?.closed_until;
    if closed_until <= at.today {
        // So no day from today on has sums.
        return Ok(true);
    }
    if usage_rollup::count_days_from(conn, at.today, MAX_OPENED_DAYS + 1).await? > MAX_OPENED_DAYS {
        return Ok(false);
    }
    // Charges may have counted in days that were taken for open.
    let is_believable = closed_until <= at.last_believable_day();
    let first = if is_believable { at.today } else { at.today.plus_days(-1) };
    tracing::warn!(%closed_until, %first, "days that have not ended were closed, and are open again");
    usage_rollup::reopen_days(conn, first).await?;
    Ok(true)
}

/// Some of the users whose usage or reservations are ahead of the clock.
///
/// # Errors
/// The database failed.
pub async fn list_ahead(conn: &mut Conn, at: &Moment) -> Result<Vec<UserId>, StorageError> {
    // The clock of another server may be a little ahead of this one's.
    let last_end = at.now.plus(bounds::MAX_RESERVATION_SECONDS + 1);
    rows::list_users_ahead(conn, at.last_believable_day(), last_end, LIMIT).await
}

/// Returns true if a token or its owner's wallet was charged while the clock was ahead: on a day that has not come, or
/// beyond a full rate.
fn is_ahead(wallet: &Account, (limits, counters): (&RateLimits, RateCounters), at: &Moment) -> bool {
    wallet.period_counters.day > at.last_believable_day() || limits.cut(counters, at.micros) != counters
}

fn describe(moved: Option<MovedUsage>, counted_until: Day, today: Day) -> Details {
    let from = moved.map_or(counted_until, |moved| moved.from);
    let sum = |of: fn(MovedUsage) -> i64| moved.map_or(0, of).to_string();
    Details::from([
        ("from_day", from.to_string()),
        ("to_day", today.to_string()),
        ("quota", sum(|moved| moved.quota)),
        ("requests", sum(|moved| moved.requests)),
    ])
}
