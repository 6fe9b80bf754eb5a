//! What the tables must hold.
//!
//! Every transaction raises the one row that all share, so that its value numbers them in the order in which
//! they commit. A reader that finds the value n, after a crash or in a snapshot, must find the effects of
//! exactly the first n transactions.

use std::collections::BTreeMap;

/// The row that all share, in [`MAIN`].
pub(super) const SHARED: i32 = 0;

/// The table that writers and readers use.
pub(super) const MAIN: usize = 0;
/// The table that is created, dropped and truncated.
pub(super) const SIDE: usize = 1;

/// Neighbouring blocks of a long column begin with different letters.
const BLOCK_BYTES: usize = 256;

/// The alphabet, again and again: a block begins somewhere in its first round.
const LETTERS: [u8; BLOCK_BYTES + 26] = {
    let mut letters = [0; BLOCK_BYTES + 26];
    let mut at = 0;
    while at < letters.len() {
        letters[at] = b'a' + (at % 26) as u8;
        at += 1;
    }
    letters
};

/// A row except for its id. What its long column holds is made from `stamp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) n: i32,
    pub(super) stamp: u32,
    pub(super) len: usize,
}

impl Row {
    /// The long column.
    pub(super) fn content(&self) -> Vec<u8> {
        let mut content = Vec::with_capacity(self.len);
        for block in 0..self.len.div_ceil(BLOCK_BYTES) {
            let from = (self.stamp as usize * 31 + block * 7) % 26;
            let len = BLOCK_BYTES.min(self.len - content.len());
            content.extend_from_slice(&LETTERS[from..from + len]);
        }
        content
    }
}

/// Rows by id.
pub(super) type Rows = BTreeMap<i32, Row>;

/// What a transaction did to a row.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) table: usize,
    pub(super) id: i32,
    /// `None`: it was deleted.
    pub(super) row: Option<Row>,
}

/// What there is of the schema whose two tables are changed by one statement each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// Nothing.
    Missing,
    /// The schema, without a table.
    Empty,
    /// The first table alone.
    First,
    /// Both, each with its own name or with the other's.
    Both { swapped: bool },
}

/// What DDL statements have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Definitions {
    /// Whether the side table is there.
    pub(super) side: bool,
    /// How often it was emptied, by whatever means.
    pub(super) epoch: u32,
    /// Whether the main table has its index on the long column, and a comment that says so.
    pub(super) index: bool,
    /// Which of the columns that come and go the main table has: a bit for each.
    pub(super) columns: u64,
    pub(super) pair: Pair,
}

#[derive(Clone, Debug)]
struct Entry {
    changes: Vec<Change>,
    /// Of the side table, when it committed.
    epoch: u32,
}

/// What was found at the last startup, and all that was asked for since.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Whether the tables were made.
    pub(super) made: bool,
    base: [Rows; 2],
    base_epoch: u32,
    base_count: i32,
    asked: Vec<Entry>,
    /// The greatest number of a transaction that was answered.
    answered: i32,
    /// After the DDL statements that were answered.
    pub(super) defined: Definitions,
    /// After the one that was asked for.
    pub(super) defining: Option<Definitions>,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            made: false,
            base: [Rows::from([(SHARED, Row { n: 0, stamp: 0, len: 0 })]), Rows::new()],
            base_epoch: 0,
            base_count: 0,
            asked: Vec::new(),
            answered: 0,
            defined: Definitions { side: false, epoch: 0, index: false, columns: 0, pair: Pair::Missing },
            defining: None,
        }
    }
}

impl Model {
    /// The transaction `number` is about to commit `changes`.
    pub(super) fn ask(&mut self, number: i32, changes: Vec<Change>) -> Result<(), String> {
        let next = self.base_count + self.asked.len() as i32 + 1;
        if number != next {
            return Err(format!("transaction {next} found {} in the shared row", number - 1));
        }
        self.asked.push(Entry { changes, epoch: self.defined.epoch });
        Ok(())
    }

    /// The transaction `number`, asked for last, has failed before its commit.
    pub(super) fn withdraw(&mut self, number: i32) {
        debug_assert_eq!(number, self.base_count + self.asked.len() as i32, "another was asked for since");
        self.asked.pop();
    }

    /// The transaction `number` was answered.
    pub(super) fn answer(&mut self, number: i32) {
        self.answered = self.answered.max(number);
    }

    /// The rows of `table` after `count` transactions.
    pub(super) fn rows(&self, table: usize, count: i32, epoch: u32) -> Rows {
        let has_base = table == MAIN || epoch == self.base_epoch;
        let mut rows = if has_base { self.base[table].clone() } else { Rows::new() };
        let entries = self.asked.iter().take((count - self.base_count).max(0) as usize);
        let entries = entries.filter(|entry| table == MAIN || entry.epoch == epoch);
        for change in entries.flat_map(|entry| &entry.changes).filter(|change| change.table == table) {
            match change.row {
                Some(row) => drop(rows.insert(change.id, row)),
                None => drop(rows.remove(&change.id)),
            }
        }
        rows
    }

    /// The rows of the main table as the last transaction asked for leaves them.
    pub(super) fn newest(&self, table: usize) -> Rows {
        self.rows(table, i32::MAX, self.defined.epoch)
    }

    /// The definitions that a startup may find.
    pub(super) fn possible(&self) -> impl Iterator<Item = Definitions> {
        [self.defining, Some(self.defined)].into_iter().flatten()
    }

    /// Whether a startup may find `count` transactions.
    pub(super) fn check_count(&self, count: i32) -> Result<(), String> {
        let last = self.base_count + self.asked.len() as i32;
        if (self.answered..=last).contains(&count) {
            return Ok(());
        }
        Err(format!("{count} transactions are there, of {last} asked for and {} answered", self.answered))
    }

    /// A startup has found this. Returns how many of the transactions were not answered.
    pub(super) fn settle(&mut self, count: i32, defined: Definitions) -> u64 {
        self.base = [self.rows(MAIN, count, 0), self.rows(SIDE, count, defined.epoch)];
        (self.base_count, self.base_epoch) = (count, defined.epoch);
        (self.defined, self.defining) = (defined, None);
        self.asked.clear();
        let unanswered = count - self.answered;
        self.answered = count;
        unanswered.max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(table: usize, id: i32) -> Vec<Change> {
        vec![Change { table, id, row: Some(Row { n: id, stamp: 1, len: 3 }) }]
    }

    #[test]
    fn a_count_says_which_rows_there_are() {
        let mut model = Model::default();
        model.ask(1, insert(MAIN, 10)).unwrap();
        model.answer(1);
        model.ask(2, insert(MAIN, 20)).unwrap();
        assert_eq!(model.rows(MAIN, 1, 0).len(), 2);
        assert_eq!(model.rows(MAIN, 2, 0).len(), 3);
        assert!(model.check_count(0).is_err() && model.check_count(3).is_err());
        assert!(model.ask(4, Vec::new()).is_err());
        let defined = model.defined;
        assert_eq!(model.settle(2, defined), 1);
        assert_eq!(model.newest(MAIN).len(), 3);
    }

    #[test]
    fn emptying_the_side_table_forgets_what_came_before() {
        let mut model = Model::default();
        model.ask(1, insert(SIDE, 10)).unwrap();
        model.defined.epoch += 1;
        model.ask(2, insert(SIDE, 20)).unwrap();
        assert_eq!(model.newest(SIDE).keys().copied().collect::<Vec<_>>(), [20]);
        assert_eq!(model.rows(SIDE, 2, 0).keys().copied().collect::<Vec<_>>(), [10]);
    }
}
