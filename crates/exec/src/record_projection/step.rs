//! One step of a projection: a column, or neighbouring columns that one loop stores.

use engine::RowFormat;
use wire::row_text::{store_i64, store_u64};

use super::store::{chunk, store_text};

/// One column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) op: StepOp,
    /// Tests: bit in the byte at `from` of the body.
    pub(super) null_mask: u8,
    /// Tests: bit of the row's NULL bitmap in the binary protocol.
    pub(super) bit: u16,
    /// Fixed columns: first byte in the body. The first variable column: the same. Other variable columns:
    /// where the end of the one before is. Key columns: position in `keys`. Columns that the records
    /// lack: first byte in `constants`.
    pub(super) from: u16,
    /// Fixed columns and those that the records lack: after the last byte. Variable columns: where the end
    /// of the first one is. Parts of the key: the part.
    pub(super) to: u16,
    /// Number of variable columns; ordinal of one whose letters may be in the key; bytes on the wire of a
    /// binary integer; position in `encoders`.
    pub(super) arg: u16,
    /// Numbers: bits of 64 that the stored integer has not.
    pub(super) unused: u8,
    pub(super) signed: bool,
    pub(super) in_key: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StepOp {
    /// Whether the column of the next step is NULL; if so, that step is left out.
    NullTest,
    /// Strings that are the first variable columns.
    FirstVar,
    /// Strings that are other variable columns next to each other.
    Var,
    /// A string of constant length.
    #[default]
    FixedText,
    /// An integer of 4 bytes in decimal.
    Decimal4,
    /// An integer of the key in decimal.
    KeyDecimal,
    /// Any other integer in decimal.
    Decimal,
    /// An integer as it is.
    Raw4,
    Raw,
    /// DATE.
    DateText,
    DateParts,
    /// Whatever [`crate::encode::WireEncoder`] makes of it.
    Encoded,
    /// The same of a column that the records lack.
    InitialEncoded,
    /// A column that the records lack.
    Initial,
    /// A column that the records lack and which is NULL in them.
    InitialNull,
    /// A string whose letters may be in the key.
    KeyText,
    /// A number that is a part of the key, which has no constant place, or may be NULL in the text protocol.
    KeyPart,
}

impl Step {
    pub(super) fn is_var(self) -> bool {
        matches!(self.op, StepOp::FirstVar | StepOp::Var)
    }

    /// Whether this column is after those of the last of `steps`, which stores it then, too: another
    /// variable column, or another one that the records lack.
    pub(super) fn joins_last(self, steps: &mut [Step]) -> bool {
        if let Some(last) = steps.last_mut().filter(|last| last.op == StepOp::Initial)
            && self.op == StepOp::Initial
        {
            last.to = self.to;
            return true;
        }
        let last = match steps {
            [.., before, _] if before.op == StepOp::NullTest => return false,
            [.., last] => last,
            [] => return false,
        };
        let joins = last.is_var() && self.op == StepOp::Var && self.to == last.to + 2 * last.arg;
        last.arg += u16::from(joins);
        joins
    }

    /// Stores the strings of a step of variable columns; what is left of the room.
    #[inline(always)]
    pub(super) fn store_texts<'o>(self, body: &[u8], mut room: &'o mut [u8]) -> &'o mut [u8] {
        let mut end_at = usize::from(self.to);
        let mut from = match self.op {
            StepOp::FirstVar => self.from.into(),
            _ => RowFormat::var_end(chunk(body, self.from.into())),
        };
        let mut rest = &body[from..];
        for _ in 0..self.arg {
            let end = RowFormat::var_end(chunk(body, end_at));
            let text;
            (text, rest) = rest.split_at(end.wrapping_sub(from));
            room = store_text(text, room);
            (from, end_at) = (end, end_at + 2);
        }
        room
    }

    /// The number whose low bits these are.
    #[inline(always)]
    pub(super) fn widened(self, bits: u64) -> u64 {
        if self.signed {
            ((bits << self.unused) as i64 >> self.unused) as u64
        } else {
            bits << self.unused >> self.unused
        }
    }

    #[inline(always)]
    pub(super) fn store_number(self, number: u64, room: &mut [u8]) -> usize {
        if self.signed { store_i64(room, number as i64) } else { store_u64(room, number) }
    }
}
