//! The audit log: who did what to which resource, and from where.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::audit_changes::{FieldChange, FieldChanges};
use super::caller::{Caller, Origin};
use super::id::{AccessTokenId, AuditId, EnablementRequestId, GatewayId, TokenId, UserId};
use super::money::Quota;
use super::time::UnixTime;
use super::user::{Role, User};
use crate::domain::named::named;

/// Who does something.
#[derive(Debug, Clone, Copy)]
pub enum Actor<'a> {
    /// A signed-in user.
    User(&'a User, &'a Origin),
    /// A request without a signed-in user, such as a registration.
    Anonymous(&'a Origin),
    /// The operator, on the command line.
    Operator,
    /// The service itself.
    Service,
}

impl<'a> Actor<'a> {
    /// The signed-in user, if there is one.
    pub const fn user(self) -> Option<&'a User> {
        match self {
            Self::User(user, _) => Some(user),
            Self::Anonymous(_) | Self::Operator | Self::Service => None,
        }
    }

    /// Returns true if this actor may create and change accounts of this role.
    pub fn may_manage(self, role: Role) -> bool {
        match self {
            Self::User(user, _) => user.role.may_manage(role),
            Self::Anonymous(_) | Self::Service => false,
            Self::Operator => true,
        }
    }
}

impl<'a> From<&'a Caller> for Actor<'a> {
    fn from(caller: &'a Caller) -> Self {
        Self::User(&caller.user, &caller.origin)
    }
}

named! {
    /// What was done. The names in the log are stable, because operators filter by them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Action {
        TokenCreated = "token.created",
        TokenEdited = "token.edited",
        TokenEnabled = "token.enabled",
        TokenDisabled = "token.disabled",
        TokenDeleted = "token.deleted",
        TokenRestored = "token.restored",
        TokenRotated = "token.rotated",
        OldKeyEnded = "token.old_key_ended",
        KeyRevealed = "token.key_revealed",
        SignedIn = "user.signed_in",
        SignInFailed = "user.sign_in_failed",
        SessionEnded = "user.session_ended",
        AccountCreated = "user.created",
        AccountEdited = "user.edited",
        AccountDeleted = "user.deleted",
        PasswordChanged = "user.password_changed",
        AccountUnlocked = "user.unlocked",
        QuotaGranted = "user.quota_granted",
        /// Usage that was counted while the database's clock was ahead became usage of today.
        FutureUsageMoved = "user.future_usage_moved",
        AccessTokenCreated = "access_token.created",
        AccessTokenRevoked = "access_token.revoked",
        EnablementRequested = "token_api.requested",
        EnablementApproved = "token_api.approved",
        EnablementRefused = "token_api.refused",
        GatewayCreated = "gateway.created",
        GatewayRevoked = "gateway.revoked",
        GatewayCredentialCreated = "gateway.credential_created",
        GatewayCredentialRevoked = "gateway.credential_revoked",
        PricesSet = "prices.set",
        /// The database does not know any more what a server had answered.
        AnswersLost = "database.answers_lost",
    }
}

/// The resource that an action concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// `token`, `user`, `access_token`, `gateway`, `token_api_request`, `prices` or `database`.
    pub kind: &'static str,
    /// The id of the resource; `None` for a failed sign-in to an unknown account.
    pub id: Option<i64>,
    /// The account that the resource belongs to.
    pub user_id: Option<UserId>,
}

impl Subject {
    /// A token.
    pub const fn token(id: TokenId, owner: UserId) -> Self {
        Self { kind: "token", id: Some(id.get()), user_id: Some(owner) }
    }

    /// An account.
    pub const fn user(id: UserId) -> Self {
        Self { kind: "user", id: Some(id.get()), user_id: Some(id) }
    }

    /// An account that does not exist.
    pub const fn unknown_user() -> Self {
        Self { kind: "user", id: None, user_id: None }
    }

    /// An access token.
    pub const fn access_token(id: AccessTokenId, owner: UserId) -> Self {
        Self { kind: "access_token", id: Some(id.get()), user_id: Some(owner) }
    }

    /// A request for enablement.
    pub const fn enablement_request(id: EnablementRequestId, user: UserId) -> Self {
        Self { kind: "token_api_request", id: Some(id.get()), user_id: Some(user) }
    }

    /// The price list.
    pub const fn prices() -> Self {
        Self { kind: "prices", id: None, user_id: None }
    }

    /// The database.
    pub const fn database() -> Self {
        Self { kind: "database", id: None, user_id: None }
    }

    /// A gateway.
    pub const fn gateway(id: GatewayId) -> Self {
        Self { kind: "gateway", id: Some(id.get()), user_id: None }
    }
}

/// An entry to write.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// When it happened.
    pub at: UnixTime,
    /// The signed-in user, if there was one.
    pub actor_id: Option<UserId>,
    /// The username at that time; empty without a signed-in user.
    pub actor_name: String,
    /// What was done.
    pub action: Action,
    /// What it was done to.
    pub subject: Subject,
    /// The client's address, if it is known.
    pub ip: Option<IpAddr>,
    /// The request id.
    pub request_id: String,
    /// Names of changed fields, amounts, decisions.
    pub details: Details,
    /// What an edit changed.
    pub changes: Vec<FieldChange>,
}

impl AuditEntry {
    /// An entry without details.
    pub fn new(at: UnixTime, actor: Actor<'_>, action: Action, subject: Subject) -> Self {
        let user = actor.user();
        let (ip, request_id) = match actor {
            Actor::User(_, origin) | Actor::Anonymous(origin) => (origin.ip, origin.request_id.clone()),
            Actor::Operator => (None, "command line".to_owned()),
            Actor::Service => (None, "service".to_owned()),
        };
        Self {
            at,
            actor_id: user.map(|user| user.id),
            actor_name: user.map_or_else(String::new, |user| user.username.as_str().to_owned()),
            action,
            subject,
            ip,
            request_id,
            details: Details::new(),
            changes: Vec::new(),
        }
    }

    /// The entry of a wallet that was `from` quota units and is `to`.
    pub fn quota_granted(at: UnixTime, actor: Actor<'_>, id: UserId, from: Quota, to: Quota) -> Self {
        Self::new(at, actor, Action::QuotaGranted, Subject::user(id))
            .with([("from", from.get().to_string()), ("to", to.get().to_string())])
    }

    /// The entry of the wallet that an account begins with, unless it is empty.
    pub fn starting_balance(at: UnixTime, actor: Actor<'_>, id: UserId, quota: Quota) -> Option<Self> {
        (quota != Quota::ZERO).then(|| Self::quota_granted(at, actor, id, Quota::ZERO, quota))
    }

    /// The same entry with these details beside those it has.
    pub fn with(mut self, details: impl Into<Details>) -> Self {
        self.details.extend(details.into());
        self
    }

    /// The same entry with these changes, and with the names of their fields as a detail.
    pub fn with_changes(self, changes: FieldChanges) -> Self {
        let fields = changes.fields();
        Self { changes: changes.into_vec(), ..self.with([("fields", fields)]) }
    }
}

/// Facts about an action, by name. They never hold a secret.
pub type Details = BTreeMap<&'static str, String>;

/// An entry as it is read back.
#[derive(Debug, Clone)]
pub struct AuditLine {
    /// Unique among all entries; ascending in time.
    pub id: AuditId,
    /// When it happened.
    pub at: UnixTime,
    /// The signed-in user, if there was one.
    pub actor_id: Option<UserId>,
    /// The username at that time; empty without a signed-in user.
    pub actor_name: String,
    /// The name of the action.
    pub action: String,
    /// The kind of resource.
    pub subject_kind: String,
    /// The id of the resource.
    pub subject_id: Option<i64>,
    /// The present name of the resource: of a token, a gateway or an access token, or a username; `None` if there is
    /// none any more.
    pub subject_name: Option<String>,
    /// The account that the resource belongs to.
    pub user_id: Option<i64>,
    /// The username of that account.
    pub user_name: Option<String>,
    /// The client's address; empty if it is not known.
    pub ip: String,
    /// The request id.
    pub request_id: String,
    /// Facts about the action, by name.
    pub details: BTreeMap<String, String>,
    /// What an edit changed. Edits of older versions have none.
    pub changes: Vec<FieldChange>,
}

/// Which entries to list. `None` means any.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Only actions of this user.
    pub actor_id: Option<UserId>,
    /// Only actions of this name.
    pub action: Option<String>,
    /// Only resources of this kind.
    pub subject_kind: Option<String>,
    /// Only resources with this id.
    pub subject_id: Option<i64>,
    /// Only resources of this account.
    pub user_id: Option<UserId>,
    /// Only entries from this time on.
    pub since: Option<UnixTime>,
    /// Only entries before this time.
    pub before: Option<UnixTime>,
}

impl AuditLine {
    /// The entry as `user` may see it, whom it concerns: the addresses of other signed-in users are left out. The
    /// address of an attempt to sign in stays.
    pub fn shown_to(self, user: UserId) -> Self {
        let is_of_another = self.actor_id.is_some_and(|actor| actor != user);
        Self { ip: if is_of_another { String::new() } else { self.ip }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::user::tests::user;
    use super::*;

    fn origin() -> Origin {
        Origin { ip: Some([192, 0, 2, 7].into()), request_id: "request".into() }
    }

    #[test]
    fn the_names_of_actions_are_stable_because_operators_filter_by_them() {
        use Action as A;
        let table = [
            (A::TokenCreated, "token.created"),
            (A::TokenEdited, "token.edited"),
            (A::TokenEnabled, "token.enabled"),
            (A::TokenDisabled, "token.disabled"),
            (A::TokenDeleted, "token.deleted"),
            (A::TokenRestored, "token.restored"),
            (A::TokenRotated, "token.rotated"),
            (A::OldKeyEnded, "token.old_key_ended"),
            (A::KeyRevealed, "token.key_revealed"),
            (A::SignedIn, "user.signed_in"),
            (A::SignInFailed, "user.sign_in_failed"),
            (A::SessionEnded, "user.session_ended"),
            (A::AccountCreated, "user.created"),
            (A::AccountEdited, "user.edited"),
            (A::AccountDeleted, "user.deleted"),
            (A::PasswordChanged, "user.password_changed"),
            (A::AccountUnlocked, "user.unlocked"),
            (A::QuotaGranted, "user.quota_granted"),
            (A::FutureUsageMoved, "user.future_usage_moved"),
            (A::AccessTokenCreated, "access_token.created"),
            (A::AccessTokenRevoked, "access_token.revoked"),
            (A::EnablementRequested, "token_api.requested"),
            (A::EnablementApproved, "token_api.approved"),
            (A::EnablementRefused, "token_api.refused"),
            (A::GatewayCreated, "gateway.created"),
            (A::GatewayRevoked, "gateway.revoked"),
            (A::GatewayCredentialCreated, "gateway.credential_created"),
            (A::GatewayCredentialRevoked, "gateway.credential_revoked"),
            (A::PricesSet, "prices.set"),
            (A::AnswersLost, "database.answers_lost"),
        ];
        for (action, name) in table {
            assert_eq!(action.as_str(), name);
        }
    }

    #[test]
    fn an_entry_names_the_actor_and_the_origin_of_the_request() {
        let (user, origin) = (user(), origin());
        let entry = |actor| {
            let entry = AuditEntry::new(UnixTime::new(5), actor, Action::SignedIn, Subject::unknown_user());
            (entry.actor_id, entry.actor_name, entry.ip, entry.request_id, entry.details)
        };
        let none = Details::new;
        let (ip, request_id) = (origin.ip, origin.request_id.clone());
        let by_user = (Some(user.id), "ana".to_owned(), ip, request_id.clone(), none());
        assert_eq!(entry(Actor::User(&user, &origin)), by_user);
        assert_eq!(entry(Actor::Anonymous(&origin)), (None, String::new(), ip, request_id, none()));
        assert_eq!(entry(Actor::Service), (None, String::new(), None, "service".to_owned(), none()));
        assert_eq!(entry(Actor::Operator), (None, String::new(), None, "command line".to_owned(), none()));
    }

    #[test]
    fn users_manage_by_their_role_the_operator_manages_everyone_and_anonymous_requests_nobody() {
        let origin = origin();
        let admin = User { role: Role::Admin, ..user() };
        let by = |actor: Actor<'_>| [Role::User, Role::Admin, Role::Root].map(|role| actor.may_manage(role));
        assert_eq!(by(Actor::User(&user(), &origin)), [false, false, false]);
        assert_eq!(by(Actor::User(&admin, &origin)), [true, false, false]);
        assert_eq!(by(Actor::Anonymous(&origin)), [false, false, false]);
        assert_eq!(by(Actor::Operator), [true, true, true]);
        assert_eq!(by(Actor::Service), [false, false, false]);
    }

    #[test]
    fn users_see_their_own_addresses_and_those_of_attempts_to_sign_in() {
        let line = |actor_id| AuditLine {
            id: AuditId::new(1),
            at: UnixTime::new(5),
            actor_id,
            actor_name: String::new(),
            action: String::new(),
            subject_kind: String::new(),
            subject_id: None,
            subject_name: None,
            user_id: None,
            user_name: None,
            ip: "192.0.2.7".into(),
            request_id: String::new(),
            details: BTreeMap::new(),
            changes: Vec::new(),
        };
        let user = UserId::new(3);
        for (actor, ip) in [(None, "192.0.2.7"), (Some(3), "192.0.2.7"), (Some(4), "")] {
            assert_eq!(line(actor.map(UserId::new)).shown_to(user).ip, ip, "{actor:?}");
        }
    }

    #[test]
    fn an_entry_of_an_edit_has_its_changes_and_names_the_fields() {
        let mut changes = FieldChanges::default();
        changes.value("name", (&"one", &"two"), |name| (*name).to_owned());
        let entry = AuditEntry::new(UnixTime::new(5), Actor::Operator, Action::TokenEdited, Subject::unknown_user())
            .with([("add_quota", "7".to_owned())])
            .with_changes(changes.clone());
        let details = Details::from([("fields", "name".to_owned()), ("add_quota", "7".to_owned())]);
        assert_eq!((entry.details, entry.changes), (details, changes.into_vec()));
    }

    #[test]
    fn an_account_that_begins_with_an_empty_wallet_has_no_entry_of_it() {
        let begin = |units| {
            let quota = Quota::grant(units).unwrap();
            AuditEntry::starting_balance(UnixTime::new(5), Actor::Operator, UserId::new(3), quota)
        };
        assert!(begin(0).is_none());
        let details = begin(7).unwrap().details;
        assert_eq!(details, Details::from([("from", "0".to_owned()), ("to", "7".to_owned())]));
    }
}
