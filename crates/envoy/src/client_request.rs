//! A client's request, as a proxy tells it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, HeaderValue};
use keymeter_door::refusals::DoorRefusal;
use keymeter_door::request_head::RequestHead;
use keymeter_door::settings::DoorOptions;
use keymeter_meter::route::Route;
use prost::bytes::Bytes;
use prost_types::Struct;
use prost_types::value::Kind;

use crate::messages::{EnvoyHeader, HttpHeaders};

/// Of a client's headers, only these reach the upstream, and those that a proxy adds. Any other may have a key that was
/// not checked, tell a gateway to send its own key elsewhere, or ask for an answer that cannot be read.
const PASSED: [&str; 14] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "b3",
    "content-length",
    "content-type",
    "forwarded",
    "traceparent",
    "tracestate",
    "user-agent",
    "via",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-request-id",
];
const PASSED_BEGINNING: &str = "x-b3-";

/// Headers by which a client that Envoy believes tells it to send a request again, or elsewhere.
const COMMANDS: [&str; 7] = [
    "x-envoy-hedge-",
    "x-envoy-max-retries",
    "x-envoy-original-dst-host",
    "x-envoy-retriable-",
    "x-envoy-retry-",
    "x-envoy-upstream-",
    "x-envoy-force-",
];

/// The head of a message.
#[derive(Debug, Default)]
pub struct MessageHead {
    /// The headers that begin with a colon, such as `:path`, without it.
    pseudo: BTreeMap<String, String>,
    pub headers: HeaderMap,
}

impl MessageHead {
    /// Reads headers; `None` if one of them is none.
    pub fn read(headers: &HttpHeaders) -> Option<Self> {
        let mut head = Self::default();
        for EnvoyHeader { key, value, raw_value } in headers.headers.iter().flat_map(|headers| &headers.headers) {
            let value = if raw_value.is_empty() { Bytes::copy_from_slice(value.as_bytes()) } else { raw_value.clone() };
            if let Some(name) = key.strip_prefix(':') {
                head.pseudo.insert(name.to_owned(), String::from_utf8(value.to_vec()).ok()?);
            } else {
                let value = HeaderValue::from_maybe_shared(value).ok()?;
                head.headers.try_append(HeaderName::from_bytes(key.as_bytes()).ok()?, value).ok()?;
            }
        }
        Some(head)
    }

    /// The status of an answer; `None` if it has none.
    pub fn status(&self) -> Option<http::StatusCode> {
        self.pseudo.get("status")?.parse().ok()
    }

    fn pseudo(&self, name: &str) -> &str {
        self.pseudo.get(name).map_or("", String::as_str)
    }
}

/// The head of a request.
#[derive(Debug)]
pub struct ClientRequest {
    head: MessageHead,
    peer: Option<IpAddr>,
}

impl ClientRequest {
    /// Reads the first message of a request; `None` if its headers are none.
    pub fn read(headers: &HttpHeaders, attributes: &BTreeMap<String, Struct>) -> Option<Self> {
        let peer = attribute(attributes, "source.address").and_then(address_of);
        Some(Self { head: MessageHead::read(headers)?, peer })
    }

    fn target(&self) -> (&str, &str, Option<&str>) {
        let target = self.head.pseudo("path");
        let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        (self.head.pseudo("method"), path, query)
    }

    pub fn route(&self) -> Option<Route> {
        let (method, path, _) = self.target();
        Route::find(method, path)
    }

    /// # Errors
    /// Why it is not let through.
    pub fn checked(&self, options: &DoorOptions) -> Result<RequestHead, DoorRefusal> {
        let names = || self.head.headers.keys().map(HeaderName::as_str);
        if let Some(command) = names().find(|name| COMMANDS.iter().any(|command| name.starts_with(command))) {
            return Err(DoorRefusal::not_metered(&format!("the header {command} is not for clients")));
        }
        // Envoy would answer in the way of gRPC: a refusal as 200.
        let kind = self.head.headers.get(http::header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if kind.to_ascii_lowercase().starts_with(b"application/grpc") {
            return Err(DoorRefusal::not_metered("gRPC is not served here"));
        }
        RequestHead::read(self.route(), self.target(), &self.head.headers, self.peer, options)
    }

    /// The path and query that the upstream gets, if they are others.
    pub fn other_target(&self, query: &str) -> Option<String> {
        let (_, path, _) = self.target();
        let target = format!("{path}{query}");
        (target != self.head.pseudo("path")).then_some(target)
    }

    /// The headers that the upstream does not get. `others` may pass too.
    pub fn removed_headers(&self, others: &[String]) -> Vec<String> {
        let is_passed = |name: &str| {
            PASSED.contains(&name)
                || name.starts_with(PASSED_BEGINNING)
                || others.iter().any(|other| other.eq_ignore_ascii_case(name))
        };
        self.head.headers.keys().map(HeaderName::as_str).filter(|name| !is_passed(name)).map(str::to_owned).collect()
    }

    /// The length of its body, if it tells one.
    pub fn length(&self) -> Option<usize> {
        self.head.headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }
}

/// The value of an attribute, whichever filter it was asked by.
pub fn attribute<'a>(attributes: &'a BTreeMap<String, Struct>, name: &str) -> Option<&'a str> {
    let kind = attributes.values().find_map(|values| values.fields.get(name))?.kind.as_ref()?;
    if let Kind::StringValue(text) = kind { Some(text) } else { None }
}

/// An address, with or without its port.
fn address_of(text: &str) -> Option<IpAddr> {
    text.parse::<SocketAddr>().map(|address| address.ip()).or_else(|_| text.parse()).ok()
}

/// Headers for a proxy.
pub fn envoy_header(name: &str, value: impl Into<prost::bytes::Bytes>) -> EnvoyHeader {
    EnvoyHeader { key: name.to_owned(), value: String::new(), raw_value: value.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::EnvoyHeaders;

    fn headers(pairs: &[(&str, &'static str)]) -> HttpHeaders {
        let headers = pairs.iter().map(|(name, value)| envoy_header(name, *value)).collect();
        HttpHeaders { headers: Some(EnvoyHeaders { headers }), end_of_stream: false }
    }

    fn attributes(address: &str) -> BTreeMap<String, Struct> {
        let value = prost_types::Value { kind: Some(Kind::StringValue(address.to_owned())) };
        let fields = [("source.address".to_owned(), value)].into_iter().collect();
        BTreeMap::from([("envoy.filters.http.ext_proc".to_owned(), Struct { fields })])
    }

    #[test]
    fn the_address_is_the_one_that_the_proxy_sees() {
        let request = [(":method", "POST"), (":path", "/v1/messages?beta=true&a=b"), ("x-api-key", "sk-a")];
        for (address, expected) in [
            ("192.0.2.1:4711", Some("192.0.2.1")),
            ("[2001:db8::1]:4711", Some("2001:db8::1")),
            ("192.0.2.1", Some("192.0.2.1")),
            ("/run/envoy.sock", None),
            ("", None),
        ] {
            let request = ClientRequest::read(&headers(&request), &attributes(address)).unwrap();
            let found = request.checked(&DoorOptions::default()).ok().and_then(|head| head.bearer.address);
            assert_eq!(found, expected.map(|address| address.parse().unwrap()), "{address}");
        }
        let request = ClientRequest::read(&headers(&request), &BTreeMap::new()).unwrap();
        assert!(request.checked(&DoorOptions::default()).is_err());
        let unchecked = DoorOptions { checks_addresses: false, ..DoorOptions::default() };
        assert_eq!(request.checked(&unchecked).unwrap().bearer.address, None);
    }

    #[test]
    fn only_known_headers_reach_the_upstream() {
        let sent = [
            ("authorization", "Bearer sk-a"),
            ("accept-encoding", "gzip"),
            ("anthropic-version", "2023-06-01"),
            ("x-forwarded-for", "192.0.2.1"),
            ("x-portkey-custom-host", "https://example.org"),
            ("x-my-tenant", "a"),
        ];
        let request = ClientRequest::read(&headers(&sent), &BTreeMap::new()).unwrap();
        let removed = request.removed_headers(&["X-My-Tenant".to_owned()]);
        assert_eq!(removed, ["authorization", "accept-encoding", "x-portkey-custom-host"]);
    }

    #[test]
    fn a_client_gives_envoy_no_commands() {
        for (name, value) in [
            ("x-envoy-retry-on", "5xx"),
            ("x-envoy-max-retries", "3"),
            ("x-envoy-original-dst-host", "192.0.2.1:80"),
            ("x-envoy-upstream-rq-timeout-ms", "1"),
            ("content-type", "Application/gRPC-web"),
        ] {
            let head = [(":method", "POST"), (":path", "/v1/messages"), ("x-api-key", "sk-a"), (name, value)];
            let request = ClientRequest::read(&headers(&head), &attributes("192.0.2.1:1")).unwrap();
            let refused = request.checked(&DoorOptions::default()).err().unwrap();
            assert_eq!(refused.code(), "not_metered", "{name}");
        }
    }

    #[test]
    fn only_a_known_query_reaches_the_upstream() {
        for (path, query, expected) in [
            ("/v1/messages", "", None),
            ("/v1/messages?beta=true", "?beta=true", None),
            ("/v1/messages?beta=true&a=b", "?beta=true", Some("/v1/messages?beta=true")),
            ("/v1/messages?a=b", "", Some("/v1/messages")),
        ] {
            let head = headers(&[(":method", "POST"), (":path", path), ("authorization", "Bearer sk-a")]);
            let request = ClientRequest::read(&head, &attributes("192.0.2.1:1")).unwrap();
            let query_of = request.checked(&DoorOptions::default()).unwrap().query;
            assert_eq!((query_of, request.other_target(query_of).as_deref()), (query, expected), "{path}");
        }
    }
}
