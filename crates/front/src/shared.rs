//! What all requests of a front share.

use std::sync::{Arc, Mutex, PoisonError};

use keymeter_door::door::{Door, check_url};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::error::FrontError;
use crate::settings::{FrontSettings, OnLeave};
use crate::upstream::Upstream;

/// Answers that are read at once although their clients have left.
const MAX_LEFT: usize = 1_000;

/// What all requests of a front share.
#[derive(Debug)]
pub struct Shared {
    pub door: Arc<Door>,
    pub on_leave: OnLeave,
    pub upstream: Upstream,
    /// Places for answers that are read although their clients have left.
    pub left: Arc<Semaphore>,
    /// The requests that were let through.
    tasks: Mutex<JoinSet<()>>,
}

impl Shared {
    /// # Errors
    /// See [`FrontError`].
    pub fn new(settings: &FrontSettings) -> Result<Self, FrontError> {
        check_url("upstream", &settings.upstream)?;
        Ok(Self {
            door: Arc::new(Door::new(&settings.door)?),
            on_leave: settings.options.on_leave,
            upstream: Upstream::new(settings)?,
            left: Arc::new(Semaphore::new(MAX_LEFT)),
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
