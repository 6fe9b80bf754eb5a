//! Random data changes.
//!
//! Conditions compare values of one kind: in strict mode a string that is no number fails a change, and which
//! rows are read before it fails is each server's own affair.

use super::dice::Dice;
use super::expr::{self, Scope};
use super::query;
use super::schema::{Column, Kind, Table};

/// A random change of one of `tables`, or a step of a transaction.
pub fn random(dice: &mut Dice, tables: &[Table], in_transaction: &mut bool) -> String {
    if dice.percent(15) {
        return transaction_step(dice, in_transaction);
    }
    let table = &tables[dice.below(tables.len())];
    match dice.below(20) {
        0..=6 => insert(dice, table),
        7 => format!("REPLACE INTO {} VALUES {}", table.name, rows(dice, table)),
        8 | 9 => insert_or_update(dice, table),
        10 | 11 => insert_select(dice, table, tables),
        12..=15 => update(dice, table, tables),
        16 => update_join(dice, table, tables),
        _ => delete(dice, table, tables),
    }
}

fn transaction_step(dice: &mut Dice, in_transaction: &mut bool) -> String {
    if !*in_transaction {
        *in_transaction = true;
        return "START TRANSACTION".to_owned();
    }
    let step = dice.pick(&["SAVEPOINT s", "ROLLBACK TO SAVEPOINT s", "COMMIT", "ROLLBACK", "ROLLBACK"]);
    *in_transaction = step.contains("SAVEPOINT");
    step.to_owned()
}

/// Several rows of values.
pub fn rows(dice: &mut Dice, table: &Table) -> String {
    let rows: Vec<String> = (0..=dice.below(3)).map(|_| table.row(dice)).collect();
    rows.join(", ")
}

fn insert(dice: &mut Dice, table: &Table) -> String {
    let ignore = if dice.percent(25) { "IGNORE " } else { "" };
    match dice.below(5) {
        0 => {
            let column = table.column(dice);
            let value = column.value(dice);
            format!("INSERT {ignore}INTO {} SET {} = {value}", table.name, column.name)
        }
        1 => {
            let names: Vec<&str> = table.columns.iter().rev().map(|c| c.name.as_str()).collect();
            let values: Vec<String> = table
                .columns
                .iter()
                .rev()
                .map(|c| if dice.percent(15) { "DEFAULT".to_owned() } else { c.value(dice) })
                .collect();
            format!(
                "INSERT {ignore}INTO {} ({}) VALUES ({})",
                table.name,
                names.join(", "),
                values.join(", ")
            )
        }
        _ => format!("INSERT {ignore}INTO {} VALUES {}", table.name, rows(dice, table)),
    }
}

fn insert_or_update(dice: &mut Dice, table: &Table) -> String {
    let column = table.column(dice);
    let value = match dice.below(3) {
        0 => format!("VALUES({})", table.column(dice).name),
        1 => column.value(dice),
        _ => {
            let mut scope = scope_of(table, std::slice::from_ref(table), "");
            scope.subqueries = 0;
            expr::value(dice, &mut scope, column.ty.kind, 1)
        }
    };
    format!(
        "INSERT INTO {} VALUES {} ON DUPLICATE KEY UPDATE {} = {value}",
        table.name,
        rows(dice, table),
        column.name
    )
}

fn insert_select(dice: &mut Dice, table: &Table, tables: &[Table]) -> String {
    let kinds: Vec<Kind> = table.columns.iter().map(|c| c.ty.kind).collect();
    let mut scope = Scope { columns: Vec::new(), tables, subqueries: 1, next_alias: 1, mixing: 0 };
    let verb = dice.pick(&["INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"]);
    // In the order of all columns, so that both servers meet the same duplicate first.
    let order: Vec<String> = (1..=kinds.len()).map(|n| n.to_string()).collect();
    let block = query::block(dice, &mut scope, &kinds);
    format!("{verb} {} {block} ORDER BY {}", table.name, order.join(", "))
}

fn update(dice: &mut Dice, table: &Table, tables: &[Table]) -> String {
    let mut scope = scope_of(table, tables, "");
    let count = 1 + usize::from(dice.percent(30));
    let assignments: Vec<String> = (0..count)
        .map(|_| {
            let column = table.column(dice);
            format!("{} = {}", column.name, assigned(dice, column, &mut scope))
        })
        .collect();
    let ignore = if dice.percent(10) { "IGNORE " } else { "" };
    let filter = filter(dice, &mut scope);
    format!("UPDATE {ignore}{} SET {}{filter}{}", table.name, assignments.join(", "), first_rows(dice, table))
}

fn assigned(dice: &mut Dice, column: &Column, scope: &mut Scope<'_>) -> String {
    match dice.below(4) {
        0 | 1 => column.value(dice),
        2 => "DEFAULT".to_owned(),
        _ => expr::value(dice, scope, column.ty.kind, 1),
    }
}

fn update_join(dice: &mut Dice, table: &Table, tables: &[Table]) -> String {
    let other = &tables[dice.below(tables.len())];
    let (left, right) = (table.column(dice), other.column(dice));
    if left.ty.kind != right.ty.kind {
        return update(dice, table, tables);
    }
    let column = table.column(dice);
    let value = column.value(dice);
    format!(
        "UPDATE {} a1 JOIN {} a2 ON a1.{} = a2.{} SET a1.{} = {value}",
        table.name, other.name, left.name, right.name, column.name
    )
}

fn delete(dice: &mut Dice, table: &Table, tables: &[Table]) -> String {
    if dice.percent(15) {
        let other = &tables[dice.below(tables.len())];
        let (left, right) = (table.column(dice), other.column(dice));
        if left.ty.kind != right.ty.kind {
            return delete(dice, table, tables);
        }
        return format!(
            "DELETE a1 FROM {} a1 JOIN {} a2 ON a1.{} = a2.{}",
            table.name, other.name, left.name, right.name
        );
    }
    let mut scope = scope_of(table, tables, "");
    let condition = expr::predicate(dice, &mut scope, 1);
    format!("DELETE FROM {} WHERE {condition}{}", table.name, first_rows(dice, table))
}

/// ORDER BY all columns and a limit, or nothing.
fn first_rows(dice: &mut Dice, table: &Table) -> String {
    if dice.percent(75) {
        return String::new();
    }
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    format!(" ORDER BY {} LIMIT {}", names.join(", "), 1 + dice.below(3))
}

fn filter(dice: &mut Dice, scope: &mut Scope<'_>) -> String {
    if dice.percent(80) { format!(" WHERE {}", expr::predicate(dice, scope, 1)) } else { String::new() }
}

fn scope_of<'a>(table: &Table, tables: &'a [Table], prefix: &str) -> Scope<'a> {
    let columns = table.columns.iter().map(|c| (format!("{prefix}{}", c.name), c.ty.kind)).collect();
    Scope { columns, tables, subqueries: 1, next_alias: 1, mixing: 0 }
}
