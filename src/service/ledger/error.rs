//! Why an operation failed.

use super::provider_usage::UsageInvalid;
use crate::domain::ledger::{Refusal, RefusalReason};
use crate::domain::prices::unknown::Unknown;
use crate::storage::StorageError;

/// Why the ledger did nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    /// By the rules.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The same id was sent with another request.
    #[error("this request_id was used for another request; give each request its own id")]
    RequestIdReused,
    /// The gateway sent no amount, and its counts do not say one.
    #[error("{}", unknown_cost(model, why))]
    UnknownCost { model: String, why: Unknown },
    /// What the provider's answer says that it used.
    #[error(transparent)]
    InvalidUsage(#[from] UsageInvalid),
    /// The queue is full, or the wallet is blocked by another transaction.
    #[error("the ledger is busy; retry shortly")]
    Busy,
    /// The database failed. A retry with the same request id finds out whether the operation was committed.
    #[error("the ledger cannot write now; retry with the same request_id")]
    Storage(#[from] StorageError),
}

impl From<RefusalReason> for LedgerError {
    fn from(reason: RefusalReason) -> Self {
        Self::Refused(reason.into())
    }
}

fn unknown_cost(model: &str, why: &Unknown) -> String {
    match why {
        Unknown::NotPriced(why) => format!("the model {model:?} {why}"),
        Unknown::Invalid(_) | Unknown::TooExpensive(_) => why.to_string(),
    }
}
