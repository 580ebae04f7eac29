//! Single requests: which model, which address, which cost (spec §13.8).

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::api_error::ApiError;
use super::audit::{DaysQuery, without_control_characters};
use super::auth::{Admin, SignedIn};
use super::csv::{Csv, Format};
use super::envelope::Envelope;
use super::error_code::codes::{InvalidFilter, InvalidPage, InvalidRange, NotFound, RangeTooLarge};
use super::extract::{Query, query_number};
use super::refused::Refused;
use super::state::AppState;
use super::usage::Dollars;
use super::usage_reports::ReportUserQuery;
use crate::domain::id::{GatewayId, TokenId};
use crate::domain::page::PageRequest;
use crate::domain::request_history::{PagePlace, PastRequest, Position, RequestFilter, RequestPage};
use crate::domain::time::UnixTime;
use crate::service::report_queue::ReportRefused;

/// Which requests to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RequestsQuery {
    /// Only requests with this token.
    token_id: Option<String>,
    /// Only requests for this model.
    model: Option<String>,
    /// Only requests of this gateway.
    gateway_id: Option<String>,
    /// Only requests with this id: that of the gateway, or the one that it was answered.
    request_id: Option<String>,
}

impl RequestsQuery {
    fn token(&self) -> Result<Option<TokenId>, ApiError> {
        Ok(query_number("token_id", self.token_id.as_deref())?.map(TokenId::new))
    }

    fn filter(self, days: &DaysQuery, app: &AppState) -> Result<RequestFilter, ApiError> {
        let (from, before) = days.read(app)?;
        Ok(RequestFilter {
            from: from.unwrap_or(UnixTime::FIRST),
            to: before.map_or(UnixTime::LAST, |before| before.plus(-1)),
            gateway_id: query_number("gateway_id", self.gateway_id.as_deref())?.map(GatewayId::new),
            model: without_control_characters("model", self.model)?,
            request_id: without_control_characters("request_id", self.request_id)?,
        })
    }
}

/// Which part of the list to answer.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PlaceQuery {
    /// The `next` of the page before; absent for the newest requests.
    after: Option<String>,
    /// Requests per page: 10 by default, 100 at most.
    size: Option<String>,
    /// `json` (default), or `csv` for all matching requests, 50,000 at most.
    format: Option<String>,
}

impl PlaceQuery {
    fn read(&self) -> Result<PagePlace, ApiError> {
        let size = PageRequest::from_zero(None, self.size.as_deref())?.size();
        let after = match self.after.as_deref() {
            None | Some("") => Position::NEWEST,
            Some(text) => Position::parse(text)?,
        };
        Ok(PagePlace { after, size: usize::try_from(size).unwrap_or_default() })
    }
}

/// A request that was charged.
#[derive(Debug, Serialize, ToSchema)]
pub struct PastRequestBody {
    /// Charge ID.
    id: i64,
    /// Unix timestamp of the charge.
    at: i64,
    /// Token ID.
    token_id: i64,
    /// The present name of the token.
    token_name: String,
    /// The owner of the token.
    user_id: i64,
    /// The owner's username.
    username: String,
    /// The model, as the gateway named it; empty if it named none.
    model: String,
    /// What was charged, quota units.
    quota: i64,
    /// The same in USD.
    usd: Dollars,
    /// The part of the cost that neither the key nor the wallet could cover, quota units.
    shortfall: i64,
    /// Input tokens.
    prompt_tokens: i64,
    /// Output tokens.
    completion_tokens: i64,
    /// The end client's address; null if the gateway did not send it.
    ip: Option<String>,
    /// The gateway's id of the request, or the one that it was answered; null for charges of older versions.
    request_id: Option<String>,
    /// The reservation that was settled, as its gateway knows it; null for a charge without one.
    reservation_id: Option<String>,
    /// The gateway that charged it.
    gateway_id: Option<i64>,
    /// The name of the gateway; null if it was revoked.
    gateway_name: Option<String>,
}

impl From<PastRequest> for PastRequestBody {
    fn from(request: PastRequest) -> Self {
        let reservation_id = request.reservation().map(|reservation| reservation.to_string());
        Self {
            id: request.id,
            at: request.at.get(),
            token_id: request.token_id.get(),
            token_name: request.token_name,
            user_id: request.user_id.get(),
            username: request.username,
            model: request.model,
            quota: request.quota.get(),
            usd: Dollars::from(request.quota.usd()),
            shortfall: request.shortfall.get(),
            prompt_tokens: request.prompt_tokens,
            completion_tokens: request.completion_tokens,
            ip: request.ip,
            request_id: request.request_id,
            reservation_id,
            gateway_id: request.gateway_id.map(GatewayId::get),
            gateway_name: request.gateway_name,
        }
    }
}

/// A part of a list of requests.
#[derive(Debug, Serialize, ToSchema)]
pub struct RequestsBody {
    /// Newest first. With filters there can be fewer than `size`, even none, although `next` is not null.
    items: Vec<PastRequestBody>,
    /// `after` of the next page; null on the last one.
    next: Option<String>,
}

impl From<RequestPage> for RequestsBody {
    fn from(page: RequestPage) -> Self {
        Self {
            items: page.requests.into_iter().map(PastRequestBody::from).collect(),
            next: page.next.map(|next| next.to_string()),
        }
    }
}

/// Why no requests are answered.
type RequestsRefused = (InvalidRange, InvalidPage, InvalidFilter, RangeTooLarge, NotFound, ReportRefused);

fn page_of(page: RequestPage) -> Response {
    Envelope::of(RequestsBody::from(page)).into_response()
}

fn csv_of(requests: Vec<PastRequest>) -> Response {
    let columns = [
        "id",
        "at",
        "user_id",
        "username",
        "token_id",
        "token_name",
        "model",
        "prompt_tokens",
        "completion_tokens",
        "quota",
        "usd",
        "shortfall",
        "ip",
        "request_id",
        "reservation_id",
        "gateway_id",
        "gateway_name",
    ];
    let mut csv = Csv::new("requests.csv", &columns);
    for request in requests {
        let (usd, body) = (request.quota.usd(), PastRequestBody::from(request));
        csv.push(&[
            body.id.to_string(),
            body.at.to_string(),
            body.user_id.to_string(),
            body.username,
            body.token_id.to_string(),
            body.token_name,
            body.model,
            body.prompt_tokens.to_string(),
            body.completion_tokens.to_string(),
            body.quota.to_string(),
            usd.to_string(),
            body.shortfall.to_string(),
            body.ip.unwrap_or_default(),
            body.request_id.unwrap_or_default(),
            body.reservation_id.unwrap_or_default(),
            body.gateway_id.map(|id| id.to_string()).unwrap_or_default(),
            body.gateway_name.unwrap_or_default(),
        ]);
    }
    csv.into_response()
}

/// Single requests that were charged to your tokens, deleted ones included; newest first (spec §13.8).
#[utoipa::path(get, path = "/api/usage/requests", operation_id = "list_usage_requests", tag = "usage",
    params(RequestsQuery, DaysQuery, PlaceQuery),
    responses((status = 200, content((Envelope<RequestsBody> = "application/json"), (String = "text/csv")))))]
pub async fn list_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<RequestsQuery>,
    Query(days): Query<DaysQuery>,
    Query(place): Query<PlaceQuery>,
) -> Result<Response, Refused<RequestsRefused>> {
    let (token, format, place) = (query.token()?, Format::parse(place.format.as_deref())?, place.read()?);
    let filter = query.filter(&days, &app)?;
    Ok(match format {
        Format::Json => page_of(app.request_history.list_own(&caller, token, filter, place).await?),
        Format::Csv => csv_of(app.request_history.export_own(&caller, token, filter).await?),
    })
}

/// Single requests that were charged to everyone, to one user or to one token; newest first.
#[utoipa::path(get, path = "/api/admin/usage/requests", operation_id = "list_everyones_usage_requests", tag = "administration",
    params(RequestsQuery, ReportUserQuery, DaysQuery, PlaceQuery),
    responses((status = 200, content((Envelope<RequestsBody> = "application/json"), (String = "text/csv")))))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    Admin(caller): Admin,
    Query(query): Query<RequestsQuery>,
    Query(user): Query<ReportUserQuery>,
    Query(days): Query<DaysQuery>,
    Query(place): Query<PlaceQuery>,
) -> Result<Response, Refused<RequestsRefused>> {
    let (scope, format) = (user.scope(query.token()?)?, Format::parse(place.format.as_deref())?);
    let (place, filter) = (place.read()?, query.filter(&days, &app)?);
    Ok(match format {
        Format::Json => page_of(app.request_history.list(&caller, scope, filter, place).await?),
        Format::Csv => csv_of(app.request_history.export(&caller, scope, filter).await?),
    })
}
