//! The models of a key, in the shape of the OpenAI API.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::KeyHolder;
use super::envelope::{NoStore, Plain};
use super::extract::ClientIp;
use super::state::AppState;
use crate::api::errors::fails::Fails;
use crate::service::key_holders::KeyHolderError;

/// A list of models.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelsBody {
    /// Always `list`.
    object: &'static str,
    /// The models.
    data: Vec<ModelBody>,
}

/// A model.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelBody {
    /// The name that requests send.
    id: String,
    /// Always `model`.
    object: &'static str,
    /// Always 0: when a model was made is not known here.
    created: i64,
    /// Always `keymeter`.
    owned_by: &'static str,
}

/// The models that this API key may use: the names in its own list and those of the setting `models.names` that
/// patterns in it match; without a list, those of the setting.
#[utoipa::path(get, path = "/v1/models", operation_id = "models_of_key", tag = "drop-in",
    responses((status = 200, body = ModelsBody)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
) -> Result<NoStore<Plain<ModelsBody>>, Fails<KeyHolderError>> {
    let usage = app.usage.by_key(&key, ip, |limits| &limits.drop_in).await?;
    let names: Vec<String> = if usage.token.policy.model_limits_enabled {
        usage.token.policy.model_limits.allowed_of(&app.settings.models)
    } else {
        app.settings.models.clone()
    };
    let model = |id| ModelBody { id, object: "model", created: 0, owned_by: "keymeter" };
    Ok(NoStore(Plain(ModelsBody { object: "list", data: names.into_iter().map(model).collect() })))
}
