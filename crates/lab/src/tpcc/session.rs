//! A terminal's connection and its prepared statements.

use std::collections::HashMap;
use std::fmt::Write;

use mysql::prelude::{FromRow, Queryable};
use mysql::{Conn, Params, Statement};

/// Errors after which a transaction is tried again: deadlock, lock wait timeout, and MariaDB's "record has changed since last read".
const DEADLOCK: u16 = 1213;
const LOCK_WAIT_TIMEOUT: u16 = 1205;
const CHANGED: u16 = 1020;

/// Why a transaction ended early.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server's word, or the connection's.
    Server(mysql::Error),
    /// A row that must be there is not.
    Missing(&'static str),
}

/// Why a transaction is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    Deadlock,
    LockWaitTimeout,
}

pub(super) type Outcome<T> = Result<T, Failure>;

impl From<mysql::Error> for Failure {
    fn from(error: mysql::Error) -> Failure {
        Failure::Server(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Server(error) => write!(f, "{error}"),
            Failure::Missing(what) => write!(f, "no row was found: {what}"),
        }
    }
}

impl Failure {
    /// Returns why the transaction may be tried again, if it may.
    pub(super) fn retry(&self) -> Option<Retry> {
        let Failure::Server(mysql::Error::MySqlError(error)) = self else { return None };
        match error.code {
            DEADLOCK | CHANGED => Some(Retry::Deadlock),
            LOCK_WAIT_TIMEOUT => Some(Retry::LockWaitTimeout),
            _ => None,
        }
    }
}

/// A connection. Statements are prepared when they are first used.
pub(super) struct Session {
    connection: Conn,
    /// By text and number of repetitions.
    statements: HashMap<(&'static str, usize), Statement>,
}

impl Session {
    pub(super) fn new(connection: Conn) -> Session {
        Session { connection, statements: HashMap::new() }
    }

    /// Runs a statement without parameters or rows.
    pub(super) fn plain(&mut self, text: &str) -> Outcome<()> {
        Ok(self.connection.query_drop(text)?)
    }

    /// Runs a statement without rows.
    pub(super) fn execute(&mut self, text: &'static str, params: impl Into<Params>) -> Outcome<()> {
        self.execute_many(text, 1, params)
    }

    /// Runs a statement without rows whose text in braces stands for `count` of it.
    pub(super) fn execute_many(
        &mut self,
        text: &'static str,
        count: usize,
        params: impl Into<Params>,
    ) -> Outcome<()> {
        let statement = self.prepared(text, count)?;
        Ok(self.connection.exec_drop(statement, params)?)
    }

    /// Returns the rows of a query.
    pub(super) fn rows<T: FromRow>(
        &mut self,
        text: &'static str,
        params: impl Into<Params>,
    ) -> Outcome<Vec<T>> {
        self.rows_many(text, 1, params)
    }

    /// Returns the rows of a query whose text in braces stands for `count` of it.
    pub(super) fn rows_many<T: FromRow>(
        &mut self,
        text: &'static str,
        count: usize,
        params: impl Into<Params>,
    ) -> Outcome<Vec<T>> {
        let statement = self.prepared(text, count)?;
        Ok(self.connection.exec(statement, params)?)
    }

    /// Returns the first row of a query.
    pub(super) fn find<T: FromRow>(
        &mut self,
        text: &'static str,
        params: impl Into<Params>,
    ) -> Outcome<Option<T>> {
        let statement = self.prepared(text, 1)?;
        Ok(self.connection.exec_first(statement, params)?)
    }

    /// Returns the first row of a query that has one.
    pub(super) fn get<T: FromRow>(&mut self, text: &'static str, params: impl Into<Params>) -> Outcome<T> {
        self.find(text, params)?.ok_or(Failure::Missing(text))
    }

    fn prepared(&mut self, text: &'static str, count: usize) -> Outcome<Statement> {
        if let Some(statement) = self.statements.get(&(text, count)) {
            return Ok(statement.clone());
        }
        let statement = self.connection.prep(repeated(text, count))?;
        self.statements.insert((text, count), statement.clone());
        Ok(statement)
    }
}

/// Puts what is in braces `count` times, separated by commas.
fn repeated(text: &str, count: usize) -> String {
    let Some(((head, unit), tail)) = text
        .split_once('{')
        .and_then(|(head, rest)| Some(((head, rest.split_once('}')?.0), rest.split_once('}')?.1)))
    else {
        return text.to_owned();
    };
    let mut whole = head.to_owned();
    for at in 0..count {
        // Writing to a string does not fail.
        let _ = write!(whole, "{}{unit}", if at == 0 { "" } else { "," });
    }
    whole + tail
}

/// Hundredths of a DECIMAL that the server sent.
pub(super) fn hundredths(decimal: &str) -> i64 {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, "0"));
    let digits: i64 = format!("{fraction:0<2}")[..2].parse().unwrap_or(0);
    let whole_hundredths = whole.parse::<i64>().unwrap_or(0) * 100;
    if decimal.starts_with('-') { whole_hundredths - digits } else { whole_hundredths + digits }
}

/// Hundredths as a DECIMAL.
pub(super) fn decimal(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", hundredths.abs() / 100, hundredths.abs() % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_braces_is_repeated() {
        assert_eq!(repeated("a IN ({(?,?)}) x", 2), "a IN ((?,?),(?,?)) x");
        assert_eq!(repeated("a = ?", 3), "a = ?");
    }

    #[test]
    fn hundredths_are_those_of_the_decimal() {
        for (text, number) in [("1.05", 105), ("-0.50", -50), ("-12.34", -1234), ("0.00", 0)] {
            assert_eq!((hundredths(text), &decimal(number)[..]), (number, text));
        }
        assert_eq!((hundredths("7"), hundredths("7.5")), (700, 750));
    }
}
