//! The table `users`. Deleted rows stay in the table; no function here returns or changes them.

use std::collections::BTreeMap;

use super::columns::{column, wallet};
use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::id::UserId;
use crate::domain::money::Quota;
use crate::domain::order::Order;
use crate::domain::page::{Page, PageRequest};
use crate::domain::period_limits::PeriodLimits;
use crate::domain::time::UnixTime;
use crate::domain::user::{Role, User, UserContact, UserFilter, UserStatus};
use crate::domain::username::Username;

/// Selects users. The only list of their columns; `$tail` is the rest of the statement.
macro_rules! select_users {
    ($tail:tt $(, $bind:expr)* $(,)?) => {
        sqlx::query!(
            "select id, username, display_name, email, role, status, disabled_by, group_name, quota, used_quota, held, \
             day_limit, week_limit, month_limit, period_day, day_used, week_used, month_used, request_count, \
             token_api_enabled, max_tokens, created_time " + $tail
            $(, $bind)*
        )
    };
}

/// The user of a row.
macro_rules! user_of {
    ($row:expr) => {
        User {
            id: $row.id,
            username: $row.username,
            display_name: $row.display_name,
            email: $row.email,
            role: $row.role,
            status: $row.status,
            disabled_by: $row.disabled_by,
            group: $row.group_name,
            wallet: wallet!($row),
            request_count: $row.request_count,
            token_api_enabled: $row.token_api_enabled,
            max_tokens: $row.max_tokens,
            created_time: $row.created_time,
        }
    };
}

/// Finds a live account.
pub async fn find(conn: &mut Conn, id: UserId) -> Result<Option<User>, StorageError> {
    let row =
        select_users!("from users where id = $1 and deleted_time is null", id as UserId).fetch_optional(conn).await?;
    Ok(row.map(|row| user_of!(row)))
}

/// The live accounts among these.
pub async fn list_live(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<User>, StorageError> {
    let rows = select_users!("from users where id = any($1) and deleted_time is null", ids as &[UserId])
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| user_of!(row)).collect())
}

/// Finds a live account and locks it until the transaction ends. Lock the user before any token.
pub async fn lock(conn: &mut Conn, id: UserId) -> Result<Option<User>, StorageError> {
    let row = select_users!("from users where id = $1 and deleted_time is null for no key update", id as UserId)
        .fetch_optional(conn)
        .await?;
    Ok(row.map(|row| user_of!(row)))
}

/// Like [`lock`] for several accounts, ids ascending. Returns those that are live.
pub async fn lock_all(conn: &mut Conn, ids: &[UserId]) -> Result<Vec<User>, StorageError> {
    let rows = select_users!(
        "from users where id = any($1) and deleted_time is null order by id for no key update",
        ids as &[UserId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| user_of!(row)).collect())
}

/// Finds the live account with this name, in any case and spelling, and its password hash.
pub async fn find_by_name(conn: &mut Conn, name: &Username) -> Result<Option<(User, String)>, StorageError> {
    let found = select_users!("from users where username_folded = $1 and deleted_time is null", name.folded())
        .fetch_optional(&mut *conn)
        .await?;
    let Some(row) = found else {
        return Ok(None);
    };
    let user = user_of!(row);
    let hash = find_password_hash(conn, user.id).await?;
    Ok(hash.map(|hash| (user, hash)))
}

/// The ids of the live accounts with these names, by the folded name.
pub async fn list_ids_by_name(conn: &mut Conn, folded: &[String]) -> Result<BTreeMap<String, UserId>, StorageError> {
    let rows = sqlx::query!(
        "select username_folded, id from users where username_folded = any($1) and deleted_time is null",
        folded
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.username_folded, row.id)).collect())
}

/// Finds the password hash of a live account.
pub async fn find_password_hash(conn: &mut Conn, id: UserId) -> Result<Option<String>, StorageError> {
    let hash =
        sqlx::query_scalar!("select password_hash from users where id = $1 and deleted_time is null", id as UserId)
            .fetch_optional(conn)
            .await?;
    Ok(hash)
}

/// Lists the live accounts of `filter` whose username, display name or e-mail address is like `pattern`, newest first.
pub async fn list(
    conn: &mut Conn,
    pattern: &str,
    filter: &UserFilter,
    page: PageRequest,
) -> Result<Page<User>, StorageError> {
    let rows = select_users!(
        r"from users where deleted_time is null
          and (username_folded like $1 escape '\' or lower(username) like $1 escape '\'
               or lower(display_name) like $1 escape '\' or lower(email) like $1 escape '\')
          and ($4::smallint is null or status = $4) and ($5::text is null or group_name = $5)
          and ($6::smallint is null or role = $6)
          order by id desc limit $2 offset $3",
        pattern,
        page.size(),
        page.offset(),
        filter.status as Option<UserStatus>,
        filter.group.as_deref(),
        filter.role as Option<Role>
    )
    .fetch_all(&mut *conn)
    .await?;
    let total = match page.total_if_last(rows.len()) {
        Some(total) => total,
        None => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!" from users where deleted_time is null
               and (username_folded like $1 escape '\' or lower(username) like $1 escape '\'
                    or lower(display_name) like $1 escape '\' or lower(email) like $1 escape '\')
               and ($2::smallint is null or status = $2) and ($3::text is null or group_name = $3)
               and ($4::smallint is null or role = $4)"#,
                pattern,
                filter.status as Option<UserStatus>,
                filter.group.as_deref(),
                filter.role as Option<Role>
            )
            .fetch_one(conn)
            .await?
        }
    };
    Ok(page.holding(rows.into_iter().map(|row| user_of!(row)).collect(), total))
}

/// Like [`list`], in the order of `filter`, among the [`bounds::MAX_LISTED_USERS`] newest live accounts.
pub async fn list_sorted(
    conn: &mut Conn,
    pattern: &str,
    filter: &UserFilter,
    page: PageRequest,
) -> Result<Page<User>, StorageError> {
    let rows = select_users!(
        r#", count(*) over () as "total!"
           from (select * from users where deleted_time is null order by id desc limit $9) users
           where (username_folded like $1 escape '\' or lower(username) like $1 escape '\'
                  or lower(display_name) like $1 escape '\' or lower(email) like $1 escape '\')
           and ($4::smallint is null or status = $4) and ($5::text is null or group_name = $5)
           and ($6::smallint is null or role = $6)
           order by
               case when $7::text = 'username' and not $8::boolean then username_folded collate "C" end,
               case when $7 = 'username' and $8 then username_folded collate "C" end desc,
               case when $8 then -1 else 1 end * case $7 when 'quota' then quota when 'used_quota' then used_quota end,
               case when $8 then -id else id end
           limit $2 offset $3"#,
        pattern,
        page.size(),
        page.offset(),
        filter.status as Option<UserStatus>,
        filter.group.as_deref(),
        filter.role as Option<Role>,
        filter.sort.as_str(),
        filter.order == Order::Descending,
        bounds::MAX_LISTED_USERS
    )
    .fetch_all(&mut *conn)
    .await?;
    let total = match rows.first() {
        Some(row) => row.total,
        None if page.offset() == 0 => 0,
        // Past the last page, the first row has the total.
        None => Box::pin(list_sorted(conn, pattern, filter, PageRequest::first_item())).await?.total,
    };
    Ok(page.holding(rows.into_iter().map(|row| user_of!(row)).collect(), total))
}

/// These accounts, deleted ones included.
pub async fn list_by_id(conn: &mut Conn, ids: &[UserId]) -> Result<BTreeMap<UserId, User>, StorageError> {
    let rows = select_users!(" from users where id = any($1)", ids as &[UserId]).fetch_all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.id, user_of!(row))).collect())
}

/// The names and e-mail addresses of these accounts. Of deleted ones, the username is left.
pub async fn list_contacts(conn: &mut Conn, ids: &[UserId]) -> Result<BTreeMap<UserId, UserContact>, StorageError> {
    let rows = sqlx::query!(
        r#"select id, username as "username: String",
             case when deleted_time is null then display_name else '' end as "display_name!",
             case when deleted_time is null then email else '' end as "email!"
           from users where id = any($1)"#,
        ids as &[UserId]
    )
    .fetch_all(conn)
    .await?;
    let contacts = rows
        .into_iter()
        .map(|row| (row.id, UserContact { username: row.username, display_name: row.display_name, email: row.email }));
    Ok(contacts.collect())
}

/// The usernames of these accounts, deleted ones included.
pub async fn list_names(conn: &mut Conn, ids: &[UserId]) -> Result<BTreeMap<UserId, String>, StorageError> {
    let rows =
        sqlx::query!(r#"select id, username as "username: String" from users where id = any($1)"#, ids as &[UserId])
            .fetch_all(conn)
            .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.username)).collect())
}

/// Returns true if any account exists, deleted ones included.
pub async fn exist(conn: &mut Conn) -> Result<bool, StorageError> {
    let exist = sqlx::query_scalar!(r#"select exists (select 1 from users) as "exist!""#).fetch_one(conn).await?;
    Ok(exist)
}

/// Inserts an enabled account whose fields are empty, for [`update`].
pub async fn insert(
    conn: &mut Conn,
    username: &Username,
    password_hash: &str,
    now: UnixTime,
) -> Result<UserId, StorageError> {
    let skeleton = username.skeleton();
    // Without this lock, two concurrent inserts of names that look alike deadlock in the exclusion constraint.
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, 0))", skeleton.common).execute(&mut *conn).await?;
    let id = sqlx::query_scalar!(
        "insert into users (username, username_folded, username_skeleton, password_hash, created_time, display_name, \
           email, role, status, group_name, quota, used_quota, request_count, token_api_enabled) \
         values ($1, $2, text_range($3, $4, '[]'), $5, $6, '', '', 1, 1, '', 0, 0, 0, false) returning id",
        username.as_str(),
        username.folded(),
        skeleton.first,
        skeleton.last,
        password_hash,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(id)
}

/// Writes the fields that can be edited; `user` must be locked. Usage is not written.
pub async fn update(conn: &mut Conn, user: &User) -> Result<(), StorageError> {
    update_all(conn, &[user]).await
}

/// The same for several accounts.
pub async fn update_all(conn: &mut Conn, users: &[&User]) -> Result<(), StorageError> {
    let limit = |limit: fn(&PeriodLimits) -> Option<Quota>| {
        column(users, |user| limit(&user.wallet.period_limits).map(Quota::get))
    };
    sqlx::query!(
        "update users u set display_name = v.display_name, email = v.email, role = v.role, status = v.status, \
           group_name = v.group_name, quota = v.quota, token_api_enabled = v.token_api_enabled, \
           max_tokens = v.max_tokens, disabled_by = v.disabled_by, day_limit = v.day_limit, \
           week_limit = v.week_limit, month_limit = v.month_limit \
         from (select unnest($1::bigint[]) as id, unnest($2::text[]) as display_name, unnest($3::text[]) as email, \
           unnest($4::smallint[]) as role, unnest($5::smallint[]) as status, unnest($6::text[]) as group_name, \
           unnest($7::bigint[]) as quota, unnest($8::boolean[]) as token_api_enabled, \
           unnest($9::bigint[]) as max_tokens, unnest($10::smallint[]) as disabled_by, \
           unnest($11::bigint[]) as day_limit, unnest($12::bigint[]) as week_limit, \
           unnest($13::bigint[]) as month_limit) v \
         where u.id = any(array[v.id]) and u.deleted_time is null",
        &column(users, |user| user.id.get()),
        &column(users, |user| user.display_name.clone()),
        &column(users, |user| user.email.clone()),
        &column(users, |user| user.role.code()),
        &column(users, |user| user.status.code()),
        &column(users, |user| user.group.clone()),
        &column(users, |user| user.wallet.remain().get()),
        &column(users, |user| user.token_api_enabled),
        &column(users, |user| user.max_tokens) as &[Option<i64>],
        &column(users, |user| user.disabled_by.map(Role::code)) as &[Option<i16>],
        &limit(|limits| limits.day) as &[Option<i64>],
        &limit(|limits| limits.week) as &[Option<i64>],
        &limit(|limits| limits.month) as &[Option<i64>]
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Replaces the password hash.
pub async fn update_password_hash(conn: &mut Conn, id: UserId, hash: &str) -> Result<(), StorageError> {
    sqlx::query!("update users set password_hash = $2 where id = $1 and deleted_time is null", id as UserId, hash)
        .execute(conn)
        .await?;
    Ok(())
}

/// Replaces the hash `old` of a password by another one of the same password. Returns false if `old` is not stored.
pub async fn replace_password_hash(conn: &mut Conn, id: UserId, old: &str, new: &str) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "update users set password_hash = $3 where id = $1 and password_hash = $2 and deleted_time is null",
        id as UserId,
        old,
        new
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Deletes the account softly, which frees its name.
pub async fn delete(conn: &mut Conn, id: UserId, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update users set deleted_time = $2 where id = $1 and deleted_time is null",
        id as UserId,
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}
