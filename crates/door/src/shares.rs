//! What one of many may take of something that all share.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// One takes at most one part of so many.
const PARTS: usize = 4;

/// But always so many units.
const LEAST: usize = 64;

/// Counts what each takes. Who it is, is known by a hash alone: no key stays in memory.
#[derive(Debug)]
pub struct Shares {
    most: usize,
    hasher: RandomState,
    taken: Mutex<HashMap<u64, usize>>,
}

/// What one has taken. It is given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    shares: Arc<Shares>,
    who: u64,
    units: usize,
}

impl Shares {
    /// Shares of so many units.
    pub fn of(all: usize) -> Arc<Self> {
        Arc::new(Self { most: (all / PARTS).max(LEAST), hasher: RandomState::new(), taken: Mutex::default() })
    }

    /// A share of nothing yet.
    pub fn share(self: &Arc<Self>, who: &str) -> Share {
        Share { shares: Arc::clone(self), who: self.hasher.hash_one(who), units: 0 }
    }
}

impl Share {
    /// Takes more units. Returns false, and takes nothing, if that is more than one may take.
    pub fn take(&mut self, units: usize) -> bool {
        let mut taken = self.shares.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.entry(self.who).or_default();
        let is_allowed = *own + units <= self.shares.most;
        if is_allowed {
            *own += units;
            self.units += units;
        }
        if *own == 0 {
            taken.remove(&self.who);
        }
        is_allowed
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.who) {
            *own -= self.units;
            if *own == 0 {
                taken.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_takes_a_quarter_and_gives_it_back() {
        let shares = Shares::of(400);
        let (mut one, mut again, mut other) = (shares.share("a"), shares.share("a"), shares.share("b"));
        assert!(one.take(50) && again.take(50) && !again.take(1) && other.take(100) && !other.take(1));
        drop(one);
        assert!(again.take(50) && !again.take(1));
        drop((again, other));
        assert!(shares.taken.lock().unwrap().is_empty(), "nothing is remembered");
        assert!(!shares.share("a").take(101) && shares.taken.lock().unwrap().is_empty());
        assert!(Shares::of(8).share("a").take(64));
    }
}
