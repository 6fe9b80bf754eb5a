//! Rows of one relation in company, on their way to the client: what comes from other relations is the same
//! in all rows of a batch, so it is encoded once and copied.
//!
//! [`crate::project::RowSender`] sends the same rows one at a time, and is the oracle of the tests.

use std::cell::OnceCell;
use std::ops::Range;

use types::TimeZone;
use wire::OutBuffer;
use wire::out_buffer::HEADER_BYTES;

use crate::context::Protocol;
use crate::error::Result;
use crate::frame::{CurrentRow, Frame, TableRow};
use crate::project::{Output, OutputValue, RowTarget};
use crate::reader::TableReader;
use crate::record_projection::{ProjectionState, RecordProjection, Show};
use crate::source::RowBatch;
use crate::statement::Statement;

/// Most bytes of company that a batch's rows are given in room made beforehand.
const COMPANY_BYTES_MAX: usize = 1 << 20;

/// How rows of one relation are sent that have company.
#[derive(Debug)]
pub(crate) struct JoinedRows {
    rel: u16,
    /// Output columns in order.
    pieces: Box<[Piece]>,
    /// A row without the relation's own columns.
    company: OutBuffer,
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
    /// Where the company's are in its row; where the relation's own would be.
    bytes: Range<usize>,
    /// Made when the relation's first row comes; `None` if its columns are not simple.
    program: OnceCell<Option<RecordProjection>>,
}

impl JoinedRows {
    /// The way of rows of relation `rel`, which `reader` reads; `None` if an output column is computed.
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
        let (company, state) = (OutBuffer::new(), ProjectionState::default());
        Some(JoinedRows { rel, pieces: pieces.into(), company, nulls: Vec::new(), state, own })
    }

    /// Appends a packet for each row of `batch`.
    pub(crate) fn put(
        &mut self,
        batch: &RowBatch<'_>,
        outputs: &[Output],
        target: &mut RowTarget<'_>,
        st: &Statement<'_>,
    ) -> Result<()> {
        let show = Show { zone: st.zone, charset: target.charset };
        self.company.abandon_packet();
        if !self.encode_by_programs(batch.parent, outputs, target, show) {
            self.encode_by_columns(batch.parent, outputs, target, st.zone);
            // A value off page may be unreadable.
            st.check()?;
        }
        let company = self.company.pending();
        let own = self.own.filter(|_| batch.rows.len() * company.len() <= COMPANY_BYTES_MAX);
        let own = own.map(|own| &self.pieces[own]);
        match own.and_then(|own| Some((own, own.program.get()?.as_ref()?))) {
            Some((own, program)) => {
                let head_bytes = RecordProjection::head_bytes(target.protocol, outputs.len());
                let (head, values) = company[HEADER_BYTES..].split_at(head_bytes);
                let (before, behind) = values.split_at(own.bytes.start - HEADER_BYTES - head_bytes);
                let company = Company { head, before, behind };
                company.put(batch, program, &mut self.state, show, target.out);
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
                    target.out.put_bytes(&self.company.pending()[piece.bytes.clone()]);
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
            // Behind a zero byte, and two bits that stand for no column.
            let bitmap = &self.company.pending()[HEADER_BYTES + 1..];
            let is_null = |&column: &usize| bitmap[(column + 2) / 8] >> ((column + 2) % 8) & 1 == 1;
            self.nulls.extend((0..columns).filter(is_null));
        }
    }

    /// Encodes the company if all of it came in batches and is simple; else false.
    fn encode_by_programs(
        &mut self,
        company: Option<&Frame<'_>>,
        outputs: &[Output],
        target: &RowTarget<'_>,
        show: Show<'_>,
    ) -> bool {
        let head_bytes = RecordProjection::head_bytes(target.protocol, outputs.len());
        let mut room = HEADER_BYTES + head_bytes;
        for piece in self.pieces.iter().filter(|piece| piece.rel != self.rel) {
            let Some(CurrentRow::Record(record)) = company.and_then(|company| company.find(piece.rel)) else {
                return false;
            };
            if record.reader.older.is_some() {
                return false;
            }
            match (record.batch, piece.program(outputs, record.reader, target)) {
                (Some((batch, _)), Some(program)) => room += program.room_bytes(1, batch.body_bytes_max()),
                _ => return false,
            }
        }
        let (pieces, state, rel) = (&mut self.pieces, &mut self.state, self.rel);
        self.company.packets(room, |packets| {
            packets.packet(|room| {
                let all = room.len();
                let (head, mut room) = room.split_at_mut(head_bytes);
                head.fill(0);
                for piece in pieces.iter_mut() {
                    let start = room.len();
                    if piece.rel != rel {
                        room = piece.store(company, state, show, head, room);
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
        company: Option<&Frame<'_>>,
        outputs: &[Output],
        target: &RowTarget<'_>,
        zone: &TimeZone,
    ) {
        let mut row = RowTarget { out: &mut self.company, ..*target };
        let packet = row.begin(outputs.len());
        for piece in &mut self.pieces {
            piece.bytes.start = row.out.pending().len();
            for i in piece.columns.clone().filter(|_| piece.rel != self.rel) {
                if let OutputValue::Column { rel, col } = outputs[i].value {
                    let place = packet.map(|packet| (packet, i));
                    row.put_column(&outputs[i].encoder, place, company, rel, col, zone);
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

    /// Stores the columns of the company, which has a row of the relation in a batch; what is left of the
    /// room.
    fn store<'o>(
        &self,
        company: Option<&Frame<'_>>,
        state: &mut ProjectionState,
        show: Show<'_>,
        head: &mut [u8],
        mut room: &'o mut [u8],
    ) -> &'o mut [u8] {
        let row = company.and_then(|company| company.find(self.rel));
        if let (Some(CurrentRow::Record(TableRow { batch: Some((batch, i)), .. })), Some(Some(program))) =
            (row, self.program.get())
        {
            let row = batch.slice(*i..i + 1);
            let leaf = &program.enter_leaf(state, row.records(), show);
            row.for_each_cell(|cell| {
                room = program.store(state, leaf, cell, head, std::mem::take(&mut room));
            });
        }
        room
    }
}

/// The bytes of a row around the columns of one relation.
struct Company<'a> {
    /// Before the values: the NULL bitmap of the binary protocol.
    head: &'a [u8],
    before: &'a [u8],
    behind: &'a [u8],
}

impl Company<'_> {
    /// Appends a packet for each row of `batch`. Cost: about 60 instructions a row and what
    /// [`RecordProjection::store`] takes.
    fn put(
        &self,
        batch: &RowBatch<'_>,
        program: &RecordProjection,
        state: &mut ProjectionState,
        show: Show<'_>,
        out: &mut OutBuffer,
    ) {
        let rows = batch.rows.len();
        let company = HEADER_BYTES + self.head.len() + self.before.len() + self.behind.len();
        let room = rows * company + program.room_bytes(rows, batch.rows.body_bytes_max());
        let leaf = &program.enter_leaf(state, batch.rows.records(), show);
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
                            let (behind, rest) = rest.split_at_mut(self.behind.len());
                            behind.copy_from_slice(self.behind);
                            rest
                        },
                    );
                },
            );
        });
    }
}
