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
    pub fn apply(self, limit: Option<T>) -> Option<T> {
        match self {
            Self::Keep => limit,
            Self::Remove => None,
            Self::Set(new) => Some(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_kept_removed_or_set() {
        for before in [None, Some(5)] {
            assert_eq!(LimitChange::Keep.apply(before), before);
            assert_eq!(LimitChange::Remove.apply(before), None);
            assert_eq!(LimitChange::Set(7).apply(before), Some(7));
        }
    }
}
