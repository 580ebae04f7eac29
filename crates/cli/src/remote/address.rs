//! The address of a server, and which addresses a credential may be sent to.

use std::fmt;

use http::Uri;

/// Where a server is: `https://keys.example.org`, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressInvalid {
    #[error("the server's address must be like https://keys.example.org; this is not: {0}")]
    Malformed(String),
    #[error("the server's address must not contain a username or password; use `keymeter login`")]
    WithCredentials,
    #[error("{0} would send your password or access token unencrypted; use https://, or allow it with --insecure-http")]
    Unencrypted(String),
}

impl Address {
    /// Reads an address. Credentials travel unencrypted only to this machine, unless `insecure` allows it.
    pub fn parse(text: &str, insecure: bool) -> Result<Self, AddressInvalid> {
        if text.contains('@') {
            return Err(AddressInvalid::WithCredentials);
        }
        let malformed = || AddressInvalid::Malformed(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| malformed())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(malformed()) };
        if !matches!(scheme, "http" | "https") || authority.host().is_empty() || uri.query().is_some() {
            return Err(malformed());
        }
        let path = uri.path().trim_end_matches('/');
        let address = format!("{scheme}://{}{path}", authority.as_str().to_lowercase());
        if scheme == "http" && !insecure && !is_this_machine(authority.host()) {
            return Err(AddressInvalid::Unencrypted(address));
        }
        Ok(Self(address))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, AddressInvalid> {
        Address::parse(text, false).map(|address| address.0)
    }

    #[test]
    fn an_address_has_one_spelling() {
        for (text, address) in [
            ("https://Keys.example.org/", "https://keys.example.org"),
            ("https://example.org/keys/", "https://example.org/keys"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("http://localhost", "http://localhost"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(address));
        }
        for text in ["", "keys.example.org", "ftp://keys.example.org", "https://", "https://a/?x=1", "https://a b"] {
            assert_eq!(parsed(text), Err(AddressInvalid::Malformed(text.to_owned())));
        }
        assert_eq!(parsed("https://me:secret@keys.example.org"), Err(AddressInvalid::WithCredentials));
    }

    #[test]
    fn credentials_are_sent_unencrypted_only_to_this_machine() {
        for text in ["http://keys.example.org", "http://10.0.0.1", "http://localhost.example.org", "http://128.0.0.1"] {
            assert_eq!(parsed(text), Err(AddressInvalid::Unencrypted(text.to_owned())));
            assert_eq!(Address::parse(text, true).map(|address| address.0).as_deref(), Ok(text));
        }
    }
}
