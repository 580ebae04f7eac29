//! What a new price list changes so much that somebody should look at it.

use std::collections::BTreeMap;

use super::list::PriceList;
use super::model_prices::PriceContext;
use super::rate::{TieredRate, UnitRate};
use crate::domain::time::UnixTime;

impl PriceList {
    /// Sentences about rates that a newer list would move beyond half or double, and about models among `charged` that
    /// would have no price any more.
    pub fn surprises(&self, newer: &Self, charged: &[String], at: UnixTime) -> Vec<String> {
        let mut surprises = Vec::new();
        let newer_entries: BTreeMap<_, _> = newer.entries().collect();
        for (name, before) in self.entries() {
            let Some(after) = newer_entries.get(&name) else {
                continue;
            };
            let rates = [before, after].map(|prices| {
                let rates = prices.in_force(at, &PriceContext::new());
                rates.map(|rates| rates.by_unit()).unwrap_or_default()
            });
            let [before, after] = rates;
            for (unit, rate) in before {
                match after.get(&unit) {
                    Some(new) if is_surprise(&rate, new) => {
                        surprises.push(format!("{name}: {unit} from {} to {}", rate.base, new.base));
                    }
                    Some(_) | None => {}
                }
            }
        }
        let has_price = |list: &Self, model: &str| list.find(model, None).is_ok();
        let gone = charged.iter().filter(|model| has_price(self, model) && !has_price(newer, model));
        surprises
            .extend(gone.map(|model| format!("{model}: was charged in the last 30 days, and would have no price")));
        surprises
    }
}

/// Returns true if a rate moves beyond half or double.
fn is_surprise(before: &TieredRate, after: &TieredRate) -> bool {
    let tiers = |rate: &TieredRate| -> Vec<UnitRate> {
        std::iter::once(rate.base).chain(rate.tiers.iter().map(|tier| tier.rate)).collect()
    };
    let moved = |(before, after): (&UnitRate, &UnitRate)| {
        let (before, after) = (before.attos(), after.attos());
        after > before.saturating_mul(2) || after.saturating_mul(2) < before
    };
    tiers(before).iter().zip(&tiers(after)).any(moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::price_settings::PriceSettings;

    #[test]
    fn rates_that_move_far_and_charged_models_that_go_are_named() {
        let list = |text: &str| toml::from_str::<PriceSettings>(text).unwrap().list();
        let before =
            list("a = { prompt = \"2\", completion = \"8\" }\nb = { request = \"1\" }\nc = { request = \"1\" }");
        let table = [
            ("a = { prompt = \"4\", completion = \"4\" }\nb = { request = \"1\" }", vec![]),
            (
                "a = { prompt = \"4.1\", completion = \"3.9\" }\nb = { request = \"1\" }",
                vec!["a: input_tokens from 2 to 4.1", "a: output_tokens from 8 to 3.9"],
            ),
            (
                "a = { prompt = \"0\", completion = \"8\" }",
                vec!["a: input_tokens from 2 to 0", "b: was charged in the last 30 days, and would have no price"],
            ),
        ];
        for (text, expected) in table {
            let charged = ["a", "b", "never"].map(str::to_owned);
            assert_eq!(before.surprises(&list(text), &charged, UnixTime::new(0)), expected, "{text}");
        }
    }
}
