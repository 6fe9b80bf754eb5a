//! Column definitions: scripts of statements, each with the definitions of its columns and parameters.
//!
//! ```text
//! SELECT id, price * ? FROM item
//! ----
//! ? NEWDECIMAL(67,30) binary BINARY
//! id LONG(11,0) binary NOT_NULL|PRI_KEY|PART_KEY shop.item.id (item)
//! price * ? NEWDECIMAL(45,32) binary BINARY
//! ```
//!
//! A line has the name, the type with length and decimals, the character set, the flags, and where the column
//! comes from: schema, original table and original name, then the name of the table in the statement. Lines
//! of `?` come first. A statement without parameters is sent as text too. Lines after `text:` or `executed:`
//! appear only where the definitions differ from those that the server gave when it prepared the statement.

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Column, Conn, Params, Value};

use crate::recording::Source;
use crate::runner::{Target, connect_fresh, difference};
use crate::script;

/// Runs one script file and returns what differs, one message per statement.
///
/// # Errors
/// The file cannot be read, or the connection breaks.
pub fn run_file(path: &Path, target: &Target, _record: bool) -> Result<Vec<String>, String> {
    let entries = read(path)?;
    let mut conn = connect(target)?;
    let mut differences = Vec::new();
    for entry in &entries {
        let actual = described(&mut conn, &entry.sql)?;
        if actual != entry.expected {
            differences.push(difference(path, entry, &actual));
        }
    }
    Ok(differences)
}

/// Rewrites one script file with the definitions of the MySQL server at `target`.
///
/// # Errors
/// As [`run_file`]; the server is one of this project.
pub fn record_file(path: &Path, target: &Target) -> Result<(), String> {
    let mut entries = read(path)?;
    let mut conn = connect(target)?;
    let source = Source::of(&mut conn)?;
    for entry in &mut entries {
        entry.expected = described(&mut conn, &entry.sql)?;
    }
    source.stamp(&mut entries);
    std::fs::write(path, script::print(&entries)).map_err(|e| format!("{}: {e}", path.display()))
}

/// A connection whose texts are sent in the default collation of utf8mb4.
fn connect(target: &Target) -> Result<Conn, String> {
    let (mut conn, _) = connect_fresh(target)?;
    conn.query_drop("SET NAMES utf8mb4").map_err(|e| e.to_string())?;
    Ok(conn)
}

fn read(path: &Path) -> Result<Vec<script::Entry>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    script::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// What the server says of the columns and parameters of `sql`, or `ok`, or its error.
fn described(conn: &mut Conn, sql: &str) -> Result<Vec<String>, String> {
    let statement = match conn.prep(sql) {
        Ok(statement) => statement,
        Err(mysql::Error::MySqlError(e)) if e.code == CANNOT_BE_PREPARED => return as_text(conn, sql),
        Err(mysql::Error::MySqlError(e)) => return Ok(vec![format!("error {}", e.code)]),
        Err(e) => return Err(format!("{sql}: {e}")),
    };
    let mut out: Vec<String> = statement.params().iter().map(line).collect();
    let prepared: Vec<String> = statement.columns().iter().map(line).collect();
    if prepared.is_empty() {
        out.push("no columns".to_owned());
    }
    out.extend_from_slice(&prepared);
    let values = Params::from(vec![Value::Int(1); statement.params().len()]);
    let executed = match conn.exec_iter(&statement, values) {
        Ok(result) => lines_of(result.columns().as_ref()),
        Err(e) => failure(sql, e)?,
    };
    let _closed = conn.close(statement);
    note("executed:", &executed, &prepared, &mut out);
    if out.iter().all(|line| !line.starts_with("? ")) && !prepared.is_empty() {
        note("text:", &as_text(conn, sql)?, &prepared, &mut out);
    }
    Ok(out)
}

/// ER_UNSUPPORTED_PS.
const CANNOT_BE_PREPARED: u16 = 1295;

fn as_text(conn: &mut Conn, sql: &str) -> Result<Vec<String>, String> {
    match conn.query_iter(sql) {
        Ok(result) => Ok(lines_of(result.columns().as_ref())),
        Err(e) => failure(sql, e),
    }
}

fn failure(sql: &str, error: mysql::Error) -> Result<Vec<String>, String> {
    match error {
        mysql::Error::MySqlError(e) => Ok(vec![format!("error {}", e.code)]),
        other => Err(format!("{sql}: {other}")),
    }
}

fn note(head: &str, lines: &[String], prepared: &[String], out: &mut Vec<String>) {
    if lines != prepared {
        out.push(head.to_owned());
        out.extend_from_slice(lines);
    }
}

fn lines_of(columns: &[Column]) -> Vec<String> {
    columns.iter().map(line).collect()
}

fn line(column: &Column) -> String {
    let type_name = format!("{:?}", column.column_type());
    let mut out = format!(
        "{} {}({},{}) {}",
        column.name_str().replace('\n', "\\n"),
        type_name.trim_start_matches("MYSQL_TYPE_"),
        column.column_length(),
        column.decimals(),
        charset_name(column.character_set()),
    );
    let flags: Vec<&str> =
        column.flags().iter_names().map(|(name, _)| name.trim_end_matches("_FLAG")).collect();
    if !flags.is_empty() {
        out.push_str(&format!(" {}", flags.join("|")));
    }
    let origin = [column.schema_str(), column.org_table_str(), column.org_name_str()];
    let alias = column.table_str();
    if origin.iter().any(|part| !part.is_empty()) || !alias.is_empty() {
        out.push_str(&format!(" {} ({alias})", origin.join(".")));
    }
    out
}

fn charset_name(id: u16) -> String {
    if id == 63 { "binary".to_owned() } else { id.to_string() }
}
