//! Types of columns that are altered, in families whose values mostly survive a change within the family.

use crate::differential::dice::Dice;

/// Types that convert into each other, and values for their columns.
struct Family {
    types: &'static [&'static str],
    /// Defaults that most of the types hold.
    defaults: &'static [&'static str],
    /// Values of rows: ordinary ones first, those at the end overflow or are cut in some of the types.
    values: &'static [&'static str],
}

const FAMILIES: [Family; 9] = [
    Family {
        types: &[
            "INT",
            "BIGINT",
            "TINYINT",
            "SMALLINT",
            "MEDIUMINT",
            "INT UNSIGNED",
            "BIGINT UNSIGNED",
            "TINYINT UNSIGNED",
            "INT(6) ZEROFILL",
            "TINYINT(1)",
            "BOOLEAN",
            "INT(11)",
        ],
        defaults: &["0", "1", "'5'", "7", "-1", "1.5", "TRUE"],
        values: &["1", "2", "5", "0", "42", "NULL", "-1", "127", "200", "40000", "3000000000", "-129"],
    },
    Family {
        types: &[
            "DECIMAL(10,2)",
            "DECIMAL(12,4)",
            "DECIMAL(5,1)",
            "DECIMAL",
            "NUMERIC(6,2) UNSIGNED",
            "DECIMAL(65,30)",
            "DOUBLE",
            "FLOAT",
            "FLOAT(7,3)",
            "DOUBLE(8,2)",
            "REAL",
            "FLOAT(30)",
        ],
        defaults: &["0", "1.5", "'2.25'", "-1", "1e2", "0.004"],
        values: &["1", "1.5", "2.25", "0", "NULL", "-3.75", "99.995", "12345.678", "1e20", "-0.001"],
    },
    Family {
        types: &[
            "VARCHAR(20)",
            "VARCHAR(63)",
            "VARCHAR(64)",
            "VARCHAR(255)",
            "VARCHAR(256)",
            "VARCHAR(300)",
            "VARCHAR(5)",
            "CHAR(5)",
            "CHAR(30)",
            "CHAR",
            "CHAR(0)",
            "VARCHAR(0)",
            "NCHAR(4)",
            "VARCHAR(17000)",
            "CHAR(256)",
        ],
        defaults: &["''", "'a'", "'abc'", "7", "'long enough'"],
        values: &[
            "'a'",
            "'abc'",
            "''",
            "NULL",
            "'b'",
            "'A'",
            "'1'",
            "'12 '",
            "'2024-02-29'",
            "'more than five'",
            "'\u{e4}\u{f6}'",
            "'\u{1f600}'",
            "REPEAT('x', 70)",
            "REPEAT('y', 260)",
        ],
    },
    Family {
        types: &["TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "TEXT(100)", "LONG VARCHAR"],
        defaults: &["'a'"],
        values: &["'a'", "'abc'", "''", "NULL", "'1'", "REPEAT('x', 300)", "REPEAT('\u{e4}', 9000)", "'2'"],
    },
    Family {
        types: &[
            "VARBINARY(10)",
            "BINARY(4)",
            "BINARY",
            "VARBINARY(300)",
            "BLOB",
            "TINYBLOB",
            "LONGBLOB",
            "BLOB(300)",
        ],
        defaults: &["''", "'a'", "0x6162", "b'01100001'"],
        values: &["'a'", "0x00", "''", "NULL", "0xFF", "'abcd'", "0x61000000", "REPEAT('z', 280)"],
    },
    Family {
        types: &["BIT(1)", "BIT(8)", "BIT(64)", "BIT"],
        defaults: &["b'0'", "b'1'", "0", "1"],
        values: &["b'0'", "b'1'", "1", "NULL", "65", "18446744073709551615"],
    },
    Family {
        types: &["DATE", "DATETIME", "DATETIME(6)", "TIMESTAMP", "TIMESTAMP(3)", "TIMESTAMP NULL", "YEAR"],
        defaults: &[
            "'2020-01-02'",
            "'2020-01-02 03:04:05'",
            "CURRENT_TIMESTAMP",
            "NOW()",
            "CURRENT_TIMESTAMP(3)",
            "CURRENT_TIMESTAMP(6)",
            "'0000-00-00'",
            "2020",
        ],
        values: &[
            "'2024-02-29'",
            "'2024-02-29 12:34:56'",
            "'1999-12-31 23:59:59.999'",
            "NULL",
            "'2000-01-01'",
            "'0000-00-00'",
            "'2024-00-10'",
            "'1000-01-01 00:00:00'",
            "2024",
        ],
    },
    Family {
        types: &["TIME", "TIME(3)", "TIME(6)"],
        defaults: &["'00:00:00'", "'12:34:56.5'", "101112"],
        values: &["'12:34:56'", "'00:00:00'", "NULL", "'-838:59:59'", "'23:59:59.9996'", "101112"],
    },
    Family {
        types: &[
            "ENUM('a','b')",
            "ENUM('a','b','c')",
            "ENUM('b','a')",
            "ENUM('a','b','','1')",
            "ENUM('a','B','c','d')",
            "SET('a','b')",
            "SET('b','a','c')",
            "SET('a','b','c','d','e','f','g','h','i')",
        ],
        defaults: &["'a'", "'b'", "''", "1", "'c'"],
        values: &["'a'", "'b'", "'A'", "NULL", "''", "1", "2", "'c'", "'a,b'"],
    },
];

/// Character sets and collations of text columns.
const CHARSETS: [&str; 9] = [
    " CHARACTER SET latin1",
    " COLLATE utf8mb4_bin",
    " COLLATE utf8mb4_general_ci",
    " CHARACTER SET utf8mb3",
    " CHARACTER SET ascii",
    " CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
    " CHARACTER SET latin1 COLLATE latin1_bin",
    " CHARSET binary",
    " BINARY",
];

/// The type of a column that is altered.
#[derive(Clone, Debug)]
pub(super) struct Type {
    family: usize,
    text: String,
}

impl Type {
    /// Any type.
    pub(super) fn any(dice: &mut Dice) -> Type {
        Type::of(dice.below(FAMILIES.len()), dice)
    }

    /// A type that the values of this one mostly convert to, or any.
    pub(super) fn next(&self, dice: &mut Dice) -> Type {
        match dice.below(20) {
            0..5 => self.clone(),
            5..15 => Type::of(self.family, dice),
            _ => Type::any(dice),
        }
    }

    /// A type of integers.
    pub(super) fn number(dice: &mut Dice) -> Type {
        Type::of(0, dice)
    }

    fn of(family: usize, dice: &mut Dice) -> Type {
        let types = FAMILIES[family].types;
        // Those that most statements take are first.
        let bound = if dice.percent(70) { types.len().min(6) } else { types.len() };
        let mut text = types[dice.below(bound)].to_owned();
        if matches!(family, 2 | 3 | 8) && dice.percent(25) {
            text.push_str(CHARSETS[dice.below(CHARSETS.len())]);
        }
        Type { family, text }
    }

    /// As it is written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A value for a row, perhaps one that is not of this type.
    pub(super) fn value(&self, dice: &mut Dice) -> &'static str {
        let family = if dice.percent(4) { dice.below(FAMILIES.len()) } else { self.family };
        Type { family, text: String::new() }.own_value(dice)
    }

    /// A value of this type, or one that is too long or too large for it.
    pub(super) fn own_value(&self, dice: &mut Dice) -> &'static str {
        let values = FAMILIES[self.family].values;
        let bound = if dice.percent(60) { 6 } else { values.len() };
        values[dice.below(bound)]
    }

    /// A DEFAULT clause's value.
    pub(super) fn default(&self, dice: &mut Dice) -> &'static str {
        let family = if dice.percent(5) { dice.below(FAMILIES.len()) } else { self.family };
        dice.pick(FAMILIES[family].defaults)
    }

    /// A DEFAULT clause's value that the type holds.
    pub(super) fn fitting_default(&self, dice: &mut Dice) -> &'static str {
        let now = match self.text() {
            "DATETIME" | "TIMESTAMP" | "TIMESTAMP NULL" => "CURRENT_TIMESTAMP",
            "DATETIME(6)" => "NOW(6)",
            "TIMESTAMP(3)" => "CURRENT_TIMESTAMP(3)",
            "YEAR" => return "2020",
            _ => "",
        };
        if now.is_empty() || dice.percent(40) { FAMILIES[self.family].defaults[0] } else { now }
    }

    /// The ON UPDATE clause that the type takes.
    pub(super) fn on_update(&self) -> &'static str {
        match self.text() {
            "DATETIME" | "TIMESTAMP" | "TIMESTAMP NULL" => " ON UPDATE CURRENT_TIMESTAMP",
            "DATETIME(6)" => " ON UPDATE NOW(6)",
            "TIMESTAMP(3)" => " ON UPDATE CURRENT_TIMESTAMP(3)",
            _ => "",
        }
    }

    /// It can have AUTO_INCREMENT.
    pub(super) fn takes_numbers(&self) -> bool {
        self.family == 0
    }

    /// Most characters of it that a key can have, if it takes a length there.
    pub(super) fn longest_part(&self) -> Option<usize> {
        if !matches!(self.family, 2..=4) {
            return None;
        }
        let digits = self.text.split(['(', ')']).nth(1).and_then(|digits| digits.parse::<usize>().ok());
        digits.or_else(|| self.needs_length().then_some(60))
    }

    /// It needs a length in a key.
    pub(super) fn needs_length(&self) -> bool {
        self.text.contains("TEXT") || self.text.contains("BLOB") || self.text.starts_with("LONG")
    }
}
