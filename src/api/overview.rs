//! A user's overview.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::SignedIn;
use super::envelope::Envelope;
use super::refused::Refused;
use super::state::AppState;
use super::tokens::{StateBody, TokenBody};
use super::usage::DayBody;
use crate::domain::calendar::Moment;
use crate::domain::time::UnixTime;
use crate::service::overview::Overview;

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
    /// The tokens that need attention, in order of urgency; at most 20.
    attention: Vec<AttentionBody>,
    /// The number of all tokens that need attention.
    attention_total: usize,
    /// `working`, or why no token works: `account_disabled`, `account_empty` or `account_limit_reached`.
    account_state: StateBody,
    /// When the limit of the account renews, Unix timestamp; null if none is reached, or time alone does not help.
    account_state_until: Option<i64>,
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
    /// month), `exhausted`, `expired`, `group_not_allowed`, or `exceeds_wallet` (more quota left than your wallet holds).
    reason: &'static str,
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
            attention: overview
                .attention
                .iter()
                .map(|(reason, token)| AttentionBody {
                    reason: reason.as_str(),
                    token: TokenBody::new(token, &overview.owner, at, app),
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
) -> Result<Envelope<OverviewBody>, Refused> {
    let at = app.ledger.now();
    let overview = app.overviews.show(&caller.user, app.tokens.groups(), &at).await?;
    Ok(Envelope::of(OverviewBody::new(overview, &at, &app)))
}
