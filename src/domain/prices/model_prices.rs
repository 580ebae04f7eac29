//! The prices of a model: by day and hour, and by the context of a request, such as its service tier.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::conditions::Condition;
use super::count::UnitCount;
use super::rate::{TieredRate, UnitRate};
use super::rates::{Rates, RatesInvalid};
use super::unit::UnitTable;
use super::unknown::NotPriced;
use crate::domain::time::UnixTime;

/// Rates by the names of their units.
pub type RatesByUnit = BTreeMap<String, TieredRate>;

/// What prices depend on besides the model and the time, such as `service_tier` = `priority`.
pub type PriceContext = BTreeMap<String, String>;

/// Values of a context by which providers name their standard price.
const STANDARD: [(&str, &[&str]); 3] = [
    ("service_tier", &["default", "standard", "auto", "on_demand"]),
    ("speed", &["standard"]),
    ("processing", &["standard"]),
];

/// The prices of a model. The last one whose condition holds is in force, else the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPrices {
    first: Rates,
    others: Vec<(Option<Condition>, Rates)>,
    variants: Vec<PriceVariant>,
    shape: Arc<str>,
}

/// The provider whose answers most others imitate.
pub const DEFAULT_SHAPE: &str = "openai";

/// Rates that replace others in some contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceVariant {
    /// The members of a context that select it; never empty.
    pub when: PriceContext,
    pub condition: Option<Condition>,
    pub rates: RatesByUnit,
}

impl ModelPrices {
    /// Prices by their conditions, the first one without, and variants of them.
    ///
    /// # Errors
    /// In some condition, or with some variant, the rates are not complete.
    pub fn new(
        first: RatesByUnit,
        others: Vec<(Option<Condition>, RatesByUnit)>,
        variants: Vec<PriceVariant>,
        minimum: Option<&(String, UnitCount)>,
        table: &Arc<UnitTable>,
    ) -> Result<Self, RatesInvalid> {
        let complete = |rates| Rates::new(rates, minimum.cloned(), table);
        let others = others.into_iter().map(|(condition, rates)| Ok((condition, complete(rates)?)));
        let prices = Self {
            first: complete(first)?,
            others: others.collect::<Result<_, RatesInvalid>>()?,
            variants,
            shape: DEFAULT_SHAPE.into(),
        };
        for variant in &prices.variants {
            for standard in std::iter::once(&prices.first).chain(prices.others.iter().map(|(_, rates)| rates)) {
                standard.with(variant.rates.clone())?;
            }
        }
        Ok(prices)
    }

    /// The same prices of a model whose answers look like those of another provider.
    pub fn with_shape(self, provider: &str) -> Self {
        Self { shape: provider.into(), ..self }
    }

    /// The provider whose answers those of the model look like.
    pub const fn shape(&self) -> &Arc<str> {
        &self.shape
    }

    /// The rates at a time, in a context.
    ///
    /// # Errors
    /// The context has a member that neither selects a variant nor names the standard price, or the variants that it
    /// selects do not go together.
    pub fn in_force(&self, at: UnixTime, context: &PriceContext) -> Result<Cow<'_, Rates>, NotPriced> {
        let holds = |condition: Option<Condition>| condition.is_none_or(|condition| condition.holds(at));
        let last = self.others.iter().rev().find(|(condition, _)| holds(*condition));
        let standard = last.map_or(&self.first, |(_, rates)| rates);
        let selected = |variant: &&PriceVariant| {
            holds(variant.condition) && variant.when.iter().all(|(key, value)| context.get(key) == Some(value))
        };
        let selected: Vec<_> = self.variants.iter().filter(selected).collect();
        for (key, value) in context {
            let is_standard = STANDARD.iter().any(|(name, values)| name == key && values.contains(&value.as_str()));
            if !is_standard && !selected.iter().any(|variant| variant.when.contains_key(key)) {
                return Err(NotPriced::NoVariant { key: key.clone(), value: value.clone() });
            }
        }
        let mut replaced = RatesByUnit::new();
        // Of two variants with the same rate, the first counts.
        replaced.extend(selected.iter().rev().flat_map(|variant| variant.rates.clone()));
        if replaced.is_empty() {
            return Ok(Cow::Borrowed(standard));
        }
        let unknown = |_| {
            let (key, value) = context.iter().next().unzip();
            NotPriced::NoVariant { key: key.cloned().unwrap_or_default(), value: value.cloned().unwrap_or_default() }
        };
        Ok(Cow::Owned(standard.with(replaced).map_err(unknown)?))
    }

    /// The variants at a time.
    pub fn variants_in_force(&self, at: UnixTime) -> impl Iterator<Item = &PriceVariant> {
        self.variants.iter().filter(move |variant| variant.condition.is_none_or(|condition| condition.holds(at)))
    }

    /// The same prices in every context.
    pub fn without_variants(&self) -> Self {
        Self { variants: Vec::new(), ..self.clone() }
    }

    /// Returns true if requests without a context cost the same by both.
    pub fn is_standard_of(&self, other: &Self) -> bool {
        self.first == other.first && self.others == other.others
    }

    /// All rates, in whatever context and at whatever time, as text: each unit after what its rate is for.
    pub(super) fn all_rates(&self) -> impl Iterator<Item = (String, String)> {
        let words = |condition: Option<Condition>| condition.map(|condition| condition.to_string());
        let others = self.others.iter().map(|(condition, rates)| (*condition, rates));
        let standard = std::iter::once((None, &self.first)).chain(others);
        let standard =
            standard.map(move |(condition, rates)| (words(condition).into_iter().collect(), rates.by_unit()));
        let variants = self.variants.iter().map(move |PriceVariant { when, condition, rates }| {
            let context = when.iter().map(|(key, value)| format!("{key}={value}"));
            (context.chain(words(*condition)).collect::<Vec<_>>(), rates.clone())
        });
        standard.chain(variants).flat_map(|(when, rates)| {
            rates.into_iter().map(move |(unit, rate)| ([when.as_slice(), &[unit]].concat().join(" "), rate.to_string()))
        })
    }

    /// For each unit what its rate may be, over all conditions, contexts and tiers.
    pub fn ranges(&self) -> BTreeMap<String, RateRange> {
        let mut ranges: BTreeMap<String, RateRange> = BTreeMap::new();
        let standard = std::iter::once(&self.first).chain(self.others.iter().map(|(_, rates)| rates));
        let all = standard.map(Rates::by_unit).chain(self.variants.iter().map(|variant| variant.rates.clone()));
        for (unit, rate) in all.flatten() {
            let range = ranges.entry(unit).or_insert(RateRange { least: rate.base, most: rate.base, starts: vec![] });
            for rate in std::iter::once(rate.base).chain(rate.tiers.iter().map(|tier| tier.rate)) {
                range.least = range.least.min(rate);
                range.most = range.most.max(rate);
            }
            range.starts.extend(rate.tiers.iter().map(|tier| tier.start));
        }
        ranges
    }
}

/// What a rate may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateRange {
    pub least: UnitRate,
    pub most: UnitRate,
    /// Where tiers start.
    pub starts: Vec<i64>,
}
