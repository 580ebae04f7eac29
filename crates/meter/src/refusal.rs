//! Why a request is not let through.

/// A request that is not let through: what a client is answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MeterRefusal {
    /// Of HTTP.
    pub status: u16,
    /// `invalid_json`, `invalid_request`, `not_metered` or `unsupported_media_type`.
    pub code: &'static str,
    /// A sentence.
    pub message: String,
}

impl MeterRefusal {
    /// The body cannot be read.
    pub(crate) fn body(message: impl Into<String>) -> Self {
        Self { status: 400, code: "invalid_json", message: message.into() }
    }

    /// The body says something that cannot be.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self { status: 400, code: "invalid_request", message: message.into() }
    }

    /// What this names could cost what nobody counts.
    pub(crate) fn not_metered(name: &str, why: &str) -> Self {
        let name: String = name.chars().take(64).map(|c| if c.is_control() { '?' } else { c }).collect();
        Self { status: 403, code: "not_metered", message: format!("`{name}` is not served here: {why}") }
    }
}
