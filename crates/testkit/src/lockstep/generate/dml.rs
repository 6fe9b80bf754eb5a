//! Changes of tables with every type and constraint.

use super::changed_table::Table;
use super::changes;
use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};

/// Changes in a case.
const CHANGES: usize = 25;

/// What a transaction consists of beside changes.
const WITHIN: [&str; 10] = [
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "SAVEPOINT b",
    "SAVEPOINT c",
    "ROLLBACK TO a",
    "ROLLBACK WORK TO SAVEPOINT b",
    "ROLLBACK TO SAVEPOINT C",
    "RELEASE SAVEPOINT a",
    "RELEASE SAVEPOINT b",
];

/// Two tables, and changes, each followed by a read of the result.
pub(super) fn case(dice: &mut Dice) -> Case {
    let tables = [Table::new(dice, "t1"), Table::new(dice, "t2")];
    let before = vec!["DROP TABLE IF EXISTS t1, t2".to_owned()];
    let mut steps = Vec::new();
    if dice.percent(35) {
        let mode = dice.pick(&[
            "",
            "NO_ZERO_DATE",
            "STRICT_ALL_TABLES",
            "NO_AUTO_VALUE_ON_ZERO",
            "ALLOW_INVALID_DATES",
        ]);
        steps.push(Step::text("sql_mode", format!("SET sql_mode = '{mode}'")));
    }
    steps.extend(tables.iter().map(|table| Step::text("create", table.create.clone())));
    let mut in_transaction = false;
    for _ in 0..CHANGES {
        if dice.percent(if in_transaction { 25 } else { 8 }) {
            let statement = if in_transaction { dice.pick(&WITHIN) } else { "BEGIN" };
            steps.push(Step::text("transaction", statement));
            in_transaction = !matches!(statement, "COMMIT" | "ROLLBACK");
            if statement.starts_with("ROLLBACK") {
                steps
                    .extend([1, 2].map(|table| Step::text("transaction", format!("SELECT * FROM t{table}"))));
            }
        }
        let number = dice.below(2);
        let (topic, sql) = changes::change(dice, number + 1, [&tables[number], &tables[1 - number]]);
        steps.push(Step::text(topic, sql));
        let looks_at_both = topic.ends_with("join");
        steps.push(Step::text(topic, format!("SELECT * FROM t{}", number + 1)));
        if looks_at_both {
            steps.push(Step::text(topic, format!("SELECT * FROM t{}", 2 - number)));
        }
    }
    if in_transaction {
        steps.push(Step::text("transaction", "ROLLBACK"));
    }
    Case { before, steps, independent: false }
}
