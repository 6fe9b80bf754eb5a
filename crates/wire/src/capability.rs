//! What client and server agree on at connection time.

use std::ops::{BitAnd, BitOr};

/// A set of capability flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(pub u32);

impl Capabilities {
    /// Longer password hashes (always on); MariaDB clients leave it out to announce their extended
    /// capabilities.
    pub(crate) const LONG_PASSWORD: Self = Self(1);
    /// Report rows found instead of rows changed.
    pub const FOUND_ROWS: Self = Self(1 << 1);
    /// All column flags.
    pub(crate) const LONG_FLAG: Self = Self(1 << 2);
    /// A database is named in the handshake.
    pub const CONNECT_WITH_DB: Self = Self(1 << 3);
    /// Refuse `database.table.column`; ignored by current servers.
    pub(crate) const NO_SCHEMA: Self = Self(1 << 4);
    /// zlib compression.
    pub const COMPRESS: Self = Self(1 << 5);
    /// ODBC client; no effect.
    pub(crate) const ODBC: Self = Self(1 << 6);
    /// The client can send files for LOAD DATA LOCAL.
    pub const LOCAL_FILES: Self = Self(1 << 7);
    /// Spaces before `(` are ignored.
    pub const IGNORE_SPACE: Self = Self(1 << 8);
    /// Protocol of MySQL 4.1 and later; required.
    pub const PROTOCOL_41: Self = Self(1 << 9);
    /// `interactive_timeout` instead of `wait_timeout`.
    pub const INTERACTIVE: Self = Self(1 << 10);
    /// TLS follows.
    pub const SSL: Self = Self(1 << 11);
    /// Client-side only.
    pub(crate) const IGNORE_SIGPIPE: Self = Self(1 << 12);
    /// Status flags in OK packets.
    pub(crate) const TRANSACTIONS: Self = Self(1 << 13);
    /// Old name of the 4.1 protocol; no effect.
    pub const RESERVED: Self = Self(1 << 14);
    /// Authentication data of 20 bytes.
    pub(crate) const SECURE_CONNECTION: Self = Self(1 << 15);
    /// Several statements in one COM_QUERY.
    pub const MULTI_STATEMENTS: Self = Self(1 << 16);
    /// Several result sets in one answer.
    pub const MULTI_RESULTS: Self = Self(1 << 17);
    /// Several result sets from COM_STMT_EXECUTE.
    pub(crate) const PS_MULTI_RESULTS: Self = Self(1 << 18);
    /// Authentication plugins.
    pub(crate) const PLUGIN_AUTH: Self = Self(1 << 19);
    /// Connection attributes.
    pub const CONNECT_ATTRS: Self = Self(1 << 20);
    /// Authentication data longer than 255 bytes.
    pub(crate) const PLUGIN_AUTH_LENENC: Self = Self(1 << 21);
    /// The client can handle expired passwords.
    pub const EXPIRED_PASSWORDS: Self = Self(1 << 22);
    /// State changes in OK packets.
    pub const SESSION_TRACK: Self = Self(1 << 23);
    /// OK packets in place of EOF packets at the end of rows.
    pub const DEPRECATE_EOF: Self = Self(1 << 24);

    /// zstd compression; the client's level ends the handshake.
    pub const ZSTD: Self = Self(1 << 26);

    /// What every server offers; TLS and compression depend on its settings.
    pub const OFFERED: Self = Self(
        Self::LONG_PASSWORD.0
            | Self::FOUND_ROWS.0
            | Self::LONG_FLAG.0
            | Self::CONNECT_WITH_DB.0
            | Self::NO_SCHEMA.0
            | Self::ODBC.0
            | Self::LOCAL_FILES.0
            | Self::IGNORE_SPACE.0
            | Self::PROTOCOL_41.0
            | Self::INTERACTIVE.0
            | Self::IGNORE_SIGPIPE.0
            | Self::TRANSACTIONS.0
            | Self::RESERVED.0
            | Self::SECURE_CONNECTION.0
            | Self::MULTI_STATEMENTS.0
            | Self::MULTI_RESULTS.0
            | Self::PS_MULTI_RESULTS.0
            | Self::PLUGIN_AUTH.0
            | Self::CONNECT_ATTRS.0
            | Self::PLUGIN_AUTH_LENENC.0
            | Self::EXPIRED_PASSWORDS.0
            | Self::SESSION_TRACK.0
            | Self::DEPRECATE_EOF.0,
    );

    /// Whether every flag of `flags` is set.
    #[inline]
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The set with `flags` added or removed.
    #[must_use]
    pub fn with(self, flags: Self, on: bool) -> Self {
        if on { Self(self.0 | flags.0) } else { Self(self.0 & !flags.0) }
    }
}

impl BitAnd for Capabilities {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Capabilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
