//! Changes many accounts, all or none, and takes top-ups back (spec §10.7).

use std::collections::{BTreeMap, HashMap};

use super::{Users, UsersError};
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::bulk_users::{BATCH, BulkChange, ChosenUser, LastChange, UserBulk, UserFault, UserFaults, UserRef};
use crate::domain::caller::Caller;
use crate::domain::id::UserId;
use crate::domain::idempotency_key::{Idempotent, IdempotentRequest};
use crate::domain::time::UnixTime;
use crate::domain::user::{User, UserPatch, UserStatus};
use crate::service::{actors, idempotency_keys};
use crate::storage::{Conn, StorageError, audit, sessions, users};

/// The note of an undo that has none.
const UNDO_NOTE: &str = "undo";

/// What became of many accounts, or what would.
#[derive(Debug)]
pub struct ChangedUsers {
    /// In the order in which they were chosen.
    pub users: Vec<ChangedUser>,
    /// What takes the quota back that was added; `None` if none was.
    pub undo: Option<UndoRequest>,
}

/// One of them.
#[derive(Debug)]
pub struct ChangedUser {
    /// `None` if the request was carried out before.
    pub before: Option<User>,
    pub after: User,
}

/// An undo of a call: these accounts, and the name of the call.
#[derive(Debug)]
pub struct UndoRequest {
    pub ids: Vec<UserId>,
    pub batch: String,
}

/// One of the chosen accounts, before and after.
struct PlannedChange<'a> {
    chosen: &'a ChosenUser,
    before: User,
    after: User,
}

impl Users {
    /// Changes accounts, all or none, each under the rules of [`Users::edit`] and [`Users::grant`].
    ///
    /// # Errors
    /// An unknown group; one of the accounts cannot be changed; see
    /// [`IdempotencyKeyError`](crate::service::idempotency_keys::IdempotencyKeyError); the database.
    pub async fn change_all(
        &self,
        admin: &Caller,
        bulk: &UserBulk,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<ChangedUsers>, UsersError> {
        if let BulkChange::Edit { fields: UserPatch { group: Some(group), .. }, .. } = &bulk.change {
            self.check_group(group)?;
        }
        // A dry run does nothing that must not be done twice.
        let request = request.filter(|_| !bulk.is_dry_run);
        // Not the id of the HTTP request: callers choose that, and may send it again.
        let own_name = || self.core.rng.generate_fast(|rng| format!("{:016x}", rng.next_u64()));
        let batch = &request.map_or_else(own_name, |request| request.key.as_str().to_owned());
        let mut tx = self.core.db.begin().await?;
        let ids = find_ids(&mut tx, &bulk.chosen).await?;
        let targets: Vec<UserId> = ids.iter().flatten().copied().collect();
        let (by, locked) = actors::lock_admin_and_all(&mut tx, admin.user.id, &targets).await?;
        let mut found: BTreeMap<UserId, User> = locked.into_iter().map(|user| (user.id, user)).collect();
        if idempotency_keys::find(&mut tx, by.id, request).await?.is_some() {
            let last = audit::list_last_changes_of_users(&mut tx, &targets).await?;
            let replayed =
                replayed(&bulk.change, batch, by.id, &last, targets.iter().filter_map(|id| found.remove(id)));
            self.core.invalidator.commit_unchanged(tx).await?;
            return Ok(Idempotent::replayed(replayed));
        }
        let last = match bulk.change {
            BulkChange::Undo(_) => audit::list_last_changes_of_users(&mut tx, &targets).await?,
            BulkChange::Edit { .. } => HashMap::new(),
        };
        let (mut planned, mut faults) = (Vec::new(), Vec::new());
        for (chosen, id) in bulk.chosen.iter().zip(ids) {
            let Some(before) = id.and_then(|id| found.remove(&id)) else {
                faults.push((chosen.place(), UserFault::NotFound));
                continue;
            };
            match bulk.change.apply(chosen, before.clone(), &by, last.get(&before.id)) {
                Ok(after) => planned.push(PlannedChange { chosen, before, after }),
                Err(fault) => faults.push((chosen.place_of(&before), fault)),
            }
        }
        UserFaults::check(faults)?;
        if bulk.is_dry_run {
            tx.rollback().await?;
            return Ok(Idempotent::now(ChangedUsers::of(planned, None)));
        }
        let now = self.core.clock.now();
        let changed: Vec<&PlannedChange<'_>> = planned.iter().filter(|one| one.before != one.after).collect();
        let changed_ids: Vec<UserId> = changed.iter().map(|one| one.after.id).collect();
        if !changed.is_empty() {
            let accounts: Vec<&User> = changed.iter().map(|one| &one.after).collect();
            users::update_all(&mut tx, &accounts).await?;
            let enabled: Vec<UserId> =
                changed.iter().filter(|one| one.is_enabled_again()).map(|one| one.after.id).collect();
            sessions::delete_all_of_users(&mut tx, &enabled).await?;
            let entries = |one: &&PlannedChange<'_>| one.entries(now, admin, &bulk.change, batch);
            audit::insert_many(&mut tx, &changed.iter().flat_map(entries).collect::<Vec<_>>()).await?;
        }
        idempotency_keys::record(&mut tx, by.id, request, &[], now).await?;
        self.core.invalidator.commit_users(tx, &changed_ids).await?;
        Ok(Idempotent::now(ChangedUsers::of(planned, bulk.change.can_be_undone().then_some(batch))))
    }
}

impl ChangedUsers {
    /// `batch` names the call, unless it cannot be undone.
    fn of(planned: Vec<PlannedChange<'_>>, batch: Option<&str>) -> Self {
        let added = planned.iter().filter(|one| one.adds()).map(|one| one.after.id).collect();
        let undo = batch.and_then(|batch| UndoRequest::of(added, batch));
        let changed = |one: PlannedChange<'_>| ChangedUser { before: Some(one.before), after: one.after };
        Self { users: planned.into_iter().map(changed).collect(), undo }
    }
}

impl UndoRequest {
    fn of(ids: Vec<UserId>, batch: &str) -> Option<Self> {
        (!ids.is_empty()).then(|| Self { ids, batch: batch.to_owned() })
    }
}

impl PlannedChange<'_> {
    fn adds(&self) -> bool {
        self.before.wallet.remain() != self.after.wallet.remain()
    }

    fn is_enabled_again(&self) -> bool {
        (self.before.status, self.after.status) == (UserStatus::Disabled, UserStatus::Enabled)
    }

    /// Its entries for the audit log, as single calls write them. That of the wallet is the last one, by which an undo
    /// finds what was added.
    fn entries(&self, now: UnixTime, admin: &Caller, change: &BulkChange, batch: &str) -> Vec<AuditEntry> {
        let Self { chosen, before, after } = self;
        let actor = Actor::from(admin);
        let changes = after.changes_since(before);
        let is_edited = !changes.is_empty() || before.disabled_by != after.disabled_by;
        let edited = is_edited
            .then(|| AuditEntry::new(now, actor, Action::AccountEdited, Subject::user(after.id)).with_changes(changes));
        let granted = self.adds().then(|| {
            let (from, to) = (before.wallet.remain(), after.wallet.remain());
            let entry = AuditEntry::quota_granted(now, actor, after.id, from, to);
            // An undo has no name, by which it could be undone.
            let entry = if change.can_be_undone() { entry.with([(BATCH, batch.to_owned())]) } else { entry };
            match (chosen.note.as_str(), change) {
                ("", BulkChange::Edit { .. }) => entry,
                ("", BulkChange::Undo(_)) => entry.with([("note", UNDO_NOTE.to_owned())]),
                (note, _) => entry.with([("note", note.to_owned())]),
            }
        });
        edited.into_iter().chain(granted).collect()
    }
}

/// The id of each chosen account; `None` if no live account has the name.
async fn find_ids(conn: &mut Conn, chosen: &[ChosenUser]) -> Result<Vec<Option<UserId>>, StorageError> {
    let name = |one: &ChosenUser| match &one.user {
        UserRef::Id(_) => None,
        UserRef::Name(name) => Some(name.folded()),
    };
    let names: Vec<String> = chosen.iter().filter_map(name).collect();
    let by_name = if names.is_empty() { BTreeMap::new() } else { users::list_ids_by_name(conn, &names).await? };
    let id = |one: &ChosenUser| match &one.user {
        UserRef::Id(id) => Some(*id),
        UserRef::Name(name) => by_name.get(&name.folded()).copied(),
    };
    Ok(chosen.iter().map(id).collect())
}

/// The answer to a request that was carried out before: the accounts as they are, and what can still be taken back.
fn replayed(
    change: &BulkChange,
    batch: &str,
    by: UserId,
    last: &HashMap<UserId, LastChange>,
    users: impl Iterator<Item = User>,
) -> ChangedUsers {
    let users: Vec<ChangedUser> = users.map(|after| ChangedUser { before: None, after }).collect();
    let can_undo = |id: &UserId| last.get(id).is_some_and(|last| last.added_by(batch, by).is_some());
    let ids = users.iter().map(|one| one.after.id).filter(can_undo).collect();
    let undo = if change.can_be_undone() { UndoRequest::of(ids, batch) } else { None };
    ChangedUsers { users, undo }
}
