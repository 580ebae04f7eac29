//! Files that the program answers from memory, with copies that were compressed once.

use std::io::Write;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

pub struct File {
    /// The media type.
    pub content_type: &'static str,
    /// What identifies the content, in hexadecimal.
    pub hash: String,
    pub plain: Bytes,
    pub brotli: Option<Bytes>,
    pub gzip: Option<Bytes>,
}

impl File {
    /// A file without compressed copies.
    pub fn new(content_type: &'static str, plain: Vec<u8>) -> Self {
        let hash = hex::encode(&Sha256::digest(&plain)[..16]);
        Self { content_type, hash, plain: plain.into(), brotli: None, gzip: None }
    }

    /// A file with a copy that it compresses now.
    pub fn compressed(content_type: &'static str, plain: Vec<u8>) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder.write_all(&plain).and_then(|()| encoder.finish()).ok();
        Self { gzip: gzip.map(Bytes::from), ..Self::new(content_type, plain) }
    }

    /// The file, compressed if the client accepts it; 304 if the client has it.
    pub fn answer(&self, request: &HeaderMap) -> Response {
        let compressed = [("br", &self.brotli), ("gzip", &self.gzip)].into_iter().find_map(|(coding, bytes)| {
            let bytes = bytes.as_ref()?;
            accepts_coding(request, coding).then_some((coding, bytes))
        });
        let (etag, bytes) = match compressed {
            Some((coding, bytes)) => (format!("\"{}-{coding}\"", self.hash), bytes),
            None => (format!("\"{}\"", self.hash), &self.plain),
        };
        let mut answer = if has(request, &etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            ([(header::CONTENT_TYPE, self.content_type)], Body::from(Bytes::clone(bytes))).into_response()
        };
        let headers = answer.headers_mut();
        if let Some((coding, _)) = compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        if let Ok(etag) = HeaderValue::try_from(etag) {
            headers.insert(header::ETAG, etag);
        }
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        answer
    }
}

/// The entries of a header that is a list.
fn entries(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// Returns true if `Accept-Encoding` names the coding, and not with `q=0`.
fn accepts_coding(request: &HeaderMap, coding: &str) -> bool {
    entries(request, header::ACCEPT_ENCODING).any(|entry| {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = weight.trim().trim_start_matches("q=");
        let name = name.trim();
        let is_named = name.eq_ignore_ascii_case(coding) || coding == "gzip" && name.eq_ignore_ascii_case("x-gzip");
        is_named && (weight.is_empty() || weight.contains(|c| matches!(c, '1'..='9')))
    })
}

/// Returns true if `If-None-Match` names the content.
fn has(request: &HeaderMap, etag: &str) -> bool {
    entries(request, header::IF_NONE_MATCH).any(|entry| entry == "*" || entry.trim_start_matches("W/") == etag)
}
