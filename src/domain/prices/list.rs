//! Which price a model has: one's own, or that of a provider whose models count.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use chrono::NaiveDate;

use super::model_prices::ModelPrices;
use super::name_rule::NameRule;
use super::unit::UnitTable;
use super::unknown::NotPriced;
use crate::domain::bounds;

/// How many names are remembered, each of at most [`MAX_MODEL_CHARS`](bounds::MAX_MODEL_CHARS).
const MAX_FOUND: usize = 10_000;

/// The prices of all models.
#[derive(Debug, Default)]
pub struct PriceList {
    units: Arc<UnitTable>,
    /// By exact name.
    own: HashMap<String, OwnPrice>,
    /// By the beginning of names.
    prefixes: HashMap<String, OwnPrice>,
    /// Those that count, in the order of one's own list.
    providers: Vec<Provider>,
    /// Those whose models they sell.
    makers: Vec<Provider>,
    /// What was found of providers by model, and by model and provider: going through their rules takes longer, and
    /// clients choose names.
    found: RwLock<HashMap<String, Result<Arc<ModelPrices>, NotPriced>>>,
}

/// What one's own list says of a name.
#[derive(Debug, Clone)]
pub enum OwnPrice {
    Prices(Arc<ModelPrices>),
    /// The price that this provider has.
    OfProvider(String),
}

/// A price of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceEntry<'a> {
    /// The name of one's own price, perhaps with a `*` at its end; else the id of a model of the provider.
    pub model: Cow<'a, str>,
    /// Whose model it is, or whose price one's own name takes.
    pub provider: Option<&'a str>,
    /// `None` if one's own name takes the price of the provider.
    pub prices: Option<&'a Arc<ModelPrices>>,
}

impl<'a> PriceEntry<'a> {
    const fn own(model: Cow<'a, str>, price: &'a OwnPrice) -> Self {
        match price {
            OwnPrice::Prices(prices) => Self { model, provider: None, prices: Some(prices) },
            OwnPrice::OfProvider(id) => Self { model, provider: Some(id.as_str()), prices: None },
        }
    }

    /// Returns true if it is of one's own file.
    pub const fn is_own(&self) -> bool {
        self.provider.is_none() || self.prices.is_none()
    }

    /// The name of the model, that of a provider as `provider/model`.
    pub fn name(&self) -> Cow<'_, str> {
        match self.provider {
            Some(provider) if !self.is_own() => format!("{provider}/{}", self.model).into(),
            _ => Cow::Borrowed(&self.model),
        }
    }

    /// Returns true if a text, in lower case, is a part of the name, or begins as the names that it is for.
    pub fn is_found_by(&self, text: &str) -> bool {
        let name = self.name().to_lowercase();
        name.contains(text) || name.strip_suffix('*').is_some_and(|beginning| text.starts_with(beginning))
    }
}

/// A provider and its models, in the order in which names are looked up.
#[derive(Debug, Clone)]
pub struct Provider {
    pub id: String,
    /// Other names of it.
    pub other_names: Option<NameRule>,
    /// Providers of which it sells the models too.
    pub fallbacks: Vec<String>,
    pub models: Vec<ModelOfProvider>,
}

/// A model, its names and its prices.
#[derive(Debug, Clone)]
pub struct ModelOfProvider {
    pub id: String,
    pub names: NameRule,
    /// `None` if it is free or sold by subscription, or cannot be priced: its names have no price then, also where a
    /// later model would go by them.
    pub prices: Option<Arc<ModelPrices>>,
}

/// A text that cannot be the name of a price of one's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PricedNameInvalid {
    #[error("a name must have 1 to {} visible characters", bounds::MAX_MODEL_CHARS)]
    Characters,
    #[error("a `*` must be the last character of a name")]
    Star,
}

/// Checks the name of a price of one's own: that of a model, or the beginning of names and a `*`.
///
/// # Errors
/// See [`PricedNameInvalid`].
pub fn check_name(name: &str) -> Result<(), PricedNameInvalid> {
    if !(1..=bounds::MAX_MODEL_CHARS).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return Err(PricedNameInvalid::Characters);
    }
    if name.strip_suffix('*').unwrap_or(name).contains('*') {
        return Err(PricedNameInvalid::Star);
    }
    Ok(())
}

impl PriceList {
    /// A list of one's own prices, and of the models of `named` providers. A name that ends with `*` is for all names
    /// that begin so. The others of `published` count only where a named one sells their models.
    pub fn new(
        own: BTreeMap<String, OwnPrice>,
        named: &[String],
        published: Vec<Provider>,
        units: Arc<UnitTable>,
    ) -> Self {
        let (prefixes, own): (Vec<_>, Vec<_>) = own.into_iter().partition(|(name, _)| name.ends_with('*'));
        let prefix = |(name, price): (String, OwnPrice)| (name.trim_end_matches('*').to_owned(), price);
        let place = |provider: &Provider| named.iter().position(|id| *id == provider.id);
        let (mut providers, mut makers): (Vec<_>, Vec<_>) = published.into_iter().partition(|one| place(one).is_some());
        providers.sort_by_key(place);
        makers.retain(|maker| providers.iter().any(|provider| provider.fallbacks.contains(&maker.id)));
        let (own, prefixes) = (own.into_iter().collect(), prefixes.into_iter().map(prefix).collect());
        Self { units, own, prefixes, providers, makers, found: RwLock::default() }
    }

    /// The units that requests may be counted in.
    pub const fn units(&self) -> &Arc<UnitTable> {
        &self.units
    }

    /// The price of a model, of the provider that the request names, if it names one: one's own price of the name, else
    /// of the longest beginning of it, else that of a provider, else that of all other models.
    ///
    /// # Errors
    /// See [`NotPriced`].
    pub fn find(&self, model: &str, provider: Option<&str>) -> Result<Arc<ModelPrices>, NotPriced> {
        match self.find_named(model, provider) {
            Err(NotPriced::NoRule) => match self.prefixes.get("") {
                Some(price) => self.own_price(price, model),
                None => Err(NotPriced::NoRule),
            },
            found => found,
        }
    }

    /// The same, without the price of all models that have no other one.
    ///
    /// # Errors
    /// See [`NotPriced`].
    pub fn find_named(&self, model: &str, provider: Option<&str>) -> Result<Arc<ModelPrices>, NotPriced> {
        let by_prefix = || {
            let mut ends = (1..=model.len()).rev().filter(|end| model.is_char_boundary(*end));
            ends.find_map(|end| self.prefixes.get(&model[..end]))
        };
        match self.own.get(model).or_else(by_prefix) {
            Some(price) => self.own_price(price, model),
            None => self.find_remembered(model, provider),
        }
    }

    /// What the providers have for a name, remembered.
    fn find_remembered(&self, model: &str, provider: Option<&str>) -> Result<Arc<ModelPrices>, NotPriced> {
        let name: Cow<'_, str> = match provider {
            Some(provider) => format!("{model}\0{provider}").into(),
            None => model.into(),
        };
        if let Some(found) = self.found.read().unwrap_or_else(PoisonError::into_inner).get(name.as_ref()) {
            return found.clone();
        }
        let found = self.find_of_providers(model, provider);
        let mut all = self.found.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_FOUND {
            all.clear();
        }
        all.insert(name.into_owned(), found.clone());
        found
    }

    /// All prices: one's own, and those of the models of the providers that count.
    pub fn entries(&self) -> impl Iterator<Item = PriceEntry<'_>> {
        let prefixes = self.prefixes.iter().map(|(name, price)| PriceEntry::own(format!("{name}*").into(), price));
        let named = self.own.iter().map(|(name, price)| PriceEntry::own(name.into(), price));
        named.chain(prefixes).chain(self.providers.iter().flat_map(Provider::entries))
    }

    fn own_price(&self, price: &OwnPrice, model: &str) -> Result<Arc<ModelPrices>, NotPriced> {
        match price {
            OwnPrice::Prices(prices) => Ok(Arc::clone(prices)),
            OwnPrice::OfProvider(provider) => self.find_remembered(model, Some(provider)),
        }
    }

    fn find_of_providers(&self, model: &str, provider: Option<&str>) -> Result<Arc<ModelPrices>, NotPriced> {
        let name = model.to_lowercase();
        let dashed = with_dashed_date(&name);
        let of = |provider: &Provider| {
            self.find_at(provider, &name).or_else(|| dashed.as_ref().and_then(|name| self.find_at(provider, name)))
        };
        if let Some(provider) = provider {
            let provider = self.find_provider(provider).ok_or_else(|| NotPriced::NoProvider(provider.to_owned()))?;
            return of(provider).unwrap_or(Err(NotPriced::NoRule));
        }
        let mut found = self.providers.iter().filter_map(|provider| Some((provider, of(provider)?)));
        let (first, prices) = found.next().ok_or(NotPriced::NoRule)?;
        let prices = prices?;
        for (other, others) in found {
            if !others?.is_standard_of(&prices) {
                return Err(NotPriced::Ambiguous(first.id.clone(), other.id.clone()));
            }
        }
        Ok(prices)
    }

    /// The id of a provider that goes by this name; the name itself if no provider that counts does.
    pub fn provider_id(&self, name: &str) -> String {
        self.find_provider(name).map_or_else(|| name.trim().to_lowercase(), |provider| provider.id.clone())
    }

    fn find_provider(&self, name: &str) -> Option<&Provider> {
        let name = name.trim().to_lowercase();
        let has_rule = |provider: &&Provider| provider.other_names.as_ref().is_some_and(|rule| rule.matches(&name));
        let by_id = self.providers.iter().find(|provider| provider.id == name);
        by_id.or_else(|| self.providers.iter().find(has_rule))
    }

    /// The price of a name at a provider, or that of another one whose models it sells, which has no variants here.
    /// A model that was left out ends the search: a later rule would be that of another model.
    fn find_at(&self, provider: &Provider, name: &str) -> Option<Result<Arc<ModelPrices>, NotPriced>> {
        if let Some(model) = provider.find(name) {
            return Some(model.prices.clone().ok_or(NotPriced::LeftOut));
        }
        let by_id = |id: &String| self.providers.iter().chain(&self.makers).find(|provider| provider.id == *id);
        let model = provider.fallbacks.iter().filter_map(by_id).find_map(|provider| provider.find(name))?;
        let prices = model.prices.as_ref().map(|prices| Arc::new(prices.without_variants().with_shape(&provider.id)));
        Some(prices.ok_or(NotPriced::LeftOut))
    }
}

impl Provider {
    fn entries(&self) -> impl Iterator<Item = PriceEntry<'_>> {
        let models = self.models.iter().filter_map(|model| Some((&model.id, model.prices.as_ref()?)));
        models.map(|(id, prices)| PriceEntry { model: id.into(), provider: Some(&self.id), prices: Some(prices) })
    }

    fn find(&self, name: &str) -> Option<&ModelOfProvider> {
        self.models.iter().find(|model| model.names.matches(name))
    }
}

/// A name whose dates are written `-2025-12-11`, if it has one that is written `-20251211`.
fn with_dashed_date(name: &str) -> Option<String> {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['-', ':']);
    let mut dashed = String::with_capacity(name.len() + 2);
    let mut rest = name;
    while let Some(at) = rest.find('-') {
        let (before, after) = rest.split_at(at + 1);
        dashed.push_str(before);
        rest = after;
        let Some((digits, end)) = after.split_at_checked(8).filter(|(_, end)| is_end(end)) else {
            continue;
        };
        if digits.starts_with("20") && NaiveDate::parse_from_str(digits, "%Y%m%d").is_ok() {
            dashed.push_str(&[&digits[..4], &digits[4..6], &digits[6..]].join("-"));
            rest = end;
        }
    }
    dashed.push_str(rest);
    (dashed != name).then_some(dashed)
}

#[cfg(test)]
mod tests {
    use super::super::model_prices::{PriceVariant, RatesByUnit};
    use super::super::rate::UnitRate;
    use super::*;

    fn rates(dollars: &str) -> RatesByUnit {
        [("input_tokens".to_owned(), UnitRate::read(dollars).unwrap().into())].into()
    }

    fn prices(dollars: &str, variants: Vec<PriceVariant>) -> Arc<ModelPrices> {
        let table = Arc::new(UnitTable::with(BTreeMap::new()).unwrap());
        Arc::new(ModelPrices::new(rates(dollars), Vec::new(), variants, None, &table).unwrap())
    }

    fn provider(id: &str, fallbacks: &[&str], models: &[(&str, &str)]) -> Provider {
        let model = |(names, dollars): &(&str, &str)| ModelOfProvider {
            id: "any".to_owned(),
            names: serde_json::from_str(names).unwrap(),
            prices: Some(*dollars).filter(|dollars| !dollars.is_empty()).map(|dollars| prices(dollars, Vec::new())),
        };
        Provider {
            id: id.to_owned(),
            other_names: Some(serde_json::from_str(&format!(r#"{{"starts_with": "{id}-"}}"#)).unwrap()),
            fallbacks: fallbacks.iter().map(|id| (*id).to_owned()).collect(),
            models: models.iter().map(model).collect(),
        }
    }

    fn list(names: &[(&str, &str)], providers: Vec<Provider>) -> PriceList {
        let named: Vec<String> = providers.iter().map(|provider| provider.id.clone()).collect();
        PriceList::new(own(names), &named, providers, Arc::default())
    }

    fn own(names: &[(&str, &str)]) -> BTreeMap<String, OwnPrice> {
        let price = |dollars: &str| match dollars.strip_prefix("of ") {
            Some(provider) => OwnPrice::OfProvider(provider.to_owned()),
            None => OwnPrice::Prices(prices(dollars, Vec::new())),
        };
        names.iter().map(|(name, dollars)| ((*name).to_owned(), price(dollars))).collect()
    }

    fn dollars(found: Result<Arc<ModelPrices>, NotPriced>) -> Result<String, NotPriced> {
        found.map(|found| {
            let known = ["1", "2", "3", "4", "5", "6", "7"].into_iter();
            let mut same = known.filter(|dollars| found.is_standard_of(&prices(dollars, Vec::new())));
            same.next().unwrap().to_owned()
        })
    }

    #[test]
    fn an_own_name_counts_then_the_longest_own_beginning_then_providers_then_the_star() {
        let names = [("gpt-5*", "1"), ("gpt-5-mini", "2"), ("gpt-*", "3"), ("müller-*", "4"), ("*", "5")];
        let lab = provider("lab", &[], &[(r#"{"starts_with": "lab"}"#, "6"), (r#"{"contains": "gpt"}"#, "7")]);
        let list = list(&names, vec![lab]);
        let table = [
            ("gpt-5-mini", "2"),
            ("gpt-5-mini-2026", "1"),
            ("gpt-5", "1"),
            ("gpt-4o", "3"),
            ("gpt-", "3"),
            ("GPT-5", "7"),
            ("LAB-1", "6"),
            ("müller-7", "4"),
            ("mü", "5"),
            ("", "5"),
            ("gpt-5*", "1"),
        ];
        for (model, expected) in table {
            assert_eq!(dollars(list.find(model, None)), Ok(expected.to_owned()), "{model}");
        }
        assert_eq!(dollars(list.find_named("mü", None)), Err(NotPriced::NoRule));
        assert_eq!(dollars(PriceList::default().find("gpt-5", None)), Err(NotPriced::NoRule));
    }

    #[test]
    fn a_name_that_two_providers_price_differently_has_no_price_until_one_is_chosen() {
        let [equal, other] = [r#"{"equals": "kimi"}"#, r#"{"equals": "qwen"}"#];
        let one = provider("one", &[], &[(equal, "1"), (other, "2")]);
        let two = provider("two", &[], &[(equal, "3"), (other, "2")]);
        let list = list(&[("chosen*", "of two"), ("qwen-max", "of three")], vec![one, two]);
        let ambiguous = NotPriced::Ambiguous("one".to_owned(), "two".to_owned());
        assert_eq!(dollars(list.find("kimi", None)), Err(ambiguous));
        assert_eq!(dollars(list.find("qwen", None)), Ok("2".to_owned()));
        for name in ["two", " TWO ", "two-eu"] {
            assert_eq!(dollars(list.find("kimi", Some(name))), Ok("3".to_owned()), "{name}");
        }
        assert_eq!(dollars(list.find("gpt", Some("two"))), Err(NotPriced::NoRule));
        assert_eq!(dollars(list.find("kimi", Some("six"))), Err(NotPriced::NoProvider("six".to_owned())));
        assert_eq!(dollars(list.find("qwen-max", None)), Err(NotPriced::NoProvider("three".to_owned())));
        assert_eq!(dollars(list.find("chosen-kimi", None)), Err(NotPriced::NoRule));
    }

    #[test]
    fn a_provider_that_sells_the_models_of_another_one_has_its_prices_without_variants() {
        let when = [("service_tier".to_owned(), "flex".to_owned())].into();
        let flex = PriceVariant { when, condition: None, rates: rates("1") };
        let mut maker = provider("maker", &[], &[]);
        let names = serde_json::from_str(r#"{"equals": "m"}"#).unwrap();
        maker.models.push(ModelOfProvider { id: "m".to_owned(), names, prices: Some(prices("4", vec![flex])) });
        let both = vec![maker, provider("seller", &["none", "maker"], &[])];
        let list = list(&[], both.clone());
        let has_flex = |provider| {
            let context = [("service_tier".to_owned(), "flex".to_owned())].into();
            let found = list.find("m", provider).unwrap();
            found.in_force(crate::domain::time::UnixTime::new(0), &context).is_ok()
        };
        assert_eq!([None, Some("maker"), Some("seller")].map(has_flex), [true, true, false]);
        let seller_only = PriceList::new(BTreeMap::new(), &["seller".to_owned()], both, Arc::default());
        for list in [&list, &seller_only] {
            assert_eq!(dollars(list.find("m", Some("seller"))), Ok("4".to_owned()));
        }
        assert_eq!(dollars(seller_only.find("m", Some("maker"))), Err(NotPriced::NoProvider("maker".to_owned())));
    }

    #[test]
    fn a_model_without_a_price_gets_none_from_a_later_model() {
        let rules = [(r#"{"equals": "kimi"}"#, ""), (r#"{"contains": "kimi"}"#, "1")];
        let seller = provider("seller", &["lab"], &[(r#"{"equals": "m"}"#, "")]);
        let list = list(&[("*", "2")], vec![provider("lab", &[], &rules), seller]);
        assert_eq!(dollars(list.find("kimi-2", None)), Ok("1".to_owned()));
        for provider in ["lab", "seller"] {
            let found = list.find(if provider == "lab" { "kimi" } else { "m" }, Some(provider));
            assert_eq!(dollars(found), Err(NotPriced::LeftOut), "{provider}");
        }
        // Nor that of all other models.
        for model in ["kimi", "m"] {
            assert_eq!(dollars(list.find(model, None)), Err(NotPriced::LeftOut), "{model}");
        }
        assert_eq!(dollars(list.find("other", None)), Ok("2".to_owned()));
    }

    #[test]
    fn names_are_remembered_and_no_more_than_fit() {
        let list = list(&[], vec![provider("lab", &[], &[(r#"{"starts_with": "m"}"#, "1")])]);
        for _ in 0..2 {
            assert_eq!(dollars(list.find("m-1", None)), Ok("1".to_owned()));
            assert_eq!(dollars(list.find("n-1", None)), Err(NotPriced::NoRule));
        }
        assert_eq!(list.found.read().unwrap().len(), 2);
        for number in 0..MAX_FOUND {
            let _ = list.find(&format!("m{number}"), None);
        }
        assert!((1..=MAX_FOUND).contains(&list.found.read().unwrap().len()));
        assert_eq!(dollars(list.find("m-1", None)), Ok("1".to_owned()));
    }

    #[test]
    fn dates_are_found_with_and_without_dashes() {
        let table = [
            ("gpt-5.2-20251211", Some("gpt-5.2-2025-12-11")),
            ("m-20251211-x:free", Some("m-2025-12-11-x:free")),
            ("m-20251211:free", Some("m-2025-12-11:free")),
            ("m-20251341", None),
            ("m-202512111", None),
            ("m-19991211", None),
            ("m20251211", None),
            ("m-2025121é", None),
        ];
        for (name, dashed) in table {
            assert_eq!(with_dashed_date(name).as_deref(), dashed, "{name}");
        }
        let list = list(
            &[],
            vec![provider("lab", &[], &[(r#"{"equals": "m-2025-12-11"}"#, "1"), (r#"{"equals": "n-20251211"}"#, "2")])],
        );
        assert_eq!(dollars(list.find("M-20251211", None)), Ok("1".to_owned()));
        assert_eq!(dollars(list.find("n-20251211", None)), Ok("2".to_owned()));
    }
}
