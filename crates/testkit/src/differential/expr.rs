//! Random expressions over the columns in scope.

use super::dice::{Dice, parameter};
use super::query;
use super::schema::{Kind, Table};

/// What an expression may refer to.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    /// Column references (`a1.c0`) of this block and the blocks around it, with their kinds.
    pub columns: Vec<(String, Kind)>,
    /// Tables that a subquery may read.
    pub tables: &'a [Table],
    /// How many more levels of subqueries there may be.
    pub subqueries: usize,
    /// Number of the next alias.
    pub next_alias: usize,
    /// Percentage of values that are of another kind than their place asks for.
    pub mixing: usize,
}

const NUMBERS: &[&str] = &["0", "1", "2", "3", "-1", "10", "1.5", "2.00", "1e0", "-2.25", "NULL", "5", "100"];
const WORDS: &[&str] =
    &["''", "'a'", "'A'", "'b'", "'ab'", "'1'", "'2'", "'a '", "'10'", "'z'", "NULL", "'x'", "'abc'"];
const MOMENTS: &[&str] = &[
    "'2024-01-31'",
    "DATE'2024-02-29'",
    "TIMESTAMP'2024-01-31 12:30:45.125'",
    "'2023-12-31 00:00:00'",
    "20240101",
    "NULL",
];
const TIMES: &[&str] = &["'12:30:45'", "TIME'00:00:01'", "'-01:00:00'", "100", "NULL", "TIME'23:59:59.5'"];
const PATTERNS: &[&str] = &["'a%'", "'%b'", "'_'", "'%'", "'a\\\\_%'", "'A_'", "'%1%'", "''", "'x%'", "'a'"];

/// A value of roughly `kind`, see [`Scope::mixing`].
pub fn value(dice: &mut Dice, scope: &mut Scope<'_>, kind: Kind, depth: usize) -> String {
    let kind = if dice.percent(scope.mixing) { any_kind(dice) } else { kind };
    if depth == 0 || dice.percent(45) {
        return leaf(dice, scope, kind);
    }
    if dice.percent(12) {
        return choice(dice, scope, kind, depth - 1);
    }
    if scope.subqueries > 0 && dice.percent(5) {
        return query::scalar(dice, scope, kind);
    }
    match kind {
        Kind::Number => number(dice, scope, depth - 1),
        Kind::Text => text(dice, scope, depth - 1),
        Kind::Moment => moment(dice, scope, depth - 1),
        Kind::Time => leaf(dice, scope, kind),
    }
}

/// One of the four kinds.
pub(crate) fn any_kind(dice: &mut Dice) -> Kind {
    [Kind::Number, Kind::Number, Kind::Text, Kind::Text, Kind::Moment, Kind::Time][dice.below(6)]
}

fn leaf(dice: &mut Dice, scope: &Scope<'_>, kind: Kind) -> String {
    let columns: Vec<&str> = scope.columns.iter().filter(|c| c.1 == kind).map(|c| c.0.as_str()).collect();
    if !columns.is_empty() && dice.percent(70) { dice.pick(&columns).to_owned() } else { literal(dice, kind) }
}

/// A literal of `kind`; integers and strings may be sent as parameters.
pub fn literal(dice: &mut Dice, kind: Kind) -> String {
    let literal = match kind {
        Kind::Number => dice.pick(NUMBERS),
        Kind::Text => dice.pick(WORDS),
        Kind::Moment => dice.pick(MOMENTS),
        Kind::Time => dice.pick(TIMES),
    };
    let plain = literal.starts_with('\'') || literal.parse::<i64>().is_ok();
    if plain { parameter(literal) } else { literal.to_owned() }
}

fn number(dice: &mut Dice, scope: &mut Scope<'_>, depth: usize) -> String {
    let a = value(dice, scope, Kind::Number, depth);
    match dice.below(16) {
        0..=5 => {
            let b = value(dice, scope, Kind::Number, depth);
            format!("({a} {} {b})", dice.pick(&["+", "-", "*", "/", "DIV", "%", "&", "|", "^"]))
        }
        6 => format!("(- {a})"),
        7 => format!("{}({a})", dice.pick(&["ABS", "FLOOR", "CEIL", "ROUND", "SIGN"])),
        8 => format!("ROUND({a}, {})", dice.pick(&["1", "0", "-1", "3"])),
        9 => format!(
            "CAST({a} AS {})",
            dice.pick(&["SIGNED", "DECIMAL(10,2)", "DOUBLE", "CHAR", "DECIMAL(4)"])
        ),
        10 | 11 => {
            let s = value(dice, scope, Kind::Text, depth);
            format!("{}({s})", dice.pick(&["LENGTH", "CHAR_LENGTH", "ASCII"]))
        }
        12 => {
            let m = value(dice, scope, Kind::Moment, depth);
            format!("{}({m})", dice.pick(&["YEAR", "MONTH", "DAY", "DAYOFWEEK", "TO_DAYS", "QUARTER"]))
        }
        13 => {
            let (s, t) = (value(dice, scope, Kind::Text, depth), value(dice, scope, Kind::Text, depth));
            format!("{}({s}, {t})", dice.pick(&["LOCATE", "INSTR", "STRCMP", "FIND_IN_SET"]))
        }
        14 => {
            let (m, n) = (value(dice, scope, Kind::Moment, depth), value(dice, scope, Kind::Moment, depth));
            format!("DATEDIFF({m}, {n})")
        }
        _ => predicate(dice, scope, depth),
    }
}

fn text(dice: &mut Dice, scope: &mut Scope<'_>, depth: usize) -> String {
    let s = value(dice, scope, Kind::Text, depth);
    match dice.below(12) {
        0..=2 => {
            let kind = if dice.percent(25) { any_kind(dice) } else { Kind::Text };
            let t = value(dice, scope, kind, depth);
            format!("CONCAT({s}, {t})")
        }
        3 | 4 => format!("{}({s})", dice.pick(&["UPPER", "LOWER", "TRIM", "REVERSE", "HEX", "RTRIM"])),
        5 => format!(
            "{}({s}, {})",
            dice.pick(&["LEFT", "RIGHT", "SUBSTRING", "REPEAT"]),
            dice.pick(&["1", "2", "0", "-1"])
        ),
        6 => format!("SUBSTRING({s}, {}, 2)", dice.pick(&["1", "2", "-2"])),
        7 => {
            let t = value(dice, scope, Kind::Text, depth);
            format!("REPLACE({s}, 'a', {t})")
        }
        8 => format!("{}({s}, 4, 'xy')", dice.pick(&["LPAD", "RPAD"])),
        9 => {
            let n = value(dice, scope, Kind::Number, depth);
            format!("CAST({n} AS CHAR)")
        }
        10 => {
            let t = value(dice, scope, Kind::Text, depth);
            format!("CONCAT_WS('-', {s}, {t})")
        }
        _ => format!("CAST({s} AS {})", dice.pick(&["CHAR(2)", "BINARY", "CHAR"])),
    }
}

fn moment(dice: &mut Dice, scope: &mut Scope<'_>, depth: usize) -> String {
    let m = value(dice, scope, Kind::Moment, depth);
    match dice.below(5) {
        0 | 1 => {
            let unit = dice.pick(&["DAY", "MONTH", "YEAR", "HOUR", "SECOND", "WEEK"]);
            let count = dice.pick(&["1", "-1", "31", "0"]);
            format!("{}({m}, INTERVAL {count} {unit})", dice.pick(&["DATE_ADD", "DATE_SUB"]))
        }
        2 => format!("DATE({m})"),
        3 => format!("LAST_DAY({m})"),
        _ => format!("CAST({m} AS {})", dice.pick(&["DATE", "DATETIME", "DATETIME(3)", "CHAR"])),
    }
}

/// CASE, IF and their kin.
fn choice(dice: &mut Dice, scope: &mut Scope<'_>, kind: Kind, depth: usize) -> String {
    let (a, b) = (value(dice, scope, kind, depth), value(dice, scope, kind, depth));
    match dice.below(7) {
        0 => format!("IFNULL({a}, {b})"),
        1 => format!("COALESCE({a}, {b})"),
        2 => format!("NULLIF({a}, {b})"),
        3 => {
            let p = predicate(dice, scope, depth);
            format!("IF({p}, {a}, {b})")
        }
        4 => {
            let p = predicate(dice, scope, depth);
            let otherwise = if dice.percent(60) { format!(" ELSE {b}") } else { String::new() };
            format!("CASE WHEN {p} THEN {a}{otherwise} END")
        }
        5 => {
            let (x, y) = (value(dice, scope, Kind::Number, 0), value(dice, scope, Kind::Number, 0));
            format!("CASE {x} WHEN {y} THEN {a} ELSE {b} END")
        }
        _ => format!("{}({a}, {b})", dice.pick(&["GREATEST", "LEAST"])),
    }
}

/// A condition.
pub fn predicate(dice: &mut Dice, scope: &mut Scope<'_>, depth: usize) -> String {
    if depth > 0 && dice.percent(30) {
        return connective(dice, scope, depth - 1);
    }
    if scope.subqueries > 0 && dice.percent(12) {
        return query::predicate(dice, scope);
    }
    let depth = depth.saturating_sub(1);
    let kind = subject_kind(dice, scope);
    let a = value(dice, scope, kind, depth);
    match dice.below(16) {
        0..=6 => {
            let b = value(dice, scope, kind, depth);
            format!("({a} {} {b})", comparison(dice))
        }
        7 | 8 => {
            let (b, c) = (value(dice, scope, kind, depth), value(dice, scope, kind, depth));
            format!("({a} {}BETWEEN {b} AND {c})", not(dice))
        }
        9..=11 => {
            let list: Vec<String> =
                (0..=dice.below(4)).map(|_| value(dice, scope, kind, depth / 2)).collect();
            format!("({a} {}IN ({}))", not(dice), list.join(", "))
        }
        12 => format!("({a} {}LIKE {})", not(dice), parameter(dice.pick(PATTERNS))),
        13 | 14 => format!("({a} IS {}NULL)", not(dice)),
        _ => row_comparison(dice, scope, &a, kind),
    }
}

/// The kind of a column in scope, so that conditions are about columns.
fn subject_kind(dice: &mut Dice, scope: &Scope<'_>) -> Kind {
    if scope.columns.is_empty() { any_kind(dice) } else { scope.columns[dice.below(scope.columns.len())].1 }
}

fn row_comparison(dice: &mut Dice, scope: &mut Scope<'_>, a: &str, kind: Kind) -> String {
    let other = any_kind(dice);
    let b = value(dice, scope, other, 0);
    let (x, y) = (literal(dice, kind), literal(dice, other));
    if dice.percent(50) {
        return format!("(({a}, {b}) {} ({x}, {y}))", comparison(dice));
    }
    let (v, w) = (literal(dice, kind), literal(dice, other));
    format!("(({a}, {b}) {}IN (({x}, {y}), ({v}, {w})))", not(dice))
}

fn connective(dice: &mut Dice, scope: &mut Scope<'_>, depth: usize) -> String {
    let a = predicate(dice, scope, depth);
    match dice.below(10) {
        0..=6 => {
            let b = predicate(dice, scope, depth);
            format!("({a} {} {b})", dice.pick(&["AND", "AND", "AND", "OR", "OR", "XOR"]))
        }
        7 | 8 => format!("(NOT {a})"),
        _ => format!("({a} IS {}{})", not(dice), dice.pick(&["TRUE", "FALSE", "UNKNOWN"])),
    }
}

/// A comparison operator.
pub fn comparison(dice: &mut Dice) -> &'static str {
    dice.pick(&["=", "=", "=", "<>", "<", "<=", ">", ">=", "<=>"])
}

/// `NOT `, or nothing.
pub fn not(dice: &mut Dice) -> &'static str {
    if dice.percent(30) { "NOT " } else { "" }
}
