//! Secrets that callers hold besides API keys: access tokens and gateway credentials. `Debug` does not show them, and
//! only a keyed digest is stored.

use rand::CryptoRng;
use zeroize::Zeroizing;

use super::key::random_base62;

/// Random characters of a secret: more than 256 bits.
const RANDOM_CHARS: usize = 43;

/// Characters of an access token of another service.
const FOREIGN_CHARS: std::ops::RangeInclusive<usize> = 16..=128;

/// The secret of a user's access token (spec §5.1): `kma_` and 43 letters and digits.
pub struct AccessTokenSecret(Zeroizing<String>);

impl AccessTokenSecret {
    /// A new random secret.
    pub fn generate(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Self(random_with_prefix("kma_", rng))
    }

    /// The text that a caller sent, if it has the form of a secret of ours or of another service.
    pub fn parse(text: &str) -> Option<Self> {
        let is_ours = ["kma_", "kmg_", "sk-"].iter().any(|prefix| text.starts_with(prefix));
        let is_secret = if is_ours { is_random_with_prefix("kma_", text) } else { Self::is_foreign(text) };
        is_secret.then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Returns true if a text may be an access token of another service, as an import brings them.
    pub fn is_foreign(text: &str) -> bool {
        FOREIGN_CHARS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// The plain text, for the digest and for the one response that shows it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The secret of a gateway's credential: `kmg_` and 43 letters and digits.
pub struct GatewaySecret(Zeroizing<String>);

impl GatewaySecret {
    /// A new random secret.
    pub fn generate(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Self(random_with_prefix("kmg_", rng))
    }

    /// The text that a caller sent, if it has the form of a secret.
    pub fn parse(text: &str) -> Option<Self> {
        is_random_with_prefix("kmg_", text).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// The plain text, for the digest and for the one response that shows it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The last four characters, by which an operator distinguishes the credentials of a gateway. The other 39 hold
    /// more than 232 bits.
    pub fn hint(&self) -> &str {
        self.0.get(self.0.len().saturating_sub(4)..).unwrap_or_default()
    }
}

fn is_random_with_prefix(prefix: &str, text: &str) -> bool {
    let random = text.strip_prefix(prefix);
    random.is_some_and(|random| random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
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
    fn only_a_text_in_the_form_of_a_secret_is_looked_up() {
        let random = "a".repeat(43);
        let (ours, gateways) = (format!("kma_{random}"), format!("kmg_{random}"));
        assert_eq!(AccessTokenSecret::parse(&ours).unwrap().expose(), ours);
        assert_eq!(GatewaySecret::parse(&gateways).unwrap().expose(), gateways);
        assert!(AccessTokenSecret::parse("0123456789abcdef0123456789abcdef").is_some(), "of another service");
        for text in [
            "",
            "short",
            &ours[1..],
            &gateways,
            &format!("{ours}a"),
            &ours[..46],
            &format!("sk-{random}aaaaa"),
            "kma_0123456789abcdef",
            "with a space in it!!",
            &"a".repeat(129),
        ] {
            let may_be_foreign = text == &ours[1..];
            assert_eq!(AccessTokenSecret::parse(text).is_some(), may_be_foreign, "{text}");
        }
        for text in
            ["", &ours, &gateways[1..], &format!("{gateways}a"), &gateways[..46], &format!(" {gateways}"), &random]
        {
            assert!(GatewaySecret::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_hint_of_a_gateway_secret_is_its_last_four_characters() {
        assert_eq!(GatewaySecret::parse(&format!("kmg_{}efgh", "a".repeat(39))).unwrap().hint(), "efgh");
    }
}
