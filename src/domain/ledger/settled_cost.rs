//! What a settlement costs.

use super::reservation::{Reservation, ReservationState};
use crate::domain::money::Quota;
use crate::domain::prices::cost::{Amount, Cost};
use crate::domain::prices::list::PriceList;
use crate::domain::prices::units::Units;
use crate::domain::prices::unknown::{NotPriced, Unknown};
use crate::domain::time::UnixTime;

/// What a settlement costs, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettledCost {
    /// The gateway sent the amount, or the reservation was settled by the same units before and cost this.
    Told(Quota),
    /// By the price of a model.
    Priced(Amount),
    /// The hold, because no price says what the units cost.
    Held(Quota),
}

/// What it costs to settle a reservation. `settled_by` are the units by which it was settled before.
///
/// A settlement is always charged: by the price of the model that answered, else of the requested model, else the hold.
pub fn settled_cost(
    prices: &PriceList,
    reservation: &Reservation,
    settled_by: Option<&Units>,
    cost: &Cost,
    (answered, requested): (&str, &str),
    at: UnixTime,
) -> SettledCost {
    if let Some(quota) = cost.quota {
        return SettledCost::Told(quota);
    }
    if let ReservationState::Settled(before) = reservation.state
        && settled_by == Some(&cost.units)
    {
        return SettledCost::Told(before.requested);
    }
    // A price for all other models is one of the requested model only: it must not replace a price that this has.
    let found = match prices.find_named(answered, None) {
        Err(NotPriced::NoRule) => prices.find(requested, None),
        found => found,
    };
    let amount = found.map_err(Unknown::from);
    match amount.and_then(|prices| prices.amount((&cost.units, &cost.context), at, reservation.ratio)) {
        Ok(amount) => SettledCost::Priced(amount),
        Err(_) => SettledCost::Held(reservation.held),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::group::Ratio;
    use crate::domain::id::{GatewayId, TokenId, UserId};
    use crate::domain::ledger::reservation::{OnExpiry, Settlement};
    use crate::domain::price_settings::PriceSettings;

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
        let [list, all] =
            [BTreeMap::from(named), with_star.collect()].map(|prices| PriceSettings::try_from(prices).unwrap().list());
        let units = Units::from([("input_tokens", 7)]);
        let settlement =
            Settlement { requested: quota(70), charged: quota(60), shortfall: quota(10), was_expired: false };
        let (open, settled) = (ReservationState::Open, ReservationState::Settled(settlement));
        let cost = |prices, state, told: Option<i64>, by: Option<&Units>, models| {
            let cost = Cost { quota: told.map(quota), units: units.clone(), ..Cost::default() };
            settled_cost(prices, &reservation(state), by, &cost, models, UnixTime::new(0))
        };
        let amount = |cost| match cost {
            SettledCost::Told(quota) => ("told", quota.get()),
            SettledCost::Priced(amount) => ("priced", amount.quota.get()),
            SettledCost::Held(quota) => ("held", quota.get()),
        };
        let table = [
            (cost(&list, open, Some(5), None, ("other", "asked")), ("told", 5)),
            (cost(&list, settled, Some(5), Some(&units), ("other", "asked")), ("told", 5)),
            (cost(&list, settled, None, Some(&units), ("other", "asked")), ("told", 70)),
            (cost(&list, settled, None, Some(&Units::default()), ("other", "asked")), ("priced", 1_000_000)),
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
