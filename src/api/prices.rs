//! `GET /api/prices`: what models cost (spec §11, Price list).

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::SignedIn;
use super::envelope::Envelope;
use super::state::AppState;
use crate::api::errors::fails::Fails;
use crate::domain::price::{Price, Rate, TokenPrices};
use crate::service::prices::PricesInForce;

/// The prices in force. Costs by them are multiplied by the ratio of the token's group.
#[derive(Debug, Serialize, ToSchema)]
pub struct PricesBody {
    /// Unix timestamp since which they are in force.
    since: i64,
    /// The prices, by model.
    prices: Vec<PriceBody>,
    /// Why the newest price list is not in force; null if it is, and for everyone but administrators.
    refused: Option<String>,
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

impl From<&TokenPrices> for TokenRatesBody {
    fn from(rates: &TokenPrices) -> Self {
        let [prompt, completion, cached, cache_write] =
            [rates.prompt, rates.completion, rates.cached, rates.cache_write].map(|rate: Rate| rate.to_string());
        Self { prompt, completion, cached, cache_write }
    }
}

impl From<(&str, &Price)> for PriceBody {
    fn from((model, price): (&str, &Price)) -> Self {
        let above = price.above.as_ref();
        Self {
            model: model.to_owned(),
            rates: (&price.rates).into(),
            request: price.request.to_string(),
            above: above.map(|above| AboveBody { prompt_tokens: above.prompt_tokens, rates: (&above.rates).into() }),
        }
    }
}

/// What models cost: the prices by which requests are charged whose gateway sends counts and no amount.
#[utoipa::path(get, path = "/api/prices", operation_id = "list_prices", tag = "usage",
    responses((status = 200, body = Envelope<PricesBody>)))]
pub async fn list(State(app): State<Arc<AppState>>, SignedIn(caller): SignedIn) -> Result<Envelope<PricesBody>, Fails> {
    let PricesInForce { settings, since, refused, .. } = app.prices.in_force();
    let refused = refused.filter(|_| caller.user.role.is_admin());
    Ok(Envelope::of(PricesBody { since: since.get(), prices: settings.all().map(PriceBody::from).collect(), refused }))
}
