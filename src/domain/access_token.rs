//! Access tokens: what a user's programs send in place of a session (spec §5.1).

use super::id::AccessTokenId;
use super::time::UnixTime;

/// An access token as its owner sees it after creation. The secret is in
/// [`AccessTokenSecret`](super::secrets::AccessTokenSecret), and only its digest is stored.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// Unique among all access tokens.
    pub id: AccessTokenId,
    /// Chosen by the owner.
    pub name: String,
    /// Creation time.
    pub created_time: UnixTime,
    /// Expiry; `None` means never.
    pub expires_at: Option<UnixTime>,
    /// The last use, up to about a minute old; `None` if never used.
    pub last_used_time: Option<UnixTime>,
}
