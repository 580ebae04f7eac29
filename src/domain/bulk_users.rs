//! Many accounts in one call: who is chosen, what becomes of each, and what is wrong with single ones (spec §10.7).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::account::Budget;
use super::bounds;
use super::id::UserId;
use super::money::Quota;
use super::text::TextInvalid;
use super::usd_cost::UsdCostInvalid;
use super::user::{AccountDisabledByRoot, User, UserPatch, UserStatus};
use super::username::{Username, UsernameInvalid};

/// The detail of the audit log that names the call by which quota was added, for its undo.
pub const BATCH: &str = "batch";

/// Characters of a name that a fault repeats.
const MAX_SHOWN: usize = 60;

/// An account as a request names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserRef {
    Id(UserId),
    Name(Username),
}

/// One of the chosen accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenUser {
    pub user: UserRef,
    /// Its line, counted from 1, if the accounts are those of a CSV file.
    pub line: Option<usize>,
    /// Quota units to add to its wallet; negative to take some away.
    pub add: i64,
    /// Why, for the audit log; may be empty.
    pub note: String,
}

impl ChosenUser {
    /// Where the request names it.
    pub fn place(&self) -> UserPlace {
        match &self.user {
            UserRef::Id(id) => UserPlace { line: self.line, id: Some(*id), username: None },
            UserRef::Name(name) => UserPlace::of_name(self.line, name.as_str()),
        }
    }

    /// The same with both the id and the name, once they are known.
    pub fn place_of(&self, user: &User) -> UserPlace {
        let username = Some(user.username.as_str().to_owned());
        UserPlace { line: self.line, id: Some(user.id), username }
    }
}

/// Where a request names an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPlace {
    /// The line of a CSV file, counted from 1.
    pub line: Option<usize>,
    pub id: Option<UserId>,
    /// The name of the account, or what was sent as one.
    pub username: Option<String>,
}

impl UserPlace {
    /// What was sent as a name, as far as it is shown.
    pub fn of_name(line: Option<usize>, name: &str) -> Self {
        Self { line, id: None, username: Some(name.trim().chars().take(MAX_SHOWN).collect()) }
    }
}

impl fmt::Display for UserPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        match (&self.username, self.id) {
            (Some(name), _) => write!(f, "`{name}`"),
            (None, Some(id)) => write!(f, "user {id}"),
            (None, None) => f.write_str("a user"),
        }
    }
}

/// What is wrong with one of the chosen accounts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserFault {
    /// Not a line of the file.
    #[error("write the line as `user,usd` or `user,usd,note`, and a cell with a comma or a quote in double quotes")]
    Line,
    #[error(transparent)]
    Username(#[from] UsernameInvalid),
    #[error("`usd` {0}")]
    Usd(#[from] UsdCostInvalid),
    /// `12,50` would be 12 dollars with the note 50.
    #[error("write the amount with a point, as in 12.50; a note of digits alone needs double quotes")]
    DecimalComma,
    #[error(transparent)]
    Note(#[from] TextInvalid),
    #[error("this user is named twice")]
    Twice,
    /// The account does not exist or was deleted.
    #[error("there is no such user")]
    NotFound,
    #[error("your role does not allow this: administrators manage users, root manages everyone")]
    RoleTooLow,
    /// Administrators cannot lock themselves out.
    #[error("you cannot change the status of your own account")]
    OwnAccount,
    #[error(transparent)]
    DisabledByRoot(#[from] AccountDisabledByRoot),
    /// Holds what is left.
    #[error("the wallet holds {0} quota units, and may hold {max} at most", max = bounds::MAX_QUOTA)]
    WalletFull(i64),
    /// Holds what is left, and what was to be taken away.
    #[error("the wallet holds {0} quota units, less than the {1} to take away")]
    Insufficient(i64, i64),
    /// Holds who did it.
    #[error("{0} changed this user since, so nothing is taken back")]
    ChangedSince(String),
    #[error("this call added nothing to this user's wallet")]
    NothingAdded,
}

/// One fault or more, each with the account that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFaults(Vec<(UserPlace, UserFault)>);

impl UserFaults {
    /// # Errors
    /// There is a fault.
    pub fn check(faults: Vec<(UserPlace, UserFault)>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self(faults)) }
    }

    pub fn as_slice(&self) -> &[(UserPlace, UserFault)] {
        &self.0
    }
}

impl fmt::Display for UserFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(((place, fault), others)) = self.0.split_first() else {
            return Ok(());
        };
        write!(f, "{place}: {fault}")?;
        if others.is_empty() { Ok(()) } else { write!(f, "; {} more in `faults`", others.len()) }
    }
}

impl std::error::Error for UserFaults {}

/// Why no accounts are chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceInvalid {
    /// Holds the name of the field.
    #[error("`{0}` must have 1 to {max} entries", max = bounds::MAX_BULK_USERS)]
    Count(&'static str),
    #[error(transparent)]
    Faults(#[from] UserFaults),
}

/// Accounts by their ids, with `add` for each wallet.
///
/// # Errors
/// None or too many, or one is named twice.
pub fn by_ids(ids: &[i64], add: i64) -> Result<Vec<ChosenUser>, ChoiceInvalid> {
    check_count("ids", ids.len())?;
    let chosen = |id: &i64| ChosenUser { user: UserRef::Id(UserId::new(*id)), line: None, add, note: String::new() };
    each_once(ids.iter().map(chosen).collect(), Vec::new())
}

/// Accounts by their names, in any case and spelling, with `add` for each wallet.
///
/// # Errors
/// None or too many; one is no name, or named twice.
pub fn by_names(names: &[String], add: i64) -> Result<Vec<ChosenUser>, ChoiceInvalid> {
    check_count("usernames", names.len())?;
    let (mut chosen, mut faults) = (Vec::new(), Vec::new());
    for name in names {
        match Username::typed(name) {
            Ok(name) => chosen.push(ChosenUser { user: UserRef::Name(name), line: None, add, note: String::new() }),
            Err(invalid) => faults.push((UserPlace::of_name(None, name), invalid.into())),
        }
    }
    each_once(chosen, faults)
}

/// # Errors
/// There are none or too many.
pub(super) fn check_count(field: &'static str, count: usize) -> Result<(), ChoiceInvalid> {
    if count == 0 || count > bounds::MAX_BULK_USERS { Err(ChoiceInvalid::Count(field)) } else { Ok(()) }
}

/// The chosen accounts, unless there is a fault already.
///
/// # Errors
/// There is a fault, or one is named twice.
pub(super) fn each_once(
    chosen: Vec<ChosenUser>,
    mut faults: Vec<(UserPlace, UserFault)>,
) -> Result<Vec<ChosenUser>, ChoiceInvalid> {
    let mut seen = BTreeSet::new();
    for one in &chosen {
        let key = match &one.user {
            UserRef::Id(id) => id.to_string(),
            UserRef::Name(name) => name.folded(),
        };
        if !seen.insert(key) {
            faults.push((one.place(), UserFault::Twice));
        }
    }
    faults.sort_by_key(|(place, _)| place.line);
    UserFaults::check(faults)?;
    Ok(chosen)
}

/// What becomes of the chosen accounts.
#[derive(Debug)]
pub enum BulkChange {
    /// Each gets these fields and this status, and its own amount.
    Edit { fields: UserPatch, status: Option<UserStatus> },
    /// What the call of this name added is taken back.
    Undo(String),
}

/// A change of many accounts.
#[derive(Debug)]
pub struct UserBulk {
    /// 1 to [`bounds::MAX_BULK_USERS`], each once.
    pub chosen: Vec<ChosenUser>,
    pub change: BulkChange,
    /// Nothing is changed; the answer says what would be.
    pub is_dry_run: bool,
}

impl BulkChange {
    /// Returns true if what it adds can be taken back.
    pub const fn can_be_undone(&self) -> bool {
        match self {
            Self::Edit { .. } => true,
            Self::Undo(_) => false,
        }
    }

    /// One of the chosen accounts after it was changed by an administrator. `last` is the newest change of it by an
    /// administrator before this one.
    ///
    /// # Errors
    /// See [`UserFault`].
    pub fn apply(
        &self,
        chosen: &ChosenUser,
        user: User,
        by: &User,
        last: Option<&LastChange>,
    ) -> Result<User, UserFault> {
        if !by.role.may_manage(user.role) {
            return Err(UserFault::RoleTooLow);
        }
        match self {
            Self::Edit { fields, status } => {
                if status.is_some() && user.id == by.id {
                    return Err(UserFault::OwnAccount);
                }
                let user = match status {
                    Some(UserStatus::Enabled) => user.enable(by.role)?,
                    Some(UserStatus::Disabled) => user.disable(by.role),
                    None => user,
                };
                with_more(user.edited(fields.clone()), chosen.add)
            }
            Self::Undo(batch) => {
                let last = last.ok_or(UserFault::NothingAdded)?;
                let added = last.added_by(batch, by.id).ok_or_else(|| UserFault::ChangedSince(last.actor()))?;
                with_more(user, added.saturating_neg())
            }
        }
    }
}

/// The account with `units` more in its wallet.
fn with_more(mut user: User, units: i64) -> Result<User, UserFault> {
    let left = user.wallet.remain().get();
    let after = left.saturating_add(units);
    if after < 0 {
        return Err(UserFault::Insufficient(left, units.saturating_neg()));
    }
    if units != 0 {
        let remain = Quota::grant(after).map_err(|_| UserFault::WalletFull(left))?;
        user.wallet.budget = Budget::Limited { remain };
    }
    Ok(user)
}

/// The newest change of an account by an administrator, as the audit log has it.
#[derive(Debug, Clone)]
pub struct LastChange {
    pub actor_id: Option<UserId>,
    /// Empty for the operator.
    pub actor_name: String,
    pub details: BTreeMap<String, String>,
}

impl LastChange {
    /// The quota units that it added to the wallet, if it was made by the call of this name of this administrator.
    pub fn added_by(&self, batch: &str, admin: UserId) -> Option<i64> {
        let units = |name: &str| self.details.get(name)?.parse::<i64>().ok();
        let is_of_call = self.actor_id == Some(admin) && self.details.get(BATCH).is_some_and(|of| of == batch);
        if is_of_call { units("to")?.checked_sub(units("from")?) } else { None }
    }

    fn actor(&self) -> String {
        if self.actor_name.is_empty() { "the operator".to_owned() } else { format!("`{}`", self.actor_name) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::period_limits::PeriodLimitsPatch;
    use super::super::user::Role;
    use super::super::user::tests::user;
    use super::*;
    use crate::domain::limit_change::LimitChange;

    const MAX: i64 = bounds::MAX_QUOTA;

    fn holding(units: i64) -> User {
        let mut user = user();
        user.wallet.budget = Budget::Limited { remain: Quota::grant(units).unwrap() };
        user
    }

    fn admin() -> User {
        User { id: UserId::new(9), role: Role::Admin, ..user() }
    }

    fn adding(units: i64) -> ChosenUser {
        ChosenUser { user: UserRef::Id(UserId::new(1)), line: None, add: units, note: String::new() }
    }

    fn edit(status: Option<UserStatus>) -> BulkChange {
        BulkChange::Edit { fields: UserPatch::default(), status }
    }

    fn granted(by: i64, batch: &str, from: i64, to: i64) -> LastChange {
        let details = [("from", from.to_string()), ("to", to.to_string()), (BATCH, batch.to_owned())];
        LastChange {
            actor_id: Some(UserId::new(by)),
            actor_name: "carla".to_owned(),
            details: details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    #[test]
    fn users_are_named_once_by_id_or_by_name_in_any_spelling() {
        let names = |names: &[&str]| by_names(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), 5);
        let message = |chosen: Result<Vec<ChosenUser>, ChoiceInvalid>| chosen.unwrap_err().to_string();
        assert_eq!(names(&["ana", "Ben"]).unwrap().len(), 2);
        assert_eq!(
            by_ids(&[3, 7], 5).unwrap(),
            [3, 7].map(|id| ChosenUser { user: UserRef::Id(UserId::new(id)), ..adding(5) })
        );
        assert_eq!(message(names(&["ana", "ben", "ANA"])), "`ANA`: this user is named twice");
        assert_eq!(message(by_ids(&[7, 3, 7, 7], 0)), "user 7: this user is named twice; 1 more in `faults`");
        let length = "`a b`: `username` must have 1 to 50 characters, without white space";
        assert_eq!(message(names(&["ana", "a b"])), length);
        assert_eq!(message(names(&[])), "`usernames` must have 1 to 1000 entries");
        assert_eq!(by_ids(&(0..1_000).collect::<Vec<_>>(), 0).unwrap().len(), 1_000);
        assert_eq!(message(by_ids(&(0..1_001).collect::<Vec<_>>(), 0)), "`ids` must have 1 to 1000 entries");
    }

    #[test]
    fn a_long_name_is_cut_in_a_fault() {
        let place = UserPlace::of_name(Some(4), &"ü".repeat(100_000));
        assert_eq!(place.to_string(), format!("line 4, `{}`", "ü".repeat(60)));
    }

    #[test]
    fn a_wallet_stays_in_its_range() {
        let table = [
            (0, 5, Ok(5)),
            (5, -5, Ok(0)),
            (5, 0, Ok(5)),
            (5, -6, Err(UserFault::Insufficient(5, 6))),
            (5, i64::MIN, Err(UserFault::Insufficient(5, i64::MAX))),
            (1, MAX - 1, Ok(MAX)),
            (1, MAX, Err(UserFault::WalletFull(1))),
            (1, i64::MAX, Err(UserFault::WalletFull(1))),
        ];
        for (left, add, expected) in table {
            let after = edit(None).apply(&adding(add), holding(left), &admin(), None);
            assert_eq!(after.map(|user| user.wallet.remain().get()), expected, "{left} {add}");
        }
    }

    #[test]
    fn fields_status_and_amount_change_together() {
        let day = LimitChange::Set(Quota::LEAST);
        let fields = UserPatch {
            group: Some("vip".to_owned()),
            period_limits: PeriodLimitsPatch { day, ..PeriodLimitsPatch::default() },
            ..UserPatch::default()
        };
        let change = BulkChange::Edit { fields, status: Some(UserStatus::Disabled) };
        let after = change.apply(&adding(7), holding(3), &admin(), None).unwrap();
        assert_eq!((after.group.as_str(), after.wallet.period_limits.day), ("vip", Some(Quota::LEAST)));
        assert_eq!((after.status, after.disabled_by), (UserStatus::Disabled, Some(Role::Admin)));
        assert_eq!(after.wallet.remain().get(), 10);
    }

    #[test]
    fn an_administrator_changes_only_whom_it_manages_and_not_its_own_status() {
        let root = User { id: UserId::new(8), role: Role::Root, ..user() };
        let disabled_by_root = user().disable(Role::Root);
        let (enable, disable) = (edit(Some(UserStatus::Enabled)), edit(Some(UserStatus::Disabled)));
        let undo = BulkChange::Undo("b".to_owned());
        let table = [
            (&disable, admin(), admin(), Some(UserFault::RoleTooLow)),
            (&undo, root.clone(), admin(), Some(UserFault::RoleTooLow)),
            (&disable, root.clone(), root.clone(), Some(UserFault::OwnAccount)),
            (&disable, admin(), root.clone(), None),
            (&enable, disabled_by_root.clone(), admin(), Some(UserFault::DisabledByRoot(AccountDisabledByRoot))),
            (&enable, disabled_by_root, root, None),
        ];
        for (change, user, by, fault) in table {
            let shown = format!("{change:?} {:?} by {:?}", user.role, by.role);
            assert_eq!(change.apply(&adding(0), user, &by, None).err(), fault, "{shown}");
        }
    }

    #[test]
    fn an_undo_takes_back_what_its_own_call_added_unless_it_is_spent_or_was_changed_since() {
        let changed = |who: &str| UserFault::ChangedSince(who.to_owned());
        let edited = LastChange { details: BTreeMap::new(), ..granted(9, "b", 0, 0) };
        let by_operator = LastChange { actor_id: None, actor_name: String::new(), ..granted(9, "b", 3, 10) };
        let table = [
            (10, Some(granted(9, "b", 3, 10)), Ok(3)),
            (7, Some(granted(9, "b", 3, 10)), Ok(0)),
            (6, Some(granted(9, "b", 3, 10)), Err(UserFault::Insufficient(6, 7))),
            // Something was taken away, and comes back.
            (3, Some(granted(9, "b", 10, 3)), Ok(10)),
            (10, Some(granted(9, "c", 3, 10)), Err(changed("`carla`"))),
            (10, Some(granted(8, "b", 3, 10)), Err(changed("`carla`"))),
            (10, Some(edited), Err(changed("`carla`"))),
            (10, Some(by_operator), Err(changed("the operator"))),
            (10, None, Err(UserFault::NothingAdded)),
        ];
        for (left, last, expected) in table {
            let undo = BulkChange::Undo("b".to_owned());
            let after = undo.apply(&adding(0), holding(left), &admin(), last.as_ref());
            assert_eq!(after.map(|user| user.wallet.remain().get()), expected, "{left} {last:?}");
        }
    }

    proptest! {
        #[test]
        fn an_undo_is_exact_whatever_was_left_and_added(
            left in 0..MAX,
            add in -MAX..MAX,
            spent in 0..MAX,
        ) {
            let Ok(after) = edit(None).apply(&adding(add), holding(left), &admin(), None) else {
                prop_assert!(!(0..=MAX).contains(&(left + add)));
                return Ok(());
            };
            let topped_up = after.wallet.remain().get();
            prop_assert_eq!(topped_up, left + add);
            let now = (topped_up - spent).max(0);
            let last = granted(9, "b", left, topped_up);
            let undone = BulkChange::Undo("b".to_owned()).apply(&adding(0), holding(now), &admin(), Some(&last));
            match undone {
                Ok(user) => prop_assert_eq!(user.wallet.remain().get(), now - add),
                Err(fault) => prop_assert!(!(0..=MAX).contains(&(now - add)), "{}", fault),
            }
        }
    }
}
