//! `keymeter serve`: start, run, drain, stop.

use std::sync::Arc;
use std::time::Duration;

use keymeter_connections::{ConnectionLimits, Routers, Sharing};
use keymeter_postgres::data_dir::MASTER_KEY_FILE;
use sd_notify::NotifyState;
use tokio::net::TcpListener;
use zeroize::Zeroizing;

use super::assembly::App;
use super::database::{Database, Opened};
use super::error::StartError;
use super::start::{Started, start};
use super::stop_signals::StopSignals;
use crate::api::router::{router_when_full, router_while_starting};
use crate::config::Config;
use crate::domain::clock::SystemClock;
use crate::service::jobs::{JobRules, Jobs, expire_reservations, index_requests};
use crate::storage::OpenError;
use crate::version::VERSION;

/// Requests that come so early wait until the service has started: a proxy would take 503 for its answer. Later ones
/// are told that the service is not ready.
const QUIET: Duration = Duration::from_secs(5);

/// Runs the service until SIGTERM or Ctrl-C. `fill` writes into the opened database before the service begins.
///
/// # Errors
/// See [`StartError`]. After an error the start can be repeated.
pub async fn serve(
    config: Config,
    fill: impl AsyncFn(&Opened, &Config) -> Result<(), StartError>,
) -> Result<(), StartError> {
    // First: what is started below must be stopped too.
    let mut stop = StopSignals::catch();
    let listener = keymeter_connections::listen(&config.server.listen, Sharing::Alone)
        .await
        .map_err(|error| StartError::Listen(config.server.listen.clone(), error))?;
    let mut started = Box::pin(start(&config, &fill, &mut stop));
    let outcome = if let Ok(outcome) = tokio::time::timeout(QUIET, &mut started).await {
        outcome
    } else {
        let starting = Routers { router: router_while_starting(), when_full: router_while_starting() };
        keymeter_connections::serve_until(&listener, starting, connection_limits(&config), &mut started).await
    };
    drop(started);
    let Some(Started { app, database, password }) = outcome? else { return Ok(()) };
    let ended = run(app, &config, &database, listener, password, stop).await;
    database.stop().await;
    ended?;
    tracing::info!("stopped");
    Ok(())
}

async fn run(
    mut app: App,
    config: &Config,
    database: &Database,
    listener: TcpListener,
    generated_password: Option<Zeroizing<String>>,
    mut stop: StopSignals,
) -> Result<(), StartError> {
    let db = app.state.core.db.clone();
    print_start(&listener, config, database, app.state.dashboard.is_built(), generated_password.as_ref());
    notify_systemd(NotifyState::Ready);
    let background = app.background(config);
    let (refused_requests, old_key_uses) = (Arc::clone(&app.refused_requests), Arc::clone(&app.old_key_uses));
    let routers = Routers { router: app.router, when_full: router_when_full(Arc::clone(&app.state)) };
    let draining = Arc::clone(&app.state.draining);
    let (watch, servers) = (app.watch.take(), Arc::clone(&app.servers));
    let mut min_migration = None;
    drop(app.state);
    let stopped = async {
        let outdated = async {
            match watch {
                Some(watch) => Box::pin(watch.run()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.received() => {}
            needed = outdated => min_migration = Some(needed),
        }
        notify_systemd(NotifyState::Stopping);
    };
    keymeter_connections::serve(listener, routers, draining, connection_limits(config), stopped).await;
    for task in background {
        task.abort();
    }
    if let Err(error) = refused_requests.write().await {
        tracing::warn!(%error, "the last counts of refused requests are lost");
    }
    if let Err(error) = old_key_uses.write().await {
        tracing::warn!(%error, "the last uses of replaced keys are lost");
    }
    servers.leave().await;
    db.close().await;
    min_migration.map_or(Ok(()), |needed| Err(OpenError::NewerSchema(needed).into()))
}

/// Without systemd this does nothing.
fn notify_systemd(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "systemd could not be notified");
    }
}

/// The limits of connections, within the limit of open files, which is raised as far as needed.
pub fn connection_limits(config: &Config) -> ConnectionLimits {
    let settings = &config.server;
    let drain = Duration::from_secs(settings.drain_seconds);
    let limits = ConnectionLimits {
        connections: usize::try_from(settings.max_connections.get()).unwrap_or(usize::MAX),
        header: Duration::from_secs(settings.header_timeout_seconds.get().into()),
        answer: Duration::from_secs(settings.idle_timeout_seconds.get().into()),
        idle: Duration::from_secs(settings.idle_timeout_seconds.get().into()),
        // Requests that arrive during the delay need time to finish.
        stop_delay: Duration::from_secs(settings.stop_delay_seconds).min(drain / 2),
        drain,
    };
    limits.within_open_files(config.database.connections)
}

impl App {
    /// Starts the background tasks: jobs, and listening for changes on other servers.
    fn background(&mut self, config: &Config) -> Vec<tokio::task::JoinHandle<()>> {
        let (db, clock) = (self.state.core.db.clone(), Arc::clone(&self.state.core.clock));
        let max_clock_skew = i64::from(config.server.max_clock_skew_seconds);
        let rules = JobRules {
            retention_days: config.usage.retention_days,
            restore_days: config.tokens.restore_days,
            calendar: config.usage.calendar(),
            max_clock_skew,
        };
        let (limiter, metrics) = (Arc::clone(&self.state.core.rate_limiter), self.job_metrics.clone());
        let jobs = Jobs::new(db.clone(), Arc::new(SystemClock), limiter, rules, metrics.clone());
        let ledger = Arc::downgrade(&self.state.ledger);
        let expire = expire_reservations(db.clone(), clock, move || ledger.upgrade(), metrics.clone());
        let index = index_requests(db.clone(), config.usage.retention_days, metrics);
        let load_foreign_keys = Arc::clone(&self.foreign_keys).run_loader();
        let write_refused = Arc::clone(&self.refused_requests).run();
        let mut tasks = vec![
            tokio::spawn(Arc::clone(&self.clock_reader).run()),
            tokio::spawn(jobs.run()),
            tokio::spawn(expire),
            tokio::spawn(index),
            tokio::spawn(load_foreign_keys),
            tokio::spawn(write_refused),
            tokio::spawn(Arc::clone(&self.old_key_uses).run()),
            tokio::spawn(Arc::clone(&self.prices).run()),
            tokio::spawn(Arc::clone(&self.recent).run()),
            tokio::spawn(Arc::clone(&self.servers).run()),
            tokio::spawn(self.state.core.invalidator.clone().listen(db, Arc::clone(&self.clock_reader))),
        ];
        tasks.extend(self.repairer.take().map(|(repairer, queue)| tokio::spawn(repairer.run(queue))));
        tasks
    }
}

/// Prints where the service listens and where its data are. A generated password is printed here and nowhere else.
#[expect(clippy::print_stdout, reason = "shows the start to the operator")]
fn print_start(
    listener: &TcpListener,
    config: &Config,
    database: &Database,
    has_dashboard: bool,
    generated_password: Option<&Zeroizing<String>>,
) {
    let address = listener.local_addr().map_or_else(|_| config.server.listen.clone(), |address| address.to_string());
    println!("Keymeter {VERSION} listens on http://{address}");
    if let Some(password) = generated_password {
        println!("Sign in as `root` with the password {} (it is shown only this once)", **password);
    }
    if database.is_private() {
        println!("Data: {} (private; set DATABASE_URL to use a PostgreSQL of your own)", database.describe(config));
    }
    if !has_dashboard {
        println!(
            "Dashboard: not in this program (`make run` adds it, with Node.js 20 or newer); the API works without it"
        );
    }
    if config.secrets.master_key.is_none() {
        let file = config.data_dir.join(MASTER_KEY_FILE);
        println!("Master key: {} (keep a copy elsewhere; without it no key can be used)", file.display());
    }
}
