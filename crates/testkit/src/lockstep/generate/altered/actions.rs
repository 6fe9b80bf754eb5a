//! Actions of ALTER TABLE.

use super::shape::{Column, Shape};
use super::types::Type;
use crate::differential::dice::Dice;

/// A statement that alters `shape`, and what it tries.
pub(super) fn statement(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    let name = shape.name.clone();
    match dice.below(40) {
        0 => ("create index", create_index(dice, shape)),
        1 if !shape.keys.is_empty() => {
            let key = shape.key(dice);
            shape.keys.retain(|other| *other != key);
            ("drop index", format!("DROP INDEX {key} ON {name}"))
        }
        _ => {
            let mut topic = "";
            let count = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4][dice.below(10)];
            let mut actions = Vec::new();
            for _ in 0..count {
                let (kind, text) = action(dice, shape);
                topic = kind;
                actions.push(text);
            }
            (topic, format!("ALTER TABLE {name} {}", actions.join(", ")))
        }
    }
}

fn create_index(dice: &mut Dice, shape: &mut Shape) -> String {
    let unique = dice.pick(&["", "UNIQUE "]);
    let parts = shape.parts(dice);
    let key = dice.pick(&["k0", "k1", "k2", "i0", "i1"]).to_owned();
    shape.keys.push(key.clone());
    format!("CREATE {unique}INDEX {key} ON {} ({parts})", shape.name)
}

/// An action, and what it tries. `shape` becomes what it is if the action is taken.
pub(super) fn action(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    match dice.below(100) {
        0..14 => add_column(dice, shape),
        14..23 if shape.columns.len() > 1 || dice.percent(20) => drop_column(dice, shape),
        14..40 => modify(dice, shape),
        40..48 => change(dice, shape),
        48..52 => rename_column(dice, shape),
        52..57 => set_default(dice, shape),
        57..60 => ("drop default", format!("ALTER {} DROP DEFAULT", shape.without_numbers(dice).name)),
        60..62 => {
            let visible = dice.pick(&["INVISIBLE", "VISIBLE"]);
            ("set visible", format!("ALTER COLUMN {} SET {visible}", shape.one(dice)))
        }
        62..86 => key_action(dice, shape),
        _ => option(dice, shape),
    }
}

fn add_column(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    if !shape.has_room() {
        return drop_column(dice, shape);
    }
    if dice.percent(12) {
        let mut parts = Vec::new();
        for _ in 0..=dice.below(3) {
            let (name, ty) = (shape.new_name(dice), Type::any(dice));
            parts.push(shape.definition(dice, &name, &ty, true));
            shape.columns.push(Column { name, ty, is_first: false });
        }
        if dice.percent(20) {
            let key = shape.new_key(dice);
            parts.push(key);
        }
        return ("add columns", format!("ADD COLUMN ({})", parts.join(", ")));
    }
    let (name, ty) = (shape.new_name(dice), Type::any(dice));
    let definition = shape.definition(dice, &name, &ty, true);
    let (place, at) = shape.place(dice);
    let at = at.unwrap_or(shape.columns.len()).min(shape.columns.len());
    shape.columns.insert(at, Column { name, ty, is_first: false });
    ("add column", format!("ADD {}{definition}{place}", dice.pick(&["", "COLUMN "])))
}

fn drop_column(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    let at = shape.added(dice);
    let name = if shape.columns.len() > 1 { shape.columns.remove(at).name } else { shape.one(dice) };
    ("drop column", format!("DROP {}{name}", dice.pick(&["", "COLUMN "])))
}

fn modify(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    let at = shape.any(dice);
    let ty = shape.columns[at].ty.next(dice);
    let name = if dice.percent(1) { "missing".to_owned() } else { shape.columns[at].name.clone() };
    let is_number = name == "id" && dice.percent(70);
    let definition = if is_number {
        let ty = Type::number(dice);
        let word = if shape.has_numbers || dice.percent(30) { " AUTO_INCREMENT" } else { "" };
        format!("id {} NOT NULL{word}", ty.text())
    } else {
        shape.columns[at].ty = ty.clone();
        shape.definition(dice, &name, &ty, true)
    };
    let place = move_to_place(dice, shape, at);
    ("modify", format!("MODIFY {}{definition}{place}", dice.pick(&["", "COLUMN "])))
}

fn change(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    let at = shape.added(dice);
    let ty = shape.columns[at].ty.next(dice);
    let old = shape.columns[at].name.clone();
    let new = if dice.percent(15) { old.clone() } else { shape.new_name(dice) };
    let definition = shape.definition(dice, &new, &ty, true);
    shape.columns[at] = Column { name: new, ty, is_first: false };
    let place = move_to_place(dice, shape, at);
    ("change", format!("CHANGE COLUMN {old} {definition}{place}"))
}

/// The clause that moves the column at `at`.
fn move_to_place(dice: &mut Dice, shape: &mut Shape, at: usize) -> String {
    let (place, to) = shape.place(dice);
    if let Some(to) = to {
        let column = shape.columns.remove(at);
        let to = if to > at { to - 1 } else { to };
        shape.columns.insert(to.min(shape.columns.len()), column);
    }
    place
}

fn rename_column(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    let (at, new) = (shape.added(dice), shape.new_name(dice));
    if shape.columns.len() > 1 && dice.percent(15) {
        let other = shape.any(dice);
        let [a, b] = [at, other].map(|at| shape.columns[at].name.clone());
        shape.columns[at].name.clone_from(&b);
        shape.columns[other].name.clone_from(&a);
        return ("swap columns", format!("RENAME COLUMN {a} TO {b}, RENAME COLUMN {b} TO {a}"));
    }
    shape.columns[at].is_first = false;
    let old = std::mem::replace(&mut shape.columns[at].name, new.clone());
    ("rename column", format!("RENAME COLUMN {old} TO {new}"))
}

fn set_default(dice: &mut Dice, shape: &Shape) -> (&'static str, String) {
    let column = shape.without_numbers(dice);
    let value = if dice.percent(10) { "NULL" } else { column.ty.default(dice) };
    let value = if value.contains('(') || value.contains("CURRENT") { "'2021-03-04'" } else { value };
    ("set default", format!("ALTER {}{} SET DEFAULT {value}", dice.pick(&["", "COLUMN "]), column.name))
}

fn key_action(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    match dice.below(24) {
        0..9 => ("add key", format!("ADD {}", shape.new_key(dice))),
        9..13 => {
            let key = shape.key(dice);
            shape.keys.retain(|other| *other != key);
            ("drop key", format!("DROP {} {key}", dice.pick(&["KEY", "INDEX"])))
        }
        13..17 => {
            let parts = shape.parts(dice);
            let is_replaced = std::mem::replace(&mut shape.has_primary, true) && dice.percent(92);
            let drop = if is_replaced { "DROP PRIMARY KEY, " } else { "" };
            (
                "add primary key",
                format!("{drop}ADD {}PRIMARY KEY ({parts})", dice.pick(&["", "CONSTRAINT p "])),
            )
        }
        17 | 18 => {
            shape.has_primary = false;
            ("drop primary key", "DROP PRIMARY KEY".to_owned())
        }
        19 | 20 => {
            let (old, new) = (shape.key(dice), dice.pick(&["k0", "k1", "k2", "k3", "y0", "y1"]));
            shape.keys.retain(|other| *other != old);
            shape.keys.push(new.to_owned());
            ("rename key", format!("RENAME {} {old} TO {new}", dice.pick(&["KEY", "INDEX"])))
        }
        21 => {
            let visible = dice.pick(&["INVISIBLE", "VISIBLE"]);
            ("show key", format!("ALTER INDEX {} {visible}", shape.key(dice)))
        }
        22 => ("drop constraint", format!("DROP CONSTRAINT {}", shape.key(dice))),
        _ => {
            let key = shape.key(dice);
            let again = shape.parts(dice);
            ("replace key", format!("DROP KEY {key}, ADD KEY {key} ({again})"))
        }
    }
}

fn option(dice: &mut Dice, shape: &mut Shape) -> (&'static str, String) {
    match dice.below(24) {
        0..3 => {
            let charset = dice.pick(&[
                "utf8mb4",
                "latin1",
                "utf8mb3",
                "binary",
                "ascii",
                "utf8mb4 COLLATE utf8mb4_bin",
            ]);
            ("convert", format!("CONVERT TO CHARACTER SET {charset}"))
        }
        3..5 => {
            let charset = dice.pick(&[
                "DEFAULT CHARACTER SET latin1",
                "CHARSET = utf8mb4",
                "COLLATE utf8mb4_bin",
                "DEFAULT COLLATE = utf8mb4_general_ci",
                "CHARACTER SET utf8mb4 COLLATE latin1_bin",
            ]);
            ("charset", charset.to_owned())
        }
        5..9 => (
            "auto_increment",
            format!("AUTO_INCREMENT = {}", dice.pick(&["1", "5", "50", "100", "130", "300"])),
        ),
        9..11 => ("force", dice.pick(&["FORCE", "ENGINE = InnoDB", "ENGINE InnoDB"]).to_owned()),
        11..13 => ("comment", dice.pick(&["COMMENT = 'c'", "COMMENT 'it''s'", "COMMENT = ''"]).to_owned()),
        13..16 => {
            let format = dice.pick(&["DYNAMIC", "COMPACT", "REDUNDANT", "DEFAULT", "COMPACT", "FIXED"]);
            ("row_format", format!("ROW_FORMAT = {format}"))
        }
        16 => ("key_block_size", format!("KEY_BLOCK_SIZE = {}", dice.pick(&["0", "8", "4", "16", "3"]))),
        17 => {
            let hint = dice.pick(&[
                "MAX_ROWS = 100",
                "MIN_ROWS = 1",
                "AVG_ROW_LENGTH = 50",
                "PACK_KEYS = 1",
                "CHECKSUM = 1",
                "DELAY_KEY_WRITE = 1",
                "STATS_PERSISTENT = 1",
                "STATS_AUTO_RECALC = DEFAULT",
                "STATS_SAMPLE_PAGES = 30",
                "COMPRESSION = 'zlib'",
            ]);
            ("hint", hint.to_owned())
        }
        18 if shape.has_primary => ("order by", format!("ORDER BY {}", shape.one(dice))),
        19 => ("keys", dice.pick(&["DISABLE KEYS", "ENABLE KEYS"]).to_owned()),
        _ => {
            let (name, key) = (shape.new_name(dice), dice.pick(&["UNIQUE", "PRIMARY KEY", "KEY", ""]));
            shape.columns.push(Column { name: name.clone(), ty: Type::number(dice), is_first: false });
            shape.has_numbers = true;
            ("add numbers", format!("ADD COLUMN {name} INT NOT NULL AUTO_INCREMENT {key}"))
        }
    }
}
