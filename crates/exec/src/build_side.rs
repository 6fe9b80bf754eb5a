//! The inner side of a hash join.

use std::rc::Rc;

use base::memory::{ByteStore, ChargedVec, Purpose, StatementAccount};
use expr::HashIndex;

use crate::error::Result;
use crate::kept_rows::KeptRows;

/// Ends a chain of rows.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// The inner rows, found by key.
#[derive(Debug)]
pub(crate) struct BuildSide {
    index: HashIndex,
    pub(crate) rows: KeptRows,
    /// First and last row of each key, and each row's next of the same key.
    chains: ChargedVec<(u32, u32)>,
    pub(crate) next: ChargedVec<u32>,
}

impl BuildSide {
    pub(crate) fn new(account: &Rc<StatementAccount>) -> Self {
        BuildSide {
            index: HashIndex::new(account),
            rows: KeptRows::new(account),
            chains: ChargedVec::new(account, Purpose::Other),
            next: ChargedVec::new(account, Purpose::Other),
        }
    }

    /// Adds the row that `write` appends.
    pub(crate) fn add(&mut self, key: &[u8], write: impl FnOnce(&mut ByteStore)) -> Result<()> {
        self.rows.add(|out| {
            write(out);
            Ok(())
        })?;
        let row = self.next.len() as u32;
        self.next.push(NO_ROW)?;
        let (number, is_new) = self.index.insert(key)?;
        if is_new {
            self.chains.push((row, row))?;
        } else {
            let chain = &mut self.chains[number];
            self.next[chain.1 as usize] = row;
            chain.1 = row;
        }
        Ok(())
    }

    pub(crate) fn first(&self, key: &[u8]) -> u32 {
        self.index.find(key).map_or(NO_ROW, |number| self.chains[number].0)
    }
}
