//! LOAD DATA LOCAL: files with fields that fit, and that do not.

use super::changed_table::Table;
use super::values;
use crate::differential::dice::Dice;
use crate::lockstep::client::FILE_TEXT;

/// Fields beside those that the columns' literals make.
const FIELDS: &[&str] =
    &["", "\\N", "NULL", "a", "1", "-1", "12abc", "2024-02-29", "1e3", " ", "99999999999999999999"];

/// A statement that loads a file of one to three lines into the table `name`.
pub(super) fn load(dice: &mut Dice, name: &str, table: &Table) -> (&'static str, String) {
    let duplicates = dice.pick(&["", "", "REPLACE ", "IGNORE "]);
    let lines: Vec<String> = (0..=dice.below(3)).map(|_| line(dice, table)).collect();
    let file = lines.concat().replace('\\', "\\\\").replace('\'', "''");
    let (columns, sets) = match dice.below(4) {
        0 => {
            let mut names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let last = names.pop().unwrap_or("c0");
            (format!(" ({}, @v)", names.join(", ")), format!(" SET {last} = CONCAT(@v, '')"))
        }
        1 => {
            let column = table.column(dice);
            (format!(" ({})", table.names()), format!(" SET {} = {}", column.name, values::any(dice)))
        }
        _ => (format!(" ({})", table.names()), String::new()),
    };
    let sql = format!(
        "LOAD DATA LOCAL INFILE '{FILE_TEXT}{file}' {duplicates}INTO TABLE {name} FIELDS TERMINATED BY '|' \
         LINES TERMINATED BY ';'{columns}{sets}"
    );
    ("load data", sql)
}

/// A field for each column; now and then one less, or one more.
fn line(dice: &mut Dice, table: &Table) -> String {
    let mut fields: Vec<String> = table
        .columns
        .iter()
        .map(|column| match dice.below(4) {
            0 => dice.pick(FIELDS).to_owned(),
            _ => text_of(&column.literal(dice)),
        })
        .collect();
    match dice.below(12) {
        0 => drop(fields.pop()),
        1 => fields.push("more".to_owned()),
        _ => {}
    }
    format!("{};", fields.join("|"))
}

/// What a literal is in a file.
fn text_of(literal: &str) -> String {
    match literal {
        "NULL" => "\\N".to_owned(),
        _ => literal.trim_matches('\'').to_owned(),
    }
}
