//! Price lists of other programs, as `[prices]` of the settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use keymeter::domain::bounds;
use keymeter::domain::decimal::Decimal;
use keymeter::domain::model_limits::ModelLimits;
use keymeter::domain::price::{Above, Price, Rate, TokenPrices};

/// Where a list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceListFormat {
    /// `model_prices_and_context_window.json` of `LiteLLM`: dollars per token.
    LiteLlm,
    /// `api.json` of models.dev: dollars per million tokens.
    ModelsDev,
    /// new-api and one-api: `ModelRatio` and the other options as one JSON object, or the answer of
    /// `/api/ratio_config`.
    NewApi,
}

/// The models to convert.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Names and beginnings of names; none: all.
    pub only: Option<ModelLimits>,
    /// The provider, as the list names it.
    pub provider: Option<String>,
}

/// A converted list.
#[derive(Debug, Default)]
pub struct Converted {
    prices: BTreeMap<String, Price>,
    /// Models whose price has no place here, and why.
    left_out: BTreeMap<String, &'static str>,
    /// What the price of a model lacks, because it does not depend on the counts of tokens.
    lacking: BTreeMap<String, Vec<&'static str>>,
    /// Whether a name that ends with a star means all names that begin like it.
    has_patterns: bool,
    /// What to know about the whole list.
    note: Option<&'static str>,
}

/// The file is not such a list.
#[derive(Debug, thiserror::Error)]
#[error("it is no such list: {0}")]
pub struct NoPriceList(String);

/// Why a model is left out.
type Reason = &'static str;

const NOT_BY_TOKENS: Reason = "it is not charged by tokens of text";
const NO_PRICE: Reason = "the list has no price for its tokens";
const TIERS: Reason = "it has more than one tier";
const REASONING: Reason = "its reasoning tokens have a price of their own";
const UNKNOWN_RATE: Reason = "it has a rate that is not known here";
const NO_RATE: Reason = "a rate is negative or too high";
const NAME: Reason = "no model can have this name";

/// Converts a list.
///
/// # Errors
/// The text is not a list of that format.
pub fn convert(format: PriceListFormat, text: &str, selection: &Selection) -> Result<Converted, NoPriceList> {
    match format {
        PriceListFormat::LiteLlm => litellm(text, selection),
        PriceListFormat::ModelsDev => models_dev(text, selection),
        PriceListFormat::NewApi => new_api(text, selection),
    }
}

impl Converted {
    /// How many models have a price, and how many are left out.
    pub fn counts(&self) -> (usize, usize) {
        (self.prices.len(), self.left_out.len())
    }

    /// The section of the settings. What is left out follows as comments.
    pub fn settings(&self) -> String {
        let mut text = String::from("[prices]\n");
        if let Some(note) = self.note {
            let _ = writeln!(text, "# {note}");
        }
        for (name, price) in &self.prices {
            let lacking = self.lacking.get(name).filter(|lacking| !lacking.is_empty());
            let note = lacking.map_or_else(String::new, |lacking| format!(" # without {}", lacking.join(", ")));
            let _ = writeln!(text, "{} = {{ {} }}{note}", quoted(name), members(price));
        }
        for (name, reason) in &self.left_out {
            let _ = writeln!(text, "# left out: {}: {reason}", quoted(name));
        }
        text
    }

    fn add(&mut self, name: &str, selection: &Selection, price: Result<Price, Reason>) {
        if selection.only.as_ref().is_some_and(|only| !only.allow(name)) {
            return;
        }
        // A star at the end means the same in new-api as here; in other lists it stands for itself.
        let stem = if self.has_patterns { name.strip_suffix('*').unwrap_or(name) } else { name };
        let is_name = !stem.contains('*')
            && !name.chars().any(char::is_control)
            && (1..=bounds::MAX_MODEL_CHARS).contains(&name.chars().count());
        match price {
            Ok(price) if is_name => drop(self.prices.insert(name.to_owned(), price)),
            Ok(_) => drop(self.left_out.insert(name.to_owned(), NAME)),
            Err(reason) => drop(self.left_out.insert(name.to_owned(), reason)),
        }
    }
}

/// A price as the members of an inline table: what has the default is left out.
fn members(price: &Price) -> String {
    let tokens = |rates: &TokenPrices| {
        let mut all = vec![("prompt", rates.prompt), ("completion", rates.completion)];
        let others = [("cached", rates.cached), ("cache_write", rates.cache_write)];
        all.extend(others.into_iter().filter(|(_, rate)| *rate != rates.prompt));
        all
    };
    let mut rates = tokens(&price.rates);
    if price.request != Rate::default() {
        rates.push(("request", price.request));
    }
    let text = |rates: Vec<(&str, Rate)>| {
        rates.iter().map(|(name, rate)| format!("{name} = \"{rate}\"")).collect::<Vec<_>>().join(", ")
    };
    let above = price.above.as_ref().map_or_else(String::new, |above| {
        format!(", above = {{ prompt_tokens = {}, {} }}", above.prompt_tokens, text(tokens(&above.rates)))
    });
    text(rates) + &above
}

/// A basic string of TOML, on one line whatever is in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
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

fn litellm(text: &str, selection: &Selection) -> Result<Converted, NoPriceList> {
    let models: BTreeMap<String, Fields> = read(text)?;
    let mut converted = Converted::default();
    for (name, fields) in &models {
        let is_text = |field: &str, expected: &[&str]| {
            let value = fields.get(field).and_then(|json| serde_json::from_str::<String>(json.get()).ok());
            value.is_some_and(|value| expected.contains(&value.as_str()))
        };
        if name == "sample_spec"
            || selection.provider.as_ref().is_some_and(|name| !is_text("litellm_provider", &[name]))
        {
            continue;
        }
        let price = if is_text("mode", &["chat", "completion", "responses", "embedding"]) {
            litellm_price(fields, is_text("mode", &["embedding"]))
        } else {
            Err(NOT_BY_TOKENS)
        };
        converted.add(name, selection, price);
        if converted.prices.contains_key(name) {
            converted.lacking.insert(name.clone(), lacking(fields));
        }
    }
    Ok(converted)
}

/// What a price of `LiteLLM` says besides counts of tokens of text.
fn lacking(fields: &Fields) -> Vec<&'static str> {
    const PARTS: [(&[&str], &str); 7] = [
        (&["cost_per_query", "code_interpreter_cost", "file_search_cost"], "searches and tools"),
        (&["audio_token", "image_token", "video_token"], "audio, images and video"),
        (&["_above_1hr", "_above_12hr"], "caches that last longer"),
        (&["citation_cost_per_token"], "citations"),
        (&["off_peak_pricing"], "other prices at other hours"),
        (&["provider_specific_entry", "uplift_multiplier"], "surcharges of regions"),
        (&["explicit_cache"], "explicit caches"),
    ];
    let is_there = |part: &str| fields.iter().any(|(name, json)| name.contains(part) && number(json, 15) != Some(0));
    let mut lacking: Vec<_> =
        PARTS.iter().filter(|(names, _)| names.iter().any(|name| is_there(name))).map(|(_, what)| *what).collect();
    let is_free = |field: &str| fields.get(field).is_some_and(|json| number(json, 15) == Some(0));
    if is_free("cache_creation_input_token_cost") && !is_free("input_cost_per_token") {
        lacking.push("a price of writing to the cache");
    }
    lacking
}

fn litellm_price(fields: &Fields, is_embedding: bool) -> Result<Price, Reason> {
    /// Costs that depend on something else than tokens of text, and that can be the larger part.
    const OTHERS: [&str; 11] = [
        "input_cost_per_request",
        "input_cost_per_second",
        "output_cost_per_second",
        "input_cost_per_character",
        "output_cost_per_character",
        "input_cost_per_image",
        "output_cost_per_image",
        "input_cost_per_query",
        "output_cost_per_image_token",
        "input_dbu_cost_per_token",
        "tiered_pricing",
    ];
    // Dollars per token with 15 decimals are billionths of a dollar per million.
    let rate = |field: &str| match fields.get(field).filter(|json| json.get() != "null") {
        None => Ok(None),
        Some(json) => number(json, 15).and_then(|nanos| Rate::new(nanos).ok()).map(Some).ok_or(NO_RATE),
    };
    let is_priced = |field: &&str| fields.get(*field).is_some_and(|json| number(json, 15) != Some(0));
    let Some(prompt) = rate("input_cost_per_token")? else {
        return Err(if OTHERS.iter().any(is_priced) { NOT_BY_TOKENS } else { NO_PRICE });
    };
    if OTHERS.iter().filter(|field| **field != "input_dbu_cost_per_token").any(is_priced) {
        return Err(NOT_BY_TOKENS);
    }
    let (cached, cache_write) = (rate("cache_read_input_token_cost")?, rate("cache_creation_input_token_cost")?);
    let completion = match rate("output_cost_per_token")? {
        Some(completion) => completion,
        None if is_embedding => Rate::default(),
        None => return Err(NO_PRICE),
    };
    let rates = TokenPrices {
        prompt,
        completion,
        cached: cached.unwrap_or(prompt),
        cache_write: cache_write.unwrap_or(prompt),
    };
    // Without such a rate, they are a part of the output.
    if rate("output_cost_per_reasoning_token")?.is_some_and(|rate| rate != rates.completion) {
        return Err(REASONING);
    }
    let mut thresholds = BTreeSet::new();
    for field in fields.keys() {
        thresholds.extend(threshold(field)?);
    }
    let above = match Vec::from_iter(thresholds)[..] {
        [] => None,
        [thousands] => {
            let tier = |field: &str| rate(&format!("{field}_above_{thousands}k_tokens"));
            let prompt = tier("input_cost_per_token")?.unwrap_or(rates.prompt);
            let rates = TokenPrices {
                prompt,
                completion: tier("output_cost_per_token")?.unwrap_or(rates.completion),
                cached: tier("cache_read_input_token_cost")?.or(cached).unwrap_or(prompt),
                cache_write: tier("cache_creation_input_token_cost")?.or(cache_write).unwrap_or(prompt),
            };
            Some(Above { prompt_tokens: thousands * 1_000, rates })
        }
        _ => return Err(TIERS),
    };
    Ok(Price { rates, request: Rate::default(), above: above.filter(|above| above.rates != rates) })
}

/// The thousands of tokens above which a rate is another one, if this field says it.
fn threshold(field: &str) -> Result<Option<i64>, Reason> {
    const TIERED: [&str; 4] = [
        "input_cost_per_token_above_",
        "output_cost_per_token_above_",
        "cache_read_input_token_cost_above_",
        "cache_creation_input_token_cost_above_",
    ];
    /// Of caches that last longer, and of other ways to send a request.
    const OTHERS: [&str; 9] =
        ["1hr", "12hr", "_priority", "_flex", "_batches", "_ultrafast", "_balanced", "_decisions", "_fast"];
    let Some(rest) = TIERED.iter().find_map(|prefix| field.strip_prefix(prefix)) else {
        return Ok(None);
    };
    if OTHERS.iter().any(|other| rest.starts_with(other) || rest.ends_with(other)) {
        return Ok(None);
    }
    let thousands = rest.strip_suffix("k_tokens").and_then(|thousands| thousands.parse().ok());
    thousands.filter(|thousands| (1..=1_000_000).contains(thousands)).map(Some).ok_or(TIERS)
}

/// A provider of models.dev.
#[derive(Debug, Deserialize)]
struct Provider {
    #[serde(default)]
    models: BTreeMap<String, Model>,
}

#[derive(Debug, Deserialize)]
struct Model {
    cost: Option<Fields>,
}

fn models_dev(text: &str, selection: &Selection) -> Result<Converted, NoPriceList> {
    let providers: BTreeMap<String, Provider> = read(text)?;
    let mut converted = Converted::default();
    let mut differ = BTreeSet::new();
    for (provider, Provider { models }) in &providers {
        if selection.provider.as_ref().is_some_and(|only| only != provider) {
            continue;
        }
        for (name, model) in models {
            let price = model.cost.as_ref().ok_or(NO_PRICE).and_then(models_dev_price);
            if let (Ok(price), Some(other)) = (&price, converted.prices.get(name))
                && price != other
            {
                differ.insert(name.clone());
            }
            // A price of one provider is enough, if no other one has another.
            if price.is_ok() || !converted.prices.contains_key(name) {
                converted.left_out.remove(name);
                converted.add(name, selection, price);
                let audio = ["input_audio", "output_audio"];
                let has_audio =
                    model.cost.as_ref().is_some_and(|cost| audio.iter().any(|name| cost.contains_key(*name)));
                if has_audio && converted.prices.contains_key(name) {
                    converted.lacking.insert(name.clone(), vec!["audio"]);
                }
            }
        }
    }
    for name in differ {
        converted.prices.remove(&name);
        converted.left_out.insert(name, "providers have different prices: choose one with --provider");
    }
    Ok(converted)
}

fn models_dev_price(cost: &Fields) -> Result<Price, Reason> {
    const KNOWN: [&str; 9] = [
        "input",
        "output",
        "cache_read",
        "cache_write",
        "reasoning",
        "input_audio",
        "output_audio",
        "context_over_200k",
        "tiers",
    ];
    if cost.keys().any(|field| !KNOWN.contains(&field.as_str())) {
        return Err(UNKNOWN_RATE);
    }
    let rate = |cost: &Fields, field: &str| match cost.get(field).filter(|json| json.get() != "null") {
        None => Ok(None),
        Some(json) => number(json, 9).and_then(|nanos| Rate::new(nanos).ok()).map(Some).ok_or(NO_RATE),
    };
    let rates = |cost: &Fields| -> Result<TokenPrices, Reason> {
        let prompt = rate(cost, "input")?.ok_or(NO_PRICE)?;
        let completion = rate(cost, "output")?.ok_or(NO_PRICE)?;
        if rate(cost, "reasoning")?.is_some_and(|rate| rate != completion) {
            return Err(REASONING);
        }
        let (cached, cache_write) = (rate(cost, "cache_read")?, rate(cost, "cache_write")?);
        Ok(TokenPrices {
            prompt,
            completion,
            cached: cached.unwrap_or(prompt),
            cache_write: cache_write.unwrap_or(prompt),
        })
    };
    let above = match (cost.get("tiers"), cost.get("context_over_200k")) {
        (None, None) => None,
        (None, Some(json)) => Some(Above { prompt_tokens: 200_000, rates: rates(&fields(json)?)? }),
        (Some(json), _) => match serde_json::from_str::<Vec<Fields>>(json.get()).map_err(|_| TIERS)?.as_slice() {
            [] => None,
            [tier] => {
                let limit = fields(tier.get("tier").ok_or(TIERS)?)?;
                let is_context = limit.get("type").is_some_and(|kind| kind.get() == "\"context\"");
                let size = limit.get("size").and_then(|size| size.get().parse().ok()).filter(|_| is_context);
                let prompt_tokens = size.filter(|size| (1..=bounds::MAX_COUNT).contains(size)).ok_or(TIERS)?;
                Some(Above { prompt_tokens, rates: rates(tier)? })
            }
            _ => return Err(TIERS),
        },
    };
    let rates = rates(cost)?;
    Ok(Price { rates, request: Rate::default(), above: above.filter(|above| above.rates != rates) })
}

fn fields(json: &RawValue) -> Result<Fields, Reason> {
    serde_json::from_str(json.get()).map_err(|_| NO_PRICE)
}

fn new_api(text: &str, selection: &Selection) -> Result<Converted, NoPriceList> {
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
    let mut converted = Converted { has_patterns: true, note: Some(BUILT_IN), ..Converted::default() };
    for (name, price) in &prices {
        let request = number(price, 9).and_then(|nanos| Rate::new(nanos).ok()).ok_or(NO_RATE);
        let rates = TokenPrices {
            prompt: Rate::default(),
            completion: Rate::default(),
            cached: Rate::default(),
            cache_write: Rate::default(),
        };
        converted.add(name, selection, request.map(|request| Price { rates, request, above: None }));
        if converted.prices.contains_key(name) {
            converted.lacking.insert(name.clone(), vec!["seconds, sizes and numbers of images and videos"]);
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
        converted.add(name, selection, price);
        if media.iter().flatten().any(|ratios| ratios.contains_key(name)) && converted.prices.contains_key(name) {
            converted.lacking.insert(name.clone(), vec!["audio and images"]);
        }
    }
    Ok(converted)
}

const BUILT_IN: &str = "That program has completion ratios for gpt, claude, gemini and others in its code, which can count more than those \
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
    use keymeter::domain::price_settings::PriceSettings;

    /// The settings that a list becomes, which are read again.
    fn settings(format: PriceListFormat, text: &str, selection: &Selection) -> Vec<String> {
        let converted = convert(format, text, selection).unwrap();
        let settings = converted.settings();
        let mut read: toml::Table = settings.parse().unwrap();
        let list: PriceSettings = read.remove("prices").unwrap().try_into().unwrap();
        assert_eq!(list.all().len(), converted.counts().0);
        for (name, price) in list.all() {
            assert_eq!(converted.prices.get(name), Some(price), "{name}");
        }
        let is_price = |line: &&str| !line.starts_with("[prices]") && *line != format!("# {BUILT_IN}");
        settings.lines().filter(is_price).map(str::to_owned).collect()
    }

    #[test]
    fn litellms_list_is_converted_and_what_has_no_place_is_named() {
        let list = r#"{
            "sample_spec": {"mode": "one of: chat, …", "input_cost_per_token": 0.0},
            "gpt-5": {"mode": "chat", "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05,
                "cache_read_input_token_cost": 1.25e-07, "litellm_provider": "openai"},
            "claude": {"mode": "chat", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
                "cache_read_input_token_cost": 3e-07, "cache_creation_input_token_cost": 3.75e-06,
                "input_cost_per_token_above_200k_tokens": 6e-06, "output_cost_per_token_above_200k_tokens": 2.25e-05,
                "cache_read_input_token_cost_above_200k_tokens": 6e-07,
                "cache_creation_input_token_cost_above_200k_tokens": 7.5e-06, "litellm_provider": "anthropic"},
            "search": {"mode": "responses", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
                "search_context_cost_per_query": {"search_context_size_low": 0.01}, "input_cost_per_audio_token": 1e-05,
                "output_cost_per_reasoning_token": 2e-06, "citation_cost_per_token": 0},
            "thinks": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
                "output_cost_per_reasoning_token": 3e-06},
            "request": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
                "input_cost_per_request": 0.005},
            "embed": {"mode": "embedding", "input_cost_per_token": 2e-08},
            "half-tier": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06,
                "input_cost_per_token_above_272k_tokens": 2e-06, "cache_creation_input_token_cost_above_1hr": 9e-06,
                "input_cost_per_token_above_272k_tokens_priority": 3e-06},
            "new-tier": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06,
                "input_cost_per_token_above_1m_tokens": 2e-06},
            "no-output": {"mode": "chat", "input_cost_per_token": 1e-06},
            "write": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06,
                "cache_creation_input_token_cost": 0.0, "provider_specific_entry": {"us": 1.1}},
            "a\n\"*\" = { request = \"0\" } #": {"mode": "image_generation"},
            "free": {"mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0.0},
            "speech": {"mode": "audio_speech", "input_cost_per_character": 1e-05},
            "by-second": {"mode": "chat", "input_cost_per_second": 0.001},
            "both": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_image": 0.04},
            "tiers": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06,
                "input_cost_per_token_above_128k_tokens": 2e-06, "input_cost_per_token_above_200k_tokens": 3e-06},
            "unknown": {"mode": "chat", "max_tokens": 7},
            "wrong": {"mode": "chat", "input_cost_per_token": -1e-06},
            "all/*": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06}
        }"#;
        assert_eq!(
            settings(PriceListFormat::LiteLlm, list, &Selection::default()),
            [
                r#""claude" = { prompt = "3", completion = "15", cached = "0.3", cache_write = "3.75", above = { prompt_tokens = 200000, prompt = "6", completion = "22.5", cached = "0.6", cache_write = "7.5" } }"#,
                r#""embed" = { prompt = "0.02", completion = "0" }"#,
                r#""free" = { prompt = "0", completion = "0" }"#,
                r#""gpt-5" = { prompt = "1.25", completion = "10", cached = "0.125" }"#,
                r#""half-tier" = { prompt = "1", completion = "1", above = { prompt_tokens = 272000, prompt = "2", completion = "1" } } # without caches that last longer"#,
                r#""search" = { prompt = "1", completion = "2" } # without searches and tools, audio, images and video"#,
                r#""write" = { prompt = "1", completion = "1", cache_write = "0" } # without surcharges of regions, a price of writing to the cache"#,
                r#"# left out: "a\u000A\"*\" = { request = \"0\" } #": it is not charged by tokens of text"#,
                r#"# left out: "all/*": no model can have this name"#,
                r#"# left out: "both": it is not charged by tokens of text"#,
                r#"# left out: "by-second": it is not charged by tokens of text"#,
                r#"# left out: "new-tier": it has more than one tier"#,
                r#"# left out: "no-output": the list has no price for its tokens"#,
                r#"# left out: "request": it is not charged by tokens of text"#,
                r#"# left out: "speech": it is not charged by tokens of text"#,
                r#"# left out: "thinks": its reasoning tokens have a price of their own"#,
                r#"# left out: "tiers": it has more than one tier"#,
                r#"# left out: "unknown": the list has no price for its tokens"#,
                r#"# left out: "wrong": a rate is negative or too high"#,
            ]
        );
        let only = Selection { only: Some(ModelLimits::parse("gpt-*,tiers").unwrap()), provider: None };
        assert_eq!(settings(PriceListFormat::LiteLlm, list, &only).len(), 2);
        let provider = Selection { only: None, provider: Some("anthropic".into()) };
        assert_eq!(settings(PriceListFormat::LiteLlm, list, &provider).len(), 1);
    }

    #[test]
    fn models_dev_has_a_price_for_each_provider() {
        let list = r#"{
            "openai": {"id": "openai", "models": {
                "gpt-5": {"cost": {"input": 1.25, "output": 10, "cache_read": 0.125}},
                "tts": {"modalities": {}},
                "same": {"cost": {"input": 1, "output": 2}}}},
            "reseller": {"models": {
                "gpt-5": {"cost": {"input": 2.5, "output": 20}},
                "tts": {},
                "same": {"cost": {"output": 2.0, "input": 1.0}},
                "long": {"cost": {"input": 1, "output": 2, "context_over_200k": {"input": 2, "output": 3, "cache_read": 0.2}}}}},
            "zero": {"models": {
                "tts": {"cost": {"input": 3, "output": 0, "output_audio": 9}},
                "tier": {"cost": {"input": 1, "output": 2, "context_over_200k": {"input": 2, "output": 3},
                    "tiers": [{"input": 2, "output": 3, "tier": {"type": "context", "size": 272000}}]}},
                "tiers": {"cost": {"input": 1, "output": 2, "tiers": [{}, {}]}},
                "thinks": {"cost": {"input": 1, "output": 2, "reasoning": 3}},
                "newer": {"cost": {"input": 1, "output": 2, "per_query": 3}}}}
        }"#;
        assert_eq!(
            settings(PriceListFormat::ModelsDev, list, &Selection::default()),
            [
                r#""long" = { prompt = "1", completion = "2", above = { prompt_tokens = 200000, prompt = "2", completion = "3", cached = "0.2" } }"#,
                r#""same" = { prompt = "1", completion = "2" }"#,
                r#""tier" = { prompt = "1", completion = "2", above = { prompt_tokens = 272000, prompt = "2", completion = "3" } }"#,
                r#""tts" = { prompt = "3", completion = "0" } # without audio"#,
                r#"# left out: "gpt-5": providers have different prices: choose one with --provider"#,
                r#"# left out: "newer": it has a rate that is not known here"#,
                r#"# left out: "thinks": its reasoning tokens have a price of their own"#,
                r#"# left out: "tiers": it has more than one tier"#,
            ]
        );
        let openai = Selection { only: None, provider: Some("openai".into()) };
        assert_eq!(
            settings(PriceListFormat::ModelsDev, list, &openai),
            [
                r#""gpt-5" = { prompt = "1.25", completion = "10", cached = "0.125" }"#,
                r#""same" = { prompt = "1", completion = "2" }"#,
                r#"# left out: "tts": the list has no price for its tokens"#,
            ]
        );
    }

    #[test]
    fn ratios_of_new_api_are_two_dollars_each() {
        let list = r#"{
            "ModelRatio": "{\"gpt-5\": 0.625, \"claude\": 1.5, \"flux\": 3, \"odd\": 0.333333333, \"o9\": 1, \"gpt-4-gizmo-*\": 15, \"a*b\": 1}",
            "CompletionRatio": {"gpt-5": 8, "claude": 5, "flux": 1, "odd": 3.000000001, "gpt-4-gizmo-*": 2, "a*b": 1},
            "AudioRatio": {"odd": 7},
            "CacheRatio": {"gpt-5": 0.1, "claude": 0.1},
            "CreateCacheRatio": {"claude": 1.25},
            "ModelPrice": {"flux": 0.04}
        }"#;
        let expected = [
            r#""claude" = { prompt = "3", completion = "15", cached = "0.3", cache_write = "3.75" }"#,
            r#""flux" = { prompt = "0", completion = "0", request = "0.04" } # without seconds, sizes and numbers of images and videos"#,
            r#""gpt-4-gizmo-*" = { prompt = "30", completion = "60", cache_write = "37.5" }"#,
            r#""gpt-5" = { prompt = "1.25", completion = "10", cached = "0.125", cache_write = "1.5625" }"#,
            r#""odd" = { prompt = "0.666666666", completion = "1.999999999", cache_write = "0.833333333" } # without audio and images"#,
            r#"# left out: "a*b": no model can have this name"#,
            r#"# left out: "o9": its completion ratio is not in the list but built into that program; look it up there"#,
        ];
        assert_eq!(settings(PriceListFormat::NewApi, list, &Selection::default()), expected);
        let answer = r#"{"success": true, "data": {"model_ratio": {"a": 1}, "completion_ratio": {"a": 4}}}"#;
        let expected = [r#""a" = { prompt = "2", completion = "8", cache_write = "2.5" }"#];
        assert_eq!(settings(PriceListFormat::NewApi, answer, &Selection::default()), expected);
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |format, text| convert(format, text, &Selection::default()).unwrap_err().to_string();
        for format in [PriceListFormat::LiteLlm, PriceListFormat::ModelsDev, PriceListFormat::NewApi] {
            for text in ["", "[]", "{\"a\": 1", "7"] {
                assert!(refused(format, text).starts_with("it is no such list: "), "{format:?} {text}");
            }
        }
        assert_eq!(
            refused(PriceListFormat::NewApi, "{}"),
            "it is no such list: it has neither ModelRatio nor ModelPrice"
        );
    }
}
