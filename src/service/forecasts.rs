//! When a key and an account end, at the pace of the last days (spec §13.9).

use super::usage_reports::UsageReportsError;
use crate::domain::calendar::Moment;
use crate::domain::forecast::{AccountForecast, FORECAST_DAYS, Pace};
use crate::domain::id::{TokenId, UserId};
use crate::domain::usage::UsageRange;
use crate::service::core::Core;
use crate::storage::{tokens, usage, users};

#[derive(Debug)]
pub struct Forecasts {
    core: Core,
}

/// What ends when.
#[derive(Debug)]
pub struct Forecasted {
    /// Of the token that was asked for; `None` if none was, or if it has too few days of spend.
    pub token: Option<AccountForecast>,
    /// Of its owner, by the spend of all of the owner's tokens; `None` with too few days of spend.
    pub account: Option<AccountForecast>,
}

impl Forecasts {
    pub const fn new(core: Core) -> Self {
        Self { core }
    }

    /// The forecast of a user, and of one of the user's tokens.
    ///
    /// # Errors
    /// The user has no such token; there is no such user; the database.
    pub async fn show(
        &self,
        user: UserId,
        token: Option<TokenId>,
        at: &Moment,
    ) -> Result<Forecasted, UsageReportsError> {
        let full_days = UsageRange::latest(FORECAST_DAYS, at.today.plus_days(-1));
        let mut conn = self.core.db.acquire().await?;
        let token = match token {
            Some(id) => {
                let token = tokens::find(&mut conn, user, id).await?.ok_or(UsageReportsError::TokenNotFound)?;
                let pace = Pace::of(&usage::list(&mut conn, id, full_days).await?);
                pace.map(|pace| pace.of_account(&token.account, at))
            }
            None => None,
        };
        let owner = users::find(&mut conn, user).await?.ok_or(UsageReportsError::UserNotFound)?;
        let pace = Pace::of(&usage::list_of_user(&mut conn, user, full_days).await?);
        Ok(Forecasted { token, account: pace.map(|pace| pace.of_account(&owner.wallet, at)) })
    }

    /// The same of any user, or of any token and its owner.
    ///
    /// # Errors
    /// There is no such token or user; the database.
    pub async fn show_any_user(
        &self,
        user: Option<UserId>,
        token: Option<TokenId>,
        at: &Moment,
    ) -> Result<Forecasted, UsageReportsError> {
        let owner = match token {
            Some(id) => {
                let mut conn = self.core.db.acquire().await?;
                Some(tokens::find_owner(&mut conn, id).await?.ok_or(UsageReportsError::TokenNotFound)?)
            }
            None => user,
        };
        self.show(owner.ok_or(UsageReportsError::UserNotFound)?, token, at).await
    }
}
