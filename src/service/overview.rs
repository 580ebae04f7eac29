//! Overviews: a user's spend of the last days and the tokens that need attention; the states of all users' tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::outlooks::Outlooks;
use super::report_queue::ReportQueue;
use super::usage_reports::UsageReportsError;
use crate::domain::attention::Attention;
use crate::domain::bounds;
use crate::domain::calendar::Moment;
use crate::domain::caller::Caller;
use crate::domain::group::Groups;
use crate::domain::id::{TokenId, UserId};
use crate::domain::ledger::StateCounts;
use crate::domain::prices::priced_by::HeldCharges;
use crate::domain::refusals::RecentRefusals;
use crate::domain::remedy::OfferedRemedy;
use crate::domain::status::Status;
use crate::domain::token::Token;
use crate::domain::token_summary::TokenSummary;
use crate::domain::usage::{DayUsage, UsageRange};
use crate::domain::user::User;
use crate::service::core::Core;
use crate::storage::{StorageError, held_charges, refusals, tokens, usage, users};

#[derive(Debug)]
pub struct Overviews {
    core: Core,
    reports: Arc<ReportQueue>,
    outlooks: Outlooks,
}

#[derive(Debug)]
pub struct Overview {
    pub range: UsageRange,
    /// The spend of all of the user's tokens, deleted ones included; one entry a day, ascending.
    pub daily: Vec<DayUsage>,
    /// Live tokens by status.
    pub counts: StatusCounts,
    /// Tokens that need attention, the most urgent first; at most [`bounds::MAX_ATTENTION`].
    pub attention: Vec<NeededAttention>,
    /// The number of all tokens that need attention.
    pub attention_total: usize,
    /// Live tokens by state.
    pub states: StateCounts,
    /// What was refused in the last hour.
    pub refused: Vec<RecentRefusals>,
    /// The user, as the tokens were read.
    pub owner: User,
}

/// A token that needs attention.
#[derive(Debug)]
pub struct NeededAttention {
    pub reason: Attention,
    pub token: Token,
    /// What ends the need; `None` if nothing does.
    pub remedy: Option<OfferedRemedy>,
}

/// The overview of all users' tokens, for administrators.
#[derive(Debug)]
pub struct AllUsersOverview {
    /// Of the newest [`bounds::MAX_LISTED_TOKENS`] tokens.
    pub states: StateCounts,
    /// There are older tokens.
    pub is_truncated: bool,
    /// What was refused in the last hour.
    pub refused: Vec<RecentRefusals>,
    /// What was charged its hold in the last hour.
    pub held: Vec<HeldCharges>,
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
    pub const fn new(core: Core, reports: Arc<ReportQueue>, outlooks: Outlooks) -> Self {
        Self { core, reports, outlooks }
    }

    /// The states of the tokens of all users, and what was refused of them.
    ///
    /// # Errors
    /// Too many reports at once; the database.
    pub async fn show_all_users(
        &self,
        admin: &Caller,
        groups: &Groups,
        at: Moment,
    ) -> Result<AllUsersOverview, UsageReportsError> {
        let (db, groups) = (self.core.db.clone(), groups.clone());
        let (outlooks, reader) = (self.outlooks.clone(), admin.user.clone());
        let overview = async move {
            let mut conn = db.acquire().await?;
            let since = at.now.plus(-bounds::RECENT_REFUSALS_SECONDS);
            let mut refused = refusals::list_recent(&mut conn, None, since).await?;
            outlooks.add_to_recent(&mut conn, &mut refused, &reader).await?;
            let held = held_charges::list_recent(&mut conn, since).await?;
            let (newest, is_truncated) = tokens::list_summaries(&mut conn, None).await?;
            let owners: BTreeSet<UserId> = newest.iter().map(TokenSummary::user_id).collect();
            let owners = users::list_by_id(&mut conn, &owners.into_iter().collect::<Vec<_>>()).await?;
            let state = |token: &TokenSummary| Some(token.state(owners.get(&token.user_id())?, &groups, &at).name);
            let states = StateCounts::of(newest.iter().filter_map(state));
            Ok(AllUsersOverview { states, is_truncated, refused, held })
        };
        self.reports.run(admin.user.id, overview).await
    }

    /// # Errors
    /// The database.
    pub async fn show(&self, user: &User, groups: &Groups, at: &Moment) -> Result<Overview, StorageError> {
        let range = UsageRange::latest(bounds::OVERVIEW_DAYS, at.today);
        let mut conn = self.core.db.acquire().await?;
        let recorded = usage::list_of_user(&mut conn, user.id, range).await?;
        let (tokens, _) = tokens::list_summaries(&mut conn, Some(user.id)).await?;
        // The one of the request may be older than the last charges.
        let owner = users::find(&mut conn, user.id).await?.unwrap_or_else(|| user.clone());
        let since = at.now.plus(-bounds::RECENT_REFUSALS_SECONDS);
        let mut refused = refusals::list_recent(&mut conn, Some(user.id), since).await?;
        self.outlooks.add_to_recent(&mut conn, &mut refused, &owner).await?;
        let states = StateCounts::of(tokens.iter().map(|token| token.state(&owner, groups, at).name));
        let mut counts = StatusCounts::default();
        for token in &tokens {
            match token.status(at.now) {
                Status::Enabled => counts.enabled += 1,
                Status::Disabled => counts.disabled += 1,
                Status::Expired => counts.expired += 1,
                Status::QuotaExhausted => counts.exhausted += 1,
            }
        }
        let mut reasons: Vec<(Attention, TokenId)> =
            tokens.iter().filter_map(|token| Some((token.attention(&owner, groups, at)?, token.id()))).collect();
        reasons.sort_by_key(|(reason, _)| *reason);
        let attention_total = reasons.len();
        reasons.truncate(bounds::MAX_ATTENTION);
        let ids: Vec<TokenId> = reasons.iter().map(|(_, id)| *id).collect();
        let mut shown = tokens::list_by_ids(&mut conn, &ids).await?;
        let needed = |(reason, id)| {
            let token: Token = shown.remove(&id)?;
            let remedy = self.outlooks.remedy_of(reason, &token, &owner, at);
            Some(NeededAttention { reason, token, remedy })
        };
        let attention = reasons.into_iter().filter_map(needed).collect();
        Ok(Overview { range, daily: range.fill(&recorded), counts, attention, attention_total, states, refused, owner })
    }
}
