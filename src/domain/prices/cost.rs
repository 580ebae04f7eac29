//! What a request costs: as its gateway says, or by the price of its model.

use crate::domain::bounds;
use crate::domain::counts::Counts;
use crate::domain::money::Quota;
use crate::domain::price::GroupPrice;

/// What a request costs, as its gateway says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// The amount. Without one, the price of the model decides.
    pub quota: Option<Quota>,
    pub counts: Counts,
}

impl From<Quota> for Cost {
    fn from(quota: Quota) -> Self {
        Self { quota: Some(quota), counts: Counts::default() }
    }
}

/// What a request costs: an amount, and the price that it was computed by, if it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    pub quota: Quota,
    pub price: Option<GroupPrice>,
}

/// Why it is not known what a request costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// The model is not in the list.
    NotPriced,
    TooExpensive(TooExpensive),
}

/// By these counts, a request costs more than can be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these counts cost more than {} dollars", bounds::MAX_QUOTA / bounds::QUOTA_PER_USD)]
pub struct TooExpensive;
