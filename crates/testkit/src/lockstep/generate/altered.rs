//! Tables with rows that ALTER TABLE changes again and again.

use super::changed_table::Table;
use super::tables::COLUMNS;
use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};

/// ALTER statements in a case.
const CHANGES: usize = 10;

/// A table, its rows, and changes of its definition, each followed by a look at definition and rows.
pub(super) fn case(dice: &mut Dice) -> Case {
    let table = Table::new(dice, "t1");
    let before = vec!["DROP TABLE IF EXISTS t1".to_owned()];
    let mut steps = Vec::new();
    if dice.percent(40) {
        let modes = ["", "NO_ZERO_DATE", "STRICT_ALL_TABLES", "NO_AUTO_VALUE_ON_ZERO", "ALLOW_INVALID_DATES"];
        steps.push(Step::text("sql_mode", format!("SET sql_mode = '{}'", dice.pick(&modes))));
    }
    steps.push(Step::text("create", table.create.clone()));
    for _ in 0..=dice.below(3) {
        let sql = format!("INSERT IGNORE INTO t1 ({}) VALUES {}", table.names(), table.rows(dice));
        steps.push(Step::text("rows", sql));
    }
    let mut names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    for number in 0..CHANGES {
        let mut topic = "";
        let actions: Vec<String> = (0..=dice.below(10) / 6)
            .map(|at| {
                let (kind, action) = action(dice, &mut names, 10 * number + at);
                topic = kind;
                action
            })
            .collect();
        steps.push(Step::text(topic, format!("ALTER TABLE t1 {}", actions.join(", "))));
        steps.push(Step::text(topic, "SHOW CREATE TABLE t1"));
        steps.push(Step::text(topic, "SELECT * FROM t1"));
        if dice.percent(15) {
            steps.push(Step::text("default row", "INSERT INTO t1 () VALUES ()"));
        }
    }
    Case { before, steps, independent: false }
}

/// An action, and what it tries. `names` are the columns as they are if every action before was taken.
fn action(dice: &mut Dice, names: &mut Vec<String>, number: usize) -> (&'static str, String) {
    match dice.below(30) {
        0..5 => {
            let name = format!("n{number}");
            let action = format!("ADD COLUMN {}{}", definition(dice, &name), place(dice, names));
            names.push(name);
            ("add column", action)
        }
        5..8 if names.len() > 1 => {
            let name = names.remove(dice.below(names.len()));
            ("drop column", format!("DROP COLUMN {name}"))
        }
        8..14 => {
            let name = one(dice, names);
            ("modify", format!("MODIFY {}{}", definition(dice, &name), place(dice, names)))
        }
        14 => {
            let (name, new) = (one(dice, names), format!("r{number}"));
            let action = format!("CHANGE {name} {}{}", definition(dice, &new), place(dice, names));
            rename(names, &name, &new);
            ("change", action)
        }
        15 => {
            let (name, new) = (one(dice, names), format!("r{number}"));
            rename(names, &name, &new);
            ("rename column", format!("RENAME COLUMN {name} TO {new}"))
        }
        16 => {
            let value = dice.pick(&["1", "'a'", "NULL", "'2020-01-02'", "0", "CURRENT_TIMESTAMP"]);
            ("set default", format!("ALTER COLUMN {} SET DEFAULT {value}", one(dice, names)))
        }
        17 => ("drop default", format!("ALTER COLUMN {} DROP DEFAULT", one(dice, names))),
        18 | 19 => {
            ("add key", format!("ADD {}KEY x{number} ({})", dice.pick(&["", "UNIQUE "]), one(dice, names)))
        }
        20 => ("drop key", format!("DROP KEY {}", dice.pick(&["k0", "k1", "x1", "x10", "`PRIMARY`"]))),
        21 => ("add primary key", format!("ADD PRIMARY KEY ({})", parts(dice, names))),
        22 => ("drop primary key", "DROP PRIMARY KEY".to_owned()),
        23 => ("replace primary key", format!("DROP PRIMARY KEY, ADD PRIMARY KEY ({})", parts(dice, names))),
        24 => {
            let charset = dice.pick(&["utf8mb4", "latin1", "utf8mb3", "binary", "ascii"]);
            ("convert", format!("CONVERT TO CHARACTER SET {charset}"))
        }
        25 => ("charset", format!("DEFAULT CHARACTER SET {}", dice.pick(&["utf8mb4", "latin1"]))),
        26 => ("auto_increment", format!("AUTO_INCREMENT = {}", 1 + dice.below(200))),
        27 => ("add numbers", format!("ADD COLUMN a{number} INT NOT NULL AUTO_INCREMENT UNIQUE")),
        28 => ("force", dice.pick(&["FORCE", "ENGINE = InnoDB", "COMMENT = 'c'"]).to_owned()),
        _ => ("rename key", format!("RENAME KEY {} TO y{number}", dice.pick(&["k0", "k1", "x1"]))),
    }
}

fn one(dice: &mut Dice, names: &[String]) -> String {
    if dice.percent(2) { "id".to_owned() } else { names[dice.below(names.len())].clone() }
}

fn parts(dice: &mut Dice, names: &[String]) -> String {
    let first = one(dice, names);
    let second = one(dice, names);
    if first == second || dice.percent(60) { first } else { format!("{first}, {second}") }
}

fn rename(names: &mut [String], from: &str, to: &str) {
    if let Some(name) = names.iter_mut().find(|name| *name == from) {
        to.clone_into(name);
    }
}

fn place(dice: &mut Dice, names: &[String]) -> String {
    match dice.below(5) {
        0 => " FIRST".to_owned(),
        1 => format!(" AFTER {}", one(dice, names)),
        _ => String::new(),
    }
}

/// A column's definition, of any type.
fn definition(dice: &mut Dice, name: &str) -> String {
    let (_, ty, literals) = COLUMNS[dice.below(COLUMNS.len())];
    let mut text = format!("{name} {}", ty.trim_end_matches(" NULL"));
    text.push_str(dice.pick(&["", " NULL", " NOT NULL"]));
    if !matches!(ty, "TEXT" | "BLOB") && dice.percent(25) {
        text.push_str(&format!(" DEFAULT {}", literals[[0, 1, 4, 5][dice.below(4)]]));
    }
    if dice.percent(8) {
        text.push_str(" COMMENT 'x'");
    }
    text
}
