//! The header `Idempotency-Key` (spec §15.3): a request with it is carried out once, however often it is sent.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;

use super::extract::{MAX_BODY, body};
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{IdempotencyKeyReused, InvalidIdempotencyKey, KeyRotated};
use crate::api::errors::failure::ApiError;
use crate::domain::idempotency_key::{IdempotencyKey, IdempotencyKeyInvalid, Idempotent, IdempotentRequest};
use crate::service::idempotency_keys::IdempotencyKeyError;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Why a request with a key was not carried out, or not answered again.
pub type IdempotencyErrors = (InvalidIdempotencyKey, IdempotencyKeyReused, KeyRotated);

/// The header, for the document.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "only for the document")]
pub struct IdempotencyKeyHeader {
    /// 1 to 255 printable ASCII characters. The request is carried out once, however often it is sent in 72 hours; the
    /// answer to another one than the first has `Idempotency-Replayed: true`.
    #[param(rename = "Idempotency-Key")]
    idempotency_key: Option<String>,
}

/// What `E` extracts, and the key of the request, if it has one.
pub struct Keyed<E>(pub Option<IdempotentRequest>, pub E);

impl<E: FromRequest<Arc<AppState>, Rejection = ApiError>> FromRequest<Arc<AppState>> for Keyed<E> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let (keyed, request) = read(request).await?;
        Ok(Self(keyed, E::from_request(request, app).await?))
    }
}

/// The key of a request, if it has one, and the request as it came.
///
/// # Errors
/// The header is invalid; the body is incomplete or too large.
pub async fn read(request: Request) -> Result<(Option<IdempotentRequest>, Request), ApiError> {
    let Some(key) = find_key(request.headers())? else {
        return Ok((None, request));
    };
    let (parts, whole) = request.into_parts();
    let bytes = body(Request::from_parts(parts.clone(), whole), MAX_BODY).await?;
    let hash = Sha256::new()
        .chain_update(format!("{} {}\n", parts.method, parts.uri.path()))
        .chain_update(canonical(&bytes))
        .finalize()
        .to_vec();
    Ok((Some(IdempotentRequest { key, hash }), Request::from_parts(parts, Body::from(bytes))))
}

fn find_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let text = value.to_str().map_err(|_| IdempotencyKeyInvalid)?;
            Ok(Some(IdempotencyKey::parse(text)?))
        }
        (Some(_), Some(_)) => Err(IdempotencyKeyInvalid.into()),
    }
}

/// The body without what JSON leaves open: spaces, and the order of members as far as the parser does not keep it. What
/// is not JSON is refused later.
fn canonical(body: &[u8]) -> Vec<u8> {
    serde_json::from_slice(body)
        .map_or_else(|_| body.to_vec(), |value: serde_json::Value| value.to_string().into_bytes())
}

/// Adds `Idempotency-Replayed: true` to the answer of a request that was carried out before.
impl<R: IntoResponse> IntoResponse for Idempotent<R> {
    fn into_response(self) -> Response {
        let mut answer = self.answer.into_response();
        if self.is_replayed {
            answer.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
        answer
    }
}

impl From<IdempotencyKeyInvalid> for ApiError {
    fn from(invalid: IdempotencyKeyInvalid) -> Self {
        Self::new(ErrorCode::InvalidIdempotencyKey, invalid.to_string())
    }
}

impl From<IdempotencyKeyError> for ApiError {
    fn from(error: IdempotencyKeyError) -> Self {
        let message = error.to_string();
        match error {
            IdempotencyKeyError::Reused => Self::new(ErrorCode::IdempotencyKeyReused, message),
            IdempotencyKeyError::TokenDeleted => Self::new(ErrorCode::NotFound, message),
            IdempotencyKeyError::KeyRotated => Self::new(ErrorCode::KeyRotated, message),
            IdempotencyKeyError::Vault(undecryptable) => undecryptable.into(),
            IdempotencyKeyError::Storage(storage) => storage.into(),
        }
    }
}
