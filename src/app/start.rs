//! The start of a server: waits for its database, and puts the service together on it.

use std::time::{Duration, Instant};

use keymeter_postgres::Use;
use zeroize::Zeroizing;

use super::assembly::App;
use super::database::{Database, Opened, open};
use super::error::StartError;
use super::stop_signals::StopSignals;
use crate::config::Config;
use crate::service;
use crate::service::passwords::HashCost;
use crate::service::rng::Rng;
use crate::telemetry::seldom::Seldom;

/// How long to wait before the next try.
const PAUSE: Duration = Duration::from_millis(500);

/// What a start has made.
pub(super) struct Started {
    pub(super) app: App,
    pub(super) database: Database,
    /// The password of root, if it was generated.
    pub(super) password: Option<Zeroizing<String>>,
}

/// Starts the database and puts the service together on it. `None` if a signal ends the start.
///
/// # Errors
/// See [`StartError`]. Nothing runs then.
pub(super) async fn start(
    config: &Config,
    fill: &impl AsyncFn(&Opened, &Config) -> Result<(), StartError>,
    stop: &mut StopSignals,
) -> Result<Option<Started>, StartError> {
    let database = tokio::select! {
        database = Database::start(config, Use::Serve) => database?,
        () = stop.received() => return Ok(None),
    };
    let prepared = tokio::select! {
        prepared = prepare(config, fill, &database) => prepared.map(Some),
        () = stop.received() => Ok(None),
    };
    match prepared {
        Ok(Some((app, password))) => Ok(Some(Started { app, database, password })),
        ended => {
            database.stop().await;
            ended.map(|_| None)
        }
    }
}

/// The service on an open database, and the password of root if it was generated. Waits up to `database.wait_seconds`
/// for a database that does not answer or takes no writes; a start that has nothing to change needs none.
///
/// # Errors
/// See [`StartError`].
async fn prepare(
    config: &Config,
    fill: &impl AsyncFn(&Opened, &Config) -> Result<(), StartError>,
    database: &Database,
) -> Result<(App, Option<Zeroizing<String>>), StartError> {
    let started = Instant::now();
    let end = Duration::from_secs(config.database.wait_seconds);
    let mut line = Seldom::default();
    loop {
        match try_prepare(config, fill, database).await {
            Err(error) if error.may_pass() && started.elapsed() < end => {
                if line.is_due() {
                    tracing::warn!(%error, waited_seconds = started.elapsed().as_secs(), "waiting for the database");
                }
                tokio::time::sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

async fn try_prepare(
    config: &Config,
    fill: &impl AsyncFn(&Opened, &Config) -> Result<(), StartError>,
    database: &Database,
) -> Result<(App, Option<Zeroizing<String>>), StartError> {
    let opened = open(config, database).await?;
    let db = opened.db.clone();
    fill(&opened, config).await?;
    let clock = service::clock::start(&db).await?;
    let app = App::assemble(opened, config, clock, Rng::system(), HashCost::STRONG)?;
    let generated_password =
        app.state.users.ensure_root(config.root.password.as_ref()).await.map_err(StartError::Root)?;
    app.foreign_keys.load().await?;
    app.state.price_versions.adopt(&config.prices).await.map_err(StartError::Prices)?;
    app.prices.load().await;
    Ok((app, generated_password))
}
