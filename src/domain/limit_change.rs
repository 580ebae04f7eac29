//! A change of a limit that may be absent.

/// What a request does with one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LimitChange<T> {
    #[default]
    Keep,
    Remove,
    Set(T),
}

impl<T> LimitChange<T> {
    /// The limit after the change.
    #[must_use]
    pub fn apply(self, limit: Option<T>) -> Option<T> {
        match self {
            Self::Keep => limit,
            Self::Remove => None,
            Self::Set(new) => Some(new),
        }
    }
}
