//! `sql_mode`: a set of flags, with MySQL's names.

/// A set of `sql_mode` flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SqlModes(u32);

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident = $bit:literal),+ $(,)?) => {
        impl SqlModes {
            $($(#[$doc])* pub const $name: SqlModes = SqlModes(1 << $bit);)+
            /// Every flag with its name, in the order in which MySQL lists them.
            const NAMED: &'static [(SqlModes, &'static str)] = &[$((SqlModes(1 << $bit), stringify!($name))),+];
        }
    };
}

modes! {
    /// `REAL` is FLOAT.
    REAL_AS_FLOAT = 0,
    /// `||` concatenates.
    PIPES_AS_CONCAT = 1,
    /// `"` quotes identifiers.
    ANSI_QUOTES = 2,
    /// A blank may be between a function's name and its parenthesis.
    IGNORE_SPACE = 3,
    /// Columns outside GROUP BY must depend on it.
    ONLY_FULL_GROUP_BY = 4,
    /// Subtraction of unsigned integers is signed.
    NO_UNSIGNED_SUBTRACTION = 5,
    /// SHOW CREATE TABLE leaves the directories out.
    NO_DIR_IN_CREATE = 6,
    /// All of REAL_AS_FLOAT, PIPES_AS_CONCAT, ANSI_QUOTES, IGNORE_SPACE, ONLY_FULL_GROUP_BY.
    ANSI = 7,
    /// 0 is a value for AUTO_INCREMENT, not a request for the next.
    NO_AUTO_VALUE_ON_ZERO = 8,
    /// `\` is an ordinary character.
    NO_BACKSLASH_ESCAPES = 9,
    /// Refuse bad values in transactional tables.
    STRICT_TRANS_TABLES = 10,
    /// Refuse bad values in all tables.
    STRICT_ALL_TABLES = 11,
    /// Refuse dates with a month or day of zero.
    NO_ZERO_IN_DATE = 12,
    /// Refuse '0000-00-00'.
    NO_ZERO_DATE = 13,
    /// Accept days that the month does not have.
    ALLOW_INVALID_DATES = 14,
    /// Division by zero gives a warning.
    ERROR_FOR_DIVISION_BY_ZERO = 15,
    /// STRICT and the date and division modes together.
    TRADITIONAL = 16,
    /// NOT binds tighter than comparison.
    HIGH_NOT_PRECEDENCE = 17,
    /// An unknown engine is an error.
    NO_ENGINE_SUBSTITUTION = 18,
    /// CHAR values keep their padding when read.
    PAD_CHAR_TO_FULL_LENGTH = 19,
    /// Fractional seconds are cut, not rounded.
    TIME_TRUNCATE_FRACTIONAL = 20,
}

impl SqlModes {
    /// The default of MySQL 8.4.
    pub const DEFAULT: SqlModes = SqlModes::ONLY_FULL_GROUP_BY
        .with(SqlModes::STRICT_TRANS_TABLES)
        .with(SqlModes::NO_ZERO_IN_DATE)
        .with(SqlModes::NO_ZERO_DATE)
        .with(SqlModes::ERROR_FOR_DIVISION_BY_ZERO)
        .with(SqlModes::NO_ENGINE_SUBSTITUTION);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: SqlModes) -> SqlModes {
        SqlModes(self.0 | other.0)
    }

    /// This set without the flags of `other`.
    #[must_use]
    pub const fn without(self, other: SqlModes) -> SqlModes {
        SqlModes(self.0 & !other.0)
    }

    /// Whether all flags of `other` are set.
    #[inline]
    pub const fn has(self, other: SqlModes) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether bad values are refused in transactional tables.
    #[inline]
    pub const fn is_strict(self) -> bool {
        self.0 & (SqlModes::STRICT_TRANS_TABLES.0 | SqlModes::STRICT_ALL_TABLES.0) != 0
    }

    /// The flag of this name, without regard to case. Combined modes bring their parts along, as in MySQL.
    fn named(name: &str) -> Option<SqlModes> {
        let (flag, _) = SqlModes::NAMED.iter().find(|(_, n)| n.eq_ignore_ascii_case(name))?;
        Some(match *flag {
            SqlModes::ANSI => SqlModes::ANSI
                .with(SqlModes::REAL_AS_FLOAT)
                .with(SqlModes::PIPES_AS_CONCAT)
                .with(SqlModes::ANSI_QUOTES)
                .with(SqlModes::IGNORE_SPACE)
                .with(SqlModes::ONLY_FULL_GROUP_BY),
            SqlModes::TRADITIONAL => SqlModes::TRADITIONAL
                .with(SqlModes::STRICT_TRANS_TABLES)
                .with(SqlModes::STRICT_ALL_TABLES)
                .with(SqlModes::NO_ZERO_IN_DATE)
                .with(SqlModes::NO_ZERO_DATE)
                .with(SqlModes::ERROR_FOR_DIVISION_BY_ZERO)
                .with(SqlModes::NO_ENGINE_SUBSTITUTION),
            flag => flag,
        })
    }

    /// Reads a comma-separated list; the error is the first name that is no mode. `NO_AUTO_CREATE_USER`,
    /// which old clients still send, counts as no mode at all.
    pub fn parse(list: &str) -> Result<SqlModes, String> {
        let mut modes = SqlModes::default();
        for name in list.split(',').filter(|name| !name.is_empty()) {
            if !name.eq_ignore_ascii_case("NO_AUTO_CREATE_USER") {
                modes = modes.with(SqlModes::named(name).ok_or_else(|| name.to_owned())?);
            }
        }
        Ok(modes)
    }

    /// The names, comma-separated, in MySQL's order.
    pub fn text(self) -> String {
        let names: Vec<&str> =
            SqlModes::NAMED.iter().filter(|(flag, _)| self.has(*flag)).map(|&(_, name)| name).collect();
        names.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_reads_and_prints_as_in_mysql() {
        let text = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
                    ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";
        assert_eq!(SqlModes::DEFAULT.text(), text);
        assert_eq!(SqlModes::parse(text), Ok(SqlModes::DEFAULT));
        assert_eq!(SqlModes::parse("strict_trans_tables,nosuch"), Err("nosuch".to_owned()));
        assert!(SqlModes::parse("ANSI").unwrap().has(SqlModes::ANSI_QUOTES));
    }
}
