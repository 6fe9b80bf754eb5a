//! Character sets and collations by MySQL's ids.

use std::fmt;

/// A collation by MySQL's numeric id, which is also what handshake and column packets carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `latin1_swedish_ci`.
    pub const LATIN1_SWEDISH_CI: Self = Self(8);
    /// `ascii_general_ci`.
    pub const ASCII_GENERAL_CI: Self = Self(11);
    /// `utf8mb4_general_ci`.
    pub const UTF8MB4_GENERAL_CI: Self = Self(45);
    /// `utf8mb4_bin`.
    pub const UTF8MB4_BIN: Self = Self(46);
    /// `binary`: bytes, no character set.
    pub const BINARY: Self = Self(63);
    /// `utf8mb4_0900_ai_ci`, the server default.
    pub const UTF8MB4_0900_AI_CI: Self = Self(255);
}

impl fmt::Display for CollationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "collation {}", self.0)
    }
}
