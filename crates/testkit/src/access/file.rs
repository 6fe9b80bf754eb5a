//! The format of a file: blocks with blank lines between them.
//!
//! A block that begins with `#` is a comment, one that begins with CREATE or INSERT makes the schema; all
//! others are queries: the statement, `----`, and what was recorded.
//! ```text
//! SELECT id FROM orders WHERE status = 'open'
//! ----
//! mysql: 12 rows, checksum 00112233445566aa, 13 examined
//! ratchet: 12 examined, 12 by orders.status
//! -> Index lookup on orders using status (status='open')
//! ```

use std::fmt::Write as _;

/// A parsed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Comments and statements that make the schema, in order.
    pub setup: Vec<String>,
    /// Queries, in order.
    pub queries: Vec<Query>,
}

/// A query and what was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Line in the file.
    pub line: usize,
    /// The statement.
    pub sql: String,
    /// What MySQL answered.
    pub mysql: Option<Measured>,
    /// What this server did.
    pub own: Option<Own>,
    /// This server's plan.
    pub plan: Vec<String>,
}

/// An answer, and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Rows of the answer, or rows changed.
    pub rows: u64,
    /// Of the answer's rows, or of the changed table's.
    pub checksum: u64,
    /// Rows examined.
    pub examined: u64,
}

/// Rows examined by this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// By the plan.
    pub examined: u64,
    /// The fewest by the plan or by one forced index.
    pub best: u64,
    /// What takes those: `table.index`, or `plan`.
    pub best_key: String,
}

/// Reads a file's text.
/// # Errors  The line, and what is wrong there.
pub fn parse(text: &str) -> Result<File, String> {
    let mut file = File { setup: Vec::new(), queries: Vec::new() };
    let mut block: Vec<&str> = Vec::new();
    for (at, line) in text.lines().chain([""]).enumerate() {
        if !line.trim().is_empty() {
            block.push(line);
            continue;
        }
        let Some(first) = block.first() else { continue };
        if ["#", "CREATE ", "INSERT "].iter().any(|word| first.starts_with(word)) {
            file.setup.push(block.join("\n"));
        } else {
            let line = at + 1 - block.len();
            file.queries.push(query(line, &block).map_err(|what| format!("line {line}: {what}"))?);
        }
        block.clear();
    }
    Ok(file)
}

fn query(line: usize, block: &[&str]) -> Result<Query, String> {
    let end = block.iter().position(|line| *line == "----").ok_or("a query without ----")?;
    let mut query = Query { line, sql: block[..end].join("\n"), ..Query::default() };
    for line in &block[end + 1..] {
        let bad = || format!("not understood: {line}");
        match line.split_once(": ") {
            Some(("mysql", rest)) => query.mysql = Some(measured(rest).ok_or_else(bad)?),
            Some(("ratchet", rest)) => query.own = Some(own(rest).ok_or_else(bad)?),
            _ => query.plan.push((*line).to_owned()),
        }
    }
    Ok(query)
}

fn measured(text: &str) -> Option<Measured> {
    let (rows, rest) = text.split_once(" rows, checksum ")?;
    let (checksum, examined) = rest.strip_suffix(" examined")?.split_once(", ")?;
    Some(Measured {
        rows: rows.parse().ok()?,
        checksum: u64::from_str_radix(checksum, 16).ok()?,
        examined: examined.parse().ok()?,
    })
}

fn own(text: &str) -> Option<Own> {
    let (examined, rest) = text.split_once(" examined, ")?;
    let (best, key) = rest.split_once(" by ")?;
    Some(Own { examined: examined.parse().ok()?, best: best.parse().ok()?, best_key: key.to_owned() })
}

/// The text of a file.
pub fn print(file: &File) -> String {
    let mut text = file.setup.join("\n\n");
    for query in &file.queries {
        let _ = write!(text, "\n\n{}\n----", query.sql);
        if let Some(Measured { rows, checksum, examined }) = query.mysql {
            let _ = write!(text, "\nmysql: {rows} rows, checksum {checksum:016x}, {examined} examined");
        }
        if let Some(Own { examined, best, best_key }) = &query.own {
            let _ = write!(text, "\nratchet: {examined} examined, {best} by {best_key}");
        }
        for line in &query.plan {
            let _ = write!(text, "\n{line}");
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A shop.\n\nCREATE TABLE t (\n    id INT PRIMARY KEY\n)\n\nINSERT INTO t SELECT n FROM numbers\n\n\
        SELECT id\nFROM t\n----\nmysql: 2 rows, checksum 00000000000000ff, 3 examined\n\
        ratchet: 2 examined, 2 by t.PRIMARY\n-> Filter: x\n    -> Scan\n";

    #[test]
    fn what_is_read_is_printed_as_it_was() {
        let file = parse(TEXT).unwrap();
        assert_eq!((file.setup.len(), file.queries.len(), file.queries[0].line), (3, 1, 9));
        assert_eq!(file.queries[0].mysql, Some(Measured { rows: 2, checksum: 255, examined: 3 }));
        assert_eq!(print(&file), TEXT);
    }

    #[test]
    fn a_query_without_its_mark_is_refused() {
        assert!(parse("SELECT 1\n").unwrap_err().contains("line 1"));
    }
}
