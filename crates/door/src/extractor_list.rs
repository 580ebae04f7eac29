//! How answers are read, as Keymeter says it.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::HeaderValue;
use keymeter_meter::extractors::Extractors;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::keymeter::Keymeter;

/// How often they are asked for.
const INTERVAL: Duration = Duration::from_mins(1);

/// While there are none.
const FIRST_INTERVAL: Duration = Duration::from_secs(1);

/// The extractors that Keymeter has; none until it has answered once. Old ones go on.
#[derive(Debug, Default)]
pub struct ExtractorList {
    newest: RwLock<Option<Arc<Extractors>>>,
}

#[derive(Deserialize)]
struct Envelope<'b> {
    #[serde(borrow)]
    data: Texts<'b>,
}

#[derive(Deserialize)]
struct Texts<'b> {
    #[serde(borrow)]
    own: &'b RawValue,
    #[serde(borrow)]
    known: &'b RawValue,
    #[serde(borrow)]
    published: &'b RawValue,
}

impl ExtractorList {
    pub fn newest(&self) -> Option<Arc<Extractors>> {
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks for them each minute.
    pub async fn run(&self, keymeter: &Keymeter) {
        let mut tag: Option<HeaderValue> = None;
        loop {
            match keymeter.extractors(tag.as_ref()).await {
                Ok(None) => {}
                Ok(Some((text, newest))) => match read(&text) {
                    Ok(extractors) => {
                        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(extractors));
                        tag = newest;
                        tracing::info!("it is known how answers are read");
                    }
                    Err(error) => tracing::error!(%error, "the extractors of Keymeter cannot be read; old ones go on"),
                },
                Err(error) => tracing::warn!(error, "Keymeter does not tell how answers are read; trying again"),
            }
            let has_some = self.newest().is_some();
            tokio::time::sleep(if has_some { INTERVAL } else { FIRST_INTERVAL }).await;
        }
    }
}

fn read(text: &[u8]) -> serde_json::Result<Extractors> {
    let Envelope { data: Texts { own, known, published } } = serde_json::from_slice(text)?;
    let mut extractors = Extractors::default();
    extractors.add_own(own.get(), |_| true)?;
    extractors.add_own(known.get(), |_| true)?;
    extractors.add_published(published.get(), |_| true)?;
    for left_out in &extractors.left_out {
        tracing::warn!(
            provider = left_out.provider,
            api_flavor = left_out.api_flavor,
            reason = left_out.reason,
            "answers of this kind are not read"
        );
    }
    Ok(extractors)
}
