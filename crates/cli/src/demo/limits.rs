//! Limits that renew, and rates, of some keys of the demo.

use super::{CreatedKey, DemoError, dollars_of};
use keymeter::api::state::AppState;
use keymeter::domain::expected_version::ExpectedVersion;
use keymeter::domain::limit_change::LimitChange;
use keymeter::domain::period_limits::PeriodLimitsPatch;
use keymeter::domain::rate_limits::RateLimitsPatch;
use keymeter::domain::token_patch::TokenPatch;

/// Sets the limits of a key, after the charges, so that none of them is refused.
pub(super) async fn apply(state: &AppState, created: &CreatedKey) -> Result<(), DemoError> {
    let none = PeriodLimitsPatch::default();
    let (period_limits, rate_limits) = match created.key.name {
        "Production chat" => (
            PeriodLimitsPatch {
                day: LimitChange::Set(dollars_of(10)?),
                month: LimitChange::Set(dollars_of(200)?),
                ..none
            },
            RateLimitsPatch {
                requests_per_minute: LimitChange::Set(600),
                concurrency: LimitChange::Set(20),
                ..RateLimitsPatch::default()
            },
        ),
        "Support assistant" => {
            (PeriodLimitsPatch { day: LimitChange::Set(dollars_of(5)?), ..none }, RateLimitsPatch::default())
        }
        "Mobile app beta" => (
            PeriodLimitsPatch { week: LimitChange::Set(dollars_of(8)?), ..none },
            RateLimitsPatch { tokens_per_minute: LimitChange::Set(200_000), ..RateLimitsPatch::default() },
        ),
        _ => return Ok(()),
    };
    let patch = TokenPatch { period_limits, rate_limits, ..TokenPatch::default() };
    state.tokens.edit(&created.owner, created.id, patch, &ExpectedVersion::Any, None).await?;
    Ok(())
}
