//! The column `content` of `prices`.

use serde::Deserialize;

/// A price as the database has it. Rates are decimal text, the ratio is in billionths.
#[derive(Deserialize)]
pub(super) struct PriceContent {
    pub(super) rates: Vec<RateContent>,
    pub(super) ratio: i64,
    pub(super) minimum: Option<(String, i64)>,
}

#[derive(Deserialize)]
pub(super) struct RateContent {
    pub(super) unit: String,
    pub(super) per: i64,
    pub(super) rate: String,
    #[serde(default)]
    pub(super) tiers: Vec<(i64, String)>,
    #[serde(default)]
    pub(super) parts: Vec<String>,
}

/// A price as versions before this one wrote it: rates in billionths of a dollar for a million tokens.
#[derive(Deserialize)]
struct FormerContent {
    #[serde(flatten)]
    rates: FormerRates,
    request: i64,
    above: Option<FormerAbove>,
    ratio: i64,
}

#[derive(Deserialize)]
struct FormerRates {
    prompt: i64,
    completion: i64,
    cached: i64,
    cache_write: i64,
}

#[derive(Deserialize)]
struct FormerAbove {
    prompt_tokens: i64,
    #[serde(flatten)]
    rates: FormerRates,
}

impl PriceContent {
    /// `None` if the text is no price.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().or_else(|| Some(serde_json::from_str::<FormerContent>(text).ok()?.into()))
    }
}

impl From<FormerContent> for PriceContent {
    fn from(former: FormerContent) -> Self {
        let FormerContent { rates, request, above, ratio } = former;
        let rate = |unit: &str, of: fn(&FormerRates) -> i64, parts: &[&str]| RateContent {
            unit: unit.to_owned(),
            per: 1_000_000,
            rate: format!("{}e-9", of(&rates)),
            tiers: above.iter().map(|above| (above.prompt_tokens, format!("{}e-9", of(&above.rates)))).collect(),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        };
        let of_request = RateContent {
            unit: "requests".to_owned(),
            per: 1,
            rate: format!("{request}e-9"),
            tiers: vec![],
            parts: vec![],
        };
        let rates = vec![
            rate("input_tokens", |rates| rates.prompt, &["cache_read_tokens", "cache_write_tokens"]),
            rate("cache_read_tokens", |rates| rates.cached, &[]),
            rate("cache_write_tokens", |rates| rates.cache_write, &[]),
            rate("output_tokens", |rates| rates.completion, &[]),
            of_request,
        ];
        Self { rates, ratio, minimum: None }
    }
}
