//! Inputs and results of a statement.

use std::io;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use base::memory::StatementAccount;
use bumpalo::Bump;
use engine::{Engine, ScanMemory, Trx};
use expr::SessionInfo;
use types::Value;
use wire::{Capabilities, OutBuffer, ResultCharset, ServerStatus};

use crate::access::Keys;
use crate::aggregate_ints::IntState;
use crate::conditions::Conditions;
use crate::protocol::Protocol;
use crate::record_projection::ProjectionState;
use crate::row_build::RowBuffer;

/// Largest buffer that a connection keeps between statements.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// The content of the file that LOAD DATA reads.
pub trait LoadSource {
    /// Replaces the content of `chunk` by the next bytes; false at the end.
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool>;
}

/// The client's side of a statement.
pub struct Client<'a> {
    /// Form of rows.
    pub protocol: Protocol,
    /// What the client can do: CLIENT_DEPRECATE_EOF, CLIENT_FOUND_ROWS.
    pub capabilities: Capabilities,
    /// Status for the EOF packet after the column definitions.
    pub status: ServerStatus,
    /// Character set that text is sent in.
    pub charset: ResultCharset,
    /// Columns, by their places, that have another name than in the plan.
    pub names: &'a [(usize, String)],
    /// Where packets are built.
    pub out: &'a mut OutBuffer,
    /// Sends what is in the buffer. Called between rows, with no latch held.
    pub flush: &'a mut dyn FnMut(&mut OutBuffer) -> io::Result<()>,
}

/// Memory of one connection that its statements use one after the other. Contents mean nothing between
/// statements.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) arena: Bump,
    pub(crate) key: Vec<u8>,
    /// A value on its way into its column.
    pub(crate) cell: Vec<u8>,
    /// Rows under construction.
    pub(crate) values: RowBuffer,
    /// Rows on their way to the client.
    pub(crate) projection: ProjectionState,
    /// Bounds of a range.
    pub(crate) range_keys: Keys,
    /// Of the last scan.
    pub(crate) scan: Option<Box<ScanMemory>>,
    /// Aggregates of the whole answer.
    pub(crate) ints: Vec<IntState>,
}

impl Scratch {
    /// Takes back what a statement had.
    pub(crate) fn take_back(&mut self, arena: Bump, values: RowBuffer, cell: Vec<u8>) {
        (self.arena, self.values, self.cell) = (arena, values, cell);
        self.trim();
    }

    /// Gives what a statement has made large to the allocator.
    #[inline]
    pub(crate) fn trim(&mut self) {
        if self.arena.allocated_bytes() > KEPT_BYTES_MAX {
            self.arena = Bump::new();
        }
        if self.values.capacity() > KEPT_BYTES_MAX {
            self.values = RowBuffer::default();
        }
        if self.cell.capacity() > KEPT_BYTES_MAX {
            self.cell = Vec::new();
        }
    }
}

/// All that a statement runs with.
pub struct ExecCtx<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// The session's open transaction.
    pub trx: &'a mut Trx,
    /// The session, for expressions.
    pub session: &'a dyn SessionInfo,
    /// Where warnings go.
    pub conditions: &'a dyn Conditions,
    /// Statement parameters, literals lifted by the plan cache included.
    pub params: &'a [Value<'a>],
    /// The client.
    pub client: Client<'a>,
    /// What the statement's memory is charged to.
    pub memory: &'a Rc<StatementAccount>,
    /// Where the rows and index entries of base tables that the statement reads are counted. An entry and the
    /// row that it leads to count as one, and a lookup that finds nothing as none.
    pub rows_examined: &'a AtomicU64,
    /// The connection's reusable memory.
    pub scratch: &'a mut Scratch,
    /// The transaction consists of this statement only: plain reads do not lock even when SERIALIZABLE.
    pub autocommit: bool,
    /// The file of LOAD DATA; `None` for all other statements.
    pub load: Option<&'a mut dyn LoadSource>,
}

impl std::fmt::Debug for ExecCtx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecCtx")
            .field("trx", &self.trx)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

/// Result of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Column definitions and rows were sent; the caller ends the rows. Else the caller sends an OK packet.
    pub has_rows: bool,
    /// Rows sent.
    pub rows_sent: u64,
    /// FOUND_ROWS() after a query: rows without the limit if they were to be counted, else rows sent.
    pub found_rows: u64,
    /// Affected rows as the OK packet reports them; CLIENT_FOUND_ROWS is taken account of.
    pub affected: u64,
    /// First AUTO_INCREMENT number generated (as the OK packet reports it), 0 if none was.
    pub insert_id: u64,
    /// What LAST_INSERT_ID() becomes; `None`: it stays.
    pub last_insert_id: Option<u64>,
    /// Numbers of the OK packet's message.
    pub summary: Summary,
}

/// Numbers of the message of an OK packet. The server completes it with the number of warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summary {
    /// No message.
    #[default]
    None,
    /// `Records: n  Duplicates: n  Warnings: n`.
    Records {
        /// Rows given.
        records: u64,
        /// Rows that duplicate others.
        duplicates: u64,
    },
    /// `Rows matched: n  Changed: n  Warnings: n`.
    Matched {
        /// Rows found.
        matched: u64,
        /// Rows that have new values.
        changed: u64,
    },
    /// `Records: n  Deleted: n  Skipped: n  Warnings: n`.
    Loaded {
        /// Lines.
        records: u64,
        /// Rows replaced.
        deleted: u64,
        /// Lines left out.
        skipped: u64,
    },
}

impl Summary {
    /// The message; empty for [`Summary::None`]. Cost: no allocation.
    #[inline]
    pub fn text(&self, warnings: u64) -> SummaryText {
        let mut text = SummaryText::default();
        match *self {
            Summary::None => return text,
            Summary::Records { records, duplicates } => {
                text.push("Records: ", records);
                text.push("  Duplicates: ", duplicates);
            }
            Summary::Matched { matched, changed } => {
                text.push("Rows matched: ", matched);
                text.push("  Changed: ", changed);
            }
            Summary::Loaded { records, deleted, skipped } => {
                text.push("Records: ", records);
                text.push("  Deleted: ", deleted);
                text.push("  Skipped: ", skipped);
            }
        }
        text.push("  Warnings: ", warnings);
        text
    }
}

/// The message of a [`Summary`].
#[derive(Clone, Debug)]
pub struct SummaryText {
    bytes: [u8; Self::BYTES_MAX],
    len: usize,
}

impl Default for SummaryText {
    fn default() -> Self {
        SummaryText { bytes: [0; Self::BYTES_MAX], len: 0 }
    }
}

impl PartialEq<&str> for SummaryText {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl SummaryText {
    /// More than four names and numbers take.
    const BYTES_MAX: usize = 160;

    /// Digits of the greatest number.
    const DIGITS_MAX: usize = 20;

    /// The message.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[inline(always)]
    fn push(&mut self, name: &str, number: u64) {
        self.bytes[self.len..self.len + name.len()].copy_from_slice(name.as_bytes());
        self.len += name.len();
        if number < 10 {
            self.bytes[self.len] = b'0' + number as u8;
            self.len += 1;
        } else {
            self.push_digits(number);
        }
    }

    #[inline(never)]
    fn push_digits(&mut self, mut number: u64) {
        let mut digits = [0; Self::DIGITS_MAX];
        let mut from = digits.len();
        while number > 0 {
            from -= 1;
            digits[from] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        let digits = &digits[from..];
        self.bytes[self.len..self.len + digits.len()].copy_from_slice(digits);
        self.len += digits.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info_text(summary: Summary, warnings: u64) -> String {
        String::from_utf8(summary.text(warnings).as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn summaries_read_as_formatted_ones() {
        assert_eq!(info_text(Summary::None, 7), "");
        for n in [0, 1, 9, 10, 11, 99, 100, 12_345, u64::MAX] {
            for warnings in [0, 65_535, u64::MAX] {
                assert_eq!(
                    info_text(Summary::Matched { matched: n, changed: n / 2 }, warnings),
                    format!("Rows matched: {n}  Changed: {}  Warnings: {warnings}", n / 2)
                );
                assert_eq!(
                    info_text(Summary::Records { records: n, duplicates: n }, warnings),
                    format!("Records: {n}  Duplicates: {n}  Warnings: {warnings}")
                );
                assert_eq!(
                    info_text(Summary::Loaded { records: n, deleted: n, skipped: n }, warnings),
                    format!("Records: {n}  Deleted: {n}  Skipped: {n}  Warnings: {warnings}")
                );
            }
        }
    }
}
