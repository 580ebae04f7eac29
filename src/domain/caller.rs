//! The caller of the API: a signed-in user, the credential, and the origin of the request.

use std::net::IpAddr;

use super::time::UnixTime;
use super::user::User;

/// A signed-in user and where the request came from.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The account; may be up to two seconds old, because it is cached.
    pub user: User,
    /// How the user authenticated.
    pub credential: Credential,
    /// Where the request came from.
    pub origin: Origin,
}

/// How a user authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A session, opened with the password.
    Session,
    /// An access token.
    AccessToken {
        /// Expiry of the token; `None` means never.
        expires_at: Option<UnixTime>,
    },
}

impl Credential {
    /// The latest expiry of an access token created with this credential; `None` means no limit.
    pub const fn latest_expiry(self) -> Option<UnixTime> {
        match self {
            Self::Session => None,
            Self::AccessToken { expires_at } => expires_at,
        }
    }
}

/// Where a request came from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The client's address, if it is known.
    pub ip: Option<IpAddr>,
    /// The request id, which the response and the log also carry.
    pub request_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_token_limits_the_expiry_of_those_made_with_it() {
        let end = Some(UnixTime::new(1_000));
        assert_eq!(Credential::AccessToken { expires_at: end }.latest_expiry(), end);
        assert_eq!(Credential::AccessToken { expires_at: None }.latest_expiry(), None);
        assert_eq!(Credential::Session.latest_expiry(), None);
    }
}
