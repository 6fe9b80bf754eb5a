//! Character sets and collations, by MySQL's names and numbers.
//!
//! A [`Collation`] compares strings of its [`Charset`] and makes sort keys of them. What is not listed here
//! does not exist: look-ups return `None`, for which callers raise 1115 (character set) or 1273 (collation).
//!
//! Sort keys are part of the format of an index: a change of any weight or code needs a new
//! [`Collation::version`]. A key is self-delimiting: it ends in [`Collation::key_end`], a byte it does not
//! hold elsewhere.
//!
//! | collation | key of text without control characters |
//! |---|---|
//! | `utf8mb4_0900_ai_ci` | one byte per ASCII or accented Latin character, two for other scripts, four for Han |
//! | `utf8mb4_unicode_ci`, `utf8mb4_unicode_520_ci` | two bytes per weight, one for a space |
//! | `utf8mb4_general_ci` | UTF-8 of the weights |
//! | `latin1_swedish_ci`, `ascii_general_ci` | one byte per character |
//! | `*_bin`, `binary` | the bytes, which can be read back (except for trailing spaces under PAD SPACE) |
//!
//! Concepts: [`registry`] lists collations, `byte_key` is the key format of bytes, `letter_case` what text is
//! beside its key, `uca900`, `uca_pad`, `general_ci` and `eight_bit` hold weights, [`utf8`] reads
//! characters, [`like`] matches patterns, [`convert()`] changes sets.

use std::fmt;

pub(crate) mod byte_key;
mod case;
pub mod charset;
pub mod convert;
mod eight_bit;
mod general_ci;
mod general_ci_runs;
pub(crate) mod letter_case;
pub mod like;
pub mod registry;
mod uca900;
mod uca_pad;
pub mod utf8;
mod work;

pub use charset::Charset;
pub use convert::{Conversion, convert};
pub use like::LikePattern;
pub use registry::{Collation, PadAttribute};

/// A collation by MySQL's numeric id, which is also what handshake and column packets carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `latin1_swedish_ci`.
    pub const LATIN1_SWEDISH_CI: Self = Self(8);
    /// `ascii_general_ci`.
    pub const ASCII_GENERAL_CI: Self = Self(11);
    /// `utf8mb3_general_ci`.
    pub const UTF8MB3_GENERAL_CI: Self = Self(33);
    /// `utf8mb4_general_ci`.
    pub const UTF8MB4_GENERAL_CI: Self = Self(45);
    /// `utf8mb4_bin`.
    pub const UTF8MB4_BIN: Self = Self(46);
    /// `latin1_bin`.
    pub const LATIN1_BIN: Self = Self(47);
    /// `binary`: bytes, no character set.
    pub const BINARY: Self = Self(63);
    /// `ascii_bin`.
    pub const ASCII_BIN: Self = Self(65);
    /// `utf8mb3_bin`.
    pub const UTF8MB3_BIN: Self = Self(83);
    /// `utf8mb3_unicode_ci`.
    pub(crate) const UTF8MB3_UNICODE_CI: Self = Self(192);
    /// `utf8mb3_unicode_520_ci`.
    pub(crate) const UTF8MB3_UNICODE_520_CI: Self = Self(214);
    /// `utf8mb4_unicode_ci`.
    pub(crate) const UTF8MB4_UNICODE_CI: Self = Self(224);
    /// `utf8mb4_unicode_520_ci`.
    pub(crate) const UTF8MB4_UNICODE_520_CI: Self = Self(246);
    /// `utf8mb4_0900_ai_ci`, the server default.
    pub const UTF8MB4_0900_AI_CI: Self = Self(255);
    /// `utf8mb4_0900_bin`.
    pub const UTF8MB4_0900_BIN: Self = Self(309);
}

impl fmt::Display for CollationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "collation {}", self.0)
    }
}

#[cfg(test)]
mod tests;
