//! The head of a request: which route it is, who asks, and whether it can be metered at all.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, UPGRADE};
use keymeter_meter::request::check_betas;
use keymeter_meter::route::Route;
use keymeter_meter::settings::MeterSettings;

use crate::address::client_address;
use crate::bearer::{Bearer, required_key};
use crate::refusals::DoorRefusal;
use crate::settings::DoorOptions;

/// The head of a request that may be metered.
#[derive(Clone)]
pub struct RequestHead {
    pub route: Route,
    pub bearer: Bearer,
    /// Of its query, all that reaches the upstream, with its question mark.
    pub query: &'static str,
}

impl RequestHead {
    /// Reads a head whose route is found. `peer` is the address of the connection, where it is known.
    ///
    /// # Errors
    /// Why it is not let through.
    pub fn read(
        route: Option<Route>,
        (method, path, query): (&str, &str, Option<&str>),
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        options: &DoorOptions,
    ) -> Result<Self, DoorRefusal> {
        let route = route.ok_or_else(|| DoorRefusal::not_served(method, path))?;
        check_headers(headers, &options.meter)?;
        let key = required_key(headers, query.unwrap_or_default())?;
        // Without an address, a key's `allow_ips` would not be checked.
        let address = if options.checks_addresses {
            let address = client_address(peer, headers, &options.trusted_proxies);
            Some(address.ok_or_else(DoorRefusal::unknown_address)?)
        } else {
            None
        };
        Ok(Self { route, bearer: Bearer { key, address }, query: passed_query(query) })
    }
}

fn check_headers(headers: &HeaderMap, settings: &MeterSettings) -> Result<(), DoorRefusal> {
    if headers.contains_key(UPGRADE) {
        return Err(DoorRefusal::not_metered("upgrades are not served here"));
    }
    let is_identity = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).iter().any(|value| !is_identity(value)) {
        return Err(DoorRefusal::compressed());
    }
    for value in headers.get_all("anthropic-beta") {
        let value = value.to_str().map_err(|_| DoorRefusal::invalid_request("`anthropic-beta` cannot be read"))?;
        check_betas(value, settings)?;
    }
    Ok(())
}

/// The only query that reaches the upstream, which SDKs send.
fn passed_query(query: Option<&str>) -> &'static str {
    let is_beta = query.is_some_and(|query| query.split('&').any(|pair| pair == "beta=true"));
    if is_beta { "?beta=true" } else { "" }
}
