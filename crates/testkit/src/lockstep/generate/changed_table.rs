//! Tables with columns, keys and defaults of every kind, and values for them.

use super::tables::COLUMNS;
use super::values;
use crate::differential::dice::Dice;

/// A column of a table that is changed.
pub(super) struct Column {
    pub(super) name: String,
    /// Place of its type in [`COLUMNS`].
    ty: usize,
}

/// A table that is changed.
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    /// It has the column `id`, which numbers its rows.
    pub(super) has_id: bool,
    /// The statement that makes it.
    pub(super) create: String,
}

fn declaration(dice: &mut Dice, column: &Column, is_key: bool) -> String {
    let (_, ty, literals) = COLUMNS[column.ty];
    let mut text = format!("{} {}", column.name, ty.trim_end_matches(" NULL"));
    text.push_str(if is_key || dice.percent(40) { " NOT NULL" } else { " NULL" });
    let takes_default = !matches!(ty, "TEXT" | "BLOB") || dice.percent(5);
    if takes_default && dice.percent(30) {
        let default = match dice.below(15) {
            0 => values::any(dice),
            1 => literals[dice.below(literals.len())].to_owned(),
            // Neither NULL nor a zero date, which strict modes refuse.
            _ => literals[[0, 1, 4, 5][dice.below(4)]].to_owned(),
        };
        text.push_str(&format!(" DEFAULT {default}"));
    }
    if ty == "TIMESTAMP NULL" && dice.percent(30) {
        text.push_str(" ON UPDATE CURRENT_TIMESTAMP");
    }
    text
}

fn secondary_key(dice: &mut Dice, number: usize, columns: &[Column]) -> String {
    let second = 1 + dice.below(columns.len());
    let mut key = vec![key_part(dice, &columns[..second])];
    if second < columns.len() && dice.percent(50) {
        key.push(key_part(dice, &columns[second..]));
    }
    let unique = if dice.percent(50) { "UNIQUE " } else { "" };
    format!("{unique}KEY k{number} ({})", key.join(", "))
}

/// A column of a key, with a length where its type wants one.
fn key_part(dice: &mut Dice, columns: &[Column]) -> String {
    let column = &columns[dice.below(columns.len())];
    let ty = COLUMNS[column.ty].1;
    let needs_length = matches!(ty, "TEXT" | "BLOB");
    let length = if needs_length || ty.contains("CHAR(") && dice.percent(20) { "(3)" } else { "" };
    let direction = if dice.percent(12) { " DESC" } else { "" };
    format!("{}{length}{direction}", column.name)
}

impl Table {
    /// A table of some columns, with or without keys.
    pub(super) fn new(dice: &mut Dice, name: &str) -> Table {
        let columns: Vec<Column> = (0..2 + dice.below(4))
            .map(|at| Column { name: format!("c{at}"), ty: dice.below(COLUMNS.len()) })
            .collect();
        let mut parts = Vec::new();
        let with_id = dice.percent(60);
        if with_id {
            let ty = dice.pick(&["INT", "TINYINT", "SMALLINT UNSIGNED", "BIGINT UNSIGNED", "INT UNSIGNED"]);
            parts.push(format!("id {ty} NOT NULL AUTO_INCREMENT"));
        }
        let with_key = !with_id && dice.percent(60);
        parts.extend(
            columns.iter().enumerate().map(|(at, column)| declaration(dice, column, at == 0 && with_key)),
        );
        if with_id {
            parts.push("PRIMARY KEY (id)".to_owned());
        } else if with_key {
            let key = key_part(dice, &columns[..1]);
            parts.push(format!("PRIMARY KEY ({key})"));
        }
        for number in 0..dice.below(3) {
            parts.push(secondary_key(dice, number, &columns));
        }
        if dice.percent(3) {
            parts.push(format!("CHECK ({} <> 5)", columns[0].name));
        }
        Table { has_id: with_id, create: format!("CREATE TABLE {name} ({})", parts.join(", ")), columns }
    }

    /// One of the columns.
    pub(super) fn column(&self, dice: &mut Dice) -> &Column {
        &self.columns[dice.below(self.columns.len())]
    }

    /// An expression of a column, or of two.
    pub(super) fn expression(&self, dice: &mut Dice, prefix: &str) -> String {
        let (one, other) = (&self.column(dice).name, &self.column(dice).name);
        match dice.below(8) {
            0 => format!("{prefix}{one} + 1"),
            1 => format!("CONCAT({prefix}{one}, '')"),
            2 => format!("IFNULL({prefix}{one}, {prefix}{other})"),
            3 => format!("GREATEST({prefix}{one}, {prefix}{other})"),
            4 => format!("DEFAULT({prefix}{one})"),
            5 => format!("-{prefix}{one}"),
            _ => format!("{prefix}{one}"),
        }
    }

    /// `ORDER BY` of all columns, so that rows that it does not part are the same.
    pub(super) fn order(&self, dice: &mut Dice) -> String {
        let from = dice.below(self.columns.len());
        let turned = self.columns[from..].iter().chain(&self.columns[..from]);
        let names: Vec<&str> = turned.map(|column| column.name.as_str()).collect();
        let direction = dice.pick(&["", " DESC"]);
        format!(" ORDER BY {}{direction}", names.join(", "))
    }

    /// All names, with commas.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }

    /// Rows of VALUES.
    pub(super) fn rows(&self, dice: &mut Dice) -> String {
        let rows: Vec<String> = (0..=dice.below(3))
            .map(|_| {
                let row: Vec<String> = self.columns.iter().map(|column| column.value(dice)).collect();
                format!("({})", row.join(", "))
            })
            .collect();
        rows.join(", ")
    }

    /// A condition on a column.
    pub(super) fn condition(&self, dice: &mut Dice) -> String {
        let column = self.column(dice);
        let name = &column.name;
        let value = column.value(dice);
        match dice.below(5) {
            0 => format!("{name} IS NOT NULL"),
            1 => format!("{name} <> {value}"),
            2 => format!("{name} IN ({value}, {})", column.value(dice)),
            3 => format!("{name} <= {value}"),
            _ => format!("{name} = {value}"),
        }
    }
}

/// What columns of a type compare as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Moment,
    Text,
    Bytes,
}

impl Column {
    /// What the column compares as.
    pub(super) fn kind(&self) -> Kind {
        let ty = COLUMNS[self.ty].1;
        let is = |names: &[&str]| names.iter().any(|name| ty.starts_with(name));
        if is(&["DATE", "TIME"]) {
            Kind::Moment
        } else if is(&["CHAR", "VARCHAR", "TEXT", "ENUM", "SET"]) {
            Kind::Text
        } else if is(&["BINARY", "VARBINARY", "BLOB"]) {
            Kind::Bytes
        } else {
            Kind::Number
        }
    }

    /// A value at the ends of the column's type, or any other.
    pub(super) fn value(&self, dice: &mut Dice) -> String {
        match dice.below(20) {
            0 => "DEFAULT".to_owned(),
            1..=3 => values::any(dice),
            _ => self.literal(dice),
        }
    }

    /// One of the literals of its type.
    pub(super) fn literal(&self, dice: &mut Dice) -> String {
        let literals = COLUMNS[self.ty].2;
        literals[dice.below(literals.len())].to_owned()
    }
}
