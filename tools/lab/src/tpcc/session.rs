//! A terminal's connection and its prepared statements.

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use crate::tpcc::answer::{self, Request, Row};
use crate::tpcc::crew::Alarm;
use crate::tpcc::link::Link;

/// Errors after which a transaction is tried again: deadlock, lock wait timeout, and MariaDB's "record has
/// changed since last read".
const DEADLOCK: u16 = 1213;
const LOCK_WAIT_TIMEOUT: u16 = 1205;
const CHANGED: u16 = 1020;

/// Why a transaction ended early.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server's word.
    Server {
        /// Number of the error.
        code: u16,
        /// Its text.
        message: String,
    },
    /// The connection's.
    Connection(io::Error),
    /// The server said what this client does not understand.
    Protocol(&'static str),
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

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Connection(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Server { code, message } => write!(f, "{code}: {message}"),
            Failure::Connection(error) => write!(f, "{error}"),
            Failure::Protocol(what) => f.write_str(what),
            Failure::Missing(what) => write!(f, "no row was found: {what}"),
        }
    }
}

impl Failure {
    /// Reads an error packet's body.
    pub(super) fn of_error_packet(body: &[u8]) -> Failure {
        let [0xff, low, high, rest @ ..] = body else { return Failure::Protocol("an answer is malformed") };
        // A mark and five characters of SQLSTATE, which a server that greets with an error leaves out.
        let message = if rest.first() == Some(&b'#') { rest.get(6..).unwrap_or_default() } else { rest };
        let message = String::from_utf8_lossy(message).into_owned();
        Failure::Server { code: u16::from_le_bytes([*low, *high]), message }
    }

    /// Returns why the transaction may be tried again, if it may.
    pub(super) fn retry(&self) -> Option<Retry> {
        let Failure::Server { code, .. } = self else { return None };
        match *code {
            DEADLOCK | CHANGED => Some(Retry::Deadlock),
            LOCK_WAIT_TIMEOUT => Some(Retry::LockWaitTimeout),
            _ => None,
        }
    }
}

/// A parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Param<'a> {
    Int(i64),
    Text(&'a str),
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Param::Int(number)
    }
}

impl From<usize> for Param<'_> {
    fn from(number: usize) -> Self {
        Param::Int(number as i64)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Param::Text(text)
    }
}

impl std::fmt::Display for Param<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Param::Int(number) => write!(f, "{number}"),
            Param::Text(text) => f.write_str(text),
        }
    }
}

/// The commands used, and the type codes of parameters, as the protocol numbers them.
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const TYPE_LONGLONG: u8 = 8;
const TYPE_STRING: u8 = 0xfe;

/// A connection. Statements are prepared when they are first used.
pub(super) struct Session {
    link: Link,
    alarm: Rc<Alarm>,
    /// By the text's address, for texts are constants, and number of repetitions.
    statements: HashMap<(*const u8, usize), u32>,
}

impl Session {
    /// A session whose pauses end by this alarm.
    pub(super) fn new(link: Link, alarm: Rc<Alarm>) -> Session {
        Session { link, alarm, statements: HashMap::new() }
    }

    /// Waits for so long.
    pub(super) async fn pause(&self, time: Duration) {
        self.alarm.after(time).await;
    }

    /// Runs a statement without parameters or rows.
    pub(super) async fn plain(&mut self, text: &str) -> Outcome<()> {
        self.link.begin(COM_QUERY).extend_from_slice(text.as_bytes());
        let deprecates_eof = self.link.deprecates_eof;
        answer::rows(self.link.exchange(Request::Execute).await?, deprecates_eof, |_| ()).map(drop)
    }

    /// Runs a statement without rows.
    pub(super) async fn execute(&mut self, text: &'static str, params: &[Param<'_>]) -> Outcome<()> {
        self.rows_many(text, 1, params, |_| ()).await.map(drop)
    }

    /// Runs a statement without rows whose text in braces stands for `count` of it.
    pub(super) async fn execute_many(
        &mut self,
        text: &'static str,
        count: usize,
        params: &[Param<'_>],
    ) -> Outcome<()> {
        self.rows_many(text, count, params, |_| ()).await.map(drop)
    }

    /// Returns what `read` makes of the rows of a query.
    pub(super) async fn rows<T>(
        &mut self,
        text: &'static str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> Outcome<Vec<T>> {
        self.rows_many(text, 1, params, read).await
    }

    /// Returns what `read` makes of the rows of a query whose text in braces stands for `count` of it.
    pub(super) async fn rows_many<T>(
        &mut self,
        text: &'static str,
        count: usize,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> Outcome<Vec<T>> {
        let id = self.prepared(text, count).await?;
        put_execute(self.link.begin(COM_STMT_EXECUTE), id, params);
        let deprecates_eof = self.link.deprecates_eof;
        answer::rows(self.link.exchange(Request::Execute).await?, deprecates_eof, read)
    }

    /// Returns what `read` makes of the first row of a query; None: there is none.
    pub(super) async fn find<T>(
        &mut self,
        text: &'static str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> Outcome<Option<T>> {
        Ok(self.rows(text, params, read).await?.into_iter().next())
    }

    /// Returns what `read` makes of the first row of a query that has one.
    pub(super) async fn get<T>(
        &mut self,
        text: &'static str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> Outcome<T> {
        self.find(text, params, read).await?.ok_or(Failure::Missing(text))
    }

    /// Runs a query that has a row, whose values are not read.
    pub(super) async fn see(&mut self, text: &'static str, params: &[Param<'_>]) -> Outcome<()> {
        self.get(text, params, |_| ()).await
    }

    async fn prepared(&mut self, text: &'static str, count: usize) -> Outcome<u32> {
        let key = (text.as_ptr(), count);
        if let Some(&id) = self.statements.get(&key) {
            return Ok(id);
        }
        self.link.begin(COM_STMT_PREPARE).extend_from_slice(repeated(text, count).as_bytes());
        let id = answer::statement_id(self.link.exchange(Request::Prepare).await?)?;
        self.statements.insert(key, id);
        Ok(id)
    }
}

/// Writes the body of COM_STMT_EXECUTE: no cursor, once, no NULL among the parameters, their types with them.
fn put_execute(out: &mut Vec<u8>, id: u32, params: &[Param<'_>]) {
    out.extend(id.to_le_bytes());
    out.extend([0, 1, 0, 0, 0]);
    if params.is_empty() {
        return;
    }
    out.resize(out.len() + params.len().div_ceil(8), 0);
    out.push(1);
    for param in params {
        let code = if matches!(param, Param::Int(_)) { TYPE_LONGLONG } else { TYPE_STRING };
        out.extend([code, 0]);
    }
    for param in params {
        match *param {
            Param::Int(number) => out.extend(number.to_le_bytes()),
            Param::Text(text) => {
                let length = text.len() as u16;
                match u8::try_from(length) {
                    Ok(short @ ..0xfb) => out.push(short),
                    _ => out.extend([0xfc, length as u8, (length >> 8) as u8]),
                }
                out.extend_from_slice(text.as_bytes());
            }
        }
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
    fn parameters_are_written_with_their_types() {
        let (mut out, long) = (Vec::new(), "x".repeat(300));
        put_execute(&mut out, 3, &[Param::Int(-2), Param::Text("ab"), Param::Text(&long)]);
        let mut expected = vec![3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0, 0xfe, 0, 0xfe, 0];
        expected.extend((-2i64).to_le_bytes());
        expected.extend([2, b'a', b'b', 0xfc, 0x2c, 1]);
        expected.extend(long.as_bytes());
        assert_eq!(out, expected);
    }

    #[test]
    fn hundredths_are_those_of_the_decimal() {
        for (text, number) in [("1.05", 105), ("-0.50", -50), ("-12.34", -1234), ("0.00", 0)] {
            assert_eq!((hundredths(text), &decimal(number)[..]), (number, text));
        }
        assert_eq!((hundredths("7"), hundredths("7.5")), (700, 750));
    }
}
