//! How a front starts, serves and stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use http::StatusCode;
use keymeter_connections::{ConnectionLimits, Routers, Sharing};
use tokio::net::TcpListener;

use crate::error::FrontError;
use crate::exchange;
use crate::operation;
use crate::settings::FrontSettings;
use crate::shared::Shared;

/// For the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Until a client has read its answer: longer than any.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(4_000);

/// From an answer to the next request. Longer than proxies in front keep connections.
const IDLE: Duration = Duration::from_secs(75);

/// How long requests under way have when it stops.
const DRAIN: Duration = Duration::from_mins(10);

/// Serves until `stop` resolves; then what is under way is finished, and settled. `started` gets the address on which
/// it listens.
///
/// # Errors
/// See [`FrontError`].
pub async fn run(
    settings: &FrontSettings,
    started: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), FrontError> {
    let shared = Arc::new(Shared::new(settings)?);
    let door = Arc::clone(&shared.door);
    let listener = listen(&settings.listen).await?;
    let address = listener.local_addr().map_err(|error| FrontError::Listen(settings.listen.clone(), error))?;
    let mut tasks = Vec::from(door.start());
    let draining = Arc::new(AtomicBool::new(false));
    if let Some(address) = &settings.operation_listen {
        let router = operation::router(Arc::clone(&door), Arc::clone(&draining));
        let served = axum::serve(listen(address).await?, router);
        tasks.push(tokio::spawn(async move { drop(served.await) }));
    }
    started(address);
    let max_requests = door.options.max_requests.get();
    let limits = ConnectionLimits {
        connections: max_requests.saturating_mul(2),
        header: HEADER_TIMEOUT,
        answer: ANSWER_TIMEOUT,
        idle: IDLE,
        stop_delay: Duration::ZERO,
        drain: DRAIN,
    };
    // As many connections to the upstream, and some to Keymeter.
    let others = u32::try_from(max_requests).unwrap_or(u32::MAX).saturating_add(100);
    let routers = Routers { router: router(Arc::clone(&shared)), when_full: router_when_full() };
    keymeter_connections::serve(listener, routers, draining, limits.within_open_files(others), stop).await;
    // Of clients that have left.
    door.settlements.wait_for_requests(DRAIN).await;
    shared.cut_requests().await;
    door.settlements.finish().await;
    for task in tasks {
        task.abort();
    }
    Ok(())
}

async fn listen(address: &str) -> Result<TcpListener, FrontError> {
    let listening = keymeter_connections::listen(address, Sharing::WithOthers).await;
    listening.map_err(|error| FrontError::Listen(address.to_owned(), error))
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(async move |ConnectInfo(peer): ConnectInfo<SocketAddr>, request: Request| {
        exchange::answer(Arc::clone(&shared), peer, request).await
    })
}

fn router_when_full() -> Router {
    Router::new().fallback(async || StatusCode::SERVICE_UNAVAILABLE)
}
