//! A user's overview: the spend of the last days, and the tokens that need attention.

use crate::domain::attention::Attention;
use crate::domain::bounds;
use crate::domain::calendar::Moment;
use crate::domain::group::Groups;
use crate::domain::status::Status;
use crate::domain::token::Token;
use crate::domain::usage::{DayUsage, UsageRange};
use crate::domain::user::User;
use crate::storage::{Db, StorageError, tokens, usage, users};

#[derive(Debug)]
pub struct Overviews {
    db: Db,
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
    /// The user, as the tokens were read.
    pub owner: User,
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
    #[must_use]
    pub const fn new(db: Db) -> Self {
        Self { db }
    }

    /// # Errors
    /// The database.
    pub async fn show(&self, user: &User, groups: &Groups, at: &Moment) -> Result<Overview, StorageError> {
        let range = UsageRange::latest(bounds::OVERVIEW_DAYS, at.today);
        let mut conn = self.db.acquire().await?;
        let recorded = usage::list_of_user(&mut conn, user.id, range).await?;
        let tokens = tokens::list_newest(&mut conn, user.id, bounds::MAX_OVERVIEW_TOKENS).await?;
        // The one of the request may be older than the last charges.
        let owner = users::find(&mut conn, user.id).await?.unwrap_or_else(|| user.clone());
        drop(conn);
        let mut counts = StatusCounts::default();
        for token in &tokens {
            match token.status(at.now) {
                Status::Enabled => counts.enabled += 1,
                Status::Disabled => counts.disabled += 1,
                Status::Expired => counts.expired += 1,
                Status::QuotaExhausted => counts.exhausted += 1,
            }
        }
        let mut attention: Vec<(Attention, Token)> =
            tokens.into_iter().filter_map(|token| Some((token.attention(&owner, groups, at)?, token))).collect();
        attention.sort_by_key(|(reason, _)| *reason);
        let attention_total = attention.len();
        attention.truncate(bounds::MAX_ATTENTION);
        Ok(Overview { range, daily: range.fill(&recorded), counts, attention, attention_total, owner })
    }
}
