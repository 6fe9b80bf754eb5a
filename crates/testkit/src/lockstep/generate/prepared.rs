//! Prepared statements whose parameters change their types from one execution to the next.

use std::ops::Range;

use super::calls;
use super::tables::COLUMNS;
use super::values;
use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};
use crate::lockstep::parameter::Parameter;

/// Statements in a case.
const STATEMENTS: usize = 10;
/// Parameters of a statement.
const PARAMETERS_MAX: usize = 4;

const CLAUSES: &[&str] = &[
    "SELECT id FROM v WHERE {col} = ?",
    "SELECT id FROM v WHERE {col} > ? ORDER BY id",
    "SELECT id FROM v WHERE {col} IN (?, ?)",
    "SELECT id FROM v WHERE {col} BETWEEN ? AND ?",
    "SELECT id FROM v WHERE id = ? AND {col} IS NOT NULL",
    "SELECT {col}, ? FROM v WHERE id = ?",
    "SELECT id FROM v ORDER BY id LIMIT ?",
    "SELECT id FROM v ORDER BY id LIMIT ?, ?",
    "SELECT ? AS a UNION SELECT ? ORDER BY a",
    "SELECT id, ? FROM v GROUP BY id, ? HAVING id < ?",
    "SELECT * FROM (SELECT ? AS a) AS d WHERE a = ?",
    "SELECT COALESCE(?, {col}) FROM v WHERE id = 5",
    "SELECT CASE WHEN id = ? THEN ? ELSE {col} END FROM v WHERE id IN (5, 6)",
    "SELECT {col} + ? FROM v WHERE id = 5",
    "SELECT CONCAT({col}, ?) FROM v WHERE id = 5",
    "SELECT SUM(?), MIN(?) FROM v WHERE id < 3",
    "SELECT {col}, {other} FROM v WHERE id = ?",
    "SELECT * FROM v WHERE id = ?",
    "UPDATE v SET {col} = ? WHERE id = 0",
];

/// Functions that end MySQL 9.7 in a crash when a parameter is no text: some values become dates of no month.
const TEXTS_ONLY: [&str; 7] =
    ["DATEDIFF(", "DAYNAME(", "DAYOFWEEK(", "DAYOFYEAR(", "TO_DAYS(", "WEEKDAY(", "TO_SECONDS("];

/// The case of this number.
pub(super) fn case(dice: &mut Dice, number: u64) -> Case {
    let first = number as usize * STATEMENTS;
    let steps = (first..first + STATEMENTS).map(|at| statement(dice, at)).collect();
    Case { before: Vec::new(), steps, independent: true }
}

fn statement(dice: &mut Dice, number: usize) -> Step {
    let column = COLUMNS[dice.below(COLUMNS.len())].0;
    let other = COLUMNS[dice.below(COLUMNS.len())].0;
    let (sql, topic) = if dice.percent(40) {
        let clause = dice.pick(CLAUSES);
        (clause.replace("{col}", column).replace("{other}", other), clause)
    } else {
        let mut parameters = 0;
        let (expression, topic) = calls::expression(dice, number % calls::topics(), &mut |dice, _| {
            if parameters < PARAMETERS_MAX && dice.percent(70) {
                parameters += 1;
                "?".to_owned()
            } else if dice.percent(50) {
                column.to_owned()
            } else {
                values::any(dice)
            }
        });
        // MySQL 9.7 ends in a crash when it prepares PERIOD_DIFF of two parameters.
        let expression = expression.replace("PERIOD_DIFF(?, ?)", "PERIOD_DIFF(?, 202402)");
        (format!("SELECT {expression} FROM v WHERE id = 5"), topic)
    };
    let parameters = sql.matches('?').count();
    let kinds = if TEXTS_ONLY.iter().any(|name| sql.contains(name)) { 11..KINDS } else { 0..KINDS };
    let executions = (0..2 + dice.below(3))
        .map(|_| (0..parameters).map(|_| value(dice, kinds.clone())).collect())
        .collect();
    Step { sql, topic: topic.to_owned(), executions: Some(executions) }
}

/// Kinds of values; those from 11 are texts.
const KINDS: usize = 14;

fn value(dice: &mut Dice, kinds: Range<usize>) -> Parameter {
    const MOMENTS: [[u16; 6]; 5] = [
        [2024, 2, 29, 12, 34, 56],
        [9999, 12, 31, 23, 59, 59],
        [0, 0, 0, 0, 0, 0],
        [2024, 0, 10, 0, 0, 0],
        [1970, 1, 1, 0, 0, 1],
    ];
    const TEXTS: [&str; 12] = [
        "",
        "a",
        "abc ",
        "1",
        "-1.5",
        "1e3",
        "12x",
        "2024-02-29",
        "10:11:12",
        "\u{e4}",
        "9223372036854775808",
        "alpha",
    ];
    let width = [1, 2, 4, 8][dice.below(4)];
    let bits = 8 * width as u32;
    match kinds.start + dice.below(kinds.len()) {
        0 => Parameter::null([6, 3, 253, 12][dice.below(4)]),
        1 => Parameter::integer(-(1i128 << (bits - 1)), width),
        2 => Parameter::integer((1i128 << (bits - 1)) - 1, width),
        3 => Parameter::integer((1i128 << bits) - 1, width),
        4 | 5 => Parameter::integer(dice.below(7) as i128 - 1, width),
        6 => Parameter::double([0.0, 1.5, -0.5, 1e19, 1e308, 2.5, 1e-320][dice.below(7)]),
        7 => Parameter::float([0.0, 1.5, 0.1, 3.4e38, -2.5][dice.below(5)]),
        8 => Parameter::text(dice.pick(&["1.50", "-0.0001", "99999999999999999999.9", "0", "x", "1e2"]), 246),
        9 => Parameter::moment([10, 12, 7][dice.below(3)], MOMENTS[dice.below(MOMENTS.len())]),
        10 => Parameter::time(dice.percent(30), [0, 1, 34, 35][dice.below(4)], [0, 12, 22][dice.below(3)]),
        11 => Parameter::text(dice.pick(&TEXTS), [252, 251, 254][dice.below(3)]),
        _ => Parameter::text(dice.pick(&TEXTS), 253),
    }
}
