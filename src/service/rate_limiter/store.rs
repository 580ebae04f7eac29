//! A bounded store for governor's state. Unauthenticated callers choose most of the keys, such as addresses, so their
//! number must be bounded.
//!
//! A full store evicts nothing: otherwise a caller who was refused could push their own entry out. New keys share
//! entries instead, chosen at random, until others are free again. That is at most a minute after a flood of keys ends.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::clock::Clock as GovernorClock;
use governor::nanos::Nanos;
use governor::state::StateStore;

use super::SecondsClock;
use crate::domain::bounds;

/// Entries that new keys share when the store is full.
const SHARED_ENTRIES: usize = 1_024;

/// A key, and whether this request counts or only checks the limit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Request<K> {
    pub key: K,
    pub counts: bool,
}

/// governor's state for each key: the time at which the limit is fully available again.
#[derive(Clone)]
pub(super) struct BoundedStore<K> {
    entries: Arc<Mutex<Entries<K>>>,
    clock: SecondsClock,
}

impl<K: Hash + Eq + Clone> BoundedStore<K> {
    pub(super) fn new(clock: SecondsClock) -> Self {
        let entries = Entries {
            own: HashMap::new(),
            shared: vec![None; SHARED_ENTRIES],
            hasher: RandomState::new(),
            swept_at: None,
        };
        Self { entries: Arc::new(Mutex::new(entries)), clock }
    }

    /// Removes entries that no longer limit anything, and frees their memory.
    pub(super) fn tidy(&self) {
        let mut entries = self.lock();
        entries.sweep(self.clock.now());
        entries.own.shrink_to_fit();
    }

    /// Number of keys with an entry of their own.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().own.len()
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> StateStore for BoundedStore<K> {
    type Key = Request<K>;

    fn measure_and_replace<T, F, E>(&self, request: &Request<K>, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut entries = self.lock();
        if !request.counts {
            return measure(entries.get(&request.key)).map(|(outcome, _)| outcome);
        }
        let available_at = entries.get_mut(&request.key, self.clock.now());
        let (outcome, next) = measure(*available_at)?;
        *available_at = Some(next);
        Ok(outcome)
    }
}

struct Entries<K> {
    own: HashMap<K, Option<Nanos>>,
    shared: Vec<Option<Nanos>>,
    /// Randomly seeded, so that a caller cannot choose which entry it shares.
    hasher: RandomState,
    /// When `own` was swept last.
    swept_at: Option<Nanos>,
}

impl<K: Hash + Eq + Clone> Entries<K> {
    fn get(&self, key: &K) -> Option<Nanos> {
        match self.own.get(key) {
            Some(available_at) => *available_at,
            None if self.is_full() => self.shared[self.shared_index(key)],
            None => None,
        }
    }

    /// The key's own entry, or a shared one if the store is full.
    fn get_mut(&mut self, key: &K, now: Nanos) -> &mut Option<Nanos> {
        let is_new = !self.own.contains_key(key);
        // A sweep reads all entries, so there is at most one in a second.
        if is_new && self.is_full() && self.swept_at != Some(now) {
            self.sweep(now);
        }
        if is_new && self.is_full() {
            let index = self.shared_index(key);
            return &mut self.shared[index];
        }
        self.own.entry(key.clone()).or_insert(None)
    }

    fn is_full(&self) -> bool {
        self.own.len() >= bounds::MAX_RATE_LIMIT_KEYS
    }

    fn shared_index(&self, key: &K) -> usize {
        usize::try_from(self.hasher.hash_one(key)).unwrap_or(0) % SHARED_ENTRIES
    }

    /// Removes entries that no longer limit anything.
    fn sweep(&mut self, now: Nanos) {
        self.own.retain(|_, available_at| available_at.is_some_and(|at| at > now));
        self.swept_at = Some(now);
    }
}
