//! The id of an HTTP request, `X-Request-Id`.

use http::request::Parts;
use http::{HeaderName, Response};

use crate::service::rng::Rng;

pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Characters of an id at most.
const MAX_CHARS: usize = 64;

/// The id of an HTTP request, as an extension of it.
#[derive(Debug, Clone)]
pub struct HttpRequestId(pub String);

impl HttpRequestId {
    /// The caller's id if it is well-formed, else a new one.
    pub(super) fn of(parts: &Parts, rng: &Rng) -> Self {
        let sent = parts.headers.get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
        match sent.filter(|id| is_well_formed(id)) {
            Some(id) => Self(id.to_owned()),
            None => Self(rng.generate_fast(|rng| format!("{:032x}", random_bits(rng)))),
        }
    }

    pub(super) fn write<B>(&self, answer: &mut Response<B>) {
        if let Ok(value) = self.0.parse() {
            answer.headers_mut().insert(X_REQUEST_ID, value);
        }
    }
}

/// 1 to 64 ASCII letters, digits, `-`, `_` and `.`: safe in a log, a header and a URL.
fn is_well_formed(id: &str) -> bool {
    (1..=MAX_CHARS).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn random_bits(rng: &mut dyn rand::CryptoRng) -> u128 {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    u128::from_be_bytes(bytes)
}
