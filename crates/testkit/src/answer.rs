//! What a server answered, as lines of text that two servers can be compared by.

use mysql::Value;
use mysql::consts::ColumnType;
use mysql::prelude::Queryable;

/// Sends one statement by the text protocol and returns its answer's lines.
///
/// A result set is a header of `name:TYPE` cells and its rows, tab-separated; anything else is `ok N rows`
/// with insert id and warnings when there are any, or `error N (STATE): text`. Only a broken connection is an
/// `Err`.
pub fn of_text(conn: &mut mysql::Conn, sql: &str, unordered: bool) -> Result<Vec<String>, String> {
    let result = match conn.query_iter(sql) {
        Ok(result) => result,
        Err(mysql::Error::MySqlError(e)) => return Ok(vec![error_line(&e)]),
        Err(e) => return Err(format!("{sql}: {e}")),
    };
    let lines = lines_or_error(collect(result, unordered), sql)?;
    let warnings = warnings(conn)?;
    Ok(lines.into_iter().chain(warnings).collect())
}

/// As [`of_text`], through a prepared statement; `None` if the server cannot prepare this statement (1295).
pub fn of_prepared(
    conn: &mut mysql::Conn,
    sql: &str,
    unordered: bool,
) -> Result<Option<Vec<String>>, String> {
    match conn.exec_iter(sql, ()) {
        Ok(result) => lines_or_error(collect(result, unordered), sql).map(Some),
        Err(mysql::Error::MySqlError(e)) if e.code == 1295 => Ok(None),
        Err(mysql::Error::MySqlError(e)) => Ok(Some(vec![error_line(&e)])),
        Err(e) => Err(format!("{sql}: {e}")),
    }
}

/// As [`of_text`], through a prepared statement with `values` for its parameters.
pub(crate) fn of_parameters(
    conn: &mut mysql::Conn,
    sql: &str,
    values: Vec<Value>,
) -> Result<Vec<String>, String> {
    let lines = match conn.exec_iter(sql, mysql::Params::from(values)) {
        Ok(result) => lines_or_error(collect(result, false), sql)?,
        Err(mysql::Error::MySqlError(e)) => return Ok(vec![error_line(&e)]),
        Err(e) => return Err(format!("{sql}: {e}")),
    };
    let warnings = warnings(conn)?;
    Ok(lines.into_iter().chain(warnings).collect())
}

/// An error that comes after the header ends the rows; the header and rows before it do not count.
fn lines_or_error(answer: Result<Vec<String>, mysql::Error>, sql: &str) -> Result<Vec<String>, String> {
    match answer {
        Err(mysql::Error::MySqlError(e)) => Ok(vec![error_line(&e)]),
        other => other.map_err(|e| format!("{sql}: {e}")),
    }
}

fn error_line(e: &mysql::MySqlError) -> String {
    format!("error {} ({}): {}", e.code, e.state, e.message.replace('\n', "\\n"))
}

fn collect<P: mysql::prelude::Protocol>(
    mut result: mysql::QueryResult<'_, '_, '_, P>,
    unordered: bool,
) -> Result<Vec<String>, mysql::Error> {
    let columns: Vec<_> = result.columns().as_ref().to_vec();
    if columns.is_empty() {
        let mut line = format!("ok {} rows", result.affected_rows());
        if let Some(id) = result.last_insert_id().filter(|&id| id != 0) {
            line.push_str(&format!(", id {id}"));
        }
        return Ok(vec![line]);
    }
    let types: Vec<ColumnType> = columns.iter().map(mysql::Column::column_type).collect();
    let header: Vec<String> =
        columns.iter().zip(&types).map(|(c, t)| format!("{}:{}", name(c), type_name(*t))).collect();
    let mut rows = Vec::new();
    for row in result.by_ref() {
        let cells: Vec<String> = row?.unwrap().iter().zip(&types).map(|(v, t)| cell(v, *t)).collect();
        let line = cells.join("\t");
        // A blank line would end the entry of a script.
        rows.push(if line.trim().is_empty() { format!("'{line}'") } else { line });
    }
    if unordered {
        rows.sort();
    }
    Ok(std::iter::once(header.join("\t")).chain(rows).collect())
}

/// A column's name on one line.
fn name(column: &mysql::Column) -> String {
    column.name_str().replace('\n', "\\n").replace('\t', "\\t")
}

/// Warnings of the last statement, as lines.
fn warnings(conn: &mut mysql::Conn) -> Result<Vec<String>, String> {
    if conn.warnings() == 0 {
        return Ok(Vec::new());
    }
    let rows: Vec<(String, u32, String)> = conn.query("SHOW WARNINGS").map_err(|e| e.to_string())?;
    Ok(rows
        .into_iter()
        .map(|(level, code, text)| format!("{} {code}: {text}", level.to_lowercase()))
        .collect())
}

fn type_name(t: ColumnType) -> String {
    format!("{t:?}").trim_start_matches("MYSQL_TYPE_").to_owned()
}

/// One value; the binary protocol's numbers and dates come out as the text protocol shows them.
fn cell(value: &Value, column: ColumnType) -> String {
    match value {
        Value::NULL => "NULL".to_owned(),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if !text.chars().any(|c| c.is_control() && c != '\n') => text.replace('\n', "\\n"),
            _ => format!("0x{}", bytes.iter().map(|b| format!("{b:02X}")).collect::<String>()),
        },
        Value::Int(v) => v.to_string(),
        Value::UInt(v) => v.to_string(),
        Value::Float(v) => v.to_string(),
        Value::Double(v) => v.to_string(),
        Value::Date(y, m, d, ..) if column == ColumnType::MYSQL_TYPE_DATE => format!("{y:04}-{m:02}-{d:02}"),
        Value::Date(y, m, d, h, i, s, us) => {
            format!("{y:04}-{m:02}-{d:02} {h:02}:{i:02}:{s:02}{}", fraction(*us))
        }
        Value::Time(negative, days, h, i, s, us) => {
            let hours = days * 24 + u32::from(*h);
            format!("{}{hours:02}:{i:02}:{s:02}{}", if *negative { "-" } else { "" }, fraction(*us))
        }
    }
}

fn fraction(micros: u32) -> String {
    if micros == 0 { String::new() } else { format!(".{micros:06}") }
}

/// Whether two answers say the same although one came by the binary protocol, which carries no display scale.
pub fn agree(text: &[String], prepared: &[String]) -> bool {
    text.len() == prepared.len()
        && text.iter().zip(prepared).all(|(a, b)| {
            let (a, b): (Vec<_>, Vec<_>) = (a.split('\t').collect(), b.split('\t').collect());
            a.len() == b.len() && a.iter().zip(&b).all(|(x, y)| same_cell(x, y))
        })
}

/// A value without the zeros that end its fraction.
fn without_zeros(cell: &str) -> &str {
    if cell.contains('.') { cell.trim_end_matches('0').trim_end_matches('.') } else { cell }
}

fn same_cell(text: &str, binary: &str) -> bool {
    if text == binary {
        return true;
    }
    if let (Ok(x), Ok(y)) = (text.parse::<f64>(), binary.parse::<f64>()) {
        // A FLOAT's text has six digits.
        return x == y || (x - y).abs() <= 2e-6 * x.abs().max(y.abs());
    }
    // A temporal value with a declared fraction of zeros.
    without_zeros(text) == without_zeros(binary)
}
