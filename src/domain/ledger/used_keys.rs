//! The keys by which a batch is asked, under the locks of their tokens (spec §15.1).

use std::collections::{BTreeMap, HashMap};

use super::refusal::{Refusal, RefusalReason};
use crate::domain::id::{OldKeyId, TokenId};
use crate::domain::key::Digest;
use crate::domain::old_key::UsedKey;
use crate::domain::time::UnixTime;

/// The keys of a batch's tokens that were read under the locks, and those by whose use grace periods begin.
#[derive(Debug, Clone, Default)]
pub struct UsedKeys {
    /// Of tokens that changed after a server read one of their keys.
    current: BTreeMap<TokenId, HashMap<Digest, UsedKey>>,
    /// The newest key of each token by which a grace period begins in this batch; `None` is the current key.
    begun: BTreeMap<TokenId, Option<OldKeyId>>,
}

impl UsedKeys {
    /// Adds a key that was read under the lock of its token.
    pub fn add(&mut self, token: TokenId, digest: Digest, used: UsedKey) {
        self.current.entry(token).or_default().insert(digest, used);
    }

    /// The key of a request: `remembered` if that is of the present version of its token, else what was read under the
    /// lock.
    ///
    /// # Errors
    /// The key does not work any more.
    pub fn find(
        &self,
        token: TokenId,
        digest: &Digest,
        remembered: Option<UsedKey>,
        now: UnixTime,
    ) -> Result<UsedKey, Refusal> {
        let read = || self.current.get(&token).and_then(|keys| keys.get(digest)).copied();
        let mut used = remembered.or_else(read).ok_or(RefusalReason::InvalidKey)?;
        // A newer key was used earlier in this batch.
        if let (Some(old), Some(newest)) = (used.old, self.begun.get(&token))
            && newest.is_none_or(|newest| old.id < newest)
        {
            used.old = Some(old.after_newer_was_used(now));
        }
        if used.is_live(now) { Ok(used) } else { Err(RefusalReason::InvalidKey.into()) }
    }

    /// Notes that a key was used: the grace periods of older keys begin.
    pub fn note(&mut self, token: TokenId, used: UsedKey) {
        if !used.starts_grace {
            return;
        }
        let id = used.old.map(|old| old.id);
        let newest = self.begun.entry(token).or_insert(id);
        *newest = newest.zip(id).map(|(newest, id)| newest.max(id));
    }

    /// By which keys grace periods begin.
    pub fn into_begun(self) -> Vec<(TokenId, Option<OldKeyId>)> {
        self.begun.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::key::DigestKey;
    use crate::domain::old_key::UsedOldKey;

    const TOKEN: TokenId = TokenId::new(1);
    const NOW: UnixTime = UnixTime::new(1_000);

    fn digest(text: &str) -> Digest {
        DigestKey::new(zeroize::Zeroizing::new([7; 32])).digest(text)
    }

    fn old(id: i64, deadline: i64, waiting_grace: Option<i64>, starts_grace: bool) -> UsedKey {
        let old = UsedOldKey { id: OldKeyId::new(id), deadline: UnixTime::new(deadline), waiting_grace };
        UsedKey { old: Some(old), starts_grace }
    }

    const CURRENT: UsedKey = UsedKey { old: None, starts_grace: true };

    #[test]
    fn l6_a_remembered_key_counts_until_its_deadline() {
        let keys = UsedKeys::default();
        let find = |used| keys.find(TOKEN, &digest("a"), Some(used), NOW).map_err(|refusal| refusal.reason);
        assert_eq!(find(CURRENT), Ok(CURRENT));
        let live = old(1, 1_001, None, false);
        assert_eq!(find(live), Ok(live));
        assert_eq!(find(old(1, 1_000, None, false)), Err(RefusalReason::InvalidKey));
    }

    #[test]
    fn l6_a_key_of_a_changed_token_counts_as_it_was_read_under_the_lock() {
        let mut keys = UsedKeys::default();
        keys.add(TOKEN, digest("new"), CURRENT);
        keys.add(TOKEN, digest("old"), old(1, 1_060, None, false));
        let find = |text| keys.find(TOKEN, &digest(text), None, NOW).map_err(|refusal| refusal.reason);
        assert_eq!(find("new"), Ok(CURRENT));
        assert_eq!(find("old"), Ok(old(1, 1_060, None, false)));
        assert_eq!(find("replaced"), Err(RefusalReason::InvalidKey));
        let other = keys.find(TokenId::new(2), &digest("new"), None, NOW);
        assert_eq!(other.map_err(|refusal| refusal.reason), Err(RefusalReason::InvalidKey));
    }

    #[test]
    fn s15_1_the_use_of_a_newer_key_ends_a_key_without_grace_in_the_same_batch() {
        let mut keys = UsedKeys::default();
        let (first, second) = (old(1, 9_000, Some(0), false), old(2, 9_000, Some(60), true));
        let find = |keys: &UsedKeys, used| keys.find(TOKEN, &digest("a"), Some(used), NOW).is_ok();
        assert!(find(&keys, first) && find(&keys, second));
        keys.note(TOKEN, second);
        assert!(!find(&keys, first), "the second old key is newer");
        assert!(find(&keys, second));
        keys.note(TOKEN, CURRENT);
        let used = keys.find(TOKEN, &digest("a"), Some(second), NOW).unwrap();
        assert_eq!(used, old(2, 1_060, None, true));
        keys.note(TOKEN, second);
        assert_eq!(keys.into_begun(), [(TOKEN, None)], "the current key is the newest");
    }

    #[test]
    fn s15_1_a_key_without_older_ones_that_wait_begins_nothing() {
        let mut keys = UsedKeys::default();
        keys.note(TOKEN, UsedKey::default());
        assert_eq!(keys.into_begun(), []);
        let mut keys = UsedKeys::default();
        keys.note(TOKEN, old(2, 9_000, None, true));
        keys.note(TOKEN, old(3, 9_000, None, true));
        keys.note(TOKEN, old(2, 9_000, None, true));
        assert_eq!(keys.into_begun(), [(TOKEN, Some(OldKeyId::new(3)))]);
    }
}
