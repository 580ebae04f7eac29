//! Tokens as CSV, for spreadsheets (spec §15.4). Their keys are never in it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::administration::OwnedTokenBody;
use super::chosen::{FilterBody, choose};
use crate::api::auth::{Admin, ApiUser};
use crate::api::csv::{Format, cells, csv};
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InvalidFilter, InvalidIds, InvalidSearch, MissingField, NotFound, RangeTooLarge, RateLimited,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::api::limits::NO_LIMIT;
use crate::api::member_names::{CheckedJson, MemberNames};
use crate::api::state::AppState;
use crate::domain::calendar::{Moment, Period};
use crate::domain::caller::Caller;
use crate::domain::id::UserId;
use crate::domain::money::Quota;
use crate::domain::token::OwnedToken;

const COLUMNS: &str = "id,user_id,username,name,masked_key,state,state_until,status,group,created_time,accessed_time,\
    expired_time,unlimited_quota,remain_quota,used_quota,day_limit,week_limit,month_limit,requests_per_minute,\
    tokens_per_minute,concurrency,model_limits_enabled,model_limits,allow_ips,note";

/// A line of the file.
#[derive(Serialize)]
struct LineBody {
    #[serde(flatten)]
    token: OwnedTokenBody,
    day_limit: i64,
    week_limit: i64,
    month_limit: i64,
}

impl LineBody {
    fn new(owned: &OwnedToken, at: &Moment, app: &AppState) -> Self {
        let limit = |period| owned.token.account.period_limits.get(period).map_or(NO_LIMIT, Quota::get);
        Self {
            token: OwnedTokenBody::new(owned, at, app),
            day_limit: limit(Period::Day),
            week_limit: limit(Period::Week),
            month_limit: limit(Period::Month),
        }
    }
}

/// Tokens to save as a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportBody {
    /// 1 to 1,000 ids. Repeated ids count once. Either this or `filter`.
    ids: Option<Vec<i64>>,
    /// All tokens that match, 10,000 at most.
    #[schema(value_type = Option<FilterBody>)]
    filter: Option<Box<RawValue>>,
    /// Only tokens of this user; for administrators.
    user_id: Option<i64>,
    /// `csv` (default), or `csv-bom`, which begins with a byte order mark for Excel.
    format: Option<String>,
}

impl MemberNames for ExportBody {}

type ExportErrors = (InvalidIds, MissingField, InvalidSearch, InvalidFilter, RangeTooLarge, RateLimited, NotFound);

/// The table of the tokens that a body names, of `owner` or of all users.
async fn answer(
    body: ExportBody,
    caller: &Caller,
    owner: Option<UserId>,
    app: Arc<AppState>,
) -> Result<Response, ApiError> {
    let ExportBody { ids, filter, format, .. } = body;
    let bom = match Format::parse(format.as_deref().or(Some("csv")))? {
        Format::Csv { bom } => bom,
        Format::Json => return Err(ApiError::new(ErrorCode::InvalidFilter, "`format` must be `csv` or `csv-bom`")),
    };
    let chosen = choose(ids, filter.as_deref(), app.tokens.groups())?;
    let tokens = app.tokens.export(caller, owner, &chosen).await?;
    let at = app.ledger.now();
    let rows = tokens.into_iter().map(move |owned| cells(COLUMNS, &LineBody::new(&owned, &at, &app)));
    Ok(csv("keys.csv", COLUMNS, rows, bom))
}

/// Save up to 1,000 of your tokens, or all that match, as CSV, without their keys.
#[utoipa::path(post, path = "/api/token/export", operation_id = "export_tokens", tag = "tokens",
    request_body = ExportBody, responses((status = 200, body = String, content_type = "text/csv")))]
pub async fn own(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    CheckedJson(body): CheckedJson<ExportBody>,
) -> Result<Response, Fails<ExportErrors>> {
    if body.user_id.is_some_and(|id| id != caller.user.id.get()) {
        return Err(ApiError::new(ErrorCode::InvalidFilter, "`user_id` is for administrators; leave it out").into());
    }
    Ok(answer(body, &caller, Some(caller.user.id), app).await?)
}

/// Save up to 1,000 tokens of any users, or all that match, as CSV, without their keys.
#[utoipa::path(post, path = "/api/admin/tokens/export", operation_id = "export_any_tokens", tag = "administration",
    request_body = ExportBody, responses((status = 200, body = String, content_type = "text/csv")))]
pub async fn any_users(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    CheckedJson(body): CheckedJson<ExportBody>,
) -> Result<Response, Fails<ExportErrors>> {
    let owner = body.user_id.map(UserId::new);
    Ok(answer(body, &admin, owner, app).await?)
}
