//! What else is known of one charge (spec §13.8).

use serde::Serialize;
use utoipa::ToSchema;

use super::price_costs::CostLineBody;
use crate::domain::charge_details::{ChargeDetails, UsedPrice};
use crate::domain::ledger::Reservation;
use crate::domain::money::Quota;
use crate::domain::prices::units::Units;

/// What else is known of a charge.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChargeDetailsBody {
    /// What made it: `charge`, `settle`, or `expire` if the time of its reservation was over.
    call: &'static str,
    /// Its whole cost, quota units: what was charged, and what neither the key nor the wallet could cover.
    requested: i64,
    /// The reservation that it ended; null without one, and 72 hours after its end.
    reservation: Option<EndedReservationBody>,
    /// The price that it was computed by; null if `priced_by` is not `units`, and if a unit is not known any more.
    price: Option<UsedPriceBody>,
}

/// A reservation that became a charge.
#[derive(Debug, Serialize, ToSchema)]
pub struct EndedReservationBody {
    /// What it held at its end, quota units.
    held: i64,
    /// When it was made, Unix timestamp.
    created_time: i64,
    /// Until when it could be settled in time, Unix timestamp.
    expires_at: i64,
    /// What was to happen then: `release` or `charge`.
    on_expiry: &'static str,
    /// It ended later.
    expired: bool,
}

/// A price as it was when it was used.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsedPriceBody {
    /// The ratio of the group, by which the sum of the lines was multiplied, as decimal text.
    ratio: String,
    /// What the cost is the sum of.
    lines: Vec<CostLineBody>,
}

impl ChargeDetailsBody {
    /// Of a charge of `quota` with this shortfall, for these units.
    pub fn new(details: &ChargeDetails, quota: Quota, shortfall: Quota, units: &Units) -> Self {
        Self {
            call: details.call.as_str(),
            requested: quota.get().saturating_add(shortfall.get()),
            reservation: details.reservation.as_ref().map(EndedReservationBody::from),
            price: details.price.as_ref().and_then(|price| UsedPriceBody::new(price, units)),
        }
    }
}

impl From<&Reservation> for EndedReservationBody {
    fn from(reservation: &Reservation) -> Self {
        Self {
            held: reservation.held.get(),
            created_time: reservation.created_time.get(),
            expires_at: reservation.expires_at.get(),
            on_expiry: reservation.on_expiry.as_str(),
            expired: reservation.state.settlement().is_some_and(|settlement| settlement.was_expired),
        }
    }
}

impl UsedPriceBody {
    fn new(UsedPrice { rates, ratio }: &UsedPrice, units: &Units) -> Option<Self> {
        let lines = rates.cost_lines(units).ok()?;
        Some(Self { ratio: ratio.to_string(), lines: lines.into_iter().map(CostLineBody::from).collect() })
    }
}
