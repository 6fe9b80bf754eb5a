//! The parts of `sql_mode` and the client's character set that change how text is read.

/// Bit set of what the lexer and parser obey. The default is MySQL's default: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LexMode(u8);

impl LexMode {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// `"x"` is an identifier, not a string.
    pub const ANSI_QUOTES: Self = Self(1);
    /// Backslash is an ordinary character in strings.
    pub const NO_BACKSLASH_ESCAPES: Self = Self(2);
    /// `||` concatenates instead of being OR.
    pub const PIPES_AS_CONCAT: Self = Self(4);
    /// `NOT` binds like `!`.
    pub const HIGH_NOT_PRECEDENCE: Self = Self(8);
    /// Spaces may be between a built-in function's name and its parenthesis.
    pub const IGNORE_SPACE: Self = Self(16);
    /// The type REAL is FLOAT, not DOUBLE.
    pub const REAL_AS_FLOAT: Self = Self(32);

    /// Names and option texts are latin1, not UTF-8.
    pub const LATIN1: Self = Self(32);

    /// Both sets together.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every flag of `other` is set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set as a number, for use in cache keys.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
}
