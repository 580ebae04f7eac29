//! The keys in the table `tokens`: their digests and encrypted texts, and the tokens found by them and by old keys.
//! Only live rows, but for the keys of other services.

use std::collections::HashSet;

use super::old_keys::used_key;
use super::tokens::columns::{select_tokens, token_of};
use super::{Conn, StorageError};
use crate::domain::account::{Account, Budget};
use crate::domain::id::{OldKeyId, TokenId, UserId};
use crate::domain::key::{Digest, KeyHint};
use crate::domain::ledger::Wallet;
use crate::domain::money::Quota;
use crate::domain::old_key::UsedKey;
use crate::domain::period_limits::{PeriodCounters, PeriodLimits};
use crate::domain::time::{Day, UnixTime};
use crate::domain::token::{Token, TokenIdentity};
use crate::domain::user::UserStatus;

/// Comes after every character: `text` followed by it is above every text that begins with `text`.
const LAST_CHAR: char = char::MAX;

#[derive(Debug)]
pub struct NewSealedKey {
    /// For finding the token by its key.
    pub digest: Digest,
    /// The encrypted key; the vault decrypts it.
    pub sealed: Vec<u8>,
    /// What lists show.
    pub hint: KeyHint,
}

/// A token with its digest and its encrypted key.
#[derive(Debug, Clone)]
pub struct SealedToken {
    pub token: Token,
    pub digest: Digest,
    pub sealed: Vec<u8>,
}

/// The live tokens among `ids`, of any owner.
pub async fn list_sealed_tokens(conn: &mut Conn, ids: &[TokenId]) -> Result<Vec<SealedToken>, StorageError> {
    let rows = select_tokens!(
        ", key_digest, key_sealed from tokens where id = any($1) and deleted_time is null",
        ids as &[TokenId]
    )
    .fetch_all(conn)
    .await?;
    let tokens = rows.into_iter().map(|row| SealedToken {
        token: token_of!(row),
        digest: row.key_digest,
        sealed: row.key_sealed,
    });
    Ok(tokens.collect())
}

/// The live token with this key, of any owner. Old keys find it too, also those that do not work any more.
pub async fn find_by_key(conn: &mut Conn, digest: &Digest) -> Result<Option<Token>, StorageError> {
    let row = select_tokens!(
        " from tokens where deleted_time is null and id = any(array( \
           select id from tokens where key_digest = $1 \
           union all select token_id from old_keys where key_digest = $1))",
        digest as &Digest
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| token_of!(row)))
}

/// The token with this key and its owner's group, deleted or not, for answers that were given before. Old keys find it
/// too.
pub async fn find_identity(conn: &mut Conn, digest: &Digest) -> Result<Option<TokenIdentity>, StorageError> {
    let row = sqlx::query!(
        r#"select t.id, t.user_id, t.name, t.group_name, u.group_name as owner_group
           from tokens t join users u on u.id = t.user_id where t.id = any(array(
             select id from tokens where key_digest = $1
             union all select token_id from old_keys where key_digest = $1))"#,
        digest as &Digest
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| {
        let group = row.group_name.name_or(&row.owner_group).to_owned();
        TokenIdentity { id: row.id, user_id: row.user_id, name: row.name, group }
    }))
}

/// A live token that was found by one of its keys, and its live owner.
#[derive(Debug, Clone)]
pub struct FoundKey {
    pub digest: Digest,
    /// Which of the token's keys it is. An old one may have ended.
    pub used: UsedKey,
    pub token: Token,
    pub wallet: Wallet,
    pub owner_group: String,
}

/// What was read of some keys.
#[derive(Debug)]
pub struct ReadKeys {
    pub found: Vec<FoundKey>,
    /// The server takes no writes. A standby that is behind does not know what was disabled, so this decides nothing.
    pub is_read_only: bool,
}

/// The key of a row.
macro_rules! found_key {
    ($row:expr) => {{
        let wallet = Wallet {
            account: Account {
                budget: Budget::Limited { remain: $row.wallet_quota },
                used: $row.wallet_used,
                held: $row.wallet_held,
                period_limits: PeriodLimits {
                    day: $row.wallet_day_limit,
                    week: $row.wallet_week_limit,
                    month: $row.wallet_month_limit,
                },
                period_counters: PeriodCounters {
                    day: $row.wallet_period_day,
                    day_used: $row.wallet_day_used,
                    week_used: $row.wallet_week_used,
                    month_used: $row.wallet_month_used,
                },
            },
            request_count: $row.request_count,
            status: $row.owner_status,
        };
        let used = used_key($row.old_id, $row.old_expires_at, $row.waiting_grace, $row.starts_grace);
        FoundKey { digest: $row.digest, used, token: token_of!($row), wallet, owner_group: $row.owner_group }
    }};
}

/// The live tokens with these keys, current or old, with their live owners' wallets and groups. Old keys are looked up
/// only where there is no current one: a rotation makes a current key an old one, and never the other way round.
/// `offset 0` keeps the conditions on deletion out of the subqueries: with them, PostgreSQL may scan an index of live
/// rows instead of the index of keys.
pub async fn list_with_owners(conn: &mut Conn, digests: &[Digest]) -> Result<ReadKeys, StorageError> {
    let bytes = |digests: &[&Digest]| digests.iter().map(|digest| digest.as_bytes().to_vec()).collect::<Vec<_>>();
    let all = bytes(&digests.iter().collect::<Vec<_>>());
    let current = select_tokens!(
        r#", requested.digest as "digest!: Digest", old_id as "old_id?: OldKeyId", old_expires_at as "old_expires_at?: UnixTime",
           waiting_grace as "waiting_grace?", exists (select from old_keys w where w.token_id = t.id and w.waits_for_use
             and (old_id is null or w.id < old_id)) as "starts_grace!",
           current_setting('transaction_read_only') = 'off' as "is_writable!", owner.wallet_quota as "wallet_quota!: Quota", owner.wallet_used as "wallet_used!: Quota",
           owner.request_count as "request_count!", owner.owner_status as "owner_status!: UserStatus",
           owner.owner_group as "owner_group!", owner.wallet_held as "wallet_held!: Quota",
           owner.wallet_day_limit as "wallet_day_limit?: Quota", owner.wallet_week_limit as "wallet_week_limit?: Quota",
           owner.wallet_month_limit as "wallet_month_limit?: Quota", owner.wallet_period_day as "wallet_period_day!: Day",
           owner.wallet_day_used as "wallet_day_used!: Quota", owner.wallet_week_used as "wallet_week_used!: Quota",
           owner.wallet_month_used as "wallet_month_used!: Quota"
           from unnest($1::bytea[]) as requested (digest)
           cross join lateral (select *, null::bigint as old_id, null::bigint as old_expires_at, null::bigint as waiting_grace
             from tokens where key_digest = requested.digest offset 0) t
           cross join lateral (select quota as wallet_quota, used_quota as wallet_used, request_count,
               status as owner_status, group_name as owner_group, deleted_time as owner_deleted_time,
               held as wallet_held, day_limit as wallet_day_limit, week_limit as wallet_week_limit,
               month_limit as wallet_month_limit, period_day as wallet_period_day, day_used as wallet_day_used,
               week_used as wallet_week_used, month_used as wallet_month_used
               from users where users.id = t.user_id offset 0) owner
           where deleted_time is null and owner_deleted_time is null"#,
        &all
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut is_read_only = current.iter().any(|row| !row.is_writable);
    let mut found: Vec<FoundKey> = current.into_iter().map(|row| found_key!(row)).collect();
    let is_found: HashSet<&Digest> = found.iter().map(|key| &key.digest).collect();
    let missing: Vec<&Digest> = digests.iter().filter(|digest| !is_found.contains(digest)).collect();
    if missing.is_empty() {
        return Ok(ReadKeys { found, is_read_only });
    }
    let missing = bytes(&missing);
    let old = select_tokens!(
        r#", requested.digest as "digest!: Digest", old_id as "old_id?: OldKeyId", old_expires_at as "old_expires_at?: UnixTime",
           waiting_grace as "waiting_grace?", exists (select from old_keys w where w.token_id = t.id and w.waits_for_use
             and (old_id is null or w.id < old_id)) as "starts_grace!",
           current_setting('transaction_read_only') = 'off' as "is_writable!", owner.wallet_quota as "wallet_quota!: Quota", owner.wallet_used as "wallet_used!: Quota",
           owner.request_count as "request_count!", owner.owner_status as "owner_status!: UserStatus",
           owner.owner_group as "owner_group!", owner.wallet_held as "wallet_held!: Quota",
           owner.wallet_day_limit as "wallet_day_limit?: Quota", owner.wallet_week_limit as "wallet_week_limit?: Quota",
           owner.wallet_month_limit as "wallet_month_limit?: Quota", owner.wallet_period_day as "wallet_period_day!: Day",
           owner.wallet_day_used as "wallet_day_used!: Quota", owner.wallet_week_used as "wallet_week_used!: Quota",
           owner.wallet_month_used as "wallet_month_used!: Quota"
           from unnest($1::bytea[]) as requested (digest)
           cross join lateral (select token_id, id as old_id, case when ended then 0 else expires_at end as old_expires_at,
               case when waits_for_use then grace_seconds end as waiting_grace
             from old_keys where key_digest = requested.digest offset 0) k
           cross join lateral (select * from tokens where tokens.id = k.token_id offset 0) t
           cross join lateral (select quota as wallet_quota, used_quota as wallet_used, request_count,
               status as owner_status, group_name as owner_group, deleted_time as owner_deleted_time,
               held as wallet_held, day_limit as wallet_day_limit, week_limit as wallet_week_limit,
               month_limit as wallet_month_limit, period_day as wallet_period_day, day_used as wallet_day_used,
               week_used as wallet_week_used, month_used as wallet_month_used
               from users where users.id = t.user_id offset 0) owner
           where deleted_time is null and owner_deleted_time is null"#,
        &missing
    )
    .fetch_all(&mut *conn)
    .await?;
    is_read_only |= old.iter().any(|row| !row.is_writable);
    found.extend(old.into_iter().map(|row| found_key!(row)));
    // Where no key was found, no row tells.
    let is_read_only = if found.is_empty() { !is_writable(conn).await? } else { is_read_only };
    Ok(ReadKeys { found, is_read_only })
}

async fn is_writable(conn: &mut Conn) -> Result<bool, StorageError> {
    let is_writable =
        sqlx::query_scalar!(r#"select current_setting('transaction_read_only') = 'off' as "is_writable!""#);
    Ok(is_writable.fetch_one(conn).await?)
}

/// The digests and encrypted keys of the owner's live tokens among `ids`.
pub async fn list_sealed_keys(
    conn: &mut Conn,
    owner: UserId,
    ids: &[TokenId],
) -> Result<Vec<(TokenId, Digest, Vec<u8>)>, StorageError> {
    let rows = sqlx::query!(
        "select id, key_digest, key_sealed from tokens \
         where user_id = $1 and id = any($2) and deleted_time is null",
        owner as UserId,
        ids as &[TokenId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.key_digest, row.key_sealed)).collect())
}

/// The digests and encrypted keys of the owner's live tokens whose folded name is like `pattern`, newest first.
pub async fn list_sealed_keys_like(
    conn: &mut Conn,
    owner: UserId,
    pattern: &str,
) -> Result<Vec<(TokenId, Digest, Vec<u8>)>, StorageError> {
    let rows = sqlx::query!(
        r"select id, key_digest, key_sealed from tokens
          where user_id = $1 and deleted_time is null and name_folded like $2 escape '\'
          order by id desc",
        owner as UserId,
        pattern
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.key_digest, row.key_sealed)).collect())
}

/// The digests and encrypted keys of live tokens of all users whose keys begin with the four characters `first`, at
/// most `most`.
pub async fn list_sealed_keys_beginning(
    conn: &mut Conn,
    first: &str,
    most: i64,
) -> Result<Vec<(TokenId, Digest, Vec<u8>)>, StorageError> {
    let rows = sqlx::query!(
        r#"select id, key_digest, key_sealed from tokens
           where deleted_time is null and key_hint collate "C" >= $1 and key_hint collate "C" < $2
           order by key_hint collate "C" limit $3"#,
        first,
        format!("{first}{LAST_CHAR}"),
        most
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.key_digest, row.key_sealed)).collect())
}

/// Like [`list_sealed_keys_beginning`], for the last four characters.
pub async fn list_sealed_keys_ending(
    conn: &mut Conn,
    last: &str,
    most: i64,
) -> Result<Vec<(TokenId, Digest, Vec<u8>)>, StorageError> {
    let reversed: String = last.chars().rev().collect();
    let rows = sqlx::query!(
        r#"select id, key_digest, key_sealed from tokens
           where deleted_time is null and reverse(key_hint) collate "C" >= $1 and reverse(key_hint) collate "C" < $2
           order by reverse(key_hint) collate "C" limit $3"#,
        reversed,
        format!("{reversed}{LAST_CHAR}"),
        most
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.key_digest, row.key_sealed)).collect())
}

/// The digests and encrypted keys of the next 1,000 tokens of all users after an id, for `keymeter doctor`: the live
/// ones, and those deleted ones that have one, because they can be restored.
pub async fn list_sealed_keys_after(
    conn: &mut Conn,
    after: TokenId,
) -> Result<Vec<(TokenId, Digest, Vec<u8>)>, StorageError> {
    let rows = sqlx::query!(
        "select id, key_digest, key_sealed from tokens where id > $1 \
         and (deleted_time is null or key_sealed <> '') order by id limit 1000",
        after as TokenId
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.key_digest, row.key_sealed)).collect())
}

/// A key of another service.
#[derive(Debug)]
pub struct ForeignKey {
    pub id: TokenId,
    pub digest: Digest,
    pub is_live: bool,
}

/// The next 10,000 foreign keys after an id, ascending: live ones, and those that were deleted after `since`.
pub async fn list_foreign_after(
    conn: &mut Conn,
    after: TokenId,
    since: UnixTime,
) -> Result<Vec<ForeignKey>, StorageError> {
    let rows = sqlx::query_as!(
        ForeignKey,
        r#"select id, key_digest as digest, deleted_time is null as "is_live!" from tokens
           where key_foreign and (deleted_time is null or deleted_time > $2) and id > $1 order by id limit 10000"#,
        after as TokenId,
        since as UnixTime
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}
