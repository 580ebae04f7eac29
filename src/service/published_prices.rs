//! The data that `genai-prices` publishes: what each provider's models cost, and by which names they go.
//!
//! Only what is known here is read. A model with anything else would get a price that is not its price, so it is left
//! out and named.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Error, IgnoredAny};
use serde_json::value::RawValue;

use crate::domain::bounds;
use crate::domain::prices::conditions::{Condition, ConditionData};
use crate::domain::prices::count::UnitCount;
use crate::domain::prices::list::{ModelOfProvider, Provider};
use crate::domain::prices::model_prices::{ModelPrices, PriceContext, PriceVariant, RatesByUnit};
use crate::domain::prices::name_rule::NameRule;
use crate::domain::prices::rate::{RateTier, TieredRate, UnitRate};
use crate::domain::prices::unit::UnitTable;

/// What providers bill at least, and the data cannot say: provider, model, unit, count.
const MINIMUMS: [(&str, &str, &str, i64); 2] =
    [("groq", "whisper-large-v3", "audio_seconds", 10), ("groq", "whisper-large-v3-turbo", "audio_seconds", 10)];

/// A list of providers.
#[derive(Debug)]
pub struct PublishedPrices {
    pub providers: Vec<Provider>,
    /// Models that were left out.
    pub left_out: Vec<LeftOut>,
}

/// A model that was left out, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub provider: String,
    pub model: String,
    /// A sentence without its first capital and full stop.
    pub reason: String,
}

/// A provider as it is published. Descriptive members are not read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderData {
    id: String,
    provider_match: Option<NameRule>,
    #[serde(default)]
    fallback_model_providers: Vec<String>,
    models: Vec<Box<RawValue>>,
    #[serde(rename = "model_match")]
    _model_match: Option<IgnoredAny>,
    #[serde(rename = "extractors")]
    _extractors: Option<IgnoredAny>,
    #[serde(rename = "name")]
    _name: Option<IgnoredAny>,
    #[serde(rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(rename = "api_pattern")]
    _api_pattern: Option<IgnoredAny>,
    #[serde(rename = "pricing_urls")]
    _pricing_urls: Option<IgnoredAny>,
    #[serde(rename = "price_comments")]
    _price_comments: Option<IgnoredAny>,
}

/// A model as it is published.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelData {
    id: String,
    #[serde(rename = "match")]
    _match: NameRule,
    prices: Box<RawValue>,
    price_variants: Option<Vec<VariantData>>,
    #[serde(rename = "name")]
    _name: Option<IgnoredAny>,
    #[serde(rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(rename = "context_window")]
    _context_window: Option<IgnoredAny>,
    #[serde(rename = "price_comments")]
    _price_comments: Option<IgnoredAny>,
    #[serde(rename = "deprecated")]
    _deprecated: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantData {
    when: PriceContext,
    constraint: Option<ConditionData>,
    prices: RatesData,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionalPrices {
    constraint: Option<ConditionData>,
    prices: RatesData,
}

impl From<RatesData> for ConditionalPrices {
    fn from(prices: RatesData) -> Self {
        Self { constraint: None, prices }
    }
}

impl ConditionalPrices {
    /// Reads one set of prices, or a list of them with conditions.
    pub(super) fn read(json: &str) -> serde_json::Result<Vec<Self>> {
        if json.trim_start().starts_with('[') {
            return serde_json::from_str(json);
        }
        Ok(vec![serde_json::from_str::<RatesData>(json)?.into()])
    }
}

/// Rates by price key: a number, or an object with tiers.
pub(super) type RatesData = BTreeMap<String, Box<RawValue>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TieredData {
    base: Box<RawValue>,
    tiers: Vec<TierData>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TierData {
    start: i64,
    price: Box<RawValue>,
}

impl PublishedPrices {
    /// Reads a list.
    ///
    /// # Errors
    /// It is no list of providers.
    pub fn read(text: &str, table: &Arc<UnitTable>) -> serde_json::Result<Self> {
        let data: Vec<Box<RawValue>> = serde_json::from_str(text)?;
        let (mut providers, mut left_out, mut count) = (Vec::new(), Vec::new(), 0);
        for json in data {
            let data = match serde_json::from_str(json.get()) {
                Ok(data) => data,
                Err(error) => {
                    let (provider, _) = named(json.get());
                    left_out.push(LeftOut { provider, model: "*".to_owned(), reason: error.to_string() });
                    continue;
                }
            };
            let ProviderData { id, provider_match, fallback_model_providers, models, .. } = data;
            count += models.len();
            if count > bounds::MAX_PUBLISHED_MODELS {
                let max = bounds::MAX_PUBLISHED_MODELS;
                return Err(serde_json::Error::custom(format!("there must be at most {max} models")));
            }
            let mut read = Vec::new();
            for model in models {
                let (model_id, names) = named(model.get());
                let prices = read_model(&id, model.get(), table).map(|prices| Arc::new(prices.with_shape(&id)));
                let prices = prices.map_err(|reason| {
                    left_out.push(LeftOut { provider: id.clone(), model: model_id.clone(), reason });
                });
                read.push(ModelOfProvider { id: model_id, names, prices: prices.ok() });
            }
            let (other_names, fallbacks) = (provider_match, fallback_model_providers);
            providers.push(Provider { id, other_names, fallbacks, models: read });
        }
        Ok(Self { providers, left_out })
    }
}

/// The id of a model, and its names; only the id if its rule cannot be read.
fn named(json: &str) -> (String, NameRule) {
    #[derive(Deserialize)]
    struct Named {
        id: String,
        r#match: Option<Box<RawValue>>,
    }
    let (id, rule) = match serde_json::from_str(json) {
        Ok(Named { id, r#match }) => (id, r#match.and_then(|rule| serde_json::from_str(rule.get()).ok())),
        Err(_) => ("?".to_owned(), None),
    };
    let names = rule.unwrap_or_else(|| NameRule::Equals(id.clone().into()));
    (id, names)
}

fn read_model(provider: &str, json: &str, table: &Arc<UnitTable>) -> Result<ModelPrices, String> {
    let data: ModelData = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let minimum = MINIMUMS.into_iter().find(|(of, model, ..)| *of == provider && *model == data.id);
    let minimum = minimum.map(|(.., unit, count)| (unit.to_owned(), UnitCount::whole(count)));
    let reader = PriceReader { table, may_be_free: false };
    let all = ConditionalPrices::read(data.prices.get()).map_err(|error| error.to_string())?;
    reader.prices(all, data.price_variants.unwrap_or_default(), minimum.as_ref())
}

/// Reads the prices of a model.
pub(super) struct PriceReader<'a> {
    pub(super) table: &'a Arc<UnitTable>,
    /// A rate may be 0: it is of a file of one's own, where it means free. Elsewhere it is no price.
    pub(super) may_be_free: bool,
}

impl PriceReader<'_> {
    /// Prices with their conditions, the first one without; and variants of them.
    pub(super) fn prices(
        &self,
        all: Vec<ConditionalPrices>,
        variants: Vec<VariantData>,
        minimum: Option<&(String, UnitCount)>,
    ) -> Result<ModelPrices, String> {
        let conditional = |ConditionalPrices { constraint, prices }| match self.rates(prices)? {
            rates if rates.is_empty() => Err("it has no price: it is free, or sold by subscription".to_owned()),
            rates => Ok((read_condition(constraint)?, rates)),
        };
        let mut conditional = all.into_iter().map(conditional).collect::<Result<Vec<_>, _>>()?.into_iter();
        let (_, first) = conditional.next().ok_or("it has no price: it is free, or sold by subscription")?;
        let variants = variants.into_iter().map(|variant| self.variant(variant)).collect::<Result<_, _>>()?;
        ModelPrices::new(first, conditional.collect(), variants, minimum, self.table).map_err(|error| error.to_string())
    }

    fn variant(&self, VariantData { when, constraint, prices }: VariantData) -> Result<PriceVariant, String> {
        if when.is_empty() {
            return Err("a variant of its price is for every context".to_owned());
        }
        Ok(PriceVariant { when, condition: read_condition(constraint)?, rates: self.rates(prices)? })
    }

    fn rates(&self, prices: RatesData) -> Result<RatesByUnit, String> {
        let read = |(key, json): (String, Box<RawValue>)| {
            let unit =
                self.table.by_price_key(&key).ok_or_else(|| format!("its price has the unknown rate `{key}`"))?;
            Ok((unit.name().to_owned(), self.rate(json.get()).map_err(|reason| format!("`{key}` {reason}"))?))
        };
        prices.into_iter().filter(|(_, json)| json.get() != "null").map(read).collect()
    }

    fn rate(&self, json: &str) -> Result<TieredRate, String> {
        if !json.starts_with('{') {
            return Ok(self.number(json)?.into());
        }
        let data: TieredData = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let tier = |TierData { start, price }| match start {
            0.. => Ok(RateTier { start, rate: self.number(price.get())? }),
            _ => Err("has a tier that starts below 0".to_owned()),
        };
        let mut tiers = data.tiers.into_iter().map(tier).collect::<Result<Vec<_>, _>>()?;
        tiers.sort_by_key(|tier| tier.start);
        Ok(TieredRate { base: self.number(data.base.get())?, tiers })
    }

    /// A number, or one as text.
    fn number(&self, json: &str) -> Result<UnitRate, String> {
        let text = json.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(json);
        match UnitRate::read(text) {
            Ok(UnitRate::FREE) if !self.may_be_free => {
                Err("is 0; what is free must be said in a file of one's own".to_owned())
            }
            Ok(rate) => Ok(rate),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn read_condition(data: Option<ConditionData>) -> Result<Option<Condition>, String> {
    data.map(Condition::try_from).transpose().map_err(|error| error.to_string())
}
