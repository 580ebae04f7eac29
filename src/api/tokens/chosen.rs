//! Which tokens a call is for (spec §15.4).

use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::requests::IdsBody;
use super::searches::ListingQuery;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::api::extract::parse;
use crate::domain::bounds;
use crate::domain::group::Groups;
use crate::domain::search::SearchPattern;
use crate::service::tokens::ChosenTokens;

/// The filters of a list: all tokens that it shows. Without members, all.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterBody {
    /// A part of the name, case-insensitive. At least 2 characters beside at most 2 `%`.
    keyword: Option<String>,
    /// Only tokens with this status: 1 enabled, 2 disabled, 3 expired, 4 quota exhausted.
    status: Option<i64>,
    /// Only tokens with this `state`, as lists show it.
    state: Option<String>,
    /// Only tokens of this group: a configured group, `auto`, or `own` for tokens without a group.
    group: Option<String>,
}

impl FilterBody {
    fn read(self, groups: &Groups) -> Result<ChosenTokens, ApiError> {
        let Self { keyword, status, state, group } = self;
        // In a list it is no filter. Here it may be a variable that somebody forgot to set.
        let texts = [("keyword", &keyword), ("state", &state), ("group", &group)];
        let is_blank =
            |(_, text): &&(&str, &Option<String>)| text.as_deref().is_some_and(|text| text.trim().is_empty());
        if let Some((name, _)) = texts.iter().find(is_blank) {
            let message = format!("`{name}` is empty; leave it out if all tokens are meant");
            return Err(ApiError::new(ErrorCode::InvalidFilter, message));
        }
        let listing = ListingQuery::filtered(status.map(|code| code.to_string()), state, group);
        let name = SearchPattern::of_name(keyword.as_deref().unwrap_or_default())?;
        Ok(ChosenTokens::Matching { name, listing: listing.read(groups)? })
    }
}

/// The tokens that a body names, by exactly one of `ids` and `filter`.
pub fn choose(ids: Option<Vec<i64>>, filter: Option<&RawValue>, groups: &Groups) -> Result<ChosenTokens, ApiError> {
    match (ids, filter) {
        (Some(ids), None) => Ok(ChosenTokens::Ids(IdsBody { ids: Some(ids) }.read(bounds::MAX_BULK_CHANGE)?)),
        (None, Some(filter)) => object("`filter`", filter).and_then(parse::<FilterBody>)?.read(groups),
        (Some(_), Some(_)) => Err(ApiError::new(ErrorCode::InvalidIds, "send either `ids` or `filter`, not both")),
        (None, None) => Err(ApiError::new(ErrorCode::MissingField, "say which tokens: `ids` or `filter`")),
    }
}

/// The bytes of a member that must be an object.
pub fn object<'a>(name: &str, member: &'a RawValue) -> Result<&'a [u8], ApiError> {
    let text = member.get();
    if !text.starts_with('{') {
        return Err(ApiError::new(ErrorCode::InvalidField, format!("{name} must be an object")));
    }
    Ok(text.as_bytes())
}
