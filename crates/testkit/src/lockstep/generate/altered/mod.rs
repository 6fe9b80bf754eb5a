//! Tables with rows that statements alter again and again.

mod actions;
mod rows;
mod shape;
mod types;

use self::shape::Shape;
use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};

/// Modes of a session, the default twice.
const MODES: [&str; 6] = [
    "",
    "",
    "STRICT_ALL_TABLES",
    "NO_ZERO_DATE,NO_ZERO_IN_DATE",
    "STRICT_TRANS_TABLES,ALLOW_INVALID_DATES",
    "NO_AUTO_VALUE_ON_ZERO",
];

/// One or two tables, their rows, and a sequence of changes of their definitions and rows, each followed by a
/// read of the result.
pub(super) fn case(dice: &mut Dice, number: u64) -> Case {
    // Cases that run at the same time have schemas of their own to move tables to.
    let other = format!("ls_altered_{}", number % 64);
    let is_double = dice.percent(25);
    let moves_far = is_double && dice.percent(40);
    let mut before = vec!["DROP TABLE IF EXISTS t1, t2, t3".to_owned()];
    let mut steps = Vec::new();
    if dice.percent(45) {
        let mode = dice.pick(&MODES);
        steps.push(Step::text("sql_mode", format!("SET sql_mode = '{mode}'")));
    }
    if moves_far {
        before.push(format!("DROP DATABASE IF EXISTS {other}"));
        steps.push(Step::text("create", format!("CREATE DATABASE {other} CHARACTER SET latin1")));
    }
    let names: &[&str] = if is_double { &["t1", "t2"] } else { &["t1"] };
    let mut shapes = Vec::new();
    for name in names {
        let (shape, create) = Shape::new(dice, name);
        steps.push(Step::text("create", create));
        for _ in 0..dice.below(3) {
            steps.push(Step::text("insert", rows::insert(dice, &shape)));
        }
        shapes.push(shape);
    }
    for _ in 0..5 + dice.below(16) {
        let at = dice.below(shapes.len());
        let (topic, sql) = match dice.below(10) {
            0 if is_double => rename(dice, &mut shapes[at], moves_far.then_some(&*other)),
            1..3 => rows::change(dice, &shapes[at]),
            _ => actions::statement(dice, &mut shapes[at]),
        };
        steps.push(Step::text(topic, sql));
        if !matches!(topic, "insert" | "update" | "delete") {
            steps.push(Step::text(topic, format!("SHOW CREATE TABLE {}", shapes[at].name)));
        }
        steps.push(Step::text(topic, format!("SELECT * FROM {}", shapes[at].name)));
    }
    if moves_far {
        steps.push(Step::text("drop", format!("DROP DATABASE {other}")));
    }
    Case { before, steps, independent: false }
}

/// A new name for a table, perhaps in another schema, and perhaps one that is taken.
fn rename(dice: &mut Dice, shape: &mut Shape, other: Option<&str>) -> (&'static str, String) {
    let table = dice.pick(&["t3", "t3", "t2", "t1"]);
    let new = match other {
        Some(schema) if dice.percent(60) => format!("{schema}.{table}"),
        _ => table.to_owned(),
    };
    let old = shape.name.clone();
    if table == "t3" {
        shape.name.clone_from(&new);
    }
    match dice.below(4) {
        0 => ("rename", format!("RENAME TABLE {old} TO {new}")),
        1 => {
            let (_, action) = actions::action(dice, shape);
            ("rename and change", format!("ALTER TABLE {old} RENAME TO {new}, {action}"))
        }
        _ => ("rename", format!("ALTER TABLE {old} RENAME {}{new}", dice.pick(&["", "TO ", "AS "]))),
    }
}
