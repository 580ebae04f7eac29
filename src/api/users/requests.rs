//! Requests about accounts.

use secrecy::SecretString;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::role::RoleCode;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::api::extract::exposed;
use crate::api::limits::{PeriodLimitsChange, RawLimit};
use crate::api::member_names::MemberNames;
use crate::api::other_names::{self, OtherNames};
use crate::domain::group::Groups;
use crate::domain::money::Quota;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::text;
use crate::domain::user::{Role, UserFilter, UserPatch, UserStatus};
use crate::domain::username::Username;
use crate::service::users::{Grant, NewUser, OwnAccountPatch, UserChange};

/// Members of an account that not every request reads, and those that clients of this family send beside a password.
const READ_ONLY: &str = "\
    id username display_name email role status disabled_by group quota used_quota period_usage request_count \
    token_api_enabled max_tokens created_time password2";

/// Changes of your own account. Omitted fields stay as they are.
#[derive(Deserialize, ToSchema)]
pub struct SelfBody {
    /// At most 100 characters.
    display_name: Option<String>,
    /// An e-mail address, or empty.
    email: Option<String>,
    /// The new password: 8 to 128 characters. Ends all sessions.
    #[schema(value_type = Option<String>)]
    password: Option<SecretString>,
    /// The current password; required with a new one.
    #[schema(value_type = Option<String>)]
    original_password: Option<SecretString>,
    /// Another name for `original_password`.
    #[schema(value_type = Option<String>)]
    old_password: Option<SecretString>,
    /// As your account has it; only administrators change it.
    #[schema(value_type = Option<PeriodLimitsChange>)]
    period_limits: Option<RawLimit>,
}

impl MemberNames for SelfBody {
    const NOT_READ: &'static str = READ_ONLY;
}

impl TryFrom<SelfBody> for OwnAccountPatch {
    type Error = ApiError;

    fn try_from(body: SelfBody) -> Result<Self, ApiError> {
        let current = TypedPassword::new(exposed(body.original_password.as_ref().or(body.old_password.as_ref())));
        let password = match exposed(body.password.as_ref()) {
            "" => None,
            new => Some((NewPassword::parse(new)?, current)),
        };
        Ok(Self {
            display_name: body.display_name.as_deref().map(|text| text::label("display_name", text)).transpose()?,
            email: body.email.as_deref().map(text::email).transpose()?,
            password,
            period_limits: PeriodLimitsChange::read(body.period_limits.as_deref())?,
        })
    }
}

/// Declares the bodies of a creation and of an edit, which share these members of an account.
macro_rules! user_bodies {
    ($($(#[$meta:meta])* $member:ident: $type:ty,)*) => {
        /// A new account. An absent or `null` field has its default.
        #[derive(Deserialize, ToSchema)]
        pub struct NewUserBody {
            /// 1 to 50 characters without white space: letters and digits of one script, and ASCII signs.
            #[schema(required)]
            username: Option<String>,
            /// 8 to 128 characters.
            #[schema(required, value_type = String)]
            password: Option<SecretString>,
            /// The initial wallet, in quota units.
            quota: Option<i64>,
            $($(#[$meta])* $member: Option<$type>,)*
            /// 1, or absent: an account is created enabled.
            status: Option<i64>,
        }

        /// Changes of an account. Omitted fields stay as they are.
        #[derive(Deserialize, ToSchema)]
        pub struct UserPatchBody {
            $($(#[$meta])* $member: Option<$type>,)*
            /// 1 enables, 2 disables.
            status: Option<i64>,
            /// A new password: 8 to 128 characters. Ends all its sessions.
            #[schema(value_type = Option<String>)]
            password: Option<SecretString>,
        }

        /// What both bodies can say of an account.
        struct Members {
            $($member: Option<$type>,)*
        }

        impl NewUserBody {
            fn members(self) -> Members {
                Members { $($member: self.$member,)* }
            }
        }

        impl UserPatchBody {
            fn members(self) -> Members {
                Members { $($member: self.$member,)* }
            }
        }
    };
}

user_bodies! {
    /// The name that other people see, at most 100 characters; that of a new account is its username by default.
    display_name: String,
    /// An e-mail address, or empty.
    email: String,
    /// 1 user (default), 10 administrator, 100 root.
    #[schema(value_type = Option<RoleCode>)]
    role: i64,
    /// One of the configured groups.
    group: String,
    /// Enabled for the token API.
    token_api_enabled: bool,
    /// Its own limit of tokens; -1 for the general limit.
    max_tokens: i64,
    /// Limits of all its tokens together. Members that are left out keep their value; a new account has no limit.
    #[schema(value_type = Option<PeriodLimitsChange>)]
    period_limits: RawLimit,
}

impl Members {
    /// The patch, with the status and the wallet, which are beside the members, in the order of errors.
    fn read(
        self,
        status_code: Option<i64>,
        quota: Option<i64>,
    ) -> Result<(UserPatch, Option<UserStatus>, Option<Quota>), ApiError> {
        let display_name = self.display_name.as_deref().map(|text| text::label("display_name", text)).transpose()?;
        let email = self.email.as_deref().map(text::email).transpose()?;
        let status = status_code.map(status).transpose()?;
        let role = self.role.map(role).transpose()?;
        let quota = quota.map(wallet).transpose()?;
        let period_limits = PeriodLimitsChange::read(self.period_limits.as_deref())?;
        let Self { group, token_api_enabled, max_tokens, .. } = self;
        let patch = UserPatch { display_name, email, role, group, token_api_enabled, max_tokens, period_limits };
        Ok((patch, status, quota))
    }
}

impl MemberNames for NewUserBody {
    const NOT_READ: &'static str = READ_ONLY;
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_USERS;
}

impl TryFrom<NewUserBody> for NewUser {
    type Error = ApiError;

    fn try_from(body: NewUserBody) -> Result<Self, ApiError> {
        if body.status.is_some_and(|status| !matches!(status, 0 | 1)) {
            let message = "an account is created enabled; disable it with `status` 2 to `PATCH /api/admin/users/{id}`";
            return Err(ApiError::new(ErrorCode::InvalidStatus, message));
        }
        let username = Username::parse(body.username.as_deref().unwrap_or_default())?;
        let password = NewPassword::parse(exposed(body.password.as_ref()))?;
        let quota = body.quota;
        let (fields, _, quota) = body.members().read(None, quota)?;
        Ok(Self { username, password, quota, fields })
    }
}

impl MemberNames for UserPatchBody {
    const NOT_READ: &'static str = READ_ONLY;
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_USERS;
}

impl TryFrom<UserPatchBody> for UserChange {
    type Error = ApiError;

    fn try_from(mut body: UserPatchBody) -> Result<Self, ApiError> {
        let (status, password) = (body.status, body.password.take());
        let (fields, status, _) = body.members().read(status, None)?;
        let password = password.as_ref().map(|new| NewPassword::parse(exposed(Some(new)))).transpose()?;
        Ok(Self { fields, status, password })
    }
}

/// A change of a wallet: either field.
#[derive(Debug, Deserialize, ToSchema)]
pub struct GrantBody {
    /// Quota units to add; negative to take some away.
    delta: Option<i64>,
    /// The new wallet, in quota units.
    set: Option<i64>,
    /// Why, for the audit log; at most 100 characters.
    pub note: Option<String>,
}

impl MemberNames for GrantBody {}

impl TryFrom<GrantBody> for Grant {
    type Error = ApiError;

    fn try_from(body: GrantBody) -> Result<Self, ApiError> {
        match (body.delta, body.set) {
            (Some(delta), None) => Ok(Self::By(delta)),
            (None, Some(units)) => Ok(Self::To(units)),
            _ => Err(ApiError::new(ErrorCode::InvalidQuota, "send either `delta` or `set`, in quota units")),
        }
    }
}

/// Which accounts to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UserFilterQuery {
    /// Only accounts with this status: 1 enabled, 2 disabled.
    status: Option<String>,
    /// Only accounts of this configured group.
    group: Option<String>,
    /// Only accounts with this role: 1 user, 10 administrator, 100 root.
    role: Option<String>,
    /// `id` (default), `username`, `quota` (the wallet) or `used_quota`.
    sort: Option<String>,
    /// `asc`, or `desc` (default).
    order: Option<String>,
}

impl UserFilterQuery {
    pub fn read(&self, groups: &Groups) -> Result<UserFilter, ApiError> {
        let [status, group, role, sort, order] =
            [&self.status, &self.group, &self.role, &self.sort, &self.order].map(|text| text.as_deref());
        Ok(UserFilter::parse(status, group, role, sort, order, groups)?)
    }
}

fn role(code: i64) -> Result<Role, ApiError> {
    Role::from_code(code).ok_or_else(|| ApiError::new(ErrorCode::InvalidRole, "`role` must be 1, 10 or 100"))
}

pub(super) fn status(code: i64) -> Result<UserStatus, ApiError> {
    UserStatus::from_code(code)
        .ok_or_else(|| ApiError::new(ErrorCode::InvalidStatus, "`status` must be 1 (enable) or 2 (disable)"))
}

fn wallet(units: i64) -> Result<Quota, ApiError> {
    Quota::grant(units).map_err(|invalid| ApiError::new(ErrorCode::InvalidQuota, format!("`quota` {invalid}")))
}
