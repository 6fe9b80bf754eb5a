//! Rows that an operator keeps, to hand them on later or again.

use std::rc::Rc;

use base::memory::{ByteStore, ChargedVec, Place, Purpose, StatementAccount};

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::source::{Flow, Sink};
use crate::statement::QueryRun;
use crate::temp_row::{Layout, TempRow};

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

    /// Pushes all rows into `sink`, which may pause after each.
    pub(crate) fn give(
        &self,
        layout: &Layout,
        run: &QueryRun<'_>,
        parent: Option<&Frame<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Flow> {
        for &place in self.places.iter() {
            run.st.step()?;
            let row = TempRow { layout, bytes: self.bytes.get(place), zone: run.st.zone };
            if sink.row(&Frame { parent, row: CurrentRow::Temp(row) })? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            if sink.wants_pause() {
                sink.pause()?;
                run.st.fail_if_killed()?;
            }
        }
        Ok(Flow::More)
    }
}
