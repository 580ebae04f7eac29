//! What a body says that a request used: units by name, four of them also by other names, and what their price depends
//! on.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{Number, PartialSchema, ToSchema};

use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::api::members::Members;
use crate::domain::bounds;
use crate::domain::money::Quota;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::count::UnitCount;
use crate::domain::prices::unit::{CACHE_READ_TOKENS, CACHE_WRITE_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};
use crate::domain::prices::units::{Units, UnitsInvalid};
use crate::service::ledger::{ProviderUsage, UsageInvalid};

/// A count as it was sent. Its text is kept, because a float would not be exact, and so that a settlement with one that
/// is no number is charged its hold.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct CountText(Box<RawValue>);

impl PartialSchema for CountText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::from(Type::Integer)).minimum(Some(Number::Int(0))).into()
    }
}

impl ToSchema for CountText {}

/// Counts by unit as they were sent.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct UnitsText(Box<RawValue>);

impl PartialSchema for UnitsText {
    fn schema() -> RefOr<Schema> {
        let count = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::Number, Type::Null]))
            .minimum(Some(Number::Int(0)));
        ObjectBuilder::new()
            .schema_type(SchemaType::from(Type::Object))
            .additional_properties(Some(count))
            .description(Some("Counts by unit, such as `input_tokens`, `cache_write_1h_tokens` or `web_searches`."))
            .into()
    }
}

impl ToSchema for UnitsText {}

/// The usage of a provider's answer, or the whole answer, as it came.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct UsageText(Box<RawValue>);

impl UsageText {
    /// Reads it; it is of this API of its provider.
    ///
    /// # Errors
    /// See [`UsageInvalid`].
    pub(super) fn read(&self, flavor: Option<String>) -> Result<ProviderUsage, UsageInvalid> {
        ProviderUsage::read(self.0.get(), flavor)
    }
}

impl PartialSchema for UsageText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::from(Type::Object))
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .description(Some("The `usage` of the provider's answer as it came, or the whole answer, at most 64 KiB."))
            .into()
    }
}

impl ToSchema for UsageText {}

/// What the price of a request depends on besides its model, such as `{"service_tier": "priority"}`.
pub(in crate::api) type ContextFields = BTreeMap<String, Option<String>>;

/// The fields of a body that say what was used.
macro_rules! count_fields {
    ($body:expr) => {
        CountFields {
            by_name: [$body.prompt_tokens, $body.completion_tokens, $body.cached_tokens, $body.cache_write_tokens],
            units: $body.units,
            context: $body.context.unwrap_or_default(),
            provider: $body.provider,
            has_usage: false,
        }
    };
}

pub(super) use count_fields;

/// The names of four units that have a field of their own, in the order of [`CountFields::by_name`].
const NAMES: [(&str, &str); 4] = [
    ("prompt_tokens", INPUT_TOKENS),
    ("completion_tokens", OUTPUT_TOKENS),
    ("cached_tokens", CACHE_READ_TOKENS),
    ("cache_write_tokens", CACHE_WRITE_TOKENS),
];

/// What was used, as it was sent.
#[derive(Default)]
pub(in crate::api) struct CountFields {
    pub(in crate::api) by_name: [Option<CountText>; 4],
    pub(in crate::api) units: Option<UnitsText>,
    pub(in crate::api) context: ContextFields,
    pub(in crate::api) provider: Option<String>,
    /// Whether the answer of the provider comes with them.
    pub(in crate::api) has_usage: bool,
}

impl CountFields {
    /// Returns true if there is what a price needs.
    pub(super) const fn say_cost(&self) -> bool {
        self.has_usage || self.units.is_some() || matches!(&self.by_name, [Some(_), Some(_), ..])
    }

    /// # Errors
    /// Something is missing that a price needs.
    pub(super) fn check_complete(&self) -> Result<(), ApiError> {
        let message = "`quota`, `usd`, `units`, `usage`, or `prompt_tokens` and `completion_tokens` are required";
        if self.say_cost() { Ok(()) } else { Err(ApiError::new(ErrorCode::MissingField, message)) }
    }

    /// What a price is for, or what is recorded beside an amount.
    ///
    /// # Errors
    /// The counts cannot be read, or context or provider.
    pub(in crate::api) fn cost(&self, quota: Option<Quota>) -> Result<Cost, ApiError> {
        let (context, provider) = self.what_price()?;
        Ok(Cost { quota, units: self.units()?, context, provider })
    }

    /// The amount of a settlement. Of counts that cannot be read, only those of the tokens in and out are recorded.
    pub(super) fn told(&self, quota: Quota) -> Cost {
        let units = self.units().or_else(|_| self.named(&NAMES[..2])).unwrap_or_default();
        Cost { units, ..quota.into() }
    }

    fn units(&self) -> Result<Units, UnitsInvalid> {
        let mut units = self.named(&NAMES)?;
        let Some(UnitsText(json)) = &self.units else {
            return Ok(units);
        };
        let Members(members) = serde_json::from_str(json.get()).map_err(|_| UnitsInvalid::NotUnits)?;
        for (unit, count) in members.iter().filter(|(_, count)| count.get() != "null") {
            units.add(unit, read(unit, count)?)?;
        }
        Ok(units)
    }

    fn named(&self, names: &[(&str, &'static str)]) -> Result<Units, UnitsInvalid> {
        let mut units = Units::default();
        for ((name, unit), count) in names.iter().zip(&self.by_name) {
            if let Some(CountText(count)) = count {
                units.add(unit, read(name, count)?)?;
            }
        }
        Ok(units)
    }

    fn what_price(&self) -> Result<(BTreeMap<String, String>, Option<String>), ApiError> {
        let invalid = |field: &str| {
            let message = format!(
                "`{field}` must have 1 to {} visible characters, and a context at most {} members",
                bounds::MAX_CONTEXT_CHARS,
                bounds::MAX_CONTEXT_MEMBERS
            );
            ApiError::new(ErrorCode::InvalidContext, message)
        };
        let is_valid = |text: &str| {
            (1..=bounds::MAX_CONTEXT_CHARS).contains(&text.chars().count()) && !text.chars().any(char::is_control)
        };
        let members = self.context.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?)));
        let context: BTreeMap<_, _> = members.filter(|(_, value)| !value.is_empty()).collect();
        if context.len() > bounds::MAX_CONTEXT_MEMBERS || !context.iter().flat_map(<[_; 2]>::from).all(|t| is_valid(t))
        {
            return Err(invalid("context"));
        }
        let provider = self.provider.clone().filter(|provider| !provider.is_empty());
        match provider {
            Some(provider) if !is_valid(&provider) => Err(invalid("provider")),
            provider => Ok((context, provider)),
        }
    }
}

fn read(name: &str, count: &RawValue) -> Result<UnitCount, UnitsInvalid> {
    UnitCount::read(count.get()).map_err(|invalid| UnitsInvalid::UnitCount { unit: name.to_owned(), invalid })
}

impl From<UsageInvalid> for ApiError {
    fn from(invalid: UsageInvalid) -> Self {
        Self::new(ErrorCode::InvalidUsage, invalid.to_string())
    }
}

impl From<UnitsInvalid> for ApiError {
    fn from(invalid: UnitsInvalid) -> Self {
        Self::new(ErrorCode::InvalidCount, invalid.to_string())
    }
}
