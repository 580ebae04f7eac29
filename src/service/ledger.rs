//! The ledger: charges, reservations, and the committer that makes them exact and durable.
//!
//! Every operation waits on the lane of its owner. A lane takes all that wait, opens one
//! transaction, locks the wallets and then the tokens, lets [`Books`] decide in the order of
//! arrival, writes everything in one statement and commits: one fsync for all, no artificial wait.
//! Nobody is answered before that. A failed batch answers 503 to all of it, and nothing of it is
//! kept (L4). The queue is bounded: what does not fit is refused (L8).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono_tz::Tz;
use tokio::sync::{mpsc, oneshot};

use super::dice::Dice;
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::ledger::{Account, Books, Refused, Settlement, Told, Use};
use crate::domain::money::Quota;
use crate::domain::time::{Clock, UnixTime};
use crate::storage::ledger::{Changes, Charge, NewReservation, Receipt, ReceiptKey};
use crate::storage::{self, Constraint, Db, StorageError, ledger, tokens};

/// Operations in one transaction, at most.
const BATCH: usize = 1_024;

/// Times a batch is tried again after a deadlock or a race between servers.
const TRIES: usize = 5;

/// What an operator decides about the ledger.
#[derive(Debug, Clone, Copy)]
pub struct LedgerRules {
    /// Batches under way at once.
    pub lanes: usize,
    /// Operations that may wait on each lane.
    pub queue: usize,
    /// Whose days the roll-up counts.
    pub zone: Tz,
}

/// Tokens in and out, as the gateway counted them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Input tokens.
    pub prompt_tokens: i64,
    /// Output tokens.
    pub completion_tokens: i64,
}

/// An operation that a gateway asks for.
#[derive(Debug, Clone)]
pub struct Order {
    /// Who asks; `None` for the service itself, which expires reservations.
    pub gateway: Option<GatewayId>,
    /// Whose wallet it is about: decides the lane.
    pub owner: UserId,
    /// What.
    pub what: What,
}

/// What is to be done.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the words of the contract")]
pub enum What {
    /// Take quota.
    Charge { token: TokenId, quota: Quota, asked: Use, counts: Counts, receipt: Option<(String, Vec<u8>)> },
    /// Set quota aside.
    Reserve { token: TokenId, quota: Quota, asked: Use, expires_at: UnixTime },
    /// End a reservation as a charge.
    Settle { reservation: ReservationId, quota: Quota, counts: Counts },
    /// End a reservation, giving all back.
    Release { reservation: ReservationId },
    /// End a reservation whose time is over.
    Expire { reservation: ReservationId },
}

/// What was done, and what the token has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the contract")]
pub enum Done {
    /// A charge, now or as told before.
    Charged { charged: Quota, remain_quota: Quota },
    /// A reservation.
    Reserved { reservation: ReservationId, expires_at: UnixTime, remain_quota: Quota },
    /// A settlement, now or as told before.
    Settled { settlement: Settlement, remain_quota: Quota },
    /// A release or an expiry.
    Ended { remain_quota: Quota },
}

/// Why nothing was done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    /// By the rules.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Another request was given this id.
    #[error("this request_id was used for another request; give each request an id of its own")]
    RequestIdReused,
    /// The queue is full.
    #[error("the ledger is busy; try again in a moment")]
    Busy,
    /// The database; whether it was done is told by a retry with the same `request_id`.
    #[error("the ledger cannot write now; try again with the same request_id")]
    Storage(Arc<StorageError>),
}

type Answer = Result<Done, LedgerError>;

struct Waiting {
    order: Order,
    tell: oneshot::Sender<Answer>,
}

/// Takes operations and answers them when they are durable.
#[derive(Debug)]
pub struct Ledger {
    db: Db,
    lanes: Vec<mpsc::Sender<Waiting>>,
}

impl Ledger {
    /// Starts the lanes. They end when the ledger is dropped and everything that waited is answered.
    #[must_use]
    pub fn start(db: &Db, clock: &Arc<dyn Clock>, dice: &Dice, rules: LedgerRules) -> Self {
        let lane = || {
            let (lane, waiting) = mpsc::channel(rules.queue.max(1));
            let committer =
                Committer { db: db.clone(), clock: Arc::clone(clock), dice: dice.clone(), zone: rules.zone };
            tokio::spawn(committer.run(waiting));
            lane
        };
        Self { db: db.clone(), lanes: std::iter::repeat_with(lane).take(rules.lanes.max(1)).collect() }
    }

    /// What a gateway was answered to a charge of this id, if it was: also when the token is gone by now.
    ///
    /// # Errors
    /// The id was given to another request; the database.
    pub async fn recall(&self, key: ReceiptKey, fingerprint: &[u8]) -> Result<Option<Done>, LedgerError> {
        let found = async { ledger::find_receipts(&mut *self.db.acquire().await?, std::slice::from_ref(&key)).await };
        let mut found = found.await.map_err(|error| LedgerError::Storage(Arc::new(error)))?;
        match found.remove(&key) {
            Some(before) if before.fingerprint != fingerprint => Err(LedgerError::RequestIdReused),
            Some(Receipt { charged, remain_quota, .. }) => Ok(Some(Done::Charged { charged, remain_quota })),
            None => Ok(None),
        }
    }

    /// Queues an operation and waits until it is durable or refused.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn execute(&self, order: Order) -> Answer {
        self.queue(order)?.await
    }

    /// Queues an operation at once; of one owner, the first queued is the first decided. Its outcome
    /// is told when it is awaited.
    ///
    /// # Errors
    /// The queue is full.
    pub fn queue(&self, order: Order) -> Result<impl Future<Output = Answer> + use<>, LedgerError> {
        let at = usize::try_from(order.owner.get().unsigned_abs()).unwrap_or(0) % self.lanes.len();
        let (tell, told) = oneshot::channel();
        self.lanes[at].try_send(Waiting { order, tell }).map_err(|_| LedgerError::Busy)?;
        Ok(async { told.await.unwrap_or_else(|_| Err(LedgerError::Storage(Arc::new(StorageError::GivenUp)))) })
    }
}

/// One lane.
struct Committer {
    db: Db,
    clock: Arc<dyn Clock>,
    dice: Dice,
    zone: Tz,
}

impl Committer {
    async fn run(self, mut waiting: mpsc::Receiver<Waiting>) {
        let mut batch = Vec::new();
        while waiting.recv_many(&mut batch, BATCH).await > 0 {
            let (orders, callers): (Vec<_>, Vec<_>) = batch.drain(..).map(|one| (one.order, one.tell)).unzip();
            let answers = self.commit(&orders).await;
            for (caller, answer) in callers.into_iter().zip(answers) {
                // Whoever left can ask again with the same request_id.
                let _ = caller.send(answer);
            }
        }
    }

    /// Does a batch; tries again what was only bad luck.
    async fn commit(&self, orders: &[Order]) -> Vec<Answer> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.attempt(orders).await {
                Ok(answers) => return answers,
                Err(StorageError::Contended(_) | StorageError::Constraint(Constraint::ReceiptUnique))
                    if tries < TRIES => {}
                Err(error) => {
                    tracing::warn!(%error, operations = orders.len(), "a batch was not committed; answered 503");
                    let error = LedgerError::Storage(Arc::new(error));
                    return orders.iter().map(|_| Err(error.clone())).collect();
                }
            }
        }
    }

    /// One transaction: lock, decide, write, commit.
    async fn attempt(&self, orders: &[Order]) -> Result<Vec<Answer>, StorageError> {
        let mut tx = self.db.begin().await?;
        let mut page = Page::open(&mut tx, orders).await?;
        let now = self.clock.now();
        let answers: Vec<Answer> = orders.iter().map(|order| page.decide(order, now, self)).collect();
        let changes = page.close();
        if !changes.is_empty() {
            ledger::write(&mut tx, &changes, now).await?;
        }
        storage::commit(tx).await?;
        Ok(answers)
    }
}

/// The locked rows of a batch, and what it adds.
struct Page {
    before: Books,
    books: Books,
    models: BTreeMap<ReservationId, String>,
    receipts: BTreeMap<ReceiptKey, Receipt>,
    changes: Changes,
}

impl Page {
    /// Locks wallets, then tokens, ids ascending; reads what the orders name.
    async fn open(conn: &mut storage::Conn, orders: &[Order]) -> Result<Self, StorageError> {
        let owners: BTreeSet<UserId> = orders.iter().map(|order| order.owner).collect();
        let mut named: BTreeSet<TokenId> = BTreeSet::new();
        let mut reservations: BTreeSet<ReservationId> = BTreeSet::new();
        let mut receipts: BTreeSet<ReceiptKey> = BTreeSet::new();
        for order in orders {
            match &order.what {
                What::Charge { token, receipt, .. } => {
                    named.insert(*token);
                    receipts
                        .extend(order.gateway.zip(receipt.as_ref()).map(|(gateway, (id, _))| (gateway, id.clone())));
                }
                What::Reserve { token, .. } => {
                    named.insert(*token);
                }
                What::Settle { reservation, .. } | What::Release { reservation } | What::Expire { reservation } => {
                    reservations.insert(*reservation);
                }
            }
        }
        let mut books =
            Books { wallets: ledger::lock_wallets(conn, &Vec::from_iter(owners)).await?, ..Books::default() };
        let mut models = BTreeMap::new();
        if !reservations.is_empty() {
            for (id, (reservation, model)) in ledger::find_reservations(conn, &Vec::from_iter(reservations)).await? {
                // Only with its own wallet locked may a reservation be touched.
                if books.wallets.contains_key(&reservation.user_id) {
                    named.insert(reservation.token_id);
                    books.reservations.insert(id, reservation);
                    models.insert(id, model);
                }
            }
        }
        for (token, is_deleted) in tokens::lock_all(conn, &Vec::from_iter(named)).await? {
            books.tokens.insert(token.id, Account { token, is_deleted });
        }
        let receipts = if receipts.is_empty() {
            BTreeMap::new()
        } else {
            ledger::find_receipts(conn, &Vec::from_iter(receipts)).await?
        };
        Ok(Self { before: books.clone(), books, models, receipts, changes: Changes::default() })
    }

    fn decide(&mut self, order: &Order, now: UnixTime, committer: &Committer) -> Answer {
        match &order.what {
            What::Charge { token, quota, asked, counts, receipt } => {
                let key = order.gateway.zip(receipt.as_ref()).map(|(gateway, (id, _))| (gateway, id.clone()));
                let fingerprint = receipt.as_ref().map(|(_, fingerprint)| fingerprint);
                if let Some(before) = key.as_ref().and_then(|key| self.receipts.get(key)) {
                    if Some(&before.fingerprint) != fingerprint {
                        return Err(LedgerError::RequestIdReused);
                    }
                    return Ok(Done::Charged { charged: before.charged, remain_quota: before.remain_quota });
                }
                self.books.charge(*token, *quota, asked, now)?;
                let remain_quota = self.remain(*token);
                self.changes.charges.push(Charge {
                    at: now,
                    day: now.day_in(committer.zone),
                    gateway_id: order.gateway,
                    token_id: *token,
                    user_id: order.owner,
                    reservation_id: None,
                    model: asked.model.clone().unwrap_or_default(),
                    quota: *quota,
                    shortfall: Quota::ZERO,
                    prompt_tokens: counts.prompt_tokens,
                    completion_tokens: counts.completion_tokens,
                });
                if let (Some(key), Some(fingerprint)) = (key, fingerprint) {
                    let receipt = Receipt { fingerprint: fingerprint.clone(), charged: *quota, remain_quota };
                    self.receipts.insert(key.clone(), receipt.clone());
                    self.changes.receipts.push((key, receipt));
                }
                Ok(Done::Charged { charged: *quota, remain_quota })
            }
            What::Reserve { token, quota, asked, expires_at } => {
                let made = self.books.reserve(order.gateway, *token, *quota, asked, *expires_at, now)?;
                let id = committer.dice.roll(|dice| ReservationId::random(dice));
                self.changes.reserved.push(NewReservation {
                    id,
                    reservation: made,
                    model: asked.model.clone().unwrap_or_default(),
                    created_time: now,
                });
                Ok(Done::Reserved { reservation: id, expires_at: *expires_at, remain_quota: self.remain(*token) })
            }
            What::Settle { reservation: id, quota, counts } => {
                let before = self.books.reservations.get(id).copied();
                let (settlement, told) = self.books.settle(order.gateway, *id, *quota, now)?;
                let Some(before) = before else {
                    return Err(Refused::NoReservation.into());
                };
                if told == Told::First {
                    self.changes.charges.push(Charge {
                        at: now,
                        day: now.day_in(committer.zone),
                        gateway_id: order.gateway,
                        token_id: before.token_id,
                        user_id: before.user_id,
                        reservation_id: Some(*id),
                        model: self.models.get(id).cloned().unwrap_or_default(),
                        quota: settlement.charged,
                        shortfall: settlement.shortfall,
                        prompt_tokens: counts.prompt_tokens,
                        completion_tokens: counts.completion_tokens,
                    });
                }
                Ok(Done::Settled { settlement, remain_quota: self.remain(before.token_id) })
            }
            What::Release { reservation } => {
                self.books.release(order.gateway, *reservation)?;
                Ok(Done::Ended { remain_quota: self.remain_after(*reservation) })
            }
            What::Expire { reservation } => {
                self.books.expire(*reservation, now)?;
                Ok(Done::Ended { remain_quota: self.remain_after(*reservation) })
            }
        }
    }

    fn remain(&self, token: TokenId) -> Quota {
        self.books.tokens.get(&token).map_or(Quota::ZERO, |account| account.token.budget.remain())
    }

    fn remain_after(&self, reservation: ReservationId) -> Quota {
        self.books.reservations.get(&reservation).map_or(Quota::ZERO, |ended| self.remain(ended.token_id))
    }

    /// What is different now.
    fn close(self) -> Changes {
        let (before, after) = (self.before, self.books);
        let mut changes = self.changes;
        changes.wallets.extend(after.wallets.into_iter().filter(|(id, wallet)| before.wallets.get(id) != Some(wallet)));
        let changed =
            after.tokens.into_values().filter(|account| before.tokens.get(&account.token.id) != Some(account));
        changes.tokens.extend(changed.map(|account| account.token));
        changes
            .ended
            .extend(after.reservations.into_iter().filter(|(id, ended)| before.reservations.get(id) != Some(ended)));
        changes
    }
}
