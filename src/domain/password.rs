//! Passwords in plain text, for as long as they are in memory. `Debug` is not implemented, so they are never printed.

use rand::CryptoRng;
use zeroize::Zeroizing;

use super::bounds;
use super::key::random_base62;

/// A new password of a valid length.
pub struct NewPassword(Zeroizing<String>);

/// A password typed to sign in. `None` if it is longer than any password: then it is wrong and is not hashed.
pub struct TypedPassword(Option<Zeroizing<String>>);

/// A new password is too short or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the password must have {} to {} characters",
    bounds::PASSWORD_CHARS.start(), bounds::PASSWORD_CHARS.end()
)]
pub struct PasswordInvalid;

impl NewPassword {
    /// Checks the length, in characters.
    ///
    /// # Errors
    /// Too short or too long.
    pub fn parse(text: &str) -> Result<Self, PasswordInvalid> {
        if !bounds::PASSWORD_CHARS.contains(&text.chars().count()) {
            return Err(PasswordInvalid);
        }
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// The plain text, for hashing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl TypedPassword {
    /// Any text.
    pub fn new(text: &str) -> Self {
        let max = *bounds::PASSWORD_CHARS.end();
        let fits = text.chars().take(max + 1).count() <= max;
        Self(fits.then(|| Zeroizing::new(text.to_owned())))
    }

    /// The plain text, for verifying; `None` if it is too long to be a password.
    pub fn expose(&self) -> Option<&str> {
        self.0.as_ref().map(|text| text.as_str())
    }
}

/// Cost factors of bcrypt that are verified. Each step doubles the time: 14 takes more than a second. Earlier versions
/// imported these.
const BCRYPT_COSTS: std::ops::RangeInclusive<u32> = 4..=14;

/// The largest cost factor of a hash that is imported: about 0.4 seconds. A sign-in holds one of a few places for as
/// long.
pub const MAX_IMPORTED_BCRYPT_COST: u32 = 12;

/// Returns true for a bcrypt hash of a bearable cost. Such hashes come from imports; the first sign-in replaces them.
pub fn is_bcrypt(hash: &str) -> bool {
    bcrypt_cost(hash).is_some_and(|cost| BCRYPT_COSTS.contains(&cost))
}

/// The cost factor of a bcrypt hash, which may be unbearable; `None` for anything else.
pub fn bcrypt_cost(hash: &str) -> Option<u32> {
    let rest = ["$2a$", "$2b$", "$2y$"].iter().find_map(|version| hash.strip_prefix(version));
    let (cost, salt_and_hash) = rest.and_then(|rest| rest.split_once('$'))?;
    let is_base64 = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/'));
    let is_hash = cost.len() == 2
        && cost.bytes().all(|byte| byte.is_ascii_digit())
        && salt_and_hash.len() == 53
        && is_base64(salt_and_hash);
    is_hash.then(|| cost.parse().ok()).flatten().filter(|cost| (4..=31).contains(cost))
}

/// A random password that people can type: 24 letters and digits, 142 bits.
pub fn random_password(rng: &mut (impl CryptoRng + ?Sized)) -> Zeroizing<String> {
    random_base62(rng, 24)
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn a_new_password_has_8_to_128_characters() {
        assert!(NewPassword::parse("12345678").is_ok());
        assert!(NewPassword::parse("1234567").is_err());
        assert!(NewPassword::parse(&"ü".repeat(128)).is_ok());
        assert!(NewPassword::parse(&"ü".repeat(129)).is_err());
    }

    #[test]
    fn a_bcrypt_hash_has_a_version_a_cost_from_4_to_14_and_53_characters() {
        let with =
            |start: &str| format!("{start}{}", "./09azAZ".repeat(7)).chars().take(start.len() + 53).collect::<String>();
        for good in ["$2a$10$", "$2b$04$", "$2y$14$"] {
            assert!(is_bcrypt(&with(good)), "{good}");
        }
        for bad in ["$2a$03$", "$2a$15$", "$2a$31$", "$2x$10$", "$2a$+9$", "$2a$010$", "2a$10$", "$argon2id$v=19$", ""]
        {
            assert!(!is_bcrypt(&with(bad)), "{bad}");
        }
        for (start, cost) in [("$2a$04$", Some(4)), ("$2b$15$", Some(15)), ("$2y$31$", Some(31)), ("$2a$03$", None)] {
            assert_eq!(bcrypt_cost(&with(start)), cost, "{start}");
        }
        assert!(!is_bcrypt(&format!("{}x", with("$2a$10$"))));
        assert!(!is_bcrypt(with("$2a$10$").trim_end_matches(|_| true)));
        assert!(!is_bcrypt(&with("$2a$10$").replace('.', "=")));
    }

    #[test]
    fn a_typed_password_that_is_too_long_is_dropped() {
        assert!(TypedPassword::new(&"ü".repeat(128)).expose().is_some());
        assert!(TypedPassword::new(&"ü".repeat(129)).expose().is_none());
    }

    #[test]
    fn passwords_are_hashed_as_they_were_typed() {
        assert!(NewPassword::parse(" 123456 ").is_ok_and(|password| password.expose() == " 123456 "));
        assert_eq!(TypedPassword::new(" ü ").expose(), Some(" ü "));
    }

    #[test]
    fn a_random_password_has_24_letters_and_digits() {
        let rng = &mut StdRng::seed_from_u64(1);
        let (one, other) = (random_password(rng), random_password(rng));
        assert_eq!(one.len(), 24);
        assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(*one, *other);
    }
}
