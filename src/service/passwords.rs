//! Passwords: argon2id with 19 MiB, 2 passes, 1 lane, a few at a time on threads of their own.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::dice::Dice;
use crate::domain::user::NewPassword;

/// Hashes at once: each takes 19 MiB and a core.
const AT_ONCE: usize = 2;

/// Hashes and verifies passwords.
#[derive(Clone)]
pub struct Passwords {
    dice: Dice,
    places: Arc<Semaphore>,
    /// The hash of a password nobody has, so that unknown users take as long as known ones.
    nobodys: Arc<str>,
}

impl Passwords {
    /// Hashes once, to know a password nobody has.
    #[must_use]
    pub fn new(dice: Dice) -> Self {
        let nobodys = hash(b"nobody's password", &salt(&dice));
        Self { dice, places: Arc::new(Semaphore::new(AT_ONCE)), nobodys: nobodys.into() }
    }

    /// The hash of a new password, in PHC form.
    pub async fn hash(&self, password: &NewPassword) -> String {
        let salt = salt(&self.dice);
        let password = Zeroizing::new(password.expose().to_owned());
        self.in_its_place(move || hash(password.as_bytes(), &salt)).await
    }

    /// Whether `password` is the one of `known`. Without `known` it takes as long and is not.
    pub async fn verify(&self, known: Option<String>, password: &str) -> bool {
        let exists = known.is_some();
        let known = known.unwrap_or_else(|| self.nobodys.to_string());
        let password = Zeroizing::new(password.to_owned());
        let fits = self
            .in_its_place(move || {
                PasswordHash::new(&known)
                    .is_ok_and(|known| hasher().verify_password(password.as_bytes(), &known).is_ok())
            })
            .await;
        exists && fits
    }

    #[expect(clippy::expect_used, reason = "the semaphore is never closed and hashing does not panic")]
    async fn in_its_place<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let place = Arc::clone(&self.places).acquire_owned().await.expect("never closed");
        let working = tokio::task::spawn_blocking(move || {
            let _place = place;
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

fn salt(dice: &Dice) -> [u8; 16] {
    let mut salt = [0; 16];
    dice.roll(|dice| dice.fill_bytes(&mut salt));
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
        let passwords = Passwords::new(Dice::seeded(1));
        let hash = passwords.hash(&NewPassword::parse("correct horse").unwrap()).await;
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(passwords.verify(Some(hash.clone()), "correct horse").await);
        assert!(!passwords.verify(Some(hash), "correct horse ").await);
        assert!(!passwords.verify(None, "nobody's password").await);
        assert!(!passwords.verify(Some("damaged".into()), "x").await);
    }
}
