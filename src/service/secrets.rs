//! The secrets of an installation, and how a master key protects them.
//!
//! There are a *digest secret*, by which keys, credentials, sessions and retried requests are found, and *data keys*,
//! which encrypt API keys. Nothing that was digested could be digested again, so the digest secret never changes. The
//! newest data key encrypts; an older one stays until the keys that it encrypted are encrypted again.
//!
//! - Before the first change of the master key, the secrets are derived from it: the digest secret and the data key 0.
//! - Afterwards a master key encrypts them as one text, so that no part can be exchanged alone: the *wrapped secrets*.
//!   The text is bound to the check value of its master key. XChaCha20-Poly1305, random nonces, a key derived for only
//!   this purpose.
//! - While the master key is changed, the old and the new one each have a copy with the same content. Either reads
//!   everything, so servers need only one of them. At the end the copy of the old one is deleted, and the other copy
//!   has neither the data keys of before nor anything else that the old master key opens.
//!
//! A digest secret that was derived from the first master key can be computed from that one for ever. It decrypts
//! nothing.

use std::collections::BTreeMap;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use rand::{CryptoRng, RngExt as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::domain::key::DigestKey;
use crate::storage::{Conn, StorageError, secrets};

/// The version of the format of wrapped secrets, and their purpose. Authenticated with them.
const WRAPPED_SECRETS: &[u8] = b"keymeter wrapped secrets v1";
const NONCE_BYTES: usize = 24;
const SECRET_BYTES: usize = 32;
const ID_BYTES: usize = 4;
/// The largest step between ids of data keys; enough for a thousand changes.
const DATA_KEY_STEP: i32 = 1 << 20;

type Secret = Zeroizing<[u8; SECRET_BYTES]>;

/// The secret that the operator keeps outside the database.
#[derive(Clone)]
pub struct MasterKey(Secret);

/// Why a text is not a master key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the master key must be 64 hexadecimal digits; create one with: openssl rand -hex 32")]
pub struct MasterKeyInvalid;

impl MasterKey {
    /// A new random key.
    pub fn generate(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Self(generate(rng))
    }

    /// Parses 64 hexadecimal digits.
    ///
    /// # Errors
    /// Any other text.
    pub fn from_hex(text: &str) -> Result<Self, MasterKeyInvalid> {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        hex::decode_to_slice(text.trim(), bytes.as_mut()).map_err(|_| MasterKeyInvalid)?;
        Ok(Self(bytes))
    }

    /// Formats it as 64 hexadecimal digits, for its file.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0.as_ref()))
    }

    /// A value that identifies the master key and does not reveal it.
    pub fn check(&self) -> [u8; SECRET_BYTES] {
        *self.derive(b"keymeter installation check v1")
    }

    #[expect(clippy::expect_used, reason = "HKDF-SHA-256 gives up to 8,160 bytes")]
    fn derive(&self, purpose: &[u8]) -> Secret {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        Hkdf::<Sha256>::new(None, self.0.as_ref()).expand(purpose, bytes.as_mut()).expect("32 bytes");
        bytes
    }

    fn wrapping_cipher(&self) -> XChaCha20Poly1305 {
        cipher(&self.derive(b"keymeter secrets wrapping v1"))
    }

    /// What is authenticated with wrapped secrets.
    fn wrapping_context(&self) -> Vec<u8> {
        [WRAPPED_SECRETS, &self.check()].concat()
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

/// Why the secrets cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error("the secrets of this database are not those of this master key; set the present one")]
    OtherMasterKey,
    #[error("the secrets of this database cannot be decrypted; restore the table wrapped_secrets from a backup")]
    Damaged,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The digest secret and the data keys.
pub struct Secrets {
    digests: Secret,
    data_keys: BTreeMap<i32, Secret>,
}

impl Secrets {
    /// Those of an installation whose master key was never changed.
    pub fn derived(master: &MasterKey) -> Self {
        Self {
            digests: master.derive(b"keymeter digests v1"),
            data_keys: BTreeMap::from([(0, master.derive(b"keymeter key sealing v1"))]),
        }
    }

    /// Those of this database. The caller has checked the master key if it was never changed.
    ///
    /// # Errors
    /// They are another master key's; damaged; the database.
    pub async fn load(conn: &mut Conn, master: &MasterKey) -> Result<Self, SecretsError> {
        let all = secrets::list_wrapped(conn).await?;
        if all.is_empty() {
            return Ok(Self::derived(master));
        }
        let check = master.check();
        let own = all.iter().find(|found| found.key_check == check).ok_or(SecretsError::OtherMasterKey)?;
        Self::unwrap(master, &own.wrapped).ok_or(SecretsError::Damaged)
    }

    /// Encrypts them with a master key.
    pub fn wrap(&self, master: &MasterKey, rng: &mut (impl CryptoRng + ?Sized)) -> Vec<u8> {
        let mut plain =
            Zeroizing::new(Vec::with_capacity(SECRET_BYTES + self.data_keys.len() * (ID_BYTES + SECRET_BYTES)));
        plain.extend_from_slice(self.digests.as_ref());
        for (id, key) in &self.data_keys {
            plain.extend_from_slice(&id.to_be_bytes());
            plain.extend_from_slice(key.as_ref());
        }
        encrypt(&master.wrapping_cipher(), &plain, &master.wrapping_context(), rng)
    }

    /// Decrypts what [`Secrets::wrap`] returned. `None` if it is another master key's, or damaged.
    pub fn unwrap(master: &MasterKey, wrapped: &[u8]) -> Option<Self> {
        let plain = decrypt(&master.wrapping_cipher(), wrapped, &master.wrapping_context())?;
        let (digests, rest) = plain.split_first_chunk::<SECRET_BYTES>()?;
        let (entries, []) = rest.as_chunks::<{ ID_BYTES + SECRET_BYTES }>() else {
            return None;
        };
        let mut data_keys = BTreeMap::new();
        for entry in entries {
            let (id, key) = entry.split_first_chunk::<ID_BYTES>()?;
            data_keys.insert(i32::from_be_bytes(*id), Zeroizing::new(<[u8; SECRET_BYTES]>::try_from(key).ok()?));
        }
        Some(Self { digests: Zeroizing::new(*digests), data_keys })
    }

    /// Adds a new data key, which encrypts from now on, and returns its id. Ids ascend by random steps: after a
    /// failover that lost a change, the next one must not give another key the id of one that servers remember.
    pub fn add_data_key(&mut self, rng: &mut (impl CryptoRng + ?Sized)) -> i32 {
        let step = rng.random_range(1..=DATA_KEY_STEP);
        let id = self.data_keys.keys().next_back().map_or(step, |newest| newest.saturating_add(step));
        self.data_keys.insert(id, generate(rng));
        id
    }

    /// Forgets all data keys but this one.
    pub fn keep_data_key(&mut self, id: i32) {
        self.data_keys.retain(|found, _| *found == id);
    }

    /// The secret of the lookup digests.
    pub fn digests(&self) -> DigestKey {
        DigestKey::new(self.digests.clone())
    }

    /// The ciphers of the data keys by their ids.
    pub fn ciphers(&self) -> BTreeMap<i32, XChaCha20Poly1305> {
        self.data_keys.iter().map(|(id, key)| (*id, cipher(key))).collect()
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(…)")
    }
}

/// Encrypts `plain` and authenticates `context` with it. Returns the nonce and the ciphertext.
#[expect(clippy::expect_used, reason = "encryption fails only beyond 256 GiB")]
pub(super) fn encrypt(
    cipher: &XChaCha20Poly1305,
    plain: &[u8],
    context: &[u8],
    rng: &mut (impl CryptoRng + ?Sized),
) -> Vec<u8> {
    let mut nonce = [0; NONCE_BYTES];
    rng.fill_bytes(&mut nonce);
    let ciphertext = cipher.encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: context }).expect("it is short");
    [nonce.as_slice(), &ciphertext].concat()
}

/// Decrypts what [`encrypt`] returned.
pub(super) fn decrypt(cipher: &XChaCha20Poly1305, encrypted: &[u8], context: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, ciphertext) = encrypted.split_first_chunk::<NONCE_BYTES>()?;
    let payload = Payload { msg: ciphertext, aad: context };
    cipher.decrypt(&XNonce::from(*nonce), payload).ok().map(Zeroizing::new)
}

fn cipher(key: &Secret) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new((&**key).into())
}

fn generate(rng: &mut (impl CryptoRng + ?Sized)) -> Secret {
    let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
    rng.fill_bytes(bytes.as_mut());
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    fn master(seed: u64) -> MasterKey {
        MasterKey::generate(&mut StdRng::seed_from_u64(seed))
    }

    #[test]
    fn a_master_key_is_read_back_from_hex() {
        let key = master(1);
        let read = MasterKey::from_hex(&format!("{}\n", *key.to_hex())).unwrap();
        assert_eq!(*read.0, *key.0);
        for bad in ["", "abc", &"g".repeat(64), &"é".repeat(32), &"0".repeat(63)] {
            assert_eq!(MasterKey::from_hex(bad).map(|_| ()), Err(MasterKeyInvalid), "{bad}");
        }
        assert!(!format!("{key:?}").contains(key.to_hex().as_str()));
        assert_ne!(master(1).check(), master(2).check());
        assert_eq!(master(1).check(), master(1).check());
    }

    #[test]
    fn a_new_data_key_is_the_newest_and_the_digest_secret_stays() {
        let mut secrets = Secrets::derived(&master(1));
        let before = secrets.digests().digest("one");
        let first = secrets.add_data_key(&mut StdRng::seed_from_u64(3));
        assert_eq!(secrets.ciphers().into_keys().collect::<Vec<_>>(), [0, first]);
        secrets.keep_data_key(first);
        assert_eq!(secrets.ciphers().into_keys().collect::<Vec<_>>(), [first]);
        let second = secrets.add_data_key(&mut StdRng::seed_from_u64(4));
        assert!(0 < first && first < second, "{first} {second}");
        // Another change from the same state, after one that was lost.
        let other = Secrets::derived(&master(1)).add_data_key(&mut StdRng::seed_from_u64(5));
        assert_ne!(other, first);
        assert_eq!(secrets.digests().digest("one"), before);
    }

    proptest! {
        #[test]
        fn wrapped_secrets_open_only_undamaged_and_with_their_master_key(seed: u64, at: prop::sample::Index, bit in 0..8_u8) {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut secrets = Secrets::derived(&master(1));
            secrets.add_data_key(&mut rng);
            let wrapped = secrets.wrap(&master(2), &mut rng);
            let read = Secrets::unwrap(&master(2), &wrapped).unwrap();
            prop_assert_eq!(&*read.digests, &*secrets.digests);
            prop_assert!(read.data_keys.iter().eq(secrets.data_keys.iter()));
            prop_assert!(Secrets::unwrap(&master(1), &wrapped).is_none());
            let mut damaged = wrapped.clone();
            let at = at.index(damaged.len());
            damaged[at] ^= 1_u8 << bit;
            prop_assert!(Secrets::unwrap(&master(2), &damaged).is_none());
            prop_assert!(!wrapped.windows(8).any(|part| secrets.digests.windows(8).any(|secret| secret == part)));
        }
    }
}
