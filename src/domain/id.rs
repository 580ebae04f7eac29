//! Identifiers. Each kind has its own type, so that a user's id cannot be used as a token's id.

use super::time::Micros;

/// Low bits of a [`ReservationId`] that are random in the first of a batch.
const RANDOM_BITS: u32 = 21;

impl ReservationId {
    /// The first id of a batch at `now`: the millisecond, then random bits. Ids of about the same time are next to each
    /// other in the index, whose pages are in memory then. Two batches with the same id at once are unlikely; the
    /// second is tried again, with others. An id is no secret: only the gateway that made a reservation can end it.
    pub fn first(now: Micros, rng: &mut (impl rand::CryptoRng + ?Sized)) -> Self {
        let millisecond = now.get().div_euclid(1_000);
        let random = (rng.next_u64() >> (u64::BITS - RANDOM_BITS)).cast_signed();
        Self(((millisecond << RANDOM_BITS) | random) & i64::MAX)
    }

    /// The id after this one.
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1) & i64::MAX)
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
            pub const fn new(id: i64) -> Self {
                Self(id)
            }

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
    fn ids_of_reservations_grow_with_the_millisecond_and_are_random_within_it() {
        let rng = &mut StdRng::seed_from_u64(1);
        let mut first = |micros| ReservationId::first(Micros::new(micros), rng);
        let now = 1_790_000_000_000_999;
        assert!(first(now) < first(now + 1));
        let (ones, zeros) =
            (0..200).map(|_| first(now).get()).fold((0, -1), |(ones, zeros), id| (ones | id, zeros & id));
        assert_eq!((ones >> RANDOM_BITS, zeros >> RANDOM_BITS), (1_790_000_000_000, 1_790_000_000_000));
        assert_eq!(ones ^ zeros, (1 << RANDOM_BITS) - 1);
    }

    #[test]
    fn ids_of_reservations_are_never_negative_and_the_next_one_is_another() {
        let rng = &mut StdRng::seed_from_u64(1);
        for micros in [i64::MIN, -1, 0, i64::MAX] {
            let id = ReservationId::first(Micros::new(micros), rng);
            assert!(id.get() >= 0, "{micros}: {id}");
        }
        assert_eq!(ReservationId::new(7).next(), ReservationId::new(8));
        assert_eq!(ReservationId::new(i64::MAX).next(), ReservationId::new(0));
    }
}
