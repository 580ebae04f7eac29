//! What a model costs by the section `[prices]` of the settings. Rates are billionths of a dollar for a million tokens.

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

use super::bounds;
use super::decimal::{self, Decimal};
use super::prices::model_prices::RatesByUnit;
use super::prices::rate::{RateTier, TieredRate, UnitRate};
use super::prices::unit::{INPUT_TOKENS, REQUESTS};

/// Decimals of a rate.
const DECIMALS: u8 = 9;

/// 10⁻⁹ dollars in a dollar.
const NANOS_PER_USD: i64 = 1_000_000_000;

/// Dollars for a million tokens, or for a request, with nine decimals at most. In settings and in the API it is a text,
/// such as `"1.25"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate {
    nanos: i64,
}

/// The text is not a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be dollars as text, such as \"1.25\": from 0 to {}, with {DECIMALS} decimals at most",
    bounds::MAX_RATE_USD
)]
pub struct RateInvalid;

/// What tokens cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenPrices {
    /// For input tokens that are in no cache.
    pub prompt: Rate,
    /// For output tokens.
    pub completion: Rate,
    /// For input tokens that were read from the provider's cache.
    pub cached: Rate,
    /// For input tokens that were written to the provider's cache.
    pub cache_write: Rate,
}

/// What a request costs that has many input tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Above {
    /// The most input tokens of a request that costs the other rates.
    pub prompt_tokens: i64,
    /// For all tokens of a request with more.
    pub rates: TokenPrices,
}

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "PriceSetting")]
pub struct Price {
    pub rates: TokenPrices,
    /// For each request, besides its tokens.
    pub request: Rate,
    pub above: Option<Above>,
}

impl Rate {
    /// A rate in billionths of a dollar.
    ///
    /// # Errors
    /// It is negative or too high.
    pub fn new(nanos: i128) -> Result<Self, RateInvalid> {
        let nanos = i64::try_from(nanos).map_err(|_| RateInvalid)?;
        if (0..=bounds::MAX_RATE_USD * NANOS_PER_USD).contains(&nanos) { Ok(Self { nanos }) } else { Err(RateInvalid) }
    }

    /// Billionths of a dollar.
    pub const fn nanos(self) -> i64 {
        self.nanos
    }
}

impl TryFrom<String> for Rate {
    type Error = RateInvalid;

    fn try_from(text: String) -> Result<Self, RateInvalid> {
        match Decimal::read(&text, DECIMALS) {
            Ok(Decimal { value, is_exact: true }) => Self::new(value),
            Ok(Decimal { is_exact: false, .. }) | Err(_) => Err(RateInvalid),
        }
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl Display for Rate {
    /// Dollars as a decimal without zeros at its end.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&decimal::text(self.nanos.into(), DECIMALS))
    }
}

impl Price {
    /// The rates of the units that it has a price for. Parts of the prompt that cost what it costs need none.
    pub fn rates_by_unit(&self) -> RatesByUnit {
        let tiered = |of: fn(&TokenPrices) -> Rate| {
            let rate = |rates: &TokenPrices| UnitRate::from_nanos(of(rates).nanos);
            let tier = |above: &Above| RateTier { start: above.prompt_tokens, rate: rate(&above.rates) };
            TieredRate { base: rate(&self.rates), tiers: self.above.iter().map(tier).collect() }
        };
        let input = tiered(|rates| rates.prompt);
        let parts = [
            ("cache_read_tokens", tiered(|rates| rates.cached)),
            ("cache_write_tokens", tiered(|rates| rates.cache_write)),
        ];
        let parts = parts.into_iter().filter(|(_, rate)| *rate != input);
        // The rate of requests is for a thousand.
        let request = Some(self.request.nanos).filter(|nanos| *nanos > 0);
        let request = request.map(|nanos| (REQUESTS, UnitRate::from_nanos(nanos * 1_000).into()));
        let all = parts.chain(request).chain([("output_tokens", tiered(|rates| rates.completion))]);
        let all = all.chain([(INPUT_TOKENS, input.clone())]);
        all.map(|(unit, rate)| (unit.to_owned(), rate)).collect()
    }
}

/// A price as settings write it: what is left out has a default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceSetting {
    prompt: Option<Rate>,
    completion: Option<Rate>,
    cached: Option<Rate>,
    cache_write: Option<Rate>,
    request: Option<Rate>,
    above: Option<AboveSetting>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AboveSetting {
    prompt_tokens: i64,
    prompt: Rate,
    completion: Rate,
    cached: Option<Rate>,
    cache_write: Option<Rate>,
}

/// Settings that are no price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum PriceInvalid {
    #[error("`prompt` and `completion` are required, unless there is a price for the `request`")]
    Missing,
    #[error("`above.prompt_tokens` must be 1 to {}", bounds::MAX_COUNT)]
    Above,
}

impl TryFrom<PriceSetting> for Price {
    type Error = PriceInvalid;

    fn try_from(setting: PriceSetting) -> Result<Self, PriceInvalid> {
        let rates = |prompt, completion, cached: Option<Rate>, cache_write: Option<Rate>| TokenPrices {
            prompt,
            completion,
            cached: cached.unwrap_or(prompt),
            cache_write: cache_write.unwrap_or(prompt),
        };
        // With a price for the request, tokens may cost nothing. Otherwise, what is missing was forgotten.
        let or_free = |rate: Option<Rate>| rate.or_else(|| setting.request.map(|_| Rate::default()));
        let prompt = or_free(setting.prompt).ok_or(PriceInvalid::Missing)?;
        let completion = or_free(setting.completion).ok_or(PriceInvalid::Missing)?;
        let above = setting.above.map(|above| {
            if !(1..=bounds::MAX_COUNT).contains(&above.prompt_tokens) {
                return Err(PriceInvalid::Above);
            }
            let rates = rates(above.prompt, above.completion, above.cached, above.cache_write);
            Ok(Above { prompt_tokens: above.prompt_tokens, rates })
        });
        Ok(Self {
            rates: rates(prompt, completion, setting.cached, setting.cache_write),
            request: setting.request.unwrap_or_default(),
            above: above.transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::domain::group::Ratio;
    use crate::domain::money::Quota;
    use crate::domain::prices::model_prices::ModelPrices;
    use crate::domain::prices::rates::Rates;
    use crate::domain::prices::unit::UnitTable;
    use crate::domain::prices::units::Units;
    use crate::domain::prices::unknown::{TooExpensive, Unknown};
    use crate::domain::time::UnixTime;

    /// What such a price distinguishes.
    #[derive(Debug, Clone, Copy, Default)]
    #[expect(clippy::struct_field_names, reason = "the names of the API")]
    struct Counts {
        prompt_tokens: i64,
        completion_tokens: i64,
        cached_tokens: Option<i64>,
        cache_write_tokens: Option<i64>,
    }

    impl From<Counts> for Units {
        fn from(counts: Counts) -> Self {
            Self::from_iter([
                ("input_tokens", Some(counts.prompt_tokens)),
                ("output_tokens", Some(counts.completion_tokens)),
                ("cache_read_tokens", counts.cached_tokens),
                ("cache_write_tokens", counts.cache_write_tokens),
            ])
        }
    }

    /// A price in a group, as the list has it.
    #[derive(Debug, Clone, Copy)]
    struct InGroup {
        price: Price,
        ratio: Ratio,
    }

    impl InGroup {
        fn prices(&self) -> ModelPrices {
            let units = Arc::new(UnitTable::with(BTreeMap::new()).unwrap());
            ModelPrices::new(self.price.rates_by_unit(), Vec::new(), Vec::new(), None, &units).unwrap()
        }

        fn rates(&self) -> Rates {
            self.prices().in_force(UnixTime::new(0), &BTreeMap::new()).unwrap().into_owned()
        }

        fn cost(&self, counts: &Counts) -> Result<Quota, Unknown> {
            self.rates().cost(&(*counts).into(), self.ratio)
        }

        fn most(&self, counts: &Counts) -> Result<Quota, Unknown> {
            self.rates().most(&(*counts).into(), self.ratio)
        }

        fn content(&self) -> String {
            let (units, context) = (counts(1, 1).into(), BTreeMap::new());
            let amount = self.prices().amount((&units, &context), UnixTime::new(0), self.ratio);
            amount.unwrap().price.unwrap().content()
        }
    }

    fn price(text: &str) -> Result<Price, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    fn in_group(text: &str, ratio: &str) -> InGroup {
        InGroup { price: price(text).unwrap(), ratio: ratio.to_owned().try_into().unwrap() }
    }

    fn counts(prompt_tokens: i64, completion_tokens: i64) -> Counts {
        Counts { prompt_tokens, completion_tokens, ..Counts::default() }
    }

    fn units(price: &InGroup, counts: &Counts) -> Option<i64> {
        price.cost(counts).ok().map(Quota::get)
    }

    const GPT: &str = r#"
        prompt = "5"
        completion = "30"
        cached = "0.5"
        cache_write = "6.25"
        above = { prompt_tokens = 272000, prompt = "10", completion = "45", cached = "1" }
    "#;

    #[test]
    fn a_request_costs_its_tokens_times_their_rates_rounded_up_once() {
        let plain = in_group("prompt = \"1.25\"\ncompletion = \"10\"", "1");
        assert_eq!(units(&plain, &counts(1_000, 500)), Some(3_125));
        assert_eq!(units(&plain, &counts(0, 0)), Some(0));
        // 1.25 and 11.25 millionths of a dollar: units are two.
        assert_eq!(units(&plain, &counts(1, 0)), Some(1));
        assert_eq!(units(&plain, &counts(1, 1)), Some(6));
        assert_eq!(units(&in_group("prompt = \"0.000000001\"\ncompletion = \"0\"", "1"), &counts(1, 9)), Some(1));
        assert_eq!(units(&in_group("prompt = \"0\"\ncompletion = \"0\"", "1"), &counts(9, 9)), Some(0));
    }

    #[test]
    fn cached_tokens_are_a_part_of_the_prompt_with_a_rate_of_their_own() {
        let parts = |cached, write| Counts { cached_tokens: cached, cache_write_tokens: write, ..counts(1_000, 100) };
        let price = in_group(GPT, "1");
        assert_eq!(units(&price, &parts(None, None)), Some(4_000));
        assert_eq!(units(&price, &parts(Some(400), None)), Some(3_100));
        assert_eq!(units(&price, &parts(Some(400), Some(600))), Some(3_475));
        // Both are the rate of the prompt unless they are set.
        let plain = in_group("prompt = \"5\"\ncompletion = \"30\"", "1");
        assert_eq!(units(&plain, &parts(Some(400), Some(600))), Some(4_000));
    }

    #[test]
    fn a_request_with_a_long_prompt_costs_other_rates_as_a_whole() {
        let price = in_group(GPT, "1");
        assert_eq!(units(&price, &counts(272_000, 1_000)), Some(695_000));
        assert_eq!(units(&price, &counts(272_001, 1_000)), Some(1_382_505));
        let cached = Counts { cached_tokens: Some(272_001), ..counts(272_001, 0) };
        assert_eq!(units(&price, &cached), Some(136_001));
        // Written to the cache: the rate of the long prompt, not that of short ones.
        let written = Counts { cache_write_tokens: Some(300_000), ..counts(300_000, 0) };
        assert_eq!(units(&price, &written), Some(1_500_000));
    }

    #[test]
    fn a_request_may_have_a_price_of_its_own_and_a_group_a_ratio() {
        let price = |ratio| in_group("request = \"0.04\"\nprompt = \"2\"", ratio);
        assert_eq!(units(&price("1"), &counts(0, 7)), Some(20_000));
        assert_eq!(units(&price("1"), &counts(1_000, 7)), Some(21_000));
        assert_eq!(units(&price("0.5"), &counts(1_000, 7)), Some(10_500));
        assert_eq!(units(&price("0"), &counts(1_000, 7)), Some(0));
        assert_eq!(units(&price("0.000000001"), &counts(1_000, 7)), Some(1));
    }

    #[test]
    fn a_cost_beyond_every_quota_is_refused_and_not_counted_wrongly() {
        let dearest = in_group("prompt = \"1000000\"\ncompletion = \"1000000\"\nrequest = \"1000000\"", "1000000");
        let most = counts(bounds::MAX_COUNT, bounds::MAX_COUNT);
        assert_eq!(dearest.cost(&most), Err(Unknown::TooExpensive(TooExpensive)));
        assert_eq!(TooExpensive.to_string(), "these counts cost more than 1000000000 dollars");
        let plain = in_group("prompt = \"1000\"\ncompletion = \"0\"", "1");
        assert_eq!(units(&plain, &counts(bounds::MAX_COUNT, 0)), Some(bounds::MAX_QUOTA));
        assert_eq!(units(&in_group("prompt = \"1000\"\ncompletion = \"1\"", "1"), &counts(bounds::MAX_COUNT, 1)), None);
    }

    #[test]
    fn settings_that_are_no_price_are_refused() {
        let missing = "`prompt` and `completion` are required, unless there is a price for the `request`";
        for text in ["", "prompt = \"1\"", "completion = \"1\"", "cached = \"1\"\ncompletion = \"1\""] {
            assert_eq!(price(text), Err(missing.to_owned()), "{text}");
        }
        let wrong = "must be dollars as text, such as \"1.25\": from 0 to 1000000, with 9 decimals at most";
        for rate in ["", "-1", "1.0000000001", "1000000.000000001", "1,5", "$1", "free"] {
            assert_eq!(price(&format!("request = \"{rate}\"")), Err(wrong.to_owned()), "{rate}");
        }
        let refused = |text| price(text).unwrap_err();
        assert!(refused("prompt = 1\ncompletion = \"1\"").contains("expected a string"));
        assert!(refused("request = \"1\"\nimage = \"1\"").contains("unknown field `image`"));
        let above = |tokens| format!("{GPT}\n").replace("272000", tokens);
        assert_eq!(price(&above("0")), Err("`above.prompt_tokens` must be 1 to 1000000000000".to_owned()));
        assert!(price(&above("1")).is_ok());
    }

    #[test]
    fn a_rate_is_written_as_short_as_it_is_exact() {
        for text in ["0", "1", "1.25", "0.000000001", "1000000", "10.05"] {
            assert_eq!(Rate::try_from(text.to_owned()).unwrap().to_string(), text);
        }
        assert_eq!(Rate::try_from("1.500e1".to_owned()).unwrap().to_string(), "15");
    }

    #[test]
    fn the_content_of_a_price_says_every_number_of_it() {
        assert_eq!(
            in_group(GPT, "0.5").content(),
            r#"{"rates":[{"unit":"cache_read_tokens","per":1000000,"rate":"0.5","tiers":[[272000,"1"]]},{"unit":"cache_write_tokens","per":1000000,"rate":"6.25","tiers":[[272000,"10"]]},{"unit":"input_tokens","per":1000000,"rate":"5","tiers":[[272000,"10"]],"parts":["cache_read_tokens","cache_write_tokens"]},{"unit":"output_tokens","per":1000000,"rate":"30","tiers":[[272000,"45"]]}],"ratio":500000000}"#
        );
        let longest = GPT.replace("\"5\"", "\"999999.999999999\"").replace("\"10\"", "\"999999.999999999\"");
        assert!(in_group(&longest, "999999.999999999").content().len() < bounds::MAX_PRICE_CONTENT_CHARS);
        let request = r#"{"unit":"requests","per":1000,"rate":"1000"}"#;
        assert!(in_group("request = \"1\"", "1").content().contains(request));
    }

    /// Nanos of a rate, mostly of the sizes that people use.
    fn rate() -> impl Strategy<Value = Rate> {
        prop_oneof![Just(0), 1..1_000_i64, 0..200_000_000_000_i64, 0..=bounds::MAX_RATE_USD * NANOS_PER_USD]
            .prop_map(|nanos| Rate { nanos })
    }

    prop_compose! {
        fn rates()(prompt in rate(), completion in rate(), cached in rate(), cache_write in rate()) -> TokenPrices {
            TokenPrices { prompt, completion, cached, cache_write }
        }
    }

    prop_compose! {
        fn any_price()(
            rates in rates(),
            request in rate(),
            above in proptest::option::of((1..=1_000_000_i64, rates())),
            billionths in prop_oneof![Just(1_000_000_000), 0..10_000_000_000_i64],
        ) -> InGroup {
            let above = above.map(|(prompt_tokens, rates)| Above { prompt_tokens, rates });
            InGroup { price: Price { rates, request, above }, ratio: Ratio::new(billionths).unwrap() }
        }
    }

    prop_compose! {
        fn any_counts()(
            prompt in prop_oneof![0..100_000_i64, 0..=bounds::MAX_COUNT],
            completion in prop_oneof![0..100_000_i64, 0..=bounds::MAX_COUNT],
            cached in proptest::option::of(0..=1_000_i64),
            written in proptest::option::of(0..=1_000_i64),
        ) -> Counts {
            // So many thousandths of it.
            let part = |of: i64, share: i64| of / 1_000 * share;
            let cached_tokens = cached.map(|share| part(prompt, share));
            let rest = prompt - cached_tokens.unwrap_or(0);
            Counts {
                prompt_tokens: prompt,
                completion_tokens: completion,
                cached_tokens,
                cache_write_tokens: written.map(|share| part(rest, share)),
            }
        }
    }

    /// A fraction in lowest terms, as numbers of any size, so that it is independent of the ranges above.
    fn exact(price: &InGroup, counts: &Counts) -> (num_bigint::BigInt, num_bigint::BigInt) {
        use num_bigint::BigInt;
        let above = price.price.above.filter(|above| counts.prompt_tokens > above.prompt_tokens);
        let rates = above.map_or(price.price.rates, |above| above.rates);
        let parts = [counts.cached_tokens, counts.cache_write_tokens].map(|part| BigInt::from(part.unwrap_or(0)));
        let rate = |rate: Rate| BigInt::from(rate.nanos);
        let plain = BigInt::from(counts.prompt_tokens) - &parts[0] - &parts[1];
        let tokens = plain * rate(rates.prompt)
            + &parts[0] * rate(rates.cached)
            + &parts[1] * rate(rates.cache_write)
            + BigInt::from(counts.completion_tokens) * rate(rates.completion);
        let sum = tokens + rate(price.price.request) * 1_000_000;
        // Dollars are the sum × ratio ÷ 10^24; a dollar is 500,000 units.
        (sum * BigInt::from(price.ratio.billionths()) * 500_000, BigInt::from(10).pow(24))
    }

    proptest! {
        #[test]
        fn the_quota_is_never_below_the_true_cost_and_less_than_one_unit_above(
            price in any_price(), counts in any_counts(),
        ) {
            let (numerator, denominator) = exact(&price, &counts);
            match price.cost(&counts) {
                Ok(quota) => {
                    let above = num_bigint::BigInt::from(quota.get()) * &denominator - &numerator;
                    prop_assert!(above >= 0.into() && above < denominator);
                }
                Err(Unknown::NotPriced(_) | Unknown::Invalid(_)) => prop_assert!(false, "it has a price"),
                Err(Unknown::TooExpensive(_)) => {
                    prop_assert!(numerator > num_bigint::BigInt::from(bounds::MAX_QUOTA) * denominator);
                }
            }
        }

        #[test]
        fn one_more_token_never_costs_less(price in any_price(), counts in any_counts()) {
            let price = InGroup { price: Price { above: None, ..price.price }, ..price };
            let more = [
                Counts { completion_tokens: counts.completion_tokens + 1, ..counts },
                Counts { prompt_tokens: counts.prompt_tokens + 1, ..counts },
            ];
            for more in more {
                match (price.cost(&counts), price.cost(&more)) {
                    (Ok(less), Ok(more)) => prop_assert!(less <= more),
                    (less, more) => prop_assert!(less.is_ok() || more.is_err()),
                }
            }
        }

        #[test]
        fn a_request_with_at_most_these_counts_costs_at_most_that(
            price in any_price(), counts in any_counts(), shares in proptest::array::uniform4(0..=1_000_i64),
        ) {
            let part = |of: i64, share: i64| of / 1_000 * share;
            let prompt = part(counts.prompt_tokens, shares[0]);
            let (cached, written) = (part(prompt, shares[1]), part(prompt - part(prompt, shares[1]), shares[2]));
            let less = Counts {
                prompt_tokens: prompt,
                completion_tokens: part(counts.completion_tokens, shares[3]),
                cached_tokens: Some(cached),
                cache_write_tokens: Some(written),
            };
            let whole = Counts { cached_tokens: None, cache_write_tokens: None, ..counts };
            if let Ok(most) = price.most(&whole) {
                prop_assert!(price.cost(&less).is_ok_and(|cost| cost <= most));
            }
            prop_assert!(price.cost(&counts).unwrap_or(Quota::MAX) <= price.most(&counts).unwrap_or(Quota::MAX));
        }

        #[test]
        fn a_rate_reads_back(rate in rate()) {
            prop_assert_eq!(Rate::try_from(rate.to_string()), Ok(rate));
        }
    }
}
