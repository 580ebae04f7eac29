//! Where randomness comes from: the operating system, or a seed in tests.

use std::sync::{Arc, Mutex, PoisonError};

use rand::rand_core::UnwrapErr;
use rand::rngs::{StdRng, SysRng};
use rand::{CryptoRng, SeedableRng};

/// A source of randomness that services share.
#[derive(Clone, Debug)]
pub struct Rng(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Seeded(Arc<Mutex<StdRng>>),
}

impl Rng {
    /// The operating system's. Panics where the system has none, which no supported one does.
    #[must_use]
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// The same rolls every time, for tests.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(Mutex::new(StdRng::seed_from_u64(seed)))))
    }

    /// For what is no secret, such as the id of a request: a generator of this thread, which the
    /// operating system seeds, because asking it each time costs a system call.
    pub fn generate_fast<T>(&self, throw: impl FnOnce(&mut dyn CryptoRng) -> T) -> T {
        match &self.0 {
            #[expect(clippy::disallowed_methods, reason = "the one place that uses it")]
            Source::System => throw(&mut rand::rng()),
            Source::Seeded(_) => self.generate(throw),
        }
    }

    /// For secrets. Rolls as often as `throw` likes.
    pub fn generate<T>(&self, throw: impl FnOnce(&mut dyn CryptoRng) -> T) -> T {
        match &self.0 {
            Source::System => throw(&mut UnwrapErr(SysRng)),
            Source::Seeded(seeded) => throw(&mut *seeded.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}
