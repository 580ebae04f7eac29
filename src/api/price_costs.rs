//! `POST /api/prices/cost`: what a request would cost (spec §11, Price list).

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::auth::SignedIn;
use super::envelope::Envelope;
use super::extract::Json;
use super::ledger::counts::{ContextFields, CountFields, UnitsText};
use super::ledger::requests::model as model_name;
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InvalidContext, InvalidCount, InvalidGroup, InvalidModel, MissingField, ModelNotPriced,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::group::Group;
use crate::domain::money::Quota;
use crate::domain::prices::cost_line::CostLine;
use crate::domain::prices::unknown::Unknown;
use crate::service::ledger::LedgerError;

/// A request that nobody makes.
#[derive(Deserialize, ToSchema)]
pub struct PricedBody {
    /// The model.
    #[schema(required)]
    model: Option<String>,
    /// What it uses, by unit.
    #[schema(required)]
    units: Option<UnitsText>,
    /// What the price depends on besides the model, such as `{"service_tier": "priority"}`.
    context: Option<ContextFields>,
    /// Whose price of the model counts, if the price list has several.
    provider: Option<String>,
    /// The token's group; by default that of the caller.
    group: Option<String>,
}

/// What it would cost.
#[derive(Debug, Serialize, ToSchema)]
pub struct CostBody {
    /// What would be charged, in quota units.
    quota: i64,
    /// What a reservation with these units would hold, in quota units: what may turn out dearer, such as tokens that
    /// are written to a cache, is held as if it did. Null if a reservation needs a rate of its own for some unit.
    hold: Option<i64>,
    /// The ratio of the group, by which the sum of the lines is multiplied, as decimal text.
    ratio: String,
    /// What the cost is the sum of.
    lines: Vec<CostLineBody>,
}

/// A part of a cost.
#[derive(Debug, Serialize, ToSchema)]
pub struct CostLineBody {
    /// What was counted, such as `input_tokens`.
    unit: String,
    /// How many, without parts that have rates of their own, as decimal text.
    count: String,
    /// Dollars for `per` of them, as decimal text.
    rate: String,
    /// How many the rate is for.
    per: u32,
    /// Dollars, as decimal text, before the ratio.
    usd: String,
}

impl From<CostLine<'_>> for CostLineBody {
    fn from(line: CostLine<'_>) -> Self {
        Self {
            unit: line.unit.name().to_owned(),
            count: line.count.to_string(),
            rate: line.rate.to_string(),
            per: line.unit.per(),
            usd: line.usd(),
        }
    }
}

/// What a request would cost now, and from which rates.
#[utoipa::path(post, path = "/api/prices/cost", operation_id = "show_cost", tag = "usage", request_body = PricedBody,
    responses((status = 200, body = Envelope<CostBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Json(body): Json<PricedBody>,
) -> Result<
    Envelope<CostBody>,
    Fails<(MissingField, ModelNotPriced, InvalidCount, InvalidContext, InvalidModel, InvalidGroup)>,
> {
    let model = model_name(body.model)?;
    let (Some(model), true) = (model, body.units.is_some()) else {
        return Err(ApiError::new(ErrorCode::MissingField, "`model` and `units` are required").into());
    };
    let counts = CountFields {
        units: body.units,
        context: body.context.unwrap_or_default(),
        provider: body.provider,
        ..CountFields::default()
    };
    let cost = counts.cost(None)?;
    let group = Group::from_text(body.group.as_deref().unwrap_or_default());
    app.tokens.groups().admit(&caller.user.group, &group)?;
    let ratio = app.tokens.groups().ratio(&caller.user.group, &group);
    let list = &app.prices.read().list;
    let at = app.core.clock.now();
    let priced = || -> Result<CostBody, Unknown> {
        let amount = list.amount(&cost, Some(&model), at, ratio)?;
        let prices = list.find(&model, cost.provider.as_deref())?;
        let rates = prices.in_force(at, &cost.context)?;
        let lines = rates.cost_lines(&cost.units)?.into_iter();
        let hold = list.most(&cost, Some(&model), at, ratio).ok();
        Ok(CostBody {
            quota: amount.quota.get(),
            hold: hold.map(Quota::get),
            ratio: ratio.to_string(),
            lines: lines.map(CostLineBody::from).collect(),
        })
    };
    let body = priced().map_err(|why| LedgerError::UnknownCost { model: model.clone(), why })?;
    Ok(Envelope::of(body))
}
