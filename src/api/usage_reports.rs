//! Usage over longer ranges, grouped (spec §13.6).

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::{Admin, SignedIn};
use super::csv::{Format, cells, csv};
use super::envelope::Envelope;
use super::extract::{Query, query_number};
use super::state::AppState;
use super::usage::Dollars;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{InvalidFilter, InvalidRange, NotFound, RangeTooLarge};
use crate::api::errors::codes_of;
use crate::api::errors::fails::{CodeList, CodesByStatus, Fails};
use crate::api::errors::failure::ApiError;
use crate::domain::id::{GatewayId, TokenId, UserId};
use crate::domain::scope::{Scope, Viewer};
use crate::domain::time::Day;
use crate::domain::usage_report::{
    Amounts, Dimension, Grouping, ReportInvalid, ReportRequest, ReportRow, ReportSpan, UsageReport,
};
use crate::service::report_queue::ReportQueueFull;
use crate::service::usage_reports::UsageReportsError;

/// Which days, and which token.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SpanQuery {
    /// First day, YYYY-MM-DD. Default: 30 days until `to`. At most 366 days.
    from: Option<String>,
    /// Last day, YYYY-MM-DD, included. Default: today.
    to: Option<String>,
    /// Only this token.
    token_id: Option<String>,
}

/// In which time zone.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ZoneQuery {
    /// A time zone whose days these are, such as `Europe/Berlin`, for at most 31 days; summed from single charges.
    /// Default: that of the service, `usage.time_zone`.
    tz: Option<String>,
}

impl SpanQuery {
    fn request(&self, zone: &ZoneQuery, grouping: Grouping, app: &AppState) -> Result<ReportRequest, ApiError> {
        let (from, to) = (self.from.as_deref(), self.to.as_deref());
        let (span, zone) = ReportSpan::resolve_in(zone.tz.as_deref(), from, to, |zone| app.usage_reports.today(zone))?;
        Ok(ReportRequest { span, zone, grouping })
    }

    pub(super) fn span(&self, today: Day) -> Result<ReportSpan, ApiError> {
        Ok(ReportSpan::resolve(self.from.as_deref(), self.to.as_deref(), today)?)
    }

    pub(super) fn token(&self) -> Result<Option<TokenId>, ApiError> {
        Ok(query_number("token_id", self.token_id.as_deref())?.map(TokenId::new))
    }
}

/// How to group the usage.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// `day` (default), `month`, `token` and `model`, and for administrators `user` and `gateway`; several are
    /// separated by commas. Without `day` and `month`, the highest spend comes first.
    group_by: Option<String>,
    /// `json` (default) or `csv`.
    format: Option<String>,
}

/// Whose usage, for administrators.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportUserQuery {
    /// Only the tokens of this user. Not together with `token_id`, which takes precedence.
    user_id: Option<String>,
}

impl ReportUserQuery {
    pub(super) fn scope(&self, token: Option<TokenId>) -> Result<Scope, ApiError> {
        let user = query_number("user_id", self.user_id.as_deref())?.map(UserId::new);
        Ok(match (token, user) {
            (Some(token), _) => Scope::Token(token),
            (None, Some(user)) => Scope::User(user),
            (None, None) => Scope::Everyone,
        })
    }
}

/// What was used.
#[derive(Debug, Serialize, ToSchema)]
pub struct AmountsBody {
    /// Spend, quota units.
    quota: i64,
    /// Spend, USD.
    usd: Dollars,
    /// Number of requests.
    requests: i64,
    /// Input tokens.
    prompt_tokens: i64,
    /// Output tokens.
    completion_tokens: i64,
}

impl From<Amounts> for AmountsBody {
    fn from(amounts: Amounts) -> Self {
        Self {
            quota: amounts.quota.get(),
            usd: Dollars::from(amounts.quota.usd()),
            requests: amounts.requests,
            prompt_tokens: amounts.prompt_tokens,
            completion_tokens: amounts.completion_tokens,
        }
    }
}

/// A line of a report. What it is not grouped by is absent.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::option_option, reason = "a gateway that is not known is null, which is not absent")]
pub struct ReportRowBody {
    /// YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// YYYY-MM.
    #[serde(skip_serializing_if = "Option::is_none")]
    month: Option<String>,
    /// User ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<i64>,
    /// The username.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    /// Token ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<i64>,
    /// The present name of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_name: Option<String>,
    /// The model, as the gateway named it; empty if it named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The gateway; null if there was none, or if it is not known any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway_id: Option<Option<i64>>,
    /// Its name; empty if it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway_name: Option<String>,
    #[serde(flatten)]
    amounts: AmountsBody,
}

/// Usage of a range of days, grouped.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportBody {
    /// The first day, YYYY-MM-DD.
    from: String,
    /// The last day, YYYY-MM-DD.
    to: String,
    /// The time zone of the days.
    time_zone: String,
    /// What the rows are grouped by.
    group_by: Vec<&'static str>,
    /// The sum of all rows.
    total: AmountsBody,
    /// By day or month, if grouped by it, else the highest spend first. Grouped by day alone, every day has a row.
    rows: Vec<ReportRowBody>,
}

impl ReportRowBody {
    fn new(report: &UsageReport, row: &ReportRow) -> Self {
        let has = |dimension| report.grouping.has(dimension);
        let gateway_name = row.gateway_id.and_then(|id| report.gateway_names.get(&id).cloned());
        Self {
            date: row.day.filter(|_| has(Dimension::Day)).map(|day| day.to_string()),
            month: row.day.filter(|_| has(Dimension::Month)).map(|day| day.date().format("%Y-%m").to_string()),
            user_id: row.user_id.map(UserId::get),
            username: row.user_id.map(|id| report.usernames.get(&id).cloned().unwrap_or_default()),
            token_id: row.token_id.map(TokenId::get),
            token_name: row.token_id.map(|id| report.token_names.get(&id).cloned().unwrap_or_default()),
            model: row.model.clone(),
            gateway_id: has(Dimension::Gateway).then(|| row.gateway_id.map(GatewayId::get)),
            gateway_name: has(Dimension::Gateway).then(|| gateway_name.unwrap_or_default()),
            amounts: row.amounts.into(),
        }
    }
}

impl ReportBody {
    fn new(report: &UsageReport, time_zone: String) -> Self {
        Self {
            rows: report.rows.iter().map(|row| ReportRowBody::new(report, row)).collect(),
            from: report.span.from.to_string(),
            to: report.span.to.to_string(),
            time_zone,
            group_by: report.grouping.dimensions().map(Dimension::as_str).collect(),
            total: report.total.into(),
        }
    }
}

/// The columns of the dimensions and the amounts.
fn csv_of(report: UsageReport, bom: bool) -> Response {
    let mut columns = String::new();
    for dimension in report.grouping.dimensions() {
        columns.push_str(match dimension {
            Dimension::Day => "date,",
            Dimension::Month => "month,",
            Dimension::User => "user_id,username,",
            Dimension::Token => "token_id,token_name,",
            Dimension::Model => "model,",
            Dimension::Gateway => "gateway_id,gateway_name,",
        });
    }
    columns.push_str("requests,prompt_tokens,completion_tokens,quota,usd");
    let header = columns.clone();
    let rows = (0..report.rows.len())
        .filter_map(move |at| report.rows.get(at).map(|row| cells(&columns, &ReportRowBody::new(&report, row))));
    csv("usage.csv", &header, rows, bom)
}

fn answer(report: UsageReport, format: Format, app: &AppState) -> Response {
    match format {
        Format::Json => {
            let zone = report.zone.map_or_else(|| app.settings.time_zone.clone(), |zone| zone.name().to_owned());
            Envelope::of(ReportBody::new(&report, zone)).into_response()
        }
        Format::Csv { bom } => csv_of(report, bom),
    }
}

/// Usage of your tokens, deleted ones included, over at most 366 days.
#[utoipa::path(get, path = "/api/usage", operation_id = "show_usage", tag = "usage", params(SpanQuery, ZoneQuery, ReportQuery),
    responses((status = 200, content((Envelope<ReportBody> = "application/json"), (String = "text/csv")))))]
pub async fn show_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(days): Query<SpanQuery>,
    Query(zone): Query<ZoneQuery>,
    Query(query): Query<ReportQuery>,
) -> Result<Response, Fails<(ReportInvalid, ReportQueueFull, NotFound)>> {
    let format = Format::parse(query.format.as_deref())?;
    let request = days.request(&zone, Grouping::parse(query.group_by.as_deref())?, &app)?;
    let report = app.usage_reports.show(Viewer::Owner(caller.user.id, days.token()?), request).await?;
    Ok(answer(report, format, &app))
}

/// Usage of everyone, of one user or of one token, over at most 366 days.
#[utoipa::path(get, path = "/api/admin/usage", operation_id = "show_everyones_usage", tag = "administration",
    params(SpanQuery, ZoneQuery, ReportQuery, ReportUserQuery),
    responses((status = 200, content((Envelope<ReportBody> = "application/json"), (String = "text/csv")))))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    Admin(caller): Admin,
    Query(days): Query<SpanQuery>,
    Query(zone): Query<ZoneQuery>,
    Query(query): Query<ReportQuery>,
    Query(user): Query<ReportUserQuery>,
) -> Result<Response, Fails<(ReportInvalid, ReportQueueFull, NotFound)>> {
    let format = Format::parse(query.format.as_deref())?;
    let request = days.request(&zone, Grouping::parse_all_users(query.group_by.as_deref())?, &app)?;
    let scope = user.scope(days.token()?)?;
    if matches!(scope, Scope::Token(_)) && request.grouping.has(Dimension::Gateway) {
        return Err(ReportInvalid::TokenByGateway.into());
    }
    let report = app.usage_reports.show(Viewer::Admin(caller.user.id, scope), request).await?;
    Ok(answer(report, format, &app))
}

codes_of! {
    UsageReportsError {
        TokenNotFound => NotFound,
        UserNotFound => NotFound,
        TooManyRows => RangeTooLarge,
        TooManyRequests => RangeTooLarge,
        TooManyRead => RangeTooLarge,
        TooMuchUsage => RangeTooLarge,
        ChargesDeleted(_) => RangeTooLarge,
        GatewaysUnknown(_) => RangeTooLarge,
        .. Key, RateLimited, Refused, Storage
    }
}

codes_of! {
    ReportInvalid {
        Range(_) => InvalidRange,
        TooManyDays => RangeTooLarge,
        TooManyDaysOfZone => RangeTooLarge,
        Zone => InvalidFilter,
        Grouping => InvalidFilter,
        AllUsersGrouping => InvalidFilter,
        TokenByGateway => InvalidFilter,
    }
}

impl From<ReportQueueFull> for ApiError {
    fn from(error: ReportQueueFull) -> Self {
        let failure = Self::new(ErrorCode::ReportsBusy, error.to_string());
        match error {
            ReportQueueFull::OwnLineFull => failure.with_status(StatusCode::TOO_MANY_REQUESTS),
            ReportQueueFull::LineFull => failure,
        }
    }
}

impl CodeList for ReportInvalid {
    fn add_to(codes: &mut CodesByStatus) {
        <(InvalidRange, RangeTooLarge, InvalidFilter)>::add_to(codes);
    }
}

impl CodeList for ReportQueueFull {
    fn add_to(codes: &mut CodesByStatus) {
        for status in [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE] {
            codes.entry(status).or_default().insert(ErrorCode::ReportsBusy);
        }
    }
}
