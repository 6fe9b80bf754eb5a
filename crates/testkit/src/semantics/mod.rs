//! The tables of `docs/semantics.md`, made from answers that the scripts `tests/sql/semantics_*.test` record
//! from MySQL.
//!
//! Comments in a script name the tables:
//!
//! ```text
//! # table: addition
//! # cell: {a} + {b}
//! SELECT i + i, i + u, i + d FROM v
//! ----
//! i + i:LONGLONG  i + u:LONGLONG  i + d:NEWDECIMAL
//! 14  10  9.50
//! ```
//!
//! * `# cell: TEMPLATE` makes a grid. Its rows are all [`operand::OPERANDS`] in the place of `{a}`, and its
//!   columns are the same in the place of `{b}`. A template that begins with `[lax]` is a statement of that
//!   connection.
//! * `# columns: X | Y` gives a grid other columns: operands, or texts that contain `{a}` themselves.
//! * `# without types` leaves out the types of the answers. A query that finds no row gives types alone.
//! * `# list: expressions` has a row for each expression, `# list: assignments` one for each value that a
//!   column takes.
//!
//! A statement that fails or warns has one expression, so that its errors and warnings belong to one cell.

mod document;
mod operand;
mod record;
mod table;

use std::path::{Path, PathBuf};

pub use document::{differences, read_tables, render};
pub use record::tables_of;
pub use table::Table;

use crate::script::{self, Entry};

/// The document's path below the root of the workspace.
pub const DOCUMENT: &str = "docs/semantics.md";

/// Returns the entries of each recorded script below `root`, with the script's path, in the order of their
/// names.
///
/// # Errors
/// A script cannot be read or parsed.
pub fn scripts(root: &Path) -> Result<Vec<(PathBuf, Vec<Entry>)>, String> {
    let folder = root.join("tests/sql");
    let listed = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let is_source = |path: &PathBuf| {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("semantics_") && path.extension().is_some_and(|extension| extension == "test")
    };
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).filter(is_source).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let entries = script::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok((path, entries))
    };
    paths.into_iter().map(read).collect()
}

/// Returns the tables of all recorded scripts below `root`.
///
/// # Errors
/// As [`scripts`] and [`tables_of`].
pub fn recorded_tables(root: &Path) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    for (path, entries) in scripts(root)? {
        tables.extend(tables_of(&entries).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    Ok(tables)
}
