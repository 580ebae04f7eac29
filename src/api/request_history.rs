//! Single requests: which model, which address, which cost (spec §13.8).

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::{Admin, KeyHolder, SignedIn};
use super::csv::{Format, cells, csv};
use super::envelope::{Envelope, NoStore};
use super::extract::{ClientIp, Query, query_number, query_text};
use super::limits::ExceededBody;
use super::outlook::OutlookBody;
use super::request_details::ChargeDetailsBody;
use super::state::AppState;
use super::units::UnitsBody;
use super::usage::Dollars;
use super::usage_reports::ReportUserQuery;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{InvalidFilter, InvalidPage, InvalidRange, NotFound, RangeTooLarge};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::date_range::TimeRange;
use crate::domain::id::{GatewayId, TokenId};
use crate::domain::ledger::RefusalReason;
use crate::domain::money::Quota;
use crate::domain::page::PageRequest;
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::domain::prices::unit::{INPUT_TOKENS, OUTPUT_TOKENS};
use crate::domain::prices::units::Units;
use crate::domain::request_history::{
    OutcomeKind, PagePlace, PastOutcome, PastRequest, Position, RequestFilter, RequestPage,
};
use crate::domain::scope::Viewer;
use crate::domain::time::UnixTime;
use crate::domain::user::User;
use crate::service::key_holders::KeyHolderError;
use crate::service::report_queue::ReportQueueFull;

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
    /// Only requests with this id: that of the gateway, or the one that it was answered. Without `from` and `to`, those
    /// of all days are found at once.
    request_id: Option<String>,
    /// `charged`, `refused`, or `imported` (charged by another service, before an import); all by default.
    outcome: Option<String>,
    /// Only requests that were refused for this reason, an error code such as `token_exhausted`.
    reason: Option<String>,
    /// Only the request with this `id`.
    id: Option<String>,
}

impl RequestsQuery {
    fn token(&self) -> Result<Option<TokenId>, ApiError> {
        Ok(query_number("token_id", self.token_id.as_deref())?.map(TokenId::new))
    }

    fn filter(self, times: &TimesQuery, app: &AppState) -> Result<RequestFilter, ApiError> {
        let TimeRange { from, to } = times.read(app)?;
        Ok(RequestFilter {
            from: from.unwrap_or(UnixTime::FIRST),
            to: to.unwrap_or(UnixTime::LAST),
            gateway_id: query_number("gateway_id", self.gateway_id.as_deref())?.map(GatewayId::new),
            model: query_text("model", self.model)?,
            request_id: query_text("request_id", self.request_id)?,
            outcomes: given(
                self.outcome.as_deref(),
                OutcomeKind::parse,
                "`outcome` must be `charged`, `refused` or `imported`",
            )?
            .map_or(&OutcomeKind::ALL, OutcomeKind::alone),
            reason: given(
                self.reason.as_deref(),
                RefusalReason::parse,
                "`reason` must be the error code of a refusal, such as `token_exhausted`",
            )?,
            only: given(
                self.id.as_deref(),
                |text| Position::parse(text).ok(),
                "`id` must be the `id` of a request in this list",
            )?,
            token_name: None,
        })
    }
}

/// Of which time. Days are those of `usage.time_zone`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TimesQuery {
    /// First day, YYYY-MM-DD, or first second, a Unix timestamp. Default: all before `to`.
    from: Option<String>,
    /// Last day, YYYY-MM-DD, or last second, a Unix timestamp; included. Default: all after `from`.
    to: Option<String>,
}

impl TimesQuery {
    fn read(&self, app: &AppState) -> Result<TimeRange, ApiError> {
        Ok(TimeRange::parse(self.from.as_deref(), self.to.as_deref(), app.ledger.now().calendar)?)
    }
}

/// The value of a parameter that is absent, empty, or one of some texts.
fn given<T>(text: Option<&str>, parse: impl FnOnce(&str) -> Option<T>, otherwise: &str) -> Result<Option<T>, ApiError> {
    match text {
        None | Some("") => Ok(None),
        Some(text) => parse(text).map(Some).ok_or_else(|| ApiError::new(ErrorCode::InvalidFilter, otherwise)),
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

/// A request that was charged or refused.
#[derive(Debug, Serialize, ToSchema)]
pub struct PastRequestBody {
    /// Finds this request again: `id` of this list.
    id: String,
    /// Unix timestamp.
    at: i64,
    /// `charged` or `refused`.
    outcome: &'static str,
    /// Token ID; null if no key of this service was sent.
    token_id: Option<i64>,
    /// The present name of the token; null if no key of this service was sent.
    token_name: Option<String>,
    /// The owner of the token; null if no key of this service was sent.
    user_id: Option<i64>,
    /// The owner's username; null if no key of this service was sent.
    username: Option<String>,
    /// The model, as the gateway named it; empty if it named none.
    model: String,
    /// What was charged, quota units; 0 for a refused request.
    quota: i64,
    /// The same in USD.
    usd: Dollars,
    /// The part of the cost that neither the key nor the wallet could cover, quota units.
    shortfall: i64,
    /// Input tokens.
    prompt_tokens: i64,
    /// Output tokens.
    completion_tokens: i64,
    /// All that was counted, by unit; those with 0 are left out. Null if it was refused.
    units: Option<UnitsBody>,
    /// What decided the amount: `units`, `told` or `hold`; null if it was not charged here.
    priced_by: Option<&'static str>,
    /// Why it was the hold of its reservation, as the gateway was answered.
    hold_reason: Option<&'static str>,
    /// The end client's address or its network; null if the gateway did not send it or it is not stored.
    ip: Option<String>,
    /// The gateway's id of the request, or the one that it was answered; null if there is none.
    request_id: Option<String>,
    /// The reservation that was settled, as its gateway knows it; null for a charge without one.
    reservation_id: Option<String>,
    /// The gateway that sent it.
    gateway_id: Option<i64>,
    /// The name of the gateway; null if it was revoked.
    gateway_name: Option<String>,
    /// Why it was refused.
    refusal: Option<RefusalBody>,
    /// What else is known of a charge; only if it was asked for by `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<ChargeDetailsBody>,
}

/// Why a request was refused.
#[derive(Debug, Serialize, ToSchema)]
pub struct RefusalBody {
    /// The error code, as the gateway was answered.
    reason: &'static str,
    /// The sentence that the gateway was answered.
    message: String,
    /// What was asked for: `verify`, `forward_auth`, `charge`, `reserve` or `extend`.
    call: &'static str,
    /// The amount that was asked for, quota units; null if none was.
    requested: Option<i64>,
    /// The period limit that refused it.
    #[serde(flatten)]
    exceeded: ExceededBody,
    /// Seconds after which a retry could succeed; null if time alone could not help.
    retry_after: Option<i64>,
    /// How many more were refused like this in the same minute and are not listed.
    suppressed: i64,
    #[serde(flatten)]
    outlook: OutlookBody,
}

impl From<PastRequest> for PastRequestBody {
    fn from(request: PastRequest) -> Self {
        let reservation_id = request.reservation().map(|reservation| reservation.to_string());
        let position = request.position();
        let (token_id, token_name, user_id, username) = match request.token {
            Some(token) => (Some(token.id.get()), Some(token.name), Some(token.user_id.get()), Some(token.username)),
            None => (None, None, None, None),
        };
        let tokens = |units: &Units, unit| units.tokens(unit).unwrap_or(0);
        let mut details = None;
        let (quota, shortfall, units, priced_by, refusal) = match request.outcome {
            PastOutcome::Charged { quota, shortfall, units, priced_by, details: known, .. } => {
                details = known.map(|known| ChargeDetailsBody::new(&known, quota, shortfall, &units));
                (quota, shortfall, units, Some(priced_by), None)
            }
            PastOutcome::Refused { call, refusal, quota, suppressed, outlook } => {
                let refusal = RefusalBody {
                    reason: refusal.reason.as_str(),
                    message: refusal.to_string(),
                    call: call.as_str(),
                    requested: quota.map(Quota::get),
                    exceeded: refusal.exceeded().into(),
                    retry_after: refusal.retry_after(),
                    suppressed,
                    outlook: outlook.into(),
                };
                (Quota::ZERO, Quota::ZERO, Units::default(), None, Some(refusal))
            }
            PastOutcome::Imported { quota, units } => (quota, Quota::ZERO, units, None, None),
        };
        Self {
            id: position.to_string(),
            at: request.at.get(),
            outcome: position.kind.as_str(),
            token_id,
            token_name,
            user_id,
            username,
            model: request.model,
            quota: quota.get(),
            usd: Dollars::from(quota.usd()),
            shortfall: shortfall.get(),
            prompt_tokens: tokens(&units, INPUT_TOKENS),
            completion_tokens: tokens(&units, OUTPUT_TOKENS),
            units: refusal.is_none().then(|| units.into()),
            priced_by: priced_by.map(PricedBy::as_str),
            hold_reason: priced_by.and_then(PricedBy::hold_reason).map(HoldReason::as_str),
            ip: request.ip,
            request_id: request.request_id,
            reservation_id,
            gateway_id: request.gateway_id.map(GatewayId::get),
            gateway_name: request.gateway_name,
            refusal,
            details,
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
    /// If no charge with the `request_id` was found, and not all were searched: the Unix timestamp since which all
    /// were. Days whose charges have an index by their ids were searched as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched_from: Option<i64>,
}

impl From<RequestPage> for RequestsBody {
    fn from(page: RequestPage) -> Self {
        Self {
            items: page.requests.into_iter().map(PastRequestBody::from).collect(),
            next: page.next.map(|next| next.to_string()),
            searched_from: page.searched_from.map(UnixTime::get),
        }
    }
}

/// Why no requests are answered.
type RequestsErrors = (InvalidRange, InvalidPage, InvalidFilter, RangeTooLarge, NotFound, ReportQueueFull);

/// A page, or all as a file.
async fn answer(
    viewer: Viewer,
    reader: &User,
    query: RequestsQuery,
    times: TimesQuery,
    place: PlaceQuery,
    app: &AppState,
) -> Result<Response, Fails<RequestsErrors>> {
    let (format, place) = (Format::parse(place.format.as_deref())?, place.read()?);
    let filter = query.filter(&times, app)?;
    Ok(match format {
        Format::Json => {
            let page = app.request_history.list(viewer, reader, filter, place).await?;
            Envelope::of(RequestsBody::from(page)).into_response()
        }
        Format::Csv { bom } => csv_of(app.request_history.export(viewer, filter).await?, bom),
    })
}

fn csv_of(requests: Vec<PastRequest>, bom: bool) -> Response {
    let columns = "id,at,outcome,user_id,username,token_id,token_name,model,prompt_tokens,completion_tokens,quota,usd,\
        shortfall,reason,message,call,requested,suppressed,ip,request_id,reservation_id,gateway_id,\
        gateway_name,units,priced_by,hold_reason";
    let rows = requests.into_iter().map(move |request| cells(columns, &PastRequestBody::from(request)));
    csv("requests.csv", columns, rows, bom)
}

/// Single requests with your tokens, deleted ones included, that were charged or refused; newest first (spec §13.8). Of
/// refused requests these are samples.
#[utoipa::path(get, path = "/api/usage/requests", operation_id = "list_usage_requests", tag = "usage",
    params(RequestsQuery, TimesQuery, PlaceQuery),
    responses((status = 200, content((Envelope<RequestsBody> = "application/json"), (String = "text/csv")))))]
pub async fn list_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<RequestsQuery>,
    Query(times): Query<TimesQuery>,
    Query(place): Query<PlaceQuery>,
) -> Result<Response, Fails<RequestsErrors>> {
    answer(Viewer::Owner(caller.user.id, query.token()?), &caller.user, query, times, place, &app).await
}

/// Which requests of a key to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KeyRequestsQuery {
    /// Only requests for this model.
    model: Option<String>,
    /// Only requests with this id: that of the gateway, or the one that it was answered. Without `from` and `to`, those
    /// of all days are found at once.
    request_id: Option<String>,
    /// `charged` or `refused`; both by default.
    outcome: Option<String>,
    /// The `next` of the page before; absent for the newest requests.
    after: Option<String>,
    /// Requests per page: 10 by default, 100 at most.
    size: Option<String>,
}

/// Single requests with this API key that were charged or refused; newest first. Addresses are left out.
#[utoipa::path(get, path = "/api/usage/token/requests", operation_id = "list_requests_of_key", tag = "usage",
    params(KeyRequestsQuery, TimesQuery), responses((status = 200, body = Envelope<RequestsBody>)))]
pub async fn list_of_key(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
    Query(query): Query<KeyRequestsQuery>,
    Query(times): Query<TimesQuery>,
) -> Result<
    NoStore<Envelope<RequestsBody>>,
    Fails<(KeyHolderError, InvalidRange, InvalidPage, InvalidFilter, ReportQueueFull)>,
> {
    let KeyRequestsQuery { model, request_id, outcome, after, size } = query;
    let place = PlaceQuery { after, size, format: None }.read()?;
    let query = RequestsQuery { model, request_id, outcome, token_id: None, gateway_id: None, reason: None, id: None };
    let filter = query.filter(&times, &app)?;
    let page = app.request_history.list_of_key(&key, ip, filter, place).await?;
    Ok(NoStore(Envelope::of(RequestsBody::from(page))))
}

/// Single requests of everyone, of one user or with one token that were charged or refused; newest first. Of refused
/// requests these are samples.
#[utoipa::path(get, path = "/api/admin/usage/requests", operation_id = "list_everyones_usage_requests", tag = "administration",
    params(RequestsQuery, ReportUserQuery, TimesQuery, PlaceQuery),
    responses((status = 200, content((Envelope<RequestsBody> = "application/json"), (String = "text/csv")))))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    Admin(caller): Admin,
    Query(query): Query<RequestsQuery>,
    Query(user): Query<ReportUserQuery>,
    Query(times): Query<TimesQuery>,
    Query(place): Query<PlaceQuery>,
) -> Result<Response, Fails<RequestsErrors>> {
    let scope = user.scope(query.token()?)?;
    answer(Viewer::Admin(caller.user.id, scope), &caller.user, query, times, place, &app).await
}
