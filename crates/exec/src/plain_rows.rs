//! Rows whose output columns are columns of one relation as they are, from a leaf's records into packets.
//!
//! What protocol, character set and record layout decide is decided once a statement, what a leaf's key prefix decides
//! once a leaf. Columns of other types than integers and strings are left to [`crate::encode`].

use base::codec::{get_u16, get_u32, get_u64};
use engine::{RowFormat, RowRef};
use page::{KeyInt, NullBit};
use wire::row_text::{INTEGER_TEXT_BYTES, store_i64, store_u64};
use wire::{OutBuffer, PacketRoom, ResultCharset};

use crate::context::Protocol;
use crate::encode::DirectForm;
use crate::project::{Output, OutputValue};
use crate::reader::{Access, TableReader};
use crate::source::RowBatch;

/// Most columns of a row: with values of at most a page each, its packet need not be split.
const MAX_COLUMNS: usize = 512;
/// Most bytes of the length before a string that is on a page.
const MAX_LENGTH_BYTES: usize = 3;
/// First bit of the binary protocol's NULL bitmap that stands for a column.
const FIRST_NULL_BIT: usize = 2;

/// The columns of one relation's rows.
#[derive(Debug)]
pub(crate) struct PlainRows {
    columns: Box<[PlainColumn]>,
    protocol: Protocol,
    /// Bytes before the values: in the binary protocol packet header and NULL bitmap.
    head_bytes: usize,
    /// Most bytes of a row, the contents of variable columns left out.
    bound: usize,
    var_columns: usize,
    reads_keys: bool,
}

#[derive(Debug)]
struct PlainColumn {
    null: Option<NullBit>,
    place: PlainPlace,
    form: DirectForm,
    signed: bool,
}

#[derive(Clone, Copy, Debug)]
enum PlainPlace {
    Fixed {
        from: usize,
        to: usize,
    },
    Var {
        ordinal: u16,
    },
    /// `int`: of the leaf at hand.
    Key {
        offset: usize,
        width: usize,
        flip: u64,
        int: KeyInt,
    },
}

impl PlainColumn {
    fn new(
        output: &Output,
        reader: &TableReader,
        protocol: Protocol,
        charset: ResultCharset,
    ) -> Option<Self> {
        let OutputValue::Column { col, .. } = output.value else { return None };
        let column = &reader.columns[usize::from(col)];
        let form = output.encoder.direct_form(protocol, charset)?;
        let place = match column.access {
            Access::Fixed { from, to } => PlainPlace::Fixed { from: from.into(), to: to.into() },
            Access::Var { ordinal } if form == DirectForm::Text => PlainPlace::Var { ordinal },
            Access::KeyInt { part, int, .. } if form != DirectForm::Text => {
                let part = &reader.format.key_parts()[usize::from(part)];
                let offset = usize::from(part.offset.filter(|_| !part.nullable)?);
                let width = usize::from(int.width);
                PlainPlace::Key { offset, width, flip: int.flip, int: KeyInt::new(&[], offset, width) }
            }
            _ => return None,
        };
        Some(PlainColumn { null: column.null, place, form, signed: !column.ty.unsigned })
    }

    /// Most bytes on the wire, the content of a variable column left out.
    fn bound(&self) -> usize {
        let content = match self.place {
            PlainPlace::Fixed { from, to } => to - from,
            PlainPlace::Var { .. } => 0,
            PlainPlace::Key { .. } => size_of::<u64>(),
        };
        (MAX_LENGTH_BYTES + content).max(INTEGER_TEXT_BYTES)
    }

    /// Stores an integer of `width` bytes, given by the low bits of its two's complement.
    #[inline(always)]
    fn store_int(&self, bits: u64, width: usize, out: &mut [u8]) -> usize {
        if self.form == DirectForm::Bytes {
            // Eight at once are cheaper than as many as there are: what follows is stored over the rest.
            out[..8].copy_from_slice(&bits.to_le_bytes());
            return width;
        }
        let unused = 64 - 8 * width as u32;
        if self.signed {
            store_i64(out, (bits << unused) as i64 >> unused)
        } else {
            store_u64(out, bits << unused >> unused)
        }
    }

    #[inline(always)]
    fn store_fixed(&self, bytes: &[u8], out: &mut [u8]) -> usize {
        if self.form == DirectForm::Text {
            return store_text(bytes, out);
        }
        let bits = match bytes.len() {
            4 => u64::from(get_u32(bytes, 0)),
            8 => get_u64(bytes, 0),
            2 => u64::from(get_u16(bytes, 0)),
            _ => u64::from(bytes[0]),
        };
        self.store_int(bits, bytes.len(), out)
    }
}

impl PlainRows {
    /// The way of `outputs`, all of them columns of the relation that `reader` reads; `None` if one of them is not simple.
    pub(crate) fn new(
        outputs: &[Output],
        reader: &TableReader,
        protocol: Protocol,
        charset: ResultCharset,
    ) -> Option<Self> {
        if outputs.len() > MAX_COLUMNS {
            return None;
        }
        let columns = outputs.iter().map(|output| PlainColumn::new(output, reader, protocol, charset));
        let columns: Box<[PlainColumn]> = columns.collect::<Option<_>>()?;
        let head_bytes = match protocol {
            Protocol::Text => 0,
            Protocol::Binary => 1 + (columns.len() + FIRST_NULL_BIT).div_ceil(8),
        };
        Some(PlainRows {
            protocol,
            head_bytes,
            bound: head_bytes + columns.iter().map(PlainColumn::bound).sum::<usize>(),
            var_columns: columns.iter().filter(|c| matches!(c.place, PlainPlace::Var { .. })).count(),
            reads_keys: columns.iter().any(|c| matches!(c.place, PlainPlace::Key { .. })),
            columns,
        })
    }

    /// Appends a packet for each row. Cost: about 130 instructions a row and 125 a column, copies included.
    pub(crate) fn put(&mut self, batch: &RowBatch<'_>, out: &mut OutBuffer) {
        for column in &mut self.columns {
            if let PlainPlace::Key { offset, width, int, .. } = &mut column.place {
                *int = batch.rows.key_int(*offset, *width);
            }
        }
        let format = batch.rows.format();
        let mut room = PacketRoom::new(out);
        if self.reads_keys {
            for row in batch.rows.rows() {
                self.put_row(format, row.body(), Some(&row), &mut room);
            }
        } else {
            for body in batch.rows.bodies() {
                self.put_row(format, body, None, &mut room);
            }
        }
    }

    #[inline(always)]
    fn put_row(&self, format: &RowFormat, body: &[u8], row: Option<&RowRef<'_>>, room: &mut PacketRoom<'_>) {
        room.packet(self.bound + self.var_columns * body.len(), |out| {
            out[..self.head_bytes].fill(0);
            let mut at = self.head_bytes;
            for (i, column) in self.columns.iter().enumerate() {
                if column.null.is_some_and(|bit| body[usize::from(bit.byte)] & bit.mask != 0) {
                    at += self.store_null(i, at, out);
                    continue;
                }
                let rest = &mut out[at..];
                at += match &column.place {
                    PlainPlace::Var { ordinal } => store_text(format.var(body, *ordinal).0, rest),
                    PlainPlace::Fixed { from, to } => column.store_fixed(&body[*from..*to], rest),
                    PlainPlace::Key { width, flip, int, .. } => {
                        let bits = row.map_or(0, |row| int.get(row.record()) ^ flip);
                        column.store_int(bits, *width, rest)
                    }
                };
            }
            at
        });
    }

    fn store_null(&self, column: usize, at: usize, out: &mut [u8]) -> usize {
        match self.protocol {
            Protocol::Text => {
                out[at] = 0xfb;
                1
            }
            Protocol::Binary => {
                let bit = column + FIRST_NULL_BIT;
                out[1 + bit / 8] |= 1 << (bit % 8);
                0
            }
        }
    }
}

/// Stores a string behind its length.
#[inline(always)]
fn store_text(text: &[u8], out: &mut [u8]) -> usize {
    let skip = if text.len() < 0xfb {
        out[0] = text.len() as u8;
        1
    } else {
        out[0] = 0xfc;
        out[1..3].copy_from_slice(&(text.len() as u16).to_le_bytes());
        MAX_LENGTH_BYTES
    };
    out[skip..skip + text.len()].copy_from_slice(text);
    skip + text.len()
}
