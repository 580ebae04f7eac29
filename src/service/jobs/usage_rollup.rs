//! Adds up the usage of the days that have ended, for reports over long ranges: month by month, some users at a time.

use super::{Progress, Round};
use crate::domain::calendar::Period;
use crate::domain::id::UserId;
use crate::domain::time::Day;
use crate::storage::usage_rollup::{self, Pass, RollUp};
use crate::storage::{Conn, StorageError};

/// How long a day stays open after its end, so that a clock that is set back by minutes reopens none.
const OPEN_SECONDS: i64 = 3_600;

/// Users times days of a step. A user may have a thousand keys with twenty models: 20,000 rows a day.
const USER_DAYS: i64 = 600;

pub(super) async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let RollUp { closed_until, rolled_until, pass } = usage_rollup::lock(conn).await?;
    let open_since = round.now.plus(-OPEN_SECONDS).day_in(round.calendar.zone);
    if let Some(pass) = pass {
        go_on(conn, round, pass).await?;
    } else if rolled_until < closed_until {
        begin(conn, round, rolled_until, closed_until).await?;
    } else if closed_until < open_since {
        usage_rollup::close_days(conn, open_since).await?;
    } else {
        return Ok(Progress::Done);
    }
    Ok(Progress::MoreToDo)
}

/// Begins to add up the next days, those of one month at most. Months without usage are left out. One that was begun is
/// not: its last days may have no usage, and it has to be ended.
async fn begin(conn: &mut Conn, round: Round, rolled_until: Day, closed_until: Day) -> Result<(), StorageError> {
    let mut from = rolled_until;
    if from == round.calendar.first_day(Period::Month, from) {
        match usage_rollup::find_first_day(conn, rolled_until, closed_until).await? {
            Some(first) => from = first,
            None => return usage_rollup::update(conn, closed_until, None).await,
        }
    }
    let until = round.calendar.next_first_day(Period::Month, from).min(closed_until);
    usage_rollup::update(conn, from, Some(Pass { from, until, after: UserId::new(0) })).await
}

/// Adds up the days of a pass for some more users, or, at its end, for all users together.
async fn go_on(conn: &mut Conn, round: Round, pass: Pass) -> Result<(), StorageError> {
    let ends_month = pass.until == round.calendar.first_day(Period::Month, pass.until);
    let ended_month = ends_month.then(|| round.calendar.first_day(Period::Month, pass.from));
    let users = (USER_DAYS / pass.until.days_since(ended_month.unwrap_or(pass.from))).max(1);
    if let Some(after) = usage_rollup::add_users(conn, pass, ended_month, users).await? {
        usage_rollup::update(conn, pass.from, Some(Pass { after, ..pass })).await
    } else {
        usage_rollup::add_everyone(conn, pass).await?;
        usage_rollup::update(conn, pass.until, None).await
    }
}
