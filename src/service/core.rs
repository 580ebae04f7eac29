//! What services need.

use std::sync::Arc;

use super::base::Base;
use super::invalidator::Invalidator;
use super::rate_limiter::RateLimiter;
use super::rng::Rng;
use super::vault::Vault;
use crate::domain::calendar::Calendar;
use crate::domain::clock::Clock;
use crate::domain::group::Groups;
use crate::storage::Db;

/// What every service needs.
#[derive(Debug, Clone)]
pub struct Core {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub rng: Rng,
    pub vault: Vault,
    pub invalidator: Invalidator,
    pub rate_limiter: Arc<RateLimiter>,
    /// The days and weeks of limits and reports.
    pub calendar: Calendar,
    pub groups: Groups,
}

impl Core {
    /// On what everything has.
    pub fn new(
        base: &Base,
        invalidator: Invalidator,
        rate_limiter: Arc<RateLimiter>,
        calendar: Calendar,
        groups: Groups,
    ) -> Self {
        let Base { db, clock, rng, vault } = base.clone();
        Self { db, clock, rng, vault, invalidator, rate_limiter, calendar, groups }
    }
}
