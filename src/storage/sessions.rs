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

use super::loader::{Loader, Loads};
use super::{Conn, Db, StorageError, commit};
use crate::domain::bounds;
use crate::domain::clock::Clock;
use crate::domain::id::{SessionId, UserId};
use crate::domain::key::{Digest, DigestKey};
use crate::domain::session::Session;
use crate::domain::time::UnixTime;

/// The name of the user's id in a session's data. The column `user_id` is generated from it.
pub const USER_ID: &str = "user_id";

/// The names of what is recorded at sign-in.
pub const CREATED_TIME: &str = "created_time";
pub const IP: &str = "ip";
pub const USER_AGENT: &str = "user_agent";

type Data = HashMap<String, serde_json::Value>;

/// Stores sessions in PostgreSQL.
#[derive(Clone)]
pub struct SessionTable {
    db: Db,
    clock: Arc<dyn Clock>,
    digests: DigestKey,
    live: Arc<Loader<LiveSessions>>,
}

/// The data and the expiry of sessions that have not expired, by digest.
struct LiveSessions {
    db: Db,
    clock: Arc<dyn Clock>,
}

impl Loads for LiveSessions {
    type Key = Digest;
    type Row = (Data, UnixTime);

    async fn read(&self, digests: &[Digest]) -> Result<HashMap<Digest, (Data, UnixTime)>, StorageError> {
        self.db.bounded_not_reserved(async |conn: &mut Conn| list_live(conn, digests, self.clock.now()).await).await
    }
}

impl SessionTable {
    /// A store on `db`; `digests` is the key of the digests. Starts the task that reads sessions.
    pub fn new(db: Db, clock: Arc<dyn Clock>, digests: DigestKey) -> Self {
        let live = Arc::new(Loader::start(LiveSessions { db: db.clone(), clock: Arc::clone(&clock) }));
        Self { db, clock, digests, live }
    }

    fn digest(&self, id: Id) -> Digest {
        digest_of(&self.digests, &id.to_string())
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
        let mut tx = self.db.begin().await.map_err(backend_error)?;
        let expires_at = self.expires_at(record);
        while !insert(&mut tx, &self.digest(record.id), &record.data, expires_at).await.map_err(backend_error)? {
            record.id = Id::default();
        }
        commit(tx).await.map_err(backend_error)
    }

    /// Updates a record. A session that was deleted meanwhile stays deleted.
    async fn save(&self, record: &Record) -> session_store::Result<()> {
        let mut conn = self.db.acquire().await.map_err(backend_error)?;
        let expires_at = self.expires_at(record);
        update(&mut conn, &self.digest(record.id), &record.data, expires_at).await.map_err(backend_error)
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let found = self.live.load(self.digest(*id)).await.map_err(backend_error)?;
        Ok(found.map(|(data, expires_at)| Record { id: *id, data, expiry_date: self.expiry_date(expires_at) }))
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        let mut tx = self.db.begin().await.map_err(backend_error)?;
        delete(&mut tx, &self.digest(*id)).await.map_err(backend_error)?;
        commit(tx).await.map_err(backend_error)
    }
}

/// The digest by which a session is stored. `id` is the secret in the cookie.
pub fn digest_of(digests: &DigestKey, id: &str) -> Digest {
    digests.digest(&format!("session {id}"))
}

#[expect(clippy::needless_pass_by_value, reason = "the argument of map_err")]
fn backend_error(error: StorageError) -> session_store::Error {
    session_store::Error::Backend(error.to_string())
}

/// Those of these sessions that have not expired.
async fn list_live(
    conn: &mut Conn,
    digests: &[Digest],
    now: UnixTime,
) -> Result<HashMap<Digest, (Data, UnixTime)>, StorageError> {
    let digests: Vec<&[u8]> = digests.iter().map(Digest::as_bytes).collect();
    let rows = sqlx::query!(
        r#"select digest as "digest: Digest", data as "data: Json<Data>", expires_at from sessions
           where digest = any($1) and expires_at > $2"#,
        &digests as &[&[u8]],
        now as UnixTime
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.digest, (row.data.0, row.expires_at))).collect())
}

/// Inserts a session. Returns false if the digest exists already.
async fn insert(conn: &mut Conn, digest: &Digest, data: &Data, expires_at: UnixTime) -> Result<bool, StorageError> {
    let inserted = sqlx::query!(
        "insert into sessions (digest, data, expires_at) values ($1, $2, $3) \
         on conflict on constraint sessions_pkey do nothing",
        digest as &Digest,
        Json(data) as Json<&Data>,
        expires_at as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected() > 0)
}

async fn update(conn: &mut Conn, digest: &Digest, data: &Data, expires_at: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update sessions set data = $2, expires_at = $3 \
         where digest = $1 and set_config('synchronous_commit', 'off', true) = 'off'",
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

/// Lists the live sessions of a user, the last used first. `current` is the digest of the one that is marked.
pub async fn list(
    conn: &mut Conn,
    user: UserId,
    current: Option<&Digest>,
    now: UnixTime,
) -> Result<Vec<Session>, StorageError> {
    let sessions = sqlx::query_as!(
        Session,
        r#"select id, (data ->> 'created_time')::bigint as "created_time: UnixTime",
           coalesce(last_seen_time, (data ->> 'created_time')::bigint) as "last_seen_time: UnixTime", expires_at,
           coalesce(data ->> 'ip', '') as "ip!", coalesce(data ->> 'user_agent', '') as "user_agent!",
           coalesce(digest = $2, false) as "is_current!"
           from sessions where user_id = $1 and expires_at > $3
           order by coalesce(last_seen_time, (data ->> 'created_time')::bigint, 0) desc, id desc limit $4"#,
        user as UserId,
        current as Option<&Digest>,
        now as UnixTime,
        bounds::MAX_LISTED_SESSIONS
    )
    .fetch_all(conn)
    .await?;
    Ok(sessions)
}

/// Records the use of a session, unless one was recorded in the last minute. A request waits for this, so
/// it waits neither for a locked row nor for the disk.
pub async fn update_last_seen(conn: &mut Conn, digest: &Digest, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update sessions set last_seen_time = $2 \
         where digest = (select digest from sessions \
             where digest = $1 and (last_seen_time is null or last_seen_time <= $3) for update skip locked) \
           and set_config('synchronous_commit', 'off', true) = 'off'",
        digest as &Digest,
        now as UnixTime,
        now.plus(-bounds::LAST_USED_SECONDS) as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes a session of this user. Returns true if it existed.
pub async fn delete_of(conn: &mut Conn, user: UserId, id: SessionId) -> Result<bool, StorageError> {
    let done = sqlx::query!("delete from sessions where user_id = $1 and id = $2", user as UserId, id as SessionId)
        .execute(conn)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Deletes the sessions of a user, except the one with the digest `current`. Returns their number.
pub async fn delete_others_of(conn: &mut Conn, user: UserId, current: Option<&Digest>) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from sessions where user_id = $1 and digest is distinct from $2",
        user as UserId,
        current as Option<&Digest>
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes all sessions of a user.
pub async fn delete_all_of(conn: &mut Conn, user: UserId) -> Result<(), StorageError> {
    delete_all_of_users(conn, &[user]).await
}

/// Deletes all sessions of these users.
pub async fn delete_all_of_users(conn: &mut Conn, users: &[UserId]) -> Result<(), StorageError> {
    sqlx::query!("delete from sessions where user_id = any($1)", users as &[UserId]).execute(conn).await?;
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
