//! Which headers pass.

use http::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SET_COOKIE, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};

/// Of a client's headers, only these reach the upstream. Any other may have a key that was not checked, tell a gateway
/// to send its own key elsewhere, or ask for an answer that cannot be read.
const PASSED: [HeaderName; 5] = [
    ACCEPT,
    USER_AGENT,
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("anthropic-version"),
    HeaderName::from_static("anthropic-beta"),
];

/// Of the upstream's headers, these do not reach the client: they are of its connection, or name its account.
const KEPT_BACK: [HeaderName; 12] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-authenticate"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    SET_COOKIE,
    HeaderName::from_static("alt-svc"),
    HeaderName::from_static("openai-organization"),
    HeaderName::from_static("anthropic-organization-id"),
];

/// The headers of a request to the upstream, besides its key.
pub fn to_upstream(client: &HeaderMap, own: &HeaderMap, has_body: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for name in PASSED {
        for value in client.get_all(&name) {
            headers.append(&name, value.clone());
        }
    }
    if has_body {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in own {
        headers.insert(name, value.clone());
    }
    headers
}

/// The headers of an answer to the client.
pub fn to_client(upstream: &HeaderMap) -> HeaderMap {
    let of_connection: Vec<String> = upstream
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let is_passed = |name: &HeaderName| {
        !KEPT_BACK.contains(name)
            && !name.as_str().starts_with("x-accel-")
            && !of_connection.iter().any(|other| other == name.as_str())
    };
    let passed = upstream.iter().filter(|(name, _)| is_passed(name));
    passed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns true if a request announces its length in two ways that differ, or in a way that is none.
pub fn has_odd_length(headers: &HeaderMap) -> bool {
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let first = lengths.next();
    lengths.any(|other| Some(other) != first) || (first.is_some() && headers.contains_key(TRANSFER_ENCODING))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_listed_headers_reach_the_upstream_and_none_of_a_connection_the_client() {
        let client = headers(&[
            ("authorization", "Bearer sk-a"),
            ("x-portkey-custom-host", "https://example.org"),
            ("accept-encoding", "gzip"),
            ("anthropic-version", "2023-06-01"),
            ("user-agent", "sdk"),
        ]);
        let own = headers(&[("x-portkey-provider", "openai"), ("user-agent", "ours")]);
        let passed = to_upstream(&client, &own, true);
        let mut names: Vec<&str> = passed.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["anthropic-version", "content-type", "user-agent", "x-portkey-provider"]);
        assert_eq!(passed["user-agent"], "ours");
        let upstream = headers(&[
            ("connection", "close, X-Secret"),
            ("x-secret", "a"),
            ("set-cookie", "a"),
            ("x-accel-redirect", "/a"),
            ("openai-organization", "a"),
            ("x-request-id", "a"),
        ]);
        let names: Vec<String> = to_client(&upstream).keys().map(ToString::to_string).collect();
        assert_eq!(names, ["x-request-id"]);
    }
}
