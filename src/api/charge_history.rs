//! Single charges as the rows of a log, in the shape that other APIs of this family answer.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::api_error::ApiError;
use super::auth::{KeyHolder, SignedIn};
use super::envelope::{Envelope, NoStore};
use super::error_code::codes::RateLimited;
use super::extract::{ClientIp, Query, query_number};
use super::page::{ListAnswer, PageBody};
use super::refused::Refused;
use super::state::AppState;
use crate::domain::charge_history::{ChargeFilter, PastCharge, Spend};
use crate::domain::money::Quota;
use crate::domain::page::{Page, PageRequest};
use crate::domain::time::UnixTime;
use crate::service::charge_history::ChargeHistoryError;
use crate::service::key_holders::KeyHolderError;
use crate::service::report_queue::ReportRefused;

/// The type of a row that is a charge. The other types of this API family (top-up, management, system, error, refund)
/// are not kept here.
const CONSUMPTION: i64 = 2;

/// A charge. The members that Keymeter does not know are empty or 0.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogBody {
    /// ID of the charge.
    id: i64,
    /// Unix timestamp.
    created_at: i64,
    /// Always 2, consumption.
    r#type: i64,
    /// Always empty.
    content: &'static str,
    /// The owner's name.
    username: String,
    /// The token's name.
    token_name: String,
    /// Token ID.
    token_id: i64,
    /// The model that was used.
    model_name: String,
    /// The charged quota units.
    quota: i64,
    /// Input tokens.
    prompt_tokens: i64,
    /// Output tokens.
    completion_tokens: i64,
    /// Always 0.
    use_time: i64,
    /// Always false.
    is_stream: bool,
    /// Always 0.
    channel: i64,
    /// The token's group.
    group: String,
    /// Always empty.
    ip: &'static str,
    /// Always empty.
    request_id: &'static str,
    /// Always empty.
    other: &'static str,
}

impl LogBody {
    fn new(charge: PastCharge, username: &str) -> Self {
        Self {
            id: charge.id,
            created_at: charge.at.get(),
            r#type: CONSUMPTION,
            content: "",
            username: username.to_owned(),
            token_name: charge.token_name.as_str().to_owned(),
            token_id: charge.token_id.get(),
            model_name: charge.model,
            quota: charge.quota.get(),
            prompt_tokens: charge.prompt_tokens,
            completion_tokens: charge.completion_tokens,
            use_time: 0,
            is_stream: false,
            channel: 0,
            group: charge.group.as_str().to_owned(),
            ip: "",
            request_id: "",
            other: "",
        }
    }
}

/// What was spent.
#[derive(Debug, Serialize, ToSchema)]
pub struct SpendBody {
    /// Quota units of the range; without a range everything that the account ever spent.
    quota: i64,
    /// Requests in the last minute.
    rpm: i64,
    /// Input and output tokens in the last minute.
    tpm: i64,
}

impl From<Spend> for SpendBody {
    fn from(spend: Spend) -> Self {
        Self { quota: spend.quota.get(), rpm: spend.requests_per_minute, tpm: spend.tokens_per_minute }
    }
}

/// Which charges. An absent, empty or 0 parameter filters nothing.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LogQuery {
    /// 2, or 0 for all types. Other types have no rows.
    r#type: Option<String>,
    /// Unix timestamp of the first second.
    start_timestamp: Option<String>,
    /// Unix timestamp of the last second.
    end_timestamp: Option<String>,
    /// The exact name of the tokens.
    token_name: Option<String>,
    /// The exact name of the model.
    model_name: Option<String>,
}

impl LogQuery {
    /// The filter; `None` if nothing is filtered.
    fn filter(self) -> Result<Option<ChargeFilter>, ApiError> {
        let bound = |name: &str, text: Option<&str>| {
            Ok::<_, ApiError>(query_number(name, text)?.filter(|at| *at != 0).map(UnixTime::new))
        };
        let from = bound("start_timestamp", self.start_timestamp.as_deref())?;
        let to = bound("end_timestamp", self.end_timestamp.as_deref())?;
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (token_name, model) = (given(self.token_name), given(self.model_name));
        if from.is_none() && to.is_none() && token_name.is_none() && model.is_none() {
            return Ok(None);
        }
        let (from, to) = (from.unwrap_or(UnixTime::FIRST), to.unwrap_or(UnixTime::LAST));
        Ok(Some(ChargeFilter { from, to, token_name, model }))
    }

    /// Returns true if it asks for a type of which there are no rows.
    fn asks_for_other_types(&self) -> Result<bool, ApiError> {
        let kind = query_number("type", self.r#type.as_deref())?;
        Ok(!matches!(kind, None | Some(0 | CONSUMPTION)))
    }
}

/// The page to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LogPageQuery {
    /// Page number from 1; from 0 without `page_size` for tools of one-api (setting `compat.client`).
    p: Option<String>,
    /// Rows per page: 10 by default, 100 at most.
    page_size: Option<String>,
}

/// The newest charges of this API key, at most 1,000.
#[utoipa::path(get, path = "/api/log/token", operation_id = "log_of_key", tag = "drop-in",
    responses((status = 200, body = Envelope<Vec<LogBody>>)))]
pub async fn by_key(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
) -> Result<NoStore<Envelope<Vec<LogBody>>>, Refused<KeyHolderError>> {
    let (owner, charges) = app.charge_history.by_key(&key, ip).await?;
    Ok(NoStore(Envelope::of(charges.into_iter().map(|charge| LogBody::new(charge, &owner)).collect())))
}

/// The charges of all your tokens, newest first. Pages reach the newest 10,000; a shorter range finds older ones. With the
/// setting `compat.client`, `data` is an array (spec §14.1).
#[utoipa::path(get, path = "/api/log/self", operation_id = "log", tag = "drop-in", params(LogQuery, LogPageQuery),
    responses((status = 200, body = Envelope<PageBody<LogBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<LogQuery>,
    Query(page): Query<LogPageQuery>,
) -> Result<ListAnswer<LogBody>, Refused<(RateLimited, ReportRefused)>> {
    let is_of_one_api = app.one_api && page.page_size.is_none();
    let page = if is_of_one_api {
        PageRequest::from_zero(page.p.as_deref(), None)?
    } else {
        PageRequest::from_one(page.p.as_deref(), page.page_size.as_deref())?
    };
    let is_empty = query.asks_for_other_types()?;
    let filter = query.filter()?.unwrap_or(ChargeFilter::EVERYTHING);
    let charges: Page<PastCharge> =
        if is_empty { page.holding(Vec::new(), 0) } else { app.charge_history.list(&caller, filter, page).await? };
    let username = caller.user.username.as_str();
    Ok(ListAnswer::of(charges.map(|charge| LogBody::new(charge, username)), is_of_one_api))
}

/// What all your tokens spent.
#[utoipa::path(get, path = "/api/log/self/stat", operation_id = "log_stat", tag = "drop-in", params(LogQuery),
    responses((status = 200, body = Envelope<SpendBody>)))]
pub async fn spend(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<LogQuery>,
) -> Result<Envelope<SpendBody>, Refused<(RateLimited, ReportRefused)>> {
    let is_empty = query.asks_for_other_types()?;
    let filter = query.filter()?;
    let mut spend = app.charge_history.spend(&caller, filter).await?;
    if is_empty {
        spend.quota = Quota::ZERO;
    }
    Ok(Envelope::of(spend.into()))
}

impl From<ChargeHistoryError> for ApiError {
    fn from(error: ChargeHistoryError) -> Self {
        match error {
            ChargeHistoryError::RateLimited(limited) => limited.into(),
            ChargeHistoryError::Refused(refused) => refused.into(),
            ChargeHistoryError::Storage(storage) => storage.into(),
        }
    }
}
