//! Rows that an operator keeps, to hand them on later or again.

use std::rc::Rc;

use base::memory::{ByteStore, ChargedVec, Place, Purpose, StatementAccount};

use crate::error::Result;

/// Rows in the order in which they came.
#[derive(Debug)]
pub(crate) struct KeptRows {
    bytes: ByteStore,
    places: ChargedVec<Place>,
}

impl KeptRows {
    /// No rows.
    pub(crate) fn new(account: &Rc<StatementAccount>) -> Self {
        KeptRows {
            bytes: ByteStore::new(account, Purpose::Other),
            places: ChargedVec::new(account, Purpose::Other),
        }
    }

    /// Adds the row that `write` appends.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut ByteStore) -> Result<()>) -> Result<()> {
        self.bytes.begin();
        write(&mut self.bytes)?;
        let place = self.bytes.end()?;
        Ok(self.places.push(place)?)
    }

    /// The row at position `i`.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> &[u8] {
        self.bytes.get(self.places[i])
    }

    /// All rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|&place| self.bytes.get(place))
    }
}
