//! LOAD DATA LOCAL: files with fields that fit, and that do not, in formats of all kinds.

use super::changed_table::Table;
use super::values;
use crate::differential::dice::Dice;
use crate::lockstep::client::FILE_TEXT;

/// Fields beside those that the columns' literals make.
const FIELDS: &[&str] = &[
    "",
    "\\N",
    "NULL",
    "a",
    "1",
    "-1",
    "12abc",
    "2024-02-29",
    "1e3",
    " ",
    "99999999999999999999",
    "\\|",
    "a\\",
    "\\0x",
    "\"q",
    "q\"\"q",
    "$N",
    "\\t",
];

/// What a file looks like.
struct Format {
    field_end: &'static str,
    line_start: &'static str,
    line_end: &'static str,
    enclosed: &'static str,
    /// Its clauses in the statement.
    clauses: String,
}

impl Format {
    fn new(dice: &mut Dice) -> Format {
        if dice.percent(50) {
            let clauses = " FIELDS TERMINATED BY '|' LINES TERMINATED BY ';'".to_owned();
            return Format { field_end: "|", line_start: "", line_end: ";", enclosed: "", clauses };
        }
        let field_end = dice.pick(&["|", ",", "||", "|"]);
        let enclosed = dice.pick(&["", "\"", "\"", "q"]);
        let line_end = dice.pick(&[";", ";;", ";"]);
        let line_start = dice.pick(&["", "", ">", ">>"]);
        let mut clauses = format!(" FIELDS TERMINATED BY '{field_end}'");
        if !enclosed.is_empty() {
            let optionally = if dice.percent(50) { " OPTIONALLY" } else { "" };
            clauses.push_str(&format!("{optionally} ENCLOSED BY '{enclosed}'"));
        }
        match dice.below(5) {
            0 => clauses.push_str(" ESCAPED BY ''"),
            1 => clauses.push_str(" ESCAPED BY '$'"),
            _ => {}
        }
        clauses.push_str(" LINES");
        if !line_start.is_empty() {
            clauses.push_str(&format!(" STARTING BY '{line_start}'"));
        }
        clauses.push_str(&format!(" TERMINATED BY '{line_end}'"));
        if dice.percent(25) {
            clauses.push_str(&format!(" IGNORE {} LINES", dice.below(3)));
        }
        Format { field_end, line_start, line_end, enclosed, clauses }
    }

    /// A field for each column; now and then one less, or one more.
    fn line(&self, dice: &mut Dice, table: &Table) -> String {
        let mut fields: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let field = match dice.below(4) {
                    0 => dice.pick(FIELDS).to_owned(),
                    _ => text_of(&column.literal(dice)),
                };
                if dice.percent(60) { format!("{0}{field}{0}", self.enclosed) } else { field }
            })
            .collect();
        match dice.below(12) {
            0 => drop(fields.pop()),
            1 => fields.push("more".to_owned()),
            _ => {}
        }
        let start = if dice.percent(85) { self.line_start } else { "" };
        format!("{start}{}{}", fields.join(self.field_end), self.line_end)
    }
}

/// A statement that loads a file of one to three lines into the table `name`.
pub(super) fn load(dice: &mut Dice, name: &str, table: &Table) -> (&'static str, String) {
    let duplicates = dice.pick(&["", "", "REPLACE ", "IGNORE "]);
    let format = Format::new(dice);
    let lines: Vec<String> = (0..=dice.below(3)).map(|_| format.line(dice, table)).collect();
    let file = lines.concat().replace('\\', "\\\\").replace('\'', "''");
    let charset =
        dice.pick(&["", "", "", " CHARACTER SET latin1", " CHARACTER SET utf8mb4", " CHARACTER SET binary"]);
    let (columns, sets) = match dice.below(5) {
        0 => {
            let mut names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let last = names.pop().unwrap_or("c0");
            (format!(" ({}, @v)", names.join(", ")), format!(" SET {last} = CONCAT(@v, '')"))
        }
        1 => {
            let column = table.column(dice);
            (format!(" ({})", table.names()), format!(" SET {} = {}", column.name, values::any(dice)))
        }
        2 => (String::new(), String::new()),
        _ => (format!(" ({})", table.names()), String::new()),
    };
    let sql = format!(
        "LOAD DATA LOCAL INFILE '{FILE_TEXT}{file}' {duplicates}INTO TABLE {name}{charset}{}{columns}{sets}",
        format.clauses
    );
    ("load data", sql)
}

/// What a literal is in a file.
fn text_of(literal: &str) -> String {
    match literal {
        "NULL" => "\\N".to_owned(),
        _ => literal.trim_matches('\'').to_owned(),
    }
}
