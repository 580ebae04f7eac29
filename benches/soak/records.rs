//! Records of what was sent and of the known outcomes, which are compared with the ledger at the end.

use std::sync::Mutex;

use futures_util::TryStreamExt;
use serde_json::Value;

use crate::world::World;

/// The known outcome of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerOutcome {
    /// Acknowledged: it is in the ledger, once.
    Charged,
    /// Refused, and never sent before: it is not in the ledger.
    Refused,
    /// Sent once without a request id, and not answered: it is there once or not at all.
    Unclear,
}

/// A charge or a settlement. Its mark is unique and is sent as `prompt_tokens`, so that its row can be found.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub mark: i64,
    pub token: i64,
    pub quota: i64,
    pub outcome: LedgerOutcome,
    pub has_request_id: bool,
}

/// An operation of unknown outcome, which is repeated at the end.
#[derive(Debug, Clone)]
pub struct UnresolvedOperation {
    /// Its `outcome` has no meaning yet.
    pub entry: Entry,
    pub path: &'static str,
    pub body: Value,
}

/// Everything that was sent to the ledger.
#[derive(Default)]
pub struct Records {
    entries: Mutex<Vec<Entry>>,
    unresolved: Mutex<Vec<UnresolvedOperation>>,
}

/// The request id of a charge; ids sort as their marks.
pub fn request_id(mark: i64) -> String {
    format!("{mark:018}")
}

impl Records {
    pub fn add(&self, entry: Entry) {
        self.entries.lock().unwrap().push(entry);
    }

    pub fn add_unresolved(&self, operation: UnresolvedOperation) {
        self.unresolved.lock().unwrap().push(operation);
    }

    pub fn take_unresolved(&self) -> Vec<UnresolvedOperation> {
        std::mem::take(&mut *self.unresolved.lock().unwrap())
    }

    /// Compares every entry with the rows of the ledger, in the order of marks. Returns the number of entries with a
    /// request id.
    pub async fn compare(&self, world: &World) -> sqlx::Result<usize> {
        let mut entries = std::mem::take(&mut *self.entries.lock().unwrap());
        entries.sort_unstable_by_key(|entry| entry.mark);
        compare_charges(world, &entries).await?;
        entries.retain(|entry| entry.has_request_id);
        compare_idempotency_records(world, &entries).await?;
        Ok(entries.len())
    }
}

async fn compare_charges(world: &World, entries: &[Entry]) -> sqlx::Result<()> {
    let mut rows = sqlx::query_as::<_, (i64, i64, i64)>(
        "select prompt_tokens, token_id, quota from charges order by prompt_tokens",
    )
    .fetch(&world.pool);
    let (mut entries, mut last) = (entries.iter().peekable(), None);
    while let Some((mark, token, quota)) = rows.try_next().await? {
        if last.replace(mark) == Some(mark) {
            world.record_finding("L4: charged twice", &format!("the charge marked {mark}, of the token {token}"));
            continue;
        }
        while let Some(missing) = entries.next_if(|entry| entry.mark < mark) {
            check_not_charged(world, missing);
        }
        match entries.next_if(|entry| entry.mark == mark) {
            Some(entry) if entry.outcome == LedgerOutcome::Refused => {
                world.record_finding("L4: refused and charged", &format!("{entry:?}"));
            }
            Some(entry) if (entry.token, entry.quota) != (token, quota) => {
                world.record_finding(
                    "L4: charged another amount than answered",
                    &format!("{entry:?}, but {quota} of the token {token}"),
                );
            }
            Some(_) => {}
            None => world
                .record_finding("L4: a charge that was never sent", &format!("marked {mark}, of the token {token}")),
        }
    }
    entries.for_each(|missing| check_not_charged(world, missing));
    Ok(())
}

fn check_not_charged(world: &World, entry: &Entry) {
    if entry.outcome == LedgerOutcome::Charged {
        world.record_finding("L4: acknowledged and lost", &format!("{entry:?}"));
    }
}

async fn compare_idempotency_records(world: &World, entries: &[Entry]) -> sqlx::Result<()> {
    let mut rows = sqlx::query_as::<_, (String, i64)>(
        "select request_id, charged from idempotency_records order by request_id collate \"C\"",
    )
    .fetch(&world.pool);
    let mut entries = entries.iter().peekable();
    let check_absent = |entry: &Entry| {
        if entry.outcome == LedgerOutcome::Charged {
            world.record_finding("L4: acknowledged, but its idempotency record is missing", &format!("{entry:?}"));
        }
    };
    while let Some((id, charged)) = rows.try_next().await? {
        let mark: i64 = id.parse().unwrap_or(-1);
        while let Some(absent) = entries.next_if(|entry| entry.mark < mark) {
            check_absent(absent);
        }
        match entries.next_if(|entry| entry.mark == mark) {
            Some(entry) if entry.outcome == LedgerOutcome::Charged && entry.quota == charged => {}
            other => world.record_finding(
                "L4: an idempotency record with another amount",
                &format!("{id} charged {charged}, {other:?}"),
            ),
        }
    }
    entries.for_each(check_absent);
    Ok(())
}
