//! Random queries.

use super::dice::{Dice, as_text};
use super::expr::{self, Scope};
use super::schema::{Kind, Table};

/// A query and whether its rows come in a defined order.
#[derive(Debug)]
pub struct Query {
    /// The statement, literals marked.
    pub sql: String,
    /// All of the output is in ORDER BY.
    pub ordered: bool,
}

/// A random query over `tables`.
pub fn random(dice: &mut Dice, tables: &[Table]) -> Query {
    let mut scope = Scope { columns: Vec::new(), tables, subqueries: 2, next_alias: 1, mixing: 8 };
    let width = 1 + dice.below(3);
    let kinds: Vec<Kind> = (0..width).map(|_| expr::any_kind(dice)).collect();
    let mut sql = block(dice, &mut scope, &kinds);
    if dice.percent(12) {
        let other = block(dice, &mut scope, &kinds);
        let operator = dice.pick(&["UNION", "UNION ALL", "UNION DISTINCT"]);
        sql = format!("{sql} {operator} {other}");
    }
    let ordered = dice.percent(50);
    if ordered {
        let keys: Vec<String> =
            (1..=width).map(|n| format!("{n}{}", if dice.percent(30) { " DESC" } else { "" })).collect();
        sql = format!("{sql} ORDER BY {}", keys.join(", "));
        if dice.percent(50) {
            sql = format!("{sql} LIMIT {}", dice.pick(&["1", "3", "0", "2, 3", "10", "1, 1"]));
        }
    }
    Query { sql, ordered }
}

/// A subquery of one value in parentheses: an aggregate, or the first row of a sort.
pub fn scalar(dice: &mut Dice, scope: &mut Scope<'_>, kind: Kind) -> String {
    let mut inner = inner_scope(scope);
    let (from, own) = simple_from(dice, &mut inner);
    inner.columns.extend(own);
    let filter = filter(dice, &mut inner, 1);
    let value = expr::value(dice, &mut inner, kind, 1);
    let sql = if dice.percent(70) {
        format!("(SELECT {}({value}) FROM {from}{filter})", dice.pick(&["MIN", "MAX", "COUNT", "SUM"]))
    } else {
        format!("(SELECT {value} FROM {from}{filter} ORDER BY 1 LIMIT 1)")
    };
    scope.next_alias = inner.next_alias;
    sql
}

/// EXISTS, IN or a quantified comparison with a subquery.
pub fn predicate(dice: &mut Dice, scope: &mut Scope<'_>) -> String {
    let kind = expr::any_kind(dice);
    let subject = expr::value(dice, scope, kind, 1);
    let mut inner = inner_scope(scope);
    let (from, own) = simple_from(dice, &mut inner);
    if dice.percent(50) {
        // Not correlated: the subquery sees its own table alone.
        inner.columns.clear();
    }
    inner.columns.extend(own);
    let filter = filter(dice, &mut inner, 1);
    let sql = match dice.below(6) {
        0 | 1 => format!("({}EXISTS (SELECT 1 FROM {from}{filter}))", expr::not(dice)),
        2..=4 => {
            let value = expr::value(dice, &mut inner, kind, 0);
            format!("({subject} {}IN (SELECT {value} FROM {from}{filter}))", expr::not(dice))
        }
        _ => {
            let value = expr::value(dice, &mut inner, kind, 0);
            let operator = dice.pick(&["=", "<>", "<", "<=", ">", ">="]);
            format!(
                "({subject} {operator} {} (SELECT {value} FROM {from}{filter}))",
                dice.pick(&["ANY", "ALL"])
            )
        }
    };
    scope.next_alias = inner.next_alias;
    sql
}

fn inner_scope<'a>(scope: &Scope<'a>) -> Scope<'a> {
    Scope { subqueries: scope.subqueries - 1, ..scope.clone() }
}

fn alias(scope: &mut Scope<'_>) -> String {
    scope.next_alias += 1;
    format!("a{}", scope.next_alias - 1)
}

/// One table under a new alias, with its columns.
fn simple_from(dice: &mut Dice, scope: &mut Scope<'_>) -> (String, Vec<(String, Kind)>) {
    let table = &scope.tables[dice.below(scope.tables.len())];
    let alias = alias(scope);
    let columns = table.columns.iter().map(|c| (format!("{alias}.{}", c.name), c.ty.kind)).collect();
    (format!("{} {alias}", table.name), columns)
}

/// A table or a derived table.
fn source(dice: &mut Dice, scope: &mut Scope<'_>) -> (String, Vec<(String, Kind)>) {
    if scope.subqueries == 0 || dice.percent(88) {
        return simple_from(dice, scope);
    }
    let mut inner = Scope { columns: Vec::new(), ..inner_scope(scope) };
    let kinds: Vec<Kind> = (0..=dice.below(3)).map(|_| expr::any_kind(dice)).collect();
    let body = block(dice, &mut inner, &kinds);
    scope.next_alias = inner.next_alias;
    let alias = alias(scope);
    let names: Vec<String> = (0..kinds.len()).map(|i| format!("d{i}")).collect();
    let columns = names.iter().zip(&kinds).map(|(n, &k)| (format!("{alias}.{n}"), k)).collect();
    (format!("({body}) AS {alias} ({})", names.join(", ")), columns)
}

/// One to three sources, joined.
fn from(dice: &mut Dice, scope: &mut Scope<'_>) -> String {
    let (mut sql, columns) = source(dice, scope);
    scope.columns.extend(columns);
    for _ in 0..[0, 0, 0, 1, 1, 2][dice.below(6)] {
        let (right, columns) = source(dice, scope);
        if dice.percent(10) {
            sql = format!("{sql} CROSS JOIN {right}");
            scope.columns.extend(columns);
            continue;
        }
        let condition = join_condition(dice, scope, &columns);
        let join = dice.pick(&["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        sql = format!("{sql} {join} {right} ON {condition}");
        scope.columns.extend(columns);
    }
    sql
}

/// Mostly an equality of two columns; sometimes more or something else.
fn join_condition(dice: &mut Dice, scope: &mut Scope<'_>, right: &[(String, Kind)]) -> String {
    let (name, kind) = &right[dice.below(right.len())];
    let left: Vec<&str> = scope.columns.iter().filter(|c| c.1 == *kind).map(|c| c.0.as_str()).collect();
    if left.is_empty() || dice.percent(15) {
        let mut both = scope.clone();
        both.columns.extend_from_slice(right);
        both.subqueries = 0;
        return expr::predicate(dice, &mut both, 2);
    }
    let equality = format!("{} {} {name}", dice.pick(&left), dice.pick(&["=", "=", "=", "<", "<=>"]));
    if dice.percent(70) {
        return equality;
    }
    let mut both = scope.clone();
    both.columns.extend_from_slice(right);
    both.subqueries = 0;
    format!("{equality} AND {}", expr::predicate(dice, &mut both, 1))
}

fn filter(dice: &mut Dice, scope: &mut Scope<'_>, depth: usize) -> String {
    if dice.percent(70) { format!(" WHERE {}", expr::predicate(dice, scope, depth)) } else { String::new() }
}

/// A SELECT of one value for each of `kinds`.
pub fn block(dice: &mut Dice, scope: &mut Scope<'_>, kinds: &[Kind]) -> String {
    let outer = scope.columns.clone();
    let from = from(dice, scope);
    let filter = filter(dice, scope, 2);
    let sql = if dice.percent(30) {
        grouped(dice, scope, kinds, &from, &filter)
    } else {
        let values: Vec<String> = kinds.iter().map(|&k| as_text(&expr::value(dice, scope, k, 2))).collect();
        let distinct = if dice.percent(20) { "DISTINCT " } else { "" };
        format!("SELECT {distinct}{} FROM {from}{filter}", values.join(", "))
    };
    scope.columns = outer;
    sql
}

fn grouped(dice: &mut Dice, scope: &mut Scope<'_>, kinds: &[Kind], from: &str, filter: &str) -> String {
    scope.subqueries = 0;
    let mut keys = Vec::new();
    let mut values = Vec::new();
    for &kind in kinds {
        if dice.percent(45) {
            let depth = usize::from(dice.percent(20));
            let key = as_text(&expr::value(dice, scope, kind, depth));
            if key.contains(['c', 'd']) {
                keys.push(key.clone());
            }
            values.push(key);
        } else {
            values.push(aggregate(dice, scope, kind));
        }
    }
    let mut sql = format!("SELECT {} FROM {from}{filter}", values.join(", "));
    if !keys.is_empty() {
        sql = format!("{sql} GROUP BY {}", keys.join(", "));
    }
    if dice.percent(20) {
        let (a, b) = (aggregate(dice, scope, Kind::Number), expr::literal(dice, Kind::Number));
        sql = format!("{sql} HAVING {a} {} {b}", expr::comparison(dice));
    }
    sql
}

fn aggregate(dice: &mut Dice, scope: &mut Scope<'_>, kind: Kind) -> String {
    let depth = usize::from(dice.percent(30));
    let value = as_text(&expr::value(dice, scope, kind, depth));
    match dice.below(12) {
        0 | 1 => "COUNT(*)".to_owned(),
        2 => format!("COUNT({value})"),
        3 => format!("COUNT(DISTINCT {value})"),
        4 | 5 => format!("SUM({value})"),
        6 => format!("AVG({value})"),
        7 => format!("SUM(DISTINCT {value})"),
        8 => format!("{}({value})", dice.pick(&["BIT_OR", "BIT_AND", "BIT_XOR"])),
        9 => format!("GROUP_CONCAT({value} ORDER BY {value} SEPARATOR ';')"),
        _ => format!("{}({value})", dice.pick(&["MIN", "MAX"])),
    }
}
