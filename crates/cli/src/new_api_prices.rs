//! The ratios of new-api and one-api, as one's own file of prices.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use keymeter::domain::decimal::Decimal;
use keymeter::domain::model_limits::ModelLimits;
use keymeter::domain::price::{Price, Rate, TokenPrices};
use keymeter::domain::price_settings::{PriceSettings, PriceSettingsInvalid};
use keymeter::domain::prices::list::check_name;
use keymeter::service::price_file::file_of;

/// Converted ratios.
#[derive(Debug, Default)]
pub struct Converted {
    prices: BTreeMap<String, Price>,
    /// Models whose price has no place here, and why.
    left_out: BTreeMap<String, Reason>,
    /// What the price of a model lacks, because the ratios do not say it.
    lacking: BTreeMap<String, Reason>,
}

/// The text has no ratios.
#[derive(Debug, thiserror::Error)]
#[error("it is no such list: {0}")]
pub struct NoPriceList(String);

/// Why a model is left out.
type Reason = &'static str;

const NO_RATE: Reason = "a rate is negative or too high";
const NAME: Reason = "no model can have this name";

impl Converted {
    /// The file of prices.
    ///
    /// # Errors
    /// There are too many models.
    pub fn file(&self) -> Result<String, PriceSettingsInvalid> {
        Ok(file_of(&PriceSettings::try_from(self.prices.clone())?))
    }

    /// What to know about it, a line each.
    pub fn notes(&self) -> Vec<String> {
        let lacking = self.lacking.iter().map(|(name, what)| format!("{name:?} is without {what}"));
        let left_out = self.left_out.iter().map(|(name, reason)| format!("left out: {name:?}: {reason}"));
        let count = format!("{} prices; {} models are left out", self.prices.len(), self.left_out.len());
        lacking.chain(left_out).chain([BUILT_IN.to_owned(), count]).collect()
    }

    fn add(&mut self, name: &str, only: Option<&ModelLimits>, price: Result<Price, Reason>) {
        if only.is_some_and(|only| !only.allow(name)) {
            return;
        }
        match price {
            Ok(price) if check_name(name).is_ok() => drop(self.prices.insert(name.to_owned(), price)),
            Ok(_) => drop(self.left_out.insert(name.to_owned(), NAME)),
            Err(reason) => drop(self.left_out.insert(name.to_owned(), reason)),
        }
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, NoPriceList> {
    serde_json::from_str(text).map_err(|error| NoPriceList(error.to_string()))
}

/// A JSON number, times 10 to the power of `places`; `None` if it is none, or negative.
fn number(json: &RawValue, places: u8) -> Option<i128> {
    Decimal::read(json.get(), places).ok().map(|number| number.value)
}

/// Members of an object, each as its text: numbers stay exact.
type Fields = BTreeMap<String, Box<RawValue>>;

/// Converts the ratios: `ModelRatio` and the other options as one JSON object, or the answer of `/api/ratio_config`.
/// `only` are names and beginnings of names; none: all.
///
/// # Errors
/// The text is not that.
pub fn convert(text: &str, only: Option<&ModelLimits>) -> Result<Converted, NoPriceList> {
    let all: Fields = read(text)?;
    let inner: Option<Fields> = all.get("data").map(|json| read(json.get())).transpose()?;
    let options = inner.as_ref().unwrap_or(&all);
    // An option is an object, or the text of one.
    let option = |names: [&str; 2]| -> Result<Option<Fields>, NoPriceList> {
        let Some(json) = names.iter().find_map(|name| options.get(*name)) else {
            return Ok(None);
        };
        if json.get().starts_with('"') {
            read::<String>(json.get()).and_then(|text| read(&text))
        } else {
            read(json.get())
        }
        .map(Some)
    };
    let ratios = option(["ModelRatio", "model_ratio"])?;
    let prices = option(["ModelPrice", "model_price"])?;
    if ratios.is_none() && prices.is_none() {
        return Err(NoPriceList("it has neither ModelRatio nor ModelPrice".to_owned()));
    }
    let (ratios, prices) = (ratios.unwrap_or_default(), prices.unwrap_or_default());
    let completions = option(["CompletionRatio", "completion_ratio"])?.unwrap_or_default();
    let caches = option(["CacheRatio", "cache_ratio"])?.unwrap_or_default();
    let writes = option(["CreateCacheRatio", "create_cache_ratio"])?.unwrap_or_default();
    let media = [
        option(["AudioRatio", "audio_ratio"])?,
        option(["AudioCompletionRatio", "audio_completion_ratio"])?,
        option(["ImageRatio", "image_ratio"])?,
    ];
    let mut converted = Converted::default();
    for (name, price) in &prices {
        let request = number(price, 9).and_then(|nanos| Rate::new(nanos).ok()).ok_or(NO_RATE);
        let rates = TokenPrices {
            prompt: Rate::default(),
            completion: Rate::default(),
            cached: Rate::default(),
            cache_write: Rate::default(),
        };
        converted.add(name, only, request.map(|request| Price { rates, request, above: None }));
        if converted.prices.contains_key(name) {
            converted.lacking.insert(name.clone(), "seconds, sizes and numbers of images and videos");
        }
    }
    for (name, ratio) in ratios.iter().filter(|(name, _)| !prices.contains_key(*name)) {
        // A ratio of 1 is 2 dollars for a million tokens.
        let prompt = number(ratio, 9).map(|ratio| ratio * 2);
        let rates = || {
            let prompt = prompt.ok_or(NO_RATE)?;
            let times = |ratio: Option<&Box<RawValue>>| match ratio {
                None => Ok(None),
                Some(json) => number(json, 9).and_then(|ratio| multiplied(prompt, ratio)).map(Some).ok_or(NO_RATE),
            };
            let rate = Rate::new(prompt).map_err(|_| NO_RATE)?;
            Ok(TokenPrices {
                prompt: rate,
                completion: times(completions.get(name))?.ok_or(NO_COMPLETION)?,
                cached: times(caches.get(name))?.unwrap_or(rate),
                cache_write: match times(writes.get(name))? {
                    Some(rate) => rate,
                    None => multiplied(prompt, CREATE_CACHE_RATIO).ok_or(NO_RATE)?,
                },
            })
        };
        let price = rates().map(|rates| Price { rates, request: Rate::default(), above: None });
        converted.add(name, only, price);
        if media.iter().flatten().any(|ratios| ratios.contains_key(name)) && converted.prices.contains_key(name) {
            converted.lacking.insert(name.clone(), "audio and images");
        }
    }
    Ok(converted)
}

const BUILT_IN: &str = "that program has completion ratios for gpt, claude, gemini and others in its code, which can count more than those \
                        of the list: compare these prices with those that it shows.";

/// What writing to the cache costs there if the list does not say it, in billionths.
const CREATE_CACHE_RATIO: i128 = 1_250_000_000;

const NO_COMPLETION: Reason = "its completion ratio is not in the list but built into that program; look it up there";

/// The product of two numbers in billionths, rounded up.
fn multiplied(one: i128, other: i128) -> Option<Rate> {
    let product = one.checked_mul(other)?;
    Rate::new(product / 1_000_000_000 + i128::from(product % 1_000_000_000 > 0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(converted: &Converted) -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(&converted.file().unwrap()).unwrap()["models"].clone()
    }

    #[test]
    fn ratios_are_two_dollars_each() {
        let list = r#"{
            "ModelRatio": "{\"gpt-5\": 0.625, \"claude\": 1.5, \"flux\": 3, \"odd\": 0.333333333, \"o9\": 1, \"gpt-4-gizmo-*\": 15, \"a*b\": 1}",
            "CompletionRatio": {"gpt-5": 8, "claude": 5, "flux": 1, "odd": 3.000000001, "gpt-4-gizmo-*": 2, "a*b": 1},
            "AudioRatio": {"odd": 7},
            "CacheRatio": {"gpt-5": 0.1, "claude": 0.1},
            "CreateCacheRatio": {"claude": 1.25},
            "ModelPrice": {"flux": 0.04}
        }"#;
        let converted = convert(list, None).unwrap();
        let price = |input: &str, output: &str, read: Option<&str>, written: &str| {
            let mut price =
                serde_json::json!({ "input_mtok": input, "output_mtok": output, "cache_write_mtok": written });
            if let Some(read) = read {
                price["cache_read_mtok"] = read.into();
            }
            price
        };
        let expected = serde_json::json!({
            "claude": price("3", "15", Some("0.3"), "3.75"),
            "flux": { "input_mtok": "0", "output_mtok": "0", "requests_kcount": "40" },
            "gpt-4-gizmo-*": price("30", "60", None, "37.5"),
            "gpt-5": price("1.25", "10", Some("0.125"), "1.5625"),
            "odd": price("0.666666666", "1.999999999", None, "0.833333333"),
        });
        assert_eq!(models(&converted), expected);
        let notes = converted.notes();
        assert_eq!(
            notes[..4],
            [
                r#""flux" is without seconds, sizes and numbers of images and videos"#,
                r#""odd" is without audio and images"#,
                r#"left out: "a*b": no model can have this name"#,
                r#"left out: "o9": its completion ratio is not in the list but built into that program; look it up there"#,
            ]
        );
        assert_eq!(notes.last().unwrap(), "5 prices; 2 models are left out");
        let answer = r#"{"success": true, "data": {"model_ratio": {"a": 1, "b": 1}, "completion_ratio": {"a": 4}}}"#;
        let only = ModelLimits::parse("a").unwrap();
        let expected = serde_json::json!({ "a": price("2", "8", None, "2.5") });
        assert_eq!(models(&convert(answer, Some(&only)).unwrap()), expected);
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |text| convert(text, None).unwrap_err().to_string();
        for text in ["", "[]", "{\"a\": 1", "7"] {
            assert!(refused(text).starts_with("it is no such list: "), "{text}");
        }
        assert_eq!(refused("{}"), "it is no such list: it has neither ModelRatio nor ModelPrice");
    }
}
