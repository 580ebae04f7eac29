//! Settlements that wait for Keymeter. None is dropped: each is sent until it is answered.

use std::collections::VecDeque;
use std::fmt::{Debug, Formatter};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::keymeter::{Answered, Keymeter, Unanswered};
use crate::refusals::DoorRefusal;
use crate::shares::{Share, Shares};

/// Settlements that are sent at once.
const SENDERS: usize = 32;

/// Beyond so many that wait, new requests are refused.
const MAX_WAITING: usize = 1_000;

/// The first pause after Keymeter did not answer; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long settlements are still sent after the program was stopped.
const LAST_TRIES: Duration = Duration::from_secs(10);

/// The end of a reservation.
#[derive(Debug, Clone)]
pub struct ReservationEnd {
    pub reservation: ReservationMade,
    /// The body of `settle` without the reservation's id; `None` releases it.
    pub settle: Option<Value>,
}

/// A reservation, as far as it is known.
#[derive(Clone)]
pub enum ReservationMade {
    Known {
        id: String,
        /// The quota units that it holds.
        reserved: i64,
    },
    /// Its answer was lost. The same body is answered with the first reservation.
    Lost(Value),
}

impl Debug for ReservationMade {
    /// Without the key that is in the body.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReservationMade").finish_non_exhaustive()
    }
}

/// The requests under way, and the settlements that wait.
#[derive(Debug)]
pub struct Settlements {
    keymeter: Arc<Keymeter>,
    waiting: Mutex<VecDeque<ReservationEnd>>,
    arrived: Notify,
    /// Wakes senders that pause, because there is little time left.
    stopping: Notify,
    is_stopping: AtomicBool,
    /// Requests under way and settlements that were not sent.
    open: AtomicUsize,
    max_open: usize,
    /// What one key has of them.
    shares: Arc<Shares>,
    /// Settlements that wait or are being sent.
    unsent: AtomicUsize,
}

/// A request that is under way. Dropped without a settlement, it held nothing.
#[derive(Debug)]
pub struct Place {
    settlements: Arc<Settlements>,
    /// Of its key.
    _share: Share,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.settlements.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Place {
    /// Sends the settlement of the request.
    pub fn settle(self, settlement: ReservationEnd) {
        let settlements = &self.settlements;
        settlements.open.fetch_add(1, Ordering::Relaxed);
        settlements.unsent.fetch_add(1, Ordering::Relaxed);
        settlements.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(settlement);
        settlements.arrived.notify_one();
    }
}

impl Settlements {
    /// At most `max_open` requests may be under way or wait for their settlement.
    pub fn new(keymeter: Arc<Keymeter>, max_open: usize) -> Self {
        Self {
            keymeter,
            waiting: Mutex::default(),
            arrived: Notify::new(),
            stopping: Notify::new(),
            is_stopping: AtomicBool::new(false),
            open: AtomicUsize::new(0),
            max_open,
            shares: Shares::of(max_open),
            unsent: AtomicUsize::new(0),
        }
    }

    /// A place for a request of this key.
    ///
    /// # Errors
    /// Too many wait, or too many of this key.
    pub fn begin(self: &Arc<Self>, key: &str) -> Result<Place, DoorRefusal> {
        let full = || DoorRefusal::unavailable("too many requests and settlements are open");
        if self.unsent.load(Ordering::Relaxed) >= MAX_WAITING {
            return Err(full());
        }
        let mut share = self.shares.share(key);
        if !share.take(1) {
            return Err(DoorRefusal::too_many("too many requests of this key are under way; retry shortly"));
        }
        let take = |open: usize| (open < self.max_open).then_some(open + 1);
        let taken = self.open.try_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map_err(|_| full())?;
        Ok(Place { settlements: Arc::clone(self), _share: share })
    }

    /// Returns true if no more requests are let in.
    pub fn is_full(&self) -> bool {
        self.unsent.load(Ordering::Relaxed) >= MAX_WAITING || self.open.load(Ordering::Relaxed) >= self.max_open
    }

    /// Requests under way together with settlements that wait, and the settlements alone.
    pub fn counts(&self) -> (usize, usize) {
        (self.open.load(Ordering::Relaxed), self.unsent.load(Ordering::Relaxed))
    }

    /// Waits until no request is under way, for at most so long.
    pub async fn wait_for_requests(&self, time: Duration) {
        let all_ended = async {
            loop {
                let (open, unsent) = self.counts();
                if open <= unsent {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = tokio::time::timeout(time, all_ended).await;
    }

    /// Sends settlements for as long as the program runs.
    pub async fn run(self: Arc<Self>) {
        let senders = (0..SENDERS).map(|_| Arc::clone(&self).send_all());
        futures_util::future::join_all(senders).await;
    }

    /// Waits until all are sent, or the time for it is over.
    pub async fn finish(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.stopping.notify_waiters();
        let all_sent = async {
            while self.unsent.load(Ordering::Relaxed) > 0 {
                self.arrived.notify_one();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(LAST_TRIES, all_sent).await.is_err() {
            let unsent = self.unsent.load(Ordering::Relaxed);
            tracing::error!(unsent, "settlements could not be sent before the program ended: their holds expire");
        }
    }

    async fn send_all(self: Arc<Self>) {
        let mut pause = Duration::ZERO;
        loop {
            let next = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(mut settlement) = next else {
                self.arrived.notified().await;
                continue;
            };
            match self.send(&mut settlement).await {
                Ok(()) => {
                    pause = Duration::ZERO;
                    self.unsent.fetch_sub(1, Ordering::Relaxed);
                    self.open.fetch_sub(1, Ordering::Relaxed);
                    // One sender may have been woken for several.
                    self.arrived.notify_one();
                }
                Err(reason) => {
                    self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(settlement);
                    let waiting = self.unsent.load(Ordering::Relaxed);
                    tracing::warn!(reason, "{waiting} settlements wait for Keymeter");
                    pause = (pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
                    if self.is_stopping.load(Ordering::Relaxed) {
                        pause = FIRST_PAUSE;
                    }
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.stopping.notified() => pause = FIRST_PAUSE,
                    }
                }
            }
        }
    }

    /// Sends one settlement.
    ///
    /// # Errors
    /// Why it has to be sent again.
    async fn send(&self, settlement: &mut ReservationEnd) -> Result<(), String> {
        if let ReservationMade::Lost(reserve) = &settlement.reservation {
            match self.repeat_reserve(reserve).await? {
                Ok(made) => settlement.reservation = ReservationMade::read(&made)?,
                // Nothing was held.
                Err(_) => return Ok(()),
            }
        }
        let ReservationMade::Known { id, reserved } = &settlement.reservation else { return Ok(()) };
        let Some(settle) = settlement.settle.clone() else {
            let released = self.try_call("release", &json!({ "reservation_id": id })).await?;
            log_refused("release", released);
            return Ok(());
        };
        let Err(refused) = self.try_call("settle", &with_id(settle, id)).await? else { return Ok(()) };
        if matches!(refused.status, 400 | 403) {
            tracing::warn!(error = refused.body.error, "Keymeter refused a cost: the hold is charged");
            let hold = json!({ "reservation_id": id, "quota": reserved });
            log_refused("settle", self.try_call("settle", &hold).await?);
        } else {
            log_refused("settle", Err(refused));
        }
        Ok(())
    }

    /// A repeated `reserve` is answered with the first reservation before any limit: if a limit refuses it, nothing was
    /// held.
    async fn repeat_reserve(&self, reserve: &Value) -> Result<Result<Answered, Answered>, String> {
        match self.keymeter.call("reserve", reserve).await {
            Ok(answered) if answered.status == 429 => Ok(Err(answered)),
            answered => settled(answered),
        }
    }

    /// A call that is answered: agreed, or refused for good.
    async fn try_call(&self, name: &str, body: &Value) -> Result<Result<Answered, Answered>, String> {
        settled(self.keymeter.call(name, body).await)
    }
}

/// An answer for good, or why the call has to be made again.
fn settled(answered: Result<Answered, Unanswered>) -> Result<Result<Answered, Answered>, String> {
    match answered {
        Ok(answered) if answered.status == 200 => Ok(Ok(answered)),
        // Time, or the operator, can help.
        Ok(answered) if answered.status >= 500 || answered.body.error == "invalid_gateway" => {
            Err(format!("it answers {} {}", answered.status, answered.body.error))
        }
        Ok(answered) if answered.status == 429 => Err("it answers 429".to_owned()),
        Ok(answered) => Ok(Err(answered)),
        Err(unanswered) => Err(unanswered.to_string()),
    }
}

fn log_refused(name: &str, answered: Result<Answered, Answered>) {
    if let Err(refused) = answered {
        tracing::error!(status = refused.status, error = refused.body.error, "Keymeter refused a {name}");
    }
}

fn with_id(mut settle: Value, id: &str) -> Value {
    if let Value::Object(members) = &mut settle {
        members.insert("reservation_id".to_owned(), id.into());
    }
    settle
}

impl ReservationMade {
    /// Of the answer to `reserve`.
    ///
    /// # Errors
    /// It has another shape.
    pub fn read(made: &Answered) -> Result<Self, String> {
        let data = &made.body.data;
        match (data["reservation_id"].as_str(), data["reserved"].as_i64()) {
            (Some(id), Some(reserved)) => Ok(Self::Known { id: id.to_owned(), reserved }),
            _ => Err("it answers otherwise than Keymeter".to_owned()),
        }
    }
}
