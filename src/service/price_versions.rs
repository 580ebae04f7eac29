//! Price lists that administrators set: each a version, checked before it is in force.

use std::sync::Arc;
use std::time::Duration;

use super::actors::{self, ActorError};
use super::price_file::{ExtractorTexts, PricesInvalid, ReadPrices, extractor_texts, file_of, read_prices};
use super::prices::Prices;
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::caller::Caller;
use crate::domain::expected_version::{ExpectedVersion, VersionChanged};
use crate::domain::id::UserId;
use crate::domain::price_settings::PriceSettings;
use crate::domain::prices::list_changes::RateChange;
use crate::domain::prices::version::{PriceTexts, PriceVersion};
use crate::domain::time::DAY;
use crate::service::core::Core;
use crate::service::published_prices::LeftOut;
use crate::storage::{StorageError, audit, price_versions};

/// How many models may be compared with a new list.
const MAX_CHARGED_MODELS: i64 = 10_000;

/// How far back a charge makes a model one that must not go unnoticed.
const CHARGED_SECONDS: i64 = 30 * DAY;

/// How many of what needs acceptance are named: a list has thousands of models.
const NAMED: usize = 20;

/// How often a list waits, each time for a moment, for batches that hold wallets.
const TRIES: usize = 20;

/// In between, batches go on.
const PAUSE: Duration = Duration::from_millis(300);

/// A list to set. What is left out stays as it is.
#[derive(Debug, Default)]
pub struct PriceChange {
    pub file: Option<String>,
    pub data: Option<String>,
    /// The version whose list is set again.
    pub version: Option<i64>,
    pub note: String,
    /// It may move rates far, and take prices from models that are used.
    pub is_accepted: bool,
}

/// Why a list was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetPricesError {
    #[error(transparent)]
    Invalid(#[from] PricesInvalid),
    #[error("this list needs to be accepted (`accept`): {}", first(.0))]
    NeedsAcceptance(Vec<String>),
    #[error("another list was set since you read it; read it again")]
    Changed(VersionChanged),
    #[error("there is no such version; the last 100 are kept")]
    NoSuchVersion,
    #[error(transparent)]
    Actor(#[from] ActorError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The first of these sentences, and how many more there are.
fn first(surprises: &[String]) -> String {
    let named = surprises.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
    match surprises.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}

/// A version, its texts, and what of its data has no price.
#[derive(Debug)]
pub struct ShownPrices {
    pub version: PriceVersion,
    pub texts: PriceTexts,
    pub left_out: Vec<LeftOut>,
}

/// A list that may be set, and what it would change.
#[derive(Debug)]
pub struct ComparedPrices {
    /// The number of the version in force.
    pub former: i64,
    pub texts: PriceTexts,
    pub left_out: Vec<LeftOut>,
    pub changes: Vec<RateChange>,
    /// Why it would need to be accepted.
    pub surprises: Vec<String>,
}

/// The service of price lists.
#[derive(Debug)]
pub struct PriceVersions {
    core: Core,
    prices: Arc<Prices>,
}

impl PriceVersions {
    pub const fn new(core: Core, prices: Arc<Prices>) -> Self {
        Self { core, prices }
    }

    /// The version with this number, or the newest one. `None` if there is none.
    ///
    /// # Errors
    /// The database.
    pub async fn show(&self, number: Option<i64>) -> Result<Option<ShownPrices>, SetPricesError> {
        let mut conn = self.core.db.acquire().await?;
        let number = match number {
            Some(number) => number,
            None => price_versions::find_newest_number(&mut conn).await?,
        };
        let found = price_versions::find(&mut conn, number).await?;
        drop(conn);
        let Some((version, texts)) = found else {
            return Ok(None);
        };
        let (texts, read) = read(texts).await?;
        Ok(Some(ShownPrices { version, texts, left_out: read.left_out }))
    }

    /// The extractors of the newest version, and its number; 0 if there is none.
    ///
    /// # Errors
    /// The database.
    pub async fn extractors(&self) -> Result<(i64, ExtractorTexts), SetPricesError> {
        let mut conn = self.core.db.acquire().await?;
        let number = price_versions::find_newest_number(&mut conn).await?;
        let texts = match price_versions::find(&mut conn, number).await? {
            Some((_, texts)) => texts,
            None => PriceTexts { file: "{}".to_owned(), data: "[]".to_owned() },
        };
        drop(conn);
        let read = tokio::task::spawn_blocking(move || extractor_texts(&texts.file, &texts.data)).await;
        let texts = read.map_err(|_| StorageError::GivenUp)?.map_err(|_| StorageError::GivenUp)?;
        Ok((number, texts))
    }

    /// The versions that are kept, newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self) -> Result<Vec<PriceVersion>, SetPricesError> {
        Ok(price_versions::list(&mut *self.core.db.acquire().await?).await?)
    }

    /// Sets a list. When it returns, no charge goes by a former one any more.
    ///
    /// # Errors
    /// See [`SetPricesError`].
    pub async fn set(
        &self,
        caller: &Caller,
        change: PriceChange,
        expected: ExpectedVersion,
    ) -> Result<ShownPrices, SetPricesError> {
        let ComparedPrices { former, texts, left_out, surprises, .. } = self.compare(&change).await?;
        expected.check(former).map_err(SetPricesError::Changed)?;
        if !change.is_accepted && !surprises.is_empty() {
            return Err(SetPricesError::NeedsAcceptance(surprises));
        }
        let (number, created_time) = (former + 1, self.core.clock.now());
        let version = PriceVersion { number, created_time, created_by: caller.user.id, note: change.note };
        for left in (0..TRIES).rev() {
            match self.insert(caller, &version, &texts).await {
                Err(SetPricesError::Storage(StorageError::Blocked(_))) if left > 0 => tokio::time::sleep(PAUSE).await,
                set => {
                    set?;
                    break;
                }
            }
        }
        Ok(ShownPrices { version, texts, left_out })
    }

    /// Compares a list with the one in force, and sets nothing.
    ///
    /// # Errors
    /// See [`SetPricesError`].
    pub async fn compare(&self, change: &PriceChange) -> Result<ComparedPrices, SetPricesError> {
        let mut conn = self.core.db.acquire().await?;
        let former = price_versions::find_newest_number(&mut conn).await?;
        let before = price_versions::find(&mut conn, change.version.unwrap_or(former)).await?;
        let since = self.core.clock.now().plus(-CHARGED_SECONDS).day_in(self.core.calendar.zone);
        let charged = price_versions::list_charged_models(&mut conn, since, MAX_CHARGED_MODELS).await?;
        drop(conn);
        let (file, data) = match before {
            Some((_, texts)) => (texts.file, texts.data),
            None if change.version.is_some() => return Err(SetPricesError::NoSuchVersion),
            None => ("{}".to_owned(), "[]".to_owned()),
        };
        let or = |text: &Option<String>, other| text.clone().unwrap_or(other);
        let texts = PriceTexts { file: or(&change.file, file), data: or(&change.data, data) };
        self.prices.load().await;
        let in_force = self.prices.read_of(Some(former)).ok_or(StorageError::OtherPrices)?;
        let compared = tokio::task::spawn_blocking(move || {
            let ReadPrices { list, left_out, .. } = read_prices(&texts.file, &texts.data)?;
            let (changes, surprises) = (in_force.list.rate_changes(&list), in_force.list.surprises(&list, &charged));
            Ok(ComparedPrices { former, texts, left_out, changes, surprises })
        });
        compared.await.map_err(|_| StorageError::GivenUp)?
    }

    /// Makes the section `[prices]` of the settings the first version, if there is none yet. Later it counts no more.
    ///
    /// # Errors
    /// The database, or a price that is too long to be stored.
    pub async fn adopt(&self, settings: &PriceSettings) -> Result<(), SetPricesError> {
        if settings.all().len() == 0 {
            return Ok(());
        }
        let texts = PriceTexts { file: file_of(settings), data: "[]".to_owned() };
        read_prices(&texts.file, &texts.data)?;
        for left in (0..TRIES).rev() {
            match self.insert_first(&texts).await {
                Err(StorageError::Blocked(_)) if left > 0 => tokio::time::sleep(PAUSE).await,
                Err(error) => return Err(error.into()),
                Ok(true) => {
                    tracing::warn!("the section [prices] of the settings is the first price list now");
                    break;
                }
                Ok(false) => {
                    tracing::warn!("the section [prices] of the settings counts no more: there is a price list");
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns true if there was no list.
    async fn insert_first(&self, texts: &PriceTexts) -> Result<bool, StorageError> {
        let mut tx = self.core.db.begin().await?;
        if price_versions::find_newest_number(&mut tx).await? > 0 {
            return Ok(false);
        }
        price_versions::lock(&mut tx).await?;
        if price_versions::find_newest_number(&mut tx).await? > 0 {
            return Ok(false);
        }
        let note = "from the section [prices] of the settings".to_owned();
        let version = PriceVersion { number: 1, created_time: self.core.clock.now(), created_by: UserId::new(0), note };
        price_versions::insert(&mut tx, &version, texts).await?;
        audit::insert(&mut tx, set_entry(Actor::Service, &version)).await?;
        self.core.invalidator.commit_prices(tx).await?;
        Ok(true)
    }

    async fn insert(&self, caller: &Caller, version: &PriceVersion, texts: &PriceTexts) -> Result<(), SetPricesError> {
        let mut tx = self.core.db.begin().await?;
        price_versions::lock(&mut tx).await?;
        actors::lock_actor(&mut tx, Actor::from(caller)).await?;
        let number = price_versions::find_newest_number(&mut tx).await?;
        if number + 1 != version.number {
            return Err(SetPricesError::Changed(VersionChanged { version: number }));
        }
        price_versions::insert(&mut tx, version, texts).await?;
        audit::insert(&mut tx, set_entry(Actor::from(caller), version)).await?;
        self.core.invalidator.commit_prices(tx).await?;
        Ok(())
    }
}

fn set_entry(actor: Actor<'_>, version: &PriceVersion) -> AuditEntry {
    AuditEntry::new(version.created_time, actor, Action::PricesSet, Subject::prices())
        .with([("version", version.number.to_string()), ("note", version.note.clone())])
}

/// Reads a list where it delays no request.
async fn read(texts: PriceTexts) -> Result<(PriceTexts, ReadPrices), SetPricesError> {
    let read = tokio::task::spawn_blocking(move || read_prices(&texts.file, &texts.data).map(|read| (texts, read)));
    Ok(read.await.map_err(|_| StorageError::GivenUp)??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_acceptance_is_named_as_far_as_one_can_read() {
        let all: Vec<String> = (0..22).map(|number| number.to_string()).collect();
        let message = |count| SetPricesError::NeedsAcceptance(all[..count].to_vec()).to_string();
        assert!(message(2).ends_with(": 0; 1"));
        assert!(message(20).ends_with("; 18; 19"));
        assert!(message(22).ends_with("; 18; 19; and 2 more"));
    }
}
