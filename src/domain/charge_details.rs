//! What else is known of one charge (spec §13.8).

use super::group::Ratio;
use super::ledger::{Reservation, ReservationState};
use super::named::named;
use super::prices::priced_by::{HoldReason, PricedBy};
use super::prices::rates::Rates;

/// What else is known of one charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeDetails {
    pub call: ChargeCall,
    /// The reservation that it ended, as long as that is known.
    pub reservation: Option<Reservation>,
    /// The price that it was computed by.
    pub price: Option<UsedPrice>,
}

/// A price as it was when it was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedPrice {
    pub rates: Rates,
    /// By which they were multiplied.
    pub ratio: Ratio,
}

named! {
    /// What made a charge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ChargeCall {
        Charge = "charge",
        Settle = "settle",
        /// The time of its reservation was over, and nobody had settled it.
        Expire = "expire",
    }
}

impl ChargeCall {
    /// Of a charge with or without a reservation, which may still be known: of older versions, which recorded no
    /// reasons of holds, it alone says that it expired.
    pub fn of(has_reservation: bool, priced_by: PricedBy, reservation: Option<&Reservation>) -> Self {
        let was_expired = |it: &Reservation| matches!(it.state, ReservationState::ChargedOnExpiry(_));
        let is_expired = priced_by.hold_reason() == Some(HoldReason::Expired) || reservation.is_some_and(was_expired);
        match (has_reservation, is_expired) {
            (false, _) => Self::Charge,
            (true, true) => Self::Expire,
            (true, false) => Self::Settle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::{TokenId, UserId};
    use crate::domain::ledger::{OnExpiry, Settlement};
    use crate::domain::money::Quota;
    use crate::domain::time::UnixTime;

    #[test]
    fn a_charge_says_what_made_it() {
        let settlement = |was_expired| Settlement {
            requested: Quota::grant(5).unwrap(),
            charged: Quota::grant(5).unwrap(),
            shortfall: Quota::ZERO,
            was_expired,
        };
        let reservation = |state| Reservation {
            token_id: TokenId::new(1),
            user_id: UserId::new(1),
            gateway_id: None,
            held: Quota::grant(5).unwrap(),
            from_remain: true,
            created_time: UnixTime::new(1),
            expires_at: UnixTime::new(2),
            on_expiry: OnExpiry::Charge,
            ratio: Ratio::ONE,
            state,
        };
        let settled = reservation(ReservationState::Settled(settlement(false)));
        let late = reservation(ReservationState::Settled(settlement(true)));
        let expired = reservation(ReservationState::ChargedOnExpiry(settlement(true)));
        for (has_reservation, priced_by, reservation, expected) in [
            (false, PricedBy::Units, None, ChargeCall::Charge),
            (true, PricedBy::Told, None, ChargeCall::Settle),
            (true, PricedBy::Units, Some(settled), ChargeCall::Settle),
            (true, PricedBy::Hold(HoldReason::NoInput), Some(late), ChargeCall::Settle),
            (true, PricedBy::Hold(HoldReason::Expired), None, ChargeCall::Expire),
            (true, PricedBy::Told, Some(expired), ChargeCall::Expire),
        ] {
            let call = ChargeCall::of(has_reservation, priced_by, reservation.as_ref());
            assert_eq!(call, expected, "{has_reservation} {priced_by:?} {reservation:?}");
        }
    }
}
