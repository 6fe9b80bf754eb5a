//! Rows of COMPAT.md.

use std::path::PathBuf;

/// A row of a table with a column "status".
#[derive(Debug)]
pub(super) struct Row {
    /// The heading above it.
    pub(super) section: String,
    /// The first cell.
    pub(super) title: String,
    /// The second one.
    pub(super) status: String,
    /// The texts in backquotes of the first cell.
    pub(super) names: Vec<String>,
    /// Paths of the tests that the last cell names.
    pub(super) tests: Vec<PathBuf>,
}

/// The sections with a column "status".
const SECTIONS: [&str; 7] =
    ["Statements", "Types", "Functions", "Aggregates", "Character sets", "Collations", "System variables"];

/// The rows whose status begins with "yes".
pub(super) fn claims(compat: &str) -> Vec<Row> {
    all(compat).into_iter().filter(|row| row.status.starts_with("yes")).collect()
}

/// The rows whose status begins with "no" or "partly".
pub(super) fn denials(compat: &str) -> Vec<Row> {
    let denies = |row: &Row| row.status.starts_with("no") || row.status.starts_with("partly");
    all(compat).into_iter().filter(denies).collect()
}

fn all(compat: &str) -> Vec<Row> {
    let mut section = String::new();
    let mut rows = Vec::new();
    for line in compat.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut section);
        } else if SECTIONS.contains(&section.as_str()) {
            rows.extend(row(&section, line));
        }
    }
    rows
}

fn row(section: &str, line: &str) -> Option<Row> {
    let mut cells = line.strip_prefix("| ")?.trim_end_matches(" |").split(" | ");
    let (title, status, tests) = (cells.next()?, cells.next()?, cells.last()?);
    Some(Row {
        section: section.to_owned(),
        title: title.to_owned(),
        status: status.to_owned(),
        names: quoted(title),
        tests: paths(&quoted(tests)),
    })
}

fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A name without a folder is in the folder of the path before it.
fn paths(names: &[String]) -> Vec<PathBuf> {
    let mut folder = PathBuf::new();
    let mut paths = Vec::new();
    for name in names {
        let path = if name.contains('/') { PathBuf::from(name) } else { folder.join(name) };
        folder = path.parent().map(PathBuf::from).unwrap_or_default();
        paths.push(path);
    }
    paths
}
