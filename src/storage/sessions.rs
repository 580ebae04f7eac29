//! The table `sessions`, as a store of tower-sessions. Only a keyed digest of a session's id is stored.
//!
//! Records are stored as tower-sessions gives them. Their `expiry_date` is translated between the system clock, which
//! tower-sessions always reads, and [`Clock`], which decides about every other expiry and which tests can move.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::types::Json;
use tower_sessions::cookie::time::{Duration, OffsetDateTime};
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{self, SessionStore};

use super::{Conn, Db, StorageError};
use crate::domain::id::UserId;
use crate::domain::key::{Digest, DigestKey};
use crate::domain::time::{Clock, UnixTime};

/// The name of the user's id in a session's data. The column `user_id` is generated from it.
pub const USER_ID: &str = "user_id";

type Data = HashMap<String, serde_json::Value>;

/// Stores sessions in PostgreSQL.
#[derive(Clone)]
pub struct SessionTable {
    db: Db,
    clock: Arc<dyn Clock>,
    digests: DigestKey,
}

impl SessionTable {
    /// A store on `db`; `digests` is the key of the digests.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, digests: DigestKey) -> Self {
        Self { db, clock, digests }
    }

    fn digest(&self, id: Id) -> Digest {
        self.digests.digest(&format!("session {id}"))
    }

    /// When a record expires by [`Clock`], in whole seconds, rounded up.
    fn expires_at(&self, record: &Record) -> UnixTime {
        let left = record.expiry_date - OffsetDateTime::now_utc();
        self.clock.now().plus(left.whole_seconds() + i64::from(left.subsec_nanoseconds() > 0))
    }

    /// When a record expires by the system clock.
    fn expiry_date(&self, expires_at: UnixTime) -> OffsetDateTime {
        OffsetDateTime::now_utc() + Duration::seconds(expires_at.since(self.clock.now()))
    }
}

impl std::fmt::Debug for SessionTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionTable(…)")
    }
}

#[async_trait::async_trait]
impl SessionStore for SessionTable {
    /// Inserts a new record. If its id exists already, the record gets a new one.
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        let mut conn = self.db.acquire().await.map_err(backend_error)?;
        let expires_at = self.expires_at(record);
        while !insert(&mut conn, &self.digest(record.id), &record.data, expires_at).await.map_err(backend_error)? {
            record.id = Id::default();
        }
        Ok(())
    }

    /// Updates a record. A session that was deleted meanwhile stays deleted.
    async fn save(&self, record: &Record) -> session_store::Result<()> {
        let mut conn = self.db.acquire().await.map_err(backend_error)?;
        let expires_at = self.expires_at(record);
        update(&mut conn, &self.digest(record.id), &record.data, expires_at).await.map_err(backend_error)
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let mut conn = self.db.acquire().await.map_err(backend_error)?;
        let found = find(&mut conn, &self.digest(*id), self.clock.now()).await.map_err(backend_error)?;
        Ok(found.map(|(data, expires_at)| Record { id: *id, data, expiry_date: self.expiry_date(expires_at) }))
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        let mut conn = self.db.acquire().await.map_err(backend_error)?;
        delete(&mut conn, &self.digest(*id)).await.map_err(backend_error)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the argument of map_err")]
fn backend_error(error: StorageError) -> session_store::Error {
    session_store::Error::Backend(error.to_string())
}

/// Finds a session that has not expired.
async fn find(conn: &mut Conn, digest: &Digest, now: UnixTime) -> Result<Option<(Data, UnixTime)>, StorageError> {
    let row = sqlx::query!(
        r#"select data as "data: Json<Data>", expires_at from sessions where digest = $1 and expires_at > $2"#,
        digest as &Digest,
        now as UnixTime
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (row.data.0, row.expires_at)))
}

/// Inserts a session. Returns false if the digest exists already.
async fn insert(conn: &mut Conn, digest: &Digest, data: &Data, expires_at: UnixTime) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "insert into sessions (digest, data, expires_at) values ($1, $2, $3) \
         on conflict on constraint sessions_pkey do nothing",
        digest as &Digest,
        Json(data) as Json<&Data>,
        expires_at as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() > 0)
}

async fn update(conn: &mut Conn, digest: &Digest, data: &Data, expires_at: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update sessions set data = $2, expires_at = $3 where digest = $1",
        digest as &Digest,
        Json(data) as Json<&Data>,
        expires_at as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn delete(conn: &mut Conn, digest: &Digest) -> Result<(), StorageError> {
    sqlx::query!("delete from sessions where digest = $1", digest as &Digest).execute(conn).await?;
    Ok(())
}

/// Deletes all sessions of a user.
pub async fn delete_all_of(conn: &mut Conn, user: UserId) -> Result<(), StorageError> {
    sqlx::query!("delete from sessions where user_id = $1", user as UserId).execute(conn).await?;
    Ok(())
}

/// Deletes sessions that expired before `now`, at most [`BATCH`](super::retention::BATCH). Returns their number.
pub async fn delete_expired(conn: &mut Conn, now: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from sessions where digest = any(array( \
         select digest from sessions where expires_at <= $1 order by expires_at limit $2)) and expires_at <= $1",
        now as UnixTime,
        super::retention::BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
