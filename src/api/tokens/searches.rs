//! What lists and searches of tokens take (spec §4.2, §13.1), and how it becomes domain types.

use secrecy::SecretString;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::api::extract::{exposed, query_flag, query_number};
use crate::api::page::PageQuery;
use crate::domain::group::Groups;
use crate::domain::id::UserId;
use crate::domain::key::ApiKey;
use crate::domain::page::{FirstPage, PageRequest};
use crate::domain::search::{KeyEnds, SearchPattern};
use crate::domain::token_listing::TokenListing;
use crate::service::tokens::{KeySearch, Search};

/// Which tokens to list, and in which order.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListingQuery {
    /// Only tokens with this status: 1 enabled, 2 disabled, 3 expired, 4 quota exhausted.
    status: Option<String>,
    /// Only tokens with this `state`, as lists show it.
    state: Option<String>,
    /// Only tokens of this group: a configured group, `auto`, or `own` for tokens without a group.
    group: Option<String>,
    /// `id` (default), `name`, `remain_quota`, `used_quota`, `accessed_time` or `expired_time`.
    pub(in crate::api) sort: Option<String>,
    /// `asc`, or `desc` (default).
    pub(in crate::api) order: Option<String>,
    /// With `1`, the deleted tokens that can be restored, the last one first. Not together with the others.
    deleted: Option<String>,
}

impl ListingQuery {
    /// All tokens that match, in any order.
    pub fn filtered(status: Option<String>, state: Option<String>, group: Option<String>) -> Self {
        Self { status, state, group, ..Self::default() }
    }

    /// Whether deleted tokens are asked for.
    pub fn is_deleted(&self) -> Result<bool, ApiError> {
        if !query_flag(self.deleted.as_deref()) {
            return Ok(false);
        }
        let others = [&self.status, &self.state, &self.group, &self.sort, &self.order];
        if others.iter().any(|text| text.as_deref().is_some_and(|text| !text.is_empty())) {
            let message = "`deleted` is not together with `status`, `state`, `group`, `sort` or `order`";
            return Err(ApiError::new(ErrorCode::InvalidFilter, message));
        }
        Ok(true)
    }

    pub fn read(&self, groups: &Groups) -> Result<TokenListing, ApiError> {
        if self.is_deleted()? {
            let message = "`deleted` is only for the list of your own tokens, without a search";
            return Err(ApiError::new(ErrorCode::InvalidFilter, message));
        }
        let texts = [&self.status, &self.state, &self.group, &self.sort, &self.order];
        Ok(TokenListing::parse(texts.map(|text| text.as_deref()), groups)?)
    }
}

/// Spec §4.2. Both absent: all tokens.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// A part of the name, case-insensitive. At least 2 characters beside at most 2 `%`.
    keyword: Option<String>,
    /// The key, its masked form, or a part of it. At least 2 characters beside at most 2 `%`. An address is written to
    /// logs and histories: search for keys with `POST /api/token/search`.
    token: Option<String>,
}

impl SearchQuery {
    pub fn read(&self, owner: UserId) -> Result<Search, ApiError> {
        search_own(owner, self.keyword.as_deref(), self.token.as_deref().unwrap_or_default())
    }
}

/// A search for tokens, their order and the page. An absent or `null` member has its default.
#[derive(Deserialize, ToSchema)]
pub struct SearchBody {
    /// A part of the name, case-insensitive. At least 2 characters beside at most 2 `%`.
    keyword: Option<String>,
    /// The key, its masked form, or a part of it. Of all users' keys, a part is the first or the last 4 characters or
    /// more.
    #[schema(value_type = Option<String>)]
    token: Option<SecretString>,
    /// Only tokens with this status: 1 enabled, 2 disabled, 3 expired, 4 quota exhausted.
    status: Option<i64>,
    /// Only tokens with this `state`, as lists show it.
    state: Option<String>,
    /// Only tokens of this group: a configured group, `auto`, or `own` for tokens without a group.
    group: Option<String>,
    /// `id` (default), `name`, `remain_quota`, `used_quota`, `accessed_time` or `expired_time`.
    sort: Option<String>,
    /// `asc`, or `desc` (default).
    order: Option<String>,
    /// Refused: deleted tokens are only listed (`GET /api/token/?deleted=1`).
    #[schema(ignore)]
    deleted: Option<serde_json::Value>,
    /// Page number from 0, or from 1 with the setting `compat.first_page`; from 1 together with `page_size` or `ps`.
    p: Option<i64>,
    /// Items per page: 10 by default, 100 at most.
    size: Option<i64>,
    /// Replaces `size`; `p` then counts from 1.
    page_size: Option<i64>,
    /// Short for `page_size`.
    ps: Option<i64>,
}

impl SearchBody {
    /// A search among the caller's own tokens.
    pub fn read_own(
        self,
        owner: UserId,
        groups: &Groups,
        first: FirstPage,
    ) -> Result<(Search, TokenListing, PageRequest), ApiError> {
        let (listing, page) = (self.listing(groups)?, self.page(first)?);
        Ok((search_own(owner, self.keyword.as_deref(), exposed(self.token.as_ref()))?, listing, page))
    }

    /// A search among the tokens of all users, or of `owner`.
    pub fn read_any_user(
        self,
        owner: Option<UserId>,
        groups: &Groups,
        first: FirstPage,
    ) -> Result<(Search, TokenListing, PageRequest), ApiError> {
        let (listing, page) = (self.listing(groups)?, self.page(first)?);
        let key = exposed(self.token.as_ref());
        let search = Search {
            owner,
            name: SearchPattern::of_name(self.keyword.as_deref().unwrap_or_default())?,
            key: match ApiKey::parse(key) {
                Ok(whole) => Some(KeySearch::Whole(whole)),
                Err(_) => KeyEnds::parse(key)?.map(|ends| KeySearch::Ends(ends, ApiKey::parse_foreign(key).ok())),
            },
        };
        Ok((search, listing, page))
    }

    fn listing(&self, groups: &Groups) -> Result<TokenListing, ApiError> {
        let query = ListingQuery {
            status: self.status.map(|code| code.to_string()),
            state: self.state.clone(),
            group: self.group.clone(),
            sort: self.sort.clone(),
            order: self.order.clone(),
            deleted: self.deleted.as_ref().map(|flag| flag.as_str().map_or_else(|| flag.to_string(), str::to_owned)),
        };
        query.read(groups)
    }

    fn page(&self, first: FirstPage) -> Result<PageRequest, ApiError> {
        PageQuery::of([self.p, self.size, self.page_size, self.ps]).read(first)
    }
}

fn search_own(owner: UserId, keyword: Option<&str>, key: &str) -> Result<Search, ApiError> {
    let part = |part| KeySearch::Part(owner, part, ApiKey::parse_foreign(key).ok());
    Ok(Search {
        owner: Some(owner),
        name: SearchPattern::of_name(keyword.unwrap_or_default())?,
        key: match ApiKey::parse(key) {
            Ok(whole) => Some(KeySearch::Whole(whole)),
            Err(_) => SearchPattern::of_key(key)?.map(part),
        },
    })
}

/// Selects the owner, for administrators.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OwnerQuery {
    /// Only tokens of this user.
    user_id: Option<String>,
}

impl OwnerQuery {
    pub fn read(&self) -> Result<Option<UserId>, ApiError> {
        Ok(query_number("user_id", self.user_id.as_deref())?.map(UserId::new))
    }
}
