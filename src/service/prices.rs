//! The price list that is in force on this server, and the ids of the prices that charges were made at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Notify;

use crate::domain::clock::Clock;
use crate::domain::id::PriceId;
use crate::domain::prices::cost::GroupPrice;
use crate::domain::prices::list::PriceList;
use crate::domain::prices::version::PriceVersion;
use crate::domain::time::UnixTime;

use crate::service::base::Base;
use crate::service::price_file::{ReadPrices, read_prices};
use crate::storage::{Conn, Db, StorageError, price_versions, prices};

/// How often the list is read again.
const INTERVAL: Duration = Duration::from_mins(1);

/// Prices whose ids are remembered: those of many lists.
const MAX_IDS: usize = 100_000;

/// What is in force.
#[derive(Debug, Clone)]
pub struct PricesInForce {
    /// The version of the list; 0 if there is none.
    pub version: i64,
    pub read: Arc<ReadPrices>,
    /// Since when.
    pub since: UnixTime,
}

impl PricesInForce {
    /// No prices.
    fn none(since: UnixTime) -> Self {
        Self { version: 0, read: Arc::new(PriceList::default().into()), since }
    }
}

/// The price list. Its number is read each minute, when another server says that it changed, and by each batch.
pub struct Prices {
    db: Db,
    clock: Arc<dyn Clock>,
    in_force: RwLock<PricesInForce>,
    ids: Mutex<BTreeMap<GroupPrice, PriceId>>,
    read_now: Notify,
    /// Locked while a version is read: all who wait for it need the same one. The version that cannot be read here.
    loading: tokio::sync::Mutex<Option<i64>>,
}

impl Debug for Prices {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prices").finish_non_exhaustive()
    }
}

impl Prices {
    /// Without prices, until they are [loaded](Self::load).
    pub fn new(base: &Base) -> Self {
        let (db, clock) = (base.db.clone(), Arc::clone(&base.clock));
        let in_force = RwLock::new(PricesInForce::none(clock.now()));
        let (ids, read_now, loading) = (Mutex::default(), Notify::new(), tokio::sync::Mutex::default());
        Self { db, clock, in_force, ids, read_now, loading }
    }

    /// The list in force.
    pub fn read(&self) -> Arc<ReadPrices> {
        Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner).read)
    }

    /// The list, if it is that of this version; any without one.
    pub(super) fn read_of(&self, version: Option<i64>) -> Option<Arc<ReadPrices>> {
        let in_force = self.in_force.read().unwrap_or_else(PoisonError::into_inner);
        version.is_none_or(|version| version == in_force.version).then(|| Arc::clone(&in_force.read))
    }

    /// The list in force, and since when.
    pub fn in_force(&self) -> PricesInForce {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets [`run`](Self::run) read the list at once.
    pub fn read_now(&self) {
        self.read_now.notify_one();
    }

    /// Reads the list again each minute and when asked, for as long as the server runs.
    pub async fn run(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.read_now.notified() => {}
            }
            self.load().await;
        }
    }

    /// Reads the newest version of the list, and puts it in force. If that fails, the one before it stays, and batches
    /// that find another one are refused.
    pub async fn load(&self) {
        if let Err(error) = self.try_load().await {
            tracing::warn!(%error, "cannot read the price list in force; trying again");
        }
    }

    async fn try_load(&self) -> Result<(), StorageError> {
        let mut unreadable = self.loading.lock().await;
        let mut conn = self.db.acquire_reserved().await?;
        let version = price_versions::find_newest_number(&mut conn).await?;
        if version == self.in_force().version || *unreadable == Some(version) {
            return Ok(());
        }
        let found = price_versions::find(&mut conn, version).await?;
        drop(conn);
        *unreadable = None;
        let Some((version, texts)) = found else {
            // A database that was restored to a time before the first one.
            let none = PricesInForce::none(self.clock.now());
            *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = none;
            return Ok(());
        };
        let read = tokio::task::spawn_blocking(move || read_prices(&texts.file, &texts.data)).await;
        match read.map_err(|_| StorageError::GivenUp)? {
            Ok(read) => self.put_version(&version, read),
            // It was checked before it was stored: a newer program wrote it.
            Err(error) => {
                tracing::error!(%error, version = version.number, "the price list cannot be read");
                *unreadable = Some(version.number);
            }
        }
        Ok(())
    }

    /// Puts a version in force.
    fn put_version(&self, version: &PriceVersion, read: ReadPrices) {
        tracing::info!(version = version.number, left_out = read.left_out.len(), "a new price list is in force");
        let (read, since) = (Arc::new(read), version.created_time);
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) =
            PricesInForce { version: version.number, read, since };
    }

    /// The ids of prices, as of the transaction of `conn`. [`remember`](Self::remember) them when it is on disk.
    pub(super) async fn ids(
        &self,
        conn: &mut Conn,
        used: BTreeSet<GroupPrice>,
        now: UnixTime,
    ) -> Result<BTreeMap<GroupPrice, PriceId>, StorageError> {
        if used.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut found = BTreeMap::new();
        let mut missing = BTreeMap::new();
        {
            let known = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
            for price in used {
                match known.get(&price) {
                    Some(id) => drop(found.insert(price, *id)),
                    None => drop(missing.insert(price.content(), price)),
                }
            }
        }
        if !missing.is_empty() {
            let contents: Vec<String> = missing.keys().cloned().collect();
            for (content, id) in prices::find_or_add(conn, &contents, now).await? {
                found.extend(missing.remove(&content).map(|price| (price, id)));
            }
            if !missing.is_empty() {
                // Never a charge without the price that it was made at.
                return Err(StorageError::GivenUp);
            }
        }
        Ok(found)
    }

    /// Forgets the ids: the connection to the database was lost, and it may be another one now.
    pub fn forget_ids(&self) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Remembers ids that are on disk.
    pub(super) fn remember(&self, ids: &BTreeMap<GroupPrice, PriceId>) {
        if ids.is_empty() {
            return;
        }
        let mut known = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_IDS {
            known.clear();
        }
        known.extend(ids.iter().map(|(price, id)| (price.clone(), *id)));
    }
}
