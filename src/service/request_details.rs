//! What else is known of charges that were asked for alone (spec §13.8).

use super::prices::Prices;
use crate::domain::charge_details::{ChargeCall, ChargeDetails, UsedPrice};
use crate::domain::prices::rates::Rates;
use crate::domain::request_history::{PastOutcome, PastRequest};
use crate::storage::{Conn, StorageError, prices, reservations};

/// Adds their reservations and prices, as far as they are known: reservations are kept for 72 hours after their end,
/// and a price needs the units of the list in force.
pub(super) async fn add(conn: &mut Conn, in_force: &Prices, requests: &mut [PastRequest]) -> Result<(), StorageError> {
    for request in requests {
        let PastOutcome::Charged { reservation_id, priced_by, price_id, details, .. } = &mut request.outcome else {
            continue;
        };
        let reservation = match *reservation_id {
            Some(id) => reservations::list_by_ids(conn, &[id]).await?.remove(&id).map(|(reservation, _)| reservation),
            None => None,
        };
        let price = match *price_id {
            Some(id) => prices::find(conn, id).await?,
            None => None,
        };
        let price = price.and_then(|price| {
            let rates = Rates::new(price.rates, price.minimum, in_force.read().list.units()).ok()?;
            Some(UsedPrice { rates, ratio: price.ratio })
        });
        let call = ChargeCall::of(reservation_id.is_some(), *priced_by, reservation.as_ref());
        *details = Some(Box::new(ChargeDetails { call, reservation, price }));
    }
    Ok(())
}
