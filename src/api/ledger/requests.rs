//! Fields that the bodies of several calls share.

use std::net::IpAddr;

use crate::api::api_error::ApiError;
use crate::api::error_code::ErrorCode;
use crate::domain::bounds;
use crate::domain::ip_allowlist::ClientAddress;
use crate::domain::ledger::{Counts, RequestContext};
use crate::domain::money::Quota;

/// The required field `quota`.
pub(super) fn amount(units: Option<i64>) -> Result<Quota, ApiError> {
    let units = units.ok_or_else(|| ApiError::new(ErrorCode::MissingField, "`quota` is required"))?;
    Quota::grant(units).map_err(|invalid| ApiError::new(ErrorCode::InvalidQuota, format!("`quota` {invalid}")))
}

/// The optional fields `model` and `ip`. An empty text counts as absent.
pub(super) fn context(model: Option<String>, ip: Option<&str>) -> Result<RequestContext, ApiError> {
    let model = model.filter(|model| !model.is_empty());
    if model.as_deref().is_some_and(|model| !is_valid(model)) {
        let message = format!("`model` must have at most {} characters", bounds::MAX_MODEL_CHARS);
        return Err(ApiError::new(ErrorCode::InvalidModel, message));
    }
    let ip = match ip {
        None | Some("") => ClientAddress::NotSent,
        Some(text) => {
            let ip: Result<IpAddr, _> = text.trim().parse();
            let ip = ip.map_err(|_| ApiError::new(ErrorCode::InvalidIp, "`ip` must be an IPv4 or IPv6 address"))?;
            ClientAddress::Known(ip.to_canonical())
        }
    };
    Ok(RequestContext { model, ip })
}

fn is_valid(model: &str) -> bool {
    model.chars().count() <= bounds::MAX_MODEL_CHARS && !model.chars().any(char::is_control)
}

/// The optional fields `prompt_tokens` and `completion_tokens`.
pub(super) fn counts(prompt_tokens: Option<i64>, completion_tokens: Option<i64>) -> Result<Counts, ApiError> {
    let count = |name: &str, count: Option<i64>| match count.unwrap_or(0) {
        count if (0..=bounds::MAX_COUNT).contains(&count) => Ok(count),
        _ => Err(ApiError::new(ErrorCode::InvalidCount, format!("`{name}` must be 0 to {}", bounds::MAX_COUNT))),
    };
    Ok(Counts {
        prompt_tokens: count("prompt_tokens", prompt_tokens)?,
        completion_tokens: count("completion_tokens", completion_tokens)?,
    })
}
