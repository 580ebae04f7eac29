//! Requests per minute of forward-auth: each server counts its own, in memory.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use quick_cache::sync::Cache;

use crate::domain::clock::Uptime;
use crate::domain::id::TokenId;
use crate::domain::rate_limits::{RateExceeded, admit_request};
use crate::domain::time::Micros;

/// Tokens remembered. Beyond that, one is forgotten for each new one, and starts again.
const MAX_TOKENS: usize = 50_000;

/// When the bucket of each token is empty.
#[derive(Debug)]
pub(super) struct ForwardAuthRates(Cache<TokenId, Arc<AtomicI64>>);

impl ForwardAuthRates {
    pub(super) fn new() -> Self {
        Self(Cache::new(MAX_TOKENS))
    }

    /// `now` is an uptime: what is counted in memory does not depend on when somebody sets a clock.
    pub(super) fn count(&self, token: TokenId, limit: i64, now: Uptime) -> Result<(), RateExceeded> {
        let Ok(bucket) = self.0.get_or_insert_with(&token, || Ok::<_, Infallible>(Arc::default()));
        let next = |tat| admit_request(limit, Micros::new(tat), Micros::new(now.get())).map(Micros::get);
        let mut wait = 0;
        let counted = bucket
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |tat| next(tat).map_err(|seconds| wait = seconds).ok());
        counted.map(drop).map_err(|_| RateExceeded::requests(limit, wait))
    }
}
