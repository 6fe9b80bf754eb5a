//! Syntax trees back to SQL text, for tests and diagnostics: expressions with every parenthesis, so that the
//! text shows how operators bound, and queries. Printing what was parsed from printed text gives the same
//! text.

mod expr;
mod query;

use std::fmt::{self, Write};

use crate::ast::{Expr, Query};

/// Prints trees whose literals are in `sql`.
struct Printer<'t> {
    sql: &'t [u8],
    out: String,
}

/// `expr` as SQL with full parentheses. `sql` is the text it was parsed from.
pub fn expr_to_sql(expr: &Expr<'_>, sql: &[u8]) -> String {
    let mut printer = Printer { sql, out: String::new() };
    // Writing to a String cannot fail.
    let _ = printer.expr(expr);
    printer.out
}

/// `query` as SQL. `sql` is the text it was parsed from.
pub fn query_to_sql(query: &Query<'_>, sql: &[u8]) -> String {
    let mut printer = Printer { sql, out: String::new() };
    let _ = printer.query(query);
    printer.out
}

impl Printer<'_> {
    fn put(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    /// A name in backquotes.
    fn name(&mut self, name: &str) -> fmt::Result {
        self.out.push('`');
        for c in name.chars() {
            if c == '`' {
                self.out.push('`');
            }
            self.out.push(c);
        }
        self.put("`")
    }

    /// Names joined by dots, those that are given.
    fn path(&mut self, parts: &[Option<&str>]) -> fmt::Result {
        let mut first = true;
        for part in parts.iter().flatten() {
            if !first {
                self.put(".")?;
            }
            first = false;
            self.name(part)?;
        }
        Ok(())
    }

    /// A string in quotes.
    fn string(&mut self, text: &str) -> fmt::Result {
        self.out.push('\'');
        for c in text.chars() {
            match c {
                '\'' => self.out.push_str("''"),
                '\\' => self.out.push_str("\\\\"),
                c => self.out.push(c),
            }
        }
        self.put("'")
    }

    /// Items joined by `, `.
    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T) -> fmt::Result) -> fmt::Result {
        for (i, it) in items.iter().enumerate() {
            if i > 0 {
                self.put(", ")?;
            }
            item(self, it)?;
        }
        Ok(())
    }
}
