//! Changes the master key while servers run (`keymeter master-key`). `keymeter::service::secrets` has the protocol;
//! each step here is one transaction, and whatever was not done when it is killed, the next run does.

use keymeter::domain::id::TokenId;
use keymeter::service::rng::Rng;
use keymeter::service::secrets::{MasterKey, Secrets, SecretsError};
use keymeter::service::vault::Vault;
use keymeter::storage::clock_repair::allow_minutes;
use keymeter::storage::secrets::{self, WrappedSecrets};
use keymeter::storage::{self, Db, StorageError, installation};

/// Keys that are encrypted again in one transaction. Charges of their tokens wait for it, a few milliseconds.
const BATCH: i64 = 100;

#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    #[error("this is the present master key; make another one with: openssl rand -hex 32")]
    Present,
    #[error(
        "the master key is being changed to another one; continue with that one, or end that change with \
         `keymeter master-key finish` or `keymeter master-key cancel`"
    )]
    OtherUnderWay,
    #[error("the master key is not being changed; begin with `keymeter master-key rotate`")]
    NoneUnderWay,
    #[error("the settings have the old master key; give all servers the new one, restart them, and run this again")]
    OldInSettings,
    #[error(
        "the settings have the new master key; to keep the old one, give it to all servers, restart them, and run this again"
    )]
    NewInSettings,
    #[error(
        "the keys of these tokens cannot be decrypted, and the old master key may be needed to restore them: {0}; restore \
         these rows from a backup and run this again"
    )]
    Damaged(String),
    #[error("another change of the master key began meanwhile; run this again")]
    Overtaken,
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl RotationError {
    /// Whether the state of the change is the reason, and another command comes first.
    pub const fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::Present
                | Self::OtherUnderWay
                | Self::NoneUnderWay
                | Self::OldInSettings
                | Self::NewInSettings
                | Self::Overtaken
        )
    }
}

/// Changes the master key that the vault was opened with.
#[derive(Debug)]
pub struct MasterKeyRotation {
    db: Db,
    vault: Vault,
    rng: Rng,
}

impl MasterKeyRotation {
    pub const fn new(db: Db, vault: Vault, rng: Rng) -> Self {
        Self { db, vault, rng }
    }

    /// Lets both master keys open the secrets, and a new data key encrypt from now on. Does nothing if that was done
    /// before.
    ///
    /// # Errors
    /// It is the present master key; another change is under way; the database.
    pub async fn begin(&self, new: &MasterKey) -> Result<(), RotationError> {
        let mut tx = self.db.begin().await?;
        secrets::lock_for_change(&mut tx).await?;
        let wrapped = secrets::list_wrapped(&mut tx).await?;
        let check = new.check();
        match wrapped.as_slice() {
            [.., _, newest] if newest.key_check == check => return Ok(self.vault.reload(&mut tx).await?),
            [_, _, ..] => return Err(RotationError::OtherUnderWay),
            [] | [_] => {}
        }
        let old = self.vault.master();
        if old.check() == check {
            return Err(RotationError::Present);
        }
        let mut all = Secrets::load(&mut tx, old).await?;
        let data_key = self.rng.generate(|rng| all.add_data_key(rng));
        let generation = wrapped.first().map_or(1, |present| present.generation);
        for (generation, master) in [(generation, old), (generation.saturating_add(1), new)] {
            let wrapped = self.rng.generate(|rng| all.wrap(master, rng));
            let row = WrappedSecrets { generation, key_check: master.check().to_vec(), wrapped };
            secrets::update_wrapped(&mut tx, &row).await?;
        }
        secrets::update_sealing_key(&mut tx, data_key).await?;
        storage::commit(tx).await?;
        Ok(self.vault.reload(&mut *self.db.acquire().await?).await?)
    }

    /// Encrypts all keys with the present data key that older ones encrypted, those of deleted tokens as well. Calls
    /// `progress` with how many it has done after each batch. Returns the id of the data key.
    ///
    /// # Errors
    /// Keys that cannot be decrypted, after all others are done; the database.
    pub async fn reseal(&self, mut progress: impl FnMut(usize)) -> Result<i32, RotationError> {
        let mut done = 0;
        loop {
            let mut damaged = Vec::new();
            let mut after = TokenId::new(0);
            loop {
                let ids = self.list_left(after).await?;
                let Some(last) = ids.last() else { break };
                after = *last;
                let mut batch = self.reseal_batch(Tokens::Free(&ids)).await?;
                let is_held = |id: &TokenId| !batch.done.contains(id) && !batch.damaged.contains(id);
                // One that is charged all the time is never free, but all have their turn who wait for it.
                for id in ids.into_iter().filter(is_held).collect::<Vec<_>>() {
                    let waited = self.reseal_batch(Tokens::One(id)).await?;
                    batch.done.extend(waited.done);
                    batch.damaged.extend(waited.damaged);
                }
                done += batch.done.len();
                damaged.extend(batch.damaged);
                progress(done);
            }
            let (data_key, left) = self.count_left().await?;
            if left == 0 {
                return Ok(data_key);
            }
            if usize::try_from(left).is_ok_and(|left| left <= damaged.len()) {
                let damaged: Vec<_> = damaged.iter().map(ToString::to_string).collect();
                return Err(RotationError::Damaged(damaged.join(", ")));
            }
        }
    }

    /// Some tokens whose keys older data keys encrypted. It locks nothing, because the first of them may be far away.
    async fn list_left(&self, after: TokenId) -> Result<Vec<TokenId>, StorageError> {
        let mut tx = self.db.begin().await?;
        allow_minutes(&mut tx).await?;
        let data_key = secrets::find_sealing_key(&mut tx).await?;
        secrets::list_sealed_by_others(&mut tx, data_key, after, BATCH).await
    }

    async fn reseal_batch(&self, tokens: Tokens<'_>) -> Result<Batch, RotationError> {
        let mut tx = self.db.begin().await?;
        let data_key = secrets::lock_sealing_key(&mut tx).await?;
        let rows = match tokens {
            Tokens::Free(ids) => secrets::try_lock_sealed_by_others(&mut tx, data_key, ids).await?,
            Tokens::One(id) => {
                secrets::wait_up_to_a_minute(&mut tx).await?;
                Vec::from_iter(secrets::lock_sealed_by_other(&mut tx, data_key, id).await?)
            }
        };
        let mut batch = Batch::default();
        let mut sealed = Vec::new();
        for row in &rows {
            match self.vault.open(&row.key_digest, &row.key_sealed) {
                Ok(key) => {
                    batch.done.push(row.id);
                    sealed.push(self.rng.generate(|rng| self.vault.seal(&key, rng)).sealed);
                }
                Err(_) => batch.damaged.push(row.id),
            }
        }
        secrets::update_sealed(&mut tx, &batch.done, &sealed).await?;
        storage::commit(tx).await?;
        Ok(batch)
    }

    /// The present data key, and how many keys others encrypted.
    async fn count_left(&self) -> Result<(i32, i64), StorageError> {
        let mut tx = self.db.begin().await?;
        allow_minutes(&mut tx).await?;
        let data_key = secrets::find_sealing_key(&mut tx).await?;
        let counts = secrets::count_by_data_key(&mut tx).await?;
        Ok((data_key, counts.into_iter().filter(|(id, _)| *id != data_key).map(|(_, keys)| keys).sum()))
    }

    /// Ends a change: afterwards only the new master key, which the settings must have, opens anything.
    ///
    /// # Errors
    /// No change is under way; the settings have the old master key; keys that cannot be decrypted; the database.
    pub async fn finish(&self) -> Result<(), RotationError> {
        self.check_under_way(true).await?;
        let data_key = self.reseal(|_| {}).await?;
        let mut tx = self.db.begin().await?;
        secrets::lock_for_change(&mut tx).await?;
        let wrapped = secrets::list_wrapped(&mut tx).await?;
        let own = self.vault.master();
        let is_newest = |newest: &WrappedSecrets| newest.key_check == own.check();
        if !wrapped.last().is_some_and(is_newest) || secrets::find_sealing_key(&mut tx).await? != data_key {
            return Err(RotationError::Overtaken);
        }
        let mut present = Secrets::load(&mut tx, own).await?;
        present.keep_data_key(data_key);
        self.keep_only(&mut tx, &present, wrapped.last().map_or(1, |newest| newest.generation)).await?;
        Ok(storage::commit(tx).await?)
    }

    /// Ends a change that cannot be completed, because the new master key was lost, for example: afterwards only the
    /// old one, which the settings must have, opens anything. Data keys stay as they are.
    ///
    /// # Errors
    /// No change is under way; the settings have the new master key; the database.
    pub async fn cancel(&self) -> Result<(), RotationError> {
        self.check_under_way(false).await?;
        let mut tx = self.db.begin().await?;
        secrets::lock_for_change(&mut tx).await?;
        let present = Secrets::load(&mut tx, self.vault.master()).await?;
        let wrapped = secrets::list_wrapped(&mut tx).await?;
        self.keep_only(&mut tx, &present, wrapped.first().map_or(1, |oldest| oldest.generation)).await?;
        Ok(storage::commit(tx).await?)
    }

    /// Refuses if no change is under way, or the settings have the other master key.
    async fn check_under_way(&self, is_new_needed: bool) -> Result<(), RotationError> {
        let wrapped = secrets::list_wrapped(&mut *self.db.acquire().await?).await?;
        let [.., _, newest] = wrapped.as_slice() else {
            return Err(RotationError::NoneUnderWay);
        };
        match (is_new_needed, newest.key_check == self.vault.master().check()) {
            (true, false) => Err(RotationError::OldInSettings),
            (false, true) => Err(RotationError::NewInSettings),
            (true, true) | (false, false) => Ok(()),
        }
    }

    /// Leaves these secrets, encrypted by the master key of the settings, and no others.
    async fn keep_only(&self, tx: &mut storage::Conn, present: &Secrets, generation: i32) -> Result<(), StorageError> {
        let own = self.vault.master();
        let wrapped = self.rng.generate(|rng| present.wrap(own, rng));
        let row = WrappedSecrets { generation, key_check: own.check().to_vec(), wrapped };
        secrets::delete_wrapped_but(tx, &row.key_check).await?;
        secrets::update_wrapped(tx, &row).await?;
        installation::update_key_check(tx, &row.key_check).await
    }
}

/// Which tokens a batch is of.
enum Tokens<'a> {
    /// Those of these that no other transaction holds.
    Free(&'a [TokenId]),
    /// This one, as soon as no other transaction holds it.
    One(TokenId),
}

/// What was done with some tokens.
#[derive(Default)]
struct Batch {
    done: Vec<TokenId>,
    damaged: Vec<TokenId>,
}
