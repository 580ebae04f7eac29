//! The table `installation`: the master key and the cell that this database belongs to, and by which first day of the
//! week it counts.

use std::time::Duration;

use sqlx::Connection as _;

use super::conn::Conn;
use super::errors::StorageError;
use super::{clock_repair, secrets};
use crate::domain::cell::CellLabel;
use crate::domain::time::UnixTime;

/// What [`inspect`] finds.
#[derive(Debug, Default)]
pub(super) struct Inspection {
    /// The migrations that were applied, with the digests of their texts.
    pub applied: Vec<(i64, Vec<u8>)>,
    /// The oldest newest migration of a program that may use it.
    pub min_migration: i64,
    /// Of the master keys that open it.
    pub key_checks: Vec<Vec<u8>>,
    pub encoding: String,
    /// The role that connects, quoted if need be.
    pub role: String,
    /// The function of [`super::Db::flush`], if the role may not call it.
    pub forbidden_flush: Option<String>,
    /// A table of another program, if there are some and none of ours.
    pub foreign_table: Option<String>,
}

/// Reads the state of a database that may be empty.
pub(super) async fn inspect(conn: &mut Conn) -> Result<Inspection, StorageError> {
    let tables = sqlx::query!(
        r#"select to_regclass('_sqlx_migrations') is not null as "migrated!",
           to_regclass('installation') is not null as "installed!",
           to_regclass('wrapped_secrets') is not null as "has_secrets!",
           exists (select from pg_attribute where attrelid = to_regclass('installation')
                   and attname = 'min_migration') as "has_min_migration!",
           current_setting('server_encoding') as "encoding!", quote_ident(current_user) as "role!",
           (select oid::regprocedure::text from pg_proc where proname = 'pg_logical_emit_message'
            and pronamespace = 'pg_catalog'::regnamespace and proargtypes[2] = 'text'::regtype
            and not has_function_privilege(oid, 'execute')) as forbidden_flush"#
    )
    .fetch_one(&mut *conn)
    .await?;
    let foreign_table = find_foreign_table(conn).await?;
    let mut found = Inspection {
        encoding: tables.encoding,
        role: tables.role,
        forbidden_flush: tables.forbidden_flush,
        foreign_table,
        ..Inspection::default()
    };
    if found.foreign_table.is_some() {
        return Ok(found);
    }
    if tables.migrated {
        let applied = sqlx::query!("select version, checksum from _sqlx_migrations where success order by version")
            .fetch_all(&mut *conn)
            .await?;
        found.applied = applied.into_iter().map(|row| (row.version, row.checksum)).collect();
    }
    if tables.has_min_migration {
        found.min_migration = find_min_migration(conn).await?;
    }
    if tables.installed {
        found.key_checks = find_key_check(conn).await?.into_iter().collect();
    }
    if tables.has_secrets {
        let wrapped = secrets::list_wrapped(conn).await?;
        if !wrapped.is_empty() {
            found.key_checks = wrapped.into_iter().map(|secrets| secrets.key_check).collect();
        }
    }
    Ok(found)
}

/// A table of the schema in which ours would be, unless ours are there or it has none. Tables of extensions do not
/// count, and neither does the list of migrations: a first migration that was interrupted leaves it alone.
async fn find_foreign_table(conn: &mut Conn) -> Result<Option<String>, StorageError> {
    let table = sqlx::query_scalar!(
        r#"select relname::text as "name!" from pg_class
           where relnamespace = (select oid from pg_namespace where nspname = current_schema())
           and relkind in ('r', 'p', 'f') and relname <> '_sqlx_migrations'
           and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid
                           and deptype = 'e')
           and not exists (select from pg_attribute where attrelid = to_regclass('installation')
                           and attname = 'key_check')
           order by relname limit 1"#
    )
    .fetch_optional(conn)
    .await?;
    Ok(table)
}

/// Identifies the master key of the first start, or of the last change that has ended.
pub async fn find_key_check(conn: &mut Conn) -> Result<Option<Vec<u8>>, StorageError> {
    let check = sqlx::query_scalar!("select key_check from installation where id = 1").fetch_optional(conn).await?;
    Ok(check)
}

/// Records another master key at the end of a change.
pub async fn update_key_check(conn: &mut Conn, key_check: &[u8]) -> Result<(), StorageError> {
    sqlx::query!("update installation set key_check = $1 where id = 1", key_check).execute(conn).await?;
    Ok(())
}

/// The oldest newest migration of a program that may use this database; 0 before the first start.
pub async fn find_min_migration(conn: &mut Conn) -> Result<i64, StorageError> {
    let oldest =
        sqlx::query_scalar!("select min_migration from installation where id = 1").fetch_optional(conn).await?;
    Ok(oldest.unwrap_or(0))
}

/// The end of the last `keymeter backup`.
pub async fn find_backup_time(conn: &mut Conn) -> Result<Option<UnixTime>, StorageError> {
    let time = sqlx::query_scalar!(r#"select backup_time as "time: UnixTime" from installation where id = 1"#)
        .fetch_optional(conn)
        .await?;
    Ok(time.flatten())
}

/// Records that a `keymeter backup` has ended.
pub async fn update_backup_time(conn: &mut Conn, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!("update installation set backup_time = $1 where id = 1", now as UnixTime).execute(conn).await?;
    Ok(())
}

/// The label of the cell that this database belongs to, after the first start.
pub async fn find_cell_label(conn: &mut Conn) -> Result<Option<String>, StorageError> {
    let label = sqlx::query_scalar!("select cell_label from installation where id = 1").fetch_optional(conn).await?;
    Ok(label)
}

/// Records the first start, and sets the first identity of the cell. If two servers start at once, the first record
/// stays.
pub async fn insert(conn: &mut Conn, key_check: &[u8], cell: CellLabel, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "with inserted as ( \
           insert into installation (id, key_check, cell_label, created_time) values (1, $1, $2, $3) \
           on conflict on constraint installation_pkey do nothing returning id) \
         select start_identities_at($4) from inserted",
        key_check,
        cell.as_str(),
        now as UnixTime,
        cell.first_identity()
    )
    .fetch_optional(conn)
    .await?;
    Ok(())
}

/// The most users whose periods are counted again in one transaction. Nobody is charged meanwhile who is one of them.
const RECOUNTED_USERS: i64 = 100;

/// How often a wallet that another transaction has locked is tried again. Each attempt waits for the lock for a second,
/// and then for [`RECOUNT_PAUSE`]: about five minutes in all. Our own transactions hold a wallet for seconds at most.
const RECOUNT_ATTEMPTS: u32 = 240;

/// The pause before a blocked wallet is tried again.
const RECOUNT_PAUSE: Duration = Duration::from_millis(250);

/// Lets weekly limits count by another first day of the week (1 Monday to 7 Sunday), if it is another one: counts the
/// present weeks again from `usage_daily`, some users at a time under the locks of their wallets. Returns true if it
/// did. If it is interrupted, the next start begins again.
///
/// Other servers charge meanwhile, so a wallet may be blocked or the database too busy: then fewer wallets are counted
/// at once, and in the end one, which is waited for.
pub async fn change_week_start(conn: &mut Conn, week_starts: i16) -> Result<bool, StorageError> {
    let counted =
        sqlx::query_scalar!("select week_starts from installation where id = 1").fetch_optional(&mut *conn).await?;
    if counted == Some(week_starts) {
        return Ok(false);
    }
    let (mut after, mut users, mut attempts) = (0, RECOUNTED_USERS, 0);
    while let Some(last) = sqlx::query_scalar!(
        "select max(id) from (select id from users where id > $1 order by id limit $2) as some_users",
        after,
        users
    )
    .fetch_one(&mut *conn)
    .await?
    {
        match recount(conn, after + 1, last, users == 1, week_starts).await {
            Ok(()) => (after, users, attempts) = (last, (users * 2).min(RECOUNTED_USERS), 0),
            Err(error) if error.may_pass_with_fewer_rows() && users > 1 => users = (users / 4).max(1),
            Err(error) if error.may_pass_with_fewer_rows() && attempts < RECOUNT_ATTEMPTS => {
                attempts += 1;
                if attempts % 20 == 1 {
                    tracing::warn!(user = last, %error, "the week of a user cannot be counted again yet; trying again");
                }
                tokio::time::sleep(RECOUNT_PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
    sqlx::query!("update installation set week_starts = $1 where id = 1", week_starts).execute(conn).await?;
    Ok(true)
}

/// Counts the periods of the users in a range of ids again. One user may have more usage than one statement may usually
/// read.
async fn recount(conn: &mut Conn, first: i64, last: i64, is_one: bool, week_starts: i16) -> Result<(), StorageError> {
    let mut tx = conn.begin().await?;
    if is_one {
        clock_repair::allow_minutes(&mut tx).await?;
    }
    sqlx::query!("select count_periods($1, $2, $3)", first, last, i32::from(week_starts)).fetch_one(&mut *tx).await?;
    tx.commit().await?;
    Ok(())
}
