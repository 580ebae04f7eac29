//! `GET /api/prices`: what models cost (spec §11, Price list).

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::SignedIn;
use super::envelope::Envelope;
use super::extract::{Query, query_text};
use super::page::{PageBody, PageQuery};
use super::state::AppState;
use crate::api::errors::fails::Fails;
use crate::domain::prices::list::{PriceEntry, PriceList};
use crate::domain::prices::model_prices::{PriceContext, PriceVariant, RatesByUnit};
use crate::domain::prices::rate::RateTier;
use crate::domain::time::UnixTime;
use crate::service::prices::PricesInForce;

/// Which prices to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PricesQuery {
    /// A part of the name of a model or of `provider/model`, in any case.
    keyword: Option<String>,
    /// `true`: only prices of one's own file.
    own: Option<bool>,
}

/// The prices in force. Costs by them are multiplied by the ratio of the token's group.
#[derive(Debug, Serialize, ToSchema)]
pub struct PricesBody {
    /// The number of the price list; 0 before one was set.
    version: i64,
    /// Unix timestamp since which it is in force.
    since: i64,
    /// The prices: one's own by name, then those of providers by name.
    #[serde(flatten)]
    page: PageBody<PriceBody>,
}

/// What a model costs now.
#[derive(Debug, Serialize, ToSchema)]
pub struct PriceBody {
    /// The name of the model; that of a provider's model as the provider's data has it. With `*` at its end: of all
    /// models that begin so and have no longer entry of their own.
    model: String,
    /// The id of the provider whose model it is, or whose price it takes.
    provider: Option<String>,
    /// Whether it is a price of one's own file.
    own: bool,
    /// The rates; of a name of one's own that takes the price of a provider none.
    rates: Vec<RateBody>,
    /// Rates that count instead where the request is of a context.
    variants: Vec<VariantBody>,
}

/// What a unit costs. A unit without a rate is billed as the unit that it is a part of.
#[derive(Debug, Serialize, ToSchema)]
pub struct RateBody {
    /// What is counted, such as `input_tokens`.
    unit: String,
    /// How many of it the rate is for.
    per: u32,
    /// The name of the rate in a file of prices, such as `input_mtok`.
    key: String,
    /// Dollars, as decimal text.
    usd: String,
    /// Rates for all of a request with more input tokens, by rising `start`.
    tiers: Vec<TierBody>,
}

/// A rate of requests with many input tokens.
#[derive(Debug, Serialize, ToSchema)]
pub struct TierBody {
    /// The request has more input tokens than this.
    start: i64,
    /// Dollars, as decimal text.
    usd: String,
}

impl From<RateTier> for TierBody {
    fn from(tier: RateTier) -> Self {
        Self { start: tier.start, usd: tier.rate.to_string() }
    }
}

/// Rates of a context.
#[derive(Debug, Serialize, ToSchema)]
pub struct VariantBody {
    /// The context, such as `{"service_tier": "priority"}`.
    when: PriceContext,
    /// The rates that are others.
    rates: Vec<RateBody>,
}

impl PriceBody {
    /// An entry of a list, at a time.
    fn new(entry: &PriceEntry<'_>, list: &PriceList, at: UnixTime) -> Self {
        let rates_of = |rates: RatesByUnit| -> Vec<RateBody> {
            let units = rates.into_iter().filter_map(|(unit, rate)| Some((list.units().get(&unit)?, rate)));
            let body = units.map(|(unit, rate)| RateBody {
                unit: unit.name().to_owned(),
                per: unit.per(),
                key: unit.price_key().to_owned(),
                usd: rate.base.to_string(),
                tiers: rate.tiers.into_iter().map(TierBody::from).collect(),
            });
            body.collect()
        };
        let variant = |of: &PriceVariant| VariantBody { when: of.when.clone(), rates: rates_of(of.rates.clone()) };
        let standard = entry.prices.and_then(|prices| prices.in_force(at, &PriceContext::new()).ok());
        Self {
            model: entry.model.to_string(),
            provider: entry.provider.map(str::to_owned),
            own: entry.is_own(),
            rates: standard.map(|rates| rates_of(rates.by_unit())).unwrap_or_default(),
            variants: entry.prices.iter().flat_map(|prices| prices.variants_in_force(at)).map(variant).collect(),
        }
    }
}

/// What models cost now: the prices by which requests are charged whose gateway sends no amount.
#[utoipa::path(get, path = "/api/prices", operation_id = "list_prices", tag = "usage", params(PricesQuery, PageQuery),
    responses((status = 200, body = Envelope<PricesBody>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    _caller: SignedIn,
    Query(query): Query<PricesQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PricesBody>, Fails> {
    let text = query_text("keyword", query.keyword)?.map(|text| text.trim().to_lowercase()).unwrap_or_default();
    let page = page.read(app.settings.first_page)?;
    let PricesInForce { read, since, version } = app.prices.in_force();
    let is_asked = |entry: &PriceEntry<'_>| entry.is_found_by(&text) && (entry.is_own() || query.own != Some(true));
    let mut entries: Vec<_> = read.list.entries().filter(is_asked).collect();
    entries.sort_by_cached_key(|entry| (Reverse(entry.is_own()), entry.name().into_owned()));
    let at = app.core.clock.now();
    let page = page.of(entries).map(|entry| PriceBody::new(&entry, &read.list, at));
    Ok(Envelope::of(PricesBody { version, since: since.get(), page: page.into() }))
}
