//! Single charges and refusals as the rows of a log, in the shape that other APIs of this family answer.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::auth::{KeyHolder, SignedIn};
use crate::api::dialects::one_api::{ListAnswer, ListClient};
use crate::api::envelope::{Envelope, NoStore};
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::RateLimited;
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::api::extract::{ClientIp, Query, query_number, query_text};
use crate::api::page::PageBody;
use crate::api::state::AppState;
use crate::domain::bounds;
use crate::domain::money::Quota;
use crate::domain::prices::unit::{INPUT_TOKENS, OUTPUT_TOKENS};
use crate::domain::prices::units::Units;
use crate::domain::request_history::{OutcomeKind, PastOutcome, PastRequest, RequestFilter};
use crate::domain::spend::Spend;
use crate::domain::time::UnixTime;
use crate::service::key_holders::KeyHolderError;
use crate::service::report_queue::ReportQueueFull;

/// The type of a row that is a charge, and that of a refusal. The other types of this API family (top-up, management,
/// system, refund) are not kept here.
const CONSUMPTION: i64 = 2;
const ERROR: i64 = 5;

/// A charge, or a refused request. The members that Keymeter does not know are empty or 0.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogBody {
    /// ID of the charge or the refusal.
    id: i64,
    /// Unix timestamp.
    created_at: i64,
    /// 2, consumption; or 5, error: a refused request.
    r#type: i64,
    /// Why it was refused; empty for a charge.
    content: String,
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

impl From<PastRequest> for LogBody {
    fn from(request: PastRequest) -> Self {
        let position = request.position();
        let (r#type, content, quota, units) = match request.outcome {
            PastOutcome::Charged { quota, units, .. } | PastOutcome::Imported { quota, units } => {
                (CONSUMPTION, String::new(), quota, units)
            }
            PastOutcome::Refused { refusal, .. } => (ERROR, refusal.to_string(), Quota::ZERO, Units::default()),
        };
        let (token_id, token_name, username) = match request.token {
            Some(token) => (token.id.get(), token.name, token.username),
            None => (0, String::new(), String::new()),
        };
        Self {
            id: position.id,
            created_at: position.at.get(),
            r#type,
            content,
            username,
            token_name,
            token_id,
            model_name: request.model,
            quota: quota.get(),
            prompt_tokens: units.tokens(INPUT_TOKENS).unwrap_or(0),
            completion_tokens: units.tokens(OUTPUT_TOKENS).unwrap_or(0),
            use_time: 0,
            is_stream: false,
            channel: 0,
            group: request.group.as_str().to_owned(),
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
    /// 2 for charges, also absent or 0; 5 for refused requests, of which samples are kept for a week. Other types have
    /// no rows.
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
    fn filter(self) -> Result<Option<RequestFilter>, ApiError> {
        let bound = |name: &str, text: Option<&str>| match query_number(name, text)? {
            Some(bounds::AFTER_LAST_SECOND..) => {
                let message = format!("`{name}` must be a Unix timestamp in seconds");
                Err(ApiError::new(ErrorCode::InvalidQuery, message))
            }
            at => Ok(at.filter(|at| *at != 0).map(UnixTime::new)),
        };
        let from = bound("start_timestamp", self.start_timestamp.as_deref())?;
        let to = bound("end_timestamp", self.end_timestamp.as_deref())?;
        let token_name = query_text("token_name", self.token_name)?;
        let model = query_text("model_name", self.model_name)?;
        if from.is_none() && to.is_none() && token_name.is_none() && model.is_none() {
            return Ok(None);
        }
        let (from, to) = (from.unwrap_or(UnixTime::FIRST), to.unwrap_or(UnixTime::LAST));
        Ok(Some(RequestFilter { from, to, model, token_name, ..RequestFilter::of(&OutcomeKind::PAID) }))
    }
}

/// Of the requests that are asked for.
fn outcomes(r#type: Option<&str>) -> Result<&'static [OutcomeKind], ApiError> {
    Ok(match query_number("type", r#type)? {
        None | Some(0 | CONSUMPTION) => &OutcomeKind::PAID,
        Some(ERROR) => OutcomeKind::Refused.alone(),
        Some(_) => &[],
    })
}

/// Which rows of a key.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KeyLogQuery {
    /// As in `/api/log/self`.
    r#type: Option<String>,
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

/// The newest charges of this API key, at most 1,000; with `type=5` its refused requests.
#[utoipa::path(get, path = "/api/log/token", operation_id = "log_of_key", tag = "drop-in", params(KeyLogQuery),
    responses((status = 200, body = Envelope<Vec<LogBody>>)))]
pub async fn by_key(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
    Query(query): Query<KeyLogQuery>,
) -> Result<NoStore<Envelope<Vec<LogBody>>>, Fails<KeyHolderError>> {
    let filter = RequestFilter::of(outcomes(query.r#type.as_deref())?);
    let rows = app.request_history.list_newest_of_key(&key, ip, filter).await?;
    let rows = rows.into_iter().map(LogBody::from).collect();
    Ok(NoStore(Envelope::of(rows)))
}

/// The charges of all your tokens, newest first. Pages reach the newest 10,000; a shorter range finds older ones. With
/// the setting `compat.client`, `data` is an array (spec §14.1).
#[utoipa::path(get, path = "/api/log/self", operation_id = "log", tag = "drop-in", params(LogQuery, LogPageQuery),
    responses((status = 200, body = Envelope<PageBody<LogBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    client: ListClient,
    Query(query): Query<LogQuery>,
    Query(page): Query<LogPageQuery>,
) -> Result<ListAnswer<LogBody>, Fails<(RateLimited, ReportQueueFull)>> {
    let page = client.log_page(page.p.as_deref(), page.page_size.as_deref())?;
    let outcomes = outcomes(query.r#type.as_deref())?;
    let filter = RequestFilter { outcomes, ..query.filter()?.unwrap_or(RequestFilter::of(outcomes)) };
    let rows = app.request_history.list_newest(&caller, filter, page).await?.map(LogBody::from);
    Ok(client.log(rows))
}

/// What all your tokens spent.
#[utoipa::path(get, path = "/api/log/self/stat", operation_id = "log_stat", tag = "drop-in", params(LogQuery),
    responses((status = 200, body = Envelope<SpendBody>)))]
pub async fn spend(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<LogQuery>,
) -> Result<Envelope<SpendBody>, Fails<(RateLimited, ReportQueueFull)>> {
    let outcomes = outcomes(query.r#type.as_deref())?;
    let mut spend = app.request_history.spend(&caller, query.filter()?).await?;
    if outcomes != OutcomeKind::PAID {
        spend.quota = Quota::ZERO;
    }
    Ok(Envelope::of(spend.into()))
}
