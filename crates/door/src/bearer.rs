//! Who asks: the key of a request, and the address that it comes from.

use std::net::{IpAddr, Ipv6Addr};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::refusals::DoorRefusal;

/// No key is longer.
const MAX_KEY: usize = 256;

/// Who asks.
#[derive(Clone)]
pub struct Bearer {
    pub key: String,
    /// The address of the client, for the key's `allow_ips`; `None` if nobody says it, and it is not to be checked.
    pub address: Option<IpAddr>,
}

impl Bearer {
    /// Who is counted before the key is verified: an address, of IPv6 the network that one person has. All are one
    /// where no address is known, because anyone can make up keys.
    pub fn origin(&self) -> String {
        match self.address {
            None => String::new(),
            Some(IpAddr::V4(address)) => address.to_string(),
            Some(IpAddr::V6(address)) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).to_string(),
        }
    }
}

/// The key of a request that has one, in a header and nowhere else.
///
/// # Errors
/// It has none, or none that can be one, or one in its address, which logs show.
pub fn required_key(headers: &HeaderMap, query: &str) -> Result<String, DoorRefusal> {
    let key = key_of(headers).filter(|_| !names_key(query));
    key.map(str::to_owned).ok_or_else(|| {
        DoorRefusal::invalid_key("send a valid API key as `Authorization: Bearer` or `x-api-key`, not in the address")
    })
}

/// The key of a request: in `Authorization`, else in `x-api-key`. `None` if there is none that can be one.
fn key_of(headers: &HeaderMap) -> Option<&str> {
    let key = match headers.get(AUTHORIZATION) {
        Some(value) => {
            let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())?
        }
        None => headers.get("x-api-key")?.to_str().ok()?.trim(),
    };
    ((1..=MAX_KEY).contains(&key.len()) && !key.contains(' ')).then_some(key)
}

/// Returns true if a query may have a key, with or without escapes.
fn names_key(query: &str) -> bool {
    let query = query.to_ascii_lowercase();
    let unescaped = query.replace("%6b", "k").replace("%4b", "k").replace("%65", "e").replace("%45", "e");
    let unescaped = unescaped.replace("%79", "y").replace("%59", "y");
    unescaped.split(['&', ';']).any(|pair| pair.split('=').next().is_some_and(|name| name.ends_with("key")))
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_key_is_in_one_of_two_headers() {
        let table: [(&[(&'static str, &'static str)], _); 8] = [
            (&[("authorization", "Bearer sk-a")], Some("sk-a")),
            (&[("authorization", "bearer  sk-a ")], Some("sk-a")),
            (&[("x-api-key", "sk-a")], Some("sk-a")),
            (&[("authorization", "Basic sk-b"), ("x-api-key", "sk-a")], None),
            (&[("authorization", "Bearer sk-b"), ("x-api-key", "sk-a")], Some("sk-b")),
            (&[("authorization", "Bearer ")], None),
            (&[("authorization", "Bearer a b")], None),
            (&[], None),
        ];
        for (pairs, expected) in table {
            let pair = |(name, value): &(&'static str, &'static str)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            };
            assert_eq!(key_of(&pairs.iter().map(pair).collect()), expected, "{pairs:?}");
        }
    }

    #[test]
    fn one_person_is_one_origin() {
        let origin = |address: Option<&str>| {
            Bearer { key: "sk-a".to_owned(), address: address.map(|address| address.parse().unwrap()) }.origin()
        };
        assert_eq!(origin(Some("192.0.2.1")), "192.0.2.1");
        assert_eq!(origin(Some("2001:db8:1:2:3:4:5:6")), origin(Some("2001:db8:1:2::1")));
        assert_ne!(origin(Some("2001:db8:1:2::1")), origin(Some("2001:db8:1:3::1")));
        assert_eq!(origin(None), "");
    }

    #[test]
    fn a_key_in_the_address_is_none() {
        let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Bearer sk-a"))]);
        for (query, is_taken) in [("", true), ("beta=true", true), ("key=a", false), ("a&api%4bey=b", false)] {
            assert_eq!(required_key(&headers, query).is_ok(), is_taken, "{query}");
        }
    }
}
