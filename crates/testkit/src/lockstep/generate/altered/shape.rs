//! What a generator knows of a table that it alters: columns and keys as they are if every statement before
//! was taken.

use super::types::Type;
use crate::differential::dice::Dice;

/// Names that new columns get. There are few, so that some are taken, and a name that is gone comes back.
const COLUMN_NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "`new col`", "B"];
/// Names that new keys get.
const KEY_NAMES: [&str; 7] = ["k0", "k1", "k2", "k3", "k4", "a", "K1"];
/// Most columns of a table.
const COLUMNS_MAX: usize = 9;

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) ty: Type,
    /// It was there at first. Others are missing after a statement that failed.
    pub(super) is_first: bool,
}

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// As statements write it.
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) keys: Vec<String>,
    pub(super) has_primary: bool,
    pub(super) has_numbers: bool,
}

impl Shape {
    /// A table of some columns, and the statement that makes it.
    pub(super) fn new(dice: &mut Dice, name: &str) -> (Shape, String) {
        let mut shape = Shape {
            name: name.to_owned(),
            columns: Vec::new(),
            keys: Vec::new(),
            has_primary: false,
            has_numbers: false,
        };
        let mut parts = Vec::new();
        if dice.percent(55) {
            let ty = Type::number(dice);
            let numbers = dice.percent(60);
            let word = if numbers { " AUTO_INCREMENT" } else { "" };
            parts.push(format!("id {} NOT NULL{word}", ty.text()));
            shape.columns.push(Column { name: "id".to_owned(), ty, is_first: true });
            (shape.has_primary, shape.has_numbers) = (true, numbers);
        }
        for name in &COLUMN_NAMES[..2 + dice.below(4)] {
            let ty = Type::any(dice);
            parts.push(shape.definition(dice, name, &ty, false));
            shape.columns.push(Column { name: (*name).to_owned(), ty, is_first: true });
        }
        if shape.has_primary {
            parts.push("PRIMARY KEY (id)".to_owned());
        }
        for _ in 0..dice.below(3) {
            let key = shape.new_key(dice);
            parts.push(key);
        }
        let options =
            dice.pick(&["", "", "", "", " CHARSET latin1", " ROW_FORMAT = COMPACT", " COMMENT 'first'"]);
        let create = format!("CREATE TABLE {name} ({}){options}", parts.join(", "));
        (shape, create)
    }

    /// A name for a new column, which is free in most cases.
    pub(super) fn new_name(&self, dice: &mut Dice) -> String {
        let free: Vec<&str> = COLUMN_NAMES.into_iter().filter(|name| !self.has(name)).collect();
        if free.is_empty() || dice.percent(3) {
            return dice.pick(&COLUMN_NAMES).to_owned();
        }
        dice.pick(&free).to_owned()
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Whether another column is welcome.
    pub(super) fn has_room(&self) -> bool {
        self.columns.len() < COLUMNS_MAX
    }

    /// The place of a column, mostly of one that was there at first.
    pub(super) fn any(&self, dice: &mut Dice) -> usize {
        self.of_kind(dice, true)
    }

    /// The place of a column to rename or drop, mostly of one that has been added.
    pub(super) fn added(&self, dice: &mut Dice) -> usize {
        self.of_kind(dice, false)
    }

    fn of_kind(&self, dice: &mut Dice, is_first: bool) -> usize {
        let columns = self.columns.iter().enumerate();
        let places: Vec<usize> = columns.filter(|(_, c)| c.is_first == is_first).map(|(at, _)| at).collect();
        if places.is_empty() || dice.percent(30) {
            return dice.below(self.columns.len());
        }
        places[dice.below(places.len())]
    }

    /// The name of a column, or of none.
    pub(super) fn one(&self, dice: &mut Dice) -> String {
        if dice.percent(2) { "missing".to_owned() } else { self.columns[self.any(dice)].name.clone() }
    }

    /// A column that is unlikely to have AUTO_INCREMENT.
    pub(super) fn without_numbers(&self, dice: &mut Dice) -> &Column {
        let found = &self.columns[self.any(dice)];
        if found.name == "id" {
            self.columns.iter().find(|column| column.name != "id").unwrap_or(found)
        } else {
            found
        }
    }

    /// The name of a key, or of none.
    pub(super) fn key(&self, dice: &mut Dice) -> String {
        if self.keys.is_empty() || dice.percent(8) {
            dice.pick(&["k0", "k1", "`PRIMARY`", "missing"]).to_owned()
        } else {
            self.keys[dice.below(self.keys.len())].clone()
        }
    }

    /// The definition of a key, without ADD.
    pub(super) fn new_key(&mut self, dice: &mut Dice) -> String {
        let kind = dice.pick(&["KEY", "INDEX", "UNIQUE KEY", "UNIQUE", "KEY"]);
        let free: Vec<&str> =
            KEY_NAMES.into_iter().filter(|name| !self.keys.iter().any(|key| key == name)).collect();
        let name = if dice.percent(15) {
            String::new()
        } else {
            let from = if free.is_empty() || dice.percent(4) { &KEY_NAMES[..] } else { &free };
            dice.pick(from).to_owned()
        };
        let options = match dice.below(16) {
            0 => " INVISIBLE",
            1 => " COMMENT 'of a key'",
            2 => " USING BTREE",
            3 => " VISIBLE",
            _ => "",
        };
        let parts = self.parts(dice);
        if !name.is_empty() {
            self.keys.push(name.clone());
        }
        format!("{kind} {name} ({parts}){options}")
    }

    /// Columns of a key, with lengths and directions.
    pub(super) fn parts(&self, dice: &mut Dice) -> String {
        let is_odd = dice.percent(8);
        let count = 1 + dice.below(10) / 6;
        let mut parts: Vec<(&str, String)> = Vec::new();
        for _ in 0..count {
            let column = &self.columns[self.any(dice)];
            if parts.iter().any(|(name, _)| *name == column.name) && !is_odd {
                continue;
            }
            let length = match column.ty.longest_part() {
                _ if is_odd => dice.pick(&["", "(3)", "(10)", "(64)", "(800)"]).to_owned(),
                Some(longest)
                    if longest > 0 && (column.ty.needs_length() || longest > 700 || dice.percent(25)) =>
                {
                    format!("({})", 1 + dice.below(longest.min(70)))
                }
                _ => String::new(),
            };
            let direction = if dice.percent(15) { " DESC" } else { "" };
            parts.push((&column.name, format!("{}{length}{direction}", column.name)));
        }
        let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
        parts.join(", ")
    }

    /// A column's definition, in an ALTER TABLE perhaps with a key or with what does not agree.
    pub(super) fn definition(&mut self, dice: &mut Dice, name: &str, ty: &Type, is_altered: bool) -> String {
        let is_odd = is_altered && dice.percent(12);
        let mut text = format!("{name} {}", ty.text());
        let nullness = if ty.text().ends_with(" NULL") {
            ""
        } else {
            dice.pick(&["", "", " NULL", " NOT NULL", " NOT NULL"])
        };
        text.push_str(nullness);
        if is_altered && (ty.takes_numbers() || is_odd) && dice.percent(5) {
            self.has_numbers = true;
            let key = dice.pick(&["", " UNIQUE", " PRIMARY KEY"]);
            text.push_str(&format!(" AUTO_INCREMENT{key}"));
            return text;
        }
        if is_odd && dice.percent(50) {
            text.push_str(&format!(" DEFAULT {}", if dice.percent(15) { "NULL" } else { ty.default(dice) }));
        } else if !ty.needs_length() && dice.percent(35) {
            let is_null = nullness != " NOT NULL" && dice.percent(20);
            text.push_str(&format!(" DEFAULT {}", if is_null { "NULL" } else { ty.fitting_default(dice) }));
        }
        if is_odd && dice.percent(10) {
            text.push_str(dice.pick(&[" ON UPDATE CURRENT_TIMESTAMP", " ON UPDATE NOW(3)"]));
        } else if dice.percent(25) {
            text.push_str(ty.on_update());
        }
        if is_altered && dice.percent(4) {
            text.push_str(dice.pick(&[" UNIQUE", " KEY", " PRIMARY KEY", " UNIQUE KEY"]));
        }
        text.push_str(match dice.below(40) {
            0 => " COMMENT 'of a column'",
            1 => " INVISIBLE",
            2 => " VISIBLE",
            3 => " COMMENT ''",
            _ => "",
        });
        text
    }

    /// FIRST, AFTER, or nothing; with the place that a column gets there, if it is not `none`.
    pub(super) fn place(&self, dice: &mut Dice) -> (String, Option<usize>) {
        match dice.below(6) {
            0 => (" FIRST".to_owned(), Some(0)),
            1 => {
                let name = self.one(dice);
                let at = self.columns.iter().position(|column| column.name == name);
                (format!(" AFTER {name}"), at.map(|at| at + 1))
            }
            _ => (String::new(), None),
        }
    }
}
