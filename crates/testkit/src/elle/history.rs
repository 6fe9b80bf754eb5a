//! What transactions did and what they were answered.

use std::collections::HashMap;
use std::ops::Range;

/// What kind of object the keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// A list: a write appends an element, a read sees all elements.
    Lists,
    /// A register: a write replaces the value, a read sees the last one, 0 before the first. Each write knows
    /// which it is, from 1 on.
    Registers,
}

/// How a read was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// By a key, as the isolation level has it.
    Plain,
    /// As part of a range, as the isolation level has it: that a row is absent counts as seen, too.
    Range,
    /// Of the newest version, which was locked.
    Locking,
}

/// One thing that a transaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Wrote a value that nobody else writes to the key.
    Write {
        /// Whereto.
        key: u32,
        /// What; not 0.
        value: u32,
        /// Of a register: the how manyeth write it was.
        version: u32,
        /// A savepoint before it was returned to.
        undone: bool,
    },
    /// Read a key.
    Read {
        /// What was read.
        key: u32,
        /// The list's elements; the register's value alone.
        seen: Vec<u32>,
        /// How.
        kind: ReadKind,
        /// The number of the statement in its transaction.
        statement: u32,
    },
}

/// A transaction.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// What it did, in order.
    pub ops: Vec<Op>,
    /// False: it was rolled back.
    pub committed: bool,
    /// Before its end was asked for, and after it was answered. Numbers of one clock.
    pub ending: Range<u64>,
    /// The same of each statement.
    pub statements: Vec<Range<u64>>,
}

/// Everything that happened.
#[derive(Clone, Debug)]
pub struct History {
    /// The kind of all keys.
    pub objects: Objects,
    /// In no order.
    pub transactions: Vec<Transaction>,
    /// What is there in the end, as a read sees it.
    pub last: HashMap<u32, Vec<u32>>,
}

impl History {
    /// Reads a history from text:
    ///
    /// ```text
    /// lists
    /// commit: append 1 10, read 1 10, locked 2
    /// abort: append 1 11
    /// last: 1 = 10
    /// ```
    /// A line is a transaction; the first word of an operation is `append` (or `write`, a register's, with
    /// key, value and version), `undone` (a write that was taken back), `read`, `locked` or `range`, all with
    /// the key and what was seen. All reads that follow each other with `range` are one statement. What
    /// begins with `#` is a comment. Each transaction begins before any has ended, unless its line begins
    /// with `later`: then all before it have.
    ///
    /// # Errors
    /// A line that is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let objects = match lines.next() {
            Some("lists") => Objects::Lists,
            Some("registers") => Objects::Registers,
            other => return Err(format!("neither lists nor registers: {other:?}")),
        };
        let mut history = History { objects, transactions: Vec::new(), last: HashMap::new() };
        let mut begun = 0;
        for line in lines {
            let (head, rest) = line.split_once(':').ok_or_else(|| format!("no colon: {line}"))?;
            if head == "last" {
                let (key, seen) = rest.split_once('=').ok_or_else(|| format!("no =: {line}"))?;
                history.last.insert(number(key)?, numbers(seen)?);
                continue;
            }
            let later = head.strip_prefix("later ");
            let committed = match later.unwrap_or(head) {
                "commit" => true,
                "abort" => false,
                other => return Err(format!("neither commit nor abort: {other}")),
            };
            let end = 1000 * (1 + history.transactions.len() as u64);
            if later.is_some() {
                begun = end - 500;
            }
            let ops = ops(rest)?;
            let statements = ops.len();
            let mut trx = Transaction { ops, committed, ending: begun..end, ..Transaction::default() };
            trx.statements = vec![begun..end; statements];
            history.transactions.push(trx);
        }
        Ok(history)
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("not a number: {text}"))
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split_whitespace().map(number).collect()
}

fn ops(text: &str) -> Result<Vec<Op>, String> {
    let mut ops = Vec::new();
    let mut statement = 0;
    let mut in_range = false;
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (word, rest) = part.split_once(' ').ok_or_else(|| format!("one word: {part}"))?;
        let all = numbers(rest)?;
        let (&key, values) = all.split_first().ok_or_else(|| format!("no key: {part}"))?;
        statement += u32::from(!(ops.is_empty() || in_range && word == "range"));
        in_range = word == "range";
        let kind = match word {
            "read" => ReadKind::Plain,
            "range" => ReadKind::Range,
            "locked" => ReadKind::Locking,
            "append" | "write" | "undone" => {
                let &[value, ref version @ ..] = values else { return Err(format!("no value: {part}")) };
                let version = version.first().copied().unwrap_or(0);
                ops.push(Op::Write { key, value, version, undone: word == "undone" });
                continue;
            }
            other => return Err(format!("no such operation: {other}")),
        };
        ops.push(Op::Read { key, seen: values.to_vec(), kind, statement });
    }
    Ok(ops)
}
