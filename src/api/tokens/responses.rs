//! The Token object (spec §2.1).

use std::borrow::Cow;

use serde::Serialize;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::api::dialects::one_api;
use crate::api::limits::{PeriodLimitsBody, PeriodUsageBody, RateLimitsBody};
use crate::api::page::PageBody;
use crate::api::state::AppState;
use crate::domain::calendar::Moment;
use crate::domain::key::ApiKey;
use crate::domain::ledger::StateName;
use crate::domain::time::UnixTime;
use crate::domain::token::{DeletedToken, Token};
use crate::domain::user::{Role, User};
use crate::service::tokens::TokenPage;

/// The Token object (spec §2.1), and `masked_key`.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "as in the specification")]
pub struct TokenBody {
    /// Token ID.
    pub id: i64,
    /// ID of the owning user.
    pub user_id: i64,
    /// The API key in answers that show it, else empty.
    pub key: String,
    /// The key with its middle hidden: `sk-ab12**********wxyz`.
    pub masked_key: String,
    /// True for a key that an import brought from another service; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// 1 enabled, 2 disabled, 3 expired, 4 quota exhausted.
    pub status: i16,
    /// `administrator` or `root`: the highest role that disabled the token; no lower role may enable it. Absent if the
    /// owner disabled it or it is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_by: Option<&'static str>,
    /// Whether the key works now, and if not, why.
    pub state: StateBody,
    /// When the limit that is reached renews, Unix timestamp; absent if none is, or if time alone does not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_until: Option<i64>,
    /// At most 50 characters.
    pub name: String,
    /// Free text of the owner, at most 500 characters.
    pub note: String,
    /// Whether users of the key see the addresses of its requests.
    pub show_addresses: bool,
    /// Unix timestamp.
    pub created_time: i64,
    /// Unix timestamp of the last charge; the creation time until then.
    pub accessed_time: i64,
    /// Unix timestamp; -1 means never.
    pub expired_time: i64,
    /// Quota units.
    pub remain_quota: i64,
    /// Only the owner's wallet limits the token.
    pub unlimited_quota: bool,
    /// Quota units.
    pub used_quota: i64,
    /// Limits that renew every day, week and month.
    pub period_limits: PeriodLimitsBody,
    /// What was used in the present periods.
    pub period_usage: PeriodUsageBody,
    /// Limits per minute, and of open reservations.
    pub rate_limits: RateLimitsBody,
    /// Whether `model_limits` applies.
    pub model_limits_enabled: bool,
    /// Comma-separated names.
    pub model_limits: String,
    /// One address or CIDR network per line; empty allows all.
    pub allow_ips: String,
    /// Empty: the group of the owner.
    pub group: String,
    /// Effective only for the group `auto`.
    pub cross_group_retry: bool,
    /// Unix timestamp; only of deleted tokens. Their `state` is what it would be if they were restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_time: Option<i64>,
    /// Unix timestamp until which it can be restored; only of deleted tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restorable_until: Option<i64>,
    /// The names that may be used, and empty if all may; only with the setting `compat.client`. Absent if none may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<String>,
    /// `allow_ips`, comma-separated; only with the setting `compat.client`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet: Option<String>,
}

impl TokenBody {
    /// Without the key, for lists and edits. `owner` is the token's owner.
    pub fn new(token: &Token, owner: &User, at: &Moment, app: &AppState) -> Self {
        let policy = &token.policy;
        let state = token.state(owner, app.tokens.groups(), at);
        let masked_key = token.key_hint.masked();
        let key = if app.settings.masked_list_key { masked_key.clone() } else { String::new() };
        Self {
            id: token.id.get(),
            user_id: token.user_id.get(),
            key,
            masked_key,
            imported: token.key_foreign,
            status: token.status(at.now).code(),
            disabled_by: policy.disabled_by.and_then(Role::disabler),
            state: state.name.into(),
            state_until: state.until.map(UnixTime::get),
            created_time: token.created_time.get(),
            accessed_time: token.accessed_time.get(),
            expired_time: policy.lifetime.expired_time(),
            remain_quota: token.account.remain().get(),
            unlimited_quota: token.account.budget.is_unlimited(),
            used_quota: token.account.used.get(),
            period_limits: token.account.period_limits.into(),
            period_usage: token.account.period_usage(at.today, at).into(),
            rate_limits: token.rate_limits.into(),
            model_limits_enabled: policy.model_limits_enabled,
            model_limits: policy.model_limits.as_str().to_owned(),
            allow_ips: policy.allow_ips.as_str().to_owned(),
            group: policy.group.as_str().to_owned(),
            cross_group_retry: policy.cross_group_retry,
            models: if app.settings.one_api { one_api::models(policy) } else { None },
            subnet: app.settings.one_api.then(|| one_api::subnet(policy)),
            name: token.name.as_str().to_owned(),
            note: token.note.as_str().to_owned(),
            show_addresses: token.show_addresses,
            deleted_time: None,
            restorable_until: None,
        }
    }

    /// A deleted token.
    pub fn deleted(deleted: &DeletedToken, owner: &User, at: &Moment, app: &AppState) -> Self {
        Self {
            deleted_time: Some(deleted.deleted_time.get()),
            restorable_until: Some(app.tokens.restorable_until(deleted.deleted_time).get()),
            ..Self::new(&deleted.token, owner, at, app)
        }
    }

    /// With the key, for a read by id and for a creation with `Prefer: return=representation`.
    pub fn with_key(token: &Token, key: &ApiKey, owner: &User, at: &Moment, app: &AppState) -> Self {
        Self { key: key.expose().to_owned(), ..Self::new(token, owner, at, app) }
    }
}

/// Whether a key works now, and if not, why.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct StateBody(&'static str);

impl From<StateName> for StateBody {
    fn from(name: StateName) -> Self {
        Self(name.as_str())
    }
}

impl PartialSchema for StateBody {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "Whether a key works now, and if not, why: the answer to a request of cost 1. Later versions \
                 may have more states; a key in an unknown one does not work.",
            ))
            .enum_values(Some(StateName::ALL.map(StateName::as_str)))
            .into()
    }
}

impl ToSchema for StateBody {
    fn name() -> Cow<'static, str> {
        "KeyState".into()
    }
}

/// A page of tokens.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokensBody<T> {
    #[serde(flatten)]
    page: PageBody<T>,
    /// True if there are more than 10,000 tokens and a filter or an order applied only to the 10,000 newest. Absent
    /// instead of false in lists of your own tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

impl<T> TokensBody<T> {
    pub fn of_any_user(found: TokenPage<T>) -> Self {
        Self { page: found.page.into(), truncated: Some(found.is_truncated) }
    }

    /// With no other member than a page has, unless there is a reason (spec §2.2).
    pub fn of_own(found: TokenPage<T>) -> Self {
        Self { page: found.page.into(), truncated: found.is_truncated.then_some(true) }
    }
}
