//! What a request costs: as its gateway says, or by the price of its model.

use std::sync::Arc;

use super::list::PriceList;
use super::model_prices::{ModelPrices, PriceContext};
use super::priced_by::{HoldReason, PricedBy};
use super::units::{Units, UnitsInvalid};
use super::unknown::Unknown;
use crate::domain::group::Ratio;
use crate::domain::money::Quota;
use crate::domain::time::UnixTime;

/// What a request costs, as its gateway says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cost {
    /// The amount. Without one, the price of the model decides.
    pub quota: Option<Quota>,
    /// What was used, or may be used at most.
    pub units: Units,
    /// What its price depends on besides the model, such as the service tier.
    pub context: PriceContext,
    /// Whose price of the model counts, if the gateway says it.
    pub provider: Option<String>,
}

impl From<Quota> for Cost {
    fn from(quota: Quota) -> Self {
        Self { quota: Some(quota), ..Self::default() }
    }
}

impl Cost {
    /// What decides the amount of a charge of this.
    pub const fn priced_by(&self) -> PricedBy {
        if self.quota.is_some() { PricedBy::Told } else { PricedBy::Units }
    }
}

/// What a request costs, and what decided that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    pub quota: Quota,
    /// By which it was computed, if it was.
    pub price: Option<GroupPrice>,
    pub priced_by: PricedBy,
}

impl Amount {
    /// An amount that somebody else says.
    pub const fn told(quota: Quota) -> Self {
        Self { quota, price: None, priced_by: PricedBy::Told }
    }

    /// The hold of a reservation.
    pub const fn held(quota: Quota, reason: HoldReason) -> Self {
        Self { quota, price: None, priced_by: PricedBy::Hold(reason) }
    }
}

/// What a model costs in a group: all that an amount was computed from besides counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupPrice {
    /// The rates that were in force, as [`Rates::content`](super::rates::Rates::content) writes them.
    rates: Arc<str>,
    /// By which they are multiplied.
    ratio: Ratio,
}

impl GroupPrice {
    /// As JSON, by which the database knows it; the ratio in billionths.
    pub fn content(&self) -> String {
        format!(r#"{{{},"ratio":{}}}"#, self.rates, self.ratio.billionths())
    }
}

impl ModelPrices {
    /// What a request costs in a group, at a time, in a context.
    ///
    /// # Errors
    /// The units have no price, there are none, or the amount would be too large.
    pub fn amount(
        &self,
        (units, context): (&Units, &PriceContext),
        at: UnixTime,
        ratio: Ratio,
    ) -> Result<Amount, Unknown> {
        let rates = self.in_force(at, context)?;
        let quota = rates.cost(units, ratio)?;
        if quota.is_zero() && units.used().next().is_none() {
            return Err(UnitsInvalid::NothingUsed.into());
        }
        let price = GroupPrice { rates: Arc::clone(rates.content()), ratio };
        Ok(Amount { quota, price: Some(price), priced_by: PricedBy::Units })
    }

    /// The most that a request with at most these units can cost.
    ///
    /// # Errors
    /// The units have no price, or the amount would be too large.
    pub fn most(
        &self,
        (units, context): (&Units, &PriceContext),
        at: UnixTime,
        ratio: Ratio,
    ) -> Result<Quota, Unknown> {
        self.in_force(at, context)?.most(units, ratio)
    }
}

impl PriceList {
    /// What a request to a model costs in a group, at a time.
    ///
    /// # Errors
    /// The gateway sent no amount, and there is no price or the amount would be too large.
    pub fn amount(&self, cost: &Cost, model: Option<&str>, at: UnixTime, ratio: Ratio) -> Result<Amount, Unknown> {
        match cost.quota {
            Some(quota) => Ok(Amount::told(quota)),
            None => self.priced(cost, model)?.amount((&cost.units, &cost.context), at, ratio),
        }
    }

    /// The most that a request to a model can cost which has at most these units.
    ///
    /// # Errors
    /// As [`amount`](Self::amount).
    pub fn most(&self, cost: &Cost, model: Option<&str>, at: UnixTime, ratio: Ratio) -> Result<Quota, Unknown> {
        match cost.quota {
            Some(quota) => Ok(quota),
            None => self.priced(cost, model)?.most((&cost.units, &cost.context), at, ratio),
        }
    }

    /// Units as they are recorded where they decide nothing: of those that cannot be, only the tokens in and out. Names
    /// that the list does not know come from clients, and are stored nowhere.
    pub fn recorded(&self, units: Units) -> Units {
        if units.check(self.units()).is_ok() { units } else { units.in_and_out() }
    }

    fn priced(&self, cost: &Cost, model: Option<&str>) -> Result<Arc<ModelPrices>, Unknown> {
        cost.units.check(self.units())?;
        Ok(self.find(model.unwrap_or_default(), cost.provider.as_deref())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::price_settings::PriceSettings;
    use crate::domain::prices::unknown::{NotPriced, TooExpensive};

    #[test]
    fn an_amount_that_was_sent_counts_and_then_the_price() {
        let list = |text: &str| toml::from_str::<PriceSettings>(text).unwrap().list();
        let prices = list("a = { request = \"1\" }");
        let at = UnixTime::new(0);
        let units = Units::from([("input_tokens", 7)]);
        let sent = Cost { quota: Some(Quota::LEAST), units: units.clone(), ..Cost::default() };
        for model in [Some("a"), Some("b"), None] {
            assert_eq!(prices.amount(&sent, model, at, Ratio::ONE), Ok(Amount::told(Quota::LEAST)));
        }
        let not_sent = Cost { units, ..Cost::default() };
        let half = Ratio::new(500_000_000).unwrap();
        let Amount { quota, price, .. } = prices.amount(&not_sent, Some("a"), at, half).unwrap();
        assert_eq!(quota.get(), 250_000);
        assert!(price.unwrap().content().ends_with(r#","ratio":500000000}"#));
        for model in [Some("b"), None] {
            assert_eq!(prices.amount(&not_sent, model, at, Ratio::ONE), Err(NotPriced::NoRule.into()));
        }
        let dearest = list("a = { request = \"1000000\" }");
        let too_much = dearest.amount(&not_sent, Some("a"), at, Ratio::new(1_001_000_000_000).unwrap());
        assert_eq!(too_much, Err(Unknown::TooExpensive(TooExpensive)));
    }
}
