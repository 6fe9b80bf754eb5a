//! Rows of one relation in company, on their way to the client: what comes from other relations is the same in all rows of
//! a batch, so it is encoded once and copied.
//!
//! [`crate::project::RowSender`] sends the same rows one at a time, and is the oracle of the tests.

use std::ops::Range;

use types::TimeZone;
use wire::OutBuffer;
use wire::out_buffer::HEADER_BYTES;

use crate::error::Result;
use crate::frame::Frame;
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
    /// Output columns in order.
    pieces: Box<[Piece]>,
    /// A row without the relation's own columns.
    company: OutBuffer,
    /// Its columns that are NULL, in the binary protocol.
    nulls: Vec<usize>,
    program: Option<RecordProjection>,
    state: ProjectionState,
}

/// Output columns next to each other.
#[derive(Clone, Debug)]
struct Piece {
    columns: Range<usize>,
    /// Of the relation, else of its company.
    own: bool,
    /// Where the company's are in its row.
    bytes: Range<usize>,
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
            let OutputValue::Column { rel: of, .. } = output.value else { return None };
            match pieces.last_mut().filter(|piece| piece.own == (of == rel)) {
                Some(piece) => piece.columns.end = i + 1,
                None => pieces.push(Piece { columns: i..i + 1, own: of == rel, bytes: 0..0 }),
            }
        }
        Some(JoinedRows {
            program: program(&pieces, outputs, reader, target),
            pieces: pieces.into(),
            company: OutBuffer::new(),
            nulls: Vec::new(),
            state: ProjectionState::default(),
        })
    }

    /// Appends a packet for each row of `batch`.
    pub(crate) fn put(
        &mut self,
        batch: &RowBatch<'_>,
        outputs: &[Output],
        target: &mut RowTarget<'_>,
        st: &Statement<'_>,
    ) -> Result<()> {
        self.encode_company(batch.parent, outputs, target, st.zone);
        // A value off page may be unreadable.
        st.check()?;
        let company_bytes = batch.rows.len() * self.company.pending().len();
        match &self.program {
            Some(program) if company_bytes <= COMPANY_BYTES_MAX => {
                let between = self.pieces.iter().position(|piece| piece.own).unwrap_or(0);
                let (before, behind) = self.pieces.split_at(between);
                let bytes = |pieces: &[Piece]| {
                    let piece = pieces.iter().find(|piece| !piece.own);
                    piece.map_or(&[][..], |piece| &self.company.pending()[piece.bytes.clone()])
                };
                let head_bytes = RecordProjection::head_bytes(target.protocol, outputs.len());
                let company = Company {
                    head: &self.company.pending()[HEADER_BYTES..HEADER_BYTES + head_bytes],
                    before: bytes(before),
                    behind: bytes(behind),
                };
                let show = Show { zone: st.zone, charset: target.charset };
                company.put(batch, program, &mut self.state, show, target.out);
            }
            _ => self.put_by_columns(batch, outputs, target),
        }
        Ok(())
    }

    fn put_by_columns(&self, batch: &RowBatch<'_>, outputs: &[Output], target: &mut RowTarget<'_>) {
        for row in batch.rows.rows() {
            let packet = target.begin(outputs.len());
            if let Some(packet) = packet {
                self.nulls.iter().for_each(|&column| packet.put_null(target.out, column));
            }
            for piece in &self.pieces {
                if !piece.own {
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

    fn encode_company(
        &mut self,
        company: Option<&Frame<'_>>,
        outputs: &[Output],
        target: &RowTarget<'_>,
        zone: &TimeZone,
    ) {
        self.company.abandon_packet();
        let mut row = RowTarget { out: &mut self.company, ..*target };
        let packet = row.begin(outputs.len());
        for piece in self.pieces.iter_mut().filter(|piece| !piece.own) {
            piece.bytes.start = row.out.pending().len();
            for i in piece.columns.clone() {
                if let OutputValue::Column { rel, col } = outputs[i].value {
                    let place = packet.map(|packet| (packet, i));
                    row.put_column(&outputs[i].encoder, place, company, rel, col, zone);
                }
            }
            piece.bytes.end = row.out.pending().len();
        }
        self.nulls.clear();
        if packet.is_some() {
            // Behind a zero byte, and two bits that stand for no column.
            let bitmap = &self.company.pending()[HEADER_BYTES + 1..];
            let is_null = |&column: &usize| bitmap[(column + 2) / 8] >> ((column + 2) % 8) & 1 == 1;
            self.nulls.extend((0..outputs.len()).filter(is_null));
        }
    }
}

/// The program of a relation's own columns, if they are next to each other and a program can send them.
fn program(
    pieces: &[Piece],
    outputs: &[Output],
    reader: &TableReader,
    target: &RowTarget<'_>,
) -> Option<RecordProjection> {
    let mut own = pieces.iter().filter(|piece| piece.own);
    let (Some(piece), None) = (own.next(), own.next()) else { return None };
    let column = |output| match output {
        &Output { value: OutputValue::Column { col, .. }, ref encoder } => Some((col, encoder)),
        Output { value: OutputValue::Expr(_), .. } => None,
    };
    let columns = outputs[piece.columns.clone()].iter().filter_map(column);
    let program = RecordProjection::new(columns, piece.columns.start, reader, target.protocol)?;
    program.serves(target.charset).then_some(program)
}

/// The bytes of a row around the columns of one relation.
struct Company<'a> {
    /// Before the values: the NULL bitmap of the binary protocol.
    head: &'a [u8],
    before: &'a [u8],
    behind: &'a [u8],
}

impl Company<'_> {
    /// Appends a packet for each row of `batch`. Cost: about 60 instructions a row and what [`RecordProjection::store`]
    /// takes.
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
                            let all = room.len();
                            let (head, room) = room.split_at_mut(self.head.len());
                            head.copy_from_slice(self.head);
                            let (before, room) = room.split_at_mut(self.before.len());
                            before.copy_from_slice(self.before);
                            let rest = program.store(state, leaf, cell, head, room);
                            let (behind, rest) = rest.split_at_mut(self.behind.len());
                            behind.copy_from_slice(self.behind);
                            all - rest.len()
                        },
                    );
                },
            );
        });
    }
}
