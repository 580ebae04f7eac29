//! Random numbers: from the operating system, or from a seed in tests.

use std::sync::{Arc, Mutex, PoisonError};

use rand::rand_core::UnwrapErr;
use rand::rngs::{StdRng, SysRng};
use rand::{CryptoRng, SeedableRng};

/// A source of random numbers, shared by the services.
#[derive(Clone, Debug)]
pub struct Rng(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Seeded(Arc<Mutex<StdRng>>),
}

impl Rng {
    /// The operating system's source. Panics if the system has none; every supported system has one.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// The same numbers every time, for tests.
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(Mutex::new(StdRng::seed_from_u64(seed)))))
    }

    /// Generates values that are not secret, such as request ids. Uses a generator of this thread, seeded by the
    /// operating system, which saves a system call for each value.
    pub fn generate_fast<T>(&self, make: impl FnOnce(&mut dyn CryptoRng) -> T) -> T {
        match &self.0 {
            #[expect(clippy::disallowed_methods, reason = "the only place that may use it")]
            Source::System => make(&mut rand::rng()),
            Source::Seeded(_) => self.generate(make),
        }
    }

    /// Generates secrets. `make` may draw any number of random values.
    pub fn generate<T>(&self, make: impl FnOnce(&mut dyn CryptoRng) -> T) -> T {
        match &self.0 {
            Source::System => make(&mut UnwrapErr(SysRng)),
            Source::Seeded(seeded) => make(&mut *seeded.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}
