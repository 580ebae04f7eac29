//! What a settlement costs.

use super::reservation::{Asked, Reservation, ReservationState};
use crate::domain::prices::cost::{Amount, Cost};
use crate::domain::prices::count::UnitCount;
use crate::domain::prices::list::PriceList;
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::domain::prices::unit::INPUT_TOKENS;
use crate::domain::prices::units::UnitsInvalid;
use crate::domain::prices::unknown::{NotPriced, Unknown};

/// What it costs to settle a reservation. `cost` is why not, if what the gateway says of it cannot be. `before` is what
/// decided when the reservation was settled with the same before.
///
/// A settlement is always charged: what the gateway says, or by the price of the model that answered, else of the
/// requested model, at the time of the reservation; else the hold.
pub fn settled_cost(
    prices: &PriceList,
    (reservation, asked): (&Reservation, &Asked),
    before: Option<PricedBy>,
    cost: Result<&Cost, HoldReason>,
    models: (&str, &str),
) -> Amount {
    if let (ReservationState::Settled(settlement), Some(priced_by)) = (reservation.state, before) {
        return Amount { quota: settlement.requested, price: None, priced_by };
    }
    let cost = match cost {
        Ok(Cost { quota: Some(quota), .. }) => return Amount::told(*quota),
        Ok(cost) => cost,
        Err(reason) => return Amount::held(reservation.held, reason),
    };
    let amount = match cost.units.get(INPUT_TOKENS) {
        UnitCount::ZERO if asked.names_input && cost.units.used().next().is_some() => Err(HoldReason::NoInput),
        UnitCount::ZERO if asked.names_input => Err(HoldReason::NothingUsed),
        _ => priced(prices, reservation, &asked.completed(cost), models).map_err(HoldReason::from),
    };
    amount.unwrap_or_else(|reason| Amount::held(reservation.held, reason))
}

fn priced(
    prices: &PriceList,
    reservation: &Reservation,
    cost: &Cost,
    (answered, requested): (&str, &str),
) -> Result<Amount, Unknown> {
    cost.units.check(prices.units())?;
    let provider = cost.provider.as_deref();
    // A price for all other models is one of the requested model only: it must not replace a price that this has.
    let found = match prices.find_named(answered, provider) {
        Err(NotPriced::NoRule) => prices.find(requested, provider),
        found => found,
    };
    found?.amount((&cost.units, &cost.context), reservation.created_time, reservation.ratio)
}

impl From<Unknown> for HoldReason {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::NotPriced(_) => Self::ModelNotPriced,
            Unknown::Invalid(UnitsInvalid::NothingUsed) => Self::NothingUsed,
            Unknown::Invalid(_) | Unknown::TooExpensive(_) => Self::InvalidCount,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::group::Ratio;
    use crate::domain::id::{GatewayId, TokenId, UserId};
    use crate::domain::ledger::reservation::{OnExpiry, Settlement};
    use crate::domain::money::Quota;
    use crate::domain::price_settings::PriceSettings;
    use crate::domain::prices::units::Units;
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
            created_time: UnixTime::new(0),
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
        let cost = |prices, state, told: Option<i64>, before: Option<PricedBy>, models| {
            let cost = Cost { quota: told.map(quota), units: units.clone(), ..Cost::default() };
            let settled = settled_cost(prices, (&reservation(state), &Asked::default()), before, Ok(&cost), models);
            (settled.priced_by, settled.quota.get())
        };
        let (by, told, not_priced) = (PricedBy::Units, PricedBy::Told, PricedBy::Hold(HoldReason::ModelNotPriced));
        let table = [
            (cost(&list, open, Some(5), None, ("other", "asked")), (told, 5)),
            (cost(&list, settled, Some(5), None, ("other", "asked")), (told, 5)),
            (cost(&list, settled, Some(5), Some(told), ("other", "asked")), (told, 70)),
            (cost(&list, settled, None, Some(by), ("other", "asked")), (by, 70)),
            (cost(&list, settled, None, Some(not_priced), ("other", "asked")), (not_priced, 70)),
            (cost(&list, settled, None, None, ("other", "asked")), (by, 1_000_000)),
            (cost(&list, open, None, None, ("other", "asked")), (by, 1_000_000)),
            (cost(&list, open, None, None, ("unknown", "asked")), (by, 500_000)),
            (cost(&all, open, None, None, ("unknown", "asked")), (by, 500_000)),
            (cost(&all, open, None, None, ("unknown", "unknown")), (by, 1_500_000)),
            (cost(&list, open, None, None, ("unknown", "unknown")), (not_priced, 900)),
        ];
        for (at, (found, expected)) in table.into_iter().enumerate() {
            assert_eq!(found, expected, "row {at}");
        }
    }

    #[test]
    fn a_settlement_whose_counts_cannot_be_is_charged_its_hold_and_never_nothing() {
        let list: PriceSettings = toml::from_str("m = { prompt = \"1\", completion = \"2\" }").unwrap();
        let settled = |names_input, cost: Result<Units, HoldReason>| {
            let asked = Asked { names_input, ..Asked::default() };
            let cost = cost.map(|units| Cost { units, ..Cost::default() });
            let reservation = reservation(ReservationState::Open);
            let amount =
                settled_cost(&list.list(), (&reservation, &asked), None, cost.as_ref().map_err(|e| *e), ("m", "m"));
            (amount.priced_by.hold_reason(), amount.quota.get())
        };
        let [input, output] = ["input_tokens", "output_tokens"];
        let table = [
            (true, Ok(Units::from([(input, 100), (output, 100)])), None),
            (false, Ok(Units::from([(output, 150)])), None),
            (true, Ok(Units::from([(output, 150)])), Some(HoldReason::NoInput)),
            (true, Ok(Units::from([(input, 0)])), Some(HoldReason::NothingUsed)),
            (false, Ok(Units::default()), Some(HoldReason::NothingUsed)),
            (false, Ok(Units::from([(input, 1), ("cache_read_tokens", 2)])), Some(HoldReason::InvalidCount)),
            (false, Ok(Units::from([(input, 1), ("tokens", 2)])), Some(HoldReason::InvalidCount)),
            (false, Ok(Units::from([(input, 1), ("web_searches", 2)])), Some(HoldReason::ModelNotPriced)),
            (false, Err(HoldReason::InvalidCount), Some(HoldReason::InvalidCount)),
        ];
        for (names_input, cost, reason) in table {
            let expected = if reason.is_some() { 900 } else { 150 };
            assert_eq!(settled(names_input, cost.clone()), (reason, expected), "{cost:?}");
        }
    }
}
