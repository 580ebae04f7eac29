//! When a key and an account end, at the pace of the last days (spec §13.9).

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::{Admin, SignedIn};
use super::envelope::Envelope;
use super::extract::{Query, query_number};
use super::state::AppState;
use crate::api::errors::code::codes::NotFound;
use crate::api::errors::fails::Fails;
use crate::domain::forecast::{AccountForecast, Forecast};
use crate::domain::id::{TokenId, UserId};
use crate::domain::time::Day;
use crate::service::forecasts::Forecasted;

/// Selects a token.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ForecastQuery {
    /// Also this token.
    token_id: Option<String>,
}

/// Selects a token or a user.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AnyUserForecastQuery {
    /// Also this token; then of its owner.
    token_id: Option<String>,
    /// The user; this or `token_id` is required.
    user_id: Option<String>,
}

/// When something ends: a number of days, 0 for today, and the day.
#[derive(Debug, Serialize, ToSchema)]
pub struct ForecastBody {
    /// At the mean of the last seven full days.
    days: i64,
    /// If every day is like the one with the most spend.
    earliest_days: i64,
    /// If every day is like the one with the least spend, among those with any.
    latest_days: i64,
    /// The day after `days`, YYYY-MM-DD; null if it is further away than a century.
    runs_out_on: Option<String>,
    /// The day after `earliest_days`.
    earliest_on: Option<String>,
    /// The day after `latest_days`.
    latest_on: Option<String>,
}

impl ForecastBody {
    fn new(forecast: Forecast, today: Day) -> Self {
        let [runs_out_on, earliest_on, latest_on] = forecast.dates(today).map(|day| day.map(|day| day.to_string()));
        let Forecast { days, earliest: earliest_days, latest: latest_days } = forecast;
        Self { days, earliest_days, latest_days, runs_out_on, earliest_on, latest_on }
    }
}

/// When a key or an account ends. What does not end is null.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountForecastBody {
    /// Its quota.
    quota: Option<ForecastBody>,
    /// The limit of the present week, if it is reached before the week ends.
    week: Option<ForecastBody>,
    /// The limit of the present month, in the same way.
    month: Option<ForecastBody>,
}

impl AccountForecastBody {
    fn new(AccountForecast { quota, week, month }: AccountForecast, today: Day) -> Self {
        let [quota, week, month] =
            [quota, week, month].map(|forecast| forecast.map(|forecast| ForecastBody::new(forecast, today)));
        Self { quota, week, month }
    }
}

/// Forecasts. With fewer than three days of spend among the last seven full ones there is none.
#[derive(Debug, Serialize, ToSchema)]
pub struct ForecastsBody {
    /// Of the token; null without `token_id`, or with too little spend.
    token: Option<AccountForecastBody>,
    /// Of the account, by the spend of all its tokens; null with too little spend.
    account: Option<AccountForecastBody>,
}

impl ForecastsBody {
    fn new(Forecasted { token, account }: Forecasted, today: Day) -> Self {
        let body = |forecast: Option<AccountForecast>| forecast.map(|one| AccountForecastBody::new(one, today));
        Self { token: body(token), account: body(account) }
    }
}

/// When your wallet and its limits end, and a token with its limits, at the pace of the last seven full days.
#[utoipa::path(get, path = "/api/usage/forecast", operation_id = "show_forecast", tag = "usage", params(ForecastQuery),
    responses((status = 200, body = Envelope<ForecastsBody>)))]
pub async fn show_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<ForecastQuery>,
) -> Result<Envelope<ForecastsBody>, Fails<NotFound>> {
    let token = query_number("token_id", query.token_id.as_deref())?.map(TokenId::new);
    let at = app.ledger.now();
    let forecasted = app.forecasts.show(caller.user.id, token, &at).await?;
    Ok(Envelope::of(ForecastsBody::new(forecasted, at.today)))
}

/// The same of any user, or of any token and its owner.
#[utoipa::path(get, path = "/api/admin/usage/forecast", operation_id = "show_anyones_forecast", tag = "administration",
    params(AnyUserForecastQuery), responses((status = 200, body = Envelope<ForecastsBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<AnyUserForecastQuery>,
) -> Result<Envelope<ForecastsBody>, Fails<NotFound>> {
    let token = query_number("token_id", query.token_id.as_deref())?.map(TokenId::new);
    let user = query_number("user_id", query.user_id.as_deref())?.map(UserId::new);
    let at = app.ledger.now();
    let forecasted = app.forecasts.show_any_user(user, token, &at).await?;
    Ok(Envelope::of(ForecastsBody::new(forecasted, at.today)))
}
