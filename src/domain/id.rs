//! Identifiers. Each kind has its own type, so that a user's id cannot be used as a token's id.

use super::time::UnixTime;

impl ReservationId {
    /// Random bits of an id. The 26 bits above them are the minute, which lasts until 2097.
    const RANDOM_BITS: u32 = 37;

    /// An id of a reservation that is made in the minute of `now`. Ids of later minutes are larger, so that a large index is written at one
    /// place. Two of one minute are the same once in hours at 500 reservations a second; then the batch is tried again.
    #[must_use]
    pub fn at(now: UnixTime, rng: &mut (impl rand::CryptoRng + ?Sized)) -> Self {
        let minute = now.get().max(0).unsigned_abs() / 60 % (1 << (63 - Self::RANDOM_BITS));
        let random = rng.next_u64() >> (64 - Self::RANDOM_BITS);
        Self((minute << Self::RANDOM_BITS | random).cast_signed())
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
    fn ids_of_reservations_grow_with_the_minute_and_are_random_in_it() {
        let rng = &mut StdRng::seed_from_u64(1);
        let now = UnixTime::new(1_800_000_000);
        let of_minute = |rng: &mut StdRng, minutes: i64| ReservationId::at(now.plus(minutes * 60), rng).get();
        let all = of_minute(rng, 0) >> 37;
        assert_eq!(all, 1_800_000_000 / 60);
        let random = (0..200).map(|_| of_minute(rng, 0) & ((1 << 37) - 1));
        let (ones, zeros) = random.fold((0, -1), |(ones, zeros), bits| (ones | bits, zeros & bits));
        assert_eq!((ones, zeros), ((1 << 37) - 1, 0));
        for minutes in [1, 60, 1_000_000] {
            assert!(of_minute(rng, minutes - 1) < of_minute(rng, minutes), "{minutes}");
        }
    }

    #[test]
    fn an_id_is_positive_at_any_time() {
        let rng = &mut StdRng::seed_from_u64(1);
        for seconds in [i64::MIN, -1, 0, 4_102_444_800, i64::MAX] {
            assert!(ReservationId::at(UnixTime::new(seconds), rng).get() >= 0, "{seconds}");
        }
    }
}
