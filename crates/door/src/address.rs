//! Whose request it is.

use std::net::IpAddr;

use http::HeaderMap;
use ipnet::IpNet;

/// More proxies than these are a loop, or forged.
const MAX_PROXIES: usize = 32;

/// The address of the client: that of the connection; if that is a trusted proxy, or not known and there are trusted
/// proxies, the right-most hop of `X-Forwarded-For` that is none. `None` if a hop cannot be read, because the client
/// must not count as the proxy.
pub fn client_address(peer: Option<IpAddr>, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.map(|peer| peer.to_canonical());
    if client.is_some_and(|peer| !is_trusted(&peer)) || trusted.is_empty() {
        return client;
    }
    let values = headers.get_all("x-forwarded-for").iter().rev();
    let mut hops = values.flat_map(|value| value.as_bytes().rsplit(|byte| *byte == b','));
    for hop in hops.by_ref().take(MAX_PROXIES) {
        let address = str::from_utf8(hop).ok()?.trim().parse::<IpAddr>().ok()?.to_canonical();
        if !is_trusted(&address) {
            return Some(address);
        }
        client = Some(address);
    }
    client.filter(|_| hops.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_say_whose_request_it_is() {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        let table = [
            ("192.0.2.1", "203.0.113.5", Some("192.0.2.1")),
            ("10.0.0.1", "203.0.113.5", Some("203.0.113.5")),
            ("::ffff:10.0.0.1", "198.51.100.1, 203.0.113.5 ,10.0.0.2", Some("203.0.113.5")),
            ("::1", "10.0.0.3, 10.0.0.2", Some("10.0.0.3")),
            ("10.0.0.1", "203.0.113.5, unknown", None),
            ("10.0.0.1", "", None),
            ("unknown", "203.0.113.5, 10.0.0.2", Some("203.0.113.5")),
        ];
        for (peer, forwarded, expected) in table {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            let expected = expected.map(|address| address.parse::<IpAddr>().unwrap());
            assert_eq!(client_address(peer.parse().ok(), &headers, &trusted), expected, "{peer} {forwarded}");
        }
        assert_eq!(client_address("10.0.0.1".parse().ok(), &HeaderMap::new(), &trusted), "10.0.0.1".parse().ok());
        assert_eq!(client_address(None, &HeaderMap::new(), &trusted), None);
        let forwarded = HeaderMap::from_iter([(http::header::FORWARDED, "203.0.113.5".parse().unwrap())]);
        assert_eq!(client_address(None, &forwarded, &[]), None);
    }
}
