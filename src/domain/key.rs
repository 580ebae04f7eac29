//! API keys and the digests of secrets. Secrets are never printed: `Debug` hides them. Look-ups use a keyed digest.

use hmac::{Hmac, KeyInit, Mac};
use rand::{CryptoRng, RngExt};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::base62::BASE62;
use super::cell::CellLabel;

const PREFIX: &str = "sk-";
const RANDOM_CHARS: usize = 40;
const CELL_CHARS: usize = 2;
const CHECKSUM_CHARS: usize = 6;
/// Characters at each end of a key that lists show.
pub const HINT_CHARS: usize = 4;
/// Characters of a key after its prefix.
pub const KEY_CHARS: usize = RANDOM_CHARS + CELL_CHARS + CHECKSUM_CHARS;

/// Characters of a key that another service issued.
pub const FOREIGN_KEY_CHARS: std::ops::RangeInclusive<usize> = 16..=128;

/// An API key (spec §2.1, §8): `sk-` and 48 letters and digits, of which 40 are random, two are the label of the
/// [cell](CellLabel), and six are a checksum of the others.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Zeroizing<String>);

/// Not an API key of Keymeter: wrong length, wrong characters, or a wrong checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an API key: it must be `sk-` and 48 letters and digits")]
pub struct KeyMalformed;

impl ApiKey {
    /// A new key of a cell, with more than 238 random bits.
    pub fn generate(rng: &mut (impl CryptoRng + ?Sized), cell: CellLabel) -> Self {
        let random = random_base62(rng, RANDOM_CHARS);
        let mut key = Zeroizing::new(String::with_capacity(PREFIX.len() + KEY_CHARS));
        key.push_str(PREFIX);
        key.push_str(&random);
        key.push_str(cell.as_str());
        let sum = checksum(&key);
        key.extend(sum.map(char::from));
        Self(key)
    }

    /// Reads a key as callers send it: with `sk-` absent, once or repeated. The checksum rejects typing errors and
    /// guesses before any query.
    ///
    /// # Errors
    /// Not a whole key, or a wrong checksum.
    pub fn parse(text: &str) -> Result<Self, KeyMalformed> {
        let bare = without_prefixes(text.trim());
        if bare.len() != KEY_CHARS || !bare.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(KeyMalformed);
        }
        let key = Zeroizing::new([PREFIX, bare].concat());
        let (body, sum) = key.split_at(PREFIX.len() + RANDOM_CHARS + CELL_CHARS);
        if checksum(body) != sum.as_bytes() {
            return Err(KeyMalformed);
        }
        Ok(Self(key))
    }

    /// Reads a key of another service as callers send it: 16 to 128 letters, digits and `_`, and `sk-` as in
    /// [`ApiKey::parse`]. It has no checksum.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse_foreign(text: &str) -> Result<Self, KeyMalformed> {
        let bare = without_prefixes(text.trim());
        let is_valid = bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_valid || !FOREIGN_KEY_CHARS.contains(&bare.len()) {
            return Err(KeyMalformed);
        }
        Ok(Self(Zeroizing::new([PREFIX, bare].concat())))
    }

    /// A decrypted key from the vault; its checksum is not checked again.
    pub fn from_vault(key: Zeroizing<String>) -> Self {
        Self(key)
    }

    /// The key as plain text. Use it only to encrypt, to compare, and to answer the owner.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The characters that lists show.
    pub fn hint(&self) -> KeyHint {
        let bare = without_prefixes(&self.0);
        let tail = bare.len().saturating_sub(HINT_CHARS);
        KeyHint(format!("{}{}", bare.get(..HINT_CHARS).unwrap_or(""), bare.get(tail..).unwrap_or("")))
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Removes every leading `sk-` from a key or a part of one.
pub fn without_prefixes(text: &str) -> &str {
    let mut rest = text;
    while let Some(shorter) = rest.strip_prefix(PREFIX) {
        rest = shorter;
    }
    rest
}

/// What lists show of the middle of a key.
const MASK: &str = "**********";

/// The first and last four characters of a key, which lists show as `masked_key`.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct KeyHint(String);

impl KeyHint {
    /// `sk-ab12**********wxyz`.
    pub fn masked(&self) -> String {
        let (head, tail) = self.0.split_at_checked(HINT_CHARS).unwrap_or((&self.0, ""));
        format!("{PREFIX}{head}{MASK}{tail}")
    }

    /// Returns true if a text is as [`masked`](Self::masked) makes them.
    pub fn is_masked(text: &str) -> bool {
        let ends = without_prefixes(text).split_once(MASK);
        ends.is_some_and(|(head, tail)| [head, tail].iter().all(|end| end.len() <= HINT_CHARS && !end.contains('*')))
    }
}

/// The key of all digests, derived from the master key: HMAC-SHA-256 that has read it, which is half of the work for a
/// short secret. Its state is cleared from memory when it is dropped.
#[derive(Clone)]
pub struct DigestKey(Hmac<Sha256>);

impl DigestKey {
    #[expect(clippy::needless_pass_by_value, reason = "the caller should keep no copy")]
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "HMAC takes a key of any length")]
    pub fn new(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self(Hmac::new_from_slice(bytes.as_ref()).expect("any length is a key"))
    }

    /// HMAC-SHA-256 of `secret`. Equal secrets have equal digests, and a digest does not reveal its secret without this
    /// key.
    pub fn digest(&self, secret: &str) -> Digest {
        Digest(self.0.clone().chain_update(secret).finalize().into_bytes().into())
    }
}

/// A keyed hash of 32 bytes, by which a secret is found in the database.
#[derive(Clone, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its first 8 bytes as a number. Digests are uniformly distributed, so this distinguishes nearly all.
    pub fn prefix(&self) -> u64 {
        self.0.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digest(…)")
    }
}

/// Random letters and digits, 5.95 bits each.
pub(super) fn random_base62(rng: &mut (impl CryptoRng + ?Sized), chars: usize) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(chars));
    for _ in 0..chars {
        text.push(char::from(BASE62[rng.random_range(0..BASE62.len())]));
    }
    text
}

/// Six base-62 digits of the CRC-32 of `text`, most significant first.
fn checksum(text: &str) -> [u8; CHECKSUM_CHARS] {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[usize::try_from(rest % 62).unwrap_or(0)];
        rest /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    fn key(seed: u64) -> ApiKey {
        ApiKey::generate(&mut StdRng::seed_from_u64(seed), CellLabel::default())
    }

    #[test]
    fn the_checksum_is_the_crc32_of_zlib_in_base62() {
        // zlib.crc32(b"sk-" + b"0" * 42), computed with Python.
        let body = format!("sk-{}", "0".repeat(42));
        assert_eq!(crc32fast::hash(body.as_bytes()), 2_423_012_704);
        assert_eq!(&checksum(&body), b"2dyiI4");
        assert!(ApiKey::parse(&format!("{body}2dyiI4")).is_ok());
    }

    #[test]
    fn debug_output_and_hints_do_not_show_a_key() {
        let key = key(1);
        let digest = DigestKey::new(Zeroizing::new([7; 32])).digest(key.expose());
        let printed = format!("{key:?} {digest:?} {:?}", key.hint());
        let secret = &key.expose()[7..47];
        assert!(!printed.contains(secret));
        assert!(!key.hint().masked().contains(secret));
        assert_eq!([format!("{key:?}"), format!("{digest:?}")], ["ApiKey(…)", "Digest(…)"]);
        let (head, tail) = (&key.expose()[..7], &key.expose()[47..]);
        assert_eq!(key.hint().masked(), format!("{head}**********{tail}"));
    }

    #[test]
    fn digests_depend_on_the_digest_key() {
        let (a, b) = (DigestKey::new(Zeroizing::new([1; 32])), DigestKey::new(Zeroizing::new([2; 32])));
        assert_eq!(a.digest("x"), a.digest("x"));
        assert_ne!(a.digest("x"), b.digest("x"));
        assert_ne!(a.digest("x"), a.digest("y"));
        // By Python's hmac and hashlib. Every stored key, session and credential is found by such digests.
        assert_eq!(
            hex::encode(a.digest("x").as_bytes()),
            "9a6525695460ebcfaee4b950ffa6c3c733d87c4af567a4bdfd2ae664147b7fc0"
        );
    }

    #[test]
    fn a_key_has_exactly_48_letters_and_digits() {
        let key = key(1);
        let bare = without_prefixes(key.expose());
        assert!(ApiKey::parse(&format!(" {bare}\n")).is_ok());
        let wrong = [String::new(), "abc".into(), bare[1..].into(), format!("{bare}0"), format!("{}-", &bare[..47])];
        for text in wrong {
            assert_eq!(ApiKey::parse(&text), Err(KeyMalformed), "{text}");
        }
    }

    #[test]
    fn a_foreign_key_has_16_to_128_letters_digits_and_underscores() {
        let bare = |text: &str| ApiKey::parse_foreign(text).map(|key| key.expose().to_owned());
        for good in ["0123456789abcdef", "A_b".repeat(16).as_str(), "x".repeat(128).as_str(), "_".repeat(48).as_str()] {
            assert_eq!(bare(&format!(" sk-sk-{good}\n")), Ok(format!("sk-{good}")));
            assert_eq!(bare(good), Ok(format!("sk-{good}")));
        }
        for bad in ["", "sk-", "0123456789abcde", "x".repeat(129).as_str(), "0123456789abcde-", "0123456789abcdeé"] {
            assert_eq!(bare(bad), Err(KeyMalformed), "{bad}");
        }
        assert_eq!(ApiKey::parse_foreign(key(1).expose()), Ok(key(1)), "a key of ours has one text");
    }

    #[test]
    fn the_prefix_of_a_digest_is_its_first_8_bytes() {
        let digest = DigestKey::new(Zeroizing::new([1; 32])).digest("x");
        assert_eq!(digest.prefix().to_be_bytes(), digest.as_bytes()[..8]);
    }

    proptest! {
        #[test]
        fn every_key_has_the_shape_of_the_spec(seed: u64) {
            let key = key(seed);
            let bare = key.expose().strip_prefix("sk-").unwrap();
            prop_assert_eq!(bare.len(), 48);
            prop_assert!(bare.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }

        #[test]
        fn the_prefix_may_be_absent_or_repeated(seed: u64, times in 0_usize..4) {
            let key = key(seed);
            let sent = format!("{}{}", "sk-".repeat(times), without_prefixes(key.expose()));
            prop_assert_eq!(ApiKey::parse(&sent), Ok(key));
        }

        #[test]
        fn one_wrong_character_is_detected(seed: u64, at in 3_usize..51, to in 0_usize..62) {
            let key = key(seed);
            let mut bytes = key.expose().as_bytes().to_vec();
            prop_assume!(bytes[at] != BASE62[to]);
            bytes[at] = BASE62[to];
            prop_assert_eq!(ApiKey::parse(&String::from_utf8(bytes).unwrap()), Err(KeyMalformed));
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(text: String) {
            let _ = (ApiKey::parse(&text), ApiKey::parse_foreign(&text));
        }
    }
}
