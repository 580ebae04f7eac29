//! Whether a request that carries the session cookie comes from a page of this site, as its browser states it.

use std::net::IpAddr;

use http::request::Parts;
use http::{HeaderMap, header};

use super::state::AppState;
use crate::api::errors::failure::ApiError;

/// Over what the session cookie is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookies {
    /// It is `Secure`.
    ForHttpsAlone,
    ForAll,
}

/// Headers in which clients of this API family repeat the user's id. Optional; a wrong id is refused.
pub(super) const USER_HEADERS: [&str; 6] =
    ["new-api-user", "veloera-user", "voapi-user", "user-id", "rix-api-user", "neo-api-user"];

/// Refuses a write by cookie that does not come from this site. Where the browser sends neither `Origin` nor
/// `Sec-Fetch-Site`, one of `USER_HEADERS` is required instead: pages of other sites cannot send it.
pub fn refuse_write(parts: &Parts, app: &AppState) -> Result<(), ApiError> {
    let allowed = match source(parts, app) {
        Source::SameSite => true,
        Source::OtherSite => false,
        Source::Unknown => has_user_header(parts),
    };
    if allowed { Ok(()) } else { Err(ApiError::cross_site()) }
}

/// Refuses a GET by cookie that changes something and does not come from this site. Browsers send the cookie with a
/// link of any page, and over plain HTTP neither `Origin` nor `Sec-Fetch-Site` with it, so `Referer` counts too.
pub fn refuse_change_by_get(parts: &Parts, app: &AppState) -> Result<(), ApiError> {
    let allowed = match source(parts, app) {
        Source::SameSite => true,
        Source::OtherSite => false,
        Source::Unknown => has_user_header(parts) || has_own_referer(parts, app),
    };
    if allowed { Ok(()) } else { Err(ApiError::cross_site_get()) }
}

/// Refuses pages of other sites. Programs, which send neither `Origin` nor `Sec-Fetch-Site`, are allowed.
pub fn refuse_foreign_page(parts: &Parts, app: &AppState) -> Result<(), ApiError> {
    match source(parts, app) {
        Source::SameSite | Source::Unknown => Ok(()),
        Source::OtherSite => Err(ApiError::foreign_page()),
    }
}

fn has_user_header(parts: &Parts) -> bool {
    USER_HEADERS.iter().any(|name| parts.headers.contains_key(*name))
}

/// Returns true if `Referer` is a page of this site. [`Referrer-Policy`](super::middleware::headers) sends it to no
/// other.
fn has_own_referer(parts: &Parts, app: &AppState) -> bool {
    let referer = parts.headers.get(header::REFERER).and_then(|value| value.to_str().ok());
    referer.is_some_and(|referer| is_own_origin(referer, parts, app))
}

/// The site that sent a request, as its browser states it.
enum Source {
    /// A page of this site, or the user typed the address.
    SameSite,
    /// A page of another site; a sibling subdomain counts as another site.
    OtherSite,
    /// Neither header was sent: a program, an old browser, or a link followed over plain HTTP.
    Unknown,
}

/// Reads `Sec-Fetch-Site`, and `Origin` where that is not decisive. An unreadable header counts as another site.
fn source(parts: &Parts, app: &AppState) -> Source {
    let header = |name| parts.headers.get(name).map(|value: &http::HeaderValue| value.to_str().unwrap_or("unreadable"));
    match (header("sec-fetch-site"), header("origin")) {
        (Some("same-origin"), _) | (Some("none"), None) => Source::SameSite,
        (Some("none") | None, Some(origin)) if is_own_origin(origin, parts, app) => Source::SameSite,
        (Some(_), _) | (None, Some(_)) => Source::OtherSite,
        (None, None) => Source::Unknown,
    }
}

/// Returns true if `origin` is this site: it matches `Host`, or `http.public_url` (a proxy may change `Host`).
fn is_own_origin(origin: &str, parts: &Parts, app: &AppState) -> bool {
    let Some((scheme, host)) = split_origin(origin) else {
        return false;
    };
    let host_header = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let host_header = host_header.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    let is_host = host_header.is_some_and(|name| host.eq_ignore_ascii_case(without_default_port(scheme, name)));
    let public = split_origin(&app.settings.public_url);
    let is_public = public.is_some_and(|(public_scheme, public_host)| {
        scheme.eq_ignore_ascii_case(public_scheme) && host.eq_ignore_ascii_case(public_host)
    });
    is_host || is_public
}

/// Returns true for a page that was opened over plain HTTP from another machine. A browser keeps no secure cookie of
/// it. On this machine it may.
pub fn is_plain_http(headers: &HeaderMap) -> bool {
    let origin = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok()).and_then(split_origin);
    origin.is_some_and(|(scheme, host)| scheme.eq_ignore_ascii_case("http") && !is_this_machine(host))
}

fn is_this_machine(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host.as_str(), |(name, _)| name).trim_matches(['[', ']']);
    name == "localhost" || name.ends_with(".localhost") || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// The scheme and the host of a URL; the port belongs to the host unless it is the default one.
fn split_origin(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next().unwrap_or(rest);
    (!host.is_empty()).then(|| (scheme, without_default_port(scheme, host)))
}

fn without_default_port<'a>(scheme: &str, host: &'a str) -> &'a str {
    let port = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    host.strip_suffix(port).unwrap_or(host)
}
