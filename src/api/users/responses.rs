//! Responses about accounts.

use serde::Serialize;
use utoipa::ToSchema;

use super::role::RoleCode;
use crate::api::limits::{PeriodLimitsBody, PeriodUsageBody};
use crate::api::state::AppState;
use crate::domain::user::{Role, User};

/// An account.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserBody {
    /// User ID.
    id: i64,
    /// The name to sign in with.
    username: String,
    /// The name that other people see.
    display_name: String,
    /// May be empty.
    email: String,
    /// 1 user, 10 administrator, 100 root.
    #[schema(value_type = RoleCode)]
    role: i16,
    /// 1 enabled, 2 disabled.
    status: i16,
    /// The highest role that disabled it, `administrator` or `root`; absent while it is enabled. Only root enables what
    /// root disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_by: Option<&'static str>,
    /// The group of its tokens that name no other group.
    group: String,
    /// The wallet, in quota units.
    quota: i64,
    /// What all its tokens have spent, in quota units.
    used_quota: i64,
    /// Limits of all its tokens together.
    period_limits: PeriodLimitsBody,
    /// What its tokens used in the present periods.
    period_usage: PeriodUsageBody,
    /// Number of charges.
    request_count: i64,
    /// True if it may use the token API.
    token_api_enabled: bool,
    /// Its own limit of tokens; null for the general limit.
    max_tokens: Option<i64>,
    /// Unix timestamp.
    created_time: i64,
}

impl UserBody {
    pub fn new(user: User, app: &AppState) -> Self {
        let at = app.ledger.now();
        Self {
            period_limits: user.wallet.period_limits.into(),
            period_usage: user.wallet.period_usage(at.today, &at).into(),
            id: user.id.get(),
            role: user.role.code(),
            status: user.status.code(),
            disabled_by: user.disabled_by.and_then(Role::disabler),
            quota: user.wallet.remain().get(),
            used_quota: user.wallet.used.get(),
            request_count: user.request_count,
            token_api_enabled: user.may_use_token_api(app.account_rules.token_api_open),
            max_tokens: user.max_tokens,
            created_time: user.created_time.get(),
            username: user.username.as_str().to_owned(),
            display_name: user.display_name,
            email: user.email,
            group: user.group,
        }
    }
}

/// A group that a token can use.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupBody {
    /// Shown to users.
    pub desc: String,
    /// The price factor, a JSON number.
    #[schema(value_type = f64)]
    pub ratio: Box<serde_json::value::RawValue>,
}
