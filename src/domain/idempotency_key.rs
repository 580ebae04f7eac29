//! Requests with an `Idempotency-Key`: sent again, they are carried out once (spec §15.3).

use sha2::{Digest as _, Sha256};

use crate::domain::bounds;
use crate::domain::id::TokenId;
use crate::domain::key::Digest;

/// What a client names a request by: 1 to 255 printable ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// Any other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`Idempotency-Key` must be 1 to {} printable ASCII characters", bounds::MAX_IDEMPOTENCY_KEY_CHARS)]
pub struct IdempotencyKeyInvalid;

impl IdempotencyKey {
    /// # Errors
    /// See [`IdempotencyKeyInvalid`].
    pub fn parse(text: &str) -> Result<Self, IdempotencyKeyInvalid> {
        let is_valid = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
            && (1..=bounds::MAX_IDEMPOTENCY_KEY_CHARS).contains(&text.len());
        if is_valid { Ok(Self(text.to_owned())) } else { Err(IdempotencyKeyInvalid) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRequest {
    pub key: IdempotencyKey,
    /// SHA-256 of the call and its body: the same key with another hash is refused.
    pub hash: Vec<u8>,
}

impl IdempotentRequest {
    /// The request for one of several parts, each of which is carried out once on its own.
    pub fn of_part(&self, part: i64) -> Self {
        let name = Sha256::new().chain_update(part.to_string()).chain_update(" ").chain_update(self.key.as_str());
        Self { key: IdempotencyKey(hex::encode(name.finalize())), hash: self.hash.clone() }
    }
}

/// A token that a request made or gave a key, and the digest of that key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeKey {
    pub token: TokenId,
    pub digest: Digest,
}

/// The answer to a request with a key.
#[derive(Debug)]
pub struct Idempotent<T> {
    pub answer: T,
    /// An earlier request was carried out, and this is what became of it.
    pub is_replayed: bool,
}

impl<T> Idempotent<T> {
    /// The request was carried out now.
    pub const fn now(answer: T) -> Self {
        Self { answer, is_replayed: false }
    }

    pub const fn replayed(answer: T) -> Self {
        Self { answer, is_replayed: true }
    }

    /// The same with an answer that is made of this one.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Idempotent<U> {
        Idempotent { answer: make(self.answer), is_replayed: self.is_replayed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_3_a_key_is_1_to_255_printable_ascii_characters() {
        for valid in ["a", "8e03978e-40d5-43e8-bc93-6894a57f9324", " ~", &"x".repeat(255)] {
            assert_eq!(IdempotencyKey::parse(valid).unwrap().as_str(), valid);
        }
        for invalid in ["", "a\tb", "a\u{7f}", "é", &"x".repeat(256)] {
            assert_eq!(IdempotencyKey::parse(invalid), Err(IdempotencyKeyInvalid), "{invalid}");
        }
    }

    #[test]
    fn each_part_of_a_request_has_a_key_of_its_own_of_any_length() {
        let request = |key: &str| IdempotentRequest { key: IdempotencyKey::parse(key).unwrap(), hash: vec![7] };
        let parts =
            [request("a").of_part(1), request("a").of_part(2), request("1 a").of_part(1), request("1").of_part(1)];
        for (at, part) in parts.iter().enumerate() {
            assert_eq!((&part.hash, IdempotencyKey::parse(part.key.as_str()).as_ref()), (&vec![7], Ok(&part.key)));
            assert!(!parts[at + 1..].contains(part), "{part:?}");
        }
        let long = request(&"x".repeat(255)).of_part(i64::MAX);
        assert_eq!(IdempotencyKey::parse(long.key.as_str()), Ok(long.key.clone()));
    }
}
