//! Functions and operators, one a statement.

use super::calls;
use super::tables::{COLUMNS, ROWS};
use super::values::{self, Class};
use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};

/// Expressions in a case, all in one sql_mode.
pub(super) const STATEMENTS: usize = 40;

/// Half of the cases are in the default mode.
const MODES: &[&str] = &[
    "",
    "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO",
    "NO_ZERO_DATE,NO_ZERO_IN_DATE",
    "ALLOW_INVALID_DATES",
    "NO_UNSIGNED_SUBTRACTION",
    "PIPES_AS_CONCAT,ANSI_QUOTES",
    "ANSI",
    "HIGH_NOT_PRECEDENCE",
    "NO_BACKSLASH_ESCAPES",
    "PAD_CHAR_TO_FULL_LENGTH",
    "REAL_AS_FLOAT",
    "TIME_TRUNCATE_FRACTIONAL",
    "TRADITIONAL",
];

/// The case of this number: its expressions continue where those of the case before it ended.
pub(super) fn case(dice: &mut Dice, number: u64) -> Case {
    let mut steps = Vec::new();
    if dice.percent(50) {
        steps.push(Step::text("sql_mode", format!("SET sql_mode = '{}'", dice.pick(MODES))));
    }
    let first = number as usize * STATEMENTS;
    steps.extend((first..first + STATEMENTS).map(|at| statement(dice, at)));
    Case { before: Vec::new(), steps, independent: true }
}

fn statement(dice: &mut Dice, number: usize) -> Step {
    // One round in three is for columns, one for literals, one for both.
    let with_columns = [0, 100, 50][dice.below(3)];
    match dice.below(12) {
        0 => return aggregate(dice),
        1 => return of_columns(dice),
        _ => {}
    }
    let (expression, topic) = calls::expression(dice, number % calls::topics(), &mut |dice, temporal| {
        argument(dice, temporal, with_columns, 1)
    });
    let row = 1 + dice.below(ROWS);
    let sql = match dice.below(10) {
        _ if with_columns == 0 => format!("SELECT {expression}"),
        0 => format!("SELECT id FROM v WHERE {expression}"),
        1 => format!("SELECT {expression} FROM v"),
        _ => format!("SELECT {expression} FROM v WHERE id = {row}"),
    };
    Step::text(topic, sql)
}

fn aggregate(dice: &mut Dice) -> Step {
    let (topic, form) = calls::AGGREGATES[dice.below(calls::AGGREGATES.len())];
    let expression = calls::fill(dice, form, &mut |dice, temporal| argument(dice, temporal, 100, 0));
    let rows = match dice.below(4) {
        0 => String::new(),
        1 => " WHERE id IN (4, 5, 6)".to_owned(),
        2 => " WHERE id < 0".to_owned(),
        _ => format!(" WHERE id IN (3, {}) GROUP BY id % 2 > 5", 1 + dice.below(ROWS)),
    };
    Step::text(topic, format!("SELECT {expression} FROM v{rows}"))
}

/// Two columns, of any types, where one type has to be found for both.
const PAIRS: &[(&str, &str)] = &[
    ("UNION", "SELECT {a} AS x FROM v UNION SELECT {b} FROM v ORDER BY 1"),
    ("UNION ALL", "SELECT {a} AS x FROM v WHERE id IN (1, 5, 6) UNION ALL SELECT {l}"),
    ("UNION in FROM", "SELECT MAX(x), MIN(x) FROM (SELECT {a} AS x FROM v UNION ALL SELECT {b} FROM v) AS d"),
    ("JOIN", "SELECT x.id, y.id FROM v AS x JOIN v AS y ON x.{a} = y.{b}"),
    ("JOIN <", "SELECT x.id, y.id FROM v AS x JOIN v AS y ON x.{a} < y.{b}"),
    ("IN columns", "SELECT id FROM v WHERE {a} IN (SELECT {b} FROM v)"),
    ("NOT IN columns", "SELECT id FROM v WHERE {a} NOT IN (SELECT {b} FROM v WHERE {b} IS NOT NULL)"),
    ("IN list", "SELECT id FROM v WHERE {a} IN ({b}, {l}, {l})"),
    ("> ALL", "SELECT id FROM v WHERE {a} > ALL (SELECT {b} FROM v WHERE id IN (3, 5))"),
    ("ORDER BY", "SELECT id, {a} FROM v ORDER BY {a} DESC, {b}, id"),
    ("GROUP BY", "SELECT {a}, COUNT(*), MIN({b}), MAX({b}) FROM v GROUP BY {a}"),
    ("DISTINCT", "SELECT DISTINCT {a}, {b} FROM v"),
    ("column and literal", "SELECT id FROM v WHERE {a} = {l}"),
    ("column < literal", "SELECT id FROM v WHERE {a} < {l}"),
    ("COALESCE of columns", "SELECT id, COALESCE({a}, {b}), GREATEST({a}, {b}), IF(id < 4, {a}, {b}) FROM v"),
    ("CASE of columns", "SELECT id, CASE {a} WHEN {b} THEN {a} WHEN {l} THEN {l} ELSE {b} END FROM v"),
];

fn of_columns(dice: &mut Dice) -> Step {
    let (topic, form) = PAIRS[dice.below(PAIRS.len())];
    let (a, b) = (COLUMNS[dice.below(COLUMNS.len())].0, COLUMNS[dice.below(COLUMNS.len())].0);
    let mut sql = form.replace("{a}", a).replace("{b}", b);
    while sql.contains("{l}") {
        sql = sql.replacen("{l}", &values::any(dice), 1);
    }
    Step::text(topic, sql)
}

/// A literal, a column in `with_columns` of 100 cases, a user variable, or an expression of these.
pub(super) fn argument(dice: &mut Dice, temporal: bool, with_columns: usize, depth: usize) -> String {
    if depth > 0 && dice.percent(18) {
        let inner = calls::any(dice, &mut |dice, temporal| argument(dice, temporal, with_columns, depth - 1));
        return format!("({inner})");
    }
    if dice.percent(with_columns) && dice.percent(70) {
        return COLUMNS[dice.below(COLUMNS.len())].0.to_owned();
    }
    if dice.percent(4) {
        return dice.pick(&["@i", "@n", "@d", "@f", "@s", "@z"]).to_owned();
    }
    if temporal && dice.percent(60) {
        return dice.pick(&[&Class::Date, &Class::Time, &Class::DateTime]).literal(dice);
    }
    values::any(dice)
}
