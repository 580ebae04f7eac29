//! What a token has used: asked by its own key (spec §4.8), and by day (spec §4.9).

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use moka::sync::Cache;

use super::rate_limiter::{RateLimited, RateLimiter};
use super::vault::Vault;
use crate::domain::caller::Caller;
use crate::domain::id::TokenId;
use crate::domain::key::{ApiKey, Digest};
use crate::domain::policy;
use crate::domain::time::{Clock, UnixTime};
use crate::domain::token::Token;
use crate::domain::usage::{DailyUsage, DayUsage, KeyUsage, RangeInvalid, UsageRange};
use crate::domain::user::UserStatus;
use crate::storage::{Conn, Db, StorageError, tokens, usage};

/// Answers kept at once, each below 1 KiB.
const REMEMBERED: u64 = 20_000;

/// Why a question was refused.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// No live token has this key.
    #[error("this API key is not valid")]
    WrongKey,
    /// Its owner was switched off.
    #[error("the account of this API key is disabled")]
    OwnerDisabled,
    /// Absent, deleted or somebody else's; nobody can tell which.
    #[error("there is no such token")]
    NotFound,
    /// Dates that are none.
    #[error(transparent)]
    Range(#[from] RangeInvalid),
    /// Not now.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The usage service.
#[derive(Debug)]
pub struct Usage {
    db: Db,
    vault: Vault,
    clock: Arc<dyn Clock>,
    rate_limiter: Arc<RateLimiter>,
    zone: Tz,
    recent: Cache<(TokenId, UsageRange), Read>,
    /// Keys that were right lately: whoever guesses at the same address does not keep them out.
    right: Cache<Digest, ()>,
}

/// When it was read, and what.
type Read = (UnixTime, Arc<[DayUsage]>);

impl Usage {
    /// A service on `db`; days are those of `zone`.
    #[must_use]
    pub fn new(db: Db, vault: Vault, clock: Arc<dyn Clock>, rate_limiter: Arc<RateLimiter>, zone: Tz) -> Self {
        let kept = Duration::from_secs(policy::DAILY_USAGE_CACHE_SECONDS.unsigned_abs());
        let recent = Cache::builder().max_capacity(REMEMBERED).time_to_live(kept).build();
        let right = Cache::builder().max_capacity(REMEMBERED).time_to_idle(kept).build();
        Self { db, vault, clock, rate_limiter, zone, recent, right }
    }

    /// Spec §4.8. Any live token may ask, also a disabled, expired or exhausted one.
    ///
    /// # Errors
    /// A key of no live token (counted against `ip`), a disabled owner, too many questions.
    pub async fn by_key(&self, key: &str, ip: Option<IpAddr>) -> Result<KeyUsage, UsageError> {
        let digest = self.admit_key(key, ip)?;
        let mut conn = self.db.acquire().await?;
        let found = usage::find_by_key(&mut conn, &digest).await?;
        let found = self.known(&digest, found, ip)?;
        owner_enabled(found.owner_status)?;
        Ok(found)
    }

    /// Spec §4.9, with the age of the answer in seconds: it is kept for 10 minutes.
    ///
    /// # Errors
    /// Not the caller's; dates that are none; the database.
    pub async fn daily(
        &self,
        caller: &Caller,
        id: TokenId,
        start: Option<&str>,
        end: Option<&str>,
    ) -> Result<(DailyUsage, i64), UsageError> {
        let range = self.range(start, end)?;
        let mut conn = self.db.acquire().await?;
        let token = tokens::find(&mut conn, caller.user.id, id).await?.ok_or(UsageError::NotFound)?;
        Ok(self.days(&mut conn, token, range).await?)
    }

    /// The same, asked by the token's own key, under the rules of [`Usage::by_key`].
    ///
    /// # Errors
    /// As [`Usage::by_key`], and dates that are none.
    pub async fn daily_by_key(
        &self,
        key: &str,
        ip: Option<IpAddr>,
        start: Option<&str>,
        end: Option<&str>,
    ) -> Result<(DailyUsage, i64), UsageError> {
        let digest = self.admit_key(key, ip)?;
        let range = self.range(start, end)?;
        let mut conn = self.db.acquire().await?;
        let mut found = tokens::list_with_owners(&mut conn, std::slice::from_ref(&digest)).await?;
        let (_, token, wallet, _) = self.known(&digest, found.pop(), ip)?;
        owner_enabled(wallet.status)?;
        Ok(self.days(&mut conn, token, range).await?)
    }

    fn admit_key(&self, key: &str, ip: Option<IpAddr>) -> Result<Digest, UsageError> {
        let key = ApiKey::parse(key).map_err(|_| wrong_key(self.rate_limiter.malformed_key(ip)))?;
        let digest = self.vault.digest(&key);
        // Before the database is asked: otherwise each guess costs a question, however many there were.
        if !self.right.contains_key(&digest) {
            self.rate_limiter.may_try_key(ip)?;
        }
        self.rate_limiter.may_ask_usage(&digest)?;
        Ok(digest)
    }

    /// Remembers whether the key was right, and counts it if it was not.
    fn known<T>(&self, digest: &Digest, found: Option<T>, ip: Option<IpAddr>) -> Result<T, UsageError> {
        if found.is_some() {
            self.right.insert(digest.clone(), ());
        } else {
            self.right.invalidate(digest);
        }
        found.ok_or_else(|| wrong_key(self.rate_limiter.wrong_key(ip)))
    }

    fn range(&self, start: Option<&str>, end: Option<&str>) -> Result<UsageRange, RangeInvalid> {
        UsageRange::resolve(start, end, self.clock.now().day_in(self.zone))
    }

    async fn days(&self, conn: &mut Conn, token: Token, range: UsageRange) -> Result<(DailyUsage, i64), StorageError> {
        let (id, now) = (token.id, self.clock.now());
        let (read_at, days) = match self.recent.get(&(id, range)) {
            Some((at, days)) if now.since(at) < policy::DAILY_USAGE_CACHE_SECONDS => (at, days),
            _ => {
                let days: Arc<[DayUsage]> = usage::list(conn, id, range).await?.into();
                self.recent.insert((id, range), (now, Arc::clone(&days)));
                (now, days)
            }
        };
        let usage = DailyUsage { token_id: id, token_name: token.name, range, daily: range.fill(&days) };
        Ok((usage, now.since(read_at)))
    }
}

/// What is said to a wrong key, once it was counted.
fn wrong_key(counted: Result<(), RateLimited>) -> UsageError {
    counted.map_or_else(UsageError::RateLimited, |()| UsageError::WrongKey)
}

const fn owner_enabled(status: UserStatus) -> Result<(), UsageError> {
    match status {
        UserStatus::Enabled => Ok(()),
        UserStatus::Disabled => Err(UsageError::OwnerDisabled),
    }
}
