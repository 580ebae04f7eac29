//! Accounts: roles, status, and who may manage whom (spec §1, §5).

use super::account::{Account, Budget};
use super::audit_changes::FieldChanges;
use super::group::Groups;
use super::id::UserId;
use super::money::Quota;
use super::order::Order;
use super::period_limits::PeriodLimitsPatch;
use super::time::UnixTime;
use super::username::Username;
use crate::domain::named::named;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Unique among all accounts, also deleted ones.
    pub id: UserId,
    /// The name to sign in with.
    pub username: Username,
    /// The name that other people see.
    pub display_name: String,
    /// May be empty.
    pub email: String,
    /// What the user may do.
    pub role: Role,
    /// Enabled or disabled.
    pub status: UserStatus,
    /// The highest role that disabled it; `None` while it is enabled.
    pub disabled_by: Option<Role>,
    /// The group of its tokens that name no other group.
    pub group: String,
    /// The wallet: what all its tokens together may spend, and what they have spent.
    pub wallet: Account,
    /// Number of charges.
    pub request_count: i64,
    /// True if an administrator enabled it for the token API (spec §1).
    pub token_api_enabled: bool,
    /// Its own limit of live tokens, in place of the setting.
    pub max_tokens: Option<i64>,
    /// Creation time.
    pub created_time: UnixTime,
}

/// Who a user is, in reports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserContact {
    pub username: String,
    pub display_name: String,
    /// May be empty.
    pub email: String,
}

impl User {
    /// An enabled account with empty fields. Creation is an edit of it.
    pub fn empty(id: UserId, username: Username, now: UnixTime) -> Self {
        Self {
            id,
            display_name: username.as_str().to_owned(),
            username,
            email: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
            disabled_by: None,
            group: String::new(),
            wallet: Account::new(Budget::Limited { remain: Quota::ZERO }),
            request_count: 0,
            token_api_enabled: false,
            max_tokens: None,
            created_time: now,
        }
    }

    /// This account after `patch`.
    pub fn edited(mut self, patch: UserPatch) -> Self {
        self.wallet.period_limits = self.wallet.period_limits.edited(patch.period_limits);
        Self {
            display_name: patch.display_name.unwrap_or(self.display_name),
            email: patch.email.unwrap_or(self.email),
            role: patch.role.unwrap_or(self.role),
            group: patch.group.unwrap_or(self.group),
            token_api_enabled: patch.token_api_enabled.unwrap_or(self.token_api_enabled),
            max_tokens: patch.max_tokens.map_or(self.max_tokens, |limit| (limit != -1).then_some(limit)),
            ..self
        }
    }

    /// Returns true if the account may use the token API (spec §5.3): it was enabled, it is an administrator, or
    /// `open_to_all` (the setting `accounts.token_api`) enables every account.
    pub const fn may_use_token_api(&self, open_to_all: bool) -> bool {
        open_to_all || self.token_api_enabled || self.role.is_admin()
    }

    /// Returns true if it may make, change, replace and delete tokens of `owner`: its own, and as an administrator
    /// those of accounts that it manages, if the owner may use the token API.
    pub fn may_change_tokens_of(&self, owner: &Self, open_to_all: bool) -> bool {
        (self.id == owner.id || self.role.may_manage(owner.role)) && owner.may_use_token_api(open_to_all)
    }

    /// The changes from `old` to this account, for the audit log.
    pub fn changes_since(&self, old: &Self) -> FieldChanges {
        // Without `..`, so that a new field cannot be left out.
        let Self {
            id: _,
            username: _,
            display_name,
            email,
            role,
            status,
            disabled_by: _,
            group,
            wallet: Account { budget: _, used: _, held: _, period_limits, period_counters: _ },
            request_count: _,
            token_api_enabled,
            max_tokens,
            created_time: _,
        } = self;
        let mut changes = FieldChanges::default();
        changes.value("display_name", (&old.display_name, display_name), Clone::clone);
        changes.value("email", (&old.email, email), Clone::clone);
        changes.value("status", (&old.status, status), |status| status.code().to_string());
        changes.value("role", (&old.role, role), |role| role.code().to_string());
        changes.value("group", (&old.group, group), Clone::clone);
        changes.value("token_api_enabled", (&old.token_api_enabled, token_api_enabled), bool::to_string);
        changes.optional("max_tokens", (old.max_tokens.as_ref(), max_tokens.as_ref()), i64::to_string);
        changes.period_limits(&old.wallet.period_limits, period_limits);
        changes
    }

    /// The account, enabled by an administrator or root.
    ///
    /// # Errors
    /// Only root enables what root disabled.
    pub fn enable(self, by: Role) -> Result<Self, AccountDisabledByRoot> {
        if self.disabled_by == Some(Role::Root) && by != Role::Root {
            return Err(AccountDisabledByRoot);
        }
        Ok(Self { status: UserStatus::Enabled, disabled_by: None, ..self })
    }

    /// The account, disabled by an administrator or root. `disabled_by` keeps the higher role.
    pub fn disable(self, by: Role) -> Self {
        Self { status: UserStatus::Disabled, disabled_by: self.disabled_by.max(Some(by)), ..self }
    }
}

/// An administrator tried to enable an account that root disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("root disabled this account; only root can enable it again")]
pub struct AccountDisabledByRoot;

/// The fields of an account that an administrator sets, except status, password and wallet. `None` keeps a field.
#[derive(Debug, Clone, Default)]
pub struct UserPatch {
    pub display_name: Option<String>,
    pub email: Option<String>,
    pub role: Option<Role>,
    pub group: Option<String>,
    pub token_api_enabled: Option<bool>,
    /// Its own limit of live tokens; -1 for the general limit.
    pub max_tokens: Option<i64>,
    /// Limits of all its tokens together.
    pub period_limits: PeriodLimitsPatch,
}

/// What an account may do. The numbers are those of this API family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[repr(i16)]
pub enum Role {
    /// Manages its own tokens.
    User = 1,
    /// Manages users too.
    Admin = 10,
    /// Manages all accounts.
    Root = 100,
}

impl Role {
    /// All roles, the lowest first.
    pub const ALL: [Self; 3] = [Self::User, Self::Admin, Self::Root];

    /// The number in the API and in the database.
    pub const fn code(self) -> i16 {
        match self {
            Self::User => 1,
            Self::Admin => 10,
            Self::Root => 100,
        }
    }

    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Admin => "administrator",
            Self::Root => "root",
        }
    }

    /// The role with this number.
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            1 => Some(Self::User),
            10 => Some(Self::Admin),
            100 => Some(Self::Root),
            _ => None,
        }
    }

    /// Returns true for administrators and root.
    pub const fn is_admin(self) -> bool {
        match self {
            Self::User => false,
            Self::Admin | Self::Root => true,
        }
    }

    /// The value of `disabled_by` in the API; `None` for an owner who disabled their own resource.
    pub const fn disabler(self) -> Option<&'static str> {
        match self {
            Self::User => None,
            Self::Admin | Self::Root => Some(self.as_str()),
        }
    }

    /// Returns true if this role may manage accounts of role `other`: administrators manage users, root manages
    /// all accounts.
    pub fn may_manage(self, other: Self) -> bool {
        self == Self::Root || (self.is_admin() && other < self)
    }
}

/// Whether an account is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[repr(i16)]
pub enum UserStatus {
    /// The account can be used.
    Enabled = 1,
    /// Every credential of the account, and every token, is refused.
    Disabled = 2,
}

impl UserStatus {
    /// The number in the API and in the database.
    pub const fn code(self) -> i16 {
        match self {
            Self::Enabled => 1,
            Self::Disabled => 2,
        }
    }

    /// The status with this number.
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            1 => Some(Self::Enabled),
            2 => Some(Self::Disabled),
            _ => None,
        }
    }
}

/// Which accounts to list, and in which order. `None` matches every account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserFilter {
    pub status: Option<UserStatus>,
    pub group: Option<String>,
    pub role: Option<Role>,
    pub sort: UserSort,
    pub order: Order,
}

named! {
    /// What accounts are ordered by. Accounts that are equal in it are ordered by id.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum UserSort {
        #[default]
        Id = "id",
        /// Case-folded, by code point.
        Username = "username",
        /// The wallet.
        Quota = "quota",
        UsedQuota = "used_quota",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserFilterInvalid {
    #[error("`status` must be 1 (enabled) or 2 (disabled)")]
    Status,
    /// Holds the names of the configured groups.
    #[error("`group` must be one of: {0}")]
    Group(String),
    #[error("`role` must be 1 (user), 10 (administrator) or 100 (root)")]
    Role,
    #[error("`sort` must be `id`, `username`, `quota` or `used_quota`")]
    Sort,
    #[error("`order` must be `asc` or `desc`")]
    Order,
}

impl UserFilter {
    /// From the texts of the API; `None` and an empty text match every account.
    ///
    /// # Errors
    /// See [`UserFilterInvalid`].
    pub fn parse(
        status: Option<&str>,
        group: Option<&str>,
        role: Option<&str>,
        sort: Option<&str>,
        order: Option<&str>,
        groups: &Groups,
    ) -> Result<Self, UserFilterInvalid> {
        let [status, group, role, sort, order] =
            [status, group, role, sort, order].map(|text| text.filter(|text| !text.is_empty()));
        let read_status =
            |code: &str| code.parse().ok().and_then(UserStatus::from_code).ok_or(UserFilterInvalid::Status);
        let read_role = |code: &str| code.parse().ok().and_then(Role::from_code).ok_or(UserFilterInvalid::Role);
        let read_group = |name: &str| {
            let known = groups.contains(name).then(|| name.to_owned());
            known.ok_or_else(|| UserFilterInvalid::Group(groups.names()))
        };
        Ok(Self {
            status: status.map(read_status).transpose()?,
            group: group.map(read_group).transpose()?,
            role: role.map(read_role).transpose()?,
            sort: sort
                .map(|name| UserSort::parse(name).ok_or(UserFilterInvalid::Sort))
                .transpose()?
                .unwrap_or_default(),
            order: order
                .map(|name| Order::parse(name).ok_or(UserFilterInvalid::Order))
                .transpose()?
                .unwrap_or_default(),
        })
    }

    /// Returns true if the newest account comes first.
    pub fn is_newest_first(&self) -> bool {
        (self.sort, self.order) == (UserSort::Id, Order::Descending)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::super::account::Budget;
    use super::*;
    use crate::domain::group::{GroupInfo, Ratio};

    #[test]
    fn administrators_manage_users_and_root_manages_everyone() {
        use Role::{Admin, Root, User};
        let table = [
            (User, User, false),
            (User, Admin, false),
            (User, Root, false),
            (Admin, User, true),
            (Admin, Admin, false),
            (Admin, Root, false),
            (Root, User, true),
            (Root, Admin, true),
            (Root, Root, true),
        ];
        for (who, whom, may) in table {
            assert_eq!(who.may_manage(whom), may, "{who:?} {whom:?}");
        }
    }

    #[test]
    fn only_root_enables_what_root_disabled() {
        use Role::{Admin, Root};
        let account = |disabled_by: &[Role]| disabled_by.iter().fold(user(), |user, by| user.disable(*by));
        let table: [(&[Role], Option<Role>, Role, bool); 12] = [
            // disabled by these roles in turn, then `disabled_by`, the role that enables it, whether that works
            (&[], None, Admin, true),
            (&[], None, Root, true),
            (&[Admin], Some(Admin), Admin, true),
            (&[Admin], Some(Admin), Root, true),
            (&[Admin, Admin], Some(Admin), Admin, true),
            (&[Admin, Root], Some(Root), Admin, false),
            (&[Admin, Root], Some(Root), Root, true),
            (&[Root], Some(Root), Admin, false),
            (&[Root], Some(Root), Root, true),
            (&[Root, Admin], Some(Root), Admin, false),
            (&[Root, Admin], Some(Root), Root, true),
            (&[Root, Root], Some(Root), Admin, false),
        ];
        for (disabling, disabled_by, who, may) in table {
            let disabled = account(disabling);
            let status = if disabling.is_empty() { UserStatus::Enabled } else { UserStatus::Disabled };
            assert_eq!((disabled.status, disabled.disabled_by), (status, disabled_by), "{disabling:?}");
            let expected = if may { Ok(user()) } else { Err(AccountDisabledByRoot) };
            assert_eq!(disabled.enable(who), expected, "{disabling:?}, enabled by {who:?}");
        }
    }

    #[test]
    fn an_account_uses_the_token_api_if_it_is_enabled_or_an_administrator_or_everyone_may() {
        let table = [
            (Role::User, false, false, false),
            (Role::User, true, false, true),
            (Role::User, false, true, true),
            (Role::Admin, false, false, true),
            (Role::Root, false, false, true),
        ];
        for (role, token_api_enabled, open_to_all, may) in table {
            let user = User { role, token_api_enabled, ..user() };
            assert_eq!(user.may_use_token_api(open_to_all), may, "{role:?} {token_api_enabled} {open_to_all}");
        }
    }

    #[test]
    fn roles_and_statuses_have_the_numbers_of_the_api() {
        for (role, code, disabler) in
            [(Role::User, 1, None), (Role::Admin, 10, Some("administrator")), (Role::Root, 100, Some("root"))]
        {
            assert_eq!((role.code(), role.disabler()), (code, disabler));
            assert_eq!(Role::from_code(code.into()), Some(role));
        }
        for (status, code) in [(UserStatus::Enabled, 1), (UserStatus::Disabled, 2)] {
            assert_eq!(status.code(), code);
            assert_eq!(UserStatus::from_code(code.into()), Some(status));
        }
        for code in [-1, 0, 3, 99] {
            assert_eq!((Role::from_code(code), UserStatus::from_code(code)), (None, None));
        }
    }

    fn groups() -> Groups {
        let info = GroupInfo { description: String::new(), ratio: Ratio::ONE, ratio_of_told: false, open: true };
        Groups::new(BTreeMap::from([("default".to_owned(), info.clone()), ("vip".to_owned(), info)]))
    }

    /// The filter of `status`, `group`, `role`, `sort` and `order`.
    fn filter(texts: [&str; 5]) -> Result<UserFilter, UserFilterInvalid> {
        let [status, group, role, sort, order] = texts.map(Some);
        UserFilter::parse(status, group, role, sort, order, &groups())
    }

    #[test]
    fn omitted_and_empty_parameters_list_every_account_newest_first() {
        let everyone = UserFilter::parse(None, None, None, None, None, &groups());
        assert_eq!(everyone, Ok(UserFilter::default()));
        assert_eq!(filter([""; 5]), everyone);
        assert_eq!(filter(["", "", "", "id", "desc"]), everyone);
        assert!(everyone.unwrap().is_newest_first());
        for other in [["", "", "", "username", ""], ["", "", "", "", "asc"]] {
            assert!(!filter(other).unwrap().is_newest_first(), "{other:?}");
        }
        assert!(filter(["1", "vip", "10", "", ""]).unwrap().is_newest_first());
    }

    #[test]
    fn each_parameter_of_a_list_of_accounts_has_its_values() {
        for (text, status) in [("1", UserStatus::Enabled), ("2", UserStatus::Disabled)] {
            assert_eq!(filter([text, "", "", "", ""]).unwrap().status, Some(status));
        }
        assert_eq!(filter(["", "vip", "", "", ""]).unwrap().group.as_deref(), Some("vip"));
        for (text, role) in [("1", Role::User), ("10", Role::Admin), ("100", Role::Root)] {
            assert_eq!(filter(["", "", text, "", ""]).unwrap().role, Some(role));
        }
        for name in ["id", "username", "quota", "used_quota"] {
            assert_eq!(filter(["", "", "", name, ""]).unwrap().sort.as_str(), name);
        }
        assert_eq!(filter(["", "", "", "", "asc"]).unwrap().order, Order::Ascending);
        for (texts, refused) in [
            (["3", "", "", "", ""], UserFilterInvalid::Status),
            (["enabled", "", "", "", ""], UserFilterInvalid::Status),
            (["", "gold", "", "", ""], UserFilterInvalid::Group("default, vip".into())),
            (["", "", "2", "", ""], UserFilterInvalid::Role),
            (["", "", "root", "", ""], UserFilterInvalid::Role),
            (["", "", "", "role", ""], UserFilterInvalid::Sort),
            (["", "", "", "", "up"], UserFilterInvalid::Order),
        ] {
            assert_eq!(filter(texts), Err(refused), "{texts:?}");
        }
    }

    pub fn user() -> User {
        User {
            id: UserId::new(1),
            username: Username::parse("ana").unwrap(),
            display_name: String::new(),
            email: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
            disabled_by: None,
            group: String::new(),
            wallet: Account::new(Budget::Limited { remain: Quota::ZERO }),
            request_count: 0,
            token_api_enabled: false,
            max_tokens: None,
            created_time: UnixTime::new(0),
        }
    }
}
