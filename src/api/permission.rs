//! What an operation needs of its caller. The extractors of [`auth`](super::auth) enforce it.

use utoipa::ToSchema;

/// What an operation needs of its caller: the scope of its credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Permission {
    /// An API key that is valid.
    KeyHolder,
    /// An account.
    SignedIn,
    /// An account that is enabled for the token API.
    ApiUser,
    /// The account of an administrator.
    Admin,
    /// The credential of a gateway.
    Gateway,
}

impl Permission {
    /// The name in the OpenAPI document.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KeyHolder => "key_holder",
            Self::SignedIn => "signed_in",
            Self::ApiUser => "api_user",
            Self::Admin => "admin",
            Self::Gateway => "gateway",
        }
    }

    /// Returns true if it is a permission of accounts, which prove themselves by session or access token.
    pub const fn is_of_account(self) -> bool {
        matches!(self, Self::SignedIn | Self::ApiUser | Self::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_lists_the_names() {
        use Permission::{Admin, ApiUser, Gateway, KeyHolder, SignedIn};
        let schema = serde_json::to_value(<Permission as utoipa::PartialSchema>::schema()).unwrap();
        let names = [KeyHolder, SignedIn, ApiUser, Admin, Gateway].map(Permission::as_str);
        assert_eq!(schema["enum"], serde_json::json!(names));
    }
}
