//! Usage as providers tell it: read with the extractors of the price list in force.

use std::collections::BTreeSet;
use std::sync::Arc;

use keymeter_meter::extraction::{ExtractError, Extracted};
use keymeter_meter::json_value::{JsonValue, JsonValueError};

use crate::domain::group::Ratio;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::count::{UnitCount, UnitCountInvalid};
use crate::domain::prices::model_prices::DEFAULT_SHAPE;
use crate::domain::prices::units::UnitsInvalid;
use crate::domain::usd_cost::{UsdCost, UsdCostInvalid};
use crate::service::price_file::ReadPrices;

/// The usage of a provider's answer as it came, or the whole answer.
#[derive(Debug, Clone)]
pub struct ProviderUsage {
    answer: Arc<JsonValue>,
    /// Which API of the provider it is of, if the gateway says it.
    flavor: Option<String>,
}

/// A usage that says no cost. Nothing is known then; it is never 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UsageInvalid {
    #[error("`usage` cannot be read: {0}")]
    NotJson(String),
    #[error("`usage` cannot be read: {0}; `provider` and `flavor` say whose it is")]
    NotRead(#[from] ExtractError),
    #[error("`usage` and `units`: {0}")]
    Units(#[from] UnitsInvalid),
    #[error("`usage` counts of `{0}` what {1}")]
    Count(String, UnitCountInvalid),
    #[error("the cost that `usage` tells {0}")]
    Cost(#[from] UsdCostInvalid),
}

impl From<JsonValueError> for UsageInvalid {
    fn from(error: JsonValueError) -> Self {
        Self::NotJson(error.to_string())
    }
}

/// What a request used and cost, by what its gateway sent and its usage.
#[derive(Debug)]
pub(super) struct ReadUsage {
    pub(super) cost: Cost,
    /// Numbers of the usage that nobody reads.
    pub(super) unread: BTreeSet<String>,
}

impl ProviderUsage {
    /// Reads JSON of at most 64 KiB.
    ///
    /// # Errors
    /// See [`UsageInvalid`].
    pub fn read(json: &str, flavor: Option<String>) -> Result<Self, UsageInvalid> {
        Ok(Self { answer: Arc::new(JsonValue::read(json)?), flavor: flavor.filter(|flavor| !flavor.is_empty()) })
    }

    /// All of it that a retry has to repeat.
    pub(super) fn repeatable(&self) -> String {
        format!(" usage {:?} {}", self.flavor, self.answer)
    }

    /// What a request to `model` cost: what was `sent` beside the usage, and what that says. Where an amount was sent,
    /// it is only recorded.
    pub(super) fn cost(
        &self,
        sent: &Cost,
        model: &str,
        prices: &ReadPrices,
        ratio_of_told: Option<Ratio>,
    ) -> Result<ReadUsage, UsageInvalid> {
        let read = self.extract(sent, model, prices).and_then(|extracted| merge(sent, extracted, ratio_of_told));
        match read {
            Err(_) if sent.quota.is_some() => Ok(ReadUsage { cost: sent.clone(), unread: BTreeSet::new() }),
            read => read,
        }
    }

    /// Its shape is that of the provider that the gateway names, else that of the model.
    fn extract(&self, sent: &Cost, model: &str, prices: &ReadPrices) -> Result<Extracted, UsageInvalid> {
        let shape = match &sent.provider {
            Some(provider) => prices.list.provider_id(provider),
            None => {
                prices.list.find(model, None).map_or_else(|_| DEFAULT_SHAPE.into(), |found| (**found.shape()).into())
            }
        };
        Ok(prices.extractors.extract(&shape, self.flavor.as_deref(), &self.answer)?)
    }
}

fn merge(sent: &Cost, extracted: Extracted, ratio_of_told: Option<Ratio>) -> Result<ReadUsage, UsageInvalid> {
    // Providers answer with names of their own: which model is charged, the gateway says.
    let Extracted { model: _, units, cost: told, context, unread } = extracted;
    let mut cost = sent.clone();
    for (unit, number) in units {
        let count = UnitCount::read(&number.to_string());
        cost.units.add(&unit, count.map_err(|invalid| UsageInvalid::Count(unit.clone(), invalid))?)?;
    }
    // What was served counts before what was asked for.
    cost.context.extend(context.into_iter().filter(|(_, value)| !value.is_empty()));
    if let (None, Some(dollars)) = (cost.quota, told) {
        // Dust is no cost: then the counts say it.
        let told: UsdCost = dollars.to_string().parse()?;
        let quota = told.quota_at(ratio_of_told.unwrap_or(Ratio::ONE))?;
        cost.quota = (!told.quota()?.is_zero()).then_some(quota);
    }
    Ok(ReadUsage { cost, unread })
}
