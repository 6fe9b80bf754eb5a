//! Character-set names that may introduce a literal (`_utf8mb4'x'`).

/// MySQL 8.4's character sets, in the order of their introducer number minus one.
static NAMES: [&str; 42] = [
    "binary", "utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "armscii8", "big5", "cp1250", "cp1251",
    "cp1256", "cp1257", "cp850", "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312",
    "gbk", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin2", "latin5", "latin7",
    "macce", "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32",
];

/// Number of a literal's introducer; [`Introducer::NONE`] means the connection's character set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Introducer(u8);

impl Introducer {
    /// No introducer: the literal is in `character_set_connection`.
    pub const NONE: Self = Self(0);
    /// `_binary`.
    pub const BINARY: Self = Self(1);
    /// `N'..'` is `_utf8mb3'..'`.
    pub(crate) const NATIONAL: Self = Self(3);

    /// The introducer for a character set's name (without the underscore), case-insensitive.
    pub fn find(name: &[u8]) -> Option<Self> {
        if name.len() < 3 || name.len() > 8 {
            return None;
        }
        NAMES.iter().position(|n| n.as_bytes().eq_ignore_ascii_case(name)).map(|i| Self(i as u8 + 1))
    }

    /// The character set's name, `None` for [`Introducer::NONE`].
    pub fn name(self) -> Option<&'static str> {
        NAMES.get((self.0 as usize).wrapping_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Introducer;

    #[test]
    fn introducers_are_found_by_name_in_any_case() {
        assert_eq!(Introducer::find(b"BINARY"), Some(Introducer::BINARY));
        assert_eq!(Introducer::find(b"utf8mb3"), Some(Introducer::NATIONAL));
        assert_eq!(Introducer::find(b"nope"), None);
        assert_eq!(Introducer::NONE.name(), None);
        assert_eq!(Introducer::BINARY.name(), Some("binary"));
    }
}
