//! Limits of wrong passwords by account and network. They are stored, so that all servers count together and a restart
//! forgets nothing. How many rows there are is bounded by how many passwords can be checked (`passwords.rs`): an
//! attempt has a place in that queue before it is counted, and an empty bucket is deleted within minutes.

use std::net::IpAddr;
use std::sync::Arc;

use super::rate_limiter::{Network, RateLimited};
use crate::domain::bounds;
use crate::domain::clock::Clock;
use crate::domain::id::UserId;
use crate::domain::key::{Digest, DigestKey};
use crate::domain::sign_in_limit::{AttemptRefused, LockedOut, SignInLimit};
use crate::domain::time::{DAY, UnixTime};
use crate::domain::username::Username;
use crate::service::base::Base;
use crate::storage::sign_in_limits::SignInAttempts;
use crate::storage::{self, Conn, Db, StorageError, sign_in_limits};

/// Why an attempt was not admitted.
#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An attempt that was counted. [`SignInLimits::succeeded`] gives it back.
#[derive(Debug)]
pub struct Attempt {
    account: Digest,
    network: String,
    is_known: bool,
    is_counted: bool,
}

/// An account at which sign-ins were refused lately.
#[derive(Debug)]
pub struct LockedUser {
    pub user_id: UserId,
    pub username: Username,
    /// The last refusal.
    pub at: UnixTime,
    pub locked_out: LockedOut,
}

pub struct SignInLimits {
    db: Db,
    clock: Arc<dyn Clock>,
    digests: DigestKey,
    limit: Option<SignInLimit>,
}

impl SignInLimits {
    /// `per_minute` is `limits.login_per_minute`.
    pub fn new(base: &Base, per_minute: u32) -> Self {
        let (db, clock, digests) = (base.db.clone(), Arc::clone(&base.clock), base.vault.digests().clone());
        Self { db, clock, digests, limit: SignInLimit::new(per_minute) }
    }

    /// Counts an attempt to give the password of an account, before the password is checked. `user` is the account, if
    /// the name belongs to one: unknown names are counted in the same way, so that nobody can tell.
    ///
    /// # Errors
    /// The attempts of the network, or those that all new networks share, are used up; the database.
    pub async fn begin(
        &self,
        username: &Username,
        user: Option<UserId>,
        ip: Option<IpAddr>,
    ) -> Result<Attempt, AttemptError> {
        let account = self.account(username);
        let network = Network::from(ip).0.map_or_else(String::new, |network| network.to_string());
        let now = self.clock.now();
        let found = {
            let mut conn = self.db.acquire().await?;
            let known_since = now.plus(-DAY * bounds::KNOWN_NETWORK_DAYS);
            sign_in_limits::find(&mut conn, &account, user, &network, known_since).await?
        };
        let is_known = found.is_known;
        let Some(limit) = self.limit else {
            return Ok(Attempt { account, network, is_known, is_counted: false });
        };
        let micros = self.clock.micros();
        // Without a lock first, so that refused attempts write nothing, unless the buckets are of a time to come.
        if let Err(refused) = limit.admit(found.buckets, is_known, micros)
            && limit.cut(found.buckets, micros) == found.buckets
        {
            return self.refuse(&account, user, &found, refused).await;
        }
        let mut tx = self.db.begin().await?;
        let buckets = sign_in_limits::lock(&mut tx, &account, &network, is_known).await?;
        let micros = self.clock.micros();
        let admitted = limit.admit(buckets, is_known, micros);
        let buckets = admitted.unwrap_or_else(|_| limit.cut(buckets, micros));
        sign_in_limits::update(&mut tx, &account, &network, is_known, buckets).await?;
        storage::commit(tx).await?;
        match admitted {
            Ok(_) => Ok(Attempt { account, network, is_known, is_counted: true }),
            Err(refused) => self.refuse(&account, user, &found, refused).await,
        }
    }

    /// Records a refusal for administrators, at most once a minute.
    async fn refuse(
        &self,
        account: &Digest,
        user: Option<UserId>,
        found: &SignInAttempts,
        refused: AttemptRefused,
    ) -> Result<Attempt, AttemptError> {
        let now = self.clock.now();
        let recorded = match refused.locked_out {
            LockedOut::Network => found.refused,
            LockedOut::NewNetworks => found.new_networks_refused,
        };
        // A record of the future was written while the clock was ahead.
        if recorded.is_none_or(|at| now.since(at).abs() >= bounds::LAST_USED_SECONDS) {
            let mut conn = self.db.acquire().await?;
            sign_in_limits::insert_lockout(&mut conn, account, user, refused.locked_out, now).await?;
        }
        Err(RateLimited { retry_after: refused.retry_after.unsigned_abs() }.into())
    }

    /// The password was right: the attempt does not count. If that signed `user` in, the network is known from now on.
    ///
    /// # Errors
    /// The database.
    pub async fn succeeded(&self, attempt: &Attempt, user: Option<UserId>) -> Result<(), StorageError> {
        let Attempt { account, network, is_known, is_counted } = attempt;
        let mut tx = self.db.begin().await?;
        if let Some(limit) = self.limit.filter(|_| *is_counted) {
            sign_in_limits::give_back(&mut tx, account, network, *is_known, limit.attempt()).await?;
        }
        // An unknown address is no network.
        if let Some(user) = user.filter(|_| !network.is_empty()) {
            let (now, most) = (self.clock.now(), bounds::MAX_KNOWN_NETWORKS);
            let recently = now.plus(-bounds::LAST_USED_SECONDS);
            sign_in_limits::record_network(&mut tx, user, network, now, recently, most).await?;
        }
        storage::commit(tx).await
    }

    /// Forgets the attempts at an account.
    ///
    /// # Errors
    /// The database.
    pub async fn clear(&self, conn: &mut Conn, username: &Username) -> Result<(), StorageError> {
        sign_in_limits::delete_all_of(conn, &self.account(username)).await
    }

    /// The accounts at which sign-ins were refused in the last 24 hours, the last one first; at most 100.
    ///
    /// # Errors
    /// The database.
    pub async fn list_locked(&self) -> Result<Vec<LockedUser>, StorageError> {
        let since = self.clock.now().plus(-bounds::LOCKOUT_SECONDS);
        let mut conn = self.db.acquire().await?;
        let found = sign_in_limits::list_locked(&mut conn, since, bounds::MAX_LOCKED_ACCOUNTS).await?;
        let account = |found: sign_in_limits::RefusedSignIns| LockedUser {
            user_id: found.user_id,
            username: found.username,
            at: found.last_time,
            locked_out: match found.new_networks_time {
                Some(at) if at > since => LockedOut::NewNetworks,
                Some(_) | None => LockedOut::Network,
            },
        };
        Ok(found.into_iter().map(account).collect())
    }

    /// The digest by which attempts at a name are stored: people also type passwords into that field.
    fn account(&self, username: &Username) -> Digest {
        self.digests.digest(&format!("sign-in {}", username.folded()))
    }
}

impl std::fmt::Debug for SignInLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignInLimits(…)")
    }
}
