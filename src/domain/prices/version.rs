//! Versions of the price list.

use crate::domain::id::UserId;
use crate::domain::time::UnixTime;

/// A version of the list, without the list.
#[derive(Debug, Clone)]
pub struct PriceVersion {
    /// The highest number is in force.
    pub number: i64,
    pub created_time: UnixTime,
    /// The administrator who set it; 0 if it was the section of the settings.
    pub created_by: UserId,
    pub note: String,
}

/// The texts that a list is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTexts {
    /// One's own prices.
    pub file: String,
    /// The prices of providers.
    pub data: String,
}
