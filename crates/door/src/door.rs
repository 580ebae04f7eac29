//! What all requests of a door share.

use std::sync::Arc;

use http::{HeaderValue, Uri};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::bearer::Bearer;
use crate::body_memory::BodyMemory;
use crate::ended::Ended;
use crate::error::DoorError;
use crate::extractor_list::ExtractorList;
use crate::http_client::http_client;
use crate::keymeter::{Keymeter, Unanswered};
use crate::refusals::DoorRefusal;
use crate::settings::{DoorOptions, DoorSettings};
use crate::settlements::Settlements;

/// A gateway of Keymeter.
#[derive(Debug)]
pub struct Door {
    pub options: DoorOptions,
    pub extractors: ExtractorList,
    pub settlements: Arc<Settlements>,
    pub ended: Ended,
    pub bodies: BodyMemory,
    pub(crate) keymeter: Arc<Keymeter>,
}

impl Door {
    /// # Errors
    /// See [`DoorError`].
    pub fn new(settings: &DoorSettings) -> Result<Self, DoorError> {
        check_url("url", &settings.url)?;
        let authorization = format!("Bearer {}", settings.credential.expose_secret());
        let mut authorization = HeaderValue::try_from(authorization).map_err(|_| DoorError::Credential)?;
        authorization.set_sensitive(true);
        let base = settings.url.to_string().trim_end_matches('/').to_owned();
        let keymeter = Arc::new(Keymeter::new(http_client(None)?, base, authorization));
        let settlements = Settlements::new(Arc::clone(&keymeter), settings.options.max_requests.get());
        Ok(Self {
            options: settings.options.clone(),
            extractors: ExtractorList::default(),
            settlements: Arc::new(settlements),
            ended: Ended::default(),
            bodies: BodyMemory::default(),
            keymeter,
        })
    }

    /// Begins to send settlements and to ask how answers are read, until the tasks are aborted.
    pub fn start(self: &Arc<Self>) -> [JoinHandle<()>; 2] {
        let asking = Arc::clone(self);
        [
            tokio::spawn(Arc::clone(&self.settlements).run()),
            tokio::spawn(async move { asking.extractors.run(&asking.keymeter).await }),
        ]
    }

    /// Whether a key may be used, for a model if one is named.
    ///
    /// # Errors
    /// It may not, or Keymeter does not answer.
    pub async fn verify(&self, bearer: &Bearer, model: Option<&str>) -> Result<(), DoorRefusal> {
        let mut body = json!({ "key": bearer.key, "quota": 0 });
        set(&mut body, "ip", bearer.address.map(|address| address.to_string()).as_deref());
        set(&mut body, "model", model);
        let answered = self.keymeter.call("verify", &body).await.map_err(|error| unavailable(&error))?;
        if answered.status != 200 {
            return Err(DoorRefusal::of_keymeter(&answered));
        }
        match answered.body.data["valid"].as_bool() {
            Some(true) => Ok(()),
            _ => Err(DoorRefusal::of_reason(answered.body.data["reason"].as_str().unwrap_or("invalid_key"))),
        }
    }
}

/// Checks the URL that a setting has.
///
/// # Errors
/// It is none that requests can be sent to.
pub fn check_url(name: &'static str, url: &Uri) -> Result<(), DoorError> {
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    // A name and a password would be in logs.
    let has_user = url.authority().is_some_and(|authority| authority.as_str().contains('@'));
    if is_http && !has_user && url.host().is_some() && url.query().is_none() {
        Ok(())
    } else {
        Err(DoorError::Url(name))
    }
}

/// Keymeter did not answer.
pub(crate) fn unavailable(error: &Unanswered) -> DoorRefusal {
    DoorRefusal::unavailable(&error.to_string())
}

/// Sets a member that has a value.
pub(crate) fn set(body: &mut Value, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}
