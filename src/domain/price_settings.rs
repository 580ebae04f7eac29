//! The section `[prices]` of the settings: what each model costs.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::bounds;
use super::price::Price;
use super::prices::list::{PricedNameInvalid, check_name};

/// Prices by the name of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, Price>")]
pub struct PriceSettings {
    /// As the settings name them.
    all: BTreeMap<String, Price>,
}

/// Names that are no price list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceSettingsInvalid {
    #[error("the model {0:?} has a `*` that is not its last character")]
    Star(String),
    #[error("a model must have 1 to {} visible characters", bounds::MAX_MODEL_CHARS)]
    Name,
    #[error("there must be at most {} prices", bounds::MAX_PRICES)]
    TooMany,
}

impl PriceSettings {
    /// The list of these prices.
    #[cfg(test)]
    pub fn list(&self) -> super::prices::list::PriceList {
        use std::sync::Arc;

        use super::prices::list::{OwnPrice, PriceList};
        use super::prices::model_prices::ModelPrices;
        use super::prices::unit::UnitTable;

        let Ok(units) = UnitTable::with(BTreeMap::new()) else {
            return PriceList::default();
        };
        let units = Arc::new(units);
        let own = |(name, price): (&String, &Price)| {
            let prices = ModelPrices::new(price.rates_by_unit(), Vec::new(), Vec::new(), None, &units);
            Some((name.clone(), OwnPrice::Prices(Arc::new(prices.ok()?))))
        };
        let own = self.all.iter().filter_map(own).collect();
        PriceList::new(own, &[], Vec::new(), units)
    }

    /// All prices by the names of the settings.
    pub fn all(&self) -> impl ExactSizeIterator<Item = (&str, &Price)> {
        self.all.iter().map(|(name, price)| (name.as_str(), price))
    }
}

impl TryFrom<BTreeMap<String, Price>> for PriceSettings {
    type Error = PriceSettingsInvalid;

    fn try_from(all: BTreeMap<String, Price>) -> Result<Self, PriceSettingsInvalid> {
        if all.len() > bounds::MAX_PRICES {
            return Err(PriceSettingsInvalid::TooMany);
        }
        for name in all.keys() {
            check_name(name).map_err(|invalid| match invalid {
                PricedNameInvalid::Characters => PriceSettingsInvalid::Name,
                PricedNameInvalid::Star => PriceSettingsInvalid::Star(name.clone()),
            })?;
        }
        Ok(Self { all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Result<PriceSettings, PriceSettingsInvalid> {
        let price = |at: usize| toml::from_str(&format!("request = \"{at}\"")).unwrap();
        let all = names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), price(at + 1)));
        all.collect::<BTreeMap<_, _>>().try_into()
    }

    #[test]
    fn names_that_cannot_be_a_model_are_refused() {
        let refused = |name: &str| list(&[name]).unwrap_err().to_string();
        assert_eq!(refused("gpt-*-mini"), "the model \"gpt-*-mini\" has a `*` that is not its last character");
        assert_eq!(refused("gpt-**"), "the model \"gpt-**\" has a `*` that is not its last character");
        for name in [String::new(), "x".repeat(129), "a\nb".to_owned()] {
            assert_eq!(refused(&name), "a model must have 1 to 128 visible characters");
        }
        let many: Vec<_> = (0..=bounds::MAX_PRICES).map(|at| at.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert_eq!(list(&many), Err(PriceSettingsInvalid::TooMany));
        assert_eq!(list(&many[1..]).unwrap().all().len(), 10_000);
    }
}
