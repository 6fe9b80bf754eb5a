//! Sending rows: from records and computed values straight into the connection's buffer.

use std::io;

use bumpalo::Bump;
use engine::{Batch, FoundCell, OlderVersion, RowRef};
use types::TimeZone;
use wire::OutBuffer;

use crate::error::{ExecError, Result};
use crate::frame::{CurrentRow, Frame, row_source};
use crate::joined_rows::JoinedRows;
use crate::op::AccessOp;
use crate::outputs::{Output, OutputValue};
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::reader::{RowEnv, TableReader};
use crate::record_projection::{ClientFormat, ProjectionState, RecordProjection, put_batch, put_cell};
use crate::row_target::RowTarget;
use crate::source::{Flow, RowBatch, Sink, TakeCells};

/// Values beyond this size are charged before they go into the connection's buffer, bytes.
const LONG_VALUE_BYTES: usize = 64 << 10;
/// Texts of a leaf's rows beyond this are charged before they are sent.
const LEAF_TEXT_BYTES: usize = 1 << 20;

/// Sends a record column by column.
pub(crate) fn put_row(
    outputs: &[Output],
    target: &mut RowTarget<'_>,
    reader: &TableReader,
    row: &RowRef<'_>,
    env: RowEnv<'_>,
) {
    let packet = target.begin(outputs.len());
    for (i, Output { value, encoder }) in outputs.iter().enumerate() {
        if let OutputValue::Column { col, .. } = value {
            target.put_record_column(encoder, packet.map(|p| (p, i)), reader, row, *col, env);
        }
    }
    target.out.end_packet();
}

/// The program for rows of version `older`, of plain outputs with the program `current`.
#[cold]
#[inline(never)]
pub(crate) fn older_projection<'q>(
    query: &'q QueryProgram,
    current: &RecordProjection,
    older: &OlderVersion,
) -> &'q RecordProjection {
    let projection = query.plain.as_ref().and_then(|plain| {
        let reader = query.root.find_access(plain.rel)?.reader.of_version(Some(older));
        plain.older_projection(query, reader, current.protocol())
    });
    projection.expect("older records have the columns of the current ones, or constants for them")
}

/// Sends a batch of rows of `query`'s only relation, in the version of `reader`.
pub(crate) fn put_versioned_batch(
    query: &QueryProgram,
    reader: &TableReader,
    batch: &Batch<'_>,
    target: &mut RowTarget<'_>,
    state: &mut ProjectionState,
    env: RowEnv<'_>,
) {
    match query.plain.as_ref().and_then(|plain| plain.projection_of(query, reader, target)) {
        Some(projection) => {
            let format = ClientFormat { zone: env.st.zone, charset: target.charset };
            put_batch(projection, state, format, batch, target.out);
        }
        None => batch.rows().for_each(|row| put_row(&query.outputs, target, reader, &row, env)),
    }
}

/// How batches of a relation's rows are sent that are joined with fixed rows of others.
struct JoinedRelation {
    rel: u16,
    /// See [`TableReader::older`].
    older: Option<usize>,
    /// `None` if an output column is computed.
    rows: Option<JoinedRows>,
}

/// Sends rows to the client.
pub(crate) struct RowSender<'c> {
    run: &'c QueryRun<'c>,
    outputs: &'c [Output],
    target: RowTarget<'c>,
    flush: &'c mut dyn FnMut(&mut OutBuffer) -> io::Result<()>,
    zone: &'c TimeZone,
    arena: Bump,
    /// The relation whose leaves are sent as they come.
    plain: Option<(u16, &'c RecordProjection)>,
    /// The same where rows that come one at a time are sent as they are on their pages.
    plain_rows: Option<(u16, &'c RecordProjection)>,
    projection: &'c mut ProjectionState,
    joined: Vec<JoinedRelation>,
    /// Bytes in the connection's buffer up to which they are charged, or too few for that.
    charged_to: usize,
    pub(crate) rows: u64,
}

impl<'c> RowSender<'c> {
    pub(crate) fn new(
        run: &'c QueryRun<'c>,
        target: RowTarget<'c>,
        projection: &'c mut ProjectionState,
        flush: &'c mut dyn FnMut(&mut OutBuffer) -> io::Result<()>,
    ) -> Self {
        let plain = run.program.plain.as_ref();
        let plain = plain.and_then(|plain| Some((plain.rel, plain.projection(run.program, &target)?)));
        let is_versioned = |rel| run.program.root.find_access(rel).is_some_and(AccessOp::is_versioned);
        RowSender {
            run,
            outputs: &run.program.outputs[..],
            plain,
            plain_rows: plain.filter(|(rel, _)| !is_versioned(*rel)),
            target,
            flush,
            zone: run.st.zone,
            arena: Bump::new(),
            projection,
            joined: Vec::new(),
            charged_to: LEAF_TEXT_BYTES,
            rows: 0,
        }
    }

    fn put(&mut self, frame: Option<&Frame<'_>>) -> Result<()> {
        if let Some(Frame { row: CurrentRow::Temp(row), .. }) = frame
            && row.bytes.len() > LONG_VALUE_BYTES
        {
            self.run.st.reserve_output(self.target.out, row.bytes.len())?;
        }
        let row = self.target.begin(self.outputs.len());
        for (i, output) in self.outputs.iter().enumerate() {
            let place = row.map(|row| (row, i));
            match &output.value {
                OutputValue::Column { rel, col } => {
                    self.target.put_column(&output.encoder, place, frame, *rel, *col, self.zone);
                }
                OutputValue::Expr(expr) => {
                    self.arena.reset();
                    let ctx = self.run.ctx(&self.arena);
                    let value = expr.eval(row_source(frame), &ctx);
                    let value = value.map_err(|error| self.run.st.eval_error(error))?;
                    if value.heap_bytes() > LONG_VALUE_BYTES {
                        self.run.st.reserve_output(self.target.out, value.heap_bytes())?;
                    }
                    output.encoder.put_value(&value, place, self.target.charset, self.target.out);
                }
            }
        }
        self.run.st.check()?;
        self.target.out.end_packet();
        self.rows += 1;
        Ok(())
    }

    /// Sends rows that are joined with fixed rows; false if an output is not a plain column.
    fn put_joined(&mut self, batch: &RowBatch<'_>) -> Result<bool> {
        let (rel, older) = (batch.rel, batch.reader.older);
        let known = self.joined.iter().position(|joined| joined.rel == rel && joined.older == older);
        let position = known.unwrap_or_else(|| {
            let rows = JoinedRows::new(self.outputs, rel, batch.reader, &self.target);
            self.joined.push(JoinedRelation { rel, older, rows });
            self.joined.len() - 1
        });
        let Some(joined) = &mut self.joined[position].rows else { return Ok(false) };
        joined.put(batch, self.outputs, &mut self.target, self.run.st)?;
        Ok(true)
    }
}

impl RowSender<'_> {
    /// Charges for the texts of `rows` where a leaf has them in a common start of its keys, so that they may
    /// be many times as large as it.
    #[inline(never)]
    fn reserve_texts(&self, rows: &Batch<'_>) -> Result<()> {
        let shared = rows.len() * rows.records().shared_key_bytes_max();
        let bytes = self.outputs.len().saturating_mul(shared + rows.body_bytes_max());
        if bytes > LEAF_TEXT_BYTES { self.run.st.reserve_output(self.target.out, bytes) } else { Ok(()) }
    }

    /// Charges for what the rows of a leaf that come one at a time have put into the buffer.
    #[cold]
    #[inline(never)]
    fn charge_pending(&mut self) -> Result<()> {
        let bytes = self.target.out.pending().len();
        self.run.st.reserve_output(self.target.out, bytes)?;
        self.charged_to = 2 * bytes;
        Ok(())
    }

    /// Sends rows whose outputs are more than columns, or of other relations than are fixed. Out of line: it
    /// would burden those that are not.
    #[inline(never)]
    fn put_each(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        for i in 0..batch.rows.len() {
            self.row(&batch.frame(i))?;
        }
        Ok(Flow::More)
    }

    #[cold]
    #[inline(never)]
    fn put_older(&mut self, batch: &RowBatch<'_>) {
        let (query, rows) = (self.run.program, &batch.rows);
        put_versioned_batch(query, batch.reader, rows, &mut self.target, self.projection, batch.env);
        self.rows += rows.len() as u64;
    }
}

impl Sink for RowSender<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        if self.target.out.pending().len() > self.charged_to {
            self.charge_pending()?;
        }
        if let (Some((rel, projection)), CurrentRow::Record(record)) = (self.plain_rows, &frame.row)
            && let Some((batch, i)) = record.batch
            && record.rel == rel
        {
            let format = ClientFormat { zone: self.zone, charset: self.target.charset };
            put_batch(projection, self.projection, format, &batch.slice(i..i + 1), self.target.out);
            self.rows += 1;
            return Ok(Flow::More);
        }
        match self.put(Some(frame)) {
            Ok(()) => Ok(Flow::More),
            Err(error) => {
                self.target.out.abandon_packet();
                Err(error)
            }
        }
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        if batch.reader.format.has_key_texts() {
            self.reserve_texts(&batch.rows)?;
        }
        if let Some((_, projection)) = self.plain.filter(|(rel, _)| *rel == batch.rel) {
            if batch.reader.older.is_some() {
                self.put_older(batch);
                return Ok(Flow::More);
            }
            let format = ClientFormat { zone: self.zone, charset: self.target.charset };
            put_batch(projection, self.projection, format, &batch.rows, self.target.out);
        } else if !self.put_joined(batch)? {
            return self.put_each(batch);
        }
        self.rows += batch.rows.len() as u64;
        Ok(Flow::More)
    }

    fn as_cells(&mut self, rel: u16) -> Option<&mut dyn TakeCells> {
        match self.plain {
            Some((plain, _)) if plain == rel => Some(self),
            _ => None,
        }
    }

    #[inline]
    fn wants_pause(&self) -> bool {
        self.target.out.wants_flush()
    }

    fn pause(&mut self) -> Result<()> {
        (self.flush)(self.target.out).map_err(ExecError::Send)
    }
}

impl TakeCells for RowSender<'_> {
    #[inline]
    fn cell(&mut self, found: &FoundCell<'_>) {
        let Some((_, projection)) = self.plain else { return };
        let format = ClientFormat { zone: self.zone, charset: self.target.charset };
        put_cell(projection, self.projection, format, found, self.target.out);
        self.rows += 1;
    }

    #[cold]
    fn older_cell(&mut self, found: &FoundCell<'_>, older: &OlderVersion) {
        let Some((rel, projection)) = self.plain else { return };
        self.plain = Some((rel, older_projection(self.run.program, projection, older)));
        self.cell(found);
        self.plain = Some((rel, projection));
    }
}
