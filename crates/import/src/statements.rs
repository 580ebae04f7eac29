//! What an import writes: the table `imports`, accounts and tokens with their balances and ids of elsewhere, and
//! `usage_imported`.

use keymeter::domain::account::Budget;
use keymeter::domain::id::{TokenId, UserId};
use keymeter::domain::key::{Digest, KeyHint};
use keymeter::domain::money::Quota;
use keymeter::domain::time::{Day, Lifetime, UnixTime};
use keymeter::domain::token::TokenName;
use keymeter::domain::user::{Role, UserStatus};
use keymeter::domain::username::Username;
use keymeter::storage::columns::column;
use keymeter::storage::keys::NewSealedKey;
use keymeter::storage::{Conn, StorageError};

/// Kinds of imported rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    User,
    Token,
    AccessToken,
    /// The usage of an account.
    History,
}

impl ImportKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Token => "token",
            Self::AccessToken => "access_token",
            Self::History => "history",
        }
    }
}

/// An imported row: which one it is, and what it was like then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRow {
    pub foreign_id: i64,
    pub local_id: i64,
    /// Of a token's key, of an access token or of an account's password hash, as it was imported.
    pub digest: Option<Digest>,
    /// The username of an account there, as it was imported.
    pub name: Option<String>,
}

impl ImportedRow {
    /// A row of which nothing else is known.
    pub const fn new(foreign_id: i64, local_id: i64) -> Self {
        Self { foreign_id, local_id, digest: None, name: None }
    }
}

/// The accounts of this installation, as an import finds them.
#[derive(Debug)]
pub struct UsersBeforeImport {
    /// Deleted ones included.
    pub count: i64,
    /// Those that this source's earlier imports wrote.
    pub imported: i64,
    /// Those of them that did not keep their id.
    pub with_another_id: i64,
    /// This source's earlier imports recorded a key, a password or an access token.
    pub has_digests: bool,
    /// The root account, if it is the only account and was never used.
    pub untouched_root: Option<UserId>,
}

/// Finds out which accounts there are.
pub async fn find_accounts(conn: &mut Conn, source: &str) -> Result<UsersBeforeImport, StorageError> {
    let row = sqlx::query!(
        r#"select (select count(*) from users) as "count!",
           (select count(*) from imports where source = $1 and kind = 'user') as "imported!",
           (select count(*) from imports where source = $1 and kind = 'user' and foreign_id <> local_id)
             as "with_another_id!",
           exists (select from imports where source = $1 and digest is not null) as "has_digests!",
           (select min(u.id) from users u
            where u.role = 100 and u.deleted_time is null and u.used_quota = 0 and u.request_count = 0
              and not exists (select from tokens t where t.user_id = u.id)
              and not exists (select from imports i where i.kind = 'user' and i.local_id = u.id)
              and (select count(*) from users) = 1) as "untouched_root?: UserId""#,
        source
    )
    .fetch_one(conn)
    .await?;
    Ok(UsersBeforeImport {
        count: row.count,
        imported: row.imported,
        with_another_id: row.with_another_id,
        has_digests: row.has_digests,
        untouched_root: row.untouched_root,
    })
}

/// The next 10,000 live accounts after an id, with their names.
pub async fn list_usernames_after(conn: &mut Conn, after: UserId) -> Result<Vec<(UserId, Username)>, StorageError> {
    let rows = sqlx::query!(
        "select id, username from users where id > $1 and deleted_time is null order by id limit 10000",
        after as UserId
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.username)).collect())
}

/// The rows of this kind that were imported before, among these.
pub async fn list_imported(
    conn: &mut Conn,
    source: &str,
    kind: ImportKind,
    foreign_ids: &[i64],
) -> Result<Vec<ImportedRow>, StorageError> {
    // Looks each id up. With `= any`, PostgreSQL may read all rows of this kind instead.
    let rows = sqlx::query_as!(
        ImportedRow,
        r#"select found.foreign_id as "foreign_id!", found.local_id as "local_id!", found.digest as "digest?: Digest",
             found.name as "name?"
           from unnest($3::bigint[]) as wanted (id) cross join lateral (
             select foreign_id, local_id, digest, name from imports
             where source = $1 and kind = $2 and foreign_id = wanted.id offset 0
           ) as found"#,
        source,
        kind.as_str(),
        foreign_ids
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// Those of these ids that accounts have.
pub async fn list_user_ids(conn: &mut Conn, ids: &[i64]) -> Result<Vec<i64>, StorageError> {
    Ok(sqlx::query_scalar!(r#"select id as "id!: i64" from users where id = any($1)"#, ids).fetch_all(conn).await?)
}

/// Those of these ids that tokens have.
pub async fn list_token_ids(conn: &mut Conn, ids: &[i64]) -> Result<Vec<i64>, StorageError> {
    Ok(sqlx::query_scalar!(r#"select id as "id!: i64" from tokens where id = any($1)"#, ids).fetch_all(conn).await?)
}

/// Those of these keys that exist, old ones and those of deleted tokens too, or that were imported and replaced here
/// since.
pub async fn list_known_digests(conn: &mut Conn, digests: &[Digest]) -> Result<Vec<Digest>, StorageError> {
    let digests: Vec<Vec<u8>> = digests.iter().map(|digest| digest.as_bytes().to_vec()).collect();
    let known = sqlx::query_scalar!(
        r#"select key_digest as "digest!: Digest" from tokens where key_digest = any($1)
           union all select key_digest from old_keys where key_digest = any($1)
           union all select digest from imports where kind = 'token' and digest is not null and digest = any($1)"#,
        &digests
    );
    Ok(known.fetch_all(conn).await?)
}

/// Lets generated ids begin above these, so that no new row takes the id of one that is still to be imported.
pub async fn raise_identities(conn: &mut Conn, max_user: i64, max_token: i64) -> Result<(), StorageError> {
    sqlx::query!(
        r#"select setval(pg_get_serial_sequence('users', 'id'), greatest(
             $1, (select coalesce(max(id), 0) from users), nextval(pg_get_serial_sequence('users', 'id')))) as "users",
           setval(pg_get_serial_sequence('tokens', 'id'), greatest(
             $2, (select coalesce(max(id), 0) from tokens), nextval(pg_get_serial_sequence('tokens', 'id')))) as "tokens""#,
        max_user,
        max_token
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// Lets this transaction be answered before it is on disk: a later transaction that waits for the disk makes it durable
/// too, and what a power cut loses, another run of the import adds again. And lets it wait longer for another account,
/// which has a name that looks alike and may be large.
pub async fn set_up_transaction(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!(
        r#"select set_config('synchronous_commit', 'off', true) as "commit", set_config('lock_timeout', '1min', true) as "lock""#
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// An account to write.
#[derive(Debug)]
pub struct ImportedUser<'a> {
    /// `None`: a new one.
    pub id: Option<UserId>,
    pub username: &'a Username,
    pub display_name: &'a str,
    pub email: &'a str,
    pub password_hash: &'a str,
    pub role: Role,
    pub status: UserStatus,
    pub disabled_by: Option<Role>,
    pub group: &'a str,
    pub quota: Quota,
    /// All of it from before the import.
    pub used_quota: Quota,
    pub request_count: i64,
    pub created_time: UnixTime,
}

/// Inserts an account.
pub async fn insert_user(conn: &mut Conn, user: &ImportedUser<'_>) -> Result<UserId, StorageError> {
    let skeleton = user.username.skeleton();
    // As in `users::insert`.
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, 0))", skeleton.common).execute(&mut *conn).await?;
    let id = sqlx::query_scalar!(
        "insert into users (id, username, username_folded, display_name, email, password_hash, role, status, disabled_by, \
         group_name, quota, used_quota, opening_used, request_count, token_api_enabled, created_time, username_skeleton) \
         overriding system value \
         values (coalesce($1, nextval(pg_get_serial_sequence('users', 'id'))), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
         $12, $12, $13, true, $14, text_range($15, $16, '[]')) returning id",
        user.id as Option<UserId>,
        user.username.as_str(),
        user.username.folded(),
        user.display_name,
        user.email,
        user.password_hash,
        user.role as Role,
        user.status as UserStatus,
        user.disabled_by as Option<Role>,
        user.group,
        user.quota as Quota,
        user.used_quota as Quota,
        user.request_count,
        user.created_time as UnixTime,
        skeleton.first,
        skeleton.last
    )
    .fetch_one(conn)
    .await?;
    Ok(id)
}

/// Makes the untouched root account this account. It keeps its password if the other one has none.
pub async fn replace_root(conn: &mut Conn, root: UserId, user: &ImportedUser<'_>) -> Result<(), StorageError> {
    let skeleton = user.username.skeleton();
    sqlx::query!(
        "update users set username = $2, username_folded = $3, display_name = $4, email = $5, \
         password_hash = case when $6 = '' then password_hash else $6 end, group_name = $7, quota = $8, used_quota = $9, \
         opening_used = $9, request_count = $10, created_time = $11, username_skeleton = text_range($12, $13, '[]') \
         where id = $1 and role = 100 and deleted_time is null",
        root as UserId,
        user.username.as_str(),
        user.username.folded(),
        user.display_name,
        user.email,
        user.password_hash,
        user.group,
        user.quota as Quota,
        user.used_quota as Quota,
        user.request_count,
        user.created_time as UnixTime,
        skeleton.first,
        skeleton.last
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A token to write.
#[derive(Debug)]
pub struct ImportedToken {
    /// `None`: a new one.
    pub id: Option<TokenId>,
    pub key: NewSealedKey,
    pub key_foreign: bool,
    pub name: TokenName,
    pub disabled_by: Option<Role>,
    pub created_time: UnixTime,
    pub accessed_time: UnixTime,
    pub lifetime: Lifetime,
    pub budget: Budget,
    /// All of it from before the import.
    pub used_quota: Quota,
    pub model_limits_enabled: bool,
    pub model_limits: String,
    pub allow_ips: String,
    pub group: String,
    pub cross_group_retry: bool,
}

/// Inserts tokens of an account. Returns the id and the digest of each; those whose key exists are left out.
pub async fn insert_tokens(
    conn: &mut Conn,
    owner: UserId,
    tokens: &[ImportedToken],
) -> Result<Vec<(TokenId, Digest)>, StorageError> {
    let expiry = |token: &ImportedToken| Option::<UnixTime>::from(token.lifetime).map(UnixTime::get);
    let rows = sqlx::query!(
        "insert into tokens (id, user_id, key_digest, key_sealed, key_hint, key_foreign, name, name_folded, note, \
         switched_off_by, created_time, accessed_time, expires_at, remain_quota, unlimited_quota, used_quota, opening_used, \
         model_limits_enabled, model_limits, allow_ips, group_name, cross_group_retry) overriding system value \
         select coalesce(v.id, nextval(pg_get_serial_sequence('tokens', 'id'))), $1, v.digest, v.sealed, v.hint, v.is_foreign, \
         v.name, v.folded, '', v.switched_off_by, v.created, v.accessed, v.expires, v.remain, v.unlimited, v.used, v.used, \
         v.limits_enabled, v.limits, v.ips, v.group_name, v.retry \
         from unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::text[], $6::boolean[], $7::text[], $8::text[], \
         $9::smallint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::boolean[], $15::bigint[], \
         $16::boolean[], $17::text[], $18::text[], $19::text[], $20::boolean[]) \
         as v (id, digest, sealed, hint, is_foreign, name, folded, switched_off_by, created, accessed, expires, remain, \
         unlimited, used, limits_enabled, limits, ips, group_name, retry) \
         on conflict on constraint tokens_key_digest_unique do nothing returning id, key_digest",
        owner as UserId,
        &column(tokens, |token| token.id.map(TokenId::get)) as &[Option<i64>],
        &column(tokens, |token| token.key.digest.as_bytes().to_vec()),
        &column(tokens, |token| token.key.sealed.clone()),
        &column(tokens, |token| token.key.hint.clone()) as &[KeyHint],
        &column(tokens, |token| token.key_foreign),
        &column(tokens, |token| token.name.as_str().to_owned()),
        &column(tokens, |token| token.name.folded()),
        &column(tokens, |token| token.disabled_by.map(Role::code)) as &[Option<i16>],
        &column(tokens, |token| token.created_time.get()),
        &column(tokens, |token| token.accessed_time.get()),
        &column(tokens, expiry) as &[Option<i64>],
        &column(tokens, |token| token.budget.remain().get()),
        &column(tokens, |token| token.budget.is_unlimited()),
        &column(tokens, |token| token.used_quota.get()),
        &column(tokens, |token| token.model_limits_enabled),
        &column(tokens, |token| token.model_limits.clone()),
        &column(tokens, |token| token.allow_ips.clone()),
        &column(tokens, |token| token.group.clone()),
        &column(tokens, |token| token.cross_group_retry)
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.key_digest)).collect())
}

/// Inserts the access token that the account had; returns its id, or `None` if it exists already.
pub async fn insert_access_token(
    conn: &mut Conn,
    owner: UserId,
    digest: &Digest,
    now: UnixTime,
) -> Result<Option<i64>, StorageError> {
    let id = sqlx::query_scalar!(
        r#"insert into access_tokens (user_id, name, digest, expires_at, created_time) values ($1, 'imported', $2, null, $3)
           on conflict on constraint access_tokens_digest_unique do nothing returning id as "id!: i64""#,
        owner as UserId,
        digest as &Digest,
        now as UnixTime
    )
    .fetch_optional(conn)
    .await?;
    Ok(id)
}

/// The usage of a token on a day with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedUsage {
    /// `None`: a token that was not imported.
    pub token_id: Option<TokenId>,
    pub day: Day,
    pub model: String,
    pub quota: Quota,
    pub requests: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// Inserts usage of an account, one row per token, day and model.
pub async fn insert_usage(conn: &mut Conn, owner: UserId, usage: &[ImportedUsage]) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into usage_imported (user_id, token_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
         select $1, v.* from unnest($2::bigint[], $3::date[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], \
         $8::bigint[]) as v (token_id, day, model, quota, requests, prompt_tokens, completion_tokens)",
        owner as UserId,
        &column(usage, |row| row.token_id.map_or(0, TokenId::get)),
        &column(usage, |row| row.day) as &[Day],
        &column(usage, |row| row.model.clone()),
        &column(usage, |row| row.quota.get()),
        &column(usage, |row| row.requests),
        &column(usage, |row| row.prompt_tokens),
        &column(usage, |row| row.completion_tokens)
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Analyses the tables that an import fills. The statements of the doctor join them as a whole and need their
/// statistics at once.
pub async fn analyze(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!("analyze users, tokens, usage_imported, requests_imported, imports").execute(conn).await?;
    Ok(())
}

/// Records what a run did. `report` is JSON.
pub async fn insert_run(
    conn: &mut Conn,
    source: &str,
    now: UnixTime,
    is_complete: bool,
    report: &serde_json::Value,
) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into import_runs (source, at, complete, report) values ($1, $2, $3, $4)",
        source,
        now as UnixTime,
        is_complete,
        report
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Records which rows were imported.
pub async fn insert_imports(
    conn: &mut Conn,
    source: &str,
    kind: ImportKind,
    rows: &[ImportedRow],
    now: UnixTime,
) -> Result<(), StorageError> {
    let digest = |row: &ImportedRow| row.digest.as_ref().map(|digest| digest.as_bytes().to_vec());
    sqlx::query!(
        "insert into imports (source, kind, foreign_id, local_id, digest, name, at) \
         select $1, $2, v.foreign_id, v.local_id, v.digest, v.name, $7 \
         from unnest($3::bigint[], $4::bigint[], $5::bytea[], $6::text[]) as v (foreign_id, local_id, digest, name)",
        source,
        kind.as_str(),
        &column(rows, |row| row.foreign_id),
        &column(rows, |row| row.local_id),
        &column(rows, digest) as &[Option<Vec<u8>>],
        &column(rows, |row| row.name.clone()) as &[Option<String>],
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Those of these accounts that are deleted here.
pub async fn list_deleted_users(conn: &mut Conn, ids: &[i64]) -> Result<Vec<i64>, StorageError> {
    let deleted = sqlx::query_scalar!(
        r#"select id as "id!: i64" from users where id = any($1) and deleted_time is not null"#,
        ids
    );
    Ok(deleted.fetch_all(conn).await?)
}
