//! Syntax trees back to SQL text, for tests and diagnostics: expressions with every parenthesis, so that the
//! text shows how operators bound, and queries. Printing what was parsed from printed text gives the same
//! text.

pub(crate) mod expr;
mod query;

use std::fmt::{self, Debug, Write};

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

/// The name in SQL of a unit, a function or an operator: `DayHour` is DAY_HOUR.
pub(crate) fn sql_name(variant: impl Debug) -> String {
    let mut out = String::new();
    for (at, letter) in format!("{variant:?}").char_indices() {
        if at > 0 && letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    // JSON_ARRAYAGG and JSON_OBJECTAGG.
    out.replace("_AGG", "AGG")
}

/// Appends `text` as it is within quotes; `escaped`: characters that have a backslash before them.
pub fn push_escaped(out: &mut String, text: &str, escaped: &[char]) {
    for character in text.chars() {
        match character {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\x1a' => out.push_str("\\Z"),
            _ if escaped.contains(&character) => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
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
