//! Proves the ledger, a slice of tokens and one of wallets at a time, over and over. What it finds is in the metrics of
//! every server.

use std::collections::BTreeMap;

use super::{Progress, Round};
use crate::service::proof::{InvariantViolation, prove_tokens, prove_wallets};
use crate::storage::proof_rounds::{self, NextSlices};
use crate::storage::{Conn, StorageError, clock_repair, consistency};

/// Findings of a slice that the log names.
const NAMED: usize = 10;

/// Seconds between two slices, of all servers together: a little less than between the rounds of one server's jobs.
const PAUSE: i64 = 50;

pub(super) async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let NextSlices { token, user, slice_time } = proof_rounds::find(conn).await?;
    let now = round.now;
    if !now.is_due(slice_time, PAUSE) {
        return Ok(Progress::Done);
    }
    consistency::plan_ranges(conn).await?;
    clock_repair::allow_minutes(conn).await?;
    let (token, mut findings) = match token {
        Some(from) => tokens(conn, from, round).await?,
        None => (None, Vec::new()),
    };
    let user = match user {
        Some(from) => wallets(conn, from, &mut findings).await?,
        None => None,
    };
    let mut counts = BTreeMap::new();
    for InvariantViolation { invariant, .. } in &findings {
        *counts.entry(*invariant).or_insert(0) += 1;
    }
    for (invariant, count) in counts {
        proof_rounds::add_found(conn, invariant, count).await?;
    }
    for InvariantViolation { text, .. } in findings.iter().take(NAMED) {
        tracing::error!(
            finding = text,
            of = findings.len(),
            "the ledger is inconsistent; keep a dump of the database, run `keymeter doctor`, and report this"
        );
    }
    if token.is_none() && user.is_none() {
        proof_rounds::end(conn, now).await?;
    } else {
        let slice_time = Some(now);
        proof_rounds::update(conn, NextSlices { token, user, slice_time }).await?;
    }
    Ok(Progress::Done)
}

/// The token after the slice, and what violates an invariant.
async fn tokens(
    conn: &mut Conn,
    from: i64,
    round: Round,
) -> Result<(Option<i64>, Vec<InvariantViolation>), StorageError> {
    let zone = round.calendar.zone.name();
    let since = consistency::find_first_whole_day(conn, zone).await?;
    let Some(slice) = proof_rounds::find_slice(conn, from, since).await? else {
        return Ok((None, Vec::new()));
    };
    let findings = prove_tokens(conn, (from, slice.to), zone, slice.since).await?;
    Ok((slice.to.checked_add(1), findings))
}

/// The user after the slice.
async fn wallets(
    conn: &mut Conn,
    from: i64,
    findings: &mut Vec<InvariantViolation>,
) -> Result<Option<i64>, StorageError> {
    let Some(to) = proof_rounds::find_last_wallet(conn, from).await? else {
        return Ok(None);
    };
    findings.extend(prove_wallets(conn, (from, to)).await?);
    Ok(to.checked_add(1))
}
