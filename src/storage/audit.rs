//! The table `audit_log`. Entries are inserted and read, never changed.

use std::collections::{BTreeMap, HashMap};

use sqlx::types::Json;

use super::columns::column;
use super::{Conn, StorageError};
use crate::domain::audit::{Action, AuditEntry, AuditFilter, AuditLine, Details, Subject};
use crate::domain::audit_changes::FieldChange;
use crate::domain::bounds;
use crate::domain::bulk_users::LastChange;
use crate::domain::id::{AuditId, UserId};
use crate::domain::time::UnixTime;

/// Inserts an entry, in the transaction of the action.
pub async fn insert(conn: &mut Conn, entry: AuditEntry) -> Result<(), StorageError> {
    insert_many(conn, &[entry]).await
}

/// Inserts entries in one statement.
pub async fn insert_many(conn: &mut Conn, entries: &[AuditEntry]) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into audit_log (at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, \
         request_id, details, changes) \
         select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], \
         $7::bigint[], $8::text[], $9::text[], $10::jsonb[], $11::jsonb[])",
        &column(entries, |entry| entry.at.get()),
        &column(entries, |entry| entry.actor_id.map(UserId::get)) as &[Option<i64>],
        &column(entries, |entry| entry.actor_name.clone()),
        &column(entries, |entry| entry.action.as_str().to_owned()),
        &column(entries, |entry| entry.subject.kind.to_owned()),
        &column(entries, |entry| entry.subject.id) as &[Option<i64>],
        &column(entries, |entry| entry.subject.user_id.map(UserId::get)) as &[Option<i64>],
        &column(entries, |entry| entry.ip.map_or_else(String::new, |ip| ip.to_string())),
        &column(entries, |entry| entry.request_id.clone()),
        &column(entries, |entry| Json(entry.details.clone())) as &[Json<Details>],
        &column(entries, |entry| Json(entry.changes.clone())) as &[Json<Vec<FieldChange>>]
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// When these subjects were last changed by one of these actions, by kind and id. Looks through the newest
/// [`bounds::MAX_CHANGES_SOUGHT`] entries of each at most.
pub async fn list_last_changes(
    conn: &mut Conn,
    subjects: &[Subject],
    actions: &[Action],
) -> Result<HashMap<(String, i64), UnixTime>, StorageError> {
    let rows = sqlx::query!(
        r#"select s.kind as "kind!", s.id as "id!", l.at as "at!: UnixTime"
           from unnest($1::text[], $2::bigint[]) as s (kind, id)
           cross join lateral (
             select at from (
               select id, at, action from audit_log where subject_kind = s.kind and subject_id = s.id
               order by id desc limit $4) newest
             where action = any($3) order by id desc limit 1) l"#,
        &column(subjects, |subject| subject.kind.to_owned()),
        &column(subjects, |subject| subject.id) as &[Option<i64>],
        &column(actions, |action| action.as_str().to_owned()),
        bounds::MAX_CHANGES_SOUGHT
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| ((row.kind, row.id), row.at)).collect())
}

/// The newest change of each account by an administrator: of its wallet, or of its fields. Looks through the newest
/// [`bounds::MAX_CHANGES_SOUGHT`] entries of each at most, because the caller has locked the accounts.
pub async fn list_last_changes_of_users(
    conn: &mut Conn,
    users: &[UserId],
) -> Result<HashMap<UserId, LastChange>, StorageError> {
    let rows = sqlx::query!(
        r#"select s.id as "user_id!: UserId", l.actor_id as "actor_id?: UserId",
             l.actor_name as "actor_name!", l.details as "details!: Json<BTreeMap<String, String>>"
           from unnest($1::bigint[]) as s (id)
           cross join lateral (
             select actor_id, actor_name, details from (
               select id, action, actor_id, actor_name, details from audit_log
               where subject_kind = 'user' and subject_id = s.id order by id desc limit $4) newest
             where action = $2 or (action = $3 and actor_id is distinct from s.id)
             order by id desc limit 1) l"#,
        users as &[UserId],
        Action::QuotaGranted.as_str(),
        Action::AccountEdited.as_str(),
        bounds::MAX_CHANGES_SOUGHT
    )
    .fetch_all(conn)
    .await?;
    let changes = rows.into_iter().map(|row| {
        let change = LastChange { actor_id: row.actor_id, actor_name: row.actor_name, details: row.details.0 };
        (row.user_id, change)
    });
    Ok(changes.collect())
}

struct Row {
    id: AuditId,
    at: UnixTime,
    actor_id: Option<UserId>,
    actor_name: String,
    action: String,
    subject_kind: String,
    subject_id: Option<i64>,
    subject_name: Option<String>,
    user_id: Option<i64>,
    user_name: Option<String>,
    ip: String,
    request_id: String,
    details: Json<std::collections::BTreeMap<String, String>>,
    changes: Json<Vec<FieldChange>>,
}

/// Seconds by which the times of entries may be out of the order of their ids: servers' clocks differ.
const DISORDER: i64 = 3_600;

/// Lists the matching entries, newest first, with names. Must run in a transaction, for which it switches to custom
/// plans: each filter has its own index, and only a plan that knows the filters uses it. Entries of some days are found
/// by their ids, which ascend with time.
pub async fn list(
    conn: &mut Conn,
    filter: &AuditFilter,
    limit: i64,
    offset: i64,
) -> Result<Vec<AuditLine>, StorageError> {
    use_custom_plans(conn).await?;
    let rows = sqlx::query_as!(
        Row,
        r#"select id, at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, request_id,
           details as "details: Json<std::collections::BTreeMap<String, String>>",
           changes as "changes: Json<Vec<FieldChange>>",
           (select u.username from users u where u.id = l.user_id) as "user_name: String",
           case subject_kind
               when 'token' then (select t.name from tokens t where t.id = subject_id)
               when 'user' then (select u.username from users u where u.id = subject_id)
               when 'gateway' then (select g.name from gateways g where g.id = subject_id)
               when 'access_token' then (select a.name from access_tokens a where a.id = subject_id)
               when 'token_api_request' then (select u.username from users u where u.id = l.user_id)
           end as "subject_name: String"
           from audit_log l
           where ($1::bigint is null or actor_id = $1) and ($2::text is null or action = $2)
             and ($3::text is null or subject_kind = $3) and ($4::bigint is null or subject_id = $4)
             and ($5::bigint is null or user_id = $5)
             and ($6::bigint is null or (at >= $6
               and id >= (select b.id from audit_log b where b.at >= $6 - $8 order by b.at, b.id limit 1)))
             and ($7::bigint is null or (at < $7
               and id <= (select b.id from audit_log b where b.at < $7 + $8 order by b.at desc, b.id desc limit 1)))
           order by id desc limit $9 offset $10"#,
        filter.actor_id as Option<UserId>,
        filter.action.as_deref(),
        filter.subject_kind.as_deref(),
        filter.subject_id,
        filter.user_id as Option<UserId>,
        filter.since as Option<UnixTime>,
        filter.before as Option<UnixTime>,
        DISORDER,
        limit,
        offset
    )
    .fetch_all(&mut *conn)
    .await?;
    let lines = rows.into_iter().map(|row| AuditLine {
        id: row.id,
        at: row.at,
        actor_id: row.actor_id,
        actor_name: row.actor_name,
        action: row.action,
        subject_kind: row.subject_kind,
        subject_id: row.subject_id,
        subject_name: row.subject_name,
        user_id: row.user_id,
        user_name: row.user_name,
        ip: row.ip,
        request_id: row.request_id,
        details: row.details.0,
        changes: row.changes.0,
    });
    Ok(lines.collect())
}

/// Counts the matching entries. Must run in a transaction, as [`list`].
pub async fn count(conn: &mut Conn, filter: &AuditFilter) -> Result<i64, StorageError> {
    use_custom_plans(conn).await?;
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from audit_log
           where ($1::bigint is null or actor_id = $1) and ($2::text is null or action = $2)
             and ($3::text is null or subject_kind = $3) and ($4::bigint is null or subject_id = $4)
             and ($5::bigint is null or user_id = $5)
             and ($6::bigint is null or (at >= $6
               and id >= (select b.id from audit_log b where b.at >= $6 - $8 order by b.at, b.id limit 1)))
             and ($7::bigint is null or (at < $7
               and id <= (select b.id from audit_log b where b.at < $7 + $8 order by b.at desc, b.id desc limit 1)))"#,
        filter.actor_id as Option<UserId>,
        filter.action.as_deref(),
        filter.subject_kind.as_deref(),
        filter.subject_id,
        filter.user_id as Option<UserId>,
        filter.since as Option<UnixTime>,
        filter.before as Option<UnixTime>,
        DISORDER
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

async fn use_custom_plans(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!(r#"select set_config('plan_cache_mode', 'force_custom_plan', true) as "set!""#)
        .fetch_one(conn)
        .await?;
    Ok(())
}
