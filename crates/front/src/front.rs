//! A front: what its requests share, and how it starts and stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use http::{HeaderValue, StatusCode, Uri};
use keymeter_connections::{ConnectionLimits, Routers, Sharing};
use secrecy::ExposeSecret;

use crate::bodies::Bodies;
use crate::error::FrontError;
use crate::exchange;
use crate::extractor_list::ExtractorList;
use crate::http_client::http_client;
use crate::keymeter::Keymeter;
use crate::settings::{FrontOptions, FrontSettings};
use crate::settlements::Settlements;
use crate::upstream::Upstream;

/// For the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Until a client has read its answer and begins the next request: longer than any answer.
const IDLE: Duration = Duration::from_secs(4_000);

/// How long requests under way have when it stops.
const DRAIN: Duration = Duration::from_secs(600);

/// What all requests of a front share.
#[derive(Debug)]
pub struct Front {
    pub(crate) options: FrontOptions,
    pub(crate) keymeter: Arc<Keymeter>,
    pub(crate) upstream: Upstream,
    pub(crate) extractors: ExtractorList,
    pub(crate) settlements: Arc<Settlements>,
    pub(crate) bodies: Bodies,
}

impl Front {
    /// # Errors
    /// See [`FrontError`].
    pub fn new(settings: &FrontSettings) -> Result<Self, FrontError> {
        check_url("upstream", &settings.upstream)?;
        check_url("url", &settings.url)?;
        let authorization = format!("Bearer {}", settings.credential.expose_secret());
        let mut authorization =
            HeaderValue::try_from(authorization).map_err(|_| FrontError::Header("the credential".to_owned()))?;
        authorization.set_sensitive(true);
        let base = settings.url.to_string().trim_end_matches('/').to_owned();
        let keymeter = Arc::new(Keymeter::new(http_client(None)?, base, authorization));
        let settlements = Settlements::new(Arc::clone(&keymeter), settings.options.max_requests.get());
        Ok(Self {
            upstream: Upstream::new(settings)?,
            options: settings.options.clone(),
            keymeter,
            extractors: ExtractorList::default(),
            settlements: Arc::new(settlements),
            bodies: Bodies::default(),
        })
    }

    /// Serves until `stop` resolves; then what is under way is finished, and settled.
    ///
    /// # Errors
    /// See [`FrontError`].
    pub async fn run(
        settings: &FrontSettings,
        started: impl FnOnce(SocketAddr),
        stop: impl Future<Output = ()>,
    ) -> Result<(), FrontError> {
        let front = Arc::new(Self::new(settings)?);
        let failed = |error| FrontError::Listen(settings.listen.clone(), error);
        let listener = keymeter_connections::listen(&settings.listen, Sharing::WithOthers).await.map_err(failed)?;
        let senders = tokio::spawn(Arc::clone(&front.settlements).run());
        let asking = Arc::clone(&front);
        let asking = tokio::spawn(async move { asking.extractors.run(&asking.keymeter).await });
        started(listener.local_addr().map_err(failed)?);
        let limits = ConnectionLimits {
            connections: settings.options.max_requests.get().saturating_mul(2),
            header: HEADER_TIMEOUT,
            idle: IDLE,
            stop_delay: Duration::ZERO,
            drain: DRAIN,
        };
        // As many connections to the upstream, and some to Keymeter.
        let others = u32::try_from(settings.options.max_requests.get()).unwrap_or(u32::MAX).saturating_add(100);
        let routers = Routers { router: router(Arc::clone(&front)), when_full: router_when_full() };
        let draining = Arc::new(AtomicBool::new(false));
        keymeter_connections::serve(listener, routers, draining, limits.within_open_files(others), stop).await;
        front.drain().await;
        asking.abort();
        front.settlements.finish().await;
        senders.abort();
        Ok(())
    }

    /// Waits for answers whose clients have left.
    async fn drain(&self) {
        let until = tokio::time::Instant::now() + DRAIN;
        while tokio::time::Instant::now() < until {
            let (open, unsent) = self.settlements.counts();
            if open <= unsent {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn router(front: Arc<Front>) -> Router {
    Router::new().fallback(async move |ConnectInfo(peer): ConnectInfo<SocketAddr>, request: Request| {
        exchange::answer(Arc::clone(&front), peer, request).await
    })
}

fn router_when_full() -> Router {
    Router::new().fallback(async || StatusCode::SERVICE_UNAVAILABLE)
}

fn check_url(name: &'static str, url: &Uri) -> Result<(), FrontError> {
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    if is_http && url.host().is_some() && url.query().is_none() { Ok(()) } else { Err(FrontError::Url(name)) }
}
