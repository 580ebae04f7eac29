//! The ledger: charges, reservations, and the committer that makes them exact and durable.
//!
//! Every operation waits on the lane of its owner. A lane takes all that wait, opens one
//! transaction, locks the wallets and then the tokens, lets [`Books`] decide in the order of
//! arrival, writes everything in one statement and commits: one fsync for all, no artificial wait.
//! Nobody is answered before that. A failed batch answers 503 to all of it, and nothing of it is
//! kept (L4). The queue is bounded: what does not fit is refused (L8).
//!
//! One bad row harms only itself. A wallet that another transaction holds for too long is left out and tried again
//! beside later batches, and its operations are refused after eight seconds. A batch that fails for what may be one
//! of its rows is done in halves, until only the culprit is left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono_tz::Tz;
use tokio::sync::{mpsc, oneshot};

use crate::domain::group::Groups;
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::ledger::{Account, Books, Counts, Refusal, RequestContext, Settlement, Told};
use crate::domain::money::Quota;
use crate::domain::time::{Clock, UnixTime};
use crate::domain::token::Token;
use crate::service::key_cache::CachedKey;
use crate::service::recent_balances::RecentBalances;
use crate::service::rng::Rng;
use crate::storage::ledger::{Changes, Charge, IdempotencyKey, IdempotencyRecord, LockedWallet, NewReservation};
use crate::storage::{self, Conn, Constraint, Db, StorageError, ledger, tokens};

/// Operations in one transaction, at most.
const BATCH: usize = 1_024;

/// Times a batch is tried again after a deadlock or a race between servers.
const TRIES: usize = 5;

/// How long an operation waits for a wallet that another transaction holds: longer than PostgreSQL lets the
/// transaction of a server rest that was paused or cut off.
const LOCK_PATIENCE: Duration = Duration::from_secs(8);

/// How soon operations on held wallets are tried again if no others come.
const RETRY_HELD: Duration = Duration::from_millis(50);

/// Operations on held wallets that wait beside a lane; more are refused.
const MAX_HELD: usize = BATCH;

/// What an operator decides about the ledger.
#[derive(Debug, Clone)]
pub struct LedgerRules {
    /// Batches under way at once.
    pub lanes: usize,
    /// Operations that may wait on each lane.
    pub queue: usize,
    /// Whose days the roll-up counts.
    pub zone: Tz,
    /// The groups there are.
    pub groups: Groups,
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

impl Order {
    /// Under what a charge is remembered, if its gateway gave it an id of its own.
    fn idempotency_key(&self) -> Option<IdempotencyKey> {
        match &self.what {
            What::Charge { receipt: Some((id, _)), .. } => self.gateway.map(|gateway| (gateway, id.clone())),
            What::Charge { receipt: None, .. }
            | What::Reserve { .. }
            | What::Settle { .. }
            | What::Release { .. }
            | What::Expire { .. } => None,
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone)]
pub enum What {
    /// Take quota.
    Charge {
        seen: Arc<CachedKey>,
        quota: Quota,
        context: RequestContext,
        counts: Counts,
        receipt: Option<(String, Vec<u8>)>,
    },
    /// Set quota aside.
    Reserve { seen: Arc<CachedKey>, quota: Quota, context: RequestContext, expires_at: UnixTime },
    /// End a reservation as a charge.
    Settle { reservation: ReservationId, quota: Quota, counts: Counts },
    /// End a reservation, giving all back.
    Release { reservation: ReservationId },
    /// End a reservation whose time is over.
    Expire { reservation: ReservationId },
}

/// What was done, and what the token has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    Refused(#[from] Refusal),
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
    since: Instant,
    /// Whether it was left out of a batch because another transaction held its wallet.
    was_held: bool,
}

/// Takes operations and answers them when they are durable.
#[derive(Debug)]
pub struct Lanes {
    db: Db,
    lanes: Vec<mpsc::Sender<Waiting>>,
}

impl Lanes {
    /// Starts the lanes. They end when the ledger is dropped and everything that waited is answered.
    #[must_use]
    pub fn start(
        db: &Db,
        clock: &Arc<dyn Clock>,
        rng: &Rng,
        balances: &Arc<RecentBalances>,
        rules: &LedgerRules,
    ) -> Self {
        let lane = || {
            let (lane, waiting) = mpsc::channel(rules.queue.max(1));
            let committer = Committer {
                db: db.clone(),
                clock: Arc::clone(clock),
                rng: rng.clone(),
                balances: Arc::clone(balances),
                zone: rules.zone,
                groups: rules.groups.clone(),
            };
            tokio::spawn(committer.run(waiting));
            lane
        };
        Self { db: db.clone(), lanes: std::iter::repeat_with(lane).take(rules.lanes.max(1)).collect() }
    }

    /// What a gateway was answered to a charge of this id, if it was: also when the token is gone by now.
    ///
    /// # Errors
    /// The id was given to another request; the database.
    pub async fn recall(&self, key: IdempotencyKey, request_hash: &[u8]) -> Result<Option<Done>, LedgerError> {
        let found = async {
            ledger::find_idempotency_records(&mut *self.db.acquire().await?, std::slice::from_ref(&key)).await
        };
        let mut found = found.await.map_err(|error| LedgerError::Storage(Arc::new(error)))?;
        match found.remove(&key) {
            Some(before) if before.request_hash != request_hash => Err(LedgerError::RequestIdReused),
            Some(IdempotencyRecord { charged, remain_quota, .. }) => Ok(Some(Done::Charged { charged, remain_quota })),
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
        self.lanes[at]
            .try_send(Waiting { order, tell, since: Instant::now(), was_held: false })
            .map_err(|_| LedgerError::Busy)?;
        Ok(async { told.await.unwrap_or_else(|_| Err(LedgerError::Storage(Arc::new(StorageError::GivenUp)))) })
    }
}

/// One lane.
struct Committer {
    db: Db,
    clock: Arc<dyn Clock>,
    rng: Rng,
    balances: Arc<RecentBalances>,
    zone: Tz,
    groups: Groups,
}

/// What to do about a row that another transaction has locked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locking {
    /// Wait for it, as long as the connection's `lock_timeout`.
    Wait,
    /// Leave out the operations that need it.
    Skip,
}

impl Committer {
    async fn run(self, mut incoming: mpsc::Receiver<Waiting>) {
        // Operations whose wallets another transaction holds, in the order of arrival.
        let mut held = Vec::new();
        loop {
            let mut batch = std::mem::take(&mut held);
            if batch.is_empty() {
                if incoming.recv_many(&mut batch, BATCH).await == 0 {
                    return;
                }
            } else {
                // Nothing more to receive: the ones that wait are tried until they are done.
                let more = tokio::time::timeout(RETRY_HELD, incoming.recv_many(&mut batch, BATCH)).await;
                if more == Ok(0) {
                    tokio::time::sleep(RETRY_HELD).await;
                }
            }
            // While some wait for a wallet, nobody waits for one in front of the others.
            let locking = if batch.iter().any(|one| one.was_held) { Locking::Skip } else { Locking::Wait };
            held = self.commit(batch, locking).await;
        }
    }

    /// Does a batch and answers it. Returns the operations that have to wait for a wallet.
    async fn commit(&self, batch: Vec<Waiting>, locking: Locking) -> Vec<Waiting> {
        let (orders, callers): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|one| (one.order, (one.tell, one.since))).unzip();
        let answers = self.answer(&orders, locking).await;
        let mut held = Vec::new();
        for ((order, (tell, since)), answer) in orders.into_iter().zip(callers).zip(answers) {
            let answer = match answer {
                Some(answer) => answer,
                None if since.elapsed() < LOCK_PATIENCE && held.len() < MAX_HELD && !tell.is_closed() => {
                    held.push(Waiting { order, tell, since, was_held: true });
                    continue;
                }
                None => Err(LedgerError::Busy),
            };
            // Whoever left can ask again with the same request_id.
            let _ = tell.send(answer);
        }
        held
    }

    /// The answers to a batch; none for an operation that has to wait for a wallet. What was only bad luck is tried
    /// again.
    async fn answer(&self, orders: &[Order], mut locking: Locking) -> Vec<Option<Answer>> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.attempt(orders, locking).await {
                Ok(answers) => return answers,
                Err(StorageError::Contended(_) | StorageError::Constraint(Constraint::IdempotencyKeyUnique))
                    if tries < TRIES => {}
                Err(StorageError::Locked(_)) if locking == Locking::Wait => locking = Locking::Skip,
                Err(error) if orders.len() > 1 && error.may_concern_one_row() => {
                    let (first, second) = orders.split_at(orders.len() / 2);
                    let mut answers = Box::pin(self.answer(first, locking)).await;
                    answers.extend(Box::pin(self.answer(second, locking)).await);
                    return answers;
                }
                Err(error) => {
                    tracing::warn!(%error, operations = orders.len(), "a batch was not committed");
                    let error = LedgerError::Storage(Arc::new(error));
                    return orders.iter().map(|_| Some(Err(error.clone()))).collect();
                }
            }
        }
    }

    /// One transaction: lock, decide, write, commit. Then verify on this server knows the new balances.
    async fn attempt(&self, orders: &[Order], locking: Locking) -> Result<Vec<Option<Answer>>, StorageError> {
        self.db
            .bounded(async |conn| {
                let mut tx = storage::begin(conn).await?;
                let mut page = Page::open(&mut tx, orders, locking, &self.groups).await?;
                let now = self.clock.now();
                let answers =
                    orders.iter().map(|order| (!page.is_held(order)).then(|| page.decide(order, now, self))).collect();
                let changes = page.close();
                if !changes.is_empty() {
                    ledger::write(&mut tx, &changes).await?;
                }
                storage::commit(tx).await?;
                self.balances.record(&changes);
                Ok(answers)
            })
            .await
    }
}

/// The locked rows of a batch, and what it adds.
struct Page {
    before: Books,
    books: Books,
    /// Tokens whose restrictions have changed since the server that asks read them.
    edited: BTreeMap<TokenId, Token>,
    /// Owners of which another transaction holds a row.
    held: BTreeSet<UserId>,
    models: BTreeMap<ReservationId, String>,
    records: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    changes: Changes,
}

impl Page {
    /// Locks wallets, then tokens, ids ascending; reads what the orders name.
    async fn open(conn: &mut Conn, orders: &[Order], locking: Locking, groups: &Groups) -> Result<Self, StorageError> {
        let owners: BTreeSet<UserId> = orders.iter().map(|order| order.owner).collect();
        let mut named: BTreeMap<TokenId, UserId> = BTreeMap::new();
        let mut seen: BTreeMap<TokenId, &Token> = BTreeMap::new();
        let mut reservations: BTreeSet<ReservationId> = BTreeSet::new();
        let mut records: BTreeSet<IdempotencyKey> = BTreeSet::new();
        for order in orders {
            match &order.what {
                What::Charge { seen: key, .. } | What::Reserve { seen: key, .. } => {
                    named.insert(key.token.id, order.owner);
                    seen.insert(key.token.id, &key.token);
                    records.extend(order.idempotency_key());
                }
                What::Settle { reservation, .. } | What::Release { reservation } | What::Expire { reservation } => {
                    reservations.insert(*reservation);
                }
            }
        }
        let (wallets, mut held) = lock_wallets(conn, owners, locking).await?;
        let owner_groups: BTreeMap<UserId, String> =
            wallets.iter().map(|(id, _, group)| (*id, group.clone())).collect();
        let wallets = wallets.into_iter().map(|(id, wallet, _)| (id, wallet)).collect();
        let mut books = Books { wallets, ..Books::default() };
        let mut models = BTreeMap::new();
        if !reservations.is_empty() {
            for (id, (reservation, model)) in ledger::find_reservations(conn, &Vec::from_iter(reservations)).await? {
                // Only with its own wallet locked may a reservation be touched.
                if books.wallets.contains_key(&reservation.user_id) {
                    named.insert(reservation.token_id, reservation.user_id);
                    books.reservations.insert(id, reservation);
                    models.insert(id, model);
                }
            }
        }
        named.retain(|_, owner| !held.contains(owner));
        let (locked, held_tokens) = lock_tokens(conn, named.keys().copied().collect(), locking).await?;
        held.extend(held_tokens.iter().filter_map(|token| named.get(token)));
        // Nor without its own token locked, whoever asks.
        books.reservations.retain(|_, reservation| !held_tokens.contains(&reservation.token_id));
        let mut edited = Vec::new();
        for (token, is_deleted) in locked {
            if seen.get(&token.id).is_some_and(|seen| seen.version != token.version) {
                edited.push(token.id);
            }
            let group_is_open = owner_groups.get(&token.user_id).is_some_and(|group| groups.allow(group, &token.group));
            books.tokens.insert(token.id, Account { token, is_deleted, group_is_open });
        }
        let edited = if edited.is_empty() { Vec::new() } else { tokens::list_by_ids(conn, &edited).await? };
        let edited = edited.into_iter().map(|token| (token.id, token)).collect();
        let records = if records.is_empty() {
            BTreeMap::new()
        } else {
            ledger::find_idempotency_records(conn, &Vec::from_iter(records)).await?
        };
        let mut page =
            Self { before: Books::default(), books, edited, held, models, records, changes: Changes::default() };
        page.restrict(&seen);
        page.before = page.books.clone();
        Ok(page)
    }

    /// Gives the locked tokens their lists of models and addresses: as this server remembers them, or as they were read
    /// again if an edit came between. The locks read balances only, because the lists can be long.
    fn restrict(&mut self, seen: &BTreeMap<TokenId, &Token>) {
        for (id, account) in &mut self.books.tokens {
            if let Some(known) = self.edited.get(id).or_else(|| seen.get(id).copied()) {
                account.token.model_limits = known.model_limits.clone();
                account.token.allow_ips = known.allow_ips.clone();
            }
        }
    }

    /// Returns true if an order needs a row that another transaction holds.
    fn is_held(&self, order: &Order) -> bool {
        self.held.contains(&order.owner)
    }

    fn decide(&mut self, order: &Order, now: UnixTime, committer: &Committer) -> Answer {
        match &order.what {
            What::Charge { seen, quota, context, counts, receipt } => {
                let (token, key) = (&seen.token.id, order.idempotency_key());
                let request_hash = receipt.as_ref().map(|(_, request_hash)| request_hash);
                if let Some(before) = key.as_ref().and_then(|key| self.records.get(key)) {
                    if Some(&before.request_hash) != request_hash {
                        return Err(LedgerError::RequestIdReused);
                    }
                    return Ok(Done::Charged { charged: before.charged, remain_quota: before.remain_quota });
                }
                self.books.charge(*token, *quota, context, now)?;
                let remain_quota = self.remain(*token);
                self.changes.charges.push(Charge {
                    at: now,
                    day: now.day_in(committer.zone),
                    gateway_id: order.gateway,
                    token_id: *token,
                    user_id: order.owner,
                    reservation_id: None,
                    model: context.model.clone().unwrap_or_default(),
                    quota: *quota,
                    shortfall: Quota::ZERO,
                    prompt_tokens: counts.prompt_tokens,
                    completion_tokens: counts.completion_tokens,
                });
                if let (Some(key), Some(request_hash)) = (key, request_hash) {
                    let receipt = IdempotencyRecord {
                        user_id: seen.token.user_id,
                        request_hash: request_hash.clone(),
                        charged: *quota,
                        remain_quota,
                    };
                    self.records.insert(key.clone(), receipt.clone());
                    self.changes.records.push((key, receipt));
                }
                Ok(Done::Charged { charged: *quota, remain_quota })
            }
            What::Reserve { seen, quota, context, expires_at } => {
                let token = &seen.token.id;
                let made = self.books.reserve(order.gateway, *token, *quota, context, *expires_at, now)?;
                let id = committer.rng.generate(|rng| ReservationId::random(rng));
                self.changes.reserved.push(NewReservation {
                    id,
                    reservation: made,
                    model: context.model.clone().unwrap_or_default(),
                    created_time: now,
                });
                Ok(Done::Reserved { reservation: id, expires_at: *expires_at, remain_quota: self.remain(*token) })
            }
            What::Settle { reservation: id, quota, counts } => {
                let before = self.books.reservations.get(id).copied();
                let (settlement, told) = self.books.settle(order.gateway, *id, *quota, now)?;
                let Some(before) = before else {
                    return Err(Refusal::NoReservation.into());
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

/// Locks wallets. Returns them, and the owners of those that another transaction holds.
async fn lock_wallets(
    conn: &mut Conn,
    owners: BTreeSet<UserId>,
    locking: Locking,
) -> Result<(Vec<LockedWallet>, BTreeSet<UserId>), StorageError> {
    let ids: Vec<UserId> = owners.iter().copied().collect();
    if locking == Locking::Wait {
        return Ok((ledger::lock_wallets(conn, &ids).await?, BTreeSet::new()));
    }
    let locked = ledger::lock_free_wallets(conn, &ids).await?;
    let mut missing = owners;
    for (id, ..) in &locked {
        missing.remove(id);
    }
    // An id that nobody has was not left out for being held.
    let held =
        if missing.is_empty() { Vec::new() } else { ledger::existing_wallets(conn, &Vec::from_iter(missing)).await? };
    Ok((locked, held.into_iter().collect()))
}

/// Locks tokens, whose wallets are locked. Returns them with whether each is deleted, and those that another
/// transaction holds.
async fn lock_tokens(
    conn: &mut Conn,
    mut ids: BTreeSet<TokenId>,
    locking: Locking,
) -> Result<(Vec<(Token, bool)>, BTreeSet<TokenId>), StorageError> {
    let all: Vec<TokenId> = ids.iter().copied().collect();
    if locking == Locking::Wait {
        return Ok((tokens::lock_all(conn, &all).await?, BTreeSet::new()));
    }
    let locked = tokens::lock_free(conn, &all).await?;
    // Rows of tokens are never removed: what is missing is held.
    for (token, _) in &locked {
        ids.remove(&token.id);
    }
    Ok((locked, ids))
}
