//! Single charges and refusals, read by the holder of a key and by the owner of tokens.

use std::net::IpAddr;
use std::sync::Arc;

use super::key_holders::{KeyHolderError, KeyHolders};
use super::rate_limiter::{RateLimited, RateLimiter};
use super::report_queue::{ReportQueue, ReportQueueFull};
use super::request_history::read_newest;
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::charge_history::{ChargeFilter, PastCharge, Spend};
use crate::domain::page::{Page, PageRequest};
use crate::domain::request_history::{PastRequest, RequestFilter};
use crate::domain::scope::Scope;
use crate::domain::spend::SpendParts;
use crate::service::core::Core;
use crate::storage::{StorageError, charge_history, users};

#[derive(Debug, thiserror::Error)]
pub enum ChargeHistoryError {
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    #[error(transparent)]
    Refused(#[from] ReportQueueFull),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

#[derive(Debug)]
pub struct ChargeHistory {
    core: Core,
    key_holders: Arc<KeyHolders>,
    reports: Arc<ReportQueue>,
}

impl ChargeHistory {
    pub const fn new(core: Core, key_holders: Arc<KeyHolders>, reports: Arc<ReportQueue>) -> Self {
        Self { core, key_holders, reports }
    }

    /// The newest charges of the token with this key, at most 1,000, and the name of its owner. Disabled, expired and
    /// exhausted tokens are answered too.
    ///
    /// # Errors
    /// No live token has this key (counted against `ip`); its owner is disabled; too many requests.
    pub async fn by_key(&self, key: &str, ip: Option<IpAddr>) -> Result<(String, Vec<PastCharge>), KeyHolderError> {
        let digest = self.key_holders.admit(key, ip, RateLimiter::may_call_drop_in)?;
        let mut conn = self.core.db.acquire().await?;
        let token = self.key_holders.find_token(&mut conn, &digest, ip, self.core.clock.now()).await?;
        let charges = charge_history::list_of_token(&mut conn, &token, bounds::MAX_CHARGES_OF_KEY).await?;
        let owner = users::find(&mut conn, token.user_id).await?;
        Ok((owner.map_or_else(String::new, |owner| owner.username.as_str().to_owned()), charges))
    }

    /// The newest refusals of the token with this key, at most 1,000, as [`by_key`](Self::by_key).
    ///
    /// # Errors
    /// As there.
    pub async fn refusals_by_key(&self, key: &str, ip: Option<IpAddr>) -> Result<Vec<PastRequest>, KeyHolderError> {
        let digest = self.key_holders.admit(key, ip, RateLimiter::may_call_drop_in)?;
        let mut conn = self.core.db.acquire().await?;
        let token = self.key_holders.find_token(&mut conn, &digest, ip, self.core.clock.now()).await?;
        let most = usize::try_from(bounds::MAX_CHARGES_OF_KEY).unwrap_or_default();
        let (scope, filter) = (Scope::Token(token.id), RequestFilter::REFUSED);
        Ok(read_newest(&mut conn, scope, &filter, self.core.clock.now(), most).await?.requests)
    }

    /// A page of the refusals of the caller's tokens, as [`list`](Self::list).
    ///
    /// # Errors
    /// As there.
    pub async fn list_refusals(
        &self,
        caller: &Caller,
        filter: ChargeFilter,
        page: PageRequest,
    ) -> Result<Page<PastRequest>, ChargeHistoryError> {
        let (db, user, now) = (self.core.db.clone(), caller.user.id, self.core.clock.now());
        self.core.rate_limiter.may_read_charges(user)?;
        let report = async move {
            let mut conn = db.acquire().await?;
            let ChargeFilter { from, to, token_name, model } = filter;
            let filter = RequestFilter { from, to, model, token_name, ..RequestFilter::REFUSED };
            let most = usize::try_from(bounds::MAX_LISTED_CHARGES).unwrap_or_default();
            let found = read_newest(&mut conn, Scope::User(user), &filter, now, most).await?;
            Ok(page.of(found.requests))
        };
        self.reports.run(user, report).await
    }

    /// A page of the charges of the caller's tokens, deleted tokens included. It reaches the newest 10,000.
    ///
    /// # Errors
    /// Too many requests, or too many reports at once; the database.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: ChargeFilter,
        page: PageRequest,
    ) -> Result<Page<PastCharge>, ChargeHistoryError> {
        let (db, user) = (self.core.db.clone(), caller.user.id);
        self.core.rate_limiter.may_read_charges(user)?;
        // A filter that few charges pass reads all charges of the range.
        let report = async move {
            let mut conn = db.acquire().await?;
            let bound = bounds::MAX_LISTED_CHARGES;
            let mut charges = Vec::new();
            if page.offset() < bound {
                charges = charge_history::list_of_user(&mut conn, user, &filter, page).await?;
            }
            let total = match page.total_if_last(charges.len()) {
                Some(total) => total,
                None => charge_history::count_of_user(&mut conn, user, &filter, bound).await?,
            };
            Ok(page.holding(charges, total))
        };
        self.reports.run(user, report).await
    }

    /// What the caller's tokens spent. Without a range it is everything the account ever spent.
    ///
    /// # Errors
    /// Too many requests, or too many reports at once; the database.
    pub async fn spend(&self, caller: &Caller, filter: Option<ChargeFilter>) -> Result<Spend, ChargeHistoryError> {
        let (db, user, used, zone) =
            (self.core.db.clone(), caller.user.id, caller.user.wallet.used, self.core.calendar.zone);
        self.core.rate_limiter.may_read_charges(user)?;
        let now = self.core.clock.now();
        let report = async move {
            let mut conn = db.acquire().await?;
            let (requests_per_minute, tokens_per_minute) =
                charge_history::count_tokens_of_user(&mut conn, user, now.plus(-59), now).await?;
            let quota = if let Some(filter) = filter {
                let since = charge_history::find_charges_since(&mut conn).await?;
                let parts = SpendParts::new(filter.from, filter.to, since, now);
                charge_history::sum_of_user(&mut conn, user, &filter, &parts, zone.name()).await?
            } else {
                users::find(&mut conn, user).await?.map_or(used, |user| user.wallet.used)
            };
            Ok(Spend { quota, requests_per_minute, tokens_per_minute })
        };
        self.reports.run(user, report).await
    }
}
