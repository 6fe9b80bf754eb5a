//! Records MySQL's answers and counts.

use std::path::Path;

use super::file;
use super::measure::{Counters, run};
use super::schema::{self, Copy};
use crate::recording::Source;
use crate::runner::Target;

/// First line of a file whose answers were recorded, before the server's version.
const RECORDED: &str = "# Answers and rows examined recorded from MySQL ";

/// Rewrites the file at `path` with the answers of the MySQL server at `target`.
/// # Errors  What the server refuses, with the statement.
pub fn run_file(path: &Path, target: &Target) -> Result<(), String> {
    let named = |error| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
    let mut file = file::parse(&text).map_err(named)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut conn = target.connect(None)?;
    let source = Source::of(&mut conn).map_err(named)?;
    schema::make_numbers(&mut conn)?;
    schema::execute(&mut conn, "SET optimizer_switch = 'index_condition_pushdown=off'")?;
    schema::make(&mut conn, &name, &file, Copy::Plain).map_err(named)?;
    for table in schema::keys(&file).keys() {
        schema::execute(&mut conn, &format!("ANALYZE TABLE {table}"))?;
    }
    for query in &mut file.queries {
        query.mysql = Some(run(&mut conn, &query.sql, Counters::MySql).map_err(named)?);
    }
    file.setup.retain(|block| !block.starts_with(RECORDED));
    file.setup.insert(0, format!("{RECORDED}{}.", source.version()));
    std::fs::write(path, file::print(&file)).map_err(|error| named(error.to_string()))
}
