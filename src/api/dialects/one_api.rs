//! What tools of one-api send and read otherwise, with the setting `compat.client` (spec §14.1): pages that count from
//! 0 and are arrays, other orders, and other names of a token's limits.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use serde::{Deserialize, Serialize};

use crate::api::envelope::Envelope;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::api::extract::Query;
use crate::api::page::{PageBody, PageQuery};
use crate::api::state::AppState;
use crate::api::tokens::{ListingQuery, Models, TokenBody, TokensBody, UpdateBody};
use crate::domain::bounds;
use crate::domain::id::TokenId;
use crate::domain::ip_allowlist::IpAllowlist;
use crate::domain::model_limits::ModelLimits;
use crate::domain::page::{FirstPage, Page, PageRequest};
use crate::domain::token_policy::TokenPolicy;
use crate::service::tokens::TokenPage;

/// Whether a list is for a tool of one-api. It knows neither `page_size` nor `ps`, so a client that sends them wants a
/// page.
#[derive(Debug, Clone, Copy)]
pub struct ListClient {
    is_of_one_api: bool,
    /// The same of a log, which does not know `ps`.
    is_log_of_one_api: bool,
}

/// The parameters that one-api does not have.
#[derive(Deserialize)]
struct PageSizes {
    page_size: Option<String>,
    ps: Option<String>,
}

impl FromRequestParts<Arc<AppState>> for ListClient {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let Query(PageSizes { page_size, ps }) = Query::from_request_parts(parts, app).await?;
        let is_log_of_one_api = app.settings.one_api && page_size.is_none();
        Ok(Self { is_of_one_api: is_log_of_one_api && ps.is_none(), is_log_of_one_api })
    }
}

impl ListClient {
    /// The order and the filters: with `order=remain_quota` and `order=used_quota` it asks for the largest first.
    pub fn listing(self, mut query: ListingQuery) -> ListingQuery {
        if self.is_of_one_api
            && query.sort.is_none()
            && matches!(query.order.as_deref(), Some("remain_quota" | "used_quota"))
        {
            query.sort = query.order.take();
        }
        query
    }

    /// The page of a search: those of one-api have no pages.
    pub fn search_page(self, page: PageQuery, first: FirstPage) -> Result<PageRequest, ApiError> {
        let page = if self.is_of_one_api { page.or_size(bounds::MAX_PAGE_SIZE) } else { page };
        page.read(first)
    }

    /// The page of a log, whose pages count from 1 for others.
    pub fn log_page(self, p: Option<&str>, page_size: Option<&str>) -> Result<PageRequest, ApiError> {
        Ok(if self.is_log_of_one_api { PageRequest::from_zero(p, None)? } else { PageRequest::from_one(p, page_size)? })
    }

    /// The answer of a log: a page, or its items alone.
    pub fn log<T>(self, page: Page<T>) -> ListAnswer<T> {
        if self.is_log_of_one_api {
            ListAnswer::Items(Envelope::of(page.items))
        } else {
            ListAnswer::Page(Envelope::of(page.into()))
        }
    }

    /// The same of the caller's own tokens.
    pub fn own_tokens(self, found: TokenPage<TokenBody>) -> TokensAnswer {
        if self.is_of_one_api {
            ListAnswer::Items(Envelope::of(found.page.items))
        } else {
            ListAnswer::Page(Envelope::of(TokensBody::of_own(found)))
        }
    }
}

/// The answer of a list: a page, or its items alone for tools of one-api.
pub enum ListAnswer<T, P = PageBody<T>> {
    Page(Envelope<P>),
    Items(Envelope<Vec<T>>),
}

/// A page of the caller's own tokens, or its items alone.
pub type TokensAnswer = ListAnswer<TokenBody, TokensBody<TokenBody>>;

impl<T: Serialize, P: Serialize> IntoResponse for ListAnswer<T, P> {
    fn into_response(self) -> Response {
        match self {
            Self::Page(page) => page.into_response(),
            Self::Items(items) => items.into_response(),
        }
    }
}

/// `models` of a token, the one name of one-api for its models and whether they apply: empty allows all. `None` if no
/// list says what the token has.
pub fn models(policy: &TokenPolicy) -> Option<String> {
    let names = policy.model_limits.as_str();
    match (policy.model_limits_enabled, names) {
        (false, _) => Some(String::new()),
        (true, "") => None,
        (true, names) => Some(names.to_owned()),
    }
}

/// `subnet` of a token: its addresses, separated by commas.
pub fn subnet(policy: &TokenPolicy) -> String {
    policy.allow_ips.as_str().replace('\n', ",")
}

/// `model_limits` and its switch from their names of here and from `models`, the one name of one-api, where an
/// empty list allows everything.
pub fn read_models(
    limits: Option<&Models>,
    enabled: Option<bool>,
    old: Option<&Models>,
) -> Result<(Option<ModelLimits>, Option<bool>), ApiError> {
    let limits = limits.map(Models::read).transpose()?;
    let Some(old) = old.map(Models::read).transpose()? else {
        return Ok((limits, enabled));
    };
    let is_restricted = old.names().next().is_some();
    let differs = is_restricted && limits.as_ref().is_some_and(|limits| *limits != old);
    if differs || enabled.is_some_and(|enabled| enabled != is_restricted) {
        let message = "`models` and `model_limits` with `model_limits_enabled` differ; send one of them";
        return Err(ApiError::new(ErrorCode::InvalidModels, message));
    }
    Ok((Some(limits.unwrap_or(old)), Some(is_restricted)))
}

/// `allow_ips` from its name of here and from `subnet`, that of one-api.
pub fn read_ips(allow_ips: Option<&str>, subnet: Option<&str>) -> Result<Option<IpAllowlist>, ApiError> {
    let ips = allow_ips.map(IpAllowlist::parse).transpose()?;
    let old = subnet.map(IpAllowlist::parse).transpose()?;
    if ips.is_some() && old.is_some() && ips != old {
        return Err(ApiError::new(ErrorCode::InvalidIps, "`subnet` and `allow_ips` differ; send one of them"));
    }
    Ok(ips.or(old))
}

/// The body of an edit with each limit named once. `policy` reads what the token has now.
///
/// # Errors
/// The body has no id; the token cannot be read; a list that is none.
pub async fn edit<E: From<ApiError>>(
    body: UpdateBody,
    app: &AppState,
    policy: impl AsyncFnOnce(TokenId) -> Result<Arc<TokenPolicy>, E>,
) -> Result<UpdateBody, E> {
    let named_twice = if app.settings.one_api { body.named_twice()? } else { None };
    Ok(match named_twice {
        Some(id) => body.without_unchanged(&*policy(id).await?)?,
        None => body,
    })
}

impl UpdateBody {
    /// The token, if the body names one limit twice: as here and as in one-api.
    fn named_twice(&self) -> Result<Option<TokenId>, ApiError> {
        let has_models = self.models.is_some() && (self.model_limits.is_some() || self.model_limits_enabled.is_some());
        let has_ips = self.subnet.is_some() && self.allow_ips.is_some();
        if has_models || has_ips { self.token_id().map(Some) } else { Ok(None) }
    }

    /// Without the name that repeats what the token has, of a limit that is named twice: tools of one-api change their
    /// names in the object that they read, and send those of here back as they were.
    fn without_unchanged(mut self, policy: &TokenPolicy) -> Result<Self, ApiError> {
        if let Some(old) = self.models.as_ref().map(Models::read).transpose()? {
            let limits = self.model_limits.as_ref().map(Models::read).transpose()?;
            let is_restricted = policy.model_limits_enabled && policy.model_limits.names().next().is_some();
            if old == if is_restricted { policy.model_limits.clone() } else { ModelLimits::default() } {
                self.models = None;
            } else if limits.is_none_or(|limits| limits == policy.model_limits)
                && self.model_limits_enabled.is_none_or(|enabled| enabled == policy.model_limits_enabled)
            {
                (self.model_limits, self.model_limits_enabled) = (None, None);
            }
        }
        let [old, ips] =
            [&self.subnet, &self.allow_ips].map(|text| text.as_deref().map(IpAllowlist::parse).transpose());
        let (old, ips) = (old?, ips?);
        if old.is_some_and(|old| old == policy.allow_ips) {
            self.subnet = None;
        } else if self.subnet.is_some() && ips.is_some_and(|ips| ips == policy.allow_ips) {
            self.allow_ips = None;
        }
        Ok(self)
    }
}
