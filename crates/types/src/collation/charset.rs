//! Character sets.

use super::{CollationId, utf8};

/// A character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// UTF-8, one to four bytes per character.
    Utf8mb4,
    /// UTF-8 of the basic plane, one to three bytes per character.
    Utf8mb3,
    /// Windows code page 1252, its five unassigned bytes standing for the C1 controls of the same number.
    Latin1,
    /// Seven bits.
    Ascii,
    /// Bytes, no characters.
    Binary,
}

impl Charset {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Utf8mb4, Self::Utf8mb3, Self::Latin1, Self::Ascii, Self::Binary];

    /// The set of this name, without regard to case. `utf8` is utf8mb3.
    pub fn find(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Self::Utf8mb3);
        }
        Self::ALL.into_iter().find(|c| c.name().eq_ignore_ascii_case(name))
    }

    /// Whether text is UTF-8.
    #[inline]
    pub fn is_utf8(self) -> bool {
        matches!(self, Self::Utf8mb4 | Self::Utf8mb3)
    }

    /// MySQL's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8mb4 => "utf8mb4",
            Self::Utf8mb3 => "utf8mb3",
            Self::Latin1 => "latin1",
            Self::Ascii => "ascii",
            Self::Binary => "binary",
        }
    }

    /// What SHOW CHARACTER SET says of it.
    pub fn description(self) -> &'static str {
        match self {
            Self::Utf8mb4 | Self::Utf8mb3 => "UTF-8 Unicode",
            Self::Latin1 => "cp1252 West European",
            Self::Ascii => "US ASCII",
            Self::Binary => "Binary pseudo charset",
        }
    }

    /// The collation taken when none is named.
    pub fn default_collation(self) -> CollationId {
        match self {
            Self::Utf8mb4 => CollationId::UTF8MB4_0900_AI_CI,
            Self::Utf8mb3 => CollationId::UTF8MB3_GENERAL_CI,
            Self::Latin1 => CollationId::LATIN1_SWEDISH_CI,
            Self::Ascii => CollationId::ASCII_GENERAL_CI,
            Self::Binary => CollationId::BINARY,
        }
    }

    /// The collation that compares code points.
    pub fn binary_collation(self) -> CollationId {
        match self {
            Self::Utf8mb4 => CollationId::UTF8MB4_BIN,
            Self::Utf8mb3 => CollationId::UTF8MB3_BIN,
            Self::Latin1 => CollationId::LATIN1_BIN,
            Self::Ascii => CollationId::ASCII_BIN,
            Self::Binary => CollationId::BINARY,
        }
    }

    /// Most bytes of one character.
    pub fn max_char_bytes(self) -> usize {
        match self {
            Self::Utf8mb4 => 4,
            Self::Utf8mb3 => 3,
            Self::Latin1 | Self::Ascii | Self::Binary => 1,
        }
    }

    /// Number of characters in `bytes`, valid text of this set.
    #[inline]
    pub fn char_len(self, bytes: &[u8]) -> usize {
        if self.is_utf8() { utf8::char_len(bytes) } else { bytes.len() }
    }

    /// Byte offset of character number `index` in valid text; the length of `bytes` when there are not so
    /// many.
    #[inline]
    pub fn byte_offset_of_char(self, bytes: &[u8], index: usize) -> usize {
        if self.is_utf8() { utf8::byte_offset_of_char(bytes, index) } else { index.min(bytes.len()) }
    }

    /// Byte length of the character that starts `bytes`, which must not be empty; 1 for an invalid byte.
    #[inline]
    pub fn first_char_bytes(self, bytes: &[u8]) -> usize {
        if self.is_utf8() { utf8::decode(bytes).1 } else { 1 }
    }

    /// Byte offset of the first byte that is not part of a character.
    #[inline]
    pub fn first_invalid(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Utf8mb4 => utf8::first_invalid(bytes),
            Self::Utf8mb3 => utf8::first_beyond_basic_plane(bytes),
            Self::Ascii => bytes.iter().position(|&b| b >= 0x80),
            Self::Latin1 | Self::Binary => None,
        }
    }
}
