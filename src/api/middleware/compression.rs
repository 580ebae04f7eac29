//! Compressed answers.

use http::{Extensions, HeaderMap, StatusCode, Version, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

/// The smallest body, in bytes, that is worth the time.
const MIN_BYTES: u64 = 1024;

/// Compresses answers for callers who accept gzip, except those that no cache may store: they contain secrets, and the
/// length of a compressed body would tell something about them.
pub fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().compress_when(SizeAbove::new(MIN_BYTES).and(may_be_stored))
}

fn may_be_stored(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    headers.get(header::CACHE_CONTROL).is_none_or(|control| control != "no-store")
}
