//! The tables `sign_in_limits`, `sign_in_networks` and `sign_in_lockouts`.

use super::{Conn, StorageError};
use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::domain::sign_in_limit::{LockedOut, SignInBuckets};
use crate::domain::time::{Micros, UnixTime};
use crate::domain::username::Username;

/// The row of `sign_in_limits` that all networks share from which nobody signed in.
const NEW_NETWORKS: &str = "*";

/// What is known about attempts of a network at an account.
#[derive(Debug, Clone, Copy)]
pub struct SignInAttempts {
    pub buckets: SignInBuckets,
    /// Somebody signed in from there lately.
    pub is_known: bool,
    /// The last recorded refusal, of any network and of all new ones.
    pub refused: Option<UnixTime>,
    pub new_networks_refused: Option<UnixTime>,
}

/// An account at which attempts were refused.
#[derive(Debug, Clone)]
pub struct RefusedSignIns {
    pub user_id: UserId,
    pub username: Username,
    pub last_time: UnixTime,
    pub new_networks_time: Option<UnixTime>,
}

/// Reads without a lock. `user` is the account, if there is one; sign-ins after `known_since` make a network known.
pub async fn find(
    conn: &mut Conn,
    account: &Digest,
    user: Option<UserId>,
    network: &str,
    known_since: UnixTime,
) -> Result<SignInAttempts, StorageError> {
    let row = sqlx::query!(
        r#"select
             (select tat from sign_in_limits where account = $1 and network = $2) as "network_tat: Micros",
             (select tat from sign_in_limits where account = $1 and network = $3) as "new_networks_tat: Micros",
             exists (select from sign_in_networks
                     where user_id = $4 and network = $2 and last_time > $5) as "is_known!",
             (select last_time from sign_in_lockouts where account = $1) as "refused: UnixTime",
             (select new_networks_time from sign_in_lockouts where account = $1) as "new_networks_refused: UnixTime""#,
        account as &Digest,
        network,
        NEW_NETWORKS,
        user as Option<UserId>,
        known_since as UnixTime
    )
    .fetch_one(conn)
    .await?;
    let buckets = SignInBuckets {
        network: row.network_tat.unwrap_or_default(),
        new_networks: row.new_networks_tat.unwrap_or_default(),
    };
    let (refused, new_networks_refused) = (row.refused, row.new_networks_refused);
    Ok(SignInAttempts { buckets, is_known: row.is_known, refused, new_networks_refused })
}

/// The networks whose rows an attempt uses, in the order in which they are locked: the shared one last.
fn rows_of(network: &str, is_known: bool) -> Vec<String> {
    let shared = (!is_known).then_some(NEW_NETWORKS);
    std::iter::once(network).chain(shared).map(str::to_owned).collect()
}

/// Locks the rows of an attempt and reads their buckets. Creates rows that do not exist.
pub async fn lock(
    conn: &mut Conn,
    account: &Digest,
    network: &str,
    is_known: bool,
) -> Result<SignInBuckets, StorageError> {
    let rows = sqlx::query!(
        "insert into sign_in_limits (account, network, tat) \
         select $1, rows.network, 0 from unnest($2::text[]) with ordinality as rows (network, nth) order by nth \
         on conflict on constraint sign_in_limits_pkey do update set tat = sign_in_limits.tat \
         returning network, tat",
        account as &Digest,
        &rows_of(network, is_known)
    )
    .fetch_all(conn)
    .await?;
    let mut buckets = SignInBuckets::default();
    for row in rows {
        if row.network == NEW_NETWORKS {
            buckets.new_networks = row.tat;
        } else {
            buckets.network = row.tat;
        }
    }
    Ok(buckets)
}

/// Writes the buckets of locked rows.
pub async fn update(
    conn: &mut Conn,
    account: &Digest,
    network: &str,
    is_known: bool,
    buckets: SignInBuckets,
) -> Result<(), StorageError> {
    sqlx::query!(
        "update sign_in_limits set tat = rows.tat from unnest($2::text[], $3::bigint[]) as rows (network, tat) \
         where account = $1 and sign_in_limits.network = rows.network",
        account as &Digest,
        &rows_of(network, is_known),
        &[buckets.network.get(), buckets.new_networks.get()][..if is_known { 1 } else { 2 }]
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Takes `attempt` off the buckets again, in the order of [`lock`].
pub async fn give_back(
    conn: &mut Conn,
    account: &Digest,
    network: &str,
    is_known: bool,
    attempt: SignInBuckets,
) -> Result<(), StorageError> {
    lock(conn, account, network, is_known).await?;
    sqlx::query!(
        "update sign_in_limits set tat = sign_in_limits.tat - rows.micros \
         from unnest($2::text[], $3::bigint[]) as rows (network, micros) \
         where account = $1 and sign_in_limits.network = rows.network",
        account as &Digest,
        &rows_of(network, is_known),
        &[attempt.network.get(), attempt.new_networks.get()][..if is_known { 1 } else { 2 }]
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Records a refusal.
pub async fn insert_lockout(
    conn: &mut Conn,
    account: &Digest,
    user: Option<UserId>,
    locked_out: LockedOut,
    now: UnixTime,
) -> Result<(), StorageError> {
    let new_networks = (locked_out == LockedOut::NewNetworks).then_some(now);
    sqlx::query!(
        "insert into sign_in_lockouts (account, user_id, last_time, new_networks_time) \
         select $1, $2, $3, $4 where set_config('synchronous_commit', 'off', true) = 'off' \
         on conflict on constraint sign_in_lockouts_pkey do update set user_id = excluded.user_id, \
         last_time = excluded.last_time, \
         new_networks_time = coalesce(excluded.new_networks_time, sign_in_lockouts.new_networks_time)",
        account as &Digest,
        user as Option<UserId>,
        now as UnixTime,
        new_networks as Option<UnixTime>
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Forgets the attempts and refusals at an account.
pub async fn delete_all_of(conn: &mut Conn, account: &Digest) -> Result<(), StorageError> {
    sqlx::query!("delete from sign_in_limits where account = $1", account as &Digest).execute(&mut *conn).await?;
    sqlx::query!("delete from sign_in_lockouts where account = $1", account as &Digest).execute(conn).await?;
    Ok(())
}

/// Records that somebody signed in from this network, unless that was recorded after `recently`. Keeps the `most`
/// networks that were used last.
pub async fn record_network(
    conn: &mut Conn,
    user: UserId,
    network: &str,
    now: UnixTime,
    recently: UnixTime,
    most: i64,
) -> Result<(), StorageError> {
    let done = sqlx::query!(
        "insert into sign_in_networks (user_id, network, last_time) values ($1, $2, $3) \
         on conflict on constraint sign_in_networks_pkey do update set last_time = excluded.last_time \
         where sign_in_networks.last_time < $4",
        user as UserId,
        network,
        now as UnixTime,
        recently as UnixTime
    )
    .execute(&mut *conn)
    .await?;
    if done.rows_affected() > 0 {
        sqlx::query!(
            "delete from sign_in_networks where user_id = $1 and network = any(array( \
             select network from sign_in_networks where user_id = $1 order by last_time desc, network offset $2))",
            user as UserId,
            most
        )
        .execute(conn)
        .await?;
    }
    Ok(())
}

/// Lists the accounts at which attempts were refused since then, the last one first.
pub async fn list_locked(conn: &mut Conn, since: UnixTime, most: i64) -> Result<Vec<RefusedSignIns>, StorageError> {
    let accounts = sqlx::query_as!(
        RefusedSignIns,
        r#"select users.id as user_id, username, last_time, new_networks_time
           from sign_in_lockouts join users on users.id = user_id
           where last_time > $1 and deleted_time is null order by last_time desc, users.id limit $2"#,
        since as UnixTime,
        most
    )
    .fetch_all(conn)
    .await?;
    Ok(accounts)
}

/// Deletes buckets that are empty, at most [`BATCH`](super::retention::BATCH). Returns their number.
pub async fn delete_empty(conn: &mut Conn, now: Micros) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from sign_in_limits where (account, network) in ( \
         select account, network from sign_in_limits where tat <= $1 order by tat limit $2 for update skip locked)",
        now as Micros,
        super::retention::BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes networks that were last used before then, at most [`BATCH`](super::retention::BATCH). Returns their number.
pub async fn delete_networks_before(conn: &mut Conn, time: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from sign_in_networks where (user_id, network) in ( \
         select user_id, network from sign_in_networks where last_time <= $1 order by last_time limit $2) \
         and last_time <= $1",
        time as UnixTime,
        super::retention::BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes refusals before `time`, and those of names without an account before `unknown_before`, at most
/// [`BATCH`](super::retention::BATCH). Returns their number.
pub async fn delete_lockouts_before(
    conn: &mut Conn,
    time: UnixTime,
    unknown_before: UnixTime,
) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from sign_in_lockouts where account = any(array( \
         select account from sign_in_lockouts where last_time <= $2 and (user_id is null or last_time <= $1) \
         order by last_time limit $3)) and last_time <= $2",
        time as UnixTime,
        unknown_before as UnixTime,
        super::retention::BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
