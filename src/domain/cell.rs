//! A cell: one of several Keymeter installations, each with its own database. Every key contains the label of its cell,
//! so that a router in front of the cells knows where to send it.

use super::base62::BASE62;

/// Two letters or digits, part of every key that the installation issues. The default is `00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellLabel([u8; 2]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cell label is two letters or digits, such as `00` or `A7`")]
pub struct CellLabelInvalid;

impl CellLabel {
    /// Each cell has 2^40 identities.
    const IDENTITY_BITS: u32 = 40;

    /// # Errors
    /// Anything but two ASCII letters or digits.
    pub fn parse(text: &str) -> Result<Self, CellLabelInvalid> {
        match text.as_bytes() {
            &[first, second] if first.is_ascii_alphanumeric() && second.is_ascii_alphanumeric() => {
                Ok(Self([first, second]))
            }
            _ => Err(CellLabelInvalid),
        }
    }

    pub fn as_str(&self) -> &str {
        // Always valid: two ASCII characters.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The first identity of the cell's database: the label as a base-62 number, times 2^40. The largest is
    /// below 2^52, which JavaScript can represent exactly.
    pub fn first_identity(self) -> i64 {
        let digit = |byte: u8| BASE62.iter().position(|digit| *digit == byte).unwrap_or_default();
        let cell = digit(self.0[0]) * BASE62.len() + digit(self.0[1]);
        i64::try_from(cell << Self::IDENTITY_BITS).unwrap_or_default().max(1)
    }
}

impl Default for CellLabel {
    fn default() -> Self {
        Self(*b"00")
    }
}

impl std::fmt::Display for CellLabel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_two_letters_or_digits() {
        for good in ["00", "zz", "A7"] {
            assert_eq!(CellLabel::parse(good).unwrap().as_str(), good);
            assert_eq!(CellLabel::parse(good).unwrap().to_string(), good);
        }
        for bad in ["", "0", "000", "é", "0-", " 0"] {
            assert_eq!(CellLabel::parse(bad), Err(CellLabelInvalid), "{bad:?}");
        }
    }

    #[test]
    fn identities_of_cells_do_not_overlap_and_fit_a_double() {
        let first = |label| CellLabel::parse(label).unwrap().first_identity();
        assert_eq!([first("00"), first("01"), first("10")], [1, 1 << 40, 62 << 40]);
        assert_eq!(first("zz"), (62 * 62 - 1) << 40);
        assert!(first("zz") + (1 << 40) <= 1 << 53);
    }
}
