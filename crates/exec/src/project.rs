//! Output columns: from records and computed values straight into the connection's buffer.

use std::cell::OnceCell;
use std::io;

use bumpalo::Bump;
use engine::RowRef;
use expr::{Expr, ExprKind, eval};
use types::TimeZone;
use wire::row_binary::BinaryRow;
use wire::{OutBuffer, ResultCharset};

use crate::context::Protocol;
use crate::encode::WireEncoder;
use crate::error::{ExecError, Result};
use crate::frame::{CurrentRow, Frame, row_source};
use crate::joined_rows::JoinedRows;
use crate::plain_rows::PlainRows;
use crate::reader::{Access, RowEnv, TableReader};
use crate::source::{Flow, RowBatch, Sink};
use crate::statement::QueryRun;
use crate::temp_row::CellKind;

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

    /// Appends the column at `col` of a record. Cost: for an integer or a string in the record 20 to 40 instructions
    /// and a copy.
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
                _ => encoder.put_value(&temp.value(rel, col), place, charset, self.out),
            },
            Some(CurrentRow::Nulls(_)) | None => {
                encoder.put_storage(None, place, zone, charset, self.out);
            }
        }
    }
}

/// Sends rows to the client.
pub(crate) struct RowSender<'c> {
    run: &'c QueryRun<'c>,
    outputs: &'c [Output],
    target: RowTarget<'c>,
    flush: &'c mut dyn FnMut(&mut OutBuffer) -> io::Result<()>,
    zone: &'c TimeZone,
    arena: Bump,
    /// Every output column is a column of this relation as it is.
    plain_rel: Option<u16>,
    /// How they are sent, made when the first leaf comes; `None` if not all of them are simple.
    plain: OnceCell<Option<PlainRows>>,
    /// How rows of a relation are sent that have company; `None` if an output column is computed.
    joined: Vec<(u16, Option<JoinedRows>)>,
    pub(crate) rows: u64,
}

impl<'c> RowSender<'c> {
    pub(crate) fn new(
        run: &'c QueryRun<'c>,
        target: RowTarget<'c>,
        flush: &'c mut dyn FnMut(&mut OutBuffer) -> io::Result<()>,
    ) -> Self {
        let zone = run.st.zone;
        let outputs = &run.program.outputs[..];
        let rel_of = |output: &Output| match output.value {
            OutputValue::Column { rel, .. } => Some(rel),
            OutputValue::Expr(_) => None,
        };
        let plain_rel = outputs.first().and_then(rel_of);
        let plain_rel = plain_rel.filter(|rel| outputs.iter().all(|output| rel_of(output) == Some(*rel)));
        RowSender {
            run,
            outputs,
            target,
            flush,
            zone,
            arena: Bump::new(),
            plain_rel,
            plain: OnceCell::new(),
            joined: Vec::new(),
            rows: 0,
        }
    }

    fn put(&mut self, frame: Option<&Frame<'_>>) -> Result<()> {
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
                    output.encoder.put_value(&value, place, self.target.charset, self.target.out);
                }
            }
        }
        self.run.st.check()?;
        self.target.out.end_packet();
        self.rows += 1;
        Ok(())
    }

    /// Sends rows in company; false if that takes more than columns.
    fn put_joined(&mut self, batch: &RowBatch<'_>) -> Result<bool> {
        let known = self.joined.iter().position(|(rel, _)| *rel == batch.rel);
        let position = known.unwrap_or_else(|| {
            self.joined.push((batch.rel, JoinedRows::new(self.outputs, batch.rel)));
            self.joined.len() - 1
        });
        let Some(joined) = &mut self.joined[position].1 else { return Ok(false) };
        joined.put(batch, self.outputs, &mut self.target, self.run.st)?;
        Ok(true)
    }

    /// Sends a leaf's rows, all columns being columns of its relation.
    fn put_plain(&mut self, batch: &RowBatch<'_>) {
        let (outputs, target) = (self.outputs, &mut self.target);
        let compile = || PlainRows::new(outputs, batch.reader, target.protocol, target.charset);
        self.plain.get_or_init(compile);
        if let Some(Some(plain)) = self.plain.get_mut() {
            plain.put(batch, target.out);
            return;
        }
        for row in batch.rows.rows() {
            let packet = target.begin(outputs.len());
            for (i, Output { value, encoder }) in outputs.iter().enumerate() {
                if let OutputValue::Column { col, .. } = value {
                    let place = packet.map(|packet| (packet, i));
                    target.put_record_column(encoder, place, batch.reader, &row, *col, batch.env);
                }
            }
            target.out.end_packet();
        }
    }
}

impl Sink for RowSender<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        match self.put(Some(frame)) {
            Ok(()) => Ok(Flow::More),
            Err(error) => {
                self.target.out.abandon_packet();
                Err(error)
            }
        }
    }

    fn batch(&mut self, batch: &RowBatch<'_>) -> Result<Flow> {
        if self.plain_rel == Some(batch.rel) {
            self.put_plain(batch);
        } else if !self.put_joined(batch)? {
            for i in 0..batch.rows.len() {
                self.row(&batch.frame(i))?;
            }
            return Ok(Flow::More);
        }
        self.rows += batch.rows.len() as u64;
        Ok(Flow::More)
    }

    #[inline]
    fn wants_pause(&self) -> bool {
        self.target.out.wants_flush()
    }

    fn pause(&mut self) -> Result<()> {
        (self.flush)(self.target.out).map_err(ExecError::Send)
    }
}
