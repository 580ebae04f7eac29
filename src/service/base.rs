//! What everything needs that reads or writes.

use std::sync::Arc;

use super::rng::Rng;
use super::vault::Vault;
use crate::domain::clock::Clock;
use crate::storage::Db;

/// What caches and background tasks need.
#[derive(Debug, Clone)]
pub struct Base {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub rng: Rng,
    pub vault: Vault,
}
