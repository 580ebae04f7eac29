//! `GET /api/prices`: what models cost (spec §11, Price list).

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::SignedIn;
use super::envelope::Envelope;
use super::state::AppState;
use crate::api::errors::fails::Fails;
use crate::domain::decimal;
use crate::domain::prices::count::UnitCount;
use crate::domain::prices::model_prices::{ModelPrices, PriceContext, RatesByUnit};
use crate::domain::prices::unit::{INPUT_TOKENS, REQUESTS};
use crate::service::prices::PricesInForce;

/// The prices in force. Costs by them are multiplied by the ratio of the token's group.
#[derive(Debug, Serialize, ToSchema)]
pub struct PricesBody {
    /// Unix timestamp since which they are in force.
    since: i64,
    /// The prices, by model.
    prices: Vec<PriceBody>,
}

/// What a model costs: dollars as decimal text, for a million tokens unless it says otherwise.
#[derive(Debug, Serialize, ToSchema)]
pub struct PriceBody {
    /// The name of the model. With `*` at its end: of all models that begin so and have no longer entry of their own.
    model: String,
    /// What tokens cost.
    #[serde(flatten)]
    rates: TokenRatesBody,
    /// For each request, besides its tokens.
    request: String,
    /// What all tokens of a request with a long prompt cost; null if the same.
    above: Option<AboveBody>,
}

/// What tokens cost: dollars for a million as decimal text.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenRatesBody {
    /// Input tokens that are in no cache.
    prompt: String,
    /// Output tokens.
    completion: String,
    /// Input tokens read from the provider's cache.
    cached: String,
    /// Input tokens written to the provider's cache.
    cache_write: String,
}

/// What the tokens of a request with a long prompt cost.
#[derive(Debug, Serialize, ToSchema)]
pub struct AboveBody {
    /// The request has more input tokens than this.
    prompt_tokens: i64,
    /// What its tokens cost.
    #[serde(flatten)]
    rates: TokenRatesBody,
}

impl TokenRatesBody {
    /// The rates of a request with so many input tokens; `None` if tokens in or out have none.
    fn at(rates: &RatesByUnit, input_tokens: i64) -> Option<Self> {
        let rate = |unit: &str| Some(rates.get(unit)?.at(UnitCount::whole(input_tokens).nanos()).to_string());
        let prompt = rate(INPUT_TOKENS)?;
        Some(Self {
            completion: rate("output_tokens")?,
            cached: rate("cache_read_tokens").unwrap_or_else(|| prompt.clone()),
            cache_write: rate("cache_write_tokens").unwrap_or_else(|| prompt.clone()),
            prompt,
        })
    }
}

impl PriceBody {
    /// The price of a model by tokens; `None` if it has none.
    fn by_tokens(model: String, rates: &RatesByUnit) -> Option<Self> {
        let above = rates.get(INPUT_TOKENS)?.tiers.first().map(|tier| tier.start);
        let above = above.and_then(|prompt_tokens| {
            let rates = TokenRatesBody::at(rates, prompt_tokens + 1)?;
            Some(AboveBody { prompt_tokens, rates })
        });
        // The rate of requests is for a thousand.
        let request = rates.get(REQUESTS).map_or(0, |rate| rate.base.attos() / 1_000);
        Some(Self { model, rates: TokenRatesBody::at(rates, 0)?, request: decimal::text(request, 18), above })
    }
}

/// What models cost by their tokens, now: the prices by which requests are charged whose gateway sends counts and no
/// amount.
#[utoipa::path(get, path = "/api/prices", operation_id = "list_prices", tag = "usage",
    responses((status = 200, body = Envelope<PricesBody>)))]
pub async fn list(State(app): State<Arc<AppState>>, _caller: SignedIn) -> Result<Envelope<PricesBody>, Fails> {
    let PricesInForce { read, since, .. } = app.prices.in_force();
    let now = app.core.clock.now();
    let by_tokens = |(model, prices): (String, &Arc<ModelPrices>)| {
        let rates = prices.in_force(now, &PriceContext::new()).ok()?;
        PriceBody::by_tokens(model, &rates.by_unit())
    };
    let mut prices: Vec<PriceBody> = read.list.entries().filter_map(by_tokens).collect();
    prices.sort_by(|one, other| one.model.cmp(&other.model));
    Ok(Envelope::of(PricesBody { since: since.get(), prices }))
}
