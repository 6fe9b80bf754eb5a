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
use crate::source::RowBatch;
use crate::statement::Statement;

/// How rows of one relation are sent that have company.
#[derive(Debug)]
pub(crate) struct JoinedRows {
    /// Output columns in order.
    pieces: Box<[Piece]>,
    /// A row without the relation's own columns.
    company: OutBuffer,
    /// Its columns that are NULL, in the binary protocol.
    nulls: Vec<usize>,
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
    /// The way of rows of relation `rel`; `None` if an output column is computed.
    pub(crate) fn new(outputs: &[Output], rel: u16) -> Option<Self> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (i, output) in outputs.iter().enumerate() {
            let OutputValue::Column { rel: of, .. } = output.value else { return None };
            match pieces.last_mut().filter(|piece| piece.own == (of == rel)) {
                Some(piece) => piece.columns.end = i + 1,
                None => pieces.push(Piece { columns: i..i + 1, own: of == rel, bytes: 0..0 }),
            }
        }
        Some(JoinedRows { pieces: pieces.into(), company: OutBuffer::new(), nulls: Vec::new() })
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
        Ok(())
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
