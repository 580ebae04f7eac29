//! Secrets that callers hold besides API keys: access tokens and gateway credentials. `Debug` does not show them, and
//! only a keyed digest is stored.

use rand::CryptoRng;
use zeroize::Zeroizing;

use super::key::random_base62;

/// Random characters of a secret: more than 256 bits.
const RANDOM_CHARS: usize = 43;

/// The secret of a user's access token (spec §5.1): `kma_` and 43 letters and digits.
pub struct AccessTokenSecret(Zeroizing<String>);

impl AccessTokenSecret {
    /// A new random secret.
    #[must_use]
    pub fn generate(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Self(random_with_prefix("kma_", rng))
    }

    /// The text that a caller sent; it may be any text.
    #[must_use]
    pub fn claimed(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// The plain text, for the digest and for the one response that shows it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The secret of a gateway's credential: `kmg_` and 43 letters and digits.
pub struct GatewaySecret(Zeroizing<String>);

impl GatewaySecret {
    /// A new random secret.
    #[must_use]
    pub fn generate(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Self(random_with_prefix("kmg_", rng))
    }

    /// The text that a caller sent; it may be any text.
    #[must_use]
    pub fn claimed(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// The plain text, for the digest and for the one response that shows it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The last four characters, by which an operator distinguishes the credentials of a gateway. The other 39 hold more
    /// than 232 bits.
    #[must_use]
    pub fn hint(&self) -> &str {
        self.0.get(self.0.len().saturating_sub(4)..).unwrap_or_default()
    }
}

fn random_with_prefix(prefix: &str, rng: &mut (impl CryptoRng + ?Sized)) -> Zeroizing<String> {
    let random = random_base62(rng, RANDOM_CHARS);
    Zeroizing::new(format!("{prefix}{}", *random))
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn a_new_secret_is_a_prefix_and_43_letters_and_digits() {
        let rng = &mut StdRng::seed_from_u64(1);
        let (token, gateway) = (AccessTokenSecret::generate(rng), GatewaySecret::generate(rng));
        let random = [token.expose().strip_prefix("kma_").unwrap(), gateway.expose().strip_prefix("kmg_").unwrap()];
        for text in random {
            assert_eq!(text.len(), 43);
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
        assert_ne!(random[0], random[1]);
    }

    #[test]
    fn a_claimed_secret_is_compared_as_it_was_sent() {
        assert_eq!(AccessTokenSecret::claimed(" kma_x").expose(), " kma_x");
        assert_eq!(GatewaySecret::claimed(" kmg_x").expose(), " kmg_x");
    }

    #[test]
    fn the_hint_of_a_gateway_secret_is_its_last_four_characters() {
        assert_eq!(GatewaySecret::claimed("kmg_abcdefgh").hint(), "efgh");
        assert_eq!(GatewaySecret::claimed("abc").hint(), "abc");
    }
}
