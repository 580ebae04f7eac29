//! Deletes what limits of sign-ins no longer need.

use super::{Job, Progress, Round};
use crate::domain::bounds;
use crate::domain::time::{DAY, Micros};
use crate::storage::{Conn, StorageError, sign_in_limits};

/// An empty bucket says as much as none.
pub(super) const BUCKETS: Job = Job {
    name: "delete empty limits of sign-ins",
    needs_right_clock: false,
    step: |conn, round| Box::pin(buckets(conn, round)),
};

pub(super) const NETWORKS: Job = Job {
    name: "delete old networks of sign-ins",
    needs_right_clock: true,
    step: |conn, round| Box::pin(networks(conn, round)),
};

pub(super) const LOCKOUTS: Job = Job {
    name: "delete old refused sign-ins",
    needs_right_clock: true,
    step: |conn, round| Box::pin(lockouts(conn, round)),
};

async fn buckets(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let now = Micros::new(round.now.get().saturating_mul(Micros::PER_SECOND));
    Ok(Progress::after_deleting(sign_in_limits::delete_empty(conn, now).await?))
}

async fn networks(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let before = round.now.plus(-DAY * bounds::KNOWN_NETWORK_DAYS);
    Ok(Progress::after_deleting(sign_in_limits::delete_networks_before(conn, before).await?))
}

async fn lockouts(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let (before, unknown) = (bounds::LOCKOUT_SECONDS, bounds::UNKNOWN_LOCKOUT_SECONDS);
    let deleted =
        sign_in_limits::delete_lockouts_before(conn, round.now.plus(-before), round.now.plus(-unknown)).await?;
    Ok(Progress::after_deleting(deleted))
}
