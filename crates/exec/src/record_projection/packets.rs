//! Packets of whole rows: those of a batch, or of one cell.

use engine::{Batch, FoundCell, RowFormat};
use wire::OutBuffer;

use super::step::{Step, StepOp};
use super::store::store_text;
use super::{ClientFormat, Leaf, ProjectionState, RecordProjection};
use crate::protocol::Protocol;

/// Bytes before the value of a row of one column in the binary protocol.
const ONE_COLUMN_HEAD_BYTES: usize = 2;

/// Appends to `out` a packet for each row of `batch`, in which every output column is one of `projection`.
/// Cost: about 30 instructions a row and what [`RecordProjection::store`] takes.
pub(crate) fn put_batch(
    projection: &RecordProjection,
    state: &mut ProjectionState,
    format: ClientFormat<'_>,
    batch: &Batch<'_>,
    out: &mut OutBuffer,
) {
    let leaf = &projection.enter_leaf(state, batch.records(), format);
    let protocol = if projection.is_binary { Protocol::Binary } else { Protocol::Text };
    match (&*projection.steps, protocol) {
        ([Step { op: StepOp::FirstVar, from, to, arg: 1, .. }], Protocol::Text) => {
            put_strings::<0>(projection, *from, *to, batch, out);
        }
        ([Step { op: StepOp::FirstVar, from, to, arg: 1, .. }], Protocol::Binary) => {
            put_strings::<ONE_COLUMN_HEAD_BYTES>(projection, *from, *to, batch, out);
        }
        (_, Protocol::Text) => put_rows::<false>(projection, state, leaf, batch, out),
        (_, Protocol::Binary) => put_rows::<true>(projection, state, leaf, batch, out),
    }
}

/// Rows of one string, the first variable column and never NULL. Cost: about 50 instructions and a copy.
#[inline(never)]
fn put_strings<const HEAD: usize>(
    projection: &RecordProjection,
    from: u16,
    end_at: u16,
    batch: &Batch<'_>,
    out: &mut OutBuffer,
) {
    let rows = batch.len();
    let room = rows * (wire::out_buffer::HEADER_BYTES + HEAD)
        + projection.room_bytes(rows, &batch.records(), batch.body_bytes_max());
    out.packets(room, |packets| {
        batch.for_each_cell(
            #[inline(always)]
            |cell| {
                let text = cell.bytes(from.into(), RowFormat::var_end(cell.chunk(end_at)));
                packets.packet(
                    #[inline(always)]
                    |room| {
                        let (head, room) = room.split_at_mut(HEAD);
                        head.fill(0);
                        store_text(text, room)
                    },
                );
            },
        );
    });
}

/// Appends to `out` a packet for the row in `found`, as [`put_batch`] does for many.
#[inline]
pub(crate) fn put_cell(
    projection: &RecordProjection,
    state: &mut ProjectionState,
    format: ClientFormat<'_>,
    found: &FoundCell<'_>,
    out: &mut OutBuffer,
) {
    // One row alone must not pay for keys that it has not.
    let leaf = &match &*projection.keys {
        [] => Leaf { format, records: found.records },
        _ => projection.enter_leaf(state, found.records, format),
    };
    let protocol = if projection.is_binary { Protocol::Binary } else { Protocol::Text };
    let head_bytes = RecordProjection::head_bytes(protocol, projection.columns);
    let room = wire::out_buffer::HEADER_BYTES
        + head_bytes
        + projection.room_bytes(1, &found.records, found.body_bytes_max);
    out.packets(room, |packets| {
        packets.packet(|room| {
            RecordProjection::store_head(head_bytes, room);
            let (head, room) = room.split_at_mut(head_bytes);
            projection.store(state, leaf, found.cell, head, room)
        });
    });
}

#[inline(never)]
fn put_rows<const BINARY: bool>(
    projection: &RecordProjection,
    state: &mut ProjectionState,
    leaf: &Leaf<'_>,
    batch: &Batch<'_>,
    out: &mut OutBuffer,
) {
    let protocol = if BINARY { Protocol::Binary } else { Protocol::Text };
    let head_bytes = RecordProjection::head_bytes(protocol, projection.columns);
    let rows = batch.len();
    let room = rows * (wire::out_buffer::HEADER_BYTES + head_bytes)
        + projection.room_bytes(rows, &batch.records(), batch.body_bytes_max());
    out.packets(room, |packets| {
        batch.for_each_cell(
            #[inline(always)]
            |cell| {
                packets.packet(
                    #[inline(always)]
                    |room| {
                        RecordProjection::store_head(head_bytes, room);
                        let (head, room) = room.split_at_mut(head_bytes);
                        projection.store(state, leaf, cell, head, room)
                    },
                );
            },
        );
    });
}
