//! Which version of a token a change is meant for (spec §15.2).

/// The versions that a token may have for a change to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Any: nobody asked for one.
    #[default]
    Any,
    OneOf(Vec<i64>),
}

/// The token has another version: somebody changed it since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the token was changed since you read it; read it again")]
pub struct VersionChanged {
    /// The present version.
    pub version: i64,
}

impl ExpectedVersion {
    /// # Errors
    /// `version` is not expected.
    pub fn check(&self, version: i64) -> Result<(), VersionChanged> {
        match self {
            Self::OneOf(versions) if !versions.contains(&version) => Err(VersionChanged { version }),
            Self::Any | Self::OneOf(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_2_a_change_is_made_at_an_expected_version_only() {
        assert_eq!(ExpectedVersion::Any.check(7), Ok(()));
        assert_eq!(ExpectedVersion::OneOf(vec![6, 7]).check(7), Ok(()));
        assert_eq!(ExpectedVersion::OneOf(vec![6]).check(7), Err(VersionChanged { version: 7 }));
        assert_eq!(ExpectedVersion::OneOf(vec![]).check(7), Err(VersionChanged { version: 7 }));
    }
}
