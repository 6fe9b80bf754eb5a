//! Columns of one relation, unchanged, from a record's cell to the wire: a small program, compiled per plan
//! and row format version.
//!
//! Row format, column types and protocol are read when the program is made, the key prefix once per leaf. A
//! row then costs one step per column, a load and a store. Rows of joins are the columns of several programs
//! in sequence. [`crate::encode`] does the same value by value and is the oracle of the tests.
//!
//! A row's packet: [`RecordProjection::store_head`], then [`RecordProjection::store`] of each relation's
//! cell; the room has [`RecordProjection::room_bytes`] for each. [`put_batch`] does it for one relation.

use std::sync::Arc;

use page::{Cell, KeyInt, Records, RowFormat, RowRef};
use types::{Charset, TimeZone};
use wire::row_text::store_date;
use wire::{OutBuffer, ResultCharset};

use crate::encode::{WireEncoder, are_unconverted};
use crate::protocol::Protocol;
use crate::reader::{Initial, TableReader};

mod compiler;
mod packets;
mod step;
mod store;

use compiler::Compiler;
pub(crate) use packets::{put_batch, put_cell};
use step::{Step, StepOp};
use store::{NULL_TEXT, chunk, store_8, store_date_parts, store_text, store_text_len};

/// Most columns of a row: with values of at most a page each, its packet need not be split.
pub(crate) const COLUMNS_MAX: usize = 512;
/// First bit of the binary protocol's NULL bitmap that stands for a column.
const FIRST_NULL_BIT: usize = 2;
/// Bytes that a step may store after what it says that it stored.
const SLACK_BYTES: usize = 8;

#[cfg(test)]
thread_local! {
    /// Texts that this thread's programs have put together of key and case.
    pub(crate) static KEY_TEXTS_STORED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Parts of keys without a constant place, or that may be NULL, which they have shown.
    pub(crate) static KEY_PARTS_STORED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The program of some columns of one relation.
#[derive(Debug)]
pub(crate) struct RecordProjection {
    steps: Box<[Step]>,
    /// Number of columns.
    columns: usize,
    keys: Box<[KeyPlace]>,
    /// Of the columns that have no step of their own.
    encoders: Box<[WireEncoder]>,
    /// Of columns that the records lack: their wire bytes, or storage bytes where the client decides.
    constants: Box<[u8]>,
    /// Character sets of text that is copied as it is.
    charsets: Vec<Charset>,
    is_binary: bool,
    /// Of the records.
    format: Arc<RowFormat>,
    /// Most bytes of a row, the contents of variable columns left out.
    bound: usize,
    var_columns: usize,
    /// Columns whose letters may be in the key.
    key_texts: usize,
}

/// State of a running program; its memory is reused.
#[derive(Debug, Default)]
pub(crate) struct ProjectionState {
    keys: Vec<LeafKey>,
    encoded: OutBuffer,
}

/// How values look to this client.
#[derive(Clone, Copy)]
pub(crate) struct ClientFormat<'a> {
    pub(crate) zone: &'a TimeZone,
    pub(crate) charset: ResultCharset,
}

/// What rows of one leaf have in common.
pub(crate) struct Leaf<'a> {
    format: ClientFormat<'a>,
    records: Records<'a>,
}

/// An integer in the key.
#[derive(Clone, Copy, Debug)]
struct KeyPlace {
    offset: usize,
    width: usize,
    flip: u64,
    /// Of a signed integer: its sign bit.
    sign: u64,
}

/// An integer in the keys of a leaf.
#[derive(Clone, Copy, Debug)]
struct LeafKey {
    int: KeyInt,
    flip: u64,
    sign: u64,
}

impl RecordProjection {
    /// The program of `columns` (position in the table, encoder), which are output columns `first` and
    /// following. `None` if one of them cannot be read from a cell alone. No column may be off page in the
    /// records it is run on.
    pub(crate) fn new<'x>(
        columns: impl Iterator<Item = (u16, &'x WireEncoder)>,
        first: usize,
        reader: &TableReader,
        protocol: Protocol,
    ) -> Option<Self> {
        let mut compiler = Compiler {
            reader,
            protocol,
            keys: Vec::new(),
            encoders: Vec::new(),
            constants: Vec::new(),
            charsets: Vec::new(),
            bound: SLACK_BYTES,
        };
        let mut steps = Vec::new();
        let mut end = first;
        for (col, encoder) in columns {
            steps.extend(compiler.null_test(end, col));
            let step = match reader.initial(usize::from(col)) {
                Initial::InRecord => compiler.step(col, encoder)?,
                Initial::Null => Compiler::initial_null(end),
                Initial::Bytes(bytes) => compiler.initial(bytes, encoder)?,
            };
            if !step.joins_last(&mut steps) {
                steps.push(step);
            }
            end += 1;
        }
        let strings = |step: &Step| if step.is_var() { step.arg.into() } else { 0 };
        let Compiler { keys, encoders, constants, charsets, bound, .. } = compiler;
        (end <= COLUMNS_MAX).then(|| RecordProjection {
            var_columns: steps.iter().map(strings).sum(),
            columns: end - first,
            key_texts: steps.iter().filter(|step| step.op == StepOp::KeyText).count(),
            format: Arc::clone(&reader.format),
            steps: steps.into(),
            keys: keys.into(),
            encoders: encoders.into(),
            constants: constants.into(),
            charsets,
            is_binary: protocol == Protocol::Binary,
            bound,
        })
    }

    /// The protocol of its rows.
    pub(crate) fn protocol(&self) -> Protocol {
        if self.is_binary { Protocol::Binary } else { Protocol::Text }
    }

    /// Whether text goes to a client with this character set as it is stored.
    #[inline]
    pub(crate) fn serves(&self, charset: ResultCharset) -> bool {
        let is_usual = charset.collation == ResultCharset::UTF8MB4.collation;
        (is_usual && self.charsets.iter().all(|&from| from == Charset::Utf8mb4))
            || are_unconverted(&self.charsets, charset)
    }

    /// Most bytes that `rows` of the leaf's rows take, whose cells have `cell_bytes` together; headers and
    /// heads left out.
    #[inline]
    pub(crate) fn room_bytes(&self, rows: usize, records: &Records<'_>, cell_bytes: usize) -> usize {
        let texts = self.var_columns * cell_bytes;
        if self.key_texts == 0 {
            return rows * self.bound + texts;
        }
        rows * self.bound + texts + self.key_texts * (rows * records.shared_key_bytes_max() + cell_bytes)
    }

    /// Bytes before the values of a row of `columns` columns.
    #[inline]
    pub(crate) fn head_bytes(protocol: Protocol, columns: usize) -> usize {
        match protocol {
            Protocol::Text => 0,
            Protocol::Binary => 1 + (columns + FIRST_NULL_BIT).div_ceil(8),
        }
    }

    /// Stores what is before the values: the first `head_bytes` of the room.
    #[inline(always)]
    pub(crate) fn store_head(head_bytes: usize, room: &mut [u8]) {
        if head_bytes > size_of::<u64>() {
            room[..head_bytes].fill(0);
        } else if head_bytes > 0 {
            store_8(room, 0);
        }
    }

    /// Prepares `state` for the cells of a leaf.
    #[inline]
    pub(crate) fn enter_leaf<'a>(
        &self,
        state: &mut ProjectionState,
        records: Records<'a>,
        format: ClientFormat<'a>,
    ) -> Leaf<'a> {
        state.keys.clear();
        state.keys.extend(self.keys.iter().map(|key| LeafKey {
            int: records.key_int(key.offset, key.width),
            flip: key.flip,
            sign: key.sign,
        }));
        Leaf { format, records }
    }

    /// Stores the columns of `cell` at the start of `room`; what is left of it. `head`: what
    /// [`RecordProjection::store_head`] stored. Cost: 20 to 40 instructions a column, and a copy of its text.
    #[inline(always)]
    pub(crate) fn store<'o>(
        &self,
        state: &mut ProjectionState,
        leaf: &Leaf<'_>,
        cell: Cell<'_>,
        head: &mut [u8],
        mut room: &'o mut [u8],
    ) -> &'o mut [u8] {
        let body = cell.body();
        let mut steps = self.steps.iter();
        while let Some(step) = steps.next() {
            #[cfg(feature = "planted-validator")]
            crate::planted::validate_field(body);
            let stored = match step.op {
                StepOp::NullTest => {
                    if !cell.null_bit(step.from, step.null_mask) {
                        continue;
                    }
                    // The column's own step.
                    steps.next();
                    self.store_null(*step, head, room)
                }
                StepOp::FirstVar | StepOp::Var => {
                    room = step.store_texts(body, room);
                    continue;
                }
                StepOp::Decimal4 => {
                    let bits = u32::from_le_bytes(chunk(body, step.from.into()));
                    let number = if step.signed { i64::from(bits as i32) as u64 } else { bits.into() };
                    step.store_number(number, room)
                }
                StepOp::KeyDecimal => {
                    let sign = state.keys[usize::from(step.from)].sign;
                    // The sign bit's copies are above it.
                    let number = (state.key(leaf, *step, cell) ^ sign).wrapping_sub(sign);
                    step.store_number(number, room)
                }
                StepOp::Raw4 => {
                    store_8(room, u32::from_le_bytes(chunk(body, step.from.into())).into());
                    4
                }
                StepOp::DateText => {
                    let date = state.number(leaf, *step, cell) as u32;
                    store_date(room, date >> 9, date >> 5 & 15, date & 31)
                }
                StepOp::Initial => self.store_initial(*step, room),
                StepOp::InitialNull => self.store_null(*step, head, room),
                StepOp::InitialEncoded => self.store_initial_encoded(state, leaf, *step, room),
                StepOp::FixedText
                | StepOp::Decimal
                | StepOp::Raw
                | StepOp::DateParts
                | StepOp::Encoded
                | StepOp::KeyText
                | StepOp::KeyPart => self.store_other(state, leaf, *step, cell, room),
            };
            room = &mut room[stored..];
        }
        room
    }

    /// The steps that are met less often.
    #[inline(never)]
    fn store_other(
        &self,
        state: &mut ProjectionState,
        leaf: &Leaf<'_>,
        step: Step,
        cell: Cell<'_>,
        room: &mut [u8],
    ) -> usize {
        match step.op {
            StepOp::FixedText => {
                let before = room.len();
                before - store_text(cell.bytes(step.from.into(), step.to.into()), room).len()
            }
            StepOp::Decimal => step.store_number(step.widened(state.number(leaf, step, cell)), room),
            StepOp::Raw => {
                store_8(room, step.widened(state.number(leaf, step, cell)));
                usize::from(step.arg)
            }
            StepOp::DateParts => store_date_parts(state.number(leaf, step, cell), room),
            StepOp::KeyText => self.store_key_text(leaf, step, cell, room),
            StepOp::KeyPart => self.store_key_part(state, leaf, step, cell, room),
            _ => self.store_encoded(state, leaf, step, cell, room),
        }
    }

    #[inline]
    fn store_key_text(&self, leaf: &Leaf<'_>, step: Step, cell: Cell<'_>, room: &mut [u8]) -> usize {
        let (bytes, is_in_key) = self.format.var(cell.body(), step.arg);
        if !is_in_key {
            let before = room.len();
            return before - store_text(bytes, room).len();
        }
        #[cfg(test)]
        KEY_TEXTS_STORED.set(KEY_TEXTS_STORED.get() + 1);
        let entry = RowRef::new(&self.format, leaf.records.get(cell.slot()));
        let mut head = 0;
        let text = entry.key_text(step.arg, bytes, |len| {
            head = store_text_len(len, room);
            &mut room[head..head + len]
        });
        head + text.len()
    }

    /// Cost: 60 instructions and more for an integer.
    #[inline(never)]
    fn store_key_part(
        &self,
        state: &mut ProjectionState,
        leaf: &Leaf<'_>,
        step: Step,
        cell: Cell<'_>,
        room: &mut [u8],
    ) -> usize {
        #[cfg(test)]
        KEY_PARTS_STORED.set(KEY_PARTS_STORED.get() + 1);
        let entry = RowRef::new(&self.format, leaf.records.get(cell.slot()));
        let part = &self.format.key_parts()[usize::from(step.to)];
        let is_null = part.nullable && part.column.is_some_and(|col| entry.is_null(col.into()));
        let Some(int) = part.int.filter(|_| !is_null) else {
            room[0] = NULL_TEXT;
            return 1;
        };
        let (bits, ty) = (entry.key_int(part, int), &self.encoders[usize::from(step.arg)].ty);
        if ty.is_integer() && !ty.zerofill && !self.is_binary {
            return step.store_number(step.widened(bits), room);
        }
        self.encode(state, leaf, step, &bits.to_le_bytes()[..int.width.into()], room)
    }

    #[inline(never)]
    fn store_initial(&self, step: Step, room: &mut [u8]) -> usize {
        let value = &self.constants[usize::from(step.from)..usize::from(step.to)];
        room[..value.len()].copy_from_slice(value);
        value.len()
    }

    fn store_null(&self, step: Step, head: &mut [u8], room: &mut [u8]) -> usize {
        if self.is_binary {
            head[1 + usize::from(step.bit / 8)] |= 1 << (step.bit % 8);
            return 0;
        }
        room[0] = NULL_TEXT;
        1
    }

    fn store_encoded(
        &self,
        state: &mut ProjectionState,
        leaf: &Leaf<'_>,
        step: Step,
        cell: Cell<'_>,
        room: &mut [u8],
    ) -> usize {
        let number = if step.in_key { state.key(leaf, step, cell) } else { 0 }.to_le_bytes();
        let bytes = if step.in_key {
            &number[..8 - usize::from(step.unused / 8)]
        } else {
            cell.bytes(step.from.into(), step.to.into())
        };
        self.encode(state, leaf, step, bytes, room)
    }

    #[cold]
    #[inline(never)]
    fn store_initial_encoded(
        &self,
        state: &mut ProjectionState,
        leaf: &Leaf<'_>,
        step: Step,
        room: &mut [u8],
    ) -> usize {
        let bytes = &self.constants[usize::from(step.from)..usize::from(step.to)];
        self.encode(state, leaf, step, bytes, room)
    }

    /// Stores the value of storage `bytes` as the step's encoder shows it.
    #[inline(always)]
    fn encode(
        &self,
        state: &mut ProjectionState,
        leaf: &Leaf<'_>,
        step: Step,
        bytes: &[u8],
        room: &mut [u8],
    ) -> usize {
        let (encoder, out) = (&self.encoders[usize::from(step.arg)], &mut state.encoded);
        let empty = out.mark();
        if self.is_binary {
            encoder.put_binary(bytes, leaf.format.zone, leaf.format.charset, out);
        } else {
            encoder.put_text(bytes, leaf.format.zone, leaf.format.charset, out);
        }
        let value = out.pending();
        room[..value.len()].copy_from_slice(value);
        let stored = value.len();
        out.rewind(empty);
        stored
    }
}

impl ProjectionState {
    #[inline(always)]
    fn key(&self, leaf: &Leaf<'_>, step: Step, cell: Cell<'_>) -> u64 {
        let LeafKey { int, flip, .. } = &self.keys[usize::from(step.from)];
        int.of_cell(&leaf.records, cell) ^ flip
    }

    /// The low bits of a stored number.
    #[inline(always)]
    fn number(&self, leaf: &Leaf<'_>, step: Step, cell: Cell<'_>) -> u64 {
        if step.in_key {
            return self.key(leaf, step, cell);
        }
        cell.number(step.from, step.to - step.from)
    }
}
