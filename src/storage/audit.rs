//! The table `audit_log`. Entries are inserted and read, never changed.

use sqlx::types::Json;

use super::{Conn, StorageError};
use crate::domain::audit::{AuditEntry, AuditFilter, AuditLine, Details};
use crate::domain::id::{AuditId, UserId};
use crate::domain::page::{Page, PageRequest};
use crate::domain::time::UnixTime;

/// Inserts an entry, in the transaction of the action.
pub async fn insert(conn: &mut Conn, entry: AuditEntry) -> Result<(), StorageError> {
    insert_many(conn, &[entry]).await
}

/// Inserts entries in one statement.
pub async fn insert_many(conn: &mut Conn, entries: &[AuditEntry]) -> Result<(), StorageError> {
    fn column<T>(entries: &[AuditEntry], value: impl Fn(&AuditEntry) -> T) -> Vec<T> {
        entries.iter().map(value).collect()
    }
    sqlx::query!(
        "insert into audit_log (at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, \
         request_id, details) \
         select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], \
         $7::bigint[], $8::text[], $9::text[], $10::jsonb[])",
        &column(entries, |entry| entry.at.get()),
        &column(entries, |entry| entry.actor_id.map(UserId::get)) as &[Option<i64>],
        &column(entries, |entry| entry.actor_name.clone()),
        &column(entries, |entry| entry.action.as_str().to_owned()),
        &column(entries, |entry| entry.subject.kind.to_owned()),
        &column(entries, |entry| entry.subject.id) as &[Option<i64>],
        &column(entries, |entry| entry.subject.user_id.map(UserId::get)) as &[Option<i64>],
        &column(entries, |entry| entry.ip.map_or_else(String::new, |ip| ip.to_string())),
        &column(entries, |entry| entry.request_id.clone()),
        &column(entries, |entry| Json(entry.details.clone())) as &[Json<Details>]
    )
    .execute(conn)
    .await?;
    Ok(())
}

struct Row {
    id: AuditId,
    at: UnixTime,
    actor_id: Option<UserId>,
    actor_name: String,
    action: String,
    subject_kind: String,
    subject_id: Option<i64>,
    user_id: Option<i64>,
    ip: String,
    request_id: String,
    details: Json<std::collections::BTreeMap<String, String>>,
}

/// Lists the matching entries, newest first. Must run in a transaction, for which it switches to custom plans: each
/// filter has its own index, and only a plan that knows the filters uses it.
pub async fn list(conn: &mut Conn, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditLine>, StorageError> {
    sqlx::query!(r#"select set_config('plan_cache_mode', 'force_custom_plan', true) as "set!""#)
        .fetch_one(&mut *conn)
        .await?;
    let rows = sqlx::query_as!(
        Row,
        r#"select id, at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, request_id,
           details as "details: Json<std::collections::BTreeMap<String, String>>"
           from audit_log
           where ($1::bigint is null or actor_id = $1) and ($2::text is null or action = $2)
             and ($3::text is null or subject_kind = $3) and ($4::bigint is null or subject_id = $4)
             and ($5::bigint is null or user_id = $5)
           order by id desc limit $6 offset $7"#,
        filter.actor_id as Option<UserId>,
        filter.action.as_deref(),
        filter.subject_kind.as_deref(),
        filter.subject_id,
        filter.user_id as Option<UserId>,
        page.size(),
        page.offset()
    )
    .fetch_all(&mut *conn)
    .await?;
    let total = match page.total_if_last(rows.len()) {
        Some(total) => total,
        None => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!" from audit_log
               where ($1::bigint is null or actor_id = $1) and ($2::text is null or action = $2)
                 and ($3::text is null or subject_kind = $3) and ($4::bigint is null or subject_id = $4)
                 and ($5::bigint is null or user_id = $5)"#,
                filter.actor_id as Option<UserId>,
                filter.action.as_deref(),
                filter.subject_kind.as_deref(),
                filter.subject_id,
                filter.user_id as Option<UserId>
            )
            .fetch_one(conn)
            .await?
        }
    };
    let lines = rows.into_iter().map(|row| AuditLine {
        id: row.id,
        at: row.at,
        actor_id: row.actor_id,
        actor_name: row.actor_name,
        action: row.action,
        subject_kind: row.subject_kind,
        subject_id: row.subject_id,
        user_id: row.user_id,
        ip: row.ip,
        request_id: row.request_id,
        details: row.details.0,
    });
    Ok(page.holding(lines.collect(), total))
}
