//! Answers of a subquery that depends on the outer row, by the values of its outer columns: rows that agree
//! in them share one run.

use std::rc::Rc;

use base::memory::{ByteStore, Charge, ChargedVec, LimitExceeded, Purpose, StatementAccount};
use expr::HashIndex;
use types::{OwnedValue, Value};

use crate::temp_row::RowWriter;

/// Most answers that are kept; then they are forgotten and others kept.
const ANSWERS_MAX: usize = 4096;
/// Longest key and longest text of an answer that are kept.
const BYTES_MAX: usize = 256;
/// Questions after which the memo is judged; it ends unless one in [`SHARE_KNOWN`] of them was known.
const QUESTIONS: u32 = 512;
const SHARE_KNOWN: u32 = 16;

/// At most [`ANSWERS_MAX`] answers, about 2.5 MiB with the longest keys and texts, charged to the statement.
#[derive(Debug)]
pub(crate) struct AnswerMemo {
    keys: HashIndex,
    answers: ChargedVec<OwnedValue>,
    /// Of texts of answers.
    texts: Charge,
    /// The values asked for.
    key: ByteStore,
    asked: u32,
    known: u32,
    /// Too few questions were repeated, or memory was short.
    ended: bool,
}

impl AnswerMemo {
    pub(crate) fn new(account: &Rc<StatementAccount>) -> Self {
        AnswerMemo {
            keys: HashIndex::new(account),
            answers: ChargedVec::new(account, Purpose::Other),
            texts: Charge::new(account, Purpose::Other),
            key: ByteStore::new(account, Purpose::Other),
            asked: 0,
            known: 0,
            ended: false,
        }
    }

    /// The answer for `values`, if it is known.
    pub(crate) fn find<'x>(
        &mut self,
        values: impl ExactSizeIterator<Item = Value<'x>>,
    ) -> Option<&OwnedValue> {
        if self.ended {
            return None;
        }
        self.asked += 1;
        if self.asked == QUESTIONS {
            if self.known < QUESTIONS / SHARE_KNOWN {
                self.end();
                return None;
            }
            (self.asked, self.known) = (0, 0);
        }
        self.key.clear();
        self.key.begin();
        let mut row = RowWriter::new(&mut self.key, values.len());
        values.for_each(|value| row.put_value(&value));
        if self.key.end().is_err() {
            self.end();
            return None;
        }
        let at = self.keys.find(self.key.row())?;
        self.known += 1;
        self.answers.get(at)
    }

    /// Keeps the answer for the values asked for last.
    pub(crate) fn put(&mut self, answer: &OwnedValue) {
        let text = text_bytes(answer);
        if self.ended || self.key.row().len() > BYTES_MAX || text > BYTES_MAX {
            return;
        }
        if self.answers.len() == ANSWERS_MAX {
            self.forget();
        }
        if self.keep(answer, text).is_err() {
            self.end();
        }
    }

    fn keep(&mut self, answer: &OwnedValue, text: usize) -> Result<(), LimitExceeded> {
        let (at, _) = self.keys.insert(self.key.row())?;
        debug_assert_eq!(at, self.answers.len(), "asked before");
        self.texts.add(text)?;
        self.answers.push(answer.clone())
    }

    fn forget(&mut self) {
        let account = Rc::clone(self.texts.account());
        self.keys = HashIndex::new(&account);
        self.answers = self.answers.empty();
        self.texts = self.texts.empty();
    }

    #[cold]
    fn end(&mut self) {
        self.forget();
        self.key = self.key.empty();
        self.ended = true;
    }
}

/// Bytes that a value holds outside itself.
fn text_bytes(value: &OwnedValue) -> usize {
    match value.as_value() {
        Value::Bytes { data, .. } => data.len(),
        _ => 0,
    }
}
