//! The API in front of which this program is.

use std::time::Duration;

use axum::body::Bytes;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use keymeter_door::http_client::{HttpClient, http_client};
use keymeter_meter::route::Route;
use secrecy::ExposeSecret;

use crate::error::FrontError;
use crate::settings::{FrontSettings, KeyHeader};

/// What its paths begin with for clients.
const VERSION: &str = "/v1";

/// An upstream, and what its requests have.
#[derive(Debug)]
pub struct Upstream {
    client: HttpClient,
    /// Without a slash at its end.
    base: String,
    headers: HeaderMap,
    key: Option<Key>,
    read_timeout: Duration,
}

#[derive(Debug)]
struct Key {
    bearer: HeaderValue,
    plain: HeaderValue,
    on_messages: KeyHeader,
}

/// The upstream did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// It was not reached, or broke before its status.
    Broken,
    /// It is too slow. It may still finish the request, and bill it.
    TooSlow,
}

impl Upstream {
    /// # Errors
    /// See [`FrontError`].
    pub fn new(settings: &FrontSettings) -> Result<Self, FrontError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.options.upstream_headers {
            let pair = name.parse::<HeaderName>().ok().zip(value.parse::<HeaderValue>().ok());
            let (name, mut value) = pair.ok_or_else(|| FrontError::Header(name.clone()))?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        let secret = |text: String| {
            let mut value = HeaderValue::try_from(text).map_err(|_| FrontError::Header("its key".to_owned()))?;
            value.set_sensitive(true);
            Ok::<_, FrontError>(value)
        };
        let key = settings.upstream_key.as_ref().map(|key| {
            let (key, on_messages) = (key.expose_secret(), settings.options.messages_key);
            Ok::<_, FrontError>(Key {
                bearer: secret(format!("Bearer {key}"))?,
                plain: secret(key.to_owned())?,
                on_messages,
            })
        });
        Ok(Self {
            client: http_client(settings.upstream_ca.as_deref())?,
            base: settings.upstream.to_string().trim_end_matches('/').to_owned(),
            headers,
            key: key.transpose()?,
            read_timeout: Duration::from_secs(settings.options.read_timeout_seconds.into()),
        })
    }

    /// Returns true if requests have a key of this program: clients did not send it.
    pub const fn has_own_key(&self) -> bool {
        self.key.is_some()
    }

    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// How long it may be silent.
    pub const fn read_timeout(&self) -> Duration {
        self.read_timeout
    }

    /// Sends a request. `path` is the client's, and one that is served; `query` is one of ours.
    ///
    /// # Errors
    /// See [`NoAnswer`].
    pub async fn send(
        &self,
        method: Method,
        (path, query): (&str, &str),
        (route, mut headers): (Route, HeaderMap),
        body: Bytes,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let rest = path.strip_prefix(VERSION).unwrap_or(path);
        let uri = format!("{}{rest}{query}", self.base).parse::<Uri>().map_err(|_| NoAnswer::Broken)?;
        if let Some(key) = &self.key {
            let is_messages = matches!(route, Route::Messages | Route::CountTokens);
            match key.on_messages {
                KeyHeader::XApiKey if is_messages => headers.insert("x-api-key", key.plain.clone()),
                KeyHeader::XApiKey | KeyHeader::Authorization => headers.insert(AUTHORIZATION, key.bearer.clone()),
            };
        }
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        match tokio::time::timeout(self.read_timeout, self.client.request(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                tracing::warn!(error = cause_of(&error), "the upstream did not answer");
                Err(NoAnswer::Broken)
            }
            Err(_) => Err(NoAnswer::TooSlow),
        }
    }
}

/// The first cause of an error: the others say only where it was.
fn cause_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
