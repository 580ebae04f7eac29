//! The table `sessions`, as the store that tower-sessions asks for. A cookie's id is kept as a
//! keyed digest only, and how long a session lives is decided by our clock.

use std::sync::Arc;

use sqlx::types::Json;
use tower_sessions::cookie::time::{Duration, OffsetDateTime};
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{Error, Result, SessionStore};

use super::{Conn, Db, StorageError};
use crate::domain::id::UserId;
use crate::domain::key::{Digest, DigestKey};
use crate::domain::policy;
use crate::domain::time::{Clock, DAY, UnixTime};

/// The key of a session's data under which its user's id stands.
pub const USER_ID: &str = "user_id";

/// What a session remembers.
type Data = std::collections::HashMap<String, serde_json::Value>;

/// Keeps sessions in PostgreSQL.
#[derive(Clone)]
pub struct SessionTable {
    db: Db,
    clock: Arc<dyn Clock>,
    digests: DigestKey,
}

impl SessionTable {
    /// A store on `db`; `digests` hides the ids.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, digests: DigestKey) -> Self {
        Self { db, clock, digests }
    }

    fn digest(&self, id: Id) -> Digest {
        self.digests.digest(&format!("session {id}"))
    }

    fn end(&self) -> UnixTime {
        self.clock.now().plus(policy::SESSION_DAYS * DAY)
    }
}

impl std::fmt::Debug for SessionTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionTable(…)")
    }
}

fn backend(error: &StorageError) -> Error {
    Error::Backend(error.to_string())
}

fn user_of(record: &Record) -> Option<UserId> {
    record.data.get(USER_ID).and_then(serde_json::Value::as_i64).map(UserId::new)
}

#[async_trait::async_trait]
impl SessionStore for SessionTable {
    async fn create(&self, record: &mut Record) -> Result<()> {
        let mut conn = self.db.acquire().await.map_err(|error| backend(&error))?;
        let digest = self.digest(record.id);
        insert(&mut conn, &digest, record, self.end()).await.map_err(|error| backend(&error))
    }

    /// Renews what is there. A session that ended in the meantime stays ended.
    async fn save(&self, record: &Record) -> Result<()> {
        let mut conn = self.db.acquire().await.map_err(|error| backend(&error))?;
        let digest = self.digest(record.id);
        update(&mut conn, &digest, record, self.end()).await.map_err(|error| backend(&error))
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let mut conn = self.db.acquire().await.map_err(|error| backend(&error))?;
        let digest = self.digest(*id);
        let now = self.clock.now();
        let Some((data, end)) = find(&mut conn, &digest, now).await.map_err(|error| backend(&error))? else {
            return Ok(None);
        };
        // tower-sessions looks at the wall; what it has to know is how much is left.
        let expiry_date = OffsetDateTime::now_utc() + Duration::seconds(end.since(now));
        Ok(Some(Record { id: *id, data, expiry_date }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        let mut conn = self.db.acquire().await.map_err(|error| backend(&error))?;
        delete(&mut conn, &self.digest(*id)).await.map_err(|error| backend(&error))
    }
}

async fn find(
    conn: &mut Conn,
    digest: &Digest,
    now: UnixTime,
) -> std::result::Result<Option<(Data, UnixTime)>, StorageError> {
    let row = sqlx::query!(
        r#"select data as "data: Json<Data>", expires_at from sessions where digest = $1 and expires_at > $2"#,
        digest as &Digest,
        now as UnixTime
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (row.data.0, row.expires_at)))
}

async fn insert(
    conn: &mut Conn,
    digest: &Digest,
    record: &Record,
    end: UnixTime,
) -> std::result::Result<(), StorageError> {
    sqlx::query!(
        "insert into sessions (digest, user_id, data, expires_at) values ($1, $2, $3, $4)",
        digest as &Digest,
        user_of(record) as Option<UserId>,
        Json(&record.data) as Json<&Data>,
        end as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn update(
    conn: &mut Conn,
    digest: &Digest,
    record: &Record,
    end: UnixTime,
) -> std::result::Result<(), StorageError> {
    sqlx::query!(
        "update sessions set user_id = $2, data = $3, expires_at = $4 where digest = $1",
        digest as &Digest,
        user_of(record) as Option<UserId>,
        Json(&record.data) as Json<&Data>,
        end as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn delete(conn: &mut Conn, digest: &Digest) -> std::result::Result<(), StorageError> {
    sqlx::query!("delete from sessions where digest = $1", digest as &Digest).execute(conn).await?;
    Ok(())
}

/// Deletes all sessions of a user.
pub async fn delete_all_of(conn: &mut Conn, user: UserId) -> std::result::Result<(), StorageError> {
    sqlx::query!("delete from sessions where user_id = $1", user as UserId).execute(conn).await?;
    Ok(())
}

/// Deletes sessions that expired before `now`, at most [`BATCH`](super::retention::BATCH). Returns their number.
pub async fn delete_expired(conn: &mut Conn, now: UnixTime) -> std::result::Result<u64, StorageError> {
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
