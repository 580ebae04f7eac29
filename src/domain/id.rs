//! Identifiers. One type for each thing, so that a user's id cannot name a token.

impl ReservationId {
    /// A new one, so rare that no two meet and none is guessed.
    #[must_use]
    pub fn random(rng: &mut (impl rand::CryptoRng + ?Sized)) -> Self {
        let bits = rng.next_u64() >> 1;
        Self(bits.cast_signed())
    }
}

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, sqlx::Type,
        )]
        #[serde(transparent)]
        #[sqlx(transparent)]
        pub struct $name(i64);

        impl $name {
            /// Any integer may be asked for; only those in the database exist.
            #[must_use]
            pub const fn new(id: i64) -> Self {
                Self(id)
            }

            /// The integer of the wire and of the database.
            #[must_use]
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

id! {
    /// A token (spec §2.1 `id`).
    TokenId;
    /// A user, the owner of tokens (spec §2.1 `user_id`).
    UserId;
    /// One of a user's access tokens (spec §5.1).
    AccessTokenId;
    /// A request to be enabled for the token API (spec §1).
    EnablementRequestId;
    /// A gateway. It stays while its credentials change, and is never given to another one.
    GatewayId;
    /// One of a gateway's credentials.
    GatewayCredentialId;
    /// Quota set aside for a request that is under way.
    ReservationId;
    /// A line of the audit log.
    AuditId;
}
