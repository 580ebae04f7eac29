//! The overview of a user, and that of all users' keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::{Admin, SignedIn};
use super::envelope::Envelope;
use super::limits::ExceededBody;
use super::outlook::{OutlookBody, RemedyBody};
use super::state::AppState;
use super::tokens::{StateBody, TokenBody};
use super::usage::DayBody;
use crate::api::errors::fails::Fails;
use crate::domain::calendar::Moment;
use crate::domain::ledger::{Refusal, StateCounts, StateName};
use crate::domain::prices::priced_by::HeldCharges;
use crate::domain::refusals::RecentRefusals;
use crate::domain::time::UnixTime;
use crate::service::overview::{NeededAttention, Overview};
use crate::service::report_queue::ReportQueueFull;

/// The spend of the last seven days, and the tokens that need attention.
#[derive(Debug, Serialize, ToSchema)]
pub struct OverviewBody {
    /// The first day, YYYY-MM-DD.
    start_date: String,
    /// Today, YYYY-MM-DD.
    end_date: String,
    /// Spend of all tokens, including deleted ones; one entry per day, ascending.
    daily: Vec<DayBody>,
    /// Live tokens by status.
    tokens: TokenCountsBody,
    /// Live tokens by state; a state that no token is in is absent.
    states: BTreeMap<&'static str, i64>,
    /// What was refused in the last hour, by token and reason: the 20 largest numbers.
    refused_last_hour: Vec<RecentRefusalsBody>,
    /// The tokens that need attention, in order of urgency; at most 20.
    attention: Vec<AttentionBody>,
    /// The number of all tokens that need attention.
    attention_total: usize,
    /// `working`, or why no token works: `account_disabled`, `account_empty` or `account_limit_reached`.
    account_state: StateBody,
    /// When the limit of the account renews, Unix timestamp; null if none is reached, or time alone does not help.
    account_state_until: Option<i64>,
}

/// Requests that were refused in the last hour.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecentRefusalsBody {
    /// Token ID; null if no key of this service was sent.
    token_id: Option<i64>,
    /// The name of the token; null if no key of this service was sent.
    token_name: Option<String>,
    /// The owner of the token; null if no key of this service was sent.
    user_id: Option<i64>,
    /// The owner's username; null if no key of this service was sent.
    username: Option<String>,
    /// Why, an error code.
    reason: &'static str,
    /// Whether somebody has to act: a key, an account or a limit stops what it should serve. False for a model or an
    /// address that is not allowed, for rates, and for what is cured.
    alarming: bool,
    /// How many, at least.
    requests: i64,
    /// Unix timestamp of the last one.
    last: i64,
    /// The sentence that the gateway was answered, of the newest one of which all is known.
    message: Option<String>,
    /// The period limit that refused it.
    #[serde(flatten)]
    exceeded: ExceededBody,
    #[serde(flatten)]
    outlook: OutlookBody,
}

impl From<RecentRefusals> for RecentRefusalsBody {
    fn from(RecentRefusals { token, reason, requests, last, newest, outlook }: RecentRefusals) -> Self {
        let refusal = newest.map(|(_, attempt)| attempt.refusal);
        Self {
            token_id: token.as_ref().map(|token| token.id.get()),
            user_id: token.as_ref().map(|token| token.user_id.get()),
            username: token.as_ref().map(|token| token.username.clone()),
            token_name: token.map(|token| token.name),
            reason: reason.as_str(),
            alarming: reason.is_alarming() && outlook.cured.is_none(),
            requests,
            last: last.get(),
            message: refusal.map(|refusal| refusal.to_string()),
            exceeded: refusal.and_then(Refusal::exceeded).into(),
            outlook: outlook.into(),
        }
    }
}

/// The keys of everyone.
#[derive(Debug, Serialize, ToSchema)]
pub struct AllUsersOverviewBody {
    /// Live tokens by state; a state that no token is in is absent. Of the newest 10,000 tokens.
    states: BTreeMap<&'static str, i64>,
    /// True if there are older tokens, which `states` does not count.
    truncated: bool,
    /// What was refused in the last hour, by token and reason: the 20 largest numbers.
    refused_last_hour: Vec<RecentRefusalsBody>,
    /// What was charged its hold in the last hour, because no other amount was known, by model and reason: the 20
    /// largest numbers.
    charged_by_hold_last_hour: Vec<HeldChargesBody>,
}

/// Charges of one model that were their holds for one reason.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeldChargesBody {
    /// The model; null if the gateway named none.
    model: Option<String>,
    /// Why: `model_not_priced`, `invalid_count`, `invalid_usage`, `nothing_used`, `no_input` or `expired`.
    reason: &'static str,
    /// How many.
    requests: i64,
    /// Unix timestamp of the last one.
    last: i64,
}

impl From<HeldCharges> for HeldChargesBody {
    fn from(HeldCharges { model, reason, requests, last }: HeldCharges) -> Self {
        Self { model, reason: reason.as_str(), requests, last: last.get() }
    }
}

fn states(counts: &StateCounts) -> BTreeMap<&'static str, i64> {
    let count = |state: StateName| (state.as_str(), counts.get(state));
    StateName::ALL.into_iter().map(count).filter(|(_, count)| *count > 0).collect()
}

/// Live tokens by status.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenCountsBody {
    /// The number of live tokens.
    total: i64,
    /// Tokens with status 1.
    enabled: i64,
    /// Tokens with status 2.
    disabled: i64,
    /// Tokens with status 3.
    expired: i64,
    /// Tokens with status 4.
    exhausted: i64,
}

/// A token that needs attention.
#[derive(Debug, Serialize, ToSchema)]
pub struct AttentionBody {
    /// `expires_soon` (within 7 days), `nearly_spent` (less than a tenth left), `limit_reached` (of a day, a week or a
    /// month), `exhausted`, `expired`, `group_not_allowed`, or `exceeds_wallet` (more quota left than your wallet
    /// holds).
    reason: &'static str,
    /// What ends the need; null if nothing does.
    remedy: Option<RemedyBody>,
    /// The token, without its key.
    token: TokenBody,
}

impl OverviewBody {
    fn new(overview: Overview, at: &Moment, app: &AppState) -> Self {
        let counts = overview.counts;
        let account = overview.owner.state(at);
        Self {
            start_date: overview.range.first().to_string(),
            end_date: overview.range.last().to_string(),
            daily: overview.daily.into_iter().map(DayBody::from).collect(),
            tokens: TokenCountsBody {
                total: counts.enabled + counts.disabled + counts.expired + counts.exhausted,
                enabled: counts.enabled,
                disabled: counts.disabled,
                expired: counts.expired,
                exhausted: counts.exhausted,
            },
            states: states(&overview.states),
            refused_last_hour: overview.refused.into_iter().map(RecentRefusalsBody::from).collect(),
            attention: overview
                .attention
                .into_iter()
                .map(|NeededAttention { reason, token, remedy }| AttentionBody {
                    reason: reason.as_str(),
                    remedy: remedy.map(RemedyBody::from),
                    token: TokenBody::new(&token, &overview.owner, at, app),
                })
                .collect(),
            attention_total: overview.attention_total,
            account_state: account.name.into(),
            account_state_until: account.until.map(UnixTime::get),
        }
    }
}

/// Your own overview: the spend of the last seven days, and the tokens that need attention.
#[utoipa::path(get, path = "/api/user/self/overview", operation_id = "show_overview", tag = "usage",
    responses((status = 200, body = Envelope<OverviewBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<OverviewBody>, Fails> {
    let at = app.ledger.now();
    let overview = app.overviews.show(&caller.user, app.tokens.groups(), &at).await?;
    Ok(Envelope::of(OverviewBody::new(overview, &at, &app)))
}

/// The states of everyone's keys, and what was refused in the last hour.
#[utoipa::path(get, path = "/api/admin/overview", operation_id = "show_everyones_overview", tag = "administration",
    responses((status = 200, body = Envelope<AllUsersOverviewBody>)))]
pub async fn show_all_users(
    State(app): State<Arc<AppState>>,
    Admin(caller): Admin,
) -> Result<Envelope<AllUsersOverviewBody>, Fails<ReportQueueFull>> {
    let overview = app.overviews.show_all_users(&caller, app.tokens.groups(), app.ledger.now()).await?;
    Ok(Envelope::of(AllUsersOverviewBody {
        states: states(&overview.states),
        truncated: overview.is_truncated,
        refused_last_hour: overview.refused.into_iter().map(RecentRefusalsBody::from).collect(),
        charged_by_hold_last_hour: overview.held.into_iter().map(HeldChargesBody::from).collect(),
    }))
}
