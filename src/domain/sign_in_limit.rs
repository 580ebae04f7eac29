//! How often a password may be tried at one account (spec §8), so that guessing is slow and nobody is locked out of
//! their own account by strangers.
//!
//! Each network has attempts of its own at an account. Networks from which nobody signed in to it lately also share
//! three times as many: more networks do not help an attacker, and do not use up the attempts of those who were there
//! before.

use super::rate_limits::{admit_request, full_bucket, interval};
use super::time::Micros;
use crate::domain::named::named;

/// The attempts that new networks share, as a multiple of those of one network.
const NEW_NETWORKS: i64 = 3;

/// Attempts a minute of one network at one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInLimit(i64);

/// When the buckets of an account are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignInBuckets {
    /// Of the client's network.
    pub network: Micros,
    /// Of all networks together from which nobody signed in.
    pub new_networks: Micros,
}

named! {
    /// Whose attempts are used up.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LockedOut {
        /// Those of one network.
        Network = "network",
        /// Those of all networks from which nobody signed in.
        NewNetworks = "new_networks",
    }
}

/// An attempt that is refused, and the seconds until one is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptRefused {
    pub locked_out: LockedOut,
    pub retry_after: i64,
}

impl SignInLimit {
    /// `None` for 0, which means no limit.
    pub fn new(per_minute: u32) -> Option<Self> {
        (per_minute > 0).then_some(Self(per_minute.into()))
    }

    /// The buckets after one more attempt. `is_known` if somebody signed in from this network lately.
    ///
    /// # Errors
    /// A bucket is full; nothing is counted then.
    pub fn admit(self, buckets: SignInBuckets, is_known: bool, now: Micros) -> Result<SignInBuckets, AttemptRefused> {
        let buckets = self.cut(buckets, now);
        let admit = |limit, tat, locked_out| {
            admit_request(limit, tat, now).map_err(|retry_after| AttemptRefused { locked_out, retry_after })
        };
        let network = admit(self.0, buckets.network, LockedOut::Network)?;
        let new_networks = if is_known {
            buckets.new_networks
        } else {
            admit(self.of_new_networks(), buckets.new_networks, LockedOut::NewNetworks)?
        };
        Ok(SignInBuckets { network, new_networks })
    }

    /// The buckets without what was counted while the clock was ahead: one that would be empty later than a full one is
    /// full.
    pub fn cut(self, buckets: SignInBuckets, now: Micros) -> SignInBuckets {
        SignInBuckets {
            network: buckets.network.min(now.plus(full_bucket(self.0))),
            new_networks: buckets.new_networks.min(now.plus(full_bucket(self.of_new_networks()))),
        }
    }

    /// By how many microseconds one attempt fills each bucket. A right password is given back: only wrong ones count.
    pub const fn attempt(self) -> SignInBuckets {
        SignInBuckets {
            network: Micros::new(interval(self.0)),
            new_networks: Micros::new(interval(self.of_new_networks())),
        }
    }

    const fn of_new_networks(self) -> i64 {
        self.0.saturating_mul(NEW_NETWORKS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Micros = Micros::new(1_800_000_000 * Micros::PER_SECOND);

    fn limit() -> SignInLimit {
        SignInLimit::new(10).unwrap()
    }

    /// How many attempts in a row are admitted, and why the next one is not.
    fn admitted(mut buckets: SignInBuckets, is_known: bool) -> (SignInBuckets, usize, AttemptRefused) {
        for count in 0.. {
            match limit().admit(buckets, is_known, START) {
                Ok(next) => buckets = next,
                Err(refused) => return (buckets, count, refused),
            }
        }
        unreachable!()
    }

    #[test]
    fn a_network_has_ten_attempts_and_then_one_each_six_seconds() {
        for is_known in [false, true] {
            let (full, count, refused) = admitted(SignInBuckets::default(), is_known);
            assert_eq!((count, refused), (10, AttemptRefused { locked_out: LockedOut::Network, retry_after: 6 }));
            let later = START.plus(6 * Micros::PER_SECOND);
            let next = limit().admit(full, is_known, later).unwrap();
            assert!(limit().admit(next, is_known, later).is_err());
        }
    }

    #[test]
    fn new_networks_share_thirty_attempts_and_known_ones_have_their_own() {
        let mut shared = Micros::default();
        for _ in 0..3 {
            let (full, count, _) = admitted(SignInBuckets { network: Micros::default(), new_networks: shared }, false);
            assert_eq!(count, 10);
            shared = full.new_networks;
        }
        let fresh = SignInBuckets { network: Micros::default(), new_networks: shared };
        let refused = AttemptRefused { locked_out: LockedOut::NewNetworks, retry_after: 2 };
        assert_eq!(limit().admit(fresh, false, START), Err(refused));
        let (full, count, _) = admitted(fresh, true);
        assert_eq!((count, full.new_networks), (10, shared), "a known network neither uses nor needs the shared ones");
    }

    #[test]
    fn zero_is_no_limit_and_the_largest_one_does_not_overflow() {
        assert_eq!(SignInLimit::new(0), None);
        let most = SignInLimit::new(u32::MAX).unwrap();
        assert!(most.admit(SignInBuckets::default(), false, START).is_ok());
    }

    #[test]
    fn a_bucket_written_while_the_clock_was_ahead_is_full() {
        let ahead = START.plus(40 * 86_400 * Micros::PER_SECOND);
        let buckets = SignInBuckets { network: ahead, new_networks: ahead };
        let refused = AttemptRefused { locked_out: LockedOut::Network, retry_after: 6 };
        assert_eq!(limit().admit(buckets, false, START), Err(refused));
        let cut = limit().cut(buckets, START);
        assert!(limit().admit(cut, false, START.plus(6 * Micros::PER_SECOND)).is_ok());
        assert_eq!(limit().cut(cut, START), cut);
    }

    proptest! {
        #[test]
        fn what_is_given_back_can_be_used_again(per_minute in 1_u32..10_000, tries in 0_usize..50, is_known: bool) {
            let limit = SignInLimit::new(per_minute).unwrap();
            let empty = SignInBuckets { network: START, new_networks: START };
            let mut buckets = empty;
            for _ in 0..tries {
                buckets = limit.admit(buckets, is_known, START).unwrap();
                buckets.network = buckets.network.plus(-limit.attempt().network.get());
                if !is_known {
                    buckets.new_networks = buckets.new_networks.plus(-limit.attempt().new_networks.get());
                }
            }
            prop_assert_eq!(buckets, empty);
        }

        #[test]
        fn any_buckets_are_judged_without_a_panic(per_minute: u32, network: i64, new_networks: i64, now: i64, known: bool) {
            let buckets = SignInBuckets { network: Micros::new(network), new_networks: Micros::new(new_networks) };
            if let Some(limit) = SignInLimit::new(per_minute) {
                let _ = limit.admit(buckets, known, Micros::new(now));
            }
        }
    }
}
