//! This installation, as an import finds it, and the transactions that write to it.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::findings::Finding;
use super::identity::Earlier;
use super::names::Names;
use super::planned::{Known, NewPlannedUser, PlannedImport, PlannedToken, PlannedUser, UsageTally};
use super::report::{FindingSubject, ImportReport, IssuedPassword};
use super::rows::{ForeignToken, ForeignUser};
use super::rules::is_deleted;
use super::{Destination, ImportError, ImportOptions};
use crate::statements::{self, ImportKind, ImportedRow, ImportedToken, ImportedUser};
use keymeter::domain::audit::{Action, Actor, AuditEntry, Subject};
use keymeter::domain::id::UserId;
use keymeter::domain::key::{ApiKey, Digest};
use keymeter::domain::user::Role;
use keymeter::domain::username::Username;
use keymeter::service::passwords::GeneratedPassword;
use keymeter::storage::notifications::{self, Change};
use keymeter::storage::{self, StorageError, Tx, audit, sessions, users};

/// Rows per statement.
const BATCH: usize = 2_000;

/// How often running servers are told that there are new keys, during a long import.
const ANNOUNCEMENTS: Duration = Duration::from_secs(5);

/// What is here before the import.
pub struct ImportTarget<'a> {
    here: &'a Destination,
    /// The name of the other installation.
    source: &'a str,
    /// Accounts and tokens get the ids that they have there.
    pub keeps_ids: bool,
    /// The only account, never used; it becomes the other root account.
    pub untouched_root: Option<(UserId, Username)>,
    pub names: Names,
    /// What earlier imports of this name left.
    pub earlier: Earlier,
}

impl<'a> ImportTarget<'a> {
    /// Reads which accounts there are, and decides whether ids are kept.
    ///
    /// # Errors
    /// The database.
    pub async fn examine(
        here: &'a Destination,
        options: &'a ImportOptions,
        report: &mut ImportReport,
    ) -> Result<Self, ImportError> {
        let mut conn = here.db.acquire().await?;
        let accounts = statements::find_accounts(&mut conn, &options.name).await?;
        let (mut names, mut untouched_root, mut after) = (Names::default(), None, UserId::new(0));
        loop {
            let page = statements::list_usernames_after(&mut conn, after).await?;
            let Some((last, _)) = page.last() else {
                break;
            };
            after = *last;
            for (id, name) in page {
                names.add(&name);
                if accounts.untouched_root == Some(id) {
                    untouched_root = Some((id, name));
                }
            }
        }
        let is_free = accounts.count == 0 || untouched_root.is_some();
        let keeps_ids = if accounts.imported > 0 {
            // As in the first run.
            accounts.with_another_id.saturating_mul(2) <= accounts.imported
        } else if options.new_ids {
            false
        } else {
            let first = here.cell.first_identity();
            if first != 1 {
                let message = format!("ids of this cell begin at {first}, so ids cannot be kept; add --new-ids");
                report.block("cell_ids", message);
            } else if !is_free {
                let count = accounts.count;
                report.block(
                    "accounts_exist",
                    format!(
                        "there are {count} accounts here already, so ids cannot be kept; add --new-ids, \
                         and tell people who send `New-Api-User` their new ids"
                    ),
                );
            }
            true
        };
        let earlier = Earlier { accounts: accounts.imported, has_digests: accounts.has_digests };
        Ok(Self { here, source: &options.name, keeps_ids, untouched_root, names, earlier })
    }

    /// What is here already of these accounts and tokens.
    ///
    /// # Errors
    /// The database.
    pub async fn find_known(
        &self,
        users: &[ForeignUser],
        tokens: &HashMap<i64, Vec<ForeignToken>>,
    ) -> Result<Known, ImportError> {
        let user_ids: Vec<i64> = users.iter().filter(|user| !is_deleted(user)).map(|user| user.id).collect();
        let live = || tokens.values().flatten().filter(|token| !token.is_deleted);
        // Those that were deleted there since show too which installation it is.
        let token_ids: Vec<i64> = tokens.values().flatten().map(|token| token.id).collect();
        let digests: Vec<Digest> = live()
            .filter_map(|token| ApiKey::parse_foreign(&token.key).ok())
            .map(|key| self.here.vault.digest(&key))
            .collect();
        let mut conn = self.here.db.acquire().await?;
        let mut known = Known::default();
        for ids in user_ids.chunks(BATCH) {
            let users = statements::list_imported(&mut conn, self.source, ImportKind::User, ids).await?;
            known.users.extend(users.iter().map(|row| (row.foreign_id, row.local_id)));
            known.marks.add_accounts(users);
            let tokens = statements::list_imported(&mut conn, self.source, ImportKind::AccessToken, ids).await?;
            known.access_tokens.extend(tokens.iter().map(|row| row.foreign_id));
            known.marks.add_access_tokens(tokens);
            let history = statements::list_imported(&mut conn, self.source, ImportKind::History, ids).await?;
            known.history.extend(history.into_iter().map(|row| row.foreign_id));
            known.user_ids.extend(statements::list_user_ids(&mut conn, ids).await?);
        }
        for ids in token_ids.chunks(BATCH) {
            let tokens = statements::list_imported(&mut conn, self.source, ImportKind::Token, ids).await?;
            known.tokens.extend(tokens.iter().map(|row| (row.foreign_id, row.local_id)));
            known.marks.add_tokens(tokens);
            known.token_ids.extend(statements::list_token_ids(&mut conn, ids).await?);
        }
        for digests in digests.chunks(BATCH) {
            known.keys.extend(statements::list_known_digests(&mut conn, digests).await?);
        }
        let local: Vec<i64> = known.users.values().copied().collect();
        for ids in local.chunks(BATCH) {
            known.gone.extend(statements::list_deleted_users(&mut conn, ids).await?);
        }
        Ok(known)
    }

    /// Begins to write.
    ///
    /// # Errors
    /// The database.
    pub async fn writer(&self, (max_user, max_token): (i64, i64)) -> Result<Writer<'a>, ImportError> {
        if self.keeps_ids {
            let mut conn = self.here.db.acquire().await?;
            statements::raise_identities(&mut conn, max_user, max_token).await?;
        }
        Ok(Writer { here: self.here, source: self.source, announced: Cell::new(Instant::now()) })
    }
}

/// Writes accounts, each in one transaction.
pub struct Writer<'a> {
    here: &'a Destination,
    source: &'a str,
    announced: Cell<Instant>,
}

/// What was written of an account.
#[derive(Debug, Default)]
struct WrittenAccount {
    is_new: bool,
    keys: usize,
    usage: UsageTally,
    password: Option<IssuedPassword>,
    /// What was planned and could not be written, because of what changed here since the pass began.
    left_out: Vec<(FindingSubject, Finding)>,
}

impl Writer<'_> {
    /// Writes an account with its tokens and its history, or what is missing of it.
    ///
    /// # Errors
    /// The database; nothing of this account was written.
    async fn write(&self, planned: PlannedImport) -> Result<WrittenAccount, ImportError> {
        let mut written = WrittenAccount::default();
        let subject = FindingSubject::User(planned.foreign_id);
        let mut tx = self.here.db.begin().await?;
        statements::set_up_transaction(&mut tx).await?;
        let Some(user) = self.write_account(&mut tx, &planned, &mut written).await? else {
            written.left_out.push((subject, Finding::UserGone));
            let tokens = planned.tokens.iter().map(|token| (planned.subject_of(token), Finding::TokenOrphaned));
            written.left_out.extend(tokens);
            return Ok(written);
        };
        let mut local = planned.known_tokens.clone();
        for tokens in planned.tokens.chunks(BATCH) {
            local.extend(self.write_tokens(&mut tx, user, &planned, tokens, &mut written).await?);
        }
        let now = self.here.clock.now();
        if let Some(digest) = &planned.access_token {
            if let Some(id) = statements::insert_access_token(&mut tx, user, digest, now).await? {
                let row = ImportedRow { digest: Some(digest.clone()), ..ImportedRow::new(planned.foreign_id, id) };
                self.record(&mut tx, ImportKind::AccessToken, &[row]).await?;
            } else {
                written.left_out.push((subject, Finding::AccessTokenSkipped));
            }
        }
        let (usage, tally) = planned.usage_rows(&local);
        for rows in usage.chunks(BATCH) {
            statements::insert_usage(&mut tx, user, rows).await?;
        }
        if !usage.is_empty() {
            self.record(&mut tx, ImportKind::History, &[ImportedRow::new(planned.foreign_id, user.get())]).await?;
        }
        if !matches!(planned.account, PlannedUser::New(_)) {
            notifications::notify(&mut tx, Change::User(user)).await?;
        }
        if self.is_announcement_due() {
            notifications::notify(&mut tx, Change::ForeignKeys).await?;
        }
        storage::commit(tx).await?;
        written.is_new = !matches!(planned.account, PlannedUser::Present(_));
        written.keys = local.len() - planned.known_tokens.len();
        written.usage = tally;
        Ok(written)
    }

    /// Returns true if running servers were not told of new keys for some time.
    fn is_announcement_due(&self) -> bool {
        let is_due = self.announced.get().elapsed() >= ANNOUNCEMENTS;
        if is_due {
            self.announced.set(Instant::now());
        }
        is_due
    }

    /// Records the run, tells every server that there are new keys, and makes everything durable.
    ///
    /// # Errors
    /// The database.
    pub async fn finish(&self, report: &ImportReport, is_complete: bool) -> Result<(), ImportError> {
        let report = report.stored().map_err(ImportError::Report)?;
        let mut tx = self.here.db.begin().await?;
        statements::insert_run(&mut tx, self.source, self.here.clock.now(), is_complete, &report).await?;
        notifications::notify(&mut tx, Change::ForeignKeys).await?;
        storage::commit(tx).await?;
        if let Err(error) = statements::analyze(&mut *self.here.db.acquire().await?).await {
            tracing::warn!(%error, "the tables could not be analysed; statements are slow until PostgreSQL does it");
        }
        Ok(())
    }

    /// Writes the account, or locks it if it is here; `None` if it was deleted here.
    async fn write_account(
        &self,
        tx: &mut Tx,
        planned: &PlannedImport,
        written: &mut WrittenAccount,
    ) -> Result<Option<UserId>, StorageError> {
        let now = self.here.clock.now();
        let (user, account) = match &planned.account {
            PlannedUser::Present(id) => return Ok(users::lock(tx, *id).await?.map(|user| user.id)),
            PlannedUser::New(account) if account.needs_password => {
                let new = GeneratedPassword::new(&self.here.rng);
                let row = ImportedUser { password_hash: &new.hash, ..row(account) };
                let user = statements::insert_user(tx, &row).await?;
                let username = account.username.as_str().to_owned();
                written.password = Some(IssuedPassword { user_id: planned.foreign_id, username, password: new.plain });
                (user, account)
            }
            PlannedUser::New(account) => (statements::insert_user(tx, &row(account)).await?, account),
            PlannedUser::Root(id, account) => {
                statements::replace_root(tx, *id, &row(account)).await?;
                sessions::delete_all_of(tx, *id).await?;
                (*id, account)
            }
        };
        let imported = ImportedRow {
            digest: account.password_digest.clone(),
            name: Some(account.name_there.clone()),
            ..ImportedRow::new(planned.foreign_id, user.get())
        };
        self.record(tx, ImportKind::User, &[imported]).await?;
        let entry = AuditEntry::new(now, Actor::Operator, Action::AccountCreated, Subject::user(user))
            .with([("imported_from", self.source.to_owned())]);
        audit::insert(tx, entry).await?;
        Ok(Some(user))
    }

    /// Writes tokens, and returns the ids there and here of those that were written.
    async fn write_tokens(
        &self,
        tx: &mut Tx,
        owner: UserId,
        planned: &PlannedImport,
        tokens: &[PlannedToken],
        written: &mut WrittenAccount,
    ) -> Result<Vec<(i64, i64)>, StorageError> {
        self.here.vault.lock_data_key(tx).await?;
        let mut by_digest: HashMap<Digest, &PlannedToken> = HashMap::new();
        let rows: Vec<ImportedToken> = tokens
            .iter()
            .map(|token| {
                let mapped = &token.mapped;
                let key = self.here.rng.generate(|rng| self.here.vault.seal(&mapped.key, rng));
                by_digest.insert(key.digest.clone(), token);
                ImportedToken {
                    id: token.id,
                    key,
                    key_foreign: mapped.key_foreign,
                    name: mapped.name.clone(),
                    disabled_by: mapped.is_disabled.then_some(Role::User),
                    created_time: mapped.created_time,
                    accessed_time: mapped.accessed_time,
                    lifetime: mapped.lifetime,
                    budget: mapped.budget,
                    used_quota: mapped.used_quota,
                    model_limits_enabled: mapped.model_limits_enabled,
                    model_limits: mapped.model_limits.as_str().to_owned(),
                    allow_ips: mapped.allow_ips.as_str().to_owned(),
                    group: mapped.group.as_str().to_owned(),
                    cross_group_retry: mapped.cross_group_retry,
                }
            })
            .collect();
        let inserted = statements::insert_tokens(tx, owner, &rows).await?;
        let imported: Vec<ImportedRow> = inserted
            .into_iter()
            .filter_map(|(id, digest)| {
                let foreign_id = by_digest.remove(&digest)?.foreign_id;
                Some(ImportedRow { digest: Some(digest), ..ImportedRow::new(foreign_id, id.get()) })
            })
            .collect();
        self.record(tx, ImportKind::Token, &imported).await?;
        let taken = by_digest.into_values().map(|token| (planned.subject_of(token), Finding::KeyTaken));
        written.left_out.extend(taken);
        Ok(imported.into_iter().map(|row| (row.foreign_id, row.local_id)).collect())
    }

    async fn record(&self, tx: &mut Tx, kind: ImportKind, rows: &[ImportedRow]) -> Result<(), StorageError> {
        statements::insert_imports(tx, self.source, kind, rows, self.here.clock.now()).await
    }
}

/// Accounts that are written at the same time, each in its own transaction.
pub struct WriteBatch<'w> {
    writer: &'w Writer<'w>,
    planned: Vec<PlannedImport>,
    /// Written so far.
    pub accounts: i64,
    pub keys: i64,
}

impl<'w> WriteBatch<'w> {
    pub const fn new(writer: &'w Writer<'w>) -> Self {
        Self { writer, planned: Vec::new(), accounts: 0, keys: 0 }
    }

    /// Adds an account, and writes the batch if it is full.
    ///
    /// # Errors
    /// As [`WriteBatch::write`].
    pub async fn add(&mut self, planned: PlannedImport, report: &mut ImportReport) -> Result<(), ImportError> {
        self.planned.push(planned);
        if self.planned.len() >= self.writer.here.concurrent_writes { self.write(report).await } else { Ok(()) }
    }

    /// Writes all accounts of the batch, also after an error. No transaction is open afterwards.
    ///
    /// # Errors
    /// The first error of the database.
    pub async fn write(&mut self, report: &mut ImportReport) -> Result<(), ImportError> {
        let writes = self.planned.drain(..).map(async |planned| (planned.foreign_id, self.writer.write(planned).await));
        let mut result = Ok(());
        for (user, written) in join_all(writes).await {
            match written {
                Ok(written) => {
                    self.accounts += i64::from(written.is_new);
                    self.keys += i64::try_from(written.keys).unwrap_or(i64::MAX);
                    report.passwords.extend(written.password);
                    report.add_usage(user, written.usage);
                    for (subject, finding) in written.left_out {
                        report.leave_out(subject, finding);
                    }
                }
                Err(error) => result = result.and(Err(error)),
            }
        }
        result
    }
}

fn row(account: &NewPlannedUser) -> ImportedUser<'_> {
    let NewPlannedUser { id, username, mapped, .. } = account;
    ImportedUser {
        id: *id,
        username,
        display_name: &mapped.display_name,
        email: &mapped.email,
        password_hash: &mapped.password_hash,
        role: mapped.role,
        status: mapped.status,
        disabled_by: mapped.disabled_by,
        group: &mapped.group,
        quota: mapped.quota,
        used_quota: mapped.used_quota,
        request_count: mapped.request_count,
        created_time: mapped.created_time,
    }
}
