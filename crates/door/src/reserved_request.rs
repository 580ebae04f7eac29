//! A request that is reserved: its hold lasts as long as it does, and it ends once.

use std::sync::Arc;
use std::time::Duration;

use keymeter_meter::answer_meter::{Charge, Outcome};
use keymeter_meter::extractors::Extractors;
use keymeter_meter::request::MeteredRequest;
use rand::TryRng;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep_until};

use crate::bearer::Bearer;
use crate::door::{Door, set, unavailable};
use crate::keymeter::Unanswered;
use crate::refusals::DoorRefusal;
use crate::settlements::{Place, ReservationEnd, ReservationMade};

/// After a hold could not be extended.
const EXTEND_AGAIN: Duration = Duration::from_secs(10);

/// A request that is reserved. Dropped without an outcome, as after a panic, its hold is charged.
#[derive(Debug)]
pub struct ReservedRequest {
    door: Arc<Door>,
    pub metered: MeteredRequest,
    /// By which its answer is read.
    pub extractors: Arc<Extractors>,
    reservation: ReservationMade,
    /// What Keymeter says of the reservation and its token.
    pub told: Value,
    place: Option<Place>,
    /// When the hold is extended next.
    extend_at: Instant,
}

impl Drop for ReservedRequest {
    fn drop(&mut self) {
        self.settle(Outcome::hold("the request was not finished"));
    }
}

impl ReservedRequest {
    /// Holds what a request may cost.
    ///
    /// # Errors
    /// Keymeter refuses it, or does not answer.
    pub async fn reserve(
        door: &Arc<Door>,
        bearer: &Bearer,
        (metered, extractors): (MeteredRequest, Arc<Extractors>),
        place: Place,
    ) -> Result<Self, DoorRefusal> {
        let options = &door.options;
        let mut body = json!({
            "key": bearer.key,
            "model": metered.model,
            "request_id": random_id()?,
            "ttl_seconds": options.ttl_seconds,
            "on_expiry": options.on_expiry.as_str(),
        });
        set(&mut body, "ip", bearer.address.map(|address| address.to_string()).as_deref());
        set(&mut body, "provider", options.provider.as_deref());
        match &options.hold_usd {
            Some(dollars) => set(&mut body, "usd", Some(dollars)),
            None => body["units"] = json!(metered.hold),
        }
        if !metered.context.is_empty() {
            body["context"] = json!(metered.context);
        }
        let mut reserving = Reserving { place: Some(place), body };
        match door.keymeter.call("reserve", &reserving.body).await {
            Ok(made) if made.status == 200 => {
                let reservation = ReservationMade::read(&made).map_err(|reason| DoorRefusal::unavailable(&reason))?;
                let place = reserving.place.take().ok_or_else(DoorRefusal::misconfigured)?;
                let extend_at = Instant::now() + half_of(options.ttl_seconds);
                let (door, told, place) = (Arc::clone(door), made.body.data, Some(place));
                Ok(Self { door, metered, extractors, reservation, told, place, extend_at })
            }
            Ok(refused) => {
                if refused.status < 500 {
                    drop(reserving.place.take());
                }
                Err(DoorRefusal::of_keymeter(&refused))
            }
            Err(unanswered) => {
                if let Unanswered::NotSent = unanswered {
                    drop(reserving.place.take());
                }
                Err(unavailable(&unanswered))
            }
        }
    }

    /// Waits, and extends the hold when half of its time is over. What is done meanwhile waits for the extension: each
    /// piece of an answer could cut one short.
    pub async fn extended<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = sleep_until(self.extend_at) => {}
            }
            let mut extension = std::pin::pin!(self.extend());
            tokio::select! {
                biased;
                () = &mut extension => {}
                done = &mut work => {
                    extension.await;
                    return done;
                }
            }
        }
    }

    async fn extend(&mut self) {
        let half = half_of(self.door.options.ttl_seconds);
        // If it fails, or is broken off.
        self.extend_at = Instant::now() + half.min(EXTEND_AGAIN);
        let ReservationMade::Known { id, .. } = &self.reservation else { return };
        let body = json!({ "reservation_id": id, "ttl_seconds": self.door.options.ttl_seconds });
        match self.door.keymeter.call("extend", &body).await {
            Ok(answered) if answered.status == 200 => self.extend_at = Instant::now() + half,
            Ok(answered) => tracing::warn!(status = answered.status, "a hold was not extended"),
            Err(error) => tracing::warn!(%error, "a hold was not extended"),
        }
    }

    /// Ends it. Only the first outcome counts.
    pub fn settle(&mut self, outcome: Outcome) {
        let Some(place) = self.place.take() else { return };
        self.door.ended.count(&outcome.charge);
        tracing::debug!(why = outcome.why, charge = ?outcome.charge, "a request has ended");
        let settle = match &outcome.charge {
            Charge::Nothing => None,
            // A usage that says nothing: the hold is charged, and recorded as that.
            Charge::Hold => Some(json!({ "usage": {} })),
            Charge::Told(_) | Charge::Units => Some(cost_of(outcome, self.door.options.answer_model)),
        };
        place.settle(ReservationEnd { reservation: self.reservation.clone(), settle });
    }
}

/// A `reserve` that is under way. Dropped before its answer is known, it may have held quota all the same: that is
/// released.
struct Reserving {
    place: Option<Place>,
    body: Value,
}

impl Drop for Reserving {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            let reservation = ReservationMade::Lost(std::mem::take(&mut self.body));
            place.settle(ReservationEnd { reservation, settle: None });
        }
    }
}

/// The body of `settle` for an outcome that has a cost.
fn cost_of(outcome: Outcome, answer_model: bool) -> Value {
    let mut settle = Map::new();
    if let Charge::Told(dollars) = outcome.charge {
        settle.insert("usd".to_owned(), dollars.to_string().into());
    }
    if !outcome.units.is_empty() {
        let number = |text: String| serde_json::from_str::<Value>(&text).unwrap_or(Value::Null);
        let units = outcome.units.into_iter().map(|(unit, count)| (unit, number(count.to_string())));
        settle.insert("units".to_owned(), Value::Object(units.collect()));
    }
    if !outcome.context.is_empty() {
        settle.insert("context".to_owned(), json!(outcome.context));
    }
    if let Some(model) = outcome.model.filter(|_| answer_model) {
        settle.insert("model".to_owned(), model.into());
    }
    Value::Object(settle)
}

fn half_of(ttl_seconds: u32) -> Duration {
    Duration::from_secs(u64::from(ttl_seconds).div_ceil(2))
}

/// An id of our own: clients could choose that of a header, and proxies repeat it.
fn random_id() -> Result<String, DoorRefusal> {
    let mut bytes = [0_u8; 16];
    rand::rngs::SysRng.try_fill_bytes(&mut bytes).map_err(|_| DoorRefusal::misconfigured())?;
    Ok(bytes.iter().fold("gateway-".to_owned(), |id, byte| format!("{id}{byte:02x}")))
}
