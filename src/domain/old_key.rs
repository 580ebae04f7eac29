//! Keys that a rotation replaced (spec §15.1). A token has one balance and, for a while, several keys: the current one
//! and old ones, each with a deadline.

use super::bounds;
use super::id::OldKeyId;
use super::key::KeyHint;
use super::named::named;
use super::time::UnixTime;

named! {
    /// When the grace period of a replaced key begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum GraceFrom {
        /// With the rotation.
        Now = "now",
        /// With the first use of a newer key, and at the latest [`bounds::GRACE_STARTS_SECONDS`] after the rotation.
        FirstUse = "first_use",
    }
}

/// How long a replaced key works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    seconds: i64,
    from: GraceFrom,
}

/// Why a grace period was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GraceInvalid {
    #[error("`grace_seconds` must be 0 to {}", bounds::MAX_GRACE_SECONDS)]
    Seconds,
    #[error("`grace_from` must be \"first_use\" or \"now\"")]
    From,
}

impl Grace {
    /// # Errors
    /// Fewer seconds than 0, or more than [`bounds::MAX_GRACE_SECONDS`].
    pub fn new(seconds: i64, from: GraceFrom) -> Result<Self, GraceInvalid> {
        if !(0..=bounds::MAX_GRACE_SECONDS).contains(&seconds) {
            return Err(GraceInvalid::Seconds);
        }
        Ok(Self { seconds, from })
    }

    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    pub const fn from(self) -> GraceFrom {
        self.from
    }

    /// Whether a key that is replaced now works on at all.
    pub fn is_none(self) -> bool {
        self.seconds == 0 && self.from == GraceFrom::Now
    }

    /// The deadline of a key that is replaced `now`; for [`GraceFrom::FirstUse`] the latest that it can be.
    pub const fn deadline(self, now: UnixTime) -> UnixTime {
        match self.from {
            GraceFrom::Now => now.plus(self.seconds),
            GraceFrom::FirstUse => now.plus(bounds::GRACE_STARTS_SECONDS.saturating_add(self.seconds)),
        }
    }
}

/// A key that was replaced. The key itself is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldKey {
    pub id: OldKeyId,
    pub key_hint: KeyHint,
    pub rotated_at: UnixTime,
    /// The deadline; while the key waits for the use of a newer one, the latest that this can be.
    pub expires_at: UnixTime,
    pub waits_for_use: bool,
    /// At most a minute too early; `None` if it was not used since it was replaced.
    pub last_used_time: Option<UnixTime>,
}

impl OldKey {
    /// When it stops working; `None` while that depends on the use of a newer key.
    pub fn ends_at(&self, now: UnixTime) -> Option<UnixTime> {
        let has_begun = !self.waits_for_use || self.rotated_at.plus(bounds::GRACE_STARTS_SECONDS) <= now;
        has_begun.then_some(self.expires_at)
    }
}

/// Which of its token's keys a request came with, as of a version of the token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsedKey {
    /// `None` for the current key.
    pub old: Option<UsedOldKey>,
    /// Whether its use begins the grace period of older keys.
    pub starts_grace: bool,
}

/// A replaced key that a request came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedOldKey {
    pub id: OldKeyId,
    /// From this second on it does not work.
    pub deadline: UnixTime,
    /// The length of its grace period in seconds, if that has not begun.
    pub waiting_grace: Option<i64>,
}

impl UsedKey {
    /// Whether the key works. Its token may be expired or disabled all the same.
    pub fn is_live(&self, now: UnixTime) -> bool {
        self.old.is_none_or(|old| now < old.deadline)
    }
}

impl UsedOldKey {
    /// The same key after a newer one was used.
    pub fn after_newer_was_used(self, now: UnixTime) -> Self {
        let Some(seconds) = self.waiting_grace else {
            return self;
        };
        Self { deadline: self.deadline.min(now.plus(seconds)), waiting_grace: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::domain::cell::CellLabel;
    use crate::domain::key::ApiKey;

    const NOW: UnixTime = UnixTime::new(1_000);

    #[test]
    fn s15_1_a_grace_period_has_0_seconds_to_30_days() {
        let grace = |seconds| Grace::new(seconds, GraceFrom::Now).map(Grace::seconds);
        assert_eq!(grace(0), Ok(0));
        assert_eq!(grace(2_592_000), Ok(2_592_000));
        assert_eq!(grace(-1), Err(GraceInvalid::Seconds));
        assert_eq!(grace(2_592_001), Err(GraceInvalid::Seconds));
        assert_eq!(grace(i64::MIN), Err(GraceInvalid::Seconds));
    }

    #[test]
    fn s15_1_it_begins_now_or_at_the_first_use() {
        for from in [GraceFrom::Now, GraceFrom::FirstUse] {
            assert_eq!(GraceFrom::parse(from.as_str()), Some(from));
        }
        for other in ["", "Now", "never", "first-use"] {
            assert_eq!(GraceFrom::parse(other), None, "{other}");
        }
        let grace = |seconds, from| Grace::new(seconds, from).unwrap();
        assert_eq!(grace(60, GraceFrom::Now).deadline(NOW), UnixTime::new(1_060));
        assert_eq!(grace(60, GraceFrom::FirstUse).deadline(NOW), UnixTime::new(1_060 + 2_592_000));
        assert!(grace(0, GraceFrom::Now).is_none());
        assert!(!grace(0, GraceFrom::FirstUse).is_none() && !grace(1, GraceFrom::Now).is_none());
    }

    #[test]
    fn s15_1_an_old_key_works_until_the_second_of_its_deadline() {
        let is_live = |deadline| UsedKey { old: Some(used(deadline, None)), starts_grace: false }.is_live(NOW);
        assert!(is_live(1_001));
        assert!(!is_live(1_000) && !is_live(999));
        assert!(UsedKey::default().is_live(NOW));
    }

    #[test]
    fn s15_1_the_use_of_a_newer_key_begins_the_grace_period_once() {
        let deadline = |key: UsedOldKey| key.after_newer_was_used(NOW).deadline.get();
        assert_eq!(deadline(used(9_000, Some(60))), 1_060);
        assert_eq!(deadline(used(1_010, Some(60))), 1_010, "never later than the latest");
        assert_eq!(deadline(used(9_000, None)), 9_000, "it had begun");
        let begun = used(9_000, Some(0)).after_newer_was_used(NOW);
        assert_eq!(begun.after_newer_was_used(NOW.plus(5)), begun);
    }

    #[test]
    fn s15_1_a_grace_period_that_nobody_began_begins_after_30_days() {
        let ends_at = |waits_for_use, now| {
            let key = OldKey {
                id: OldKeyId::new(1),
                key_hint: ApiKey::generate(&mut StdRng::seed_from_u64(1), CellLabel::default()).hint(),
                rotated_at: NOW,
                expires_at: UnixTime::new(9_000_000),
                waits_for_use,
                last_used_time: None,
            };
            key.ends_at(NOW.plus(now)).map(UnixTime::get)
        };
        assert_eq!(ends_at(false, 0), Some(9_000_000));
        assert_eq!(ends_at(true, 2_591_999), None);
        assert_eq!(ends_at(true, 2_592_000), Some(9_000_000));
    }

    fn used(deadline: i64, waiting_grace: Option<i64>) -> UsedOldKey {
        UsedOldKey { id: OldKeyId::new(1), deadline: UnixTime::new(deadline), waiting_grace }
    }
}
