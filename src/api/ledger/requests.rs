//! Fields that the bodies of several calls share.

use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{Number, PartialSchema, ToSchema};

use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::domain::bounds;
use crate::domain::ip_allowlist::{self, ClientAddress};
use crate::domain::ledger::RequestContext;
use crate::domain::money::Quota;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::unit::{CACHE_READ_TOKENS, CACHE_WRITE_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};
use crate::domain::prices::units::Units;
use crate::domain::usd_cost::{UsdCost, UsdCostInvalid};

/// A cost in dollars as it was sent. Its text is kept, because a float would not be exact.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct UsdText(Box<RawValue>);

impl UsdText {
    fn quota(&self) -> Result<Quota, UsdCostInvalid> {
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
    counts: CountFields,
    model: ModelOfPrice<'_>,
) -> Result<Cost, ApiError> {
    if let Some(quota) = optional_amount(amount.0, amount.1)? {
        return Ok(Cost { quota: Some(quota), units: counts.beside_amount()?, ..Cost::default() });
    }
    let missing = |what: &str| Err(ApiError::new(ErrorCode::MissingField, format!("{what} required")));
    if !counts.say_cost() {
        return missing("`quota`, `usd`, or `prompt_tokens` and `completion_tokens` are");
    }
    if matches!(model, ModelOfPrice::Sent(None)) {
        return missing("without `quota` and `usd`, `model` is");
    }
    Ok(Cost { units: counts.read()?, ..Cost::default() })
}

/// The most that a request may cost which is not made yet. Counts beside an amount say nothing then.
pub(super) fn most(
    amount: (Option<i64>, Option<&UsdText>),
    counts: CountFields,
    model: Option<&str>,
) -> Result<Cost, ApiError> {
    match optional_amount(amount.0, amount.1)? {
        Some(quota) => Ok(quota.into()),
        None => cost(amount, counts, ModelOfPrice::Sent(model)),
    }
}

/// The model by whose price a cost is computed.
#[derive(Clone, Copy)]
pub(super) enum ModelOfPrice<'a> {
    Sent(Option<&'a str>),
    /// That of the reservation, unless another one was sent.
    OfReservation,
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
pub(super) fn model(model: Option<String>) -> Result<Option<String>, ApiError> {
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

/// The counts of a body.
macro_rules! count_fields {
    ($body:expr) => {
        CountFields {
            prompt: $body.prompt_tokens,
            completion: $body.completion_tokens,
            cached: $body.cached_tokens,
            cache_write: $body.cache_write_tokens,
        }
    };
}

pub(super) use count_fields;

/// The optional fields of counts.
#[derive(Clone, Copy)]
pub(super) struct CountFields {
    pub(super) prompt: Option<i64>,
    pub(super) completion: Option<i64>,
    pub(super) cached: Option<i64>,
    pub(super) cache_write: Option<i64>,
}

impl CountFields {
    /// Returns true if there are those that a price needs.
    pub(super) const fn say_cost(&self) -> bool {
        self.prompt.is_some() && self.completion.is_some()
    }

    /// What is recorded beside an amount. Parts of the prompt that do not fit are left out: they decide nothing, and
    /// gateways count them in different ways.
    fn beside_amount(self) -> Result<Units, ApiError> {
        self.read().or_else(|_| Self { cached: None, cache_write: None, ..self }.read())
    }

    fn read(self) -> Result<Units, ApiError> {
        let invalid = |message: String| ApiError::new(ErrorCode::InvalidCount, message);
        let count = |name: &str, count: i64| {
            let is_valid = (0..=bounds::MAX_COUNT).contains(&count);
            is_valid.then_some(count).ok_or_else(|| invalid(format!("`{name}` must be 0 to {}", bounds::MAX_COUNT)))
        };
        let part = |name: &str, part: Option<i64>| part.map(|part| count(name, part)).transpose();
        let prompt = count("prompt_tokens", self.prompt.unwrap_or(0))?;
        let cached = part("cached_tokens", self.cached)?;
        let cache_write = part("cache_write_tokens", self.cache_write)?;
        if cached.unwrap_or(0) + cache_write.unwrap_or(0) > prompt {
            let message = "`cached_tokens` and `cache_write_tokens` are parts of `prompt_tokens`, so together they are at most that";
            return Err(invalid(message.to_owned()));
        }
        let completion = count("completion_tokens", self.completion.unwrap_or(0))?;
        Ok(Units::from_iter([
            (INPUT_TOKENS, Some(prompt)),
            (OUTPUT_TOKENS, Some(completion)),
            (CACHE_READ_TOKENS, cached),
            (CACHE_WRITE_TOKENS, cache_write),
        ]))
    }
}
