//! Operations, each with its own outcome, and how they wait for it.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::batch::Batch;
use super::error::LedgerError;
use super::rows::NeededRows;
use crate::domain::id::UserId;
use crate::domain::ledger::{Refusal, RefusalReason};
use crate::domain::prices::unknown::Unknown;
use crate::domain::refusals::RefusedRequest;
use crate::domain::time::UnixTime;
use crate::storage::acknowledged::Acknowledged;
use crate::storage::ledger::GatewayRequestId;
use crate::telemetry::ledger::{LedgerMetrics, OperationOutcome};

/// What changes balances. To add one, implement this.
pub(super) trait Operation: Send + Sync + 'static {
    /// Its name in metrics.
    const NAME: &'static str;

    /// What the caller is answered.
    type Outcome: Send + Sync + 'static;

    /// How long it waits for a wallet that another transaction has locked. Longer than PostgreSQL lets the transaction
    /// of a server rest that was paused or cut off.
    const PATIENCE: Duration = Duration::from_secs(8);

    /// The owner of the wallet. Operations of one owner are never in two batches at once.
    fn owner(&self) -> UserId;

    /// Names the rows that it needs, besides those of [`Operation::gateway_request_id`].
    fn require<'a>(&'a self, rows: &mut NeededRows<'a>);

    /// The gateway's own id of it, if it has one under which its outcome is recorded.
    fn gateway_request_id(&self) -> Option<&GatewayRequestId> {
        None
    }

    /// The row that shows later what its caller was answered, if there is one.
    fn acknowledged(&self, _outcome: &Self::Outcome) -> Option<Acknowledged> {
        self.gateway_request_id().cloned().map(Acknowledged::Request)
    }

    /// Applies it to the locked rows. Called again, on rows that were read again, if the batch was not committed.
    ///
    /// # Errors
    /// The ledger refuses it; nothing was changed then.
    fn apply(&self, batch: &mut Batch<'_>) -> Result<Self::Outcome, LedgerError>;

    /// What is recorded if its key is refused. `None` if no key can be, or if its token is not known.
    fn refused(&self, _refusal: Refusal, _at: UnixTime) -> Option<RefusedRequest<'_>> {
        None
    }
}

/// An operation that waits.
pub(super) struct Queued {
    operation: Box<dyn PendingOperation>,
    pub(super) owner: UserId,
    pub(super) since: Instant,
    /// It was left out of a batch, because another transaction has locked a row of its owner.
    pub(super) has_come_back: bool,
}

impl Queued {
    /// Returns it and what its caller waits for.
    pub(super) fn new<O: Operation>(operation: O) -> (Self, oneshot::Receiver<Result<O::Outcome, LedgerError>>) {
        let (reply, outcome) = oneshot::channel();
        let owner = operation.owner();
        let operation = Box::new(Waiting { operation, outcome: None, reply });
        (Self { operation, owner, since: Instant::now(), has_come_back: false }, outcome)
    }

    pub(super) fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        self.operation.require(rows);
    }

    /// Applies it, unless another transaction has locked a row of its owner.
    pub(super) fn apply(&mut self, batch: &mut Batch<'_>) {
        self.operation.apply(batch);
    }

    /// The gateway's own id of it, if its outcome is recorded under one.
    pub(super) fn gateway_request_id(&self) -> Option<&GatewayRequestId> {
        self.operation.gateway_request_id()
    }

    /// Returns true if it was decided and failed: then it recorded nothing.
    pub(super) fn has_failed(&self) -> bool {
        self.operation.has_failed()
    }

    /// Returns true if its answer says that something was committed, by this operation or by an earlier one.
    pub(super) fn tells_of_a_commit(&self) -> bool {
        self.operation.tells_of_a_commit()
    }

    /// The row that shows later that it succeeded.
    pub(super) fn acknowledged(&self) -> Option<Acknowledged> {
        self.operation.acknowledged()
    }

    /// Lets it fail, whatever it was applied to before.
    pub(super) fn fail(&mut self, error: LedgerError) {
        self.operation.fail(error);
    }

    /// Returns false if it was left out of the last batch.
    pub(super) fn is_decided(&self) -> bool {
        self.operation.is_decided()
    }

    /// Returns true if it may wait on for its wallet: its caller is still there and has patience.
    pub(super) fn may_wait(&self) -> bool {
        self.since.elapsed() < self.operation.patience() && !self.operation.is_abandoned()
    }

    /// What is recorded, if its key was refused.
    pub(super) fn refused(&self, at: UnixTime) -> Option<RefusedRequest<'_>> {
        self.operation.refused(at)
    }

    /// Answers its caller, once.
    pub(super) fn reply(self, metrics: &LedgerMetrics) {
        self.operation.reply(metrics, self.since.elapsed());
    }
}

impl std::fmt::Debug for Queued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queued")
            .field("owner", &self.owner)
            .field("has_come_back", &self.has_come_back)
            .finish_non_exhaustive()
    }
}

/// An operation of any kind and its outcome so far.
trait PendingOperation: Send + Sync {
    fn require<'a>(&'a self, rows: &mut NeededRows<'a>);
    fn apply(&mut self, batch: &mut Batch<'_>);
    fn gateway_request_id(&self) -> Option<&GatewayRequestId>;
    fn has_failed(&self) -> bool;
    fn tells_of_a_commit(&self) -> bool;
    fn acknowledged(&self) -> Option<Acknowledged>;
    fn fail(&mut self, error: LedgerError);
    fn is_decided(&self) -> bool;
    fn is_abandoned(&self) -> bool;
    fn patience(&self) -> Duration;
    fn refused(&self, at: UnixTime) -> Option<RefusedRequest<'_>>;
    fn reply(self: Box<Self>, metrics: &LedgerMetrics, waited: Duration);
}

struct Waiting<O: Operation> {
    operation: O,
    outcome: Option<Result<O::Outcome, LedgerError>>,
    reply: oneshot::Sender<Result<O::Outcome, LedgerError>>,
}

impl<O: Operation> PendingOperation for Waiting<O> {
    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.owners.insert(self.operation.owner());
        rows.request_ids.extend(self.operation.gateway_request_id());
        self.operation.require(rows);
    }

    fn apply(&mut self, batch: &mut Batch<'_>) {
        let is_blocked = batch.is_blocked(self.operation.owner());
        self.outcome = (!is_blocked).then(|| self.operation.apply(batch));
    }

    fn gateway_request_id(&self) -> Option<&GatewayRequestId> {
        self.operation.gateway_request_id()
    }

    fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    fn tells_of_a_commit(&self) -> bool {
        match &self.outcome {
            Some(Ok(_) | Err(LedgerError::RequestIdReused)) => true,
            Some(Err(LedgerError::Refused(refusal))) => refusal.reason == RefusalReason::ReservationEnded,
            _ => false,
        }
    }

    fn acknowledged(&self) -> Option<Acknowledged> {
        self.operation.acknowledged(self.outcome.as_ref()?.as_ref().ok()?)
    }

    fn fail(&mut self, error: LedgerError) {
        self.outcome = Some(Err(error));
    }

    fn is_decided(&self) -> bool {
        self.outcome.is_some()
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn patience(&self) -> Duration {
        O::PATIENCE
    }

    fn refused(&self, at: UnixTime) -> Option<RefusedRequest<'_>> {
        match self.outcome {
            Some(Err(LedgerError::UnknownCost { why: Unknown::NotPriced(_), .. })) => {
                self.operation.refused(RefusalReason::ModelNotPriced.into(), at)
            }
            Some(Err(LedgerError::Refused(refusal))) if refusal.reason.concerns_key() => {
                self.operation.refused(refusal, at)
            }
            _ => None,
        }
    }

    fn reply(self: Box<Self>, metrics: &LedgerMetrics, waited: Duration) {
        let Self { outcome, reply, .. } = *self;
        if let Some(outcome) = &outcome {
            metrics.answered(O::NAME, outcome_of(outcome), waited);
        }
        // A caller that has left can ask again with the same request id.
        let _ = outcome.map(|outcome| reply.send(outcome));
    }
}

/// The outcome as metrics count it.
const fn outcome_of<T>(outcome: &Result<T, LedgerError>) -> OperationOutcome {
    match outcome {
        Ok(_) => OperationOutcome::Ok,
        Err(
            LedgerError::Refused(_)
            | LedgerError::RequestIdReused
            | LedgerError::UnknownCost { .. }
            | LedgerError::InvalidUsage(_),
        ) => OperationOutcome::Refused,
        Err(LedgerError::Busy) => OperationOutcome::Busy,
        Err(LedgerError::Storage(_)) => OperationOutcome::Failed,
    }
}
