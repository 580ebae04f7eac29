//! Identifiers. Each kind has its own type, so that a user's id cannot be used as a token's id.

impl ReservationId {
    /// A random id of 63 bits: collisions are negligible and it cannot be guessed.
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
            /// Any integer is valid, whether or not such a row exists.
            #[must_use]
            pub const fn new(id: i64) -> Self {
                Self(id)
            }

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
    /// An access token of a user (spec §5.1).
    AccessTokenId;
    /// A session, as its user sees it: neither the secret in the cookie nor its digest.
    SessionId;
    /// A key that a rotation replaced. Ascends with the rotations of a token.
    OldKeyId;
    /// A request to be enabled for the token API (spec §1).
    EnablementRequestId;
    /// A gateway. The id stays the same when credentials change, and is never used again.
    GatewayId;
    /// A credential of a gateway.
    GatewayCredentialId;
    /// A price by which charges were computed.
    PriceId;
    /// A reservation: quota set aside for a request that is in progress.
    ReservationId;
    /// An entry of the audit log.
    AuditId;
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn random_ids_use_all_63_bits_and_are_never_negative() {
        let rng = &mut StdRng::seed_from_u64(1);
        let (ones, zeros) = (0..200).map(|_| ReservationId::random(rng).get()).fold((0, -1), |(ones, zeros), id| {
            assert!(id >= 0, "{id}");
            (ones | id, zeros & id)
        });
        assert_eq!((ones, zeros), (i64::MAX, 0));
    }
}
