//! Password hashing: argon2id with 19 MiB, 2 passes and 1 lane, on blocking threads. A few hashes run at a time, and a
//! bounded number of requests waits. Imported accounts have bcrypt hashes until they sign in.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use zeroize::Zeroizing;

use super::rng::Rng;
use crate::domain::bounds;
use crate::domain::password::{NewPassword, TypedPassword, is_bcrypt, random_password};

/// Maximum number of concurrent hashes. Each uses 19 MiB and one core.
const CONCURRENT_HASHES: usize = 2;

/// What a hash takes to compute. A stored hash is verified at the cost that it names.
#[derive(Debug, Clone, Copy)]
pub struct HashCost {
    kibibytes: u32,
    passes: u32,
}

impl HashCost {
    /// For passwords of people.
    pub const STRONG: Self = Self { kibibytes: 19 * 1024, passes: 2 };

    /// The least that argon2 allows, for passwords of tests.
    pub const LEAST: Self = Self { kibibytes: 8, passes: 1 };
}

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being checked right now; try again in a moment")]
pub struct PasswordsBusy;

/// Hashes and verifies passwords.
#[derive(Clone)]
pub struct Passwords {
    rng: Rng,
    cost: HashCost,
    /// One permit for each running hash.
    running: Arc<Semaphore>,
    /// One permit for each running or waiting hash.
    queue: Arc<Semaphore>,
    /// A hash to verify for unknown users, so that they take as long as known ones.
    dummy_hash: Arc<str>,
}

/// A place in the queue.
pub struct QueuePermit(OwnedSemaphorePermit);

/// A random password for somebody who cannot choose one now, and its hash.
pub struct GeneratedPassword {
    pub plain: Zeroizing<String>,
    pub hash: String,
}

impl GeneratedPassword {
    /// For commands: it hashes on this thread, without a queue.
    pub fn new(rng: &Rng) -> Self {
        let plain = rng.generate(|rng| random_password(rng));
        let hash = hash_password(plain.as_bytes(), &salt(rng), HashCost::STRONG);
        Self { plain, hash }
    }
}

/// The result of checking a password that was typed to sign in.
pub enum PasswordCheck {
    Wrong,
    Right,
    /// It is right, and this hash is to be stored instead of the bcrypt hash.
    RightWithOldHash(String),
}

impl Passwords {
    /// Computes one hash, for unknown users.
    pub fn new(rng: Rng, cost: HashCost) -> Self {
        let dummy_hash = hash_password(b"no user has this password", &salt(&rng), cost);
        let queue = Arc::new(Semaphore::new(CONCURRENT_HASHES + bounds::PASSWORDS_WAITING));
        Self { rng, cost, running: Arc::new(Semaphore::new(CONCURRENT_HASHES)), queue, dummy_hash: dummy_hash.into() }
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
        let cost = self.cost;
        Ok(self.run(permit, move || hash_password(password.as_bytes(), &salt, cost)).await)
    }

    /// Returns true if `hash` is the hash of `password`. Without a hash, or if the password is too long, it returns
    /// false after the same time.
    pub async fn verify(&self, permit: QueuePermit, hash: Option<String>, password: &TypedPassword) -> bool {
        let known = hash.filter(|hash| !hash.is_empty());
        let can_match = known.is_some() && password.expose().is_some();
        let hash = known.unwrap_or_else(|| self.dummy_hash.to_string());
        let password = Zeroizing::new(password.expose().unwrap_or_default().to_owned());
        can_match & self.run(permit, move || matches(&hash, password.as_bytes())).await
    }

    /// Like [`Passwords::verify`]. If the password matches a bcrypt hash, it returns the argon2id hash to store
    /// instead.
    pub async fn verify_and_rehash(
        &self,
        permit: QueuePermit,
        hash: Option<String>,
        password: &TypedPassword,
    ) -> PasswordCheck {
        let (Some(bcrypt_hash), Some(typed)) = (hash.as_ref().filter(|hash| is_bcrypt(hash)), password.expose()) else {
            let matches = self.verify(permit, hash, password).await;
            return if matches { PasswordCheck::Right } else { PasswordCheck::Wrong };
        };
        let (bcrypt_hash, password) = (bcrypt_hash.clone(), Zeroizing::new(typed.to_owned()));
        let (salt, cost) = (salt(&self.rng), self.cost);
        self.run(permit, move || {
            if !matches(&bcrypt_hash, password.as_bytes()) {
                return PasswordCheck::Wrong;
            }
            PasswordCheck::RightWithOldHash(hash_password(password.as_bytes(), &salt, cost))
        })
        .await
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

/// Returns true if `hash`, of argon2id or bcrypt, is that of the password.
fn matches(hash: &str, password: &[u8]) -> bool {
    if is_bcrypt(hash) {
        return bcrypt::verify(password, hash).unwrap_or(false);
    }
    PasswordHash::new(hash).is_ok_and(|hash| hasher(HashCost::STRONG).verify_password(password, &hash).is_ok())
}

/// Returns true if `hash` is the bcrypt hash of one of these passwords. For commands: it hashes on this thread.
pub fn is_bcrypt_of_one<'a>(hash: &str, passwords: impl IntoIterator<Item = &'a str>) -> bool {
    is_bcrypt(hash) && passwords.into_iter().any(|password| matches(hash, password.as_bytes()))
}

#[expect(clippy::expect_used, reason = "these parameters are valid, and so is every salt of 16 bytes")]
fn hash_password(password: &[u8], salt: &[u8], cost: HashCost) -> String {
    hasher(cost).hash_password_with_salt(password, salt).expect("valid").to_string()
}

#[expect(clippy::expect_used, reason = "these parameters are valid")]
fn hasher(cost: HashCost) -> Argon2<'static> {
    let params = Params::new(cost.kibibytes, cost.passes, 1, None).expect("valid");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches() {
        let passwords = Passwords::new(Rng::seeded(1), HashCost::LEAST);
        let hash = passwords.hash(&NewPassword::parse("correct horse").unwrap()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=8,t=1,p=1$"));
        let matches = async |hash: Option<&str>, typed: &str| {
            let permit = passwords.queue().unwrap();
            passwords.verify(permit, hash.map(str::to_owned), &TypedPassword::new(typed)).await
        };
        assert!(matches(Some(&hash), "correct horse").await);
        assert!(!matches(Some(&hash), "correct horse ").await);
        assert!(!matches(None, "no user has this password").await);
        assert!(!matches(Some("damaged"), "x").await);
        assert!(!matches(Some(""), "no user has this password").await);
        let empty = super::hash_password(b"", &[7; 16], HashCost::LEAST);
        assert!(!matches(Some(&empty), &"x".repeat(129)).await, "a password that is too long matches nothing");
    }

    #[tokio::test]
    async fn passwords_of_people_have_strong_hashes_that_are_verified_at_their_own_cost() {
        let strong = Passwords::new(Rng::seeded(1), HashCost::STRONG);
        let hash = strong.hash(&NewPassword::parse("correct horse").unwrap()).await.unwrap();
        for hash in [&hash, &GeneratedPassword::new(&Rng::seeded(1)).hash, &*strong.dummy_hash] {
            assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        }
        let other = Passwords::new(Rng::seeded(1), HashCost::LEAST);
        let typed = TypedPassword::new("correct horse");
        assert!(other.verify(other.queue().unwrap(), Some(hash), &typed).await);
    }

    /// The hash of `correct horse`, made with crypt(3).
    const BCRYPT: &str = "$2a$10$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu";

    #[tokio::test]
    async fn a_bcrypt_hash_is_verified_and_replaced() {
        let passwords = Passwords::new(Rng::seeded(1), HashCost::LEAST);
        let check = async |hash: &str, typed: &str| {
            let permit = passwords.queue().unwrap();
            passwords.verify_and_rehash(permit, Some(hash.to_owned()), &TypedPassword::new(typed)).await
        };
        let PasswordCheck::RightWithOldHash(new) = check(BCRYPT, "correct horse").await else {
            panic!("the password is right and its hash is old");
        };
        assert!(new.starts_with("$argon2id$"));
        assert!(matches!(check(&new, "correct horse").await, PasswordCheck::Right));
        assert!(matches!(check(&new, "correct horse ").await, PasswordCheck::Wrong));
        assert!(matches!(check(BCRYPT, "correct horse ").await, PasswordCheck::Wrong));
        assert!(matches!(check(BCRYPT, &"x".repeat(129)).await, PasswordCheck::Wrong));
        assert!(matches!(check(&BCRYPT.replace("$10$", "$31$"), "correct horse").await, PasswordCheck::Wrong));
        let permit = passwords.queue().unwrap();
        assert!(passwords.verify(permit, Some(BCRYPT.to_owned()), &TypedPassword::new("correct horse")).await);
    }

    #[tokio::test]
    async fn the_queue_is_bounded_and_a_finished_hash_frees_a_place() {
        let passwords = Passwords::new(Rng::seeded(1), HashCost::LEAST);
        let mut permits: Vec<_> =
            (0..CONCURRENT_HASHES + bounds::PASSWORDS_WAITING).map(|_| passwords.queue().unwrap()).collect();
        assert_eq!(passwords.queue().err(), Some(PasswordsBusy));
        assert_eq!(passwords.hash(&NewPassword::parse("correct horse").unwrap()).await, Err(PasswordsBusy));
        passwords.verify(permits.pop().unwrap(), None, &TypedPassword::new("x")).await;
        assert!(passwords.queue().is_ok());
    }
}
