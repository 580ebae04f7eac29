//! Fields that the bodies of several calls share.

use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{Number, PartialSchema, ToSchema};

use super::counts::CountFields;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::domain::bounds;
use crate::domain::ip_allowlist::{self, ClientAddress};
use crate::domain::ledger::RequestContext;
use crate::domain::money::Quota;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::priced_by::HoldReason;
use crate::domain::usd_cost::{UsdCost, UsdCostInvalid};

/// A cost in dollars as it was sent. Its text is kept, because a float would not be exact.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct UsdText(Box<RawValue>);

impl UsdText {
    /// The least quota that covers it.
    pub(in crate::api) fn quota(&self) -> Result<Quota, UsdCostInvalid> {
        let json = self.0.get();
        let text = if json.starts_with('"') {
            serde_json::from_str(json).map_err(|_| UsdCostInvalid)?
        } else {
            json.to_owned()
        };
        text.parse::<UsdCost>()?.quota()
    }
}

impl PartialSchema for UsdText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::Number, Type::String]))
            .minimum(Some(Number::Int(0)))
            .description(Some("Dollars as a number or as decimal text, rounded to 12 decimals."))
            .into()
    }
}

impl ToSchema for UsdText {}

/// The cost that one of the fields `quota` and `usd` says, or the counts by which the price of `model` says it.
pub(super) fn cost(
    amount: (Option<i64>, Option<&UsdText>),
    counts: &CountFields,
    model: Option<&str>,
) -> Result<Cost, ApiError> {
    if let Some(quota) = optional_amount(amount.0, amount.1)? {
        return counts.cost(Some(quota));
    }
    counts.check_complete()?;
    if model.is_none() {
        return Err(ApiError::new(ErrorCode::MissingField, "without `quota` and `usd`, `model` is required"));
    }
    counts.cost(None)
}

/// The same for a settlement, which is charged its hold if its counts cannot be. Its reservation may have the model.
pub(super) fn settled_cost(
    amount: (Option<i64>, Option<&UsdText>),
    counts: &CountFields,
) -> Result<Result<Cost, HoldReason>, ApiError> {
    if let Some(quota) = optional_amount(amount.0, amount.1)? {
        return Ok(Ok(counts.told(quota)));
    }
    counts.check_complete()?;
    Ok(counts.cost(None).map_err(|_| HoldReason::InvalidCount))
}

/// At most one of the fields `quota` and `usd`.
pub(super) fn optional_amount(units: Option<i64>, usd: Option<&UsdText>) -> Result<Option<Quota>, ApiError> {
    match (units, usd) {
        (None, None) => Ok(None),
        (Some(units), None) => Quota::grant(units)
            .map(Some)
            .map_err(|invalid| ApiError::new(ErrorCode::InvalidQuota, format!("`quota` {invalid}"))),
        (None, Some(usd)) => {
            usd.quota().map(Some).map_err(|invalid| ApiError::new(ErrorCode::InvalidUsd, format!("`usd` {invalid}")))
        }
        (Some(_), Some(_)) => Err(ApiError::new(ErrorCode::AmbiguousAmount, "send either `quota` or `usd`, not both")),
    }
}

/// The optional field `request_id`.
pub(super) fn request_id(request_id: Option<String>) -> Result<Option<String>, ApiError> {
    if request_id.as_ref().is_some_and(|id| !is_valid_id(id)) {
        let max = bounds::MAX_REQUEST_ID_CHARS;
        let message = format!("`request_id` must have 1 to {max} visible characters");
        return Err(ApiError::new(ErrorCode::InvalidRequestId, message));
    }
    Ok(request_id)
}

fn is_valid_id(request_id: &str) -> bool {
    (1..=bounds::MAX_REQUEST_ID_CHARS).contains(&request_id.chars().count())
        && request_id.chars().all(|c| !c.is_control())
}

/// The optional field `model`. An empty text counts as absent.
pub(in crate::api) fn model(model: Option<String>) -> Result<Option<String>, ApiError> {
    let model = model.filter(|model| !model.is_empty());
    if model.as_deref().is_some_and(|model| !is_valid(model)) {
        let message = format!("`model` must have at most {} characters", bounds::MAX_MODEL_CHARS);
        return Err(ApiError::new(ErrorCode::InvalidModel, message));
    }
    Ok(model)
}

/// The optional fields `model` and `ip`. An empty text counts as absent.
pub(super) fn context(sent_model: Option<String>, ip: Option<&str>) -> Result<RequestContext, ApiError> {
    let model = model(sent_model)?;
    let ip = match ip {
        None | Some("") => ClientAddress::NotSent,
        Some(text) => {
            let invalid = || ApiError::new(ErrorCode::InvalidIp, "`ip` must be an IPv4 or IPv6 address");
            ClientAddress::Known(ip_allowlist::address(text).ok_or_else(invalid)?)
        }
    };
    Ok(RequestContext { model, ip })
}

fn is_valid(model: &str) -> bool {
    model.chars().count() <= bounds::MAX_MODEL_CHARS && !model.chars().any(char::is_control)
}
