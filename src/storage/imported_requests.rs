//! The table `requests_imported`: single requests that another service charged before an import.

use super::columns::column;
use super::retention::BATCH_ROWS;
use super::{Conn, StorageError};
use crate::domain::id::TokenId;
use crate::domain::money::Quota;
use crate::domain::time::UnixTime;

/// A single request that another service charged, with the ids that it has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRequest {
    pub foreign_id: i64,
    pub foreign_user_id: i64,
    /// 0: not known.
    pub foreign_token_id: i64,
    /// The token here, if it is known by its name.
    pub named_token: Option<TokenId>,
    pub at: UnixTime,
    pub model: String,
    pub quota: Quota,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// The tokens of imported accounts with these names, if one token alone has the name: with the account there.
pub async fn list_tokens_by_name(
    conn: &mut Conn,
    source: &str,
    names: &[(i64, String)],
) -> Result<Vec<(i64, String, TokenId)>, StorageError> {
    let users: Vec<i64> = names.iter().map(|(user, _)| *user).collect();
    let texts: Vec<String> = names.iter().map(|(_, name)| name.clone()).collect();
    let rows = sqlx::query!(
        r#"select n.user_id as "user_id!", n.name as "name!", t.id as "id!: TokenId"
           from unnest($2::bigint[], $3::text[]) as n (user_id, name)
           cross join lateral (
             select local_id from imports where source = $1 and kind = 'user' and foreign_id = n.user_id offset 0) u
           cross join lateral (
             select min(id) as id from tokens where user_id = u.local_id and name = n.name having count(*) = 1 offset 0) t"#,
        source,
        &users,
        &texts
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.user_id, row.name, row.id)).collect())
}

/// Inserts single requests of tokens that were imported from this source, unless they are here already. Returns how
/// many.
pub async fn insert(conn: &mut Conn, source: &str, requests: &[ImportedRequest]) -> Result<i64, StorageError> {
    // Each is looked up by its id.
    let done = sqlx::query!(
        "insert into requests_imported (source, foreign_id, at, user_id, token_id, model, quota, prompt_tokens, \
           completion_tokens) \
         select $1, r.id, r.at, u.local_id, t.id, r.model, r.quota, r.prompt_tokens, r.completion_tokens \
         from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[], \
           $9::bigint[], $10::bigint[]) \
           as r (id, user_id, token_id, named_token, at, model, quota, prompt_tokens, completion_tokens) \
         cross join lateral ( \
           select local_id from imports where source = $1 and kind = 'user' and foreign_id = r.user_id offset 0) u \
         cross join lateral ( \
           select t.id from imports i join tokens t on t.id = i.local_id \
           where r.token_id <> 0 and i.source = $1 and i.kind = 'token' and i.foreign_id = r.token_id \
             and t.user_id = u.local_id \
           union all \
           select id from tokens where id = r.named_token and user_id = u.local_id offset 0) t \
         on conflict do nothing",
        source,
        &column(requests, |row| row.foreign_id),
        &column(requests, |row| row.foreign_user_id),
        &column(requests, |row| row.foreign_token_id),
        &column(requests, |row| row.named_token.map(TokenId::get)) as &[Option<i64>],
        &column(requests, |row| row.at.get()),
        &column(requests, |row| row.model.clone()),
        &column(requests, |row| row.quota.get()),
        &column(requests, |row| row.prompt_tokens),
        &column(requests, |row| row.completion_tokens)
    )
    .execute(conn)
    .await?;
    Ok(i64::try_from(done.rows_affected()).unwrap_or(i64::MAX))
}

/// Deletes imported requests made before `then`, at most [`BATCH`](super::retention::BATCH). Returns how many.
pub async fn delete(conn: &mut Conn, then: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from requests_imported where ctid = any(array( \
         select ctid from requests_imported where at < $1 order by at limit $2))",
        then as UnixTime,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
