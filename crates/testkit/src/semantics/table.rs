//! A table of the document: texts in rows.

/// One table, each cell as the document shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The name in its markers.
    pub name: String,
    /// What each cell of a grid is the answer to; empty for a list.
    pub cell: String,
    /// Titles of the columns.
    pub head: Vec<String>,
    /// Rows, as wide as the head.
    pub rows: Vec<Vec<String>>,
}

const CELL: (&str, &str) = ("Each cell is `", "`.");

impl Table {
    /// Returns the table in Markdown.
    pub(crate) fn to_markdown(&self) -> String {
        let mut out = String::new();
        if !self.cell.is_empty() {
            out.push_str(&format!("{}{}{}\n\n", CELL.0, self.cell, CELL.1));
        }
        out.push_str(&line(&self.head));
        out.push_str(&format!("|{}\n", "---|".repeat(self.head.len())));
        for row in &self.rows {
            out.push_str(&line(row));
        }
        out
    }

    /// Reads what [`Table::to_markdown`] writes.
    ///
    /// # Errors
    /// A row is not as wide as the head.
    pub fn parse(name: &str, text: &str) -> Result<Table, String> {
        let mut table = Table { name: name.to_owned(), ..Table::default() };
        for text in text.lines().filter(|line| !line.trim().is_empty()) {
            if let Some(cell) = text.strip_prefix(CELL.0).and_then(|rest| rest.strip_suffix(CELL.1)) {
                cell.clone_into(&mut table.cell);
                continue;
            }
            let cells = cells(text).ok_or_else(|| format!("{name}: {text:?} is no row"))?;
            if table.head.is_empty() {
                table.head = cells;
            } else if cells.len() != table.head.len() {
                return Err(format!("{name}: {text:?} is not as wide as the head"));
            } else if !cells.iter().all(|cell| cell == "---") {
                table.rows.push(cells);
            }
        }
        Ok(table)
    }
}

fn line(cells: &[String]) -> String {
    let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", escaped.join(" | "))
}

/// Splits a row at the bars that no backslash precedes.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let hidden = inner.replace("\\|", "\u{1}");
    Some(hidden.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_survives_writing_and_reading() {
        let texts = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let table = Table {
            name: "t".to_owned(),
            cell: "a + b".to_owned(),
            head: texts(&["a", "INT"]),
            rows: vec![texts(&["INT", "`x || y`"]), texts(&["NULL", ""])],
        };
        assert_eq!(Table::parse("t", &table.to_markdown()).unwrap(), table);
    }

    #[test]
    fn a_row_of_another_width_is_refused() {
        assert!(Table::parse("t", "| a | b |\n|---|---|\n| 1 |\n").is_err());
    }
}
