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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::domain::policy;
use crate::domain::time::Clock;
use crate::domain::user::Username;

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
    malformed_keys: Bucket<Option<IpAddr>>,
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
            malformed_keys: Bucket::new(limits.wrong_keys, clock),
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

    /// May somebody at `ip` try to sign in as `username`, if that is a name at all? Every try counts, also a right one.
    ///
    /// # Errors
    /// Not now.
    pub fn may_sign_in(&self, username: Option<&Username>, ip: Option<IpAddr>) -> Result<(), TooOften> {
        self.login_address.take(&network(ip))?;
        username.map_or(Ok(()), |username| self.login_account.take(&username.folded()))
    }

    /// May this key ask for its usage (spec §4.8)?
    ///
    /// # Errors
    /// Not now.
    pub fn may_ask_usage(&self, key: &Digest) -> Result<(), TooOften> {
        self.usage.take(key)
    }

    /// Counts a text from `ip` that is no key. It costs nothing, so it does not keep keys from being tried.
    ///
    /// # Errors
    /// Too many: whoever guesses is told to wait.
    pub fn malformed_key(&self, ip: Option<IpAddr>) -> Result<(), TooOften> {
        self.malformed_keys.take(&network(ip))
    }

    /// May somebody at `ip` show a key that may be wrong? Counts nothing.
    ///
    /// # Errors
    /// Not now: there were too many wrong ones.
    pub fn may_try_key(&self, ip: Option<IpAddr>) -> Result<(), TooOften> {
        self.wrong_keys.look(&network(ip))
    }

    /// Counts a key from `ip` that was looked for and is nobody's.
    ///
    /// # Errors
    /// Too many: whoever guesses is told to wait.
    pub fn wrong_key(&self, ip: Option<IpAddr>) -> Result<(), TooOften> {
        self.wrong_keys.take(&network(ip))
    }

    /// May somebody at `ip` register?
    ///
    /// # Errors
    /// Not now.
    pub fn may_register(&self, ip: Option<IpAddr>) -> Result<(), TooOften> {
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

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Limiter(…)")
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

/// What a bucket holds when it is full lasts for a minute.
const MINUTE: i64 = 60 * SECOND;

/// In nanoseconds, the unit of this file.
const SECOND: i64 = 1_000_000_000;

/// Buckets that newcomers share when all places are taken.
const SHARED: usize = 1_024;

/// A bucket for each `K`. It is remembered as the moment when it is full again, and that is all there is to know of it.
struct Bucket<K> {
    /// How long one more takes to flow in; none where there is no limit.
    interval: Option<i64>,
    clock: Arc<dyn Clock>,
    held: Mutex<Held<K>>,
}

struct Held<K> {
    own: HashMap<K, i64>,
    shared: Vec<i64>,
    /// Chooses the shared bucket, so that nobody can choose whom to share it with.
    chance: RandomState,
    /// When places were looked for last.
    swept_at: i64,
}

impl<K: Hash + Eq + Clone> Bucket<K> {
    fn new(per_minute: u32, clock: &Arc<dyn Clock>) -> Self {
        let held = Held { own: HashMap::new(), shared: vec![0; SHARED], chance: RandomState::new(), swept_at: 0 };
        let interval = (per_minute > 0).then(|| MINUTE / i64::from(per_minute));
        Self { interval, clock: Arc::clone(clock), held: Mutex::new(held) }
    }

    /// Takes one out.
    fn take(&self, key: &K) -> Result<(), TooOften> {
        let Some(interval) = self.interval else {
            return Ok(());
        };
        let now = self.now();
        let mut held = self.held();
        let full_at = held.bucket(key, now);
        *full_at = one_less(*full_at, interval, now)?;
        Ok(())
    }

    /// Whether one could be taken out.
    fn look(&self, key: &K) -> Result<(), TooOften> {
        let Some(interval) = self.interval else {
            return Ok(());
        };
        let held = self.held();
        let full_at = held.own.get(key).or_else(|| held.is_full().then(|| &held.shared[held.shared_by(key)]));
        one_less(full_at.copied().unwrap_or(0), interval, self.now()).map(|_| ())
    }

    fn tidy(&self) {
        let now = self.now();
        let mut held = self.held();
        held.sweep(now);
        held.own.shrink_to_fit();
    }

    fn held(&self) -> MutexGuard<'_, Held<K>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whole seconds, which is fine enough for limits by the minute.
    fn now(&self) -> i64 {
        self.clock.now().get().saturating_mul(SECOND)
    }
}

impl<K: Hash + Eq + Clone> Held<K> {
    /// The bucket of a key: its own if there is a place for it, else one that it shares.
    fn bucket(&mut self, key: &K, now: i64) -> &mut i64 {
        let is_new = !self.own.contains_key(key);
        // Once a second is often enough to look through all of them.
        if is_new && self.is_full() && self.swept_at != now {
            self.sweep(now);
        }
        if is_new && self.is_full() {
            let shared = self.shared_by(key);
            return &mut self.shared[shared];
        }
        self.own.entry(key.clone()).or_insert(0)
    }

    fn is_full(&self) -> bool {
        self.own.len() >= policy::MAX_LIMITED
    }

    fn shared_by(&self, key: &K) -> usize {
        usize::try_from(self.chance.hash_one(key)).unwrap_or(0) % SHARED
    }

    /// Drops what is full again.
    fn sweep(&mut self, now: i64) {
        self.own.retain(|_, full_at| *full_at > now);
        self.swept_at = now;
    }
}

/// When a bucket is full again after one more was taken.
fn one_less(full_at: i64, interval: i64, now: i64) -> Result<i64, TooOften> {
    let full_at = full_at.max(now).saturating_add(interval);
    let wait = full_at.saturating_sub(now).saturating_sub(MINUTE);
    if wait <= 0 {
        return Ok(full_at);
    }
    Err(TooOften { retry_after: (wait.unsigned_abs()).div_ceil(SECOND.unsigned_abs()) })
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
        let name = |text: &str| Username::typed(text).unwrap();
        assert!(limiter.may_sign_in(Some(&name("ana")), ip(1)).is_ok());
        assert!(limiter.may_sign_in(Some(&name("ANA ")), ip(2)).is_ok());
        assert!(limiter.may_sign_in(Some(&name("ana")), ip(3)).is_err());
        assert!((0..6).all(|n| limiter.may_sign_in(Some(&name(&format!("user{n}"))), ip(9)).is_ok()));
        assert!(limiter.may_sign_in(Some(&name("another")), ip(9)).is_err());
        assert!((0..5).all(|n| limiter.may_sign_in(None, ip(100 + n)).is_ok()));
        assert_eq!(limiter.login_account.held().own.len(), 7);
    }

    #[test]
    fn looking_takes_nothing() {
        let (limiter, clock) = limiter(0);
        let here = Some(IpAddr::from([192, 0, 2, 1]));
        assert!((0..100).all(|_| limiter.may_try_key(here).is_ok()));
        assert!((0..20).all(|_| limiter.wrong_key(here).is_ok()));
        assert_eq!(limiter.may_try_key(here), Err(TooOften { retry_after: 3 }));
        assert_eq!(limiter.may_try_key(Some(IpAddr::from([192, 0, 2, 2]))), Ok(()));
        clock.advance(3);
        assert_eq!(limiter.may_try_key(here), Ok(()));
        assert_eq!(limiter.wrong_keys.held().own.len(), 1);
    }

    /// The address of the `n`th customer.
    #[expect(clippy::unnecessary_wraps, reason = "it is what the limiter takes")]
    fn customer(number: u32, host: u16) -> Option<IpAddr> {
        let network = (0x2001_0db8_u128 << 96) | (u128::from(number) << 64);
        Some(Ipv6Addr::from_bits(network | u128::from(host)).into())
    }

    #[test]
    fn however_many_come_a_bounded_number_is_remembered() {
        let (limiter, clock) = limiter(0);
        let blocked = customer(0, 1);
        while limiter.wrong_key(blocked).is_ok() {}
        let many = u32::try_from(policy::MAX_LIMITED * 3).unwrap();
        let mut refused = 0;
        for n in 1..many {
            refused += u32::from(limiter.wrong_key(customer(n, 1)).is_err());
        }
        assert_eq!(limiter.wrong_keys.held().own.len(), policy::MAX_LIMITED);
        assert!(refused > many / 2, "those beyond the bound share their limits: {refused}");
        // Whoever was refused is not forgotten for it, at no address of the same network.
        assert!(limiter.may_try_key(customer(0, 2)).is_err());
        assert!(limiter.wrong_key(customer(0, 3)).is_err());
        // Newcomers have places of their own as soon as the flood has passed, also before the next tidying.
        clock.advance(60);
        assert!((0..20).all(|host| limiter.wrong_key(customer(many, host)).is_ok()));
        assert!(limiter.wrong_key(customer(many, 20)).is_err());
        assert_eq!(limiter.wrong_keys.held().own.len(), 1);
    }

    #[test]
    fn mapped_addresses_are_those_of_ipv4_and_unknown_ones_are_one() {
        assert_eq!(network(Some("::ffff:192.0.2.1".parse().unwrap())), Some("192.0.2.1".parse().unwrap()));
        assert_eq!(network(Some("192.0.2.1".parse().unwrap())), Some("192.0.2.1".parse().unwrap()));
        assert_eq!(network(customer(7, 9)), Some("2001:db8:0:7::".parse().unwrap()));
        assert_eq!(network(None), None);
    }
}
