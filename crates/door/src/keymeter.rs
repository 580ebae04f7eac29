//! The calls of a gateway to Keymeter.

use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::http_client::HttpClient;

/// For one answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// For the extractors of all providers, which are long; no request waits for them.
const EXTRACTORS_TIMEOUT: Duration = Duration::from_secs(10);

const MAX_ANSWER: usize = 1024 * 1024;
const MAX_EXTRACTORS: usize = 32 * 1024 * 1024;

/// Keymeter, as a gateway calls it.
#[derive(Debug)]
pub struct Keymeter {
    client: HttpClient,
    /// Without a slash at its end.
    base: String,
    authorization: HeaderValue,
}

/// An answer of Keymeter, whether it agreed or refused.
#[derive(Debug, Clone)]
pub struct Answered {
    pub status: u16,
    pub body: AnswerBody,
    /// In seconds.
    pub retry_after: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct AnswerBody {
    #[serde(rename = "success")]
    _success: bool,
    #[serde(default)]
    pub data: Value,
    #[serde(default)]
    pub error: String,
    #[serde(default)]
    pub message: String,
}

/// Keymeter did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    #[error("it cannot be reached")]
    NotSent,
    /// It may have done what it was asked for.
    #[error("{0}")]
    Lost(String),
}

impl Keymeter {
    /// Keymeter at a URL, with a credential that is a header value.
    pub const fn new(client: HttpClient, base: String, authorization: HeaderValue) -> Self {
        Self { client, base, authorization }
    }

    /// Calls `/api/gateway/{name}`. Each call can be repeated: it has a `request_id` or a `reservation_id`.
    ///
    /// # Errors
    /// See [`Unanswered`].
    pub async fn call(&self, name: &str, body: &Value) -> Result<Answered, Unanswered> {
        let body = Bytes::from(body.to_string());
        match tokio::time::timeout(TIMEOUT, self.call_twice(name, &body)).await {
            Ok(answered) => answered,
            Err(_) => Err(Unanswered::Lost("it did not answer in time".to_owned())),
        }
    }

    /// A connection of the pool may have been closed meanwhile.
    async fn call_twice(&self, name: &str, body: &Bytes) -> Result<Answered, Unanswered> {
        match self.call_once(name, body.clone()).await {
            Err(Unanswered::Lost(_)) => match self.call_once(name, body.clone()).await {
                Err(Unanswered::NotSent) => Err(Unanswered::Lost("it cannot be reached any more".to_owned())),
                answered => answered,
            },
            answered => answered,
        }
    }

    async fn call_once(&self, name: &str, body: Bytes) -> Result<Answered, Unanswered> {
        let request = self.request(Method::POST, name).header(CONTENT_TYPE, "application/json");
        let lost = |error: &dyn std::fmt::Display| Unanswered::Lost(error.to_string());
        let request = request.body(Full::new(body)).map_err(|error| lost(&error))?;
        let answer = self
            .client
            .request(request)
            .await
            .map_err(|error| if error.is_connect() { Unanswered::NotSent } else { lost(&error) })?;
        let (head, body) = answer.into_parts();
        let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| lost(&error))?.to_bytes();
        let body = serde_json::from_slice(&body).map_err(|_| lost(&"it is not Keymeter that answers"))?;
        Ok(Answered { status: head.status.as_u16(), body, retry_after })
    }

    /// How answers are read, with a tag, if it is not that of `known`.
    ///
    /// # Errors
    /// It did not answer, or answers otherwise.
    pub async fn extractors(
        &self,
        known: Option<&HeaderValue>,
    ) -> Result<Option<(Bytes, Option<HeaderValue>)>, String> {
        let request = self.request(Method::GET, "prices/extractors");
        let request = known.into_iter().fold(request, |request, tag| request.header(IF_NONE_MATCH, tag));
        let request = request.body(Full::default()).map_err(|error| error.to_string())?;
        let read = async {
            let (head, body) = self.client.request(request).await.map_err(|error| error.to_string())?.into_parts();
            if head.status == StatusCode::NOT_MODIFIED {
                return Ok(None);
            }
            let body =
                Limited::new(body, MAX_EXTRACTORS).collect().await.map_err(|error| error.to_string())?.to_bytes();
            match head.status {
                StatusCode::OK => Ok(Some((body, head.headers.get(ETAG).cloned()))),
                status => Err(format!("it answers {status}")),
            }
        };
        tokio::time::timeout(EXTRACTORS_TIMEOUT, read).await.map_err(|_| "it did not answer in time".to_owned())?
    }

    fn request(&self, method: Method, name: &str) -> http::request::Builder {
        let uri = format!("{}/api/gateway/{name}", self.base).parse::<Uri>().unwrap_or_default();
        Request::builder().method(method).uri(uri).header(AUTHORIZATION, &self.authorization)
    }
}
