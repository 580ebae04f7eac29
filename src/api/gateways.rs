//! Gateways and their credentials, for administrators.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::auth::Admin;
use super::envelope::{Done, Envelope, NoStore};
use super::extract::{Id, Ids};
use super::member_names::{CheckedJson, MemberNames};
use super::other_names::{self, OtherNames};
use super::state::AppState;
use crate::api::errors::code::codes::{CredentialLimitReached, InvalidText, MissingField, NotFound};
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::domain::audit::Actor;
use crate::domain::gateway::{Gateway, GatewayCredential};
use crate::domain::id::{GatewayCredentialId, GatewayId, UserId};
use crate::domain::text;
use crate::domain::time::UnixTime;
use crate::service::gateways::GatewaysError;

/// A new gateway.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewGatewayBody {
    /// A name for it.
    #[schema(required)]
    name: Option<String>,
}

impl MemberNames for NewGatewayBody {
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_GATEWAYS;
}

/// A gateway. Request ids and reservations belong to it, whichever of its credentials is sent.
#[derive(Debug, Serialize, ToSchema)]
pub struct GatewayBody {
    /// Gateway ID. It never changes, and no other gateway ever gets it.
    id: i64,
    /// A name for it.
    name: String,
    /// Unix timestamp.
    created_time: i64,
    /// The administrator who created it; `null` if it was created on the command line.
    created_by: Option<i64>,
    /// Its credentials without the secrets, newest first.
    credentials: Vec<CredentialBody>,
    /// The secret of its first credential: only in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
}

impl From<(Gateway, Vec<GatewayCredential>)> for GatewayBody {
    fn from((gateway, credentials): (Gateway, Vec<GatewayCredential>)) -> Self {
        Self {
            id: gateway.id.get(),
            name: gateway.name,
            created_time: gateway.created_time.get(),
            created_by: gateway.created_by.map(UserId::get),
            credentials: credentials.into_iter().map(CredentialBody::from).collect(),
            credential: None,
        }
    }
}

/// A gateway's credential.
#[derive(Debug, Serialize, ToSchema)]
pub struct CredentialBody {
    /// Credential ID.
    id: i64,
    /// The last 4 characters of the secret.
    hint: String,
    /// Unix timestamp.
    created_time: i64,
    /// The administrator who created it; `null` if it was created on the command line.
    created_by: Option<i64>,
    /// Unix timestamp of the last use, up to about a minute old; `null` if never used.
    last_used_time: Option<i64>,
    /// The secret: only in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
}

impl From<GatewayCredential> for CredentialBody {
    fn from(credential: GatewayCredential) -> Self {
        Self {
            id: credential.id.get(),
            hint: credential.hint,
            created_time: credential.created_time.get(),
            created_by: credential.created_by.map(UserId::get),
            last_used_time: credential.last_used_time.map(UnixTime::get),
            credential: None,
        }
    }
}

/// Gateways with their credentials, without the secrets; newest first.
#[utoipa::path(get, path = "/api/admin/gateways", operation_id = "list_gateways", tag = "administration",
    responses((status = 200, body = Envelope<Vec<GatewayBody>>)))]
pub async fn list(State(app): State<Arc<AppState>>, _: Admin) -> Result<Envelope<Vec<GatewayBody>>, Fails> {
    let gateways = app.gateways.list().await?;
    Ok(Envelope::of(gateways.into_iter().map(GatewayBody::from).collect()))
}

/// Create a gateway with its first credential. The response shows the secret, this once.
#[utoipa::path(post, path = "/api/admin/gateways", operation_id = "create_gateway", tag = "administration",
    request_body = NewGatewayBody, responses((status = 200, body = Envelope<GatewayBody>)))]
pub async fn create(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    CheckedJson(body): CheckedJson<NewGatewayBody>,
) -> Result<NoStore<Envelope<GatewayBody>>, Fails<(InvalidText, MissingField)>> {
    let name = text::required("name", text::label("name", body.name.as_deref().unwrap_or_default())?)?;
    let (gateway, credential, secret) = app.gateways.create(Actor::from(&admin), &name).await?;
    let body = GatewayBody { credential: Some(secret.expose().to_owned()), ..(gateway, vec![credential]).into() };
    Ok(NoStore(Envelope::of(body)))
}

/// Revoke a gateway with all its credentials. Its charges stay, and its open reservations expire.
#[utoipa::path(delete, path = "/api/admin/gateways/{id}", operation_id = "revoke_gateway", tag = "administration",
    params(("id" = i64, Path)), responses((status = 200, body = Done)))]
pub async fn revoke(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
) -> Result<Done, Fails<NotFound>> {
    app.gateways.revoke(Actor::from(&admin), GatewayId::new(id)).await?;
    Ok(Done::default())
}

/// Create another credential of a gateway, 10 at most. The response shows the secret, this once.
#[utoipa::path(post, path = "/api/admin/gateways/{id}/credentials", operation_id = "create_credential",
    tag = "administration", params(("id" = i64, Path)),
    responses((status = 200, body = Envelope<CredentialBody>)))]
pub async fn create_credential(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
) -> Result<NoStore<Envelope<CredentialBody>>, Fails<(CredentialLimitReached, NotFound)>> {
    let (credential, secret) = app.gateways.create_credential(Actor::from(&admin), GatewayId::new(id)).await?;
    let secret = Some(secret.expose().to_owned());
    Ok(NoStore(Envelope::of(CredentialBody { credential: secret, ..credential.into() })))
}

/// Revoke a credential of a gateway. The other credentials keep working.
#[utoipa::path(delete, path = "/api/admin/gateways/{id}/credentials/{cid}", operation_id = "revoke_credential",
    tag = "administration", params(("id" = i64, Path), ("cid" = i64, Path)),
    responses((status = 200, body = Done)))]
pub async fn revoke_credential(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Ids(id, cid): Ids,
) -> Result<Done, Fails<NotFound>> {
    let (gateway, credential) = (GatewayId::new(id), GatewayCredentialId::new(cid));
    app.gateways.revoke_credential(Actor::from(&admin), gateway, credential).await?;
    Ok(Done::default())
}

codes_of! {
    GatewaysError {
        NotFound => NotFound,
        CredentialNotFound => NotFound,
        TooManyCredentials => CredentialLimitReached,
        .. Actor, Storage
    }
}
