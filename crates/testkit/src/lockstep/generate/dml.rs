//! Changes of tables with every type and constraint.

use super::changed_table::Table;
use super::changes;
use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};

/// Changes in a case.
const CHANGES: usize = 25;

/// Two tables, and changes, each followed by a look at what it left.
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
        if dice.percent(8) {
            let end = dice.pick(&["COMMIT", "ROLLBACK"]);
            steps.push(Step::text("transaction", if in_transaction { end } else { "BEGIN" }));
            in_transaction = !in_transaction;
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
