//! Statements that change one of two tables.

use super::changed_table::{Column, Table};
use super::{loads, values};
use crate::differential::dice::Dice;

/// A statement that changes table `t{number}`, the first of `tables`, perhaps by what the other one has; and
/// what it tries.
pub(super) fn change(dice: &mut Dice, number: usize, tables: [&Table; 2]) -> (&'static str, String) {
    let table = tables[0];
    let name = format!("t{number}");
    let ignore = if dice.percent(30) { "IGNORE " } else { "" };
    match dice.below(30) {
        0..=8 => insert(dice, &name, table, ignore),
        9 | 10 => insert_set(dice, &name, table, ignore),
        11 => ("replace", format!("REPLACE INTO {name} ({}) VALUES {}", table.names(), table.rows(dice))),
        12..=14 => on_duplicate(dice, &name, table, ignore),
        15 | 16 => insert_select(dice, number, tables, ignore),
        17..=21 => update(dice, (name.as_str(), table), (3 - number, tables[1]), ignore),
        22 | 23 => {
            let (condition, tail) = (condition(dice, table, (3 - number, tables[1])), tail(dice, table));
            ("delete", format!("DELETE {ignore}FROM {name} WHERE {condition}{tail}"))
        }
        24 => loads::load(dice, &name, table),
        25 => delete_join(dice, number, tables, ignore),
        26 => delete_by_alias(dice, number, tables, ignore),
        27 => update_keys(dice, &name, table, ignore),
        _ => update_join(dice, number, tables, ignore),
    }
}

fn insert(dice: &mut Dice, name: &str, table: &Table, ignore: &str) -> (&'static str, String) {
    if dice.percent(10) {
        let columns = &table.columns[..dice.below(table.columns.len())];
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let values: Vec<String> = columns.iter().map(|column| given(dice, table, column)).collect();
        let sql = format!("INSERT {ignore}INTO {name} ({}) VALUES ({})", names.join(", "), values.join(", "));
        return ("insert some", sql);
    }
    ("insert", format!("INSERT {ignore}INTO {name} ({}) VALUES {}", table.names(), table.rows(dice)))
}

fn insert_set(dice: &mut Dice, name: &str, table: &Table, ignore: &str) -> (&'static str, String) {
    let first = dice.below(table.columns.len());
    let count = if dice.percent(50) { 1 } else { table.columns.len() };
    let sets: Vec<String> = (first..(first + count).min(table.columns.len()))
        .map(|at| &table.columns[at])
        .map(|column| format!("{} = {}", column.name, given(dice, table, column)))
        .collect();
    let verb = if dice.percent(20) { "REPLACE INTO ".to_owned() } else { format!("INSERT {ignore}INTO ") };
    ("insert set", format!("{verb}{name} SET {}", sets.join(", ")))
}

/// A value for `column` that may read columns before it.
fn given(dice: &mut Dice, table: &Table, column: &Column) -> String {
    match dice.below(8) {
        0 => format!("DEFAULT({})", column.name),
        1 => table.column(dice).name.clone(),
        2 => table.expression(dice, ""),
        _ => column.value(dice),
    }
}

fn on_duplicate(dice: &mut Dice, name: &str, table: &Table, ignore: &str) -> (&'static str, String) {
    let rows = table.rows(dice);
    let alias = match dice.below(10) {
        0..=2 => Some("new".to_owned()),
        3 => {
            let names: Vec<String> = table.columns.iter().map(|column| format!("n{}", column.name)).collect();
            Some(format!("new ({})", names.join(", ")))
        }
        _ => None,
    };
    let mut sets = Vec::new();
    for _ in 0..=dice.below(3) {
        let column = table.column(dice);
        let other = &table.column(dice).name;
        let new = match &alias {
            Some(alias) if alias.contains('(') => format!("new.n{other}"),
            Some(_) => format!("new.{other}"),
            None => format!("VALUES({other})"),
        };
        let value = match dice.below(12) {
            0..=3 => new,
            4 => format!("IFNULL({name}.{other}, {new})"),
            5 => format!("CONCAT({new}, {name}.{other})"),
            6 => format!("{new} + 1"),
            7 => format!("IF({new} <=> {name}.{other}, {new}, {name}.{})", column.name),
            8 => table.expression(dice, &format!("{name}.")),
            _ => column.value(dice),
        };
        sets.push(format!("{} = {value}", column.name));
    }
    let alias = alias.map_or(String::new(), |alias| format!(" AS {alias}"));
    let sql = format!(
        "INSERT {ignore}INTO {name} ({}) VALUES {rows}{alias} ON DUPLICATE KEY UPDATE {}",
        table.names(),
        sets.join(", ")
    );
    ("on duplicate key", sql)
}

fn insert_select(
    dice: &mut Dice,
    number: usize,
    [table, other]: [&Table; 2],
    ignore: &str,
) -> (&'static str, String) {
    let (from, other) = if dice.percent(15) { (number, table) } else { (3 - number, other) };
    let verb =
        if dice.percent(20) { "REPLACE".to_owned() } else { format!("INSERT {ignore}").trim().to_owned() };
    if dice.percent(40) {
        let (to, column) = (table.column(dice), other.column(dice));
        let query = match dice.below(4) {
            0 => format!("SELECT DISTINCT {} FROM t{from} ORDER BY 1", column.name),
            1 => format!("SELECT MAX({}) FROM t{from}", column.name),
            _ => format!("SELECT {} FROM t{from} ORDER BY 1", column.name),
        };
        return ("insert select", format!("{verb} INTO t{number} ({}) {query}", to.name));
    }
    let values: Vec<String> = table
        .columns
        .iter()
        .map(|column| if dice.percent(30) { column.literal(dice) } else { other.expression(dice, "") })
        .collect();
    let order = other.order(dice);
    let limit = if dice.percent(30) { format!(" LIMIT {}", dice.below(4)) } else { String::new() };
    let rest = match dice.below(10) {
        0..=2 if !verb.starts_with("REPLACE") => {
            let column = table.column(dice);
            let value = match dice.below(3) {
                0 => format!("VALUES({})", table.column(dice).name),
                1 => format!("t{from}.{}", other.column(dice).name),
                _ => column.literal(dice),
            };
            format!(" ON DUPLICATE KEY UPDATE t{number}.{} = {value}", column.name)
        }
        _ => String::new(),
    };
    let sql = format!(
        "{verb} INTO t{number} ({}) SELECT {} FROM t{from}{order}{limit}{rest}",
        table.names(),
        values.join(", ")
    );
    ("insert select", sql)
}

fn update(
    dice: &mut Dice,
    (name, table): (&str, &Table),
    other: (usize, &Table),
    ignore: &str,
) -> (&'static str, String) {
    let mut sets = Vec::new();
    for _ in 0..=dice.below(4) / 2 {
        let column = table.column(dice);
        let value = match dice.below(14) {
            0 | 1 => table.column(dice).name.clone(),
            2 | 3 => format!("{} {} {}", column.name, dice.pick(&["+", "-", "*", "/"]), values::any(dice)),
            4 | 5 => table.expression(dice, ""),
            6 => format!("(SELECT MAX({}) FROM t{})", other.1.column(dice).name, other.0),
            _ => column.value(dice),
        };
        sets.push(format!("{} = {value}", column.name));
    }
    let condition =
        if dice.percent(60) { format!(" WHERE {}", condition(dice, table, other)) } else { String::new() };
    let tail = tail(dice, table);
    ("update", format!("UPDATE {ignore}{name} SET {}{condition}{tail}", sets.join(", ")))
}

/// A condition on a column of `table`, or one that reads the other table.
fn condition(dice: &mut Dice, table: &Table, (number, other): (usize, &Table)) -> String {
    let (column, theirs) = (&table.column(dice).name, &other.column(dice).name);
    match dice.below(20) {
        0 => format!("{column} IN (SELECT {theirs} FROM t{number})"),
        1 => format!("EXISTS (SELECT 1 FROM t{number} AS o WHERE o.{theirs} IS NOT NULL)"),
        2 => format!("{column} = {}", table.column(dice).name),
        _ => table.condition(dice),
    }
}

/// ORDER BY and LIMIT, of some statements.
fn tail(dice: &mut Dice, table: &Table) -> String {
    match dice.below(10) {
        0 => table.order(dice),
        1 | 2 => format!("{} LIMIT {}", table.order(dice), dice.below(4)),
        _ => String::new(),
    }
}

/// A join of both tables on a column of each, of one kind in most cases if there are such.
fn join(dice: &mut Dice, number: usize, tables: [&Table; 2]) -> String {
    let (left, mut right) = (tables[0].column(dice), tables[1].column(dice));
    if dice.percent(85)
        && let Some(alike) = tables[1].columns.iter().find(|column| column.kind() == left.kind())
    {
        right = alike;
    }
    let kind = if dice.percent(20) { "LEFT JOIN" } else { "JOIN" };
    format!("t{number} {kind} t{} ON t{number}.{} = t{0}.{}", 3 - number, left.name, right.name)
}

fn delete_join(dice: &mut Dice, number: usize, tables: [&Table; 2], ignore: &str) -> (&'static str, String) {
    let join = join(dice, number, tables);
    let sql = match dice.below(3) {
        0 => format!("DELETE {ignore}FROM t{number}, t{} USING {join}", 3 - number),
        _ => format!("DELETE {ignore}t{number} FROM {join}"),
    };
    ("delete join", sql)
}

/// A DELETE that names its tables by aliases; both may be one table.
fn delete_by_alias(
    dice: &mut Dice,
    number: usize,
    tables: [&Table; 2],
    ignore: &str,
) -> (&'static str, String) {
    let is_self_join = dice.percent(40);
    let (other, other_table) = if is_self_join { (number, tables[0]) } else { (3 - number, tables[1]) };
    let column = tables[0].column(dice);
    let alike = other_table.columns.iter().find(|theirs| theirs.kind() == column.kind());
    let theirs = alike.unwrap_or(&other_table.columns[0]);
    let comparison = dice.pick(&["=", "=", "<=>", "<"]);
    let from = format!(
        "t{number} AS x {} t{other} AS y ON x.{} {comparison} y.{}",
        dice.pick(&["JOIN", "JOIN", "LEFT JOIN"]),
        column.name,
        theirs.name
    );
    let condition = match dice.below(3) {
        0 => format!(" WHERE x.{} IS NOT NULL", tables[0].column(dice).name),
        1 => format!(" WHERE y.{} IS NULL", theirs.name),
        _ => String::new(),
    };
    let sql = match dice.below(4) {
        0 => format!("DELETE {ignore}FROM x USING {from}{condition}"),
        1 => format!("DELETE {ignore}x, y FROM {from}{condition}"),
        2 => format!("DELETE {ignore}FROM x.*, y.* USING {from}{condition}"),
        _ => format!("DELETE {ignore}x FROM {from}{condition}"),
    };
    ("delete join", sql)
}

/// An UPDATE that moves keys, in an order in which they make room for each other or not.
fn update_keys(dice: &mut Dice, name: &str, table: &Table, ignore: &str) -> (&'static str, String) {
    let column = if table.has_id && dice.percent(70) { "id" } else { &table.column(dice).name };
    let step = dice.pick(&["+ 1", "- 1", "+ 10", "* 2", "* -1"]);
    let limit = if dice.percent(30) { format!(" LIMIT {}", dice.below(4)) } else { String::new() };
    let order =
        if column == "id" { format!(" ORDER BY id{}", dice.pick(&["", " DESC"])) } else { table.order(dice) };
    ("update keys", format!("UPDATE {ignore}{name} SET {column} = {column} {step}{order}{limit}"))
}

fn update_join(dice: &mut Dice, number: usize, tables: [&Table; 2], ignore: &str) -> (&'static str, String) {
    let from = if dice.percent(25) {
        let column = tables[1].column(dice).name.clone();
        let derived = format!("(SELECT MAX({column}) AS m, COUNT(*) AS n FROM t{}) AS d", 3 - number);
        format!("t{number} JOIN {derived}")
    } else {
        join(dice, number, tables)
    };
    let column = tables[0].column(dice);
    // Of several rows of the other table, any may be the first.
    let value = match dice.below(4) {
        0 if from.ends_with("AS d") => dice.pick(&["d.m", "d.n"]).to_owned(),
        0 | 1 => tables[0].expression(dice, &format!("t{number}.")),
        _ => column.value(dice),
    };
    let mut sets = vec![format!("t{number}.{} = {value}", column.name)];
    if dice.percent(30) && !from.ends_with("AS d") {
        let column = tables[1].column(dice);
        sets.push(format!("t{}.{} = {}", 3 - number, column.name, column.value(dice)));
    }
    let condition = match dice.below(3) {
        0 => format!(" WHERE t{number}.{} IS NOT NULL", tables[0].column(dice).name),
        _ => String::new(),
    };
    ("update join", format!("UPDATE {ignore}{from} SET {}{condition}", sets.join(", ")))
}
