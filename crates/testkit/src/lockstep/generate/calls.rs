//! Functions of Ratchet's own table, and what has a syntax of its own.

use std::sync::LazyLock;

use expr::Func;

use super::values;
use crate::differential::dice::Dice;

/// Functions whose answers are another each time, on each server, or take time.
const UNCOMPARABLE: [&str; 14] = [
    "uuid",
    "connection_id",
    "version",
    "user",
    "session_user",
    "system_user",
    "current_user",
    "sleep",
    "sysdate",
    "benchmark",
    "get_lock",
    "is_used_lock",
    "release_lock",
    "release_all_locks",
];

static FUNCTIONS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| Func::names().filter(|name| !UNCOMPARABLE.contains(name)).collect());

/// Names of the functions that can be compared.
pub(super) fn functions() -> &'static [&'static str] {
    &FUNCTIONS
}

/// Number of topics.
pub(super) fn topics() -> usize {
    functions().len() + FORMS.len()
}

/// Topic, and text with `{a}`, `{b}` and `{c}` for arguments, `{n}` for a count and `{u}` for a unit.
const FORMS: &[(&str, &str)] = &[
    ("neg", "-{a}"),
    ("+", "{a} + {b}"),
    ("-", "{a} - {b}"),
    ("*", "{a} * {b}"),
    ("/", "{a} / {b}"),
    ("DIV", "{a} DIV {b}"),
    ("%", "{a} % {b}"),
    ("|", "{a} | {b}"),
    ("&", "{a} & {b}"),
    ("^", "{a} ^ {b}"),
    ("<<", "{a} << {b}"),
    (">>", "{a} >> {b}"),
    ("~", "~{a}"),
    ("NOT", "NOT {a}"),
    ("!", "!{a}"),
    ("AND", "{a} AND {b}"),
    ("OR", "{a} OR {b}"),
    ("XOR", "{a} XOR {b}"),
    ("=", "{a} = {b}"),
    ("<>", "{a} <> {b}"),
    ("<", "{a} < {b}"),
    ("<=", "{a} <= {b}"),
    (">", "{a} > {b}"),
    ("<=>", "{a} <=> {b}"),
    ("BETWEEN", "{a} BETWEEN {b} AND {c}"),
    ("NOT BETWEEN", "{a} NOT BETWEEN {b} AND {c}"),
    ("IN", "{a} IN ({b}, {c})"),
    ("NOT IN", "{a} NOT IN ({b}, {c}, {a})"),
    ("IN subquery", "{a} IN (SELECT {b})"),
    ("LIKE", "{a} LIKE {b}"),
    ("NOT LIKE", "{a} NOT LIKE {b}"),
    ("LIKE ESCAPE", "{a} LIKE {b} ESCAPE '|'"),
    ("SOUNDS LIKE", "{a} SOUNDS LIKE {b}"),
    ("IS NULL", "{a} IS NULL"),
    ("IS TRUE", "{a} IS TRUE"),
    ("IS NOT FALSE", "{a} IS NOT FALSE"),
    ("IS UNKNOWN", "{a} IS UNKNOWN"),
    ("row =", "({a}, {b}) = ({b}, {c})"),
    ("row <", "({a}, {b}) < ({a}, {c})"),
    ("row <=>", "({a}, {b}) <=> ({b}, {a})"),
    ("row IN", "({a}, {b}) IN (({a}, {b}), ({b}, {c}))"),
    ("CASE", "CASE WHEN {a} THEN {b} ELSE {c} END"),
    ("CASE value", "CASE {a} WHEN {b} THEN {c} WHEN {c} THEN {a} END"),
    ("BINARY", "BINARY {a}"),
    ("COLLATE", "{a} COLLATE utf8mb4_bin = {b}"),
    ("COLLATE general", "{a} COLLATE utf8mb4_general_ci"),
    ("CAST SIGNED", "CAST({a} AS SIGNED)"),
    ("CAST UNSIGNED", "CAST({a} AS UNSIGNED)"),
    ("CAST CHAR", "CAST({a} AS CHAR)"),
    ("CAST CHAR(2)", "CAST({a} AS CHAR(2))"),
    ("CAST CHAR(0)", "CAST({a} AS CHAR(0))"),
    ("CAST CHAR latin1", "CAST({a} AS CHAR CHARACTER SET latin1)"),
    ("CAST NCHAR", "CAST({a} AS NCHAR(3))"),
    ("CAST BINARY", "CAST({a} AS BINARY)"),
    ("CAST BINARY(3)", "CAST({a} AS BINARY(3))"),
    ("CAST DATE", "CAST({a} AS DATE)"),
    ("CAST TIME", "CAST({a} AS TIME)"),
    ("CAST TIME(3)", "CAST({a} AS TIME(3))"),
    ("CAST DATETIME", "CAST({a} AS DATETIME)"),
    ("CAST DATETIME(6)", "CAST({a} AS DATETIME(6))"),
    ("CAST YEAR", "CAST({a} AS YEAR)"),
    ("CAST DECIMAL", "CAST({a} AS DECIMAL)"),
    ("CAST DECIMAL(5,2)", "CAST({a} AS DECIMAL(5,2))"),
    ("CAST DECIMAL(65,30)", "CAST({a} AS DECIMAL(65,30))"),
    ("CAST FLOAT", "CAST({a} AS FLOAT)"),
    ("CAST DOUBLE", "CAST({a} AS DOUBLE)"),
    ("CONVERT SIGNED", "CONVERT({a}, SIGNED)"),
    ("CONVERT USING utf8mb4", "CONVERT({a} USING utf8mb4)"),
    ("CONVERT USING latin1", "CONVERT({a} USING latin1)"),
    ("CONVERT USING ascii", "CONVERT({a} USING ascii)"),
    ("CONVERT USING binary", "CONVERT({a} USING binary)"),
    ("CHAR USING", "CHAR({a}, {b} USING utf8mb4)"),
    ("EXTRACT", "EXTRACT({u} FROM {a})"),
    ("DATE_ADD", "DATE_ADD({a}, INTERVAL {b} {u})"),
    ("DATE_SUB", "DATE_SUB({a}, INTERVAL {b} {u})"),
    ("+ INTERVAL", "{a} + INTERVAL {b} {u}"),
    ("- INTERVAL", "{a} - INTERVAL {b} {u}"),
    ("TIMESTAMPDIFF", "TIMESTAMPDIFF({s}, {a}, {b})"),
    ("TIMESTAMPADD", "TIMESTAMPADD({s}, {a}, {b})"),
    ("TRIM BOTH", "TRIM(BOTH {a} FROM {b})"),
    ("TRIM LEADING", "TRIM(LEADING {a} FROM {b})"),
    ("TRIM TRAILING", "TRIM(TRAILING FROM {a})"),
    ("SUBSTRING FROM", "SUBSTRING({a} FROM {n} FOR {n})"),
    ("GET_FORMAT", "GET_FORMAT(DATETIME, {a})"),
];

/// Aggregates, which are tried on columns.
pub(super) const AGGREGATES: &[(&str, &str)] = &[
    ("COUNT", "COUNT({a})"),
    ("COUNT DISTINCT", "COUNT(DISTINCT {a}, {b})"),
    ("SUM", "SUM({a})"),
    ("SUM DISTINCT", "SUM(DISTINCT {a})"),
    ("AVG", "AVG({a})"),
    ("MIN", "MIN({a})"),
    ("MAX", "MAX({a})"),
    ("BIT_AND", "BIT_AND({a})"),
    ("BIT_OR", "BIT_OR({a})"),
    ("BIT_XOR", "BIT_XOR({a})"),
    ("STD", "STD({a})"),
    ("STDDEV_SAMP", "STDDEV_SAMP({a})"),
    ("VARIANCE", "VARIANCE({a})"),
    ("VAR_SAMP", "VAR_SAMP({a})"),
    ("GROUP_CONCAT", "GROUP_CONCAT({a} ORDER BY id)"),
    ("GROUP_CONCAT DISTINCT", "GROUP_CONCAT(DISTINCT {a} ORDER BY {a} DESC SEPARATOR '|')"),
];

const UNITS: &[&str] = &[
    "MICROSECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
    "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "HOUR_MICROSECOND",
    "HOUR_SECOND",
    "HOUR_MINUTE",
    "DAY_MICROSECOND",
    "DAY_SECOND",
    "DAY_MINUTE",
    "DAY_HOUR",
    "YEAR_MONTH",
];

/// What makes an argument; true asks for one that suits functions of dates and times.
pub(super) type Argument<'a> = &'a mut dyn FnMut(&mut Dice, bool) -> String;

/// The expression of a topic's number, and the topic.
pub(super) fn expression(dice: &mut Dice, number: usize, argument: Argument<'_>) -> (String, &'static str) {
    if let Some(&name) = functions().get(number) {
        return (call(dice, name, argument), name);
    }
    let (topic, form) = FORMS[number - functions().len()];
    (fill(dice, form, argument), topic)
}

/// An expression of any topic.
pub(super) fn any(dice: &mut Dice, argument: Argument<'_>) -> String {
    let number = dice.below(topics());
    let (text, _) = expression(dice, number, argument);
    text
}

/// Fills a form's places.
pub(super) fn fill(dice: &mut Dice, form: &str, argument: Argument<'_>) -> String {
    let temporal = form.contains("{u}") || form.contains("{s}");
    let mut text = form.to_owned();
    for place in ["{a}", "{b}", "{c}"].into_iter().filter(|place| form.contains(place)) {
        let value = argument(dice, temporal);
        text = text.replace(place, &value);
    }
    while text.contains("{n}") {
        text = text.replacen("{n}", &values::count(dice), 1);
    }
    // TIMESTAMPADD and TIMESTAMPDIFF take the units of one part.
    text.replace("{u}", dice.pick(UNITS)).replace("{s}", dice.pick(&UNITS[..9]))
}

fn call(dice: &mut Dice, name: &str, argument: Argument<'_>) -> String {
    let (least, most) = Func::find(name).map_or((1, 1), Func::arity);
    let mut count = least + dice.below(most.min(least + 2) - least + 1);
    if dice.percent(4) {
        count = if dice.percent(50) { most.min(9) + 1 } else { least.saturating_sub(1) };
    }
    if name == "rand" {
        count = 1;
    }
    let temporal = is_temporal(name);
    let arguments: Vec<String> = (0..count)
        .map(|at| {
            if at > 0 && takes_counts(name) && dice.percent(60) {
                values::count(dice)
            } else if name == "space" || at > 0 && name == "repeat" {
                // Others would make texts of gigabytes.
                values::count(dice)
            } else if at > 0 && name.ends_with("_format") && dice.percent(70) {
                dice.pick(FORMATS).to_owned()
            } else {
                argument(dice, temporal)
            }
        })
        .collect();
    let separator = if name == "position" { " IN " } else { ", " };
    format!("{}({})", name.to_uppercase(), arguments.join(separator))
}

const FORMATS: &[&str] = &[
    "'%Y-%m-%d %H:%i:%s.%f'",
    "'%W %M %e %D %j'",
    "'%U %u %V %v %X %x %w %a %b %c'",
    "'%h:%I:%l %p %r %T %k'",
    "'%y%%%q%'",
    "''",
    "NULL",
    "'%Y'",
    "'\u{e4}%d'",
];

fn is_temporal(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "date",
        "time",
        "day",
        "month",
        "year",
        "week",
        "hour",
        "minute",
        "second",
        "quarter",
        "period",
        "convert_tz",
    ];
    WORDS.iter().any(|word| name.contains(word))
}

fn takes_counts(name: &str) -> bool {
    const NAMES: [&str; 17] = [
        "repeat",
        "lpad",
        "rpad",
        "left",
        "right",
        "substring",
        "substr",
        "mid",
        "insert",
        "format",
        "round",
        "truncate",
        "conv",
        "substring_index",
        "locate",
        "sha2",
        "week",
    ];
    NAMES.contains(&name)
}
