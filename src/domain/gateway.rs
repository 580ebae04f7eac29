//! Gateways: the machines that spend keys, and the credentials they send.

use super::id::{GatewayCredentialId, GatewayId, UserId};
use super::time::UnixTime;

/// A gateway. Its request ids and reservations belong to it, not to a credential, so that replacing a credential
/// charges no retry twice.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// Never given to another gateway.
    pub id: GatewayId,
    /// Chosen by an administrator.
    pub name: String,
    /// Creation time.
    pub created_time: UnixTime,
    /// The administrator who created it; `None` if it was created on the command line.
    pub created_by: Option<UserId>,
}

/// A credential of a gateway. The secret is in [`GatewaySecret`](super::secrets::GatewaySecret), and only its digest
/// is stored.
#[derive(Debug, Clone)]
pub struct GatewayCredential {
    /// Unique among the credentials of all gateways.
    pub id: GatewayCredentialId,
    /// The gateway it belongs to.
    pub gateway_id: GatewayId,
    /// The last four characters of the secret.
    pub hint: String,
    /// Creation time.
    pub created_time: UnixTime,
    /// The administrator who created it; `None` if it was created on the command line.
    pub created_by: Option<UserId>,
    /// Last use, recorded at most once a minute; `None` means never.
    pub last_used_time: Option<UnixTime>,
}
