//! What was noted lately, in memory.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;

use crate::domain::clock::{Clock, Uptime};

/// Keys, each for some time after it was last noted. Beyond the capacity one is forgotten for each new one, also
/// earlier.
#[derive(Debug)]
pub(super) struct Recent<K: Hash + Eq> {
    clock: Arc<dyn Clock>,
    kept: Duration,
    noted: Cache<K, Uptime>,
}

impl<K: Hash + Eq + Clone> Recent<K> {
    pub(super) fn new(clock: Arc<dyn Clock>, kept: Duration, capacity: usize) -> Self {
        Self { clock, kept, noted: Cache::new(capacity) }
    }

    pub(super) fn contains(&self, key: &K) -> bool {
        self.noted.get(key).is_some_and(|then| self.clock.uptime().since(then) < self.kept)
    }

    pub(super) fn note(&self, key: K) {
        self.noted.insert(key, self.clock.uptime());
    }

    pub(super) fn forget(&self, key: &K) {
        self.noted.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::clock::ManualClock;
    use crate::domain::time::UnixTime;

    #[test]
    fn a_key_is_recent_for_its_time_after_it_was_last_noted_unless_it_is_forgotten() {
        let clock = Arc::new(ManualClock::at(UnixTime::new(1_000)));
        let recent = Recent::new(clock.clone(), Duration::from_mins(1), 10);
        assert!(!recent.contains(&1));
        recent.note(1);
        clock.advance(59);
        assert!(recent.contains(&1) && !recent.contains(&2));
        clock.set_ahead(-1_000);
        assert!(recent.contains(&1), "the time of day does not matter");
        recent.note(1);
        clock.advance(59);
        assert!(recent.contains(&1));
        clock.advance(1);
        assert!(!recent.contains(&1));
        recent.note(1);
        recent.forget(&1);
        assert!(!recent.contains(&1));
    }

    #[test]
    fn no_more_are_kept_than_the_capacity() {
        let recent = Recent::new(Arc::new(ManualClock::at(UnixTime::new(0))), Duration::MAX, 100);
        (0..10_000).for_each(|key| recent.note(key));
        assert!((0..10_000).filter(|key| recent.contains(key)).count() <= 100);
    }
}
