//! `GET /api/gateway/auth`: forward-auth for nginx, Caddy, Traefik and Envoy.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue};

use super::verify::VerificationBody;
use crate::api::auth::{GatewayInFront, KeyHolder};
use crate::api::envelope::Envelope;
use crate::api::errors::fails::Fails;
use crate::api::extract::ClientIp;
use crate::api::ledger::errors::KeyErrors;
use crate::api::state::AppState;
use crate::domain::ip_allowlist::ClientAddress;
use crate::domain::ledger::RequestContext;
use crate::domain::money::Quota;
use crate::domain::refusals::RefusedCall;

/// Forward-auth for nginx, Caddy, Traefik and Envoy: `Authorization` is the end client's, and the gateway's credential
/// comes in `X-Gateway-Credential`. Answers 200 or the status of the refusal.
#[utoipa::path(get, path = "/api/gateway/auth", tag = "gateway",
    params(("X-Error-Shape" = Option<String>, Header,
        description = "With `openai`, a failure is `{\"error\": {\"message\", \"type\", \"param\": null, \"code\"}}`, as SDKs of \
                       model providers read it, and the gateway's own mistakes are 500 without their reason.")),
    responses((status = 200, body = Envelope<VerificationBody>)))]
pub async fn auth(
    State(app): State<Arc<AppState>>,
    GatewayInFront(gateway): GatewayInFront,
    KeyHolder(key): KeyHolder,
    ClientIp(ip): ClientIp,
) -> Result<Response, Fails<KeyErrors>> {
    let context = RequestContext { model: None, ip: ip.map_or(ClientAddress::Unknown, ClientAddress::Known) };
    // A key with nothing left is refused.
    let verification =
        app.ledger.verify((gateway, RefusedCall::ForwardAuth), &key, &context, Some(&Quota::LEAST.into())).await?;
    if let Some(refusal) = verification.refusal {
        return Err(refusal.into());
    }
    app.ledger.count_request(gateway, &verification, &context)?;
    app.ledger.note_use(&verification);
    let body = VerificationBody::from(&verification);
    let headers = body.headers();
    let mut response = Envelope::of(body).into_response();
    for (name, value) in headers {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    Ok(response)
}
