//! The flags of `sql_mode`.

/// A set of `sql_mode` flags, with MySQL's bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SqlMode(pub u64);

/// Names by bit; empty: no flag has this bit any more.
static NAMES: [&str; 33] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// Flags of earlier versions that frontends still set: accepted, without effect.
static IGNORED: [&str; 1] = ["NO_AUTO_CREATE_USER"];

impl SqlMode {
    /// FLOAT for REAL.
    pub const REAL_AS_FLOAT: Self = Self(1);
    /// `||` concatenates.
    pub const PIPES_AS_CONCAT: Self = Self(1 << 1);
    /// Double quotes enclose identifiers.
    pub const ANSI_QUOTES: Self = Self(1 << 2);
    /// Spaces between function name and parenthesis.
    pub const IGNORE_SPACE: Self = Self(1 << 3);
    /// Non-aggregated columns must depend on GROUP BY.
    pub const ONLY_FULL_GROUP_BY: Self = Self(1 << 5);
    /// Unsigned minus anything is signed.
    pub const NO_UNSIGNED_SUBTRACTION: Self = Self(1 << 6);
    /// ANSI combination.
    pub const ANSI: Self = Self(1 << 18);
    /// 0 is a value of AUTO_INCREMENT columns.
    pub const NO_AUTO_VALUE_ON_ZERO: Self = Self(1 << 19);
    /// Backslash is an ordinary character.
    pub const NO_BACKSLASH_ESCAPES: Self = Self(1 << 20);
    /// Bad values are errors in transactional tables.
    pub const STRICT_TRANS_TABLES: Self = Self(1 << 21);
    /// Bad values are errors in all tables.
    pub const STRICT_ALL_TABLES: Self = Self(1 << 22);
    /// No zero month or day.
    pub const NO_ZERO_IN_DATE: Self = Self(1 << 23);
    /// No `0000-00-00`.
    pub const NO_ZERO_DATE: Self = Self(1 << 24);
    /// Any day from 1 to 31.
    pub const ALLOW_INVALID_DATES: Self = Self(1 << 25);
    /// Division by zero is an error (strict) or warning.
    pub const ERROR_FOR_DIVISION_BY_ZERO: Self = Self(1 << 26);
    /// TRADITIONAL combination.
    pub const TRADITIONAL: Self = Self(1 << 27);
    /// NOT binds like `!`.
    pub const HIGH_NOT_PRECEDENCE: Self = Self(1 << 29);
    /// Unknown storage engines are errors.
    pub const NO_ENGINE_SUBSTITUTION: Self = Self(1 << 30);
    /// CHAR values are read with trailing spaces.
    pub const PAD_CHAR_TO_FULL_LENGTH: Self = Self(1 << 31);
    /// Fractional seconds are cut, not rounded.
    pub const TIME_TRUNCATE_FRACTIONAL: Self = Self(1 << 32);

    /// What ANSI stands for.
    const ANSI_PARTS: u64 = Self::REAL_AS_FLOAT.0
        | Self::PIPES_AS_CONCAT.0
        | Self::ANSI_QUOTES.0
        | Self::IGNORE_SPACE.0
        | Self::ONLY_FULL_GROUP_BY.0;
    /// What TRADITIONAL stands for.
    const TRADITIONAL_PARTS: u64 = Self::STRICT_TRANS_TABLES.0
        | Self::STRICT_ALL_TABLES.0
        | Self::NO_ZERO_IN_DATE.0
        | Self::NO_ZERO_DATE.0
        | Self::ERROR_FOR_DIVISION_BY_ZERO.0
        | Self::NO_ENGINE_SUBSTITUTION.0;

    /// Whether every flag of `flags` is set.
    #[inline]
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Whether bad values are errors in this engine's tables.
    #[inline]
    pub fn is_strict(self) -> bool {
        self.0 & (Self::STRICT_TRANS_TABLES.0 | Self::STRICT_ALL_TABLES.0) != 0
    }

    /// The set of the comma-separated names in `text`; `Err` holds the first unknown one.
    pub fn parse(text: &str) -> Result<Self, &str> {
        let mut bits = 0;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if IGNORED.iter().any(|old| old.eq_ignore_ascii_case(name)) {
                continue;
            }
            let bit = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)).ok_or(name)?;
            bits |= 1 << bit;
        }
        Ok(Self(bits).with_parts())
    }

    /// The set of a number as SET takes it; `None` if it has unknown bits.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let known = (0..NAMES.len()).filter(|&bit| !NAMES[bit].is_empty()).fold(0, |all, bit| all | 1 << bit);
        (bits & !known == 0).then(|| Self(bits).with_parts())
    }

    /// Combinations stand for themselves and their parts.
    fn with_parts(self) -> Self {
        let ansi = if self.has(Self::ANSI) { Self::ANSI_PARTS } else { 0 };
        let traditional = if self.has(Self::TRADITIONAL) { Self::TRADITIONAL_PARTS } else { 0 };
        Self(self.0 | ansi | traditional)
    }

    /// Names of the flags, comma-separated, in the order of their bits.
    pub fn text(self) -> String {
        let names = (0..NAMES.len()).filter(|&bit| self.0 >> bit & 1 == 1).map(|bit| NAMES[bit]);
        names.collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_order_and_shown_in_mysqls() {
        let mode = SqlMode::parse("no_zero_date, STRICT_TRANS_TABLES").unwrap();
        assert_eq!(mode.text(), "STRICT_TRANS_TABLES,NO_ZERO_DATE");
        assert!(mode.is_strict());
        assert_eq!(SqlMode::parse(""), Ok(SqlMode(0)));
        assert_eq!(SqlMode::parse("ANSI_QUOTES,FOO"), Err("FOO"));
        assert_eq!(SqlMode::parse("no_auto_create_user"), Ok(SqlMode(0)));
    }

    #[test]
    fn combinations_bring_their_parts() {
        let text = SqlMode::parse("ANSI").unwrap().text();
        assert_eq!(text, "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI");
        assert!(SqlMode::parse("TRADITIONAL").unwrap().has(SqlMode::NO_ENGINE_SUBSTITUTION));
        assert_eq!(SqlMode::from_bits(1 << 4), None);
        assert_eq!(SqlMode::from_bits(4), Some(SqlMode::ANSI_QUOTES));
    }
}
