//! What all requests of a front share.

use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderValue, Uri};
use secrecy::ExposeSecret;
use tokio::task::JoinSet;

use crate::bodies::Bodies;
use crate::ended::Ended;
use crate::error::FrontError;
use crate::extractor_list::ExtractorList;
use crate::http_client::http_client;
use crate::keymeter::Keymeter;
use crate::settings::{FrontOptions, FrontSettings};
use crate::settlements::Settlements;
use crate::upstream::Upstream;

/// What all requests of a front share.
#[derive(Debug)]
pub struct Door {
    pub options: FrontOptions,
    pub keymeter: Arc<Keymeter>,
    pub upstream: Upstream,
    pub extractors: ExtractorList,
    pub settlements: Arc<Settlements>,
    pub bodies: Bodies,
    pub ended: Ended,
    /// The requests that were let through.
    tasks: Mutex<JoinSet<()>>,
}

impl Door {
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
            ended: Ended::default(),
            tasks: Mutex::default(),
        })
    }

    /// Runs a request that was let through, whether its client waits for it or not.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Cuts the requests that are still under way: each settles its hold.
    pub async fn cut_requests(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }
}

fn check_url(name: &'static str, url: &Uri) -> Result<(), FrontError> {
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    // A name and a password would be in logs.
    let has_user = url.authority().is_some_and(|authority| authority.as_str().contains('@'));
    if is_http && !has_user && url.host().is_some() && url.query().is_none() {
        Ok(())
    } else {
        Err(FrontError::Url(name))
    }
}
