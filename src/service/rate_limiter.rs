//! How often something may be done. Each question has a bucket of its own, and each bucket holds a bounded number of
//! keys: strangers choose most of them.
//!
//! A bucket that holds all it may forgets nobody, because whoever was refused must not be able to push himself out of it.
//! Newcomers share some buckets instead, by chance, until places come free: at the latest a minute after a flood ends,
//! when what it left behind is full again.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::Quota;
use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;

use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::domain::policy;
use crate::domain::time::{Clock, UnixTime};
use crate::domain::username::Username;

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
pub struct RateLimited {
    /// Seconds until one more is allowed, at least 1.
    pub retry_after: u64,
}

/// Answers whether something may be done once more.
pub struct RateLimiter {
    search: Bucket<UserId>,
    login_account: Bucket<String>,
    login_address: Bucket<Option<IpAddr>>,
    usage: Bucket<Digest>,
    malformed_keys: Bucket<Option<IpAddr>>,
    wrong_keys: Bucket<Option<IpAddr>>,
    register: Bucket<Option<IpAddr>>,
}

impl RateLimiter {
    /// Full buckets.
    #[must_use]
    pub fn new(limits: Limits, clock: &Arc<dyn Clock>) -> Self {
        Self {
            search: Bucket::new(limits.search, clock),
            login_account: Bucket::new(limits.login, clock),
            login_address: Bucket::new(limits.login.saturating_mul(3), clock),
            usage: Bucket::new(limits.usage, clock),
            malformed_keys: Bucket::new(limits.wrong_keys, clock),
            wrong_keys: Bucket::new(limits.wrong_keys, clock),
            register: Bucket::new(limits.register, clock),
        }
    }

    /// May this user search (spec §4.2)?
    ///
    /// # Errors
    /// Not now.
    pub fn may_search(&self, user: UserId) -> Result<(), RateLimited> {
        self.search.take(&user)
    }

    /// May somebody at `ip` try to sign in as `username`, if that is a name at all? Every try counts, also a right one.
    ///
    /// # Errors
    /// Not now.
    pub fn may_sign_in(&self, username: Option<&Username>, ip: Option<IpAddr>) -> Result<(), RateLimited> {
        self.login_address.take(&network(ip))?;
        username.map_or(Ok(()), |username| self.login_account.take(&username.folded()))
    }

    /// May this key ask for its usage (spec §4.8)?
    ///
    /// # Errors
    /// Not now.
    pub fn may_ask_usage(&self, key: &Digest) -> Result<(), RateLimited> {
        self.usage.take(key)
    }

    /// Counts a text from `ip` that is no key. It costs nothing, so it does not keep keys from being tried.
    ///
    /// # Errors
    /// Too many: whoever guesses is told to wait.
    pub fn malformed_key(&self, ip: Option<IpAddr>) -> Result<(), RateLimited> {
        self.malformed_keys.take(&network(ip))
    }

    /// May somebody at `ip` show a key that may be wrong? Counts nothing.
    ///
    /// # Errors
    /// Not now: there were too many wrong ones.
    pub fn may_try_key(&self, ip: Option<IpAddr>) -> Result<(), RateLimited> {
        self.wrong_keys.look(&network(ip))
    }

    /// Counts a key from `ip` that was looked for and is nobody's.
    ///
    /// # Errors
    /// Too many: whoever guesses is told to wait.
    pub fn wrong_key(&self, ip: Option<IpAddr>) -> Result<(), RateLimited> {
        self.wrong_keys.take(&network(ip))
    }

    /// May somebody at `ip` register?
    ///
    /// # Errors
    /// Not now.
    pub fn may_register(&self, ip: Option<IpAddr>) -> Result<(), RateLimited> {
        self.register.take(&network(ip))
    }

    /// Forgets buckets that are full again, so that memory does not grow with every address seen.
    pub fn tidy(&self) {
        self.search.tidy();
        self.login_account.tidy();
        self.login_address.tidy();
        self.usage.tidy();
        self.malformed_keys.tidy();
        self.wrong_keys.tidy();
        self.register.tidy();
    }
}

impl std::fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RateLimiter(…)")
    }
}

/// Whom an address stands for: every customer of a provider has a whole /64 of IPv6 addresses at least. All whose
/// address is unknown count as one.
fn network(ip: Option<IpAddr>) -> Option<IpAddr> {
    Some(match ip?.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    })
}

/// Buckets that newcomers share when all places are taken.
const SHARED: usize = 1_024;

/// A bucket for each `K`, or none where there is no limit. governor counts, and keeps its counts in places of ours,
/// because its own stores hold as many keys as come.
struct Bucket<K: Hash + Eq + Clone>(Option<Counted<K>>);

struct Counted<K: Hash + Eq + Clone> {
    governor: governor::RateLimiter<Request<K>, Places<K>, SecondsClock, NoOpMiddleware<Nanos>>,
    places: Places<K>,
}

/// A key, and whether it takes one out of its bucket or only looks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Request<K> {
    key: K,
    takes: bool,
}

impl<K: Hash + Eq + Clone> Bucket<K> {
    fn new(per_minute: u32, clock: &Arc<dyn Clock>) -> Self {
        Self(NonZeroU32::new(per_minute).map(|per_minute| {
            let clock = SecondsClock { clock: Arc::clone(clock), start: clock.now() };
            let held =
                Held { own: HashMap::new(), shared: vec![None; SHARED], chance: RandomState::new(), swept_at: None };
            let places = Places { held: Arc::new(Mutex::new(held)), clock: clock.clone() };
            Counted {
                governor: governor::RateLimiter::new(Quota::per_minute(per_minute), places.clone(), clock),
                places,
            }
        }))
    }

    /// Takes one out.
    fn take(&self, key: &K) -> Result<(), RateLimited> {
        self.ask(Request { key: key.clone(), takes: true })
    }

    /// Whether one could be taken out.
    fn look(&self, key: &K) -> Result<(), RateLimited> {
        self.ask(Request { key: key.clone(), takes: false })
    }

    #[expect(clippy::needless_pass_by_value, reason = "made for this question")]
    fn ask(&self, request: Request<K>) -> Result<(), RateLimited> {
        let Some(Counted { governor, .. }) = &self.0 else {
            return Ok(());
        };
        governor.check_key(&request).map_err(|refused| {
            let wait = refused.wait_time_from(governor.clock().now());
            RateLimited { retry_after: (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1) }
        })
    }

    fn tidy(&self) {
        if let Some(Counted { places, .. }) = &self.0 {
            let mut held = places.held();
            held.sweep(places.clock.now());
            held.own.shrink_to_fit();
        }
    }

    /// How many keys have a place of their own.
    #[cfg(test)]
    fn keys(&self) -> usize {
        self.0.as_ref().map_or(0, |counted| counted.places.held().own.len())
    }
}

/// Our clock in governor's words: whole seconds since the bucket was made, which is fine enough for limits by the minute.
#[derive(Clone)]
struct SecondsClock {
    clock: Arc<dyn Clock>,
    start: UnixTime,
}

impl GovernorClock for SecondsClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::from(Duration::from_secs(u64::try_from(self.clock.now().since(self.start)).unwrap_or(0)))
    }
}

/// Where governor keeps the moment when a bucket is full again, which is all there is to know of it.
#[derive(Clone)]
struct Places<K> {
    held: Arc<Mutex<Held<K>>>,
    clock: SecondsClock,
}

impl<K: Hash + Eq + Clone> Places<K> {
    fn held(&self) -> MutexGuard<'_, Held<K>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> StateStore for Places<K> {
    type Key = Request<K>;

    fn measure_and_replace<T, F, E>(&self, request: &Request<K>, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut held = self.held();
        if !request.takes {
            return measure(held.look(&request.key)).map(|(answer, _)| answer);
        }
        let full_at = held.bucket(&request.key, self.clock.now());
        let (answer, next) = measure(*full_at)?;
        *full_at = Some(next);
        Ok(answer)
    }
}

struct Held<K> {
    own: HashMap<K, Option<Nanos>>,
    shared: Vec<Option<Nanos>>,
    /// Chooses the shared bucket, so that nobody can choose whom to share it with.
    chance: RandomState,
    /// When places were looked for last.
    swept_at: Option<Nanos>,
}

impl<K: Hash + Eq + Clone> Held<K> {
    /// When the bucket of a key is full again; nothing if it is.
    fn look(&self, key: &K) -> Option<Nanos> {
        match self.own.get(key) {
            Some(full_at) => *full_at,
            None if self.is_full() => self.shared[self.shared_by(key)],
            None => None,
        }
    }

    /// The bucket of a key: its own if there is a place for it, else one that it shares.
    fn bucket(&mut self, key: &K, now: Nanos) -> &mut Option<Nanos> {
        let is_new = !self.own.contains_key(key);
        // Once a second is often enough to look through all of them.
        if is_new && self.is_full() && self.swept_at != Some(now) {
            self.sweep(now);
        }
        if is_new && self.is_full() {
            let shared = self.shared_by(key);
            return &mut self.shared[shared];
        }
        self.own.entry(key.clone()).or_insert(None)
    }

    fn is_full(&self) -> bool {
        self.own.len() >= policy::MAX_LIMITED
    }

    fn shared_by(&self, key: &K) -> usize {
        usize::try_from(self.chance.hash_one(key)).unwrap_or(0) % SHARED
    }

    /// Drops what is full again.
    fn sweep(&mut self, now: Nanos) {
        self.own.retain(|_, full_at| full_at.is_some_and(|full_at| full_at > now));
        self.swept_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{ManualClock, UnixTime};

    fn new_limiter(search: u32) -> (RateLimiter, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::at(UnixTime::new(1_000_000)));
        let limits = Limits { search, login: 2, usage: 60, wrong_keys: 20, register: 0 };
        (RateLimiter::new(limits, &(clock.clone() as Arc<dyn Clock>)), clock)
    }

    #[test]
    fn a_bucket_holds_a_minutes_worth_and_fills_evenly() {
        let (rate_limiter, clock) = new_limiter(10);
        let (ana, ben) = (UserId::new(1), UserId::new(2));
        for _ in 0..10 {
            assert_eq!(rate_limiter.may_search(ana), Ok(()));
        }
        assert_eq!(rate_limiter.may_search(ana), Err(RateLimited { retry_after: 6 }));
        assert_eq!(rate_limiter.may_search(ben), Ok(()));
        clock.advance(6);
        assert_eq!(rate_limiter.may_search(ana), Ok(()));
        assert!(rate_limiter.may_search(ana).is_err());
        clock.advance(60);
        rate_limiter.tidy();
        assert_eq!(rate_limiter.may_search(ana), Ok(()));
    }

    #[test]
    fn zero_means_no_limit() {
        let (rate_limiter, _) = new_limiter(0);
        assert!((0..1_000).all(|_| rate_limiter.may_search(UserId::new(1)).is_ok()));
        assert!((0..1_000).all(|_| rate_limiter.may_register(None).is_ok()));
    }

    #[test]
    fn sign_ins_are_limited_by_account_and_by_address() {
        let (rate_limiter, _) = new_limiter(10);
        let ip = |last| Some(IpAddr::from([192, 0, 2, last]));
        let name = |text: &str| Username::typed(text).unwrap();
        assert!(rate_limiter.may_sign_in(Some(&name("ana")), ip(1)).is_ok());
        assert!(rate_limiter.may_sign_in(Some(&name("ANA ")), ip(2)).is_ok());
        assert!(rate_limiter.may_sign_in(Some(&name("ana")), ip(3)).is_err());
        assert!((0..6).all(|n| rate_limiter.may_sign_in(Some(&name(&format!("user{n}"))), ip(9)).is_ok()));
        assert!(rate_limiter.may_sign_in(Some(&name("another")), ip(9)).is_err());
        assert!((0..5).all(|n| rate_limiter.may_sign_in(None, ip(100 + n)).is_ok()));
        assert_eq!(rate_limiter.login_account.keys(), 7);
    }

    #[test]
    fn looking_takes_nothing() {
        let (rate_limiter, clock) = new_limiter(0);
        let here = Some(IpAddr::from([192, 0, 2, 1]));
        assert!((0..100).all(|_| rate_limiter.may_try_key(here).is_ok()));
        assert!((0..20).all(|_| rate_limiter.wrong_key(here).is_ok()));
        assert_eq!(rate_limiter.may_try_key(here), Err(RateLimited { retry_after: 3 }));
        assert_eq!(rate_limiter.may_try_key(Some(IpAddr::from([192, 0, 2, 2]))), Ok(()));
        clock.advance(3);
        assert_eq!(rate_limiter.may_try_key(here), Ok(()));
        assert_eq!(rate_limiter.wrong_keys.keys(), 1);
    }

    /// The address of the `n`th customer.
    #[expect(clippy::unnecessary_wraps, reason = "it is what the limiter takes")]
    fn customer(number: u32, host: u16) -> Option<IpAddr> {
        let network = (0x2001_0db8_u128 << 96) | (u128::from(number) << 64);
        Some(Ipv6Addr::from_bits(network | u128::from(host)).into())
    }

    #[test]
    fn however_many_come_a_bounded_number_is_remembered() {
        let (rate_limiter, clock) = new_limiter(0);
        let blocked = customer(0, 1);
        while rate_limiter.wrong_key(blocked).is_ok() {}
        let many = u32::try_from(policy::MAX_LIMITED * 3).unwrap();
        let mut refused = 0;
        for n in 1..many {
            refused += u32::from(rate_limiter.wrong_key(customer(n, 1)).is_err());
        }
        assert_eq!(rate_limiter.wrong_keys.keys(), policy::MAX_LIMITED);
        assert!(refused > many / 2, "those beyond the bound share their limits: {refused}");
        // Whoever was refused is not forgotten for it, at no address of the same network.
        assert!(rate_limiter.may_try_key(customer(0, 2)).is_err());
        assert!(rate_limiter.wrong_key(customer(0, 3)).is_err());
        // Newcomers have places of their own as soon as the flood has passed, also before the next tidying.
        clock.advance(60);
        assert!((0..20).all(|host| rate_limiter.wrong_key(customer(many, host)).is_ok()));
        assert!(rate_limiter.wrong_key(customer(many, 20)).is_err());
        assert_eq!(rate_limiter.wrong_keys.keys(), 1);
    }

    #[test]
    fn mapped_addresses_are_those_of_ipv4_and_unknown_ones_are_one() {
        assert_eq!(network(Some("::ffff:192.0.2.1".parse().unwrap())), Some("192.0.2.1".parse().unwrap()));
        assert_eq!(network(Some("192.0.2.1".parse().unwrap())), Some("192.0.2.1".parse().unwrap()));
        assert_eq!(network(customer(7, 9)), Some("2001:db8:0:7::".parse().unwrap()));
        assert_eq!(network(None), None);
    }
}
