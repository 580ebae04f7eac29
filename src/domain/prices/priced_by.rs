//! What decided the amount of a charge.

use crate::domain::named::named;
use crate::domain::time::UnixTime;

/// What decided the amount of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PricedBy {
    /// Its units and their rates.
    Units,
    /// An amount that the gateway sent, or that the answer of the provider told.
    Told,
    /// The hold of its reservation.
    Hold(HoldReason),
}

named! {
    /// Why a settlement was charged its hold, and not what it cost.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum HoldReason {
        /// The model, a unit of it, its tier or its provider has no price.
        ModelNotPriced = "model_not_priced",
        /// Its counts cannot be.
        InvalidCount = "invalid_count",
        /// The usage of its answer cannot be read.
        InvalidUsage = "invalid_usage",
        /// Nothing was counted.
        NothingUsed = "nothing_used",
        /// No input was counted, although the reservation named some.
        NoInput = "no_input",
        /// Its time was over, and it was made to be charged then.
        Expired = "expired",
    }
}

/// Charges of one model that were their holds for one reason, in the last time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldCharges {
    /// `None` if the gateway named none.
    pub model: Option<String>,
    pub reason: HoldReason,
    pub requests: i64,
    pub last: UnixTime,
}

impl PricedBy {
    /// Of a charge with or without the rates that it was computed by.
    pub const fn of(has_rates: bool, hold: Option<HoldReason>) -> Self {
        match (hold, has_rates) {
            (Some(reason), _) => Self::Hold(reason),
            (None, true) => Self::Units,
            (None, false) => Self::Told,
        }
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Units => "units",
            Self::Told => "told",
            Self::Hold(_) => "hold",
        }
    }

    /// Why its hold was charged, if it was.
    pub const fn hold_reason(self) -> Option<HoldReason> {
        match self {
            Self::Hold(reason) => Some(reason),
            Self::Units | Self::Told => None,
        }
    }
}
