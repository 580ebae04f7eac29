//! Reads keys, for clients that read them separately from their tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::ApiUser;
use super::envelope::{Envelope, NoStore};
use super::extract::{Id, Json};
use super::state::AppState;
use super::tokens::IdsBody;
use crate::api::errors::code::codes::{InvalidIds, MissingField, NotFound};
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::domain::bounds;
use crate::domain::id::TokenId;
use crate::service::keys::KeysError;

#[derive(Debug, Serialize, ToSchema)]
pub struct KeyBody {
    key: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KeysBody {
    /// By token id, those of the ids that are yours.
    keys: BTreeMap<String, String>,
}

/// Read the key of one token.
#[utoipa::path(post, path = "/api/token/{id}/key", operation_id = "key", tag = "tokens", params(("id" = i64, Path)),
    responses((status = 200, body = Envelope<KeyBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
) -> Result<NoStore<Envelope<KeyBody>>, Fails<NotFound>> {
    let token = app.keys.show(&caller, TokenId::new(id)).await?;
    Ok(NoStore(Envelope::of(KeyBody { key: token.key.expose().to_owned() })))
}

/// Read the keys of several tokens.
#[utoipa::path(post, path = "/api/token/batch/keys", operation_id = "keys", tag = "tokens", request_body = IdsBody,
    responses((status = 200, body = Envelope<KeysBody>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Json(body): Json<IdsBody>,
) -> Result<NoStore<Envelope<KeysBody>>, Fails<(MissingField, InvalidIds)>> {
    let ids = body.read(bounds::MAX_KEY_BATCH)?;
    app.core.rate_limiter.may_write_more(&caller.user, ids.len())?;
    let keys = app.keys.list(&caller, &ids).await?;
    let keys = keys.into_iter().map(|(id, key)| (id.to_string(), key.expose().to_owned())).collect();
    Ok(NoStore(Envelope::of(KeysBody { keys })))
}

codes_of! {
    KeysError {
        NotFound => NotFound,
        .. Vault, Storage
    }
}
