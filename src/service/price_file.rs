//! The file of prices that one keeps oneself: whose models count, one's own prices, and units of one's own.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use keymeter_meter::extractors::{Extractors, LeftOutExtractor, OWN_EXTRACTORS};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::published_prices::{ConditionalPrices, LeftOut, PriceReader, PublishedPrices, RatesData, VariantData};
use crate::domain::bounds;
use crate::domain::price::Price;
use crate::domain::price_settings::PriceSettings;
use crate::domain::prices::list::{OwnPrice, PriceList, check_name};
use crate::domain::prices::rate::{RateTier, TieredRate};
use crate::domain::prices::unit::{KNOWN_UNITS, REQUESTS, UnitData, UnitTable};

/// A list that was read, how answers are read with it, and what of the data does not count in it.
#[derive(Debug)]
pub struct ReadPrices {
    pub list: PriceList,
    pub extractors: Extractors,
    /// Models of the named providers that have no price here.
    pub left_out: Vec<LeftOut>,
    /// Numbers of usages that nobody reads, which were named in the log.
    unread: Mutex<BTreeSet<String>>,
}

/// How many unread numbers are named, in all.
const MAX_UNREAD: usize = 100;

impl ReadPrices {
    /// Names numbers in the log that nobody reads, each once: a provider may bill for them.
    pub fn note_unread(&self, names: &BTreeSet<String>) {
        let mut noted = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            if noted.len() < MAX_UNREAD && noted.insert(name.clone()) {
                tracing::warn!(name, "nothing reads this number of a provider's usage; it may be billed");
            }
        }
    }
}

/// A text that is no list of prices: a sentence that says what is wrong and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PricesInvalid(String);

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnFile {
    /// The providers whose models count.
    #[serde(default)]
    providers: Vec<String>,
    #[serde(default)]
    models: BTreeMap<String, Box<RawValue>>,
    #[serde(default)]
    units: BTreeMap<String, UnitData>,
    /// How answers are read that those of the data and of this version do not know.
    extractors: Option<Box<RawValue>>,
}

impl From<PriceList> for ReadPrices {
    /// A list without data: answers are read by the extractors of this version alone.
    fn from(list: PriceList) -> Self {
        let mut extractors = Extractors::default();
        // They are in the program, and a test reads them.
        let _ = extractors.add_own(OWN_EXTRACTORS, |_| true);
        Self { list, extractors, left_out: Vec::new(), unread: Mutex::default() }
    }
}

/// Reads a list from one's own file and the published data. Takes milliseconds for each hundred kilobytes.
///
/// # Errors
/// See [`PricesInvalid`]. Models of the data that cannot be read are left out instead.
pub fn read_prices(file: &str, data: &str) -> Result<ReadPrices, PricesInvalid> {
    let not_a_list = |reason: &dyn Display| PricesInvalid(format!("the file is not a list of prices: {reason}"));
    if !file.trim_start().starts_with('{') {
        return Err(not_a_list(&"it is no JSON object"));
    }
    let OwnFile { providers: named, models, units, extractors } =
        serde_json::from_str(file).map_err(|error| not_a_list(&error))?;
    if units.len() > bounds::MAX_OWN_UNITS {
        return Err(PricesInvalid(format!("there must be at most {} units of one's own", bounds::MAX_OWN_UNITS)));
    }
    let table = Arc::new(UnitTable::with(units).map_err(|error| PricesInvalid(error.to_string()))?);
    let published = PublishedPrices::read(data, &table)
        .map_err(|error| PricesInvalid(format!("the data is not a list of providers: {error}")))?;
    if let Some(unknown) = named.iter().find(|id| !published.providers.iter().any(|provider| provider.id == **id)) {
        return Err(PricesInvalid(format!(
            "the data has no provider {unknown:?}; its ids are those of `genai-prices`"
        )));
    }
    if models.len() > bounds::MAX_PRICES {
        return Err(PricesInvalid(format!("there must be at most {} models of one's own", bounds::MAX_PRICES)));
    }
    let own = models.into_iter().map(|(name, json)| {
        let price = check_name(&name).map_err(Box::from).and_then(|()| read_model(json.get(), &named, &table));
        match price {
            Ok(price) => Ok((name, price)),
            Err(reason) => Err(PricesInvalid(format!("the model {name:?}: {reason}"))),
        }
    });
    let own = own.collect::<Result<_, _>>()?;
    let extractors = read_extractors(extractors.as_deref(), data, &table)?;
    let left_out = published.left_out.into_iter().filter(|model| named.contains(&model.provider)).collect();
    Ok(ReadPrices {
        list: PriceList::new(own, &named, published.providers, table),
        extractors,
        left_out,
        unread: Mutex::default(),
    })
}

/// The file with the prices of the section `[prices]` of the settings.
pub fn file_of(settings: &PriceSettings) -> String {
    let keys: BTreeMap<&str, &str> = KNOWN_UNITS.iter().map(|(unit, data)| (unit.as_str(), data.price_key())).collect();
    let rate = |TieredRate { base, tiers }: TieredRate| match tiers.as_slice() {
        [] => json!(base.to_string()),
        tiers => {
            let tier = |tier: &RateTier| json!({ "start": tier.start, "price": tier.rate.to_string() });
            json!({ "base": base.to_string(), "tiers": tiers.iter().map(tier).collect::<Vec<_>>() })
        }
    };
    let model = |(name, price): (&str, &Price)| {
        let rates = price.rates_by_unit().into_iter();
        let rates = rates.filter_map(|(unit, of)| Some(((*keys.get(unit.as_str())?).to_owned(), rate(of))));
        (name.to_owned(), Value::Object(rates.collect()))
    };
    json!({ "models": settings.all().map(model).collect::<Map<_, _>>() }).to_string()
}

/// The texts of all extractors, each a JSON list.
#[derive(Debug)]
pub struct ExtractorTexts {
    pub own: String,
    pub known: String,
    pub published: String,
}

/// The texts of the extractors of a list that was checked.
///
/// # Errors
/// It was not.
pub fn extractor_texts(file: &str, data: &str) -> serde_json::Result<ExtractorTexts> {
    #[derive(Deserialize)]
    struct OfFile {
        extractors: Option<Box<RawValue>>,
    }
    #[derive(Serialize, Deserialize)]
    struct OfProvider {
        id: String,
        #[serde(default)]
        extractors: Vec<Box<RawValue>>,
    }
    let OfFile { extractors } = serde_json::from_str(file)?;
    let mut providers: Vec<OfProvider> = serde_json::from_str(data)?;
    providers.retain(|provider| !provider.extractors.is_empty());
    Ok(ExtractorTexts {
        own: extractors.map_or_else(|| "[]".to_owned(), |json| json.get().to_owned()),
        known: OWN_EXTRACTORS.to_owned(),
        published: serde_json::to_string(&providers)?,
    })
}

/// All extractors: one's own come first, then those of this version, then those of the data. Of the data, one that
/// cannot be read is left out: answers that need it are not read.
fn read_extractors(own: Option<&RawValue>, data: &str, table: &UnitTable) -> Result<Extractors, PricesInvalid> {
    let invalid = |reason: &dyn Display| PricesInvalid(format!("the extractors: {reason}"));
    let is_unit = |unit: &str| unit != REQUESTS && table.get(unit).is_some();
    let mut all = Extractors::default();
    if let Some(own) = own {
        all.add_own(own.get(), is_unit).map_err(|error| invalid(&error))?;
        if let Some(LeftOutExtractor { provider, api_flavor, reason }) = all.left_out.first() {
            return Err(invalid(&format!("`{api_flavor}` of {provider:?}: {reason}")));
        }
    }
    all.add_own(OWN_EXTRACTORS, is_unit).map_err(|error| invalid(&error))?;
    all.add_published(data, is_unit).map_err(|error| invalid(&error))?;
    Ok(all)
}

/// A model of the file: a provider, or conditional prices, or rates.
fn read_model(json: &str, named: &[String], table: &Arc<UnitTable>) -> Result<OwnPrice, Box<dyn Error>> {
    let mut rates: RatesData = serde_json::from_str(json)?;
    let variants = rates.remove("price_variants").map(|json| serde_json::from_str::<Vec<VariantData>>(json.get()));
    let variants = variants.transpose()?.unwrap_or_default();
    let shape = rates.remove("shape").map(|json| serde_json::from_str::<String>(json.get())).transpose()?;
    let prices = rates.remove("prices").map(|json| ConditionalPrices::read(json.get())).transpose()?;
    if let Some(json) = rates.remove("provider") {
        let provider: String = serde_json::from_str(json.get())?;
        if !rates.is_empty() || prices.is_some() || !variants.is_empty() || shape.is_some() {
            return Err("it has either a `provider` or prices of its own".into());
        }
        if !named.contains(&provider) {
            return Err(format!("its provider {provider:?} is not among `providers`").into());
        }
        return Ok(OwnPrice::OfProvider(provider));
    }
    let all = match prices {
        Some(_) if !rates.is_empty() => return Err("it has either `prices` or rates".into()),
        Some(prices) => prices,
        None => vec![rates.into()],
    };
    let reader = PriceReader { table, may_be_free: true };
    let prices = reader.prices(all, variants, None)?;
    let prices = match shape {
        Some(shape) => prices.with_shape(&shape),
        None => prices,
    };
    Ok(OwnPrice::Prices(Arc::new(prices)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::group::Ratio;
    use crate::domain::prices::units::Units;
    use crate::domain::prices::unknown::NotPriced;
    use crate::domain::time::UnixTime;

    const DATA: &str = r#"[
        {"id": "lab", "name": "Lab", "models": [
            {"id": "m", "match": {"equals": "m"}, "prices": {"input_mtok": 2, "output_mtok": 10}},
            {"id": "free", "match": {"equals": "free"}, "prices": {}},
            {"id": "zero", "match": {"equals": "zero"}, "prices": {"input_mtok": 0, "output_mtok": 1}},
            {"id": "new", "match": {"equals": "new"}, "prices": {"input_dreams": 1}},
            {"id": "odd", "match": {"equals": "odd"}, "prices": {"input_mtok": 1}, "weekday": 1}]},
        {"id": "other", "name": "Other", "models": [
            {"id": "m", "match": {"equals": "m"}, "prices": {"input_mtok": 4, "output_mtok": 10}}]}]"#;

    fn dollars(list: &PriceList, model: &str) -> Result<i64, NotPriced> {
        let units = Units::from([("input_tokens", 1_000_000)]);
        let prices = list.find(model, None)?;
        Ok(prices.amount((&units, &BTreeMap::new()), UnixTime::new(0), Ratio::ONE).unwrap().quota.get() / 500_000)
    }

    #[test]
    fn own_models_and_those_of_named_providers_have_prices() {
        let file = r#"{"providers": ["lab"], "models": {
            "mine": {"input_mtok": "3", "output_mtok": 1.5}, "gift": {"input_mtok": 0},
            "alias-m": {"provider": "lab"}, "m-tiers": {"input_mtok": {"base": "5", "tiers": [{"start": 9, "price": 6}]}},
            "by-day": {"prices": [{"prices": {"input_mtok": 7}}], "price_variants":
                [{"when": {"service_tier": "flex"}, "prices": {"input_mtok": 1}}]}}}"#;
        let ReadPrices { list, left_out, .. } = read_prices(file, DATA).unwrap();
        let table = [("mine", 3), ("gift", 0), ("m", 2), ("m-tiers", 6), ("by-day", 7)];
        for (model, expected) in table {
            assert_eq!(dollars(&list, model), Ok(expected), "{model}");
        }
        for model in ["free", "zero", "new", "odd"] {
            assert_eq!(dollars(&list, model), Err(NotPriced::LeftOut), "{model}");
        }
        for model in ["nobody", "alias-m"] {
            assert_eq!(dollars(&list, model), Err(NotPriced::NoRule), "{model}");
        }
        let reasons: Vec<_> = left_out.iter().map(|one| format!("{}: {}", one.model, one.reason)).collect();
        let expected = [
            "free: it has no price: it is free, or sold by subscription",
            "zero: `input_mtok` is 0; what is free must be said in a file of one's own",
            "new: its price has the unknown rate `input_dreams`",
        ];
        assert_eq!(reasons[..3], expected);
        assert!(reasons[3].starts_with("odd: unknown field `weekday`"), "{reasons:?}");
        let both = read_prices(r#"{"providers": ["other", "lab"]}"#, DATA).unwrap().list;
        assert_eq!(dollars(&both, "m"), Err(NotPriced::Ambiguous("other".to_owned(), "lab".to_owned())));
    }

    #[test]
    fn what_is_no_list_is_refused_with_what_and_where() {
        let refused = |file: &str, data: &str| read_prices(file, data).expect_err(file).to_string();
        let table = [
            ("[]", "[]", "the file is not a list of prices: it is no JSON object"),
            ("{", "[]", "the file is not a list of prices: EOF while parsing"),
            (r#"{"model": {}}"#, "[]", "the file is not a list of prices: unknown field `model`"),
            ("{}", "{}", "the data is not a list of providers: invalid type: map"),
            (
                r#"{"providers": ["odd"]}"#,
                r#"[{"id": "odd", "discount": 1, "models": []}]"#,
                "the data has no provider \"odd\"",
            ),
            (r#"{"providers": ["labs"]}"#, DATA, "the data has no provider \"labs\""),
            (r#"{"models": {"a*b": {"input_mtok": 1}}}"#, "[]", "the model \"a*b\": a `*` must be the last"),
            (r#"{"models": {"": {"input_mtok": 1}}}"#, "[]", "the model \"\": a name must have 1 to 128"),
            (r#"{"models": {"a": {}}}"#, "[]", "the model \"a\": it has no price"),
            (
                r#"{"models": {"a": {"input_mtk": 1}}}"#,
                "[]",
                "the model \"a\": its price has the unknown rate `input_mtk`",
            ),
            (
                r#"{"models": {"a": {"input_mtok": "-1"}}}"#,
                "[]",
                "the model \"a\": `input_mtok` must be dollars from 0",
            ),
            (
                r#"{"models": {"a": {"cache_read_mtok": 1}}}"#,
                "[]",
                "the model \"a\": `cache_read_tokens` has a rate, but `input_tokens`, which it is a part of, has none",
            ),
            (r#"{"models": {"a": {"provider": "lab"}}}"#, DATA, "the model \"a\": its provider \"lab\" is not among"),
            (r#"{"models": {"a": {"provider": "lab", "input_mtok": 1}}}"#, DATA, "the model \"a\": it has either"),
            (r#"{"units": {"a": {"per": 7, "price_key": "a", "dimensions": {"family": "a"}}}}"#, "[]", "the unit `a`"),
        ];
        for (file, data, message) in table {
            let found = refused(file, data);
            assert!(found.starts_with(message), "{file}: {found}");
        }
    }

    #[test]
    fn a_list_that_is_too_large_is_refused_before_its_models_are_read() {
        let unit =
            |at: usize| format!(r#""u{at}": {{"per": 1, "price_key": "k{at}", "dimensions": {{"family": "f{at}"}}}}"#);
        let units = |count: usize| format!("{{\"units\": {{{}}}}}", (0..count).map(unit).collect::<Vec<_>>().join(","));
        assert!(read_prices(&units(bounds::MAX_OWN_UNITS), "[]").is_ok());
        let refused = read_prices(&units(bounds::MAX_OWN_UNITS + 1), "[]").unwrap_err().to_string();
        assert_eq!(refused, "there must be at most 200 units of one's own");
        let data = |count: usize| format!(r#"[{{"id": "lab", "models": [{}]}}]"#, vec!["0"; count].join(","));
        assert!(read_prices("{}", &data(bounds::MAX_PUBLISHED_MODELS)).is_ok());
        let refused = read_prices("{}", &data(bounds::MAX_PUBLISHED_MODELS + 1)).unwrap_err().to_string();
        assert_eq!(refused, "the data is not a list of providers: there must be at most 20000 models");
    }
}
