//! What is known now of requests that were refused: whether they would pass, and what lets them pass (spec §13.8).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::prices::{Prices, PricesInForce};
use super::users::AccountRules;
use crate::domain::attention::Attention;
use crate::domain::audit::{Action, Subject};
use crate::domain::calendar::Moment;
use crate::domain::id::{TokenId, UserId};
use crate::domain::ledger::RefusalReason;
use crate::domain::refusals::RecentRefusals;
use crate::domain::remedy::{Cure, OfferedRemedy, Outlook, RefusedAttempt, Remedy};
use crate::domain::request_history::{PastOutcome, PastRequest};
use crate::domain::time::UnixTime;
use crate::domain::token::Token;
use crate::domain::user::User;
use crate::service::core::Core;
use crate::storage::{Conn, StorageError, audit, tokens, users};

/// What changes whether a request passes.
const CHANGES: [Action; 5] =
    [Action::TokenEdited, Action::TokenEnabled, Action::TokenRestored, Action::AccountEdited, Action::QuotaGranted];

#[derive(Debug, Clone)]
pub struct Outlooks {
    core: Core,
    prices: Arc<Prices>,
    rules: Arc<AccountRules>,
}

/// A refused request of a token, and where its outlook goes.
struct Refused<'a> {
    token: TokenId,
    at: UnixTime,
    attempt: RefusedAttempt,
    outlook: &'a mut Outlook,
}

impl Outlooks {
    pub const fn new(core: Core, prices: Arc<Prices>, rules: Arc<AccountRules>) -> Self {
        Self { core, prices, rules }
    }

    /// Adds the outlooks of refused requests, with remedies for `reader`. Those of deleted tokens have none.
    ///
    /// # Errors
    /// The database.
    pub async fn add_to_requests(
        &self,
        conn: &mut Conn,
        requests: &mut [PastRequest],
        reader: Option<&User>,
    ) -> Result<(), StorageError> {
        let refused = requests.iter_mut().filter_map(|request| {
            let ((token, attempt), at) = (request.attempt()?, request.at);
            match &mut request.outcome {
                PastOutcome::Refused { outlook, .. } => Some(Refused { token, at, attempt, outlook }),
                PastOutcome::Charged { .. } | PastOutcome::Imported { .. } => None,
            }
        });
        self.add(conn, refused.collect(), reader).await
    }

    /// Adds the outlooks of what was refused lately: those of the newest requests.
    ///
    /// # Errors
    /// The database.
    pub async fn add_to_recent(
        &self,
        conn: &mut Conn,
        recent: &mut [RecentRefusals],
        reader: &User,
    ) -> Result<(), StorageError> {
        let refused = recent.iter_mut().filter_map(|recent| {
            let (token, (at, attempt)) = (recent.token.as_ref()?.id, recent.newest.clone()?);
            Some(Refused { token, at, attempt, outlook: &mut recent.outlook })
        });
        self.add(conn, refused.collect(), Some(reader)).await
    }

    /// What ends the need for attention of a token, for its owner.
    pub fn remedy_of(&self, attention: Attention, token: &Token, owner: &User, at: &Moment) -> Option<OfferedRemedy> {
        let remedy = Remedy::of_attention(attention, token, owner, &self.core.groups, at)?;
        Some(self.offer(remedy, owner, owner))
    }

    async fn add(&self, conn: &mut Conn, refused: Vec<Refused<'_>>, reader: Option<&User>) -> Result<(), StorageError> {
        if refused.is_empty() {
            return Ok(());
        }
        let at = Moment::new(self.core.clock.micros(), self.core.calendar);
        let ids: BTreeSet<TokenId> = refused.iter().map(|refused| refused.token).collect();
        let tokens = tokens::list_by_ids(conn, &Vec::from_iter(ids)).await?;
        let owners: BTreeSet<UserId> = tokens.values().map(|token| token.user_id).collect();
        let owners = users::list_by_id(conn, &Vec::from_iter(owners)).await?;
        let subjects: Vec<Subject> = tokens
            .values()
            .map(|token| Subject::token(token.id, token.user_id))
            .chain(owners.keys().map(|id| Subject::user(*id)))
            .collect();
        let changes = audit::list_last_changes(conn, &subjects, &CHANGES).await?;
        let changed = |subject: Subject| changes.get(&(subject.kind.to_owned(), subject.id?)).copied();
        let prices = self.prices.in_force();
        for Refused { token, at: refused_at, attempt, outlook } in refused {
            let Some(token) = tokens.get(&token) else { continue };
            let Some(owner) = owners.get(&token.user_id) else { continue };
            // With a price from before, something else had none: a unit, a variant or the provider.
            let is_priced = |model: &str| match prices.read.list.find(model, None) {
                Ok(_) => (prices.since >= refused_at).then_some(true),
                Err(_) => Some(false),
            };
            let refusal = match attempt.ask_again(token, owner, &self.core.groups, is_priced, &at) {
                Some(Ok(())) => {
                    let subjects = [Subject::token(token.id, owner.id), Subject::user(owner.id)];
                    let changes = subjects.into_iter().filter_map(changed).chain(changed_prices(&attempt, &prices));
                    let at = changes.max().filter(|changed| *changed >= refused_at);
                    outlook.cured = Some(Cure { at });
                    continue;
                }
                Some(Err(refusal)) => refusal,
                None if attempt.is_summary => continue,
                None => attempt.refusal,
            };
            let remedy = Remedy::of(&refusal, Some(&attempt), token, owner, at.now);
            outlook.remedy = remedy.zip(reader).map(|(remedy, reader)| self.offer(remedy, owner, reader));
        }
        Ok(())
    }

    fn offer(&self, remedy: Remedy, owner: &User, reader: &User) -> OfferedRemedy {
        let is_allowed = remedy.is_allowed(reader, owner, self.rules.token_api_open);
        OfferedRemedy { remedy, is_allowed }
    }
}

/// When the prices last changed, if the refusal was for a price.
fn changed_prices(attempt: &RefusedAttempt, prices: &PricesInForce) -> Option<UnixTime> {
    (attempt.refusal.reason == RefusalReason::ModelNotPriced).then_some(prices.since)
}
