//! Rate limits. Each limit counts on its own, by user, by account, by key or by address, and has a bounded number
//! of counters: see `store`.

mod store;

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::{NotUntil, Quota};

use self::store::{BoundedStore, Request};
use crate::domain::clock::{Clock, Uptime};
use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::domain::user::User;
use crate::domain::wording::Wait;

/// The limits, per minute; 0 means no limit.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Searches of one user.
    pub search: u32,
    /// Wrong passwords of one network at one account (`sign_in_limits.rs`). One address may try to sign in three times
    /// as often.
    pub login: u32,
    /// Usage queries by one key.
    pub usage: u32,
    /// Calls of one key, and of one user, to the drop-in endpoints.
    pub drop_in: u32,
    /// Wrong keys from one address.
    pub wrong_keys: u32,
    /// Unknown credentials of gateways and unknown access tokens from one address.
    pub wrong_credentials: u32,
    /// Registrations from one address.
    pub register: u32,
    /// Rows that one account writes.
    pub writes: u32,
}

/// A limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many requests; try again in {}", Wait(.retry_after.cast_signed()))]
pub struct RateLimited {
    /// Seconds until the next request is allowed; at least 1.
    pub retry_after: u64,
}

/// Counts requests and refuses those beyond a limit.
pub struct RateLimiter {
    /// Searches of a user (spec §4.2).
    pub search: Bucket<UserId>,
    /// Attempts to sign in from a network, successful or not.
    pub login: Bucket<Network>,
    /// Usage queries by a key (spec §4.8).
    pub usage: Bucket<Digest>,
    /// Calls by a key to the endpoints of other APIs of this family.
    pub drop_in: Bucket<Digest>,
    /// Questions of a user for single charges.
    pub charges: Bucket<UserId>,
    /// Texts that are no keys. They were refused without the database, so they do not count as wrong keys.
    pub malformed_keys: Bucket<Network>,
    /// Keys that do not exist.
    pub wrong_keys: Bucket<Network>,
    /// Credentials that were looked up and do not exist.
    pub wrong_credentials: Bucket<Network>,
    /// Registrations.
    pub register: Bucket<Network>,
    writes: Bucket<UserId>,
}

impl RateLimiter {
    /// A limiter that has counted nothing yet.
    pub fn new(limits: RequestLimits, clock: &Arc<dyn Clock>) -> Self {
        Self {
            search: Bucket::new(limits.search, clock),
            login: Bucket::new(limits.login.saturating_mul(3), clock),
            usage: Bucket::new(limits.usage, clock),
            drop_in: Bucket::new(limits.drop_in, clock),
            charges: Bucket::new(limits.drop_in, clock),
            malformed_keys: Bucket::new(limits.wrong_keys, clock),
            wrong_keys: Bucket::new(limits.wrong_keys, clock),
            wrong_credentials: Bucket::new(limits.wrong_credentials, clock),
            register: Bucket::new(limits.register, clock),
            writes: Bucket::new(limits.writes, clock),
        }
    }

    /// Counts a request by which an account writes a row. Administrators are not limited.
    ///
    /// # Errors
    /// The limit is reached.
    pub fn may_write(&self, user: &User) -> Result<(), RateLimited> {
        if user.role.is_admin() { Ok(()) } else { self.writes.take(user.id) }
    }

    /// Counts the rows that the same request writes beside the first.
    ///
    /// # Errors
    /// The limit is reached.
    pub fn may_write_more(&self, user: &User, rows: usize) -> Result<(), RateLimited> {
        if user.role.is_admin() { Ok(()) } else { self.writes.take_more(user.id, rows.saturating_sub(1)) }
    }

    /// Frees the memory of entries that no longer limit anything.
    pub fn tidy(&self) {
        self.search.tidy();
        self.login.tidy();
        self.usage.tidy();
        self.drop_in.tidy();
        self.charges.tidy();
        self.malformed_keys.tidy();
        self.wrong_keys.tidy();
        self.wrong_credentials.tidy();
        self.register.tidy();
        self.writes.tidy();
    }
}

impl std::fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RateLimiter(…)")
    }
}

/// The address that is counted: an IPv4 address, or the /64 network of an IPv6 address, because a customer of a
/// provider has at least a /64. All requests from unknown addresses count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network(pub(super) Option<IpAddr>);

impl From<Option<IpAddr>> for Network {
    fn from(ip: Option<IpAddr>) -> Self {
        Self(ip.map(|ip| match ip.to_canonical() {
            IpAddr::V4(ip) => IpAddr::V4(ip),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        }))
    }
}

/// A limit for each `K`; `None` for no limit. governor counts and `BoundedStore` holds its state, because governor's
/// own stores are not bounded.
pub struct Bucket<K: Hash + Eq + Clone>(Option<Counter<K>>);

struct Counter<K: Hash + Eq + Clone> {
    governor: governor::RateLimiter<Request<K>, BoundedStore<K>, SecondsClock, NoOpMiddleware<Nanos>>,
    store: BoundedStore<K>,
    limit: NonZeroU32,
}

fn limited(refused: &NotUntil<Nanos>, clock: &SecondsClock) -> RateLimited {
    let wait = refused.wait_time_from(clock.now());
    RateLimited { retry_after: (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1) }
}

impl<K: Hash + Eq + Clone> Bucket<K> {
    fn new(per_minute: u32, clock: &Arc<dyn Clock>) -> Self {
        Self(NonZeroU32::new(per_minute).map(|per_minute| {
            let clock = SecondsClock { clock: Arc::clone(clock), start: clock.uptime() };
            let store = BoundedStore::new(clock.clone());
            let governor = governor::RateLimiter::new(Quota::per_minute(per_minute), store.clone(), clock);
            Counter { governor, store, limit: per_minute }
        }))
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The limit is reached.
    pub fn take(&self, key: impl Into<K>) -> Result<(), RateLimited> {
        self.check(&Request { key: key.into(), counts: true })
    }

    /// Counts several at once, after one that was counted alone. More than the whole limit count as the whole limit:
    /// else they would never fit.
    fn take_more(&self, key: K, count: usize) -> Result<(), RateLimited> {
        let (Some(Counter { governor, limit, .. }), Some(count)) =
            (&self.0, u32::try_from(count).map_or(Some(NonZeroU32::MAX), NonZeroU32::new))
        else {
            return Ok(());
        };
        let Some(rest) = NonZeroU32::new(limit.get() - 1) else {
            return Ok(());
        };
        let request = Request { key, counts: true };
        let counted = governor.check_key_n(&request, count.min(rest)).unwrap_or(Ok(()));
        counted.map_err(|refused| limited(&refused, governor.clock()))
    }

    /// Checks the limit without counting.
    ///
    /// # Errors
    /// The limit is reached.
    pub fn look(&self, key: impl Into<K>) -> Result<(), RateLimited> {
        self.check(&Request { key: key.into(), counts: false })
    }

    fn check(&self, request: &Request<K>) -> Result<(), RateLimited> {
        let Some(Counter { governor, .. }) = &self.0 else {
            return Ok(());
        };
        governor.check_key(request).map_err(|refused| limited(&refused, governor.clock()))
    }

    fn tidy(&self) {
        if let Some(counter) = &self.0 {
            counter.store.tidy();
        }
    }

    /// Number of keys with an entry of their own.
    #[cfg(test)]
    fn keys(&self) -> usize {
        self.0.as_ref().map_or(0, |counter| counter.store.len())
    }
}

/// [`Clock`] for governor: whole seconds of uptime since the limiter was created, precise enough for limits per minute.
#[derive(Clone)]
struct SecondsClock {
    clock: Arc<dyn Clock>,
    start: Uptime,
}

impl GovernorClock for SecondsClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::from(Duration::from_secs(self.clock.uptime().since(self.start).as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::bounds;
    use crate::domain::clock::ManualClock;
    use crate::domain::time::UnixTime;

    fn new_limiter(search: u32) -> (RateLimiter, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::at(UnixTime::new(1_000_000)));
        let limits = RequestLimits {
            search,
            login: 2,
            usage: 60,
            drop_in: 60,
            wrong_keys: 20,
            wrong_credentials: 0,
            register: 0,
            writes: 0,
        };
        (RateLimiter::new(limits, &(clock.clone() as Arc<dyn Clock>)), clock)
    }

    #[test]
    fn a_limit_allows_a_minutes_requests_at_once_and_refills_evenly() {
        let (rate_limiter, clock) = new_limiter(10);
        let (ana, ben) = (UserId::new(1), UserId::new(2));
        for _ in 0..10 {
            assert_eq!(rate_limiter.search.take(ana), Ok(()));
        }
        assert_eq!(rate_limiter.search.take(ana), Err(RateLimited { retry_after: 6 }));
        assert_eq!(rate_limiter.search.take(ben), Ok(()));
        clock.advance(6);
        assert_eq!(rate_limiter.search.take(ana), Ok(()));
        assert!(rate_limiter.search.take(ana).is_err());
        clock.advance(60);
        rate_limiter.tidy();
        assert_eq!(rate_limiter.search.take(ana), Ok(()));
    }

    #[test]
    fn zero_means_no_limit() {
        let (rate_limiter, _) = new_limiter(0);
        assert!((0..1_000).all(|_| rate_limiter.search.take(UserId::new(1)).is_ok()));
        assert!((0..1_000).all(|_| rate_limiter.register.take(None).is_ok()));
    }

    #[test]
    fn sign_ins_are_limited_by_address() {
        let (rate_limiter, _) = new_limiter(10);
        let ip = |last| Some(IpAddr::from([192, 0, 2, last]));
        assert!((0..6).all(|_| rate_limiter.login.take(ip(9)).is_ok()));
        assert!(rate_limiter.login.take(ip(9)).is_err());
        assert!(rate_limiter.login.take(ip(8)).is_ok());
    }

    #[test]
    fn a_check_counts_nothing() {
        let (rate_limiter, clock) = new_limiter(0);
        let here = Some(IpAddr::from([192, 0, 2, 1]));
        assert!((0..100).all(|_| rate_limiter.wrong_keys.look(here).is_ok()));
        assert!((0..20).all(|_| rate_limiter.wrong_keys.take(here).is_ok()));
        assert_eq!(rate_limiter.wrong_keys.look(here), Err(RateLimited { retry_after: 3 }));
        assert_eq!(rate_limiter.wrong_keys.look(Some(IpAddr::from([192, 0, 2, 2]))), Ok(()));
        clock.advance(3);
        assert_eq!(rate_limiter.wrong_keys.look(here), Ok(()));
        assert_eq!(rate_limiter.wrong_keys.keys(), 1);
    }

    /// An address in the network of one customer.
    #[expect(clippy::unnecessary_wraps, reason = "the argument of the limiter")]
    fn customer(number: u32, host: u16) -> Option<IpAddr> {
        let network = (0x2001_0db8_u128 << 96) | (u128::from(number) << 64);
        Some(Ipv6Addr::from_bits(network | u128::from(host)).into())
    }

    #[test]
    fn a_bounded_number_of_addresses_is_remembered() {
        let (rate_limiter, clock) = new_limiter(0);
        let blocked = customer(0, 1);
        while rate_limiter.wrong_keys.take(blocked).is_ok() {}
        let many = u32::try_from(bounds::MAX_RATE_LIMIT_KEYS * 3).unwrap();
        let mut refused = 0;
        for n in 1..many {
            refused += u32::from(rate_limiter.wrong_keys.take(customer(n, 1)).is_err());
        }
        assert_eq!(rate_limiter.wrong_keys.keys(), bounds::MAX_RATE_LIMIT_KEYS);
        assert!(refused > many / 2, "addresses beyond the bound share limits: {refused}");
        // The address that was refused is still refused, from its whole network.
        assert!(rate_limiter.wrong_keys.look(customer(0, 2)).is_err());
        assert!(rate_limiter.wrong_keys.take(customer(0, 3)).is_err());
        // After the flood, new addresses get entries of their own, also before the next `tidy`.
        clock.advance(60);
        assert!((0..20).all(|host| rate_limiter.wrong_keys.take(customer(many, host)).is_ok()));
        assert!(rate_limiter.wrong_keys.take(customer(many, 20)).is_err());
        assert_eq!(rate_limiter.wrong_keys.keys(), 1);
    }

    #[test]
    fn ipv4_mapped_addresses_count_as_ipv4_and_unknown_ones_together() {
        assert_eq!(
            Network::from(Some("::ffff:192.0.2.1".parse().unwrap())),
            Network(Some("192.0.2.1".parse().unwrap()))
        );
        assert_eq!(Network::from(Some("192.0.2.1".parse().unwrap())), Network(Some("192.0.2.1".parse().unwrap())));
        assert_eq!(Network::from(customer(7, 9)), Network(Some("2001:db8:0:7::".parse().unwrap())));
        assert_eq!(Network::from(None), Network(None));
    }
}
