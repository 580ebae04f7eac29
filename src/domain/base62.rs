//! Digits of base 62: decimal digits, capital letters, small letters.

/// The digits by their values.
pub(super) const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
