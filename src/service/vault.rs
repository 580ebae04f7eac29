//! Encryption of stored keys, and the digests by which they are found. `secrets` says how a master key, which is never
//! in the database, protects what this needs.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use chacha20poly1305::XChaCha20Poly1305;
use rand::CryptoRng;
use zeroize::Zeroizing;

pub use super::secrets::{MasterKey, MasterKeyInvalid};
use super::secrets::{Secrets, SecretsError, decrypt, encrypt};
use crate::domain::id::TokenId;
use crate::domain::key::{ApiKey, Digest, DigestKey};
use crate::storage::keys::NewSealedKey;
use crate::storage::{Conn, StorageError, secrets};

/// The first byte of every sealed key: the format. This one is from before the first change of the master key, when
/// there was only the data key 0.
const DERIVED_KEY: u8 = 1;
/// The id of the data key follows in four bytes, and is authenticated.
const DATA_KEY: u8 = 2;
const HEADER_BYTES: usize = 5;

/// Encrypts and decrypts keys, and computes the digests by which they are found. Clones share the data keys.
#[derive(Clone)]
pub struct Vault {
    master: MasterKey,
    digests: DigestKey,
    /// The ciphers of the data keys by their ids, the newest last. None is removed, so that what was read before a
    /// change ends can be decrypted afterwards.
    data_keys: Arc<RwLock<BTreeMap<i32, XChaCha20Poly1305>>>,
}

/// A stored key cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a stored key cannot be decrypted; the row is damaged or was encrypted with another master key")]
pub struct Unopenable;

impl Vault {
    /// The vault of a master key that was never changed.
    pub fn new(master: &MasterKey) -> Self {
        Self::of(master, &Secrets::derived(master))
    }

    /// The vault of this database. The caller has checked the master key if it was never changed.
    ///
    /// # Errors
    /// See [`SecretsError`].
    pub async fn load(conn: &mut Conn, master: &MasterKey) -> Result<Self, SecretsError> {
        Ok(Self::of(master, &Secrets::load(conn, master).await?))
    }

    fn of(master: &MasterKey, secrets: &Secrets) -> Self {
        let data_keys = Arc::new(RwLock::new(secrets.ciphers()));
        Self { master: master.clone(), digests: secrets.digests(), data_keys }
    }

    /// The master key that it was opened with.
    pub const fn master(&self) -> &MasterKey {
        &self.master
    }

    /// Adds data keys that were made since it was loaded, by a change of the master key. If it has no access to them,
    /// the change has ended and this server was not restarted: what needs them fails.
    ///
    /// # Errors
    /// The database.
    pub async fn reload(&self, conn: &mut Conn) -> Result<(), StorageError> {
        match Secrets::load(conn, &self.master).await {
            Ok(found) => self.data_keys.write().unwrap_or_else(PoisonError::into_inner).extend(found.ciphers()),
            Err(SecretsError::Storage(error)) => return Err(error),
            Err(error) => {
                tracing::error!(%error, "the data keys cannot be read; restart this server with the present master key");
            }
        }
        Ok(())
    }

    /// Lets [`Vault::open`] know the data keys of what was read from the database.
    ///
    /// # Errors
    /// The database.
    pub async fn reload_for(&self, conn: &mut Conn, sealed: &[(TokenId, Digest, Vec<u8>)]) -> Result<(), StorageError> {
        if sealed.iter().all(|(_, _, sealed)| self.knows_data_key_of(sealed)) {
            return Ok(());
        }
        self.reload(conn).await
    }

    /// Lets [`Vault::seal`] use the present data key, which stays the present one until the end of the transaction.
    ///
    /// # Errors
    /// The database.
    pub async fn lock_data_key(&self, tx: &mut Conn) -> Result<(), StorageError> {
        let id = secrets::lock_sealing_key(tx).await?;
        if self.data_keys.read().unwrap_or_else(PoisonError::into_inner).contains_key(&id) {
            return Ok(());
        }
        self.reload(tx).await
    }

    /// Returns true if [`Vault::open`] has the data key of a sealed key, or nobody has.
    pub fn knows_data_key_of(&self, sealed: &[u8]) -> bool {
        let data_keys = self.data_keys.read().unwrap_or_else(PoisonError::into_inner);
        split(sealed).is_none_or(|(id, ..)| data_keys.contains_key(&id))
    }

    /// The secret of the lookup digests.
    pub const fn digests(&self) -> &DigestKey {
        &self.digests
    }

    /// The lookup digest of a key.
    pub fn digest(&self, key: &ApiKey) -> Digest {
        self.digests.digest(key.expose())
    }

    /// Encrypts a key for the database, with the newest data key. It is bound to its digest, so that it cannot be moved
    /// to another row.
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "there is always a data key")]
    pub fn seal(&self, key: &ApiKey, rng: &mut (impl CryptoRng + ?Sized)) -> NewSealedKey {
        let digest = self.digest(key);
        let data_keys = self.data_keys.read().unwrap_or_else(PoisonError::into_inner);
        let (id, cipher) = data_keys.last_key_value().expect("there is always a data key");
        let header = match id {
            0 => vec![DERIVED_KEY],
            id => [&[DATA_KEY], id.to_be_bytes().as_slice()].concat(),
        };
        let encrypted = encrypt(cipher, key.expose().as_bytes(), &context(&header, &digest), rng);
        NewSealedKey { digest, sealed: [header, encrypted].concat(), hint: key.hint() }
    }

    /// Decrypts what [`Vault::seal`] returned.
    ///
    /// # Errors
    /// It was encrypted with another data key or for another digest, or it is damaged.
    pub fn open(&self, digest: &Digest, sealed: &[u8]) -> Result<ApiKey, Unopenable> {
        let (id, header, encrypted) = split(sealed).ok_or(Unopenable)?;
        let data_keys = self.data_keys.read().unwrap_or_else(PoisonError::into_inner);
        let cipher = data_keys.get(&id).ok_or(Unopenable)?;
        let plain = decrypt(cipher, encrypted, &context(header, digest)).ok_or(Unopenable)?;
        let text = std::str::from_utf8(&plain).map_err(|_| Unopenable)?;
        Ok(ApiKey::from_vault(Zeroizing::new(text.to_owned())))
    }
}

/// The id of the data key of a sealed key, its header, and what is encrypted.
fn split(sealed: &[u8]) -> Option<(i32, &[u8], &[u8])> {
    match sealed {
        [DERIVED_KEY, ..] => sealed.split_at_checked(1).map(|(header, rest)| (0, header, rest)),
        [DATA_KEY, a, b, c, d, ..] => {
            let (header, rest) = sealed.split_at_checked(HEADER_BYTES)?;
            Some((i32::from_be_bytes([*a, *b, *c, *d]), header, rest))
        }
        _ => None,
    }
}

/// What is authenticated with a key: its digest, and after the header of the older format nothing else.
fn context(header: &[u8], digest: &Digest) -> Vec<u8> {
    if header == [DERIVED_KEY] { digest.as_bytes().to_vec() } else { [header, digest.as_bytes()].concat() }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault(…)")
    }
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
    fn two_master_keys_give_different_digests() {
        let key = ApiKey::generate(&mut StdRng::seed_from_u64(9), CellLabel::default());
        assert_ne!(vault(1).digest(&key), vault(2).digest(&key));
    }

    /// The vault of a master key that was changed once, and knows both data keys.
    fn changed_vault() -> Vault {
        let mut rng = StdRng::seed_from_u64(7);
        let old = MasterKey::generate(&mut StdRng::seed_from_u64(1));
        let mut secrets = Secrets::derived(&old);
        secrets.add_data_key(&mut rng);
        Vault::of(&MasterKey::generate(&mut rng), &secrets)
    }

    #[test]
    fn the_newest_data_key_seals_and_older_ones_open() {
        let mut rng = StdRng::seed_from_u64(9);
        let key = ApiKey::generate(&mut rng, CellLabel::default());
        let (old, new) = (vault(1).seal(&key, &mut rng), changed_vault().seal(&key, &mut rng));
        assert_eq!((old.sealed[0], new.sealed[0]), (1, 2));
        assert_eq!(old.digest, new.digest);
        assert_eq!(changed_vault().open(&old.digest, &old.sealed), Ok(key.clone()));
        assert_eq!(changed_vault().open(&new.digest, &new.sealed), Ok(key));
        assert_eq!(vault(1).open(&new.digest, &new.sealed), Err(Unopenable));
        assert!(vault(1).knows_data_key_of(&old.sealed) && !vault(1).knows_data_key_of(&new.sealed));
    }

    proptest! {
        #[test]
        fn a_sealed_key_opens_only_undamaged_and_with_its_own_digest(seed: u64, is_changed: bool, at: prop::sample::Index, bit in 0..8_u8) {
            let mut rng = StdRng::seed_from_u64(seed);
            let (key, other) = (ApiKey::generate(&mut rng, CellLabel::default()), ApiKey::generate(&mut rng, CellLabel::default()));
            let vault_1 = if is_changed { changed_vault() } else { vault(1) };
            let sealed = vault_1.seal(&key, &mut rng);
            prop_assert_eq!(vault_1.open(&sealed.digest, &sealed.sealed), Ok(key.clone()));
            prop_assert_eq!(vault(2).open(&sealed.digest, &sealed.sealed), Err(Unopenable));
            prop_assert_eq!(vault_1.open(&vault_1.digest(&other), &sealed.sealed), Err(Unopenable));
            let mut damaged = sealed.sealed.clone();
            let at = at.index(damaged.len());
            damaged[at] ^= 1_u8 << bit;
            prop_assert_eq!(vault_1.open(&sealed.digest, &damaged), Err(Unopenable));
            let plain = key.expose().as_bytes();
            prop_assert!(!sealed.sealed.windows(8).any(|part| plain.windows(8).any(|p| p == part)));
        }
    }
}
