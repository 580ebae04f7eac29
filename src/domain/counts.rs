//! What a gateway counted of a request.

/// Tokens in and out of a model, as the gateway counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Input tokens.
    pub prompt_tokens: i64,
    /// Output tokens.
    pub completion_tokens: i64,
    /// Input tokens that were read from the provider's cache. With those written to it, not more than all input tokens.
    pub cached_tokens: Option<i64>,
    /// Input tokens that were written to the provider's cache.
    pub cache_write_tokens: Option<i64>,
}

impl Counts {
    /// Input tokens that are known to have been read from the cache.
    pub fn cached(&self) -> i64 {
        self.cached_tokens.unwrap_or(0)
    }

    /// Input tokens that are known to have been written to the cache.
    pub fn cache_write(&self) -> i64 {
        self.cache_write_tokens.unwrap_or(0)
    }

    /// Both together; stops at the largest number.
    pub const fn total(self) -> i64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}
