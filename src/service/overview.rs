//! A user's overview: the spend of the last days, and the tokens that need attention.

use std::sync::Arc;

use chrono_tz::Tz;

use crate::domain::attention::Attention;
use crate::domain::bounds;
use crate::domain::clock::Clock;
use crate::domain::id::UserId;
use crate::domain::money::Quota;
use crate::domain::status::Status;
use crate::domain::time::UnixTime;
use crate::domain::token::Token;
use crate::domain::usage::{DayUsage, UsageRange};
use crate::storage::{Db, StorageError, tokens, usage, users};

#[derive(Debug)]
pub struct Overviews {
    db: Db,
    clock: Arc<dyn Clock>,
    zone: Tz,
}

#[derive(Debug)]
pub struct Overview {
    pub range: UsageRange,
    /// The spend of all of the user's tokens, deleted ones included; one entry a day, ascending.
    pub daily: Vec<DayUsage>,
    /// Live tokens by status.
    pub counts: StatusCounts,
    /// Tokens that need attention, the most urgent first; at most [`bounds::MAX_ATTENTION`].
    pub attention: Vec<(Attention, Token)>,
    /// The number of all tokens that need attention.
    pub attention_total: usize,
    /// The time of the overview.
    pub now: UnixTime,
}

/// Live tokens by status.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct StatusCounts {
    pub enabled: i64,
    pub disabled: i64,
    pub expired: i64,
    pub exhausted: i64,
}

impl Overviews {
    /// `zone` is the time zone of days.
    #[must_use]
    pub const fn new(db: Db, clock: Arc<dyn Clock>, zone: Tz) -> Self {
        Self { db, clock, zone }
    }

    /// # Errors
    /// The database.
    pub async fn show(&self, user: UserId) -> Result<Overview, StorageError> {
        let now = self.clock.now();
        let range = UsageRange::latest(bounds::OVERVIEW_DAYS, now.day_in(self.zone));
        let mut conn = self.db.acquire().await?;
        let recorded = usage::list_of_user(&mut conn, user, range).await?;
        let tokens = tokens::list_newest(&mut conn, user, bounds::MAX_OVERVIEW_TOKENS).await?;
        let wallet = users::find(&mut conn, user).await?.map_or(Quota::ZERO, |user| user.wallet.remain());
        drop(conn);
        let mut counts = StatusCounts::default();
        for token in &tokens {
            match token.status(now) {
                Status::Enabled => counts.enabled += 1,
                Status::Disabled => counts.disabled += 1,
                Status::Expired => counts.expired += 1,
                Status::QuotaExhausted => counts.exhausted += 1,
            }
        }
        let mut attention: Vec<(Attention, Token)> =
            tokens.into_iter().filter_map(|token| Some((token.attention(now, wallet)?, token))).collect();
        attention.sort_by_key(|(reason, _)| *reason);
        let attention_total = attention.len();
        attention.truncate(bounds::MAX_ATTENTION);
        Ok(Overview { range, daily: range.fill(&recorded), counts, attention, attention_total, now })
    }
}
