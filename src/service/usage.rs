//! The usage of a token: totals, for its own key (spec §4.8), and by day (spec §4.9).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use quick_cache::sync::Cache;

use super::key_holders::{KeyHolderError, KeyHolders, Limit};
use super::own_tokens::OwnTokens;
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::clock::Uptime;
use crate::domain::id::TokenId;
use crate::domain::key::Digest;
use crate::domain::token::Token;
use crate::domain::usage::{DailyUsage, DayUsage, KeyUsage, RangeInvalid, UsageRange};
use crate::service::core::Core;
use crate::storage::keys::{self, FoundKey};
use crate::storage::loader::{Loader, Loads};
use crate::storage::{Conn, Db, StorageError, usage};

/// Entries in each cache, each below 1 KiB.
const CACHE_ENTRIES: usize = 20_000;

#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    #[error(transparent)]
    Key(#[from] KeyHolderError),
    /// Absent, deleted, or another user's: the caller cannot tell which.
    #[error("there is no such token")]
    NotFound,
    #[error(transparent)]
    Range(#[from] RangeInvalid),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

#[derive(Debug)]
pub struct Usage {
    core: Core,
    key_holders: Arc<KeyHolders>,
    by_key: Loader<FoundKeys>,
    own_tokens: Arc<Loader<OwnTokens>>,
    daily: Cache<(TokenId, UsageRange), CachedDays>,
}

/// Tokens and their owners by their keys.
#[derive(Debug)]
struct FoundKeys(Db);

impl Loads for FoundKeys {
    type Key = Digest;
    type Row = FoundKey;

    async fn read(&self, digests: &[Digest]) -> Result<HashMap<Digest, FoundKey>, StorageError> {
        let read = async |conn: &mut Conn| keys::list_with_owners(conn, digests).await;
        let found = self.0.bounded_not_reserved(read).await?.found;
        Ok(found.into_iter().map(|found| (found.digest.clone(), found)).collect())
    }
}

/// When they were read, and the days.
type CachedDays = (Uptime, Arc<[DayUsage]>);

impl Usage {
    pub fn new(core: Core, key_holders: Arc<KeyHolders>, own_tokens: Arc<Loader<OwnTokens>>) -> Self {
        let by_key = Loader::start(FoundKeys(core.db.clone()));
        Self { core, key_holders, by_key, own_tokens, daily: Cache::new(CACHE_ENTRIES) }
    }

    /// The usage of the token with this key (spec §4.8), counted against `limit`. Disabled, expired and exhausted
    /// tokens are answered too.
    ///
    /// # Errors
    /// No live token has this key (counted against `ip`); its owner is disabled; too many requests.
    pub async fn by_key(&self, key: &str, ip: Option<IpAddr>, limit: Limit) -> Result<KeyUsage, KeyHolderError> {
        let digest = self.key_holders.admit(key, ip, limit)?;
        let found = self.by_key.load(digest.clone()).await?;
        let FoundKey { token, wallet, .. } = self.key_holders.check_found(&digest, found, ip, self.core.clock.now())?;
        Ok(KeyUsage { token, wallet: wallet.account.remain() })
    }

    /// Daily usage of one of the caller's tokens (spec §4.9), and the age of the numbers in seconds. They are cached
    /// for 10 minutes.
    ///
    /// # Errors
    /// The token is not the caller's; an invalid date; the database.
    pub async fn daily(
        &self,
        caller: &Caller,
        id: TokenId,
        start: Option<&str>,
        end: Option<&str>,
    ) -> Result<(DailyUsage, i64), UsageError> {
        let range = self.range(start, end)?;
        let found = self.own_tokens.load((caller.user.id, id)).await?;
        Ok(self.days(found.ok_or(UsageError::NotFound)?.token, range).await?)
    }

    /// Daily usage of the token with this key, under the rules of [`Usage::by_key`].
    ///
    /// # Errors
    /// As [`Usage::by_key`], and an invalid date.
    pub async fn daily_by_key(
        &self,
        key: &str,
        ip: Option<IpAddr>,
        start: Option<&str>,
        end: Option<&str>,
    ) -> Result<(DailyUsage, i64), UsageError> {
        let digest = self.key_holders.admit(key, ip, |limits| &limits.usage)?;
        let range = self.range(start, end)?;
        let token = {
            let mut conn = self.core.db.acquire().await?;
            self.key_holders.find_token(&mut conn, &digest, ip, self.core.clock.now()).await?
        };
        Ok(self.days(token, range).await?)
    }

    fn range(&self, start: Option<&str>, end: Option<&str>) -> Result<UsageRange, RangeInvalid> {
        UsageRange::resolve(start, end, self.core.clock.now().day_in(self.core.calendar.zone))
    }

    async fn days(&self, token: Token, range: UsageRange) -> Result<(DailyUsage, i64), StorageError> {
        let (id, now) = (token.id, self.core.clock.uptime());
        let (read_at, days) = match self.daily.get(&(id, range)) {
            Some((at, days)) if now.since(at) < bounds::DAILY_USAGE_CACHE => (at, days),
            _ => {
                let mut conn = self.core.db.acquire().await?;
                let days: Arc<[DayUsage]> = usage::list(&mut conn, id, range).await?.into();
                self.daily.insert((id, range), (now, Arc::clone(&days)));
                (now, days)
            }
        };
        let usage = DailyUsage { token_id: id, token_name: token.name, range, daily: range.fill(&days) };
        Ok((usage, i64::try_from(now.since(read_at).as_secs()).unwrap_or(i64::MAX)))
    }
}
