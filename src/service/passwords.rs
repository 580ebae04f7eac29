//! Passwords: argon2id with 19 MiB, 2 passes, 1 lane, a few at a time on threads of their own.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use zeroize::Zeroizing;

use super::rng::Rng;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::policy;

/// Hashes at once: each takes 19 MiB and a core.
const AT_ONCE: usize = 2;

/// Too many passwords wait already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being checked right now; try again in a moment")]
pub struct Busy;

/// Hashes and verifies passwords.
#[derive(Clone)]
pub struct Passwords {
    rng: Rng,
    places: Arc<Semaphore>,
    /// One for each that is hashed or waits for it.
    line: Arc<Semaphore>,
    /// The hash of a password nobody has, so that unknown users take as long as known ones.
    nobodys: Arc<str>,
}

/// A place in the line.
pub struct Turn(OwnedSemaphorePermit);

impl Passwords {
    /// Hashes once, to know a password nobody has.
    #[must_use]
    pub fn new(rng: Rng) -> Self {
        let nobodys = hash(b"nobody's password", &salt(&rng));
        let line = Arc::new(Semaphore::new(AT_ONCE + policy::PASSWORDS_WAITING));
        Self { rng, places: Arc::new(Semaphore::new(AT_ONCE)), line, nobodys: nobodys.into() }
    }

    /// A place in the line, before anything else is done for a stranger.
    ///
    /// # Errors
    /// The line is full.
    pub fn queue(&self) -> Result<Turn, Busy> {
        Arc::clone(&self.line).try_acquire_owned().map(Turn).map_err(|_| Busy)
    }

    /// The hash of a new password, in PHC form.
    ///
    /// # Errors
    /// Too many wait.
    pub async fn hash(&self, password: &NewPassword) -> Result<String, Busy> {
        let turn = self.queue()?;
        let salt = salt(&self.rng);
        let password = Zeroizing::new(password.expose().to_owned());
        Ok(self.in_its_place(turn, move || hash(password.as_bytes(), &salt)).await)
    }

    /// Whether `password` is the one of `known`. Without `known`, and where it is longer than any, it takes as long and
    /// is not.
    pub async fn verify(&self, turn: Turn, known: Option<String>, password: &TypedPassword) -> bool {
        let may_be_one = known.is_some() && password.expose().is_some();
        let known = known.unwrap_or_else(|| self.nobodys.to_string());
        let password = Zeroizing::new(password.expose().unwrap_or_default().to_owned());
        let fits = self
            .in_its_place(turn, move || {
                PasswordHash::new(&known)
                    .is_ok_and(|known| hasher().verify_password(password.as_bytes(), &known).is_ok())
            })
            .await;
        may_be_one && fits
    }

    #[expect(clippy::expect_used, reason = "the semaphore is never closed and hashing does not panic")]
    async fn in_its_place<T: Send + 'static>(&self, turn: Turn, work: impl FnOnce() -> T + Send + 'static) -> T {
        let place = Arc::clone(&self.places).acquire_owned().await.expect("never closed");
        let working = tokio::task::spawn_blocking(move || {
            let _held_until_done = (place, turn.0);
            work()
        });
        working.await.expect("hashing does not panic")
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
    async fn only_the_right_password_fits() {
        let passwords = Passwords::new(Rng::seeded(1));
        let hash = passwords.hash(&NewPassword::parse("correct horse").unwrap()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        let fits = async |known: Option<&str>, typed: &str| {
            let turn = passwords.queue().unwrap();
            passwords.verify(turn, known.map(str::to_owned), &TypedPassword::new(typed)).await
        };
        assert!(fits(Some(&hash), "correct horse").await);
        assert!(!fits(Some(&hash), "correct horse ").await);
        assert!(!fits(None, "nobody's password").await);
        assert!(!fits(Some("damaged"), "x").await);
        let empty = super::hash(b"", &[7; 16]);
        assert!(!fits(Some(&empty), &"x".repeat(129)).await, "what is not hashed fits nothing");
    }

    #[tokio::test]
    async fn the_line_is_bounded_and_moves_on() {
        let passwords = Passwords::new(Rng::seeded(1));
        let mut turns: Vec<_> = (0..AT_ONCE + policy::PASSWORDS_WAITING).map(|_| passwords.queue().unwrap()).collect();
        assert_eq!(passwords.queue().err(), Some(Busy));
        assert_eq!(passwords.hash(&NewPassword::parse("correct horse").unwrap()).await, Err(Busy));
        passwords.verify(turns.pop().unwrap(), None, &TypedPassword::new("x")).await;
        assert!(passwords.queue().is_ok());
    }
}
