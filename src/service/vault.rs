//! Encryption of stored keys. The secret of the lookup digests and the encryption key are both derived from the master
//! key, which is never in the database.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use rand::CryptoRng;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::domain::key::{ApiKey, Digest, DigestKey};
use crate::storage::keys::SealedKey;

/// The first byte of every sealed key: the version of the format.
const XCHACHA20_POLY1305: u8 = 1;
const NONCE_BYTES: usize = 24;

/// The secret that the operator keeps outside the database.
pub struct MasterKey(Zeroizing<[u8; 32]>);

/// Why a text is not a master key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the master key must be 64 hexadecimal digits; create one with: openssl rand -hex 32")]
pub struct MasterKeyInvalid;

impl MasterKey {
    /// A new random key.
    #[must_use]
    pub fn generate(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        rng.fill_bytes(bytes.as_mut());
        Self(bytes)
    }

    /// Parses 64 hexadecimal digits.
    ///
    /// # Errors
    /// Any other text.
    pub fn from_hex(text: &str) -> Result<Self, MasterKeyInvalid> {
        let mut bytes = Zeroizing::new([0; 32]);
        hex::decode_to_slice(text.trim(), bytes.as_mut()).map_err(|_| MasterKeyInvalid)?;
        Ok(Self(bytes))
    }

    /// Formats it as 64 hexadecimal digits, for its file.
    #[must_use]
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0.as_ref()))
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

/// Encrypts and decrypts keys, and computes the digests by which they are found.
#[derive(Clone)]
pub struct Vault {
    cipher: XChaCha20Poly1305,
    digests: DigestKey,
    check: [u8; 32],
}

/// A stored key cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a stored key cannot be decrypted; the row is damaged or was encrypted with another master key")]
pub struct Unopenable;

impl Vault {
    /// The vault of a master key.
    #[must_use]
    pub fn new(master: &MasterKey) -> Self {
        Self {
            cipher: XChaCha20Poly1305::new((&*derive(master, b"keymeter key sealing v1")).into()),
            digests: DigestKey::new(derive(master, b"keymeter digests v1")),
            check: *derive(master, b"keymeter installation check v1"),
        }
    }

    /// The secret of the lookup digests.
    #[must_use]
    pub const fn digests(&self) -> &DigestKey {
        &self.digests
    }

    /// A value that identifies the master key and does not reveal it.
    #[must_use]
    pub const fn check(&self) -> &[u8; 32] {
        &self.check
    }

    /// The lookup digest of a key.
    #[must_use]
    pub fn digest(&self, key: &ApiKey) -> Digest {
        self.digests.digest(key.expose())
    }

    /// Encrypts a key for the database. It is bound to its digest, so that it cannot be moved to another row.
    #[must_use]
    #[expect(clippy::expect_used, reason = "encryption fails only beyond 256 GiB")]
    #[expect(clippy::missing_panics_doc, reason = "encryption fails only beyond 256 GiB")]
    pub fn seal(&self, key: &ApiKey, rng: &mut (impl CryptoRng + ?Sized)) -> SealedKey {
        let digest = self.digest(key);
        let mut nonce = [0; NONCE_BYTES];
        rng.fill_bytes(&mut nonce);
        let payload = Payload { msg: key.expose().as_bytes(), aad: digest.as_bytes() };
        let ciphertext = self.cipher.encrypt(&XNonce::from(nonce), payload).expect("a key is short");
        let sealed = [&[XCHACHA20_POLY1305], nonce.as_slice(), &ciphertext].concat();
        SealedKey { digest, sealed, hint: key.hint() }
    }

    /// Decrypts what [`Vault::seal`] returned.
    ///
    /// # Errors
    /// It was encrypted with another master key or for another digest, or it is damaged.
    pub fn open(&self, digest: &Digest, sealed: &[u8]) -> Result<ApiKey, Unopenable> {
        let Some((&XCHACHA20_POLY1305, rest)) = sealed.split_first() else {
            return Err(Unopenable);
        };
        let (nonce, ciphertext) = rest.split_at_checked(NONCE_BYTES).ok_or(Unopenable)?;
        let nonce = <[u8; NONCE_BYTES]>::try_from(nonce).map_err(|_| Unopenable)?;
        let payload = Payload { msg: ciphertext, aad: digest.as_bytes() };
        let plain = self.cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| Unopenable)?;
        let text = String::from_utf8(plain).map_err(|_| Unopenable)?;
        Ok(ApiKey::from_vault(Zeroizing::new(text)))
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault(…)")
    }
}

#[expect(clippy::expect_used, reason = "HKDF-SHA-256 gives up to 8,160 bytes")]
fn derive(master: &MasterKey, purpose: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut bytes = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(None, master.0.as_ref()).expand(purpose, bytes.as_mut()).expect("32 bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use crate::domain::cell::CellLabel;
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    fn vault(seed: u64) -> Vault {
        Vault::new(&MasterKey::generate(&mut StdRng::seed_from_u64(seed)))
    }

    #[test]
    fn a_master_key_is_read_back_from_hex() {
        let key = MasterKey::generate(&mut StdRng::seed_from_u64(1));
        let read = MasterKey::from_hex(&format!("{}\n", *key.to_hex())).unwrap();
        assert_eq!(*read.0, *key.0);
        for bad in ["", "abc", &"g".repeat(64), &"é".repeat(32), &"0".repeat(63)] {
            assert_eq!(MasterKey::from_hex(bad).map(|_| ()), Err(MasterKeyInvalid), "{bad}");
        }
        assert!(!format!("{key:?} {:?}", vault(1)).contains(key.to_hex().as_str()));
    }

    #[test]
    fn two_master_keys_give_different_digests_and_checks() {
        let key = ApiKey::generate(&mut StdRng::seed_from_u64(9), CellLabel::default());
        assert_ne!(vault(1).check(), vault(2).check());
        assert_ne!(vault(1).digest(&key), vault(2).digest(&key));
        assert_eq!(vault(1).check(), vault(1).check());
    }

    proptest! {
        #[test]
        fn a_sealed_key_opens_only_undamaged_and_with_its_own_digest(seed: u64, at: prop::sample::Index, bit in 0..8_u8) {
            let mut rng = StdRng::seed_from_u64(seed);
            let (key, other) = (ApiKey::generate(&mut rng, CellLabel::default()), ApiKey::generate(&mut rng, CellLabel::default()));
            let sealed = vault(1).seal(&key, &mut rng);
            prop_assert_eq!(vault(1).open(&sealed.digest, &sealed.sealed), Ok(key.clone()));
            prop_assert_eq!(vault(2).open(&sealed.digest, &sealed.sealed), Err(Unopenable));
            prop_assert_eq!(vault(1).open(&vault(1).digest(&other), &sealed.sealed), Err(Unopenable));
            let mut damaged = sealed.sealed.clone();
            let at = at.index(damaged.len());
            damaged[at] ^= 1_u8 << bit;
            prop_assert_eq!(vault(1).open(&sealed.digest, &damaged), Err(Unopenable));
            let plain = key.expose().as_bytes();
            prop_assert!(!sealed.sealed.windows(8).any(|part| plain.windows(8).any(|p| p == part)));
        }
    }
}
