//! Gateways and their credentials, managed by administrators and by the operator.

use std::collections::BTreeMap;

use super::actors::{self, ActorError};
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::bounds;
use crate::domain::gateway::{Gateway, GatewayCredential};
use crate::domain::id::{GatewayCredentialId, GatewayId};
use crate::domain::secrets::GatewaySecret;
use crate::service::core::Core;
use crate::storage::{Conn, StorageError, audit, gateways};

/// Why a request about gateways was refused.
#[derive(Debug, thiserror::Error)]
pub enum GatewaysError {
    /// The gateway does not exist.
    #[error("there is no such gateway")]
    NotFound,
    /// The gateway has no such credential.
    #[error("there is no such credential")]
    CredentialNotFound,
    /// The gateway has the maximum number of credentials.
    #[error(
        "a gateway has at most {max} credentials; revoke one that is no longer used",
        max = bounds::MAX_GATEWAY_CREDENTIALS
    )]
    TooManyCredentials,
    /// The caller may no longer do this.
    #[error(transparent)]
    Actor(#[from] ActorError),
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The gateway service.
#[derive(Debug)]
pub struct Gateways {
    core: Core,
}

impl Gateways {
    /// A service on `db`.
    pub const fn new(core: Core) -> Self {
        Self { core }
    }

    /// Lists all gateways with their credentials, both newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self) -> Result<Vec<(Gateway, Vec<GatewayCredential>)>, GatewaysError> {
        let mut conn = self.core.db.acquire().await?;
        let gateways = gateways::list(&mut conn).await?;
        let mut credentials: BTreeMap<GatewayId, Vec<GatewayCredential>> = BTreeMap::new();
        for credential in gateways::list_credentials(&mut conn).await? {
            credentials.entry(credential.gateway_id).or_default().push(credential);
        }
        let with_credentials = |gateway: Gateway| {
            let own = credentials.remove(&gateway.id).unwrap_or_default();
            (gateway, own)
        };
        Ok(gateways.into_iter().map(with_credentials).collect())
    }

    /// Creates a gateway with its first credential. The secret is shown only once.
    ///
    /// # Errors
    /// The database.
    pub async fn create(
        &self,
        actor: Actor<'_>,
        name: &str,
    ) -> Result<(Gateway, GatewayCredential, GatewaySecret), GatewaysError> {
        let now = self.core.clock.now();
        let mut tx = self.core.db.begin().await?;
        actors::lock_actor(&mut tx, actor).await?;
        let gateway = gateways::insert(&mut tx, name, actor.user().map(|user| user.id), now).await?;
        let (credential, secret) = self.insert_credential(&mut tx, actor, gateway.id).await?;
        let entry = AuditEntry::new(now, actor, Action::GatewayCreated, Subject::gateway(gateway.id))
            .with([("name", name.to_owned()), ("credential", credential.id.to_string())]);
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit_gateway_credentials(tx).await?;
        Ok((gateway, credential, secret))
    }

    /// Deletes a gateway with all its credentials. Its open reservations expire.
    ///
    /// # Errors
    /// The gateway does not exist; the database.
    pub async fn revoke(&self, actor: Actor<'_>, id: GatewayId) -> Result<(), GatewaysError> {
        let mut tx = self.core.db.begin().await?;
        actors::lock_actor(&mut tx, actor).await?;
        let name = gateways::delete(&mut tx, id).await?.ok_or(GatewaysError::NotFound)?;
        let entry = AuditEntry::new(self.core.clock.now(), actor, Action::GatewayRevoked, Subject::gateway(id))
            .with([("name", name)]);
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit_gateway_credentials(tx).await?;
        Ok(())
    }

    /// Creates another credential of a gateway. The secret is shown only once.
    ///
    /// # Errors
    /// The gateway does not exist or has the maximum number of credentials; the database.
    pub async fn create_credential(
        &self,
        actor: Actor<'_>,
        gateway: GatewayId,
    ) -> Result<(GatewayCredential, GatewaySecret), GatewaysError> {
        let mut tx = self.core.db.begin().await?;
        actors::lock_actor(&mut tx, actor).await?;
        if !gateways::lock(&mut tx, gateway).await? {
            return Err(GatewaysError::NotFound);
        }
        if gateways::count_credentials(&mut tx, gateway).await? >= bounds::MAX_GATEWAY_CREDENTIALS {
            return Err(GatewaysError::TooManyCredentials);
        }
        let (credential, secret) = self.insert_credential(&mut tx, actor, gateway).await?;
        let action = Action::GatewayCredentialCreated;
        let entry = AuditEntry::new(self.core.clock.now(), actor, action, Subject::gateway(gateway))
            .with([("credential", credential.id.to_string())]);
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit_gateway_credentials(tx).await?;
        Ok((credential, secret))
    }

    /// Deletes a credential of a gateway. The other credentials keep working.
    ///
    /// # Errors
    /// The gateway has no such credential; the database.
    pub async fn revoke_credential(
        &self,
        actor: Actor<'_>,
        gateway: GatewayId,
        id: GatewayCredentialId,
    ) -> Result<(), GatewaysError> {
        let mut tx = self.core.db.begin().await?;
        actors::lock_actor(&mut tx, actor).await?;
        if !gateways::delete_credential(&mut tx, gateway, id).await? {
            return Err(GatewaysError::CredentialNotFound);
        }
        let action = Action::GatewayCredentialRevoked;
        let entry = AuditEntry::new(self.core.clock.now(), actor, action, Subject::gateway(gateway))
            .with([("credential", id.to_string())]);
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit_gateway_credentials(tx).await?;
        Ok(())
    }

    async fn insert_credential(
        &self,
        conn: &mut Conn,
        actor: Actor<'_>,
        gateway: GatewayId,
    ) -> Result<(GatewayCredential, GatewaySecret), StorageError> {
        let secret = self.core.rng.generate(|rng| GatewaySecret::generate(rng));
        let digest = self.core.vault.digests().digest(secret.expose());
        let created_by = actor.user().map(|user| user.id);
        let credential =
            gateways::insert_credential(conn, gateway, &secret, &digest, created_by, self.core.clock.now()).await?;
        Ok((credential, secret))
    }
}
