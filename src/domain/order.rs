//! The direction in which a list is ordered.

/// The direction in which a list is ordered. The default shows the newest or the largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    Ascending,
    #[default]
    Descending,
}

impl Order {
    /// Reads `asc` and `desc`; anything else is `None`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "asc" => Some(Self::Ascending),
            "desc" => Some(Self::Descending),
            _ => None,
        }
    }
}
