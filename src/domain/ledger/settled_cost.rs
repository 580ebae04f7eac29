//! What a settlement costs.

use super::reservation::{Reservation, ReservationState};
use crate::domain::counts::Counts;
use crate::domain::money::Quota;
use crate::domain::price::GroupPrice;
use crate::domain::price_settings::PriceSettings;
use crate::domain::prices::cost::{Cost, TooExpensive};

/// What a settlement costs, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettledCost {
    /// The gateway sent the amount.
    Told(Quota),
    /// The reservation was settled by the same counts before, and this is what it cost then.
    Repeated(Quota),
    /// By the price of a model.
    Priced(Quota, GroupPrice),
    /// The hold, because no model has a price.
    Held(Quota),
}

/// What it costs to settle a reservation. `settled_by` are the counts by which it was settled before.
///
/// A settlement is always charged: by the price of the model that answered, else of the requested model, else the hold.
///
/// # Errors
/// It would cost more than there can be.
pub fn settled_cost(
    prices: &PriceSettings,
    reservation: &Reservation,
    settled_by: Option<&Counts>,
    cost: &Cost,
    (answered, requested): (&str, &str),
) -> Result<SettledCost, TooExpensive> {
    if let Some(quota) = cost.quota {
        return Ok(SettledCost::Told(quota));
    }
    if let ReservationState::Settled(before) = reservation.state
        && settled_by == Some(&cost.counts)
    {
        return Ok(SettledCost::Repeated(before.requested));
    }
    // A price for all other models is one of the requested model only: it must not replace a price that this has.
    let Some(price) = prices.find_named(answered).or_else(|| prices.find(requested)) else {
        return Ok(SettledCost::Held(reservation.held));
    };
    let price = GroupPrice { price: *price, ratio: reservation.ratio };
    Ok(SettledCost::Priced(price.cost(&cost.counts)?, price))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::group::Ratio;
    use crate::domain::id::{GatewayId, TokenId, UserId};
    use crate::domain::ledger::reservation::{OnExpiry, Settlement};
    use crate::domain::time::UnixTime;

    fn quota(units: i64) -> Quota {
        Quota::grant(units).unwrap()
    }

    fn reservation(state: ReservationState) -> Reservation {
        Reservation {
            token_id: TokenId::new(1),
            user_id: UserId::new(1),
            gateway_id: Some(GatewayId::new(1)),
            held: quota(900),
            from_remain: true,
            expires_at: UnixTime::new(9),
            on_expiry: OnExpiry::Release,
            ratio: Ratio::ONE,
            state,
        }
    }

    #[test]
    fn a_settlement_is_charged_by_the_first_that_is_known() {
        let price = |dollars: &str| toml::from_str(&format!("request = \"{dollars}\"")).unwrap();
        let named = [("asked".to_owned(), price("1")), ("other".to_owned(), price("2"))];
        let with_star = named.clone().into_iter().chain([("*".to_owned(), price("3"))]);
        let [list, all]: [PriceSettings; 2] =
            [BTreeMap::from(named), with_star.collect()].map(|prices| prices.try_into().unwrap());
        let counts = Counts { prompt_tokens: 7, ..Counts::default() };
        let settlement =
            Settlement { requested: quota(70), charged: quota(60), shortfall: quota(10), was_expired: false };
        let (open, settled) = (ReservationState::Open, ReservationState::Settled(settlement));
        let cost = |prices, state, told: Option<i64>, by: Option<&Counts>, models| {
            let cost = Cost { quota: told.map(quota), counts };
            settled_cost(prices, &reservation(state), by, &cost, models).unwrap()
        };
        let amount = |cost| match cost {
            SettledCost::Told(quota) => ("told", quota.get()),
            SettledCost::Repeated(quota) => ("repeated", quota.get()),
            SettledCost::Priced(quota, _) => ("priced", quota.get()),
            SettledCost::Held(quota) => ("held", quota.get()),
        };
        let table = [
            (cost(&list, open, Some(5), None, ("other", "asked")), ("told", 5)),
            (cost(&list, settled, Some(5), Some(&counts), ("other", "asked")), ("told", 5)),
            (cost(&list, settled, None, Some(&counts), ("other", "asked")), ("repeated", 70)),
            (cost(&list, settled, None, Some(&Counts::default()), ("other", "asked")), ("priced", 1_000_000)),
            (cost(&list, open, None, None, ("other", "asked")), ("priced", 1_000_000)),
            (cost(&list, open, None, None, ("unknown", "asked")), ("priced", 500_000)),
            (cost(&all, open, None, None, ("unknown", "asked")), ("priced", 500_000)),
            (cost(&all, open, None, None, ("unknown", "unknown")), ("priced", 1_500_000)),
            (cost(&list, open, None, None, ("unknown", "unknown")), ("held", 900)),
        ];
        for (at, (found, expected)) in table.into_iter().enumerate() {
            assert_eq!(amount(found), expected, "row {at}");
        }
    }
}
