//! How often something may be done. Each question has a bucket of its own.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::domain::time::Clock;

/// Times a minute, each; 0 means as often as one likes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Searches of a user.
    pub search: u32,
    /// Sign-ins to one account. From one address: three times as many.
    pub login: u32,
    /// Usage questions of a key.
    pub usage: u32,
    /// Wrong keys from an address.
    pub wrong_keys: u32,
    /// Registrations from an address.
    pub register: u32,
}

/// Refused for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many requests; try again in {retry_after} s")]
pub struct TooOften {
    /// Seconds until one more is allowed, at least 1.
    pub retry_after: u64,
}

/// Answers whether something may be done once more.
pub struct Limiter {
    search: Bucket<UserId>,
    login_account: Bucket<String>,
    login_address: Bucket<Option<IpAddr>>,
    usage: Bucket<Digest>,
    wrong_keys: Bucket<Option<IpAddr>>,
    register: Bucket<Option<IpAddr>>,
}

impl Limiter {
    /// Full buckets.
    #[must_use]
    pub fn new(limits: Limits, clock: &Arc<dyn Clock>) -> Self {
        Self {
            search: Bucket::new(limits.search, clock),
            login_account: Bucket::new(limits.login, clock),
            login_address: Bucket::new(limits.login.saturating_mul(3), clock),
            usage: Bucket::new(limits.usage, clock),
            wrong_keys: Bucket::new(limits.wrong_keys, clock),
            register: Bucket::new(limits.register, clock),
        }
    }

    /// May this user search (spec §4.2)?
    ///
    /// # Errors
    /// Not now.
    pub fn may_search(&self, user: UserId) -> Result<(), TooOften> {
        self.search.take(&user)
    }

    /// May somebody at `ip` try to sign in as `username`? Every try counts, also a right one.
    ///
    /// # Errors
    /// Not now.
    pub fn may_sign_in(&self, username: &str, ip: Option<IpAddr>) -> Result<(), TooOften> {
        self.login_address.take(&ip)?;
        self.login_account.take(&username.trim().to_lowercase())
    }

    /// May this key ask for its usage (spec §4.8)?
    ///
    /// # Errors
    /// Not now.
    pub fn may_ask_usage(&self, key: &Digest) -> Result<(), TooOften> {
        self.usage.take(key)
    }

    /// Counts a wrong key from `ip`.
    ///
    /// # Errors
    /// Too many: whoever guesses is told to wait.
    pub fn wrong_key(&self, ip: Option<IpAddr>) -> Result<(), TooOften> {
        self.wrong_keys.take(&ip)
    }

    /// May somebody at `ip` register?
    ///
    /// # Errors
    /// Not now.
    pub fn may_register(&self, ip: Option<IpAddr>) -> Result<(), TooOften> {
        self.register.take(&ip)
    }

    /// Forgets buckets that are full again, so that memory does not grow with every address seen.
    pub fn tidy(&self) {
        self.search.tidy();
        self.login_account.tidy();
        self.login_address.tidy();
        self.usage.tidy();
        self.wrong_keys.tidy();
        self.register.tidy();
    }
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Limiter(…)")
    }
}

/// A bucket for each `K`, or none where there is no limit.
struct Bucket<K: Hash + Eq + Clone>(Option<RateLimiter<K, DashMapStateStore<K>, OurClock, NoOpMiddleware<Nanos>>>);

impl<K: Hash + Eq + Clone> Bucket<K> {
    fn new(per_minute: u32, clock: &Arc<dyn Clock>) -> Self {
        let quota = NonZeroU32::new(per_minute).map(Quota::per_minute);
        Self(quota.map(|quota| RateLimiter::dashmap_with_clock(quota, OurClock(Arc::clone(clock)))))
    }

    fn take(&self, key: &K) -> Result<(), TooOften> {
        let Some(bucket) = &self.0 else {
            return Ok(());
        };
        bucket.check_key(key).map_err(|refused| {
            let wait = refused.wait_time_from(bucket.clock().now());
            TooOften { retry_after: wait.as_secs().max(1) + u64::from(wait.subsec_nanos() > 0) }
        })
    }

    fn tidy(&self) {
        if let Some(bucket) = &self.0 {
            bucket.retain_recent();
            bucket.shrink_to_fit();
        }
    }
}

/// Our clock in governor's words: whole seconds, which is fine enough for limits by the minute.
#[derive(Clone)]
struct OurClock(Arc<dyn Clock>);

impl GovernorClock for OurClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::from(Duration::from_secs(u64::try_from(self.0.now().get()).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{ManualClock, UnixTime};

    fn limiter(search: u32) -> (Limiter, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::at(UnixTime::new(1_000_000)));
        let limits = Limits { search, login: 2, usage: 60, wrong_keys: 20, register: 0 };
        (Limiter::new(limits, &(clock.clone() as Arc<dyn Clock>)), clock)
    }

    #[test]
    fn a_bucket_holds_a_minutes_worth_and_fills_evenly() {
        let (limiter, clock) = limiter(10);
        let (ana, ben) = (UserId::new(1), UserId::new(2));
        for _ in 0..10 {
            assert_eq!(limiter.may_search(ana), Ok(()));
        }
        assert_eq!(limiter.may_search(ana), Err(TooOften { retry_after: 6 }));
        assert_eq!(limiter.may_search(ben), Ok(()));
        clock.advance(6);
        assert_eq!(limiter.may_search(ana), Ok(()));
        assert!(limiter.may_search(ana).is_err());
        clock.advance(60);
        limiter.tidy();
        assert_eq!(limiter.may_search(ana), Ok(()));
    }

    #[test]
    fn zero_means_no_limit() {
        let (limiter, _) = limiter(0);
        assert!((0..1_000).all(|_| limiter.may_search(UserId::new(1)).is_ok()));
        assert!((0..1_000).all(|_| limiter.may_register(None).is_ok()));
    }

    #[test]
    fn sign_ins_are_limited_by_account_and_by_address() {
        let (limiter, _) = limiter(10);
        let ip = |last| Some(IpAddr::from([192, 0, 2, last]));
        assert!(limiter.may_sign_in("ana", ip(1)).is_ok());
        assert!(limiter.may_sign_in("ANA ", ip(2)).is_ok());
        assert!(limiter.may_sign_in("ana", ip(3)).is_err());
        assert!((0..6).all(|n| limiter.may_sign_in(&format!("user {n}"), ip(9)).is_ok()));
        assert!(limiter.may_sign_in("another", ip(9)).is_err());
    }
}
