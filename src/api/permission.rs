//! What an operation needs of its caller. The extractors of [`auth`](super::auth) enforce it.

use utoipa::ToSchema;

use crate::domain::named::named;

named! {
    /// What an operation needs of its caller: the scope of its credentials.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
    #[schema(rename_all = "snake_case")]
    pub enum Permission {
        /// An API key that is valid.
        KeyHolder = "key_holder",
        /// An account.
        SignedIn = "signed_in",
        /// An account that is enabled for the token API.
        ApiUser = "api_user",
        /// The account of an administrator.
        Admin = "admin",
        /// The credential of a gateway.
        Gateway = "gateway",
    }
}

impl Permission {
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
        let schema = serde_json::to_value(<Permission as utoipa::PartialSchema>::schema()).unwrap();
        let names = Permission::ALL.map(Permission::as_str);
        assert_eq!(schema["enum"], serde_json::json!(names));
    }
}
