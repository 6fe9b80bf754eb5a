//! Sends a batch of rows of one relation, all joined with the same rows of the other relations: the columns
//! of the other relations are encoded once per batch and copied.
//!
//! [`crate::project::RowSender`] sends the same rows one at a time, and is the oracle of the tests.

use std::cell::OnceCell;
use std::ops::Range;

use types::TimeZone;
use wire::OutBuffer;
use wire::out_buffer::HEADER_BYTES;

use crate::error::Result;
use crate::frame::{CurrentRow, Frame, TableRow};
use crate::outputs::{Output, OutputValue};
use crate::protocol::Protocol;
use crate::reader::TableReader;
use crate::record_projection::{ClientFormat, ProjectionState, RecordProjection};
use crate::row_target::RowTarget;
use crate::source::RowBatch;
use crate::statement::Statement;

/// Most bytes that copies of the fixed columns may take in room that is reserved for a whole batch.
const FIXED_BYTES_MAX: usize = 1 << 20;

/// Sends rows of one relation that are joined with fixed rows of others.
#[derive(Debug)]
pub(crate) struct JoinedRows {
    rel: u16,
    /// Output columns in order.
    pieces: Box<[Piece]>,
    /// A row without the relation's own columns.
    fixed: OutBuffer,
    /// Its columns that are NULL, in the binary protocol.
    nulls: Vec<usize>,
    state: ProjectionState,
    /// Position of the only piece of the relation's own columns, if there is one and a program sends it.
    own: Option<usize>,
}

/// Output columns of one relation next to each other.
#[derive(Debug)]
struct Piece {
    rel: u16,
    columns: Range<usize>,
    /// Where the columns are in `fixed`; for the batch's own relation, where they would be.
    bytes: Range<usize>,
    /// Made when the relation's first row comes; `None` if its columns are not simple.
    program: OnceCell<Option<RecordProjection>>,
}

impl JoinedRows {
    /// Prepares to send rows of relation `rel`, which `reader` reads; `None` if an output column is computed.
    pub(crate) fn new(
        outputs: &[Output],
        rel: u16,
        reader: &TableReader,
        target: &RowTarget<'_>,
    ) -> Option<Self> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (i, output) in outputs.iter().enumerate() {
            let OutputValue::Column { rel, .. } = output.value else { return None };
            if let Some(piece) = pieces.last_mut().filter(|piece| piece.rel == rel) {
                piece.columns.end = i + 1;
            } else {
                let columns = i..i + 1;
                pieces.push(Piece { rel, columns, bytes: 0..0, program: OnceCell::new() });
            }
        }
        let mut own = (0..pieces.len()).filter(|&i| pieces[i].rel == rel);
        let own = own.next().filter(|_| own.next().is_none());
        let own = own.filter(|&own| pieces[own].program(outputs, reader, target).is_some());
        let (fixed, state) = (OutBuffer::new(), ProjectionState::default());
        Some(JoinedRows { rel, pieces: pieces.into(), fixed, nulls: Vec::new(), state, own })
    }

    /// Appends a packet for each row of `batch`.
    pub(crate) fn put(
        &mut self,
        batch: &RowBatch<'_>,
        outputs: &[Output],
        target: &mut RowTarget<'_>,
        st: &Statement<'_>,
    ) -> Result<()> {
        let format = ClientFormat { zone: st.zone, charset: target.charset };
        self.fixed.abandon_packet();
        if !self.encode_by_programs(batch.parent, outputs, target, format) {
            self.encode_by_columns(batch.parent, outputs, target, st.zone);
            // A value off page may be unreadable.
            st.check()?;
        }
        let fixed = self.fixed.pending();
        let own = self.own.filter(|_| batch.rows.len() * fixed.len() <= FIXED_BYTES_MAX);
        let own = own.map(|own| &self.pieces[own]);
        match own.and_then(|own| Some((own, own.program.get()?.as_ref()?))) {
            Some((own, program)) => {
                let head_bytes = RecordProjection::head_bytes(target.protocol, outputs.len());
                let (head, values) = fixed[HEADER_BYTES..].split_at(head_bytes);
                let (before, after) = values.split_at(own.bytes.start - HEADER_BYTES - head_bytes);
                let fixed = FixedColumns { head, before, after };
                fixed.put(batch, program, &mut self.state, format, target.out);
            }
            None => self.put_by_columns(batch, outputs, target),
        }
        Ok(())
    }

    fn put_by_columns(&mut self, batch: &RowBatch<'_>, outputs: &[Output], target: &mut RowTarget<'_>) {
        self.find_nulls(outputs.len(), target.protocol);
        for row in batch.rows.rows() {
            let packet = target.begin(outputs.len());
            if let Some(packet) = packet {
                self.nulls.iter().for_each(|&column| packet.put_null(target.out, column));
            }
            for piece in &self.pieces {
                if piece.rel != self.rel {
                    target.out.put_bytes(&self.fixed.pending()[piece.bytes.clone()]);
                    continue;
                }
                for i in piece.columns.clone() {
                    if let OutputValue::Column { col, .. } = outputs[i].value {
                        let place = packet.map(|packet| (packet, i));
                        let encoder = &outputs[i].encoder;
                        target.put_record_column(encoder, place, batch.reader, &row, col, batch.env);
                    }
                }
            }
            target.out.end_packet();
        }
    }

    fn find_nulls(&mut self, columns: usize, protocol: Protocol) {
        self.nulls.clear();
        if protocol == Protocol::Binary {
            // The bitmap follows a zero byte; its first two bits stand for no column.
            let bitmap = &self.fixed.pending()[HEADER_BYTES + 1..];
            let is_null = |&column: &usize| bitmap[(column + 2) / 8] >> ((column + 2) % 8) & 1 == 1;
            self.nulls.extend((0..columns).filter(is_null));
        }
    }

    /// Encodes the fixed columns if all of their rows came in batches and are simple; else returns false.
    fn encode_by_programs(
        &mut self,
        outer: Option<&Frame<'_>>,
        outputs: &[Output],
        target: &RowTarget<'_>,
        format: ClientFormat<'_>,
    ) -> bool {
        let head_bytes = RecordProjection::head_bytes(target.protocol, outputs.len());
        let mut room = HEADER_BYTES + head_bytes;
        for piece in self.pieces.iter().filter(|piece| piece.rel != self.rel) {
            let Some(CurrentRow::Record(record)) = outer.and_then(|outer| outer.find(piece.rel)) else {
                return false;
            };
            if record.reader.older.is_some() {
                return false;
            }
            match (record.batch, piece.program(outputs, record.reader, target)) {
                (Some((batch, _)), Some(program)) => {
                    room += program.room_bytes(1, &batch.records(), batch.body_bytes_max());
                }
                _ => return false,
            }
        }
        let (pieces, state, rel) = (&mut self.pieces, &mut self.state, self.rel);
        self.fixed.packets(room, |packets| {
            packets.packet(|room| {
                let all = room.len();
                let (head, mut room) = room.split_at_mut(head_bytes);
                head.fill(0);
                for piece in pieces.iter_mut() {
                    let start = room.len();
                    if piece.rel != rel {
                        room = piece.store(outer, state, format, head, room);
                    }
                    piece.bytes = HEADER_BYTES + all - start..HEADER_BYTES + all - room.len();
                }
                room
            });
        });
        true
    }

    fn encode_by_columns(
        &mut self,
        outer: Option<&Frame<'_>>,
        outputs: &[Output],
        target: &RowTarget<'_>,
        zone: &TimeZone,
    ) {
        let mut row = RowTarget { out: &mut self.fixed, ..*target };
        let packet = row.begin(outputs.len());
        for piece in &mut self.pieces {
            piece.bytes.start = row.out.pending().len();
            for i in piece.columns.clone().filter(|_| piece.rel != self.rel) {
                if let OutputValue::Column { rel, col } = outputs[i].value {
                    let place = packet.map(|packet| (packet, i));
                    row.put_column(&outputs[i].encoder, place, outer, rel, col, zone);
                }
            }
            piece.bytes.end = row.out.pending().len();
        }
    }
}

impl Piece {
    /// The program of the columns in rows that `reader` reads; `None` if they are not simple or another form
    /// is wanted.
    fn program(
        &self,
        outputs: &[Output],
        reader: &TableReader,
        target: &RowTarget<'_>,
    ) -> Option<&RecordProjection> {
        let column = |output| match output {
            &Output { value: OutputValue::Column { col, .. }, ref encoder } => Some((col, encoder)),
            Output { value: OutputValue::Expr(_), .. } => None,
        };
        let compile = || {
            let columns = outputs[self.columns.clone()].iter().filter_map(column);
            let program = RecordProjection::new(columns, self.columns.start, reader, target.protocol)?;
            program.serves(target.charset).then_some(program)
        };
        self.program.get_or_init(compile).as_ref()
    }

    /// Stores the columns of the row that `outer` has of the relation, which came in a batch. Returns the
    /// rest of the room.
    fn store<'o>(
        &self,
        outer: Option<&Frame<'_>>,
        state: &mut ProjectionState,
        format: ClientFormat<'_>,
        head: &mut [u8],
        mut room: &'o mut [u8],
    ) -> &'o mut [u8] {
        let row = outer.and_then(|outer| outer.find(self.rel));
        if let (Some(CurrentRow::Record(TableRow { batch: Some((batch, i)), .. })), Some(Some(program))) =
            (row, self.program.get())
        {
            let row = batch.slice(*i..i + 1);
            let leaf = &program.enter_leaf(state, row.records(), format);
            row.for_each_cell(|cell| {
                room = program.store(state, leaf, cell, head, std::mem::take(&mut room));
            });
        }
        room
    }
}

/// The bytes of a row around the columns of one relation.
struct FixedColumns<'a> {
    /// Before the values: the NULL bitmap of the binary protocol.
    head: &'a [u8],
    before: &'a [u8],
    after: &'a [u8],
}

impl FixedColumns<'_> {
    /// Appends a packet for each row of `batch`. Cost: about 60 instructions a row and what
    /// [`RecordProjection::store`] takes.
    fn put(
        &self,
        batch: &RowBatch<'_>,
        program: &RecordProjection,
        state: &mut ProjectionState,
        format: ClientFormat<'_>,
        out: &mut OutBuffer,
    ) {
        let rows = batch.rows.len();
        let fixed = HEADER_BYTES + self.head.len() + self.before.len() + self.after.len();
        let room =
            rows * fixed + program.room_bytes(rows, &batch.rows.records(), batch.rows.body_bytes_max());
        let leaf = &program.enter_leaf(state, batch.rows.records(), format);
        out.packets(room, |packets| {
            batch.rows.for_each_cell(
                #[inline(always)]
                |cell| {
                    packets.packet(
                        #[inline(always)]
                        |room| {
                            let (head, room) = room.split_at_mut(self.head.len());
                            head.copy_from_slice(self.head);
                            let (before, room) = room.split_at_mut(self.before.len());
                            before.copy_from_slice(self.before);
                            let rest = program.store(state, leaf, cell, head, room);
                            let (after, rest) = rest.split_at_mut(self.after.len());
                            after.copy_from_slice(self.after);
                            rest
                        },
                    );
                },
            );
        });
    }
}
