//! The token API on the wire (spec §2.1, §2.2, §4.1–4.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::ApiUser;
use super::envelope::{Done, Envelope, NoStore};
use super::errors::ApiError;
use super::extract::{Id, Json, Query};
use super::page::{PageBody, PageQuery};
use super::state::AppState;
use crate::domain::access::{Group, IpAllowlist, ModelLimits};
use crate::domain::id::TokenId;
use crate::domain::key::ApiKey;
use crate::domain::policy;
use crate::domain::search::SearchPattern;
use crate::domain::time::{Lifetime, UnixTime};
use crate::domain::token::{NewToken, Switch, Token, TokenName, TokenPatch, budget_of};
use crate::domain::user::Role;
use crate::service::tokens::{KeySearch, Search};

/// The Token object (spec §2.1), with `masked_key` beside.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenBody {
    /// Token ID.
    pub id: i64,
    /// ID of the owning user.
    pub user_id: i64,
    /// The API key where it was asked for, else empty.
    pub key: String,
    /// What may be shown of the key: `sk-ab12**********wxyz`.
    pub masked_key: String,
    /// 1 enabled, 2 disabled, 3 expired, 4 quota exhausted; as of now.
    pub status: i16,
    /// Who disabled it, where it was not its owner: `administrator` or `root`, the higher of those who did. Nobody
    /// below may enable it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_by: Option<&'static str>,
    /// At most 50 characters.
    pub name: String,
    /// Unix timestamp.
    pub created_time: i64,
    /// Unix timestamp of the last charge; the creation time until then.
    pub accessed_time: i64,
    /// Unix timestamp; -1 means never.
    pub expired_time: i64,
    /// Quota units.
    pub remain_quota: i64,
    /// Whether the wallet is the only limit.
    pub unlimited_quota: bool,
    /// Quota units.
    pub used_quota: i64,
    /// Whether `model_limits` applies.
    pub model_limits_enabled: bool,
    /// Comma-separated names.
    pub model_limits: String,
    /// One address or CIDR network a line.
    pub allow_ips: String,
    /// Empty for the owner's own.
    pub group: String,
    /// Effective only for the group `auto`.
    pub cross_group_retry: bool,
}

impl TokenBody {
    /// Without the key, as lists and edits show it.
    #[must_use]
    pub fn new(token: &Token, now: UnixTime, app: &AppState) -> Self {
        let masked_key = token.key_hint.masked();
        let key = if app.masked_list_key { masked_key.clone() } else { String::new() };
        Self {
            id: token.id.get(),
            user_id: token.user_id.get(),
            key,
            masked_key,
            status: token.status(now).code(),
            disabled_by: token.switched_off_by.and_then(Role::disabler),
            created_time: token.created_time.get(),
            accessed_time: token.accessed_time.get(),
            expired_time: token.lifetime.expired_time(),
            remain_quota: token.budget.remain().get(),
            unlimited_quota: token.budget.is_unlimited(),
            used_quota: token.used_quota.get(),
            model_limits_enabled: token.model_limits_enabled,
            model_limits: token.model_limits.as_str().to_owned(),
            allow_ips: token.allow_ips.as_str().to_owned(),
            group: token.group.as_str().to_owned(),
            cross_group_retry: token.cross_group_retry,
            name: token.name.as_str().to_owned(),
        }
    }

    /// With the key, as only a read by id and an asked-for creation show it.
    fn with_key(token: &Token, key: &ApiKey, now: UnixTime, app: &AppState) -> Self {
        Self { key: key.expose().to_owned(), ..Self::new(token, now, app) }
    }
}

/// What to search for (spec §4.2).
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// A part of the name, in any case. At least 2 characters beside at most 2 `%`.
    keyword: Option<String>,
    /// A part of the key, or the whole.
    token: Option<String>,
}

/// `model_limits` as text with commas, or as a list.
#[derive(Debug, ToSchema)]
#[schema(value_type = String)]
struct Models(Vec<String>);

impl<'de> Deserialize<'de> for Models {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrList;
        impl<'de> serde::de::Visitor<'de> for TextOrList {
            type Value = Models;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string of names with commas between")
            }

            fn visit_str<E>(self, text: &str) -> Result<Models, E> {
                Ok(Models(vec![text.to_owned()]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Models, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Models(names))
            }
        }
        deserializer.deserialize_any(TextOrList)
    }
}

impl Models {
    fn read(&self) -> Result<ModelLimits, ApiError> {
        Ok(ModelLimits::from_names(self.0.iter().map(String::as_str))?)
    }
}

/// The body of a creation (spec §4.4). Absent and `null` mean the default.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CreateBody {
    /// 1 to 50 characters.
    #[schema(required)]
    name: Option<String>,
    /// Unix timestamp; -1, 0 or absent for never.
    expired_time: Option<i64>,
    /// Quota units, 0 to 500,000,000,000,000. 500,000 are one dollar.
    remain_quota: Option<i64>,
    /// Bounded by the wallet alone.
    unlimited_quota: Option<bool>,
    /// Whether `model_limits` applies.
    model_limits_enabled: Option<bool>,
    /// Comma-separated names.
    model_limits: Option<Models>,
    /// Addresses or CIDR networks, one a line.
    allow_ips: Option<String>,
    /// Empty, `auto`, or one of your groups.
    group: Option<String>,
    /// Only for the group `auto`.
    cross_group_retry: Option<bool>,
}

impl CreateBody {
    fn read(self) -> Result<NewToken, ApiError> {
        let unlimited = self.unlimited_quota.unwrap_or(false);
        Ok(NewToken {
            name: TokenName::parse(self.name.as_deref().unwrap_or_default())?,
            lifetime: Lifetime::from_wire(self.expired_time.unwrap_or(-1))?,
            budget: budget_of(self.remain_quota.unwrap_or(0), unlimited)?,
            model_limits_enabled: self.model_limits_enabled.unwrap_or(false),
            model_limits: self.model_limits.map(|models| models.read()).transpose()?.unwrap_or_default(),
            allow_ips: IpAllowlist::parse(self.allow_ips.as_deref().unwrap_or_default())?,
            group: Group::read(self.group.as_deref().unwrap_or_default().trim()),
            cross_group_retry: self.cross_group_retry.unwrap_or(false),
        })
    }
}

/// The body of an update (spec §4.5a). Absent and `null` leave the field as it is.
#[derive(Debug, Deserialize, ToSchema)]
pub struct UpdateBody {
    /// The token to update.
    #[schema(required)]
    id: Option<i64>,
    /// 1 to 50 characters.
    name: Option<String>,
    /// Unix timestamp; -1 or 0 for never.
    expired_time: Option<i64>,
    /// Quota units.
    remain_quota: Option<i64>,
    /// Bounded by the wallet alone.
    unlimited_quota: Option<bool>,
    /// Whether `model_limits` applies.
    model_limits_enabled: Option<bool>,
    /// Comma-separated names.
    model_limits: Option<Models>,
    /// Addresses or CIDR networks, one a line.
    allow_ips: Option<String>,
    /// Empty, `auto`, or one of your groups.
    group: Option<String>,
    /// Only for the group `auto`.
    cross_group_retry: Option<bool>,
    /// Only with `status_only=1`: 1 enables, 2 disables.
    #[serde(rename = "status")]
    #[schema(value_type = Option<i64>)]
    _status: Option<IgnoredAny>,
}

impl UpdateBody {
    fn read(self) -> Result<(TokenId, TokenPatch), ApiError> {
        let patch = TokenPatch {
            name: self.name.as_deref().map(TokenName::parse).transpose()?,
            lifetime: self.expired_time.map(Lifetime::from_wire).transpose()?,
            remain_quota: self.remain_quota,
            unlimited_quota: self.unlimited_quota,
            model_limits_enabled: self.model_limits_enabled,
            model_limits: self.model_limits.map(|models| models.read()).transpose()?,
            allow_ips: self.allow_ips.as_deref().map(IpAllowlist::parse).transpose()?,
            group: self.group.as_deref().map(|group| Group::read(group.trim())),
            cross_group_retry: self.cross_group_retry,
        };
        Ok((required_id(self.id)?, patch))
    }
}

/// The body of a status-only update (spec §4.5b).
#[derive(Debug, Deserialize, ToSchema)]
pub struct SwitchBody {
    /// The token to update; not needed where the path names it.
    id: Option<i64>,
    /// 1 enables, 2 disables.
    #[schema(required)]
    status: Option<i64>,
}

impl SwitchBody {
    /// The switch that `status` means.
    pub fn switch(&self) -> Result<Switch, ApiError> {
        match self.status {
            Some(1) => Ok(Switch::On),
            Some(2) => Ok(Switch::Off),
            _ => Err(ApiError::bad("invalid_status", "`status` must be 1 (enable) or 2 (disable)")),
        }
    }
}

fn required_id(id: Option<i64>) -> Result<TokenId, ApiError> {
    id.map(TokenId::new).ok_or_else(|| ApiError::bad("missing_field", "`id` is required"))
}

/// Whether an update is of the status only.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UpdateQuery {
    /// Anything but empty, `0` or `false`: only `status` is read.
    status_only: Option<String>,
}

/// Which tokens a batch is about.
#[derive(Debug, Deserialize, ToSchema)]
pub struct IdsBody {
    /// Ids of tokens; one that is named twice counts once.
    #[schema(required)]
    ids: Option<Vec<i64>>,
}

impl IdsBody {
    fn read(self, most: usize) -> Result<Vec<TokenId>, ApiError> {
        let mut ids = self.ids.ok_or_else(|| ApiError::bad("missing_field", "`ids` is required"))?;
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() || ids.len() > most {
            return Err(ApiError::bad("invalid_ids", format!("`ids` must have 1 to {most} entries")));
        }
        Ok(ids.into_iter().map(TokenId::new).collect())
    }
}

/// A key.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyBody {
    /// The API key.
    key: String,
}

/// Keys by token id.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeysBody {
    /// The API keys of those ids that are yours.
    keys: BTreeMap<String, String>,
}

/// List your tokens, newest first (spec §4.1).
#[utoipa::path(get, path = "/api/token", tag = "tokens", params(PageQuery),
    responses((status = 200, body = Envelope<PageBody<TokenBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<TokenBody>>, ApiError> {
    let page = app.tokens.list(&caller, page.read()?).await?;
    let now = app.clock.now();
    Ok(Envelope::of(page.map(|token| TokenBody::new(&token, now, &app)).into()))
}

/// Search your tokens by name or key (spec §4.2).
#[utoipa::path(get, path = "/api/token/search", tag = "tokens", params(SearchQuery, PageQuery),
    responses((status = 200, body = Envelope<PageBody<TokenBody>>)))]
pub async fn search(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Query(query): Query<SearchQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<TokenBody>>, ApiError> {
    let key = query.token.as_deref().unwrap_or_default();
    let search = Search {
        name: SearchPattern::of_name(query.keyword.as_deref().unwrap_or_default())?,
        key: match ApiKey::parse(key) {
            Ok(whole) => Some(KeySearch::Whole(whole)),
            Err(_) => SearchPattern::of_key(key)?.map(KeySearch::Part),
        },
    };
    let page = app.tokens.search(&caller, search, page.read()?).await?;
    let now = app.clock.now();
    Ok(Envelope::of(page.map(|token| TokenBody::new(&token, now, &app)).into()))
}

/// Read one token with its key (spec §4.3).
#[utoipa::path(get, path = "/api/token/{id}", operation_id = "show_token", tag = "tokens", params(("id" = i64, Path)),
    responses((status = 200, body = Envelope<TokenBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
) -> Result<NoStore<Envelope<TokenBody>>, ApiError> {
    let shown = app.tokens.show(&caller, TokenId::new(id)).await?;
    let body = TokenBody::with_key(&shown.token, &shown.key, app.clock.now(), &app);
    Ok(NoStore(Envelope::of(body)))
}

/// Create a token (spec §4.4). With `Prefer: return=representation` the answer holds it and its key.
#[utoipa::path(post, path = "/api/token", tag = "tokens", request_body = CreateBody,
    params(("prefer" = Option<String>, Header, description = "`return=representation`: `data` is the token with its key")),
    responses((status = 200, body = Envelope<Option<TokenBody>>)))]
pub async fn create(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    headers: HeaderMap,
    Json(body): Json<CreateBody>,
) -> Result<Response, ApiError> {
    let made = app.tokens.create(&caller, body.read()?).await?;
    let location = format!("/api/token/{}", made.token.id);
    let mut answer = if wants_representation(&headers) {
        let body = TokenBody::with_key(&made.token, &made.key, app.clock.now(), &app);
        let mut answer = NoStore(Envelope::of(body)).into_response();
        let applied = HeaderValue::from_static("return=representation");
        answer.headers_mut().insert("preference-applied", applied);
        answer
    } else {
        Done::default().into_response()
    };
    if let Ok(location) = HeaderValue::from_str(&location) {
        answer.headers_mut().insert(header::LOCATION, location);
    }
    Ok(answer)
}

/// RFC 7240.
fn wants_representation(headers: &HeaderMap) -> bool {
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    preferences
        .flat_map(|value| value.split([',', ';']))
        .any(|preference| preference.trim().eq_ignore_ascii_case("return=representation"))
}

/// Edit a token (spec §4.5a), or with `status_only=1` switch it on or off (spec §4.5b).
#[utoipa::path(put, path = "/api/token", tag = "tokens", params(UpdateQuery), request_body = UpdateBody,
    responses((status = 200, body = Envelope<TokenBody>)))]
pub async fn update(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Query(query): Query<UpdateQuery>,
    request: Request,
) -> Result<Envelope<TokenBody>, ApiError> {
    let token = if matches!(query.status_only.as_deref(), None | Some("" | "0" | "false")) {
        let Json(body) = Json::<UpdateBody>::from_request(request, &app).await?;
        let (id, patch) = body.read()?;
        app.tokens.edit(&caller, id, patch).await?
    } else {
        let Json(body) = Json::<SwitchBody>::from_request(request, &app).await?;
        app.tokens.switch(&caller, required_id(body.id)?, body.switch()?).await?
    };
    Ok(Envelope::of(TokenBody::new(&token, app.clock.now(), &app)))
}

/// Delete a token, softly (spec §4.6).
#[utoipa::path(delete, path = "/api/token/{id}", tag = "tokens", params(("id" = i64, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete(State(app): State<Arc<AppState>>, ApiUser(caller): ApiUser, Id(id): Id) -> Result<Done, ApiError> {
    app.tokens.delete(&caller, TokenId::new(id)).await?;
    Ok(Done::default())
}

/// Delete several tokens (spec §4.7); `data` is how many went.
#[utoipa::path(post, path = "/api/token/batch", tag = "tokens", request_body = IdsBody,
    responses((status = 200, body = Envelope<i64>)))]
pub async fn delete_batch(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Json(body): Json<IdsBody>,
) -> Result<Envelope<usize>, ApiError> {
    let ids = body.read(policy::MAX_BATCH)?;
    Ok(Envelope::of(app.tokens.delete_batch(&caller, &ids).await?))
}

/// Read one token's key.
#[utoipa::path(post, path = "/api/token/{id}/key", tag = "tokens", params(("id" = i64, Path)),
    responses((status = 200, body = Envelope<KeyBody>)))]
pub async fn key(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
) -> Result<NoStore<Envelope<KeyBody>>, ApiError> {
    let shown = app.tokens.show(&caller, TokenId::new(id)).await?;
    Ok(NoStore(Envelope::of(KeyBody { key: shown.key.expose().to_owned() })))
}

/// Read several tokens' keys.
#[utoipa::path(post, path = "/api/token/batch/keys", tag = "tokens", request_body = IdsBody,
    responses((status = 200, body = Envelope<KeysBody>)))]
pub async fn keys(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Json(body): Json<IdsBody>,
) -> Result<NoStore<Envelope<KeysBody>>, ApiError> {
    let ids = body.read(policy::MAX_KEY_BATCH)?;
    let keys = app.tokens.reveal(&caller, &ids).await?;
    let keys = keys.into_iter().map(|(id, key)| (id.to_string(), key.expose().to_owned())).collect();
    Ok(NoStore(Envelope::of(KeysBody { keys })))
}
