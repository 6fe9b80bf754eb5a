//! Changes of tables with every type and constraint.

use super::tables::COLUMNS;
use super::values;
use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};

/// Changes in a case.
const CHANGES: usize = 25;

struct Column {
    name: String,
    /// Place of its type in [`COLUMNS`].
    ty: usize,
}

struct Table {
    columns: Vec<Column>,
    create: String,
}

/// Two tables, and changes, each followed by a look at what it left.
pub(super) fn case(dice: &mut Dice) -> Case {
    let tables = [table(dice, "t1"), table(dice, "t2")];
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
        let (topic, sql) = change(dice, number + 1, &tables[number], &tables[1 - number]);
        steps.push(Step::text(topic, sql));
        steps.push(Step::text(topic, format!("SELECT * FROM t{}", number + 1)));
    }
    if in_transaction {
        steps.push(Step::text("transaction", "ROLLBACK"));
    }
    Case { before, steps, independent: false }
}

fn table(dice: &mut Dice, name: &str) -> Table {
    let columns: Vec<Column> = (0..2 + dice.below(4))
        .map(|at| Column { name: format!("c{at}"), ty: dice.below(COLUMNS.len()) })
        .collect();
    let mut parts = Vec::new();
    let with_id = dice.percent(60);
    if with_id {
        let ty = dice.pick(&["INT", "TINYINT", "SMALLINT UNSIGNED", "BIGINT UNSIGNED", "INT UNSIGNED"]);
        parts.push(format!("id {ty} NOT NULL AUTO_INCREMENT"));
    }
    let with_key = !with_id && dice.percent(60);
    parts.extend(
        columns.iter().enumerate().map(|(at, column)| declaration(dice, column, at == 0 && with_key)),
    );
    if with_id {
        parts.push("PRIMARY KEY (id)".to_owned());
    } else if with_key {
        let key = key_part(dice, &columns[..1]);
        parts.push(format!("PRIMARY KEY ({key})"));
    }
    for number in 0..dice.below(3) {
        let second = 1 + dice.below(columns.len());
        let mut key = vec![key_part(dice, &columns[..second])];
        if second < columns.len() && dice.percent(50) {
            key.push(key_part(dice, &columns[second..]));
        }
        let unique = if dice.percent(50) { "UNIQUE " } else { "" };
        parts.push(format!("{unique}KEY k{number} ({})", key.join(", ")));
    }
    if dice.percent(3) {
        parts.push(format!("CHECK ({} <> 5)", columns[0].name));
    }
    Table { create: format!("CREATE TABLE {name} ({})", parts.join(", ")), columns }
}

fn declaration(dice: &mut Dice, column: &Column, is_key: bool) -> String {
    let (_, ty, literals) = COLUMNS[column.ty];
    let mut text = format!("{} {}", column.name, ty.trim_end_matches(" NULL"));
    text.push_str(if is_key || dice.percent(40) { " NOT NULL" } else { " NULL" });
    let takes_default = !matches!(ty, "TEXT" | "BLOB") || dice.percent(5);
    if takes_default && dice.percent(30) {
        let default = match dice.below(15) {
            0 => values::any(dice),
            1 => literals[dice.below(literals.len())].to_owned(),
            // Neither NULL nor a zero date, which strict modes refuse.
            _ => literals[[0, 1, 4, 5][dice.below(4)]].to_owned(),
        };
        text.push_str(&format!(" DEFAULT {default}"));
    }
    if ty == "TIMESTAMP NULL" && dice.percent(30) {
        text.push_str(" ON UPDATE CURRENT_TIMESTAMP");
    }
    text
}

/// A column of a key, with a length where its type wants one.
fn key_part(dice: &mut Dice, columns: &[Column]) -> String {
    let column = &columns[dice.below(columns.len())];
    let ty = COLUMNS[column.ty].1;
    let needs_length = matches!(ty, "TEXT" | "BLOB");
    let length = if needs_length || ty.contains("CHAR(") && dice.percent(20) { "(3)" } else { "" };
    let direction = if dice.percent(12) { " DESC" } else { "" };
    format!("{}{length}{direction}", column.name)
}

impl Table {
    fn column(&self, dice: &mut Dice) -> &Column {
        &self.columns[dice.below(self.columns.len())]
    }

    /// An expression of a column, or of two.
    fn expression(&self, dice: &mut Dice, prefix: &str) -> String {
        let (one, other) = (&self.column(dice).name, &self.column(dice).name);
        match dice.below(8) {
            0 => format!("{prefix}{one} + 1"),
            1 => format!("CONCAT({prefix}{one}, '')"),
            2 => format!("IFNULL({prefix}{one}, {prefix}{other})"),
            3 => format!("GREATEST({prefix}{one}, {prefix}{other})"),
            4 => format!("DEFAULT({prefix}{one})"),
            5 => format!("-{prefix}{one}"),
            _ => format!("{prefix}{one}"),
        }
    }

    /// `ORDER BY` of all columns, so that rows that it does not part are the same.
    fn order(&self, dice: &mut Dice) -> String {
        let from = dice.below(self.columns.len());
        let turned = self.columns[from..].iter().chain(&self.columns[..from]);
        let names: Vec<&str> = turned.map(|column| column.name.as_str()).collect();
        let direction = dice.pick(&["", " DESC"]);
        format!(" ORDER BY {}{direction}", names.join(", "))
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }

    fn rows(&self, dice: &mut Dice) -> String {
        let rows: Vec<String> = (0..=dice.below(3))
            .map(|_| {
                let row: Vec<String> = self.columns.iter().map(|column| column.value(dice)).collect();
                format!("({})", row.join(", "))
            })
            .collect();
        rows.join(", ")
    }

    fn condition(&self, dice: &mut Dice) -> String {
        let column = self.column(dice);
        let name = &column.name;
        let value = column.value(dice);
        match dice.below(5) {
            0 => format!("{name} IS NOT NULL"),
            1 => format!("{name} <> {value}"),
            2 => format!("{name} IN ({value}, {})", column.value(dice)),
            3 => format!("{name} <= {value}"),
            _ => format!("{name} = {value}"),
        }
    }
}

impl Column {
    /// A value at the ends of the column's type, or any other.
    fn value(&self, dice: &mut Dice) -> String {
        match dice.below(20) {
            0 => "DEFAULT".to_owned(),
            1..=3 => values::any(dice),
            _ => self.literal(dice),
        }
    }

    /// One of the literals of its type.
    fn literal(&self, dice: &mut Dice) -> String {
        let literals = COLUMNS[self.ty].2;
        literals[dice.below(literals.len())].to_owned()
    }
}

fn change(dice: &mut Dice, number: usize, table: &Table, other: &Table) -> (&'static str, String) {
    let name = format!("t{number}");
    let ignore = if dice.percent(30) { "IGNORE " } else { "" };
    match dice.below(22) {
        0..=8 => {
            ("insert", format!("INSERT {ignore}INTO {name} ({}) VALUES {}", table.names(), table.rows(dice)))
        }
        9 => {
            let column = table.column(dice);
            ("insert set", format!("INSERT {ignore}INTO {name} SET {} = {}", column.name, column.value(dice)))
        }
        10 => ("replace", format!("REPLACE INTO {name} ({}) VALUES {}", table.names(), table.rows(dice))),
        11 | 12 => on_duplicate(dice, &name, table, ignore),
        13 => insert_select(dice, number, (table, other), ignore),
        14..=18 => update(dice, &name, table, ignore),
        19 | 20 => {
            let (condition, tail) = (table.condition(dice), tail(dice, table));
            ("delete", format!("DELETE {ignore}FROM {name} WHERE {condition}{tail}"))
        }
        _ => multi_table(dice, number, table, other),
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
    for _ in 0..=dice.below(2) {
        let column = table.column(dice);
        let value = match (&alias, dice.below(10)) {
            (Some(alias), 0..=3) if alias.contains('(') => format!("new.n{}", table.column(dice).name),
            (Some(_), 0..=3) => format!("new.{}", table.column(dice).name),
            (None, 0..=2) => format!("VALUES({})", column.name),
            (None, 3) => format!("IFNULL({0}, VALUES({0}))", column.name),
            (_, 4) => table.expression(dice, &format!("{name}.")),
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
    (table, other): (&Table, &Table),
    ignore: &str,
) -> (&'static str, String) {
    let (from, other) = if dice.percent(15) { (number, table) } else { (3 - number, other) };
    if dice.percent(40) {
        let (to, column) = (table.column(dice), other.column(dice));
        let sql = format!(
            "INSERT {ignore}INTO t{number} ({}) SELECT {} FROM t{from} ORDER BY 1",
            to.name, column.name
        );
        return ("insert select", sql);
    }
    let values: Vec<String> = table
        .columns
        .iter()
        .map(|column| if dice.percent(30) { column.literal(dice) } else { other.expression(dice, "") })
        .collect();
    let verb =
        if dice.percent(20) { "REPLACE".to_owned() } else { format!("INSERT {ignore}").trim().to_owned() };
    let order = other.order(dice);
    let limit = if dice.percent(30) { format!(" LIMIT {}", dice.below(4)) } else { String::new() };
    let rest = match dice.below(10) {
        0 | 1 if !verb.starts_with("REPLACE") => {
            let column = table.column(dice);
            format!(" ON DUPLICATE KEY UPDATE {} = {}", column.name, column.literal(dice))
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

fn update(dice: &mut Dice, name: &str, table: &Table, ignore: &str) -> (&'static str, String) {
    let mut sets = Vec::new();
    for _ in 0..=dice.below(4) / 2 {
        let column = table.column(dice);
        let value = match dice.below(6) {
            0 => table.column(dice).name.clone(),
            1 => format!("{} {} {}", column.name, dice.pick(&["+", "-", "*", "/"]), values::any(dice)),
            2 => table.expression(dice, ""),
            _ => column.value(dice),
        };
        sets.push(format!("{} = {value}", column.name));
    }
    let condition =
        if dice.percent(60) { format!(" WHERE {}", table.condition(dice)) } else { String::new() };
    let tail = tail(dice, table);
    ("update", format!("UPDATE {ignore}{name} SET {}{condition}{tail}", sets.join(", ")))
}

/// ORDER BY and LIMIT, of some statements.
fn tail(dice: &mut Dice, table: &Table) -> String {
    match dice.below(10) {
        0 => table.order(dice),
        1 => format!("{} LIMIT {}", table.order(dice), dice.below(4)),
        _ => String::new(),
    }
}

fn multi_table(dice: &mut Dice, number: usize, table: &Table, other: &Table) -> (&'static str, String) {
    let (left, right) = (table.column(dice), other.column(dice));
    let join = format!("t{number} JOIN t{} ON t{number}.{} = t{0}.{}", 3 - number, left.name, right.name);
    if dice.percent(40) {
        let sql = match dice.below(3) {
            0 => format!("DELETE FROM t{number}, t{} USING {join}", 3 - number),
            _ => format!("DELETE t{number} FROM {join}"),
        };
        return ("delete join", sql);
    }
    let column = table.column(dice);
    // Of several rows of the other table, any may be the first.
    let value = match dice.below(3) {
        0 => table.expression(dice, &format!("t{number}.")),
        _ => column.value(dice),
    };
    ("update join", format!("UPDATE {join} SET t{number}.{} = {value}", column.name))
}
