//! Sessions, as their user sees them (spec §13.5).

use super::id::SessionId;
use super::time::UnixTime;

/// A session of a user.
#[derive(Debug, Clone)]
pub struct Session {
    pub id: SessionId,
    /// When the user signed in; `None` if that was before this was recorded.
    pub created_time: Option<UnixTime>,
    /// The last use, up to about a minute old; `None` if that was before this was recorded.
    pub last_seen_time: Option<UnixTime>,
    /// When it ends if it is not used.
    pub expires_at: UnixTime,
    /// The client's address at sign-in; empty if it is not known.
    pub ip: String,
    /// The `User-Agent` at sign-in, shortened; empty if it is not known.
    pub user_agent: String,
    /// True for the session of the request.
    pub is_current: bool,
}
