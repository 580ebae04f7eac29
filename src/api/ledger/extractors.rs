//! `GET /api/gateway/prices/extractors`: how answers of providers are read, for gateways that read them themselves.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::api::auth::CallingGateway;
use crate::api::envelope::{Envelope, NoStore};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::api::etag::{Tagged, etag};
use crate::api::state::AppState;
use crate::service::price_file::ExtractorTexts;

/// How answers are read. Of one API of a provider the first extractor counts, and later ones add what it does not read.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExtractorsBody {
    /// The number of the price list that they belong to; 0 if there is none.
    version: i64,
    /// Those of one's own file of prices, which come first: `providers` and an `extractor` each.
    #[schema(value_type = Vec<serde_json::Value>)]
    own: Box<RawValue>,
    /// Those that this version of the server knows, in the same shape.
    #[schema(value_type = Vec<serde_json::Value>)]
    known: Box<RawValue>,
    /// Providers of the published data, each with its `id` and its `extractors`.
    #[schema(value_type = Vec<serde_json::Value>)]
    published: Box<RawValue>,
}

impl ExtractorsBody {
    fn new(version: i64, texts: ExtractorTexts) -> Result<Self, ApiError> {
        let json = |text: String| RawValue::from_string(text).map_err(ApiError::internal);
        let ExtractorTexts { own, known, published } = texts;
        Ok(Self { version, own: json(own)?, known: json(known)?, published: json(published)? })
    }
}

/// How answers of providers are read by the price list in force, with its number as `ETag`: 304 if `If-None-Match`
/// names it.
#[utoipa::path(get, path = "/api/gateway/prices/extractors", operation_id = "list_extractors", tag = "gateway",
    params(("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = Envelope<ExtractorsBody>), (status = 304, description = "As `If-None-Match` names it")))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    CallingGateway(_gateway): CallingGateway,
    headers: HeaderMap,
) -> Result<Response, Fails> {
    let number = app.prices.in_force().version;
    let tag = etag(number);
    if headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let (version, texts) = app.price_versions.extractors().await?;
    Ok(Tagged(version, NoStore(Envelope::of(ExtractorsBody::new(version, texts)?))).into_response())
}
