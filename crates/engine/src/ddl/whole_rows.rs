//! Reading all rows of a table with all their columns, for statements that make something of each row.

use page::RowRef;
use trx::{ReadView, Span};

use crate::column_set::ColumnSet;
use crate::engine::Engine;
use crate::error::{Error, fail_if_interrupted};
use crate::range::{Direction, KeyRange};
use crate::row::key::{Value, row_id_of};
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::scan::{Batch, Scan};
use crate::table::Table;

/// The rows of a table in the order of its clustered key.
#[derive(Debug)]
pub struct WholeRows<'a> {
    engine: &'a Engine,
    table: &'a Table,
    view: ReadView,
}

impl<'a> WholeRows<'a> {
    /// The rows that `view` sees. The caller has the metadata lock.
    pub fn new(engine: &'a Engine, table: &'a Table, view: ReadView) -> Self {
        WholeRows { engine, table, view }
    }

    /// Calls `visit` with the storage bytes of each row's columns and its invisible row id, 0 in a table with
    /// a key of its own. No latch is held. Cost: a copy of each leaf and each row.
    ///
    /// # Errors
    /// Those of `visit`; those of reading pages, [`trx::Error::Interrupted`].
    pub fn for_each<E: From<Error>>(
        &self,
        mut visit: impl FnMut(&[Value<'_>], u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut values = RowValues::default();
        self.for_each_batch(|batch| batch.try_for_each_row(|row| values.visit_values(self, &row, &mut visit)))
    }

    /// Calls `visit` with the rows of each leaf; as [`WholeRows::for_each`].
    pub(super) fn for_each_batch<E: From<Error>>(
        &self,
        mut visit: impl FnMut(Batch<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let WholeRows { engine, table, view } = *self;
        let scan = Scan::open(engine, table, 0, view, KeyRange::all(), Direction::Forward);
        let mut scan = scan.map_err(E::from)?.detached();
        while let Some(batch) = scan.next_batch()? {
            fail_if_interrupted()?;
            visit(batch)?;
        }
        Ok(())
    }

    /// Calls `visit` with the row that has `clustered_key`.
    ///
    /// # Errors
    /// Those of `visit`; [`Error::IndexDisagrees`] if there is no such row; those of reading pages.
    pub(super) fn visit_one<E: From<Error>>(
        &self,
        clustered_key: &[u8],
        values: &mut RowValues,
        visit: impl FnOnce(&[Value<'_>]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let WholeRows { engine, table, view } = self;
        let RowValues { values, spans, scratch } = values;
        let mut image = RowImage { values, spans };
        let found = table
            .get(engine, view, clustered_key, |row| image.fill(&row, table.def.columns.len(), scratch))?;
        if found.is_none() {
            return Err(Error::IndexDisagrees { index: table.clustered().tree.index }.into());
        }
        if image.any_off_page(&ColumnSet::ALL) {
            let (values, spans) = image.fetched(&engine.store, &ColumnSet::ALL)?;
            return visit_values(&values, &spans, visit);
        }
        visit_values(values, spans, visit)
    }

    fn row_id(&self, row: &RowRef<'_>, scratch: &mut Vec<u8>) -> u64 {
        if !self.table.def.hidden_row_id {
            return 0;
        }
        scratch.clear();
        self.table.clustered().append_clustered_key(row, scratch);
        row_id_of(scratch)
    }
}

/// Memory for the values of a row.
#[derive(Debug, Default)]
pub(super) struct RowValues {
    values: Vec<u8>,
    spans: Vec<Span>,
    scratch: Vec<u8>,
}

impl RowValues {
    /// Calls `visit` with a row of `rows`, as [`WholeRows::for_each`] does.
    pub(super) fn visit_values<E: From<Error>>(
        &mut self,
        rows: &WholeRows<'_>,
        row: &RowRef<'_>,
        visit: impl FnOnce(&[Value<'_>], u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let RowValues { values, spans, scratch } = self;
        let row_id = rows.row_id(row, scratch);
        let mut image = RowImage { values, spans };
        image.fill(row, rows.table.def.columns.len(), scratch);
        if image.any_off_page(&ColumnSet::ALL) {
            let (values, spans) = image.fetched(&rows.engine.store, &ColumnSet::ALL)?;
            return visit_values(&values, &spans, |row| visit(row, row_id));
        }
        visit_values(values, spans, |row| visit(row, row_id))
    }
}

fn visit_values<R>(values: &[u8], spans: &[Span], visit: impl FnOnce(&[Value<'_>]) -> R) -> R {
    with_values(spans.len(), |i| value_of(values, spans[i]), visit)
}
