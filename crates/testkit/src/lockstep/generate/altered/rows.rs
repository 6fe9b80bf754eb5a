//! Changes of the rows of tables that are altered.

use super::shape::{Column, Shape};
use crate::differential::dice::Dice;

/// A change of rows, and its topic.
pub(super) fn change(dice: &mut Dice, shape: &Shape) -> (&'static str, String) {
    let column = &shape.columns[shape.any(dice)];
    match dice.below(10) {
        0..5 => ("insert", insert(dice, shape)),
        5 => ("insert", format!("INSERT INTO {} () VALUES ()", shape.name)),
        6..8 => {
            let ignore = dice.pick(&["", "IGNORE "]);
            let (value, condition) = (column.ty.value(dice), condition(dice, shape));
            ("update", format!("UPDATE {ignore}{} SET {} = {value}{condition}", shape.name, column.name))
        }
        _ => ("delete", format!("DELETE FROM {}{}", shape.name, condition(dice, shape))),
    }
}

/// Some rows of values for some of the columns.
pub(super) fn insert(dice: &mut Dice, shape: &Shape) -> String {
    let is_listed = |dice: &mut Dice, column: &Column| {
        dice.percent(if column.name == "id" && shape.has_numbers { 20 } else { 85 })
    };
    let columns: Vec<&Column> = shape.columns.iter().filter(|column| is_listed(dice, column)).collect();
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let rows: Vec<String> = (0..=dice.below(4))
        .map(|_| {
            let values: Vec<&str> = columns.iter().map(|column| column.ty.value(dice)).collect();
            format!("({})", values.join(", "))
        })
        .collect();
    let ignore = dice.pick(&["", "IGNORE ", "IGNORE "]);
    format!("INSERT {ignore}INTO {} ({}) VALUES {}", shape.name, names.join(", "), rows.join(", "))
}

fn condition(dice: &mut Dice, shape: &Shape) -> String {
    let column = &shape.columns[shape.any(dice)];
    match dice.below(5) {
        0 => String::new(),
        1 => format!(" WHERE {} IS NULL", column.name),
        _ => format!(" WHERE {} = {}", column.name, column.ty.own_value(dice)),
    }
}
