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
            _ => {
                let literals = COLUMNS[self.ty].2;
                literals[dice.below(literals.len())].to_owned()
            }
        }
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
        11 | 12 => {
            let (rows, column) = (table.rows(dice), table.column(dice));
            let value =
                if dice.percent(40) { format!("VALUES({})", column.name) } else { column.value(dice) };
            let sql = format!(
                "INSERT {ignore}INTO {name} ({}) VALUES {rows} ON DUPLICATE KEY UPDATE {} = {value}",
                table.names(),
                column.name
            );
            ("on duplicate key", sql)
        }
        13 => {
            let (to, from) = (table.column(dice), other.column(dice));
            let sql = format!(
                "INSERT {ignore}INTO {name} ({}) SELECT {} FROM t{} ORDER BY 1",
                to.name,
                from.name,
                3 - number
            );
            ("insert select", sql)
        }
        14..=18 => update(dice, &name, table, ignore),
        19 | 20 => ("delete", format!("DELETE {ignore}FROM {name} WHERE {}", table.condition(dice))),
        _ => multi_table(dice, number, table, other),
    }
}

fn update(dice: &mut Dice, name: &str, table: &Table, ignore: &str) -> (&'static str, String) {
    let column = table.column(dice);
    let value = match dice.below(4) {
        0 => table.column(dice).name.clone(),
        1 => format!("{} {} {}", column.name, dice.pick(&["+", "-", "*", "/"]), values::any(dice)),
        _ => column.value(dice),
    };
    let condition =
        if dice.percent(60) { format!(" WHERE {}", table.condition(dice)) } else { String::new() };
    ("update", format!("UPDATE {ignore}{name} SET {} = {value}{condition}", column.name))
}

fn multi_table(dice: &mut Dice, number: usize, table: &Table, other: &Table) -> (&'static str, String) {
    let (left, right) = (table.column(dice), other.column(dice));
    let join = format!("t{number} JOIN t{} ON t{number}.{} = t{0}.{}", 3 - number, left.name, right.name);
    if dice.percent(40) {
        return ("delete join", format!("DELETE t{number} FROM {join}"));
    }
    let column = table.column(dice);
    ("update join", format!("UPDATE {join} SET t{number}.{} = {}", column.name, column.value(dice)))
}
