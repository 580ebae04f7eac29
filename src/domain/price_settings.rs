//! The section `[prices]` of the settings: what each model costs.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::bounds;
use super::counts::Counts;
use super::group::{Groups, Ratio};
use super::money::Quota;
use super::price::{GroupPrice, Price};
use super::prices::cost::{Amount, Cost, TooExpensive, Unknown};

/// Prices by the name of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, Price>")]
pub struct PriceSettings {
    /// As the settings name them.
    all: BTreeMap<String, Price>,
    /// Of names that end with `*`, without it.
    prefixes: HashMap<String, Price>,
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
    /// The price of a model: that of its exact name, else that of the longest beginning of it that ends with `*` in the
    /// list.
    pub fn find(&self, model: &str) -> Option<&Price> {
        self.find_named(model).or_else(|| self.prefixes.get(""))
    }

    /// The same, without the price of all models that have no other one.
    pub fn find_named(&self, model: &str) -> Option<&Price> {
        let by_prefix = || {
            let ends = (1..=model.len()).rev().filter(|end| model.is_char_boundary(*end));
            ends.into_iter().find_map(|end| self.prefixes.get(&model[..end]))
        };
        // A name with a star is a beginning of names, and no name itself.
        self.all.get(model).filter(|_| !model.ends_with('*')).or_else(by_prefix)
    }

    /// What a request to a model costs in a group with this ratio.
    ///
    /// # Errors
    /// The gateway sent no amount, and there is no price or the amount would be too large.
    pub fn amount(&self, cost: &Cost, model: Option<&str>, ratio: Ratio) -> Result<Amount, Unknown> {
        self.amount_of(cost, model, ratio, GroupPrice::cost)
    }

    /// The most that a request to a model can cost which has at most these counts.
    ///
    /// # Errors
    /// As [`amount`](Self::amount).
    pub fn most(&self, cost: &Cost, model: Option<&str>, ratio: Ratio) -> Result<Quota, Unknown> {
        Ok(self.amount_of(cost, model, ratio, GroupPrice::most)?.quota)
    }

    fn amount_of(
        &self,
        cost: &Cost,
        model: Option<&str>,
        ratio: Ratio,
        of: fn(&GroupPrice, &Counts) -> Result<Quota, TooExpensive>,
    ) -> Result<Amount, Unknown> {
        if let Some(quota) = cost.quota {
            return Ok(Amount { quota, price: None });
        }
        let price = *self.find(model.unwrap_or_default()).ok_or(Unknown::NotPriced)?;
        let price = GroupPrice { price, ratio };
        let quota = of(&price, &cost.counts).map_err(Unknown::TooExpensive)?;
        Ok(Amount { quota, price: Some(price) })
    }

    /// All prices by the names of the settings.
    pub fn all(&self) -> impl ExactSizeIterator<Item = (&str, &Price)> {
        self.all.iter().map(|(name, price)| (name.as_str(), price))
    }

    /// Equal if requests cost the same by this list and these groups, else different: 64 hexadecimal digits. No name
    /// has a line break in it.
    pub fn digest(&self, groups: &Groups) -> String {
        let mut hash = Sha256::new();
        for (name, info) in groups.all() {
            hash.update(format!("{name:?}\n{}\n", info.ratio));
        }
        for (name, price) in &self.all {
            hash.update(format!("{name}\n{}\n", price.content()));
        }
        hex::encode(hash.finalize())
    }
}

impl TryFrom<BTreeMap<String, Price>> for PriceSettings {
    type Error = PriceSettingsInvalid;

    fn try_from(all: BTreeMap<String, Price>) -> Result<Self, PriceSettingsInvalid> {
        if all.len() > bounds::MAX_PRICES {
            return Err(PriceSettingsInvalid::TooMany);
        }
        let mut prefixes = HashMap::new();
        for (name, price) in &all {
            if !(1..=bounds::MAX_MODEL_CHARS).contains(&name.chars().count()) || name.chars().any(char::is_control) {
                return Err(PriceSettingsInvalid::Name);
            }
            let prefix = name.strip_suffix('*');
            if prefix.unwrap_or(name).contains('*') {
                return Err(PriceSettingsInvalid::Star(name.clone()));
            }
            prefixes.extend(prefix.map(|prefix| (prefix.to_owned(), *price)));
        }
        Ok(Self { all, prefixes })
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
    fn the_exact_name_counts_and_then_the_longest_beginning() {
        let list = list(&["gpt-5*", "gpt-5-mini", "gpt-*", "claude", "müller-*"]).unwrap();
        let found = |model| list.find(model).map(|price| price.request.to_string().parse::<usize>().unwrap());
        let table = [
            ("gpt-5-mini", Some(2)),
            ("gpt-5-mini-2026", Some(1)),
            ("gpt-5", Some(1)),
            ("gpt-4o", Some(3)),
            ("gpt-", Some(3)),
            ("gpt", None),
            ("GPT-5", None),
            ("claude", Some(4)),
            ("claude-5", None),
            ("müller-7", Some(5)),
            ("mü", None),
            ("", None),
            ("gpt-5*", Some(1)),
            ("claude*", None),
        ];
        for (model, expected) in table {
            assert_eq!(found(model), expected, "{model}");
        }
    }

    #[test]
    fn an_amount_that_was_sent_counts_and_then_the_price() {
        let list = list(&["a", "dear"]).unwrap();
        let counts = Counts { prompt_tokens: 7, ..Counts::default() };
        let sent = Cost { quota: Some(Quota::LEAST), counts };
        let amount = Amount { quota: Quota::LEAST, price: None };
        for model in [Some("a"), Some("b"), None] {
            assert_eq!(list.amount(&sent, model, Ratio::ONE), Ok(amount));
        }
        let not_sent = Cost { quota: None, counts };
        let priced = list.amount(&not_sent, Some("a"), Ratio::new(500_000_000).unwrap()).unwrap();
        assert_eq!(priced.quota.get(), 250_000);
        assert_eq!(priced.price.unwrap().price, *list.find("a").unwrap());
        assert_eq!(list.amount(&not_sent, Some("b"), Ratio::ONE), Err(Unknown::NotPriced));
        assert_eq!(list.amount(&not_sent, None, Ratio::ONE), Err(Unknown::NotPriced));
        let dearest = PriceSettings::try_from(BTreeMap::from([("a".to_owned(), {
            toml::from_str("request = \"1000000\"").unwrap()
        })]));
        let too_much = dearest.unwrap().amount(&not_sent, Some("a"), Ratio::new(1_001_000_000_000).unwrap());
        assert_eq!(too_much, Err(Unknown::TooExpensive(TooExpensive)));
    }

    #[test]
    fn a_star_alone_is_the_price_of_every_other_model() {
        let list = list(&["*", "a"]).unwrap();
        assert!(["", "a", "b", "*", "ü"].iter().all(|model| list.find(model).is_some()));
        let named: Vec<_> = ["", "a", "b", "*", "ü"].into_iter().filter(|m| list.find_named(m).is_some()).collect();
        assert_eq!(named, ["a"]);
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

    #[test]
    fn equal_lists_have_equal_digests_and_different_ones_do_not() {
        let digests = [list(&[]), list(&["a"]), list(&["b"]), list(&["a", "b"])]
            .map(|list| list.unwrap().digest(&Groups::default()));
        assert_eq!(digests[0].len(), 64);
        for (at, digest) in digests.iter().enumerate() {
            assert!(!digests[..at].contains(digest));
        }
        let both = list(&["a", "b"]).unwrap();
        assert_eq!(both.digest(&Groups::default()), digests[3]);
        let groups: BTreeMap<_, _> = toml::from_str("[a]\ndescription = \"\"\nratio = \"1\"").unwrap();
        assert_ne!(both.digest(&Groups::new(groups)), digests[3]);
    }
}
