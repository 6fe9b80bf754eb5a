//! The script format: statements, each followed by its recorded answer.
//!
//! ```text
//! # A comment, or a line that says what the next statements show.
//! SELECT 1 AS a, NULL
//! ----
//! a:LONGLONG  NULL:NULL
//! 1   NULL
//!
//! [second] INSERT INTO t VALUES (1)
//! ----
//! error 1062 (23000): Duplicate entry '1' for key 't.PRIMARY'
//! ```
//!
//! Blank lines separate entries. A statement may span lines. `[name]` before it chooses a connection of that
//! name, opened at first use; `[as u 2]` is one of the account `u`, without a default schema. `[unordered]`
//! sorts the rows before they are compared. Columns are separated by tabs.

/// One statement and its recorded answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Comment lines that are before the statement, each with its `#`.
    pub comments: Vec<String>,
    /// Connection name; empty for the default one.
    pub connection: String,
    /// Compare rows as a set.
    pub unordered: bool,
    /// The statement, without a closing semicolon.
    pub sql: String,
    /// Recorded answer, one element a line.
    pub expected: Vec<String>,
    /// Line of the statement in the file, 1-based.
    pub line: usize,
}

/// Splits a script into entries; an error names the line.
pub fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    let mut comments = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if line.starts_with('#') {
            comments.push(line.to_owned());
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let mut sql = line.to_owned();
        loop {
            match lines.next() {
                Some((_, "----")) => break,
                Some((_, more)) if !more.trim().is_empty() => {
                    sql.push('\n');
                    sql.push_str(more);
                }
                _ => return Err(format!("line {}: no ---- after the statement", number + 1)),
            }
        }
        let mut expected = Vec::new();
        while let Some((_, line)) = lines.next_if(|(_, line)| !line.trim().is_empty()) {
            expected.push(line.to_owned());
        }
        let (connection, unordered, sql) = split_marks(&sql);
        entries.push(Entry {
            comments: std::mem::take(&mut comments),
            connection,
            unordered,
            sql,
            expected,
            line: number + 1,
        });
    }
    Ok(entries)
}

/// Takes `[unordered]` and `[connection]` marks off the front of a statement.
fn split_marks(sql: &str) -> (String, bool, String) {
    let (mut connection, mut unordered, mut rest) = (String::new(), false, sql.trim());
    while let Some((mark, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        if mark == "unordered" {
            unordered = true;
        } else {
            mark.clone_into(&mut connection);
        }
        rest = after.trim_start();
    }
    (connection, unordered, rest.trim_end_matches(';').to_owned())
}

/// The text of a script, in the form that [`parse`] reads.
pub fn print(entries: &[Entry]) -> String {
    let mut out = String::new();
    for (i, entry) in entries.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        for comment in &entry.comments {
            out.push_str(comment);
            out.push('\n');
        }
        if !entry.connection.is_empty() {
            out.push_str(&format!("[{}] ", entry.connection));
        }
        if entry.unordered {
            out.push_str("[unordered] ");
        }
        out.push_str(&entry.sql);
        out.push_str("\n----\n");
        for line in &entry.expected {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_survives_parsing_and_printing() {
        let text = "# first\nSELECT 1\n  FROM t\n----\na:LONG\n1\n\n[b] [unordered] SELECT 2\n----\nerror 1 (2): x\n";
        let entries = parse(text).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!((entries[1].connection.as_str(), entries[1].unordered), ("b", true));
        assert_eq!(print(&entries), text);
    }

    #[test]
    fn a_statement_without_an_answer_mark_is_refused() {
        assert_eq!(parse("SELECT 1\n\n").unwrap_err(), "line 1: no ---- after the statement");
    }
}
