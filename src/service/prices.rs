//! The price list that is in force on this server, and the ids of the prices that charges were made at.
//!
//! Once an administrator has set a list, its newest version is in force on all servers, and the prices of the settings
//! count no more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Notify;

use crate::domain::clock::Clock;
use crate::domain::group::Groups;
use crate::domain::id::PriceId;
use crate::domain::price_settings::PriceSettings;
use crate::domain::prices::cost::GroupPrice;
use crate::domain::prices::version::PriceVersion;
use crate::domain::time::UnixTime;
use prometheus_client::registry::Registry;

use crate::service::base::Base;
use crate::service::price_file::{ReadPrices, read_prices};
use crate::storage::{Conn, Db, StorageError, price_versions, prices};
use crate::telemetry::prices::PriceMetrics;

/// How often the list is read again.
const INTERVAL: Duration = Duration::from_mins(1);

/// Prices whose ids are remembered: those of many lists.
const MAX_IDS: usize = 100_000;

/// A file is read twice, this long apart: one that is being written is not the whole list.
const PAUSE: Duration = Duration::from_millis(300);

/// The file that has the price list.
#[derive(Debug, Clone)]
pub struct PriceFile {
    pub path: PathBuf,
    /// Finds the list in its text, `None` if it has none, or says in one line why it cannot be used.
    pub read: fn(&str, &Path) -> Result<Option<PriceSettings>, String>,
}

impl PriceFile {
    /// The text of the file as it stays, for a moment at least.
    async fn text(&self) -> Result<String, String> {
        let read = async || {
            let failed = |error| format!("cannot read {}: {error}", self.path.display());
            tokio::fs::read_to_string(&self.path).await.map_err(failed)
        };
        let mut text = read().await?;
        for _ in 0..10 {
            tokio::time::sleep(PAUSE).await;
            let again = read().await?;
            if again == text {
                return Ok(text);
            }
            text = again;
        }
        Err(format!("{} changes all the time", self.path.display()))
    }
}

/// What is in force.
#[derive(Debug, Clone)]
pub struct PricesInForce {
    /// The version of the list; 0 for that of the settings.
    pub version: i64,
    pub settings: Arc<PriceSettings>,
    pub read: Arc<ReadPrices>,
    /// Since when. Other servers may have had the list earlier; a restart does not matter.
    pub since: UnixTime,
    /// Why a newer list is not in force.
    pub refused: Option<String>,
}

impl PricesInForce {
    fn new(settings: PriceSettings, since: UnixTime) -> Self {
        Self { version: 0, read: Arc::new(settings.list().into()), settings: Arc::new(settings), since, refused: None }
    }
}

/// The price list. It is read again each minute and when asked, so a new model needs no restart; one that cannot be
/// used changes nothing.
pub struct Prices {
    db: Db,
    clock: Arc<dyn Clock>,
    groups: Groups,
    file: Option<PriceFile>,
    in_force: RwLock<PricesInForce>,
    ids: Mutex<BTreeMap<GroupPrice, PriceId>>,
    read_now: Notify,
    /// Locked while a version is read: all who wait for it need the same one. The version that cannot be read here.
    loading: tokio::sync::Mutex<Option<i64>>,
    metrics: PriceMetrics,
}

impl Debug for Prices {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prices").finish_non_exhaustive()
    }
}

impl Prices {
    /// With these prices in force, until `file` has others.
    pub fn new(
        base: &Base,
        (settings, groups): (PriceSettings, Groups),
        file: Option<PriceFile>,
        registry: &mut Registry,
    ) -> Self {
        let (db, clock) = (base.db.clone(), Arc::clone(&base.clock));
        let metrics = PriceMetrics::register(registry);
        let in_force = PricesInForce::new(settings, clock.now());
        let (in_force, ids) = (RwLock::new(in_force), Mutex::default());
        Self {
            db,
            clock,
            groups,
            file,
            in_force,
            ids,
            read_now: Notify::new(),
            loading: tokio::sync::Mutex::default(),
            metrics,
        }
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
            self.read_again().await;
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
            let settings = PriceSettings::clone(&self.in_force().settings);
            *self.in_force.write().unwrap_or_else(PoisonError::into_inner) =
                PricesInForce::new(settings, self.clock.now());
            return Ok(());
        };
        let read = tokio::task::spawn_blocking(move || read_prices(&texts.file, &texts.data)).await;
        match read.map_err(|_| StorageError::GivenUp)? {
            Ok(read) => self.put_version(&version, read),
            // It was checked before it was stored: a newer program wrote it.
            Err(error) => {
                tracing::error!(%error, version = version.number, "the price list cannot be read");
                *unreadable = Some(version.number);
                self.metrics.read(true);
                self.in_force.write().unwrap_or_else(PoisonError::into_inner).refused = Some(error.to_string());
            }
        }
        Ok(())
    }

    /// Puts a version in force.
    fn put_version(&self, version: &PriceVersion, read: ReadPrices) {
        let mut in_force = self.in_force.write().unwrap_or_else(PoisonError::into_inner);
        if in_force.version == 0 && in_force.settings.all().len() > 0 {
            tracing::warn!("the prices of the settings are not in force any more: an administrator has set a list");
        }
        tracing::info!(version = version.number, left_out = read.left_out.len(), "a new price list is in force");
        let settings = Arc::clone(&in_force.settings);
        let (read, since) = (Arc::new(read), version.created_time);
        *in_force = PricesInForce { version: version.number, settings, read, since, refused: None };
    }

    /// Reads the list and puts it in force if it can be used, and tells the other servers which list this one has.
    pub async fn read_again(&self) {
        self.load().await;
        if self.in_force().version > 0 || self.loading.lock().await.is_some() {
            return self.metrics.counted(1);
        }
        if let Some(file) = &self.file {
            let list = file.text().await.and_then(|text| (file.read)(&text, &file.path));
            self.put_in_force(list.and_then(|list| self.or_none(list)));
        }
        if let Err(error) = self.compare().await {
            tracing::debug!(%error, "the price lists of the servers could not be compared");
        }
    }

    /// A file without the section has no prices, but only an empty section takes away those that are in force.
    fn or_none(&self, list: Option<PriceSettings>) -> Result<PriceSettings, String> {
        let is_missing = list.is_none() && self.in_force().settings.all().len() > 0;
        let message = "the settings file has no section [prices] any more; to have no prices, leave it there empty";
        if is_missing { Err(message.to_owned()) } else { Ok(list.unwrap_or_default()) }
    }

    fn put_in_force(&self, read: Result<PriceSettings, String>) {
        let mut in_force = self.in_force.write().unwrap_or_else(PoisonError::into_inner);
        if in_force.version > 0 {
            // A list was set while the file was read.
            return;
        }
        self.metrics.read(read.is_err());
        match read {
            Ok(settings) => {
                if settings != *in_force.settings {
                    tracing::info!(prices = settings.all().len(), "a new price list is in force");
                    *in_force = PricesInForce::new(settings, self.clock.now());
                }
                in_force.refused = None;
            }
            Err(error) => {
                if in_force.refused.as_ref() != Some(&error) {
                    tracing::error!(%error, "the new price list cannot be used; the one before it stays in force");
                }
                in_force.refused = Some(error);
            }
        }
    }

    /// Says which list this server has, and counts how many the servers have.
    async fn compare(&self) -> Result<(), StorageError> {
        let settings = self.in_force().settings;
        let (digest, now) = (settings.digest(&self.groups), self.clock.now());
        let mut conn = self.db.acquire().await?;
        let since = prices::see_list(&mut conn, &digest, now).await?;
        let lists = prices::list_lists(&mut conn, now).await?.len();
        drop(conn);
        let mut in_force = self.in_force.write().unwrap_or_else(PoisonError::into_inner);
        if in_force.settings == settings {
            in_force.since = since;
        }
        drop(in_force);
        self.metrics.counted(lists);
        Ok(())
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
