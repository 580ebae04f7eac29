//! What a new price list changes, and what of it so much that somebody should look at it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::list::{PriceEntry, PriceList};
use super::model_prices::ModelPrices;

/// A rate that a new list changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateChange {
    /// The name of the model, that of a provider as `provider/model`.
    pub name: String,
    /// The unit, after the context and the time that the rate is for; empty if the name takes the price of a provider.
    pub rate: String,
    /// As decimal text, with tiers. `None` if there was none.
    pub from: Option<String>,
    /// `None` if there is none any more.
    pub to: Option<String>,
}

impl PriceList {
    /// All rates that a newer list changes, adds and takes away, by name. Which names a model goes by is not compared.
    pub fn rate_changes(&self, newer: &Self) -> Vec<RateChange> {
        let (mut before, mut changes) = (self.all_rates(), Vec::new());
        for ((name, rate), to) in newer.all_rates() {
            let from = before.remove(&(name.clone(), rate.clone()));
            if from.as_ref() != Some(&to) {
                changes.push(RateChange { name, rate, from, to: Some(to) });
            }
        }
        changes.extend(before.into_iter().map(|((name, rate), from)| RateChange {
            name,
            rate,
            from: Some(from),
            to: None,
        }));
        changes.sort_by(|one, other| (&one.name, &one.rate).cmp(&(&other.name, &other.rate)));
        changes
    }

    fn all_rates(&self) -> BTreeMap<(String, String), String> {
        let of_entry = |entry: PriceEntry<'_>| -> Vec<((String, String), String)> {
            let name = entry.name().into_owned();
            let Some(prices) = entry.prices else {
                return vec![((name, String::new()), format!("the price of {}", entry.provider.unwrap_or_default()))];
            };
            prices.all_rates().map(|(rate, text)| ((name.clone(), rate), text)).collect()
        };
        self.entries().flat_map(of_entry).collect()
    }

    /// Sentences about models among `charged` that would have no price any more by a newer list, and about rates that
    /// would move beyond half or double at some time, in some context, above some tier.
    pub fn surprises(&self, newer: &Self, charged: &[String]) -> Vec<String> {
        let mut surprises = Vec::new();
        let after = newer.prices_by_name();
        for (name, before) in self.prices_by_name() {
            if let Some(after) = after.get(&name) {
                surprises.extend(moves(&name, before, after));
            }
        }
        for model in charged {
            match (self.find(model, None), newer.find(model, None)) {
                (Ok(before), Ok(after)) => surprises.extend(moves(model, &before, &after)),
                (Ok(_), Err(_)) => {
                    surprises.push(format!("{model}: was charged in the last 30 days, and would have no price"));
                }
                (Err(_), _) => {}
            }
        }
        surprises.sort();
        surprises.dedup();
        surprises
    }

    fn prices_by_name(&self) -> BTreeMap<String, &Arc<ModelPrices>> {
        self.entries().filter_map(|entry| Some((entry.name().into_owned(), entry.prices?))).collect()
    }
}

/// The rates that move beyond half or double, or go.
fn moves(name: &str, before: &ModelPrices, after: &ModelPrices) -> Vec<String> {
    let after = after.ranges();
    let mut moves = Vec::new();
    for (unit, before) in before.ranges() {
        let Some(after) = after.get(&unit) else {
            moves.push(format!("{name}: {unit} has no rate of its own any more"));
            continue;
        };
        let bounds = [(before.least, after.least), (before.most, after.most)];
        if let Some((from, to)) = bounds.into_iter().find(|(from, to)| is_far(from.attos(), to.attos())) {
            moves.push(format!("{name}: {unit} from {from} to {to}"));
        }
        let starts = before.starts.iter().zip(&after.starts);
        let is_moved = starts.into_iter().any(|(from, to)| is_far((*from).into(), (*to).into()));
        if is_moved || before.starts.len() > after.starts.len() {
            moves.push(format!("{name}: the tiers of {unit} go or start elsewhere"));
        }
    }
    moves
}

/// Returns true if a number moves beyond half or double.
const fn is_far(from: i128, to: i128) -> bool {
    to > from.saturating_mul(2) || to.saturating_mul(2) < from
}

#[cfg(test)]
mod tests {
    use crate::domain::price_settings::PriceSettings;

    #[test]
    fn all_rates_that_change_come_and_go_are_named() {
        let list = |text: &str| toml::from_str::<PriceSettings>(text).unwrap().list();
        let before = list("a = { prompt = \"2\", completion = \"8\" }\nb = { request = \"1\" }");
        let long = "above = { prompt_tokens = 9, prompt = \"4\", completion = \"20\" }";
        let after =
            list(&format!("a = {{ prompt = \"2\", completion = \"9\", {long} }}\n\"c*\" = {{ request = \"1\" }}"));
        let changes = before.rate_changes(&after).into_iter().map(|change| {
            let [from, to] = [change.from, change.to].map(|rate| rate.unwrap_or("-".to_owned()));
            format!("{} {}: {from} to {to}", change.name, change.rate)
        });
        let expected = [
            "a input_tokens: 2 to 2, above 9 input tokens 4",
            "a output_tokens: 8 to 9, above 9 input tokens 20",
            "b input_tokens: 0 to -",
            "b output_tokens: 0 to -",
            "b requests: 1000 to -",
            "c* input_tokens: - to 0",
            "c* output_tokens: - to 0",
            "c* requests: - to 1000",
        ];
        assert_eq!(changes.collect::<Vec<_>>(), expected);
        assert_eq!(after.rate_changes(&after), []);
    }

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
            (
                "\"a\" = { prompt = \"2\", completion = \"8\" }\n\"*\" = { request = \"0\" }",
                vec!["b: requests has no rate of its own any more"],
            ),
        ];
        for (text, expected) in table {
            let charged = ["a", "b", "never"].map(str::to_owned);
            assert_eq!(before.surprises(&list(text), &charged), expected, "{text}");
        }
    }
}
