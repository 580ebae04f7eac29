//! Usage over longer ranges, grouped (spec §13.6).

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

use super::auth::{Admin, SignedIn};
use super::csv::Format;
use super::envelope::Envelope;
use super::extract::{Query, query_number};
use super::page::PageQuery;
use super::report_bodies::{ReportBody, csv_of};
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{InvalidFilter, InvalidRange, NotFound, RangeTooLarge};
use crate::api::errors::codes_of;
use crate::api::errors::fails::{CodeList, CodesByStatus, Fails};
use crate::api::errors::failure::ApiError;
use crate::domain::id::{TokenId, UserId};
use crate::domain::page::PageRequest;
use crate::domain::scope::{Scope, Viewer};
use crate::domain::time::Day;
use crate::domain::usage_report::UsageReport;
use crate::domain::usage_report_request::{Comparison, Dimension, Grouping, ReportInvalid, ReportRequest, ReportSpan};
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

impl SpanQuery {
    fn request(
        &self,
        query: &ReportQuery,
        compare: &CompareQuery,
        grouping: Grouping,
        app: &AppState,
    ) -> Result<ReportRequest, ApiError> {
        let (from, to) = (self.from.as_deref(), self.to.as_deref());
        let today = |zone| app.usage_reports.today(zone);
        let (span, zone) = ReportSpan::resolve_in(query.tz.as_deref(), from, to, &grouping, today)?;
        let compared = [&compare.compare_from, &compare.compare_to, &compare.sort].map(Option::as_deref);
        let comparison = Comparison::parse(compared, zone, &grouping)?;
        Ok(ReportRequest { span, zone, grouping, comparison })
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
    /// A time zone whose days these are, such as `Europe/Berlin`, for at most 31 days; summed from single charges.
    /// Default: that of the service, `usage.time_zone`.
    tz: Option<String>,
    /// `day` (default), `month`, `token`, `group` (the present one of the token, or its owner's) and `model`, and for
    /// administrators `user` and `gateway`; several are separated by commas. Also `hour`, summed from single charges,
    /// for at most 2 days, which is the default then. Without `hour`, `day` and `month`, the highest spend comes first.
    group_by: Option<String>,
    /// `json` (default) or `csv`.
    format: Option<String>,
}

/// What to compare the usage with.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// First day of another range, YYYY-MM-DD: each row has what was used then, and the change. Not grouped by `hour`,
    /// `day` or `month`.
    compare_from: Option<String>,
    /// Last day of the other range, included. Needed with `compare_from`.
    compare_to: Option<String>,
    /// `change`: the largest change of spend first, up or down. Default: the highest spend first.
    sort: Option<String>,
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

fn answer(report: UsageReport, format: Format, page: Option<PageRequest>, app: &AppState) -> Response {
    match format {
        Format::Json => {
            let zone = report.zone.map_or_else(|| app.settings.time_zone.clone(), |zone| zone.name().to_owned());
            Envelope::of(ReportBody::new(&report, page, zone)).into_response()
        }
        Format::Csv { bom } => csv_of(report, bom),
    }
}

/// Usage of your tokens, deleted ones included, over at most 366 days. All rows, or a page of them if one is asked for;
/// CSV always has all.
#[utoipa::path(get, path = "/api/usage", operation_id = "show_usage", tag = "usage",
    params(SpanQuery, ReportQuery, CompareQuery, PageQuery),
    responses((status = 200, content((Envelope<ReportBody> = "application/json"), (String = "text/csv")))))]
pub async fn show_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(days): Query<SpanQuery>,
    Query(query): Query<ReportQuery>,
    Query(compare): Query<CompareQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Fails<(ReportInvalid, ReportQueueFull, NotFound)>> {
    let (format, page) = (Format::parse(query.format.as_deref())?, page.read_if_given(app.settings.first_page)?);
    let request = days.request(&query, &compare, Grouping::parse(query.group_by.as_deref())?, &app)?;
    let report = app.usage_reports.show(Viewer::Owner(caller.user.id, days.token()?), request).await?;
    Ok(answer(report, format, page, &app))
}

/// Usage of everyone, of one user or of one token, over at most 366 days. All rows, or a page of them if one is asked
/// for; CSV always has all.
#[utoipa::path(get, path = "/api/admin/usage", operation_id = "show_everyones_usage", tag = "administration",
    params(SpanQuery, ReportQuery, CompareQuery, ReportUserQuery, PageQuery),
    responses((status = 200, content((Envelope<ReportBody> = "application/json"), (String = "text/csv")))))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    Admin(caller): Admin,
    Query(days): Query<SpanQuery>,
    Query(query): Query<ReportQuery>,
    Query(compare): Query<CompareQuery>,
    Query(user): Query<ReportUserQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Fails<(ReportInvalid, ReportQueueFull, NotFound)>> {
    let (format, page) = (Format::parse(query.format.as_deref())?, page.read_if_given(app.settings.first_page)?);
    let request = days.request(&query, &compare, Grouping::parse_all_users(query.group_by.as_deref())?, &app)?;
    let scope = user.scope(days.token()?)?;
    if matches!(scope, Scope::Token(_)) && request.grouping.has(Dimension::Gateway) {
        return Err(ReportInvalid::TokenByGateway.into());
    }
    let report = app.usage_reports.show(Viewer::Admin(caller.user.id, scope), request).await?;
    Ok(answer(report, format, page, &app))
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
        TooManyDaysByHour => RangeTooLarge,
        Zone => InvalidFilter,
        Grouping => InvalidFilter,
        AllUsersGrouping => InvalidFilter,
        TokenByGateway => InvalidFilter,
        HalfComparison => InvalidRange,
        CompareFrom(_) => InvalidRange,
        CompareTo(_) => InvalidRange,
        ReversedComparison => InvalidRange,
        ComparisonByTime => InvalidFilter,
        Sort => InvalidFilter,
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
