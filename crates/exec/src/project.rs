//! Output columns: from records and computed values straight into the connection's buffer.
//!
//! Rows in older row format versions are sent as they are on their pages: every version has a reader and a
//! projection of its own, made when its first page is met.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bumpalo::Bump;
use engine::{Batch, FoundCell, OlderVersion, RowRef};
use expr::{Expr, ExprKind, eval};
use smallvec::SmallVec;
use types::TimeZone;
use wire::row_binary::BinaryRow;
use wire::{OutBuffer, ResultCharset};

use crate::context::Protocol;
use crate::encode::WireEncoder;
use crate::error::{ExecError, Result};
use crate::frame::{CurrentRow, Frame, row_source};
use crate::joined_rows::JoinedRows;
use crate::op::{AccessOp, Op};
use crate::query::QueryProgram;
use crate::reader::{Access, RowEnv, TableReader};
use crate::record_projection::{ClientFormat, ProjectionState, RecordProjection, put_batch, put_cell};
use crate::source::{Flow, RowBatch, Sink, TakeCells};
use crate::statement::QueryRun;
use crate::temp_row::CellKind;

/// Values beyond this size are charged before they go into the connection's buffer, bytes.
const LONG_VALUE_BYTES: usize = 64 << 10;

/// Columns whose positions need no allocation.
const INLINE_COLUMNS: usize = 8;

/// One output column.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) value: OutputValue,
    pub(crate) encoder: WireEncoder,
}

/// Where an output column's value comes from.
#[derive(Debug)]
pub(crate) enum OutputValue {
    /// A relation's column as it is.
    Column { rel: u16, col: u16 },
    /// Anything else.
    Expr(Expr),
}

impl Output {
    pub(crate) fn new(expr: &Expr) -> Self {
        let value = match &expr.kind {
            ExprKind::Column(column) => OutputValue::Column { rel: column.rel, col: column.col },
            _ => OutputValue::Expr(expr.clone()),
        };
        Output { value, encoder: WireEncoder::new(&expr.ty) }
    }
}

/// Output columns that are all columns of one relation, as they are.
#[derive(Debug)]
pub(crate) struct PlainOutputs {
    rel: u16,
    /// Positions in the relation.
    columns: SmallVec<[u16; INLINE_COLUMNS]>,
    /// The program for each protocol, compiled by the first run that uses the protocol (most statements use
    /// one), or by the second one where a run is for one row.
    text: OnceLock<Option<RecordProjection>>,
    binary: OnceLock<Option<RecordProjection>>,
    /// The same for rows of older row format versions.
    older: OnceLock<Box<[OlderPrograms]>>,
    /// A run for one row was content without a program.
    has_run: AtomicBool,
}

/// The programs for rows of an older row format version.
#[derive(Debug, Default)]
struct OlderPrograms {
    text: OnceLock<Option<RecordProjection>>,
    binary: OnceLock<Option<RecordProjection>>,
}

impl PlainOutputs {
    /// `None` if not all are, or the records do not have all of them. `root` produces the rows.
    pub(crate) fn new(outputs: &[Output], root: &Op) -> Option<Self> {
        let column = |output: &Output| match output.value {
            OutputValue::Column { rel, col } => Some((rel, col)),
            OutputValue::Expr(_) => None,
        };
        let (rel, _) = column(outputs.first()?)?;
        root.find_access(rel).filter(|access| access.in_place)?;
        let mut columns = SmallVec::with_capacity(outputs.len());
        for output in outputs {
            columns.push(column(output).filter(|column| column.0 == rel)?.1);
        }
        let (text, binary, older) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Some(PlainOutputs { rel, columns, text, binary, older, has_run: AtomicBool::new(false) })
    }

    /// The program for a client of `query`, whose outputs these are; `None` if it wants text in another
    /// character set, or a column cannot be read from a record alone.
    pub(crate) fn projection(
        &self,
        query: &QueryProgram,
        target: &RowTarget<'_>,
    ) -> Option<&RecordProjection> {
        let projection = self.of_protocol(target.protocol);
        let projection = projection.get_or_init(|| self.compile(query, target.protocol)).as_ref()?;
        projection.serves(target.charset).then_some(projection)
    }

    /// As [`PlainOutputs::projection`], for rows that `reader` reads.
    pub(crate) fn projection_of(
        &self,
        query: &QueryProgram,
        reader: &TableReader,
        target: &RowTarget<'_>,
    ) -> Option<&RecordProjection> {
        if reader.older.is_none() {
            return self.projection(query, target);
        }
        let projection = self.older_projection(query, reader, target.protocol)?;
        projection.serves(target.charset).then_some(projection)
    }

    fn older_projection(
        &self,
        query: &QueryProgram,
        reader: &TableReader,
        protocol: Protocol,
    ) -> Option<&RecordProjection> {
        let versions = self.older.get_or_init(|| {
            let current = query.root.find_access(self.rel).map_or(0, |access| access.reader.older_versions());
            (0..current).map(|_| OlderPrograms::default()).collect()
        });
        let OlderPrograms { text, binary } = versions.get(reader.older?)?;
        let projection = if protocol == Protocol::Text { text } else { binary };
        projection.get_or_init(|| self.compile_for(query, reader, protocol)).as_ref()
    }

    /// As [`PlainOutputs::projection`], for a run of one row. The first such run gets none: it may be the
    /// only one, and the program would cost more than it saves.
    #[inline]
    pub(crate) fn projection_of_one(
        &self,
        query: &QueryProgram,
        target: &RowTarget<'_>,
    ) -> Option<&RecordProjection> {
        match self.of_protocol(target.protocol).get() {
            Some(projection) => projection.as_ref().filter(|projection| projection.serves(target.charset)),
            None => self.projection_of_next(query, target),
        }
    }

    #[cold]
    fn projection_of_next(&self, query: &QueryProgram, target: &RowTarget<'_>) -> Option<&RecordProjection> {
        if !self.has_run.load(Ordering::Relaxed) {
            self.has_run.store(true, Ordering::Relaxed);
            return None;
        }
        self.projection(query, target)
    }

    /// From now on, runs of one row compile a program, too.
    #[cfg(test)]
    pub(crate) fn note_run(&self) {
        self.has_run.store(true, Ordering::Relaxed);
    }

    #[inline]
    fn of_protocol(&self, protocol: Protocol) -> &OnceLock<Option<RecordProjection>> {
        match protocol {
            Protocol::Text => &self.text,
            Protocol::Binary => &self.binary,
        }
    }

    #[cold]
    fn compile(&self, query: &QueryProgram, protocol: Protocol) -> Option<RecordProjection> {
        self.compile_for(query, &query.root.find_access(self.rel)?.reader, protocol)
    }

    fn compile_for(
        &self,
        query: &QueryProgram,
        reader: &TableReader,
        protocol: Protocol,
    ) -> Option<RecordProjection> {
        let columns = self.columns.iter().zip(&query.outputs).map(|(&col, output)| (col, &output.encoder));
        RecordProjection::new(columns, 0, reader, protocol)
    }
}

/// Where rows go and in which form.
pub(crate) struct RowTarget<'c> {
    pub(crate) protocol: Protocol,
    pub(crate) charset: ResultCharset,
    pub(crate) out: &'c mut OutBuffer,
}

impl RowTarget<'_> {
    /// Opens a row's packet; in the binary protocol with its NULL bitmap.
    #[inline]
    pub(crate) fn begin(&mut self, columns: usize) -> Option<BinaryRow> {
        match self.protocol {
            Protocol::Text => {
                self.out.begin_packet();
                None
            }
            Protocol::Binary => Some(BinaryRow::begin(self.out, columns)),
        }
    }

    /// Appends the column at `col` of a record. Cost: for an integer or a string in the record 20 to 40
    /// instructions and a copy.
    #[inline]
    pub(crate) fn put_record_column(
        &mut self,
        encoder: &WireEncoder,
        place: Option<(BinaryRow, usize)>,
        reader: &TableReader,
        row: &RowRef<'_>,
        col: u16,
        env: RowEnv<'_>,
    ) {
        let position = usize::from(col);
        if let Access::KeyInt { part, int, signed } = reader.columns[position].access
            && let Some(value) = reader.key_int(row, part, int, signed)
        {
            let bytes = value.to_le_bytes();
            let bytes = &bytes[..usize::from(int.width)];
            return encoder.put_storage(Some(bytes), place, env.st.zone, self.charset, self.out);
        }
        let bytes = reader.bytes(row, position, env);
        encoder.put_storage(bytes, place, env.st.zone, self.charset, self.out);
    }

    /// Appends column `col` of relation `rel`.
    #[inline]
    pub(crate) fn put_column(
        &mut self,
        encoder: &WireEncoder,
        place: Option<(BinaryRow, usize)>,
        frame: Option<&Frame<'_>>,
        rel: u16,
        col: u16,
        zone: &TimeZone,
    ) {
        let charset = self.charset;
        match frame.and_then(|frame| frame.find(rel)) {
            Some(CurrentRow::Record(record)) => {
                self.put_record_column(encoder, place, record.reader, &record.row, col, record.env);
            }
            Some(CurrentRow::Temp(temp)) => match temp.cell(rel, col) {
                Some((CellKind::Storage(_), bytes)) => {
                    encoder.put_storage(Some(bytes), place, zone, charset, self.out);
                }
                _ if encoder.ty.zerofill => {
                    encoder.put_filled(&temp.value(rel, col), place, charset, self.out);
                }
                _ => encoder.put_value(&temp.value(rel, col), place, charset, self.out),
            },
            Some(CurrentRow::Nulls(_)) | None => {
                encoder.put_storage(None, place, zone, charset, self.out);
            }
        }
    }
}

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
                    let value = eval(expr, row_source(frame), &ctx);
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
        if let Some((_, projection)) = self.plain.filter(|(rel, _)| *rel == batch.rel) {
            if batch.reader.older.is_some() {
                self.put_older(batch);
                return Ok(Flow::More);
            }
            let format = ClientFormat { zone: self.zone, charset: self.target.charset };
            put_batch(projection, self.projection, format, &batch.rows, self.target.out);
        } else if !self.put_joined(batch)? {
            for i in 0..batch.rows.len() {
                self.row(&batch.frame(i))?;
            }
            return Ok(Flow::More);
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
