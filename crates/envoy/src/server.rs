//! How a processor starts, serves and stops.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use keymeter_connections::Sharing;
use keymeter_door::door::Door;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::server::NamedService;
use tonic::transport::Server;
use tonic::transport::server::{Connected, TcpIncoming};
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::error::EnvoyError;
use crate::processor::Processor;
use crate::settings::EnvoySettings;

/// What is before the path of a Unix socket.
const UNIX: &str = "unix:";

/// How long requests under way have to finish.
const DRAIN: Duration = Duration::from_mins(10);

/// How long requests that are cut may take to settle: they do at once.
const CUT: Duration = Duration::from_secs(5);

/// A proxy that vanished is noticed after both.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes that a proxy may send before they are taken: of one request, and of all on a connection.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;

/// Serves until `stop` resolves; then what is under way is finished, and settled, or cut as soon as `hurry` resolves.
/// `started` gets the address on which it listens.
///
/// # Errors
/// See [`EnvoyError`].
pub async fn run(
    settings: &EnvoySettings,
    started: impl FnOnce(&str),
    stop: impl Future<Output = ()>,
    hurry: impl Future<Output = ()>,
) -> Result<(), EnvoyError> {
    let door = Arc::new(Door::new(&settings.door)?);
    let failed = |error| EnvoyError::Listen(settings.listen.clone(), error);
    if let Some(path) = settings.listen.strip_prefix(UNIX) {
        remove_socket(Path::new(path)).map_err(failed)?;
        let listener = UnixListener::bind(path).map_err(failed)?;
        started(&settings.listen);
        return serve(&door, settings, UnixListenerStream::new(listener), (stop, hurry)).await;
    }
    let listener = keymeter_connections::listen(&settings.listen, Sharing::WithOthers).await.map_err(failed)?;
    started(&listener.local_addr().map_err(failed)?.to_string());
    serve(&door, settings, TcpIncoming::from(listener).with_nodelay(Some(true)), (stop, hurry)).await
}

/// Removes the socket that is at this path, and no other file. The connections of a program that listens there go on,
/// so a new one starts before the old one ends.
fn remove_socket(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::FileTypeExt;

    match std::fs::symlink_metadata(path) {
        Ok(file) if file.file_type().is_socket() => std::fs::remove_file(path),
        // Binding says what is wrong with another file.
        _ => Ok(()),
    }
}

async fn serve<I, C>(
    door: &Arc<Door>,
    settings: &EnvoySettings,
    incoming: I,
    (stop, hurry): (impl Future<Output = ()>, impl Future<Output = ()>),
) -> Result<(), EnvoyError>
where
    I: Stream<Item = std::io::Result<C>> + Send,
    C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let tasks = door.start();
    let (cut, is_cut) = watch::channel(false);
    let (close, closed) = watch::channel(false);
    let processor = Processor {
        door: Arc::clone(door),
        on_silence: settings.on_silence,
        pass_headers: settings.pass_headers.clone().into(),
        cut: is_cut,
    };
    let (health, health_service) = tonic_health::server::health_reporter();
    let mut builder = Server::builder()
        .max_concurrent_streams(u32::MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keepalive_interval(Some(PING_INTERVAL))
        .http2_keepalive_timeout(Some(PING_TIMEOUT));
    let served = builder.add_service(health_service).add_service(processor).serve_with_incoming_shutdown(
        incoming.boxed(),
        async move {
            let _ = closed.clone().wait_for(|is_closed| *is_closed).await;
        },
    );
    let reported = report(door, &health, stop);
    let stopping = async {
        reported.await;
        tracing::info!("stopping: not serving; accepting new requests during the delay");
        sleep(settings.stop_delay).await;
        close.send_replace(true);
        tracing::info!("stopping: finishing requests in progress");
        tokio::select! {
            () = sleep(DRAIN) => {}
            () = hurry => {}
        }
    };
    let outcome = tokio::select! {
        served = served => served,
        () = stopping => {
            tracing::warn!("some requests did not finish in time and are cut");
            Ok(())
        }
    };
    cut.send_replace(true);
    door.settlements.wait_for_requests(CUT).await;
    door.settlements.finish().await;
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(outcome?)
}

/// Tells proxies that this program serves, from when it knows how answers are read until `stop` resolves.
async fn report(door: &Door, health: &HealthReporter, stop: impl Future<Output = ()>) {
    let tell = async |status| {
        for service in ["", Processor::NAME] {
            health.set_service_status(service, status).await;
        }
    };
    tell(ServingStatus::NotServing).await;
    let known = async {
        while door.extractors.newest().is_none() {
            sleep(Duration::from_millis(20)).await;
        }
        tell(ServingStatus::Serving).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = known => {}
        () = stop => {}
    }
    tell(ServingStatus::NotServing).await;
}
