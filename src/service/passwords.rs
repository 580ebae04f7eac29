//! Password hashing: argon2id with 19 MiB, 2 passes and 1 lane, on blocking threads. A few hashes run at a time, and a
//! bounded number of requests waits.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use zeroize::Zeroizing;

use super::rng::Rng;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::policy;

/// Maximum number of concurrent hashes. Each uses 19 MiB and one core.
const CONCURRENT_HASHES: usize = 2;

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being checked right now; try again in a moment")]
pub struct PasswordsBusy;

/// Hashes and verifies passwords.
#[derive(Clone)]
pub struct Passwords {
    rng: Rng,
    /// One permit for each running hash.
    running: Arc<Semaphore>,
    /// One permit for each running or waiting hash.
    queue: Arc<Semaphore>,
    /// A hash to verify for unknown users, so that they take as long as known ones.
    dummy_hash: Arc<str>,
}

/// A place in the queue.
pub struct QueuePermit(OwnedSemaphorePermit);

impl Passwords {
    /// Computes one hash, for unknown users.
    #[must_use]
    pub fn new(rng: Rng) -> Self {
        let dummy_hash = hash(b"no user has this password", &salt(&rng));
        let queue = Arc::new(Semaphore::new(CONCURRENT_HASHES + policy::PASSWORDS_WAITING));
        Self { rng, running: Arc::new(Semaphore::new(CONCURRENT_HASHES)), queue, dummy_hash: dummy_hash.into() }
    }

    /// Takes a place in the queue. Call it before any other work for an unauthenticated request.
    ///
    /// # Errors
    /// The queue is full.
    pub fn queue(&self) -> Result<QueuePermit, PasswordsBusy> {
        Arc::clone(&self.queue).try_acquire_owned().map(QueuePermit).map_err(|_| PasswordsBusy)
    }

    /// Hashes a new password, in PHC format.
    ///
    /// # Errors
    /// The queue is full.
    pub async fn hash(&self, password: &NewPassword) -> Result<String, PasswordsBusy> {
        let permit = self.queue()?;
        let salt = salt(&self.rng);
        let password = Zeroizing::new(password.expose().to_owned());
        Ok(self.run(permit, move || hash(password.as_bytes(), &salt)).await)
    }

    /// Returns true if `hash` is the hash of `password`. Without a hash, or if the password is too long, it returns false
    /// after the same time.
    pub async fn verify(&self, permit: QueuePermit, hash: Option<String>, password: &TypedPassword) -> bool {
        let can_match = hash.is_some() && password.expose().is_some();
        let hash = hash.unwrap_or_else(|| self.dummy_hash.to_string());
        let password = Zeroizing::new(password.expose().unwrap_or_default().to_owned());
        let matches = self
            .run(permit, move || {
                PasswordHash::new(&hash).is_ok_and(|hash| hasher().verify_password(password.as_bytes(), &hash).is_ok())
            })
            .await;
        can_match && matches
    }

    #[expect(clippy::expect_used, reason = "the semaphore is never closed and hashing does not panic")]
    async fn run<T: Send + 'static>(&self, permit: QueuePermit, work: impl FnOnce() -> T + Send + 'static) -> T {
        let running = Arc::clone(&self.running).acquire_owned().await.expect("the semaphore is never closed");
        // The thread holds the permits, because the work goes on if the request is cancelled.
        let task = tokio::task::spawn_blocking(move || {
            let _permits = (running, permit.0);
            work()
        });
        task.await.expect("hashing does not panic")
    }
}

impl std::fmt::Debug for Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passwords(…)")
    }
}

fn salt(rng: &Rng) -> [u8; 16] {
    let mut salt = [0; 16];
    rng.generate(|rng| rng.fill_bytes(&mut salt));
    salt
}

#[expect(clippy::expect_used, reason = "these parameters are valid, and so is every salt of 16 bytes")]
fn hash(password: &[u8], salt: &[u8]) -> String {
    hasher().hash_password_with_salt(password, salt).expect("valid").to_string()
}

#[expect(clippy::expect_used, reason = "these parameters are valid")]
fn hasher() -> Argon2<'static> {
    let params = Params::new(19 * 1024, 2, 1, None).expect("valid");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches() {
        let passwords = Passwords::new(Rng::seeded(1));
        let hash = passwords.hash(&NewPassword::parse("correct horse").unwrap()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        let matches = async |hash: Option<&str>, typed: &str| {
            let permit = passwords.queue().unwrap();
            passwords.verify(permit, hash.map(str::to_owned), &TypedPassword::new(typed)).await
        };
        assert!(matches(Some(&hash), "correct horse").await);
        assert!(!matches(Some(&hash), "correct horse ").await);
        assert!(!matches(None, "no user has this password").await);
        assert!(!matches(Some("damaged"), "x").await);
        let empty = super::hash(b"", &[7; 16]);
        assert!(!matches(Some(&empty), &"x".repeat(129)).await, "a password that is too long matches nothing");
    }

    #[tokio::test]
    async fn the_queue_is_bounded_and_a_finished_hash_frees_a_place() {
        let passwords = Passwords::new(Rng::seeded(1));
        let mut permits: Vec<_> =
            (0..CONCURRENT_HASHES + policy::PASSWORDS_WAITING).map(|_| passwords.queue().unwrap()).collect();
        assert_eq!(passwords.queue().err(), Some(PasswordsBusy));
        assert_eq!(passwords.hash(&NewPassword::parse("correct horse").unwrap()).await, Err(PasswordsBusy));
        passwords.verify(permits.pop().unwrap(), None, &TypedPassword::new("x")).await;
        assert!(passwords.queue().is_ok());
    }
}
