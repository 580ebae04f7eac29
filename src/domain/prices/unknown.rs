//! Why it is not known what a request costs.

use super::units::UnitsInvalid;
use crate::domain::bounds;

/// Why it is not known what a request costs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    #[error(transparent)]
    NotPriced(#[from] NotPriced),
    /// No request can have used this.
    #[error(transparent)]
    Invalid(#[from] UnitsInvalid),
    #[error(transparent)]
    TooExpensive(#[from] TooExpensive),
}

/// Why a request to a model has no price, as the rest of a sentence about the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPriced {
    /// No rule of the list is for its name.
    #[error("has no price: add one with `keymeter prices set`, or send `quota` or `usd`")]
    NoRule,
    /// A provider has it, and its price cannot be used or is none.
    #[error(
        "is free, sold by subscription or priced in a way that is not known here: add a price of your own with \
         `keymeter prices set`, or send `quota` or `usd`"
    )]
    LeftOut,
    #[error("has different prices at {0:?} and {1:?}: send `provider`, or choose one of them in the price list")]
    Ambiguous(String, String),
    #[error("has no price at {0:?}: the price list has no such provider")]
    NoProvider(String),
    /// Neither the unit nor one that it is a part of has a rate.
    #[error("has no rate for `{0}`")]
    NoRate(String),
    #[error("has no price for {key} = {value:?}")]
    NoVariant { key: String, value: String },
}

/// By these counts, a request costs more than can be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these counts cost more than {} dollars", bounds::MAX_QUOTA / bounds::QUOTA_PER_USD)]
pub struct TooExpensive;
