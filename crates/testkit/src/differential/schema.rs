//! Random tables.

use super::dice::{Dice, parameter};

/// What a column's values are like, as far as a generator of expressions cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integers, decimals, doubles, bits.
    Number,
    /// Strings, enumerations and sets.
    Text,
    /// Dates and datetimes.
    Moment,
    /// Times of day, durations.
    Time,
}

/// A column type: how it is declared and the literals it is filled from.
#[derive(Debug)]
pub struct ColumnType {
    sql: &'static str,
    /// What expressions may do with it.
    pub kind: Kind,
    domain: &'static [&'static str],
}

const SMALL: &[&str] = &["0", "1", "2", "3", "-1", "5", "10", "7"];
const NATURAL: &[&str] = &["0", "1", "2", "3", "5", "10", "7"];
const WIDE: &[&str] = &["0", "1", "2", "-1", "100", "9007199254740993", "-5000000000", "3"];
const WIDE_NATURAL: &[&str] = &["0", "1", "2", "100", "9223372036854775808", "3", "9007199254740993"];
const DECIMALS: &[&str] = &["0", "1", "1.50", "-2.25", "10.00", "2", "3.14", "-1"];
const DOUBLES: &[&str] = &["0", "1", "1.5", "-2.25", "10", "2", "1e10", "-1"];
const WORDS: &[&str] = &[
    "''", "'a'", "'A'", "'b'", "'ab'", "'Ab'", "'a '", "'abc'", "'1'", "'2'", "'10'", "'1.5'", "'x%y'",
    "'a_b'",
];
const ACCENTED: &[&str] =
    &["'a'", "'\u{e1}'", "'A'", "'B'", "'b'", "''", "'\u{e9}t\u{e9}'", "'ETE'", "'z'", "'3'"];
const DATES: &[&str] = &["'2024-01-31'", "'2024-02-29'", "'2023-12-31'", "'2024-01-01'", "'2000-06-15'"];
const DATETIMES: &[&str] = &[
    "'2024-01-31 00:00:00'",
    "'2024-01-31 12:30:45.125'",
    "'2024-02-29 23:59:59.999'",
    "'2023-12-31 00:00:00'",
    "'2000-06-15 01:02:03'",
];
const TIMES: &[&str] =
    &["'00:00:00'", "'12:30:45'", "'-01:00:00'", "'23:59:59'", "'100:10:10'", "'00:00:01'"];

/// Every column type that tables are made of.
const TYPES: &[ColumnType] = &[
    ColumnType { sql: "TINYINT", kind: Kind::Number, domain: SMALL },
    ColumnType { sql: "SMALLINT UNSIGNED", kind: Kind::Number, domain: NATURAL },
    ColumnType { sql: "MEDIUMINT", kind: Kind::Number, domain: SMALL },
    ColumnType { sql: "INT", kind: Kind::Number, domain: SMALL },
    ColumnType { sql: "INT", kind: Kind::Number, domain: SMALL },
    ColumnType { sql: "INT UNSIGNED", kind: Kind::Number, domain: NATURAL },
    ColumnType { sql: "BIGINT", kind: Kind::Number, domain: WIDE },
    ColumnType { sql: "BIGINT UNSIGNED", kind: Kind::Number, domain: WIDE_NATURAL },
    ColumnType { sql: "DECIMAL(6,2)", kind: Kind::Number, domain: DECIMALS },
    ColumnType { sql: "DECIMAL(20,4)", kind: Kind::Number, domain: DECIMALS },
    ColumnType { sql: "DOUBLE", kind: Kind::Number, domain: DOUBLES },
    ColumnType { sql: "BIT(5)", kind: Kind::Number, domain: NATURAL },
    ColumnType { sql: "YEAR", kind: Kind::Number, domain: &["2000", "2024", "1999", "2023"] },
    ColumnType { sql: "VARCHAR(20) COLLATE utf8mb4_0900_ai_ci", kind: Kind::Text, domain: WORDS },
    ColumnType { sql: "VARCHAR(20) COLLATE utf8mb4_0900_ai_ci", kind: Kind::Text, domain: ACCENTED },
    ColumnType { sql: "VARCHAR(20) COLLATE utf8mb4_bin", kind: Kind::Text, domain: WORDS },
    ColumnType {
        sql: "VARCHAR(12) CHARACTER SET latin1 COLLATE latin1_swedish_ci",
        kind: Kind::Text,
        domain: ACCENTED,
    },
    ColumnType { sql: "CHAR(8)", kind: Kind::Text, domain: WORDS },
    ColumnType { sql: "CHAR(8) COLLATE utf8mb4_bin", kind: Kind::Text, domain: ACCENTED },
    ColumnType { sql: "VARBINARY(10)", kind: Kind::Text, domain: WORDS },
    ColumnType {
        sql: "ENUM('b','a','zz','1')",
        kind: Kind::Text,
        domain: &["'a'", "'b'", "'zz'", "'1'", "1", "3"],
    },
    ColumnType {
        sql: "SET('x','y','z')",
        kind: Kind::Text,
        domain: &["''", "'x'", "'x,z'", "'y'", "'z,y'", "7"],
    },
    ColumnType { sql: "DATE", kind: Kind::Moment, domain: DATES },
    ColumnType { sql: "DATETIME(3)", kind: Kind::Moment, domain: DATETIMES },
    ColumnType { sql: "DATETIME", kind: Kind::Moment, domain: DATETIMES },
    ColumnType { sql: "TIME", kind: Kind::Time, domain: TIMES },
];

/// A column of a random table.
#[derive(Debug)]
pub struct Column {
    /// `c0`, `c1`, ...
    pub name: String,
    /// Its type.
    pub ty: &'static ColumnType,
    not_null: bool,
    default: Option<String>,
}

impl Column {
    /// A literal that the column (mostly) takes.
    pub fn value(&self, dice: &mut Dice) -> String {
        if dice.percent(if self.not_null { 2 } else { 20 }) {
            return "NULL".to_owned();
        }
        parameter(dice.pick(self.ty.domain))
    }

    fn declaration(&self) -> String {
        let null = if self.not_null { " NOT NULL" } else { "" };
        let default = self.default.as_ref().map(|d| format!(" DEFAULT {d}")).unwrap_or_default();
        format!("{} {}{null}{default}", self.name, self.ty.sql)
    }
}

/// A random table.
#[derive(Debug)]
pub struct Table {
    /// `t0`, `t1`, ...
    pub name: String,
    /// At least two.
    pub columns: Vec<Column>,
    /// Name and columns of each index, the primary key's first if there is one.
    pub indexes: Vec<(String, Vec<String>)>,
    create: String,
}

impl Table {
    /// A table with two to six columns and up to four indexes.
    pub fn random(dice: &mut Dice, name: String) -> Self {
        let mut columns: Vec<Column> = (0..2 + dice.below(5)).map(|i| column(dice, i)).collect();
        let mut parts = Vec::new();
        let mut indexes = Vec::new();
        if dice.percent(80) {
            let key = key_columns(dice, &mut columns);
            parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
            indexes.push(("PRIMARY".to_owned(), bare(&key)));
        }
        for number in 0..dice.below(4) {
            let key = key_columns(dice, &mut columns);
            let unique = if dice.percent(35) { "UNIQUE " } else { "" };
            parts.push(format!("{unique}KEY k{number} ({})", key.join(", ")));
            indexes.push((format!("k{number}"), bare(&key)));
        }
        let primary = indexes.first().filter(|(index, _)| index == "PRIMARY").map(|(_, key)| key.clone());
        for column in columns.iter_mut().filter(|c| primary.iter().flatten().any(|k| *k == c.name)) {
            column.not_null = true;
        }
        let all: Vec<String> = columns.iter().map(Column::declaration).chain(parts).collect();
        let create = format!("CREATE TABLE {name} ({})", all.join(", "));
        Table { name, columns, indexes, create }
    }

    /// Its CREATE TABLE statement.
    pub fn create(&self) -> &str {
        &self.create
    }

    /// Values for all columns, in parentheses.
    pub fn row(&self, dice: &mut Dice) -> String {
        let values: Vec<String> = self.columns.iter().map(|c| c.value(dice)).collect();
        format!("({})", values.join(", "))
    }

    /// One of its columns.
    pub fn column(&self, dice: &mut Dice) -> &Column {
        &self.columns[dice.below(self.columns.len())]
    }
}

fn column(dice: &mut Dice, number: usize) -> Column {
    let ty = &TYPES[dice.below(TYPES.len())];
    let default = dice.percent(25).then(|| ty.domain[dice.below(ty.domain.len())].to_owned());
    // An enumeration's default is a member, not a number.
    let default = default.filter(|d| ty.kind != Kind::Text || d.starts_with('\''));
    Column { name: format!("c{number}"), ty, not_null: dice.percent(35), default }
}

/// One to three different columns, some with a direction.
fn key_columns(dice: &mut Dice, columns: &mut [Column]) -> Vec<String> {
    let mut key: Vec<String> = Vec::new();
    for _ in 0..=dice.below(3) {
        let name = &columns[dice.below(columns.len())].name;
        if !key.iter().any(|k| k.split(' ').next() == Some(name)) {
            let direction = if dice.percent(15) { " DESC" } else { "" };
            key.push(format!("{name}{direction}"));
        }
    }
    key
}

fn bare(key: &[String]) -> Vec<String> {
    key.iter().map(|k| k.split(' ').next().unwrap_or(k).to_owned()).collect()
}
