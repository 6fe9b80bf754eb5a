//! Row formats: where each column of a table is in the records of one index, for one row format version.
//!
//! Resolved once per table version; a record read follows constant offsets. Payload of a record,
//! little-endian:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 6 | clustered only: id of the transaction that wrote the record |
//! | 6 | 7 | clustered only: undo pointer |
//! | H | N | null bitmap: one bit per nullable column of the payload, 1 = NULL |
//! | H + N | F | fixed-width columns, reserved even when NULL |
//! | H + N + F | 2 x V | end offset of each variable column, from the start of the body; bit 15 = marked |
//! | ... | | bytes of the variable columns |
//!
//! H is 13 in a clustered index and 0 in a secondary one. In a secondary record marked `HAS_END` a 6-byte end
//! transaction id is before all this; the *body* starts after it. Columns that can be read back from the
//! key are not in the payload. The payload orders the others by column id, so that a table's columns may
//! change places while its records stay as they are.
//!
//! The bytes of a marked column are a reference to an off-page value in a clustered index; in a secondary one
//! they are the case of a text whose letters are in the key (`crate::key_text`).

use std::ops::Range;

use base::codec::get_u16;
use base::{ColumnId, ROW_HEADER_BYTES};
use types::key::Extent;
use types::storage::{ValueRule, fixed_width};
use types::{IndexDef, IndexKind, KeyColumn, KeyEncoder, KeyPart, TableDef};

use crate::key_text::KeyText;
use crate::layout::{INLINE_TARGET_BYTES, KEY_BYTES_MAX, max_inline_payload};

/// Bytes of the invisible row id that is the clustered key of a table without one.
pub const ROW_ID_BYTES: usize = 6;
/// The format version of all secondary indexes.
const ENTRY_VERSION: u16 = 1;
/// End-offset bit of a marked column: its bytes stand for the value, which is elsewhere.
pub(crate) const MARK: u16 = 0x8000;

/// Where a column's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In key part `part` (position in [`RowFormat::key_parts`]).
    Key {
        /// Key part.
        part: u16,
    },
    /// At a constant offset of the body.
    Fixed {
        /// From the start of the body.
        offset: u16,
        /// Bytes.
        width: u16,
    },
    /// The `ordinal`-th variable column.
    Var {
        /// From 0.
        ordinal: u16,
    },
    /// Not in this index.
    Absent,
}

/// A bit of the null bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullBit {
    /// Byte of the body.
    pub byte: u16,
    /// The bit.
    pub mask: u8,
}

/// A column's place and how it is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnPlace {
    /// The column's stable id.
    pub id: ColumnId,
    /// Its bytes.
    pub place: Place,
    /// Its null bit; `None` if it is NOT NULL, or its nullness is in the key.
    pub null: Option<NullBit>,
}

/// An integer key part that is read without decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntPart {
    /// Bytes, 1..=8.
    pub width: u8,
    /// Exclusive-or of the big-endian key integer that gives the storage integer's low bits: the sign bit,
    /// and all bits when descending.
    pub flip: u64,
}

/// One part of an index's whole key: declared parts first, in secondary indexes then the clustered key's.
#[derive(Clone, Debug)]
pub struct KeyPartPlace {
    /// Position of the column; `None` for the invisible row id.
    pub column: Option<u16>,
    /// Offset in the key, if all parts before have a constant length.
    pub offset: Option<u16>,
    /// Distance of the part's start from the key's end (before a begin id), if it and all parts after it
    /// have a constant length.
    pub from_end: Option<u16>,
    /// Length in the key, if constant.
    pub len: Option<u16>,
    /// Whether a null marker byte (0 = NULL) is before the value.
    pub nullable: bool,
    /// Descending: all bytes inverted, the null marker too.
    pub desc: bool,
    /// Only a prefix of the column.
    pub prefix_len: Option<u16>,
    /// Set when the part is an integer of up to 8 bytes.
    pub int: Option<IntPart>,
    /// The code of the part; `None` if the column's type has no keys, which CREATE refuses.
    pub encoder: Option<KeyEncoder>,
}

impl KeyPartPlace {
    /// Appends the part for the storage bytes of an integer of 4 or 8 bytes: what the encoder would append,
    /// as straight code. False: it is another part, and nothing was appended.
    #[inline(always)]
    pub fn append_int(&self, storage: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(int) = self.int.filter(|_| !self.nullable) else { return false };
        if let Ok(four) = <[u8; 4]>::try_from(storage) {
            out.extend_from_slice(&(u32::from_le_bytes(four) ^ int.flip as u32).to_be_bytes());
        } else if let Ok(eight) = <[u8; 8]>::try_from(storage) {
            out.extend_from_slice(&(u64::from_le_bytes(eight) ^ int.flip).to_be_bytes());
        } else {
            return false;
        }
        true
    }
}

/// The record layout of one index under one row format version.
#[derive(Clone, Debug)]
pub struct RowFormat {
    clustered: bool,
    format_version: u16,
    columns: Box<[ColumnPlace]>,
    key_parts: Box<[KeyPartPlace]>,
    /// Columns stored in the payload as variable ones, in ordinal order.
    var_columns: Box<[u16]>,
    /// The other columns in the payload, in its order.
    not_var_columns: Box<[u16]>,
    /// See [`RowFormat::key_text`]; empty if no column has one.
    key_texts: Box<[Option<KeyText>]>,
    ends_from: u16,
    var_from: u16,
    fixed_key_len: Option<u16>,
    /// See [`RowFormat::inline_bytes_min`].
    inline_bytes_min: u16,
    /// Readable columns whose storage bytes keep a rule of their type: position, rule.
    ruled_columns: Box<[(u16, ValueRule)]>,
}

impl RowFormat {
    /// The clustered index of `table`.
    pub fn clustered(table: &TableDef) -> RowFormat {
        let parts = clustered_parts(table);
        let wanted = vec![true; table.columns.len()];
        RowFormat::build(table, true, parts, &wanted)
    }

    /// The secondary index `index` of `table`: its own columns and the clustered key's are readable from it.
    pub fn secondary(table: &TableDef, index: &IndexDef) -> RowFormat {
        let mut parts: Vec<_> = index.parts.iter().map(|part| part_of(table, *part)).collect();
        parts.extend(clustered_parts(table));
        let mut wanted = vec![false; table.columns.len()];
        for part in parts.iter().filter(|part| part.prefix_len.is_none()) {
            if let Some(column) = part.column {
                wanted[usize::from(column)] = true;
            }
        }
        RowFormat::build(table, false, parts, &wanted)
    }

    /// The format of `index`, clustered if it is `table`'s first.
    pub fn of_index(table: &TableDef, index: &IndexDef) -> RowFormat {
        if index.id == table.clustered().id || index.kind == IndexKind::Primary {
            RowFormat::clustered(table)
        } else {
            RowFormat::secondary(table, index)
        }
    }

    fn build(table: &TableDef, clustered: bool, mut parts: Vec<KeyPartPlace>, wanted: &[bool]) -> RowFormat {
        let fixed_key_len = place_parts(&mut parts);
        let mut columns: Box<[ColumnPlace]> = table
            .columns
            .iter()
            .map(|column| ColumnPlace { id: column.id, place: Place::Absent, null: None })
            .collect();
        for (i, part) in parts.iter().enumerate().filter(|(i, _)| is_readable(&parts, *i)) {
            let column = part.column.map_or(0, usize::from);
            if columns[column].place == Place::Absent {
                columns[column].place = Place::Key { part: i as u16 };
            }
        }
        let mut in_payload: Vec<usize> =
            (0..columns.len()).filter(|&i| wanted[i] && columns[i].place == Place::Absent).collect();
        in_payload.sort_by_key(|&i| columns[i].id);
        let part_len = |part: &KeyPartPlace| part.encoder.as_ref().map_or(ROW_ID_BYTES, KeyEncoder::max_len);
        let longest_key = parts.iter().map(part_len).sum::<usize>().min(KEY_BYTES_MAX);
        let null_from = if clustered { ROW_HEADER_BYTES } else { 0 };
        let nullable = in_payload.iter().filter(|&&i| table.columns[i].nullable);
        for (bit, &i) in nullable.clone().enumerate() {
            columns[i].null = Some(NullBit { byte: (null_from + bit / 8) as u16, mask: 1 << (bit % 8) });
        }
        let mut at = null_from + nullable.count().div_ceil(8);
        let (mut var_columns, mut not_var_columns) = (Vec::new(), Vec::new());
        for &i in &in_payload {
            if let Some(width) = fixed_width(&table.columns[i].ty) {
                columns[i].place = Place::Fixed { offset: offset(at), width: width as u16 };
                at += width;
                not_var_columns.push(i as u16);
            } else {
                columns[i].place = Place::Var { ordinal: var_columns.len() as u16 };
                var_columns.push(i as u16);
            }
        }
        let key_texts = if clustered { Box::default() } else { KeyText::of_columns(&parts, &var_columns) };
        let ruled_columns = (0u16..)
            .zip(&table.columns)
            .filter(|(i, _)| columns[usize::from(*i)].place != Place::Absent)
            .map(|(i, column)| (i, ValueRule::of(&column.ty)))
            .filter(|(_, rule)| !rule.is_none())
            .collect();
        RowFormat {
            clustered,
            // Entries have none of the columns that come and go.
            format_version: if clustered { table.format_version } else { ENTRY_VERSION },
            columns,
            key_parts: parts.into(),
            // A row whose columns end where no offset reaches fits no page: it is refused before it is
            // written.
            ends_from: offset(at),
            var_from: offset(at + 2 * var_columns.len()),
            var_columns: var_columns.into(),
            not_var_columns: not_var_columns.into(),
            key_texts,
            fixed_key_len,
            inline_bytes_min: INLINE_TARGET_BYTES.min(max_inline_payload(longest_key)) as u16,
            ruled_columns,
        }
    }

    /// The layout of these records for readers that address columns by their positions in `current`, a later
    /// version of the same index. Columns that came later are absent; those that `current` lacks have no
    /// position.
    pub(crate) fn seen_from(&self, current: &RowFormat) -> RowFormat {
        let place = |column: &ColumnPlace| {
            let before = self.columns.iter().find(|before| before.id == column.id);
            before.copied().unwrap_or(ColumnPlace { place: Place::Absent, null: None, ..*column })
        };
        RowFormat {
            columns: current.columns.iter().map(place).collect(),
            key_parts: current.key_parts.clone(),
            var_columns: Box::default(),
            not_var_columns: Box::default(),
            key_texts: Box::default(),
            ruled_columns: Box::default(),
            ..*self
        }
    }

    /// Whether a record of `old`, except for its row header, is that of the same row in this format. Both are
    /// of clustered indexes whose keys have the same bytes. `kept`: for each column, by position, the one of
    /// `old` whose bytes it has.
    pub fn has_records_of(&self, old: &RowFormat, kept: &[Option<u16>]) -> bool {
        debug_assert!(self.clustered && old.clustered, "entries have the columns of their index alone");
        let is_in_place = |(column, kept): (&ColumnPlace, &Option<u16>)| {
            kept.map(|at| &old.columns[usize::from(at)])
                .is_some_and(|before| (before.place, before.null) == (column.place, column.null))
        };
        self.columns.len() == old.columns.len() && self.columns.iter().zip(kept).all(is_in_place)
    }

    /// Whether this is the clustered index.
    #[inline]
    pub fn is_clustered(&self) -> bool {
        self.clustered
    }

    /// The row format version that pages of these records carry.
    #[inline]
    pub fn format_version(&self) -> u16 {
        self.format_version
    }

    /// Place of every column of the table, by position.
    #[inline]
    pub fn columns(&self) -> &[ColumnPlace] {
        &self.columns
    }

    /// Whether the column at `position` can be read from this index.
    #[inline]
    pub fn covers(&self, position: usize) -> bool {
        self.columns[position].place != Place::Absent
    }

    /// Parts of the whole key, in order.
    #[inline]
    pub fn key_parts(&self) -> &[KeyPartPlace] {
        &self.key_parts
    }

    /// Bytes of every key without its begin id, if constant: what leaf pages of the tree are formatted with.
    #[inline]
    pub fn fixed_key_len(&self) -> Option<u16> {
        self.fixed_key_len
    }

    /// Payload bytes up to which a record keeps all of its columns, whatever its key: beside a long one it
    /// has less room than other records.
    #[inline]
    pub fn inline_bytes_min(&self) -> usize {
        usize::from(self.inline_bytes_min)
    }

    /// Whether a clustered record has all of its values on its page, and one of the same row is sure to have
    /// so beside any key; `body`: the record's body, and perhaps more. Cost: a load for each variable column.
    #[inline]
    pub fn is_inline(&self, body: &[u8]) -> bool {
        // The mark of an off-page value is above all lengths.
        let (ends, _) = body[self.ends_from()..self.var_from()].as_chunks();
        ends.iter().all(|end| u16::from_le_bytes(*end) <= self.inline_bytes_min)
    }

    /// Table positions of the variable columns in the payload, by ordinal.
    #[inline]
    pub fn var_columns(&self) -> &[u16] {
        &self.var_columns
    }

    /// Table positions of the other columns in the payload.
    #[inline]
    pub(crate) fn not_var_columns(&self) -> &[u16] {
        &self.not_var_columns
    }

    /// Table positions of readable columns whose storage bytes are not just any, and the rules that they
    /// keep.
    #[inline]
    pub(crate) fn ruled_columns(&self) -> &[(u16, ValueRule)] {
        &self.ruled_columns
    }

    /// Where the key has the letters of variable column `ordinal`, if entries may keep only their case beside
    /// it: its mark says which do.
    #[inline]
    pub fn key_text(&self, ordinal: u16) -> Option<&KeyText> {
        self.key_texts.get(usize::from(ordinal))?.as_ref()
    }

    /// Whether [`RowFormat::key_text`] gives a place for some column.
    #[inline]
    pub fn has_key_texts(&self) -> bool {
        !self.key_texts.is_empty()
    }

    /// The format of entries from before format 3 of the data directory.
    #[cfg(test)]
    pub(crate) fn without_key_texts(&self) -> RowFormat {
        RowFormat { key_texts: Box::default(), ..self.clone() }
    }

    /// First byte of the end offsets in the body; the fixed columns end here.
    #[inline]
    pub fn ends_from(&self) -> usize {
        usize::from(self.ends_from)
    }

    /// First byte of variable data in the body.
    #[inline]
    pub fn var_from(&self) -> usize {
        usize::from(self.var_from)
    }

    /// The bytes of the variable column `ordinal` in a body, and whether it is marked.
    #[inline]
    pub fn var<'a>(&self, body: &'a [u8], ordinal: u16) -> (&'a [u8], bool) {
        let (range, marked) = self.var_range(body, ordinal);
        (&body[range], marked)
    }

    /// Where in a body the bytes of the variable column `ordinal` are, and whether it is marked.
    #[inline]
    pub(crate) fn var_range(&self, body: &[u8], ordinal: u16) -> (Range<usize>, bool) {
        let end_at = self.ends_from() + 2 * usize::from(ordinal);
        let start = match ordinal {
            0 => self.var_from(),
            _ => usize::from(get_u16(body, end_at - 2) & !MARK),
        };
        let end = get_u16(body, end_at);
        (start..usize::from(end & !MARK), end & MARK != 0)
    }

    /// Where a variable column ends in a body, by the bytes of its end offset.
    #[inline(always)]
    pub fn var_end(offset: [u8; 2]) -> usize {
        usize::from(u16::from_le_bytes(offset) & !MARK)
    }

    /// Appends the whole key of a row to `out`, without a begin id. `values`: storage bytes by table
    /// position; `row_id`: the invisible row id, ignored by tables that have a key. Answers whether any part
    /// was cut, so that equal keys may belong to different values.
    #[inline]
    pub fn append_key(&self, values: &[Option<&[u8]>], row_id: u64, out: &mut Vec<u8>) -> Extent {
        let mut extent = Extent::Whole;
        for part in &self.key_parts {
            match (part.column, &part.encoder) {
                (Some(column), Some(encoder)) => {
                    if encoder.append(values[usize::from(column)], out) == Extent::Cut {
                        extent = Extent::Cut;
                    }
                }
                (None, _) => out.extend_from_slice(&row_id.to_be_bytes()[8 - ROW_ID_BYTES..]),
                (Some(column), None) => debug_assert!(false, "column {column} has no keys"),
            }
        }
        extent
    }

    /// Whether every record's body is empty.
    #[inline]
    pub fn has_no_payload(&self) -> bool {
        self.var_from == 0
    }

    /// Whether a record's body is always [`RowFormat::var_from`] bytes long.
    #[inline]
    pub(crate) fn is_fixed_size(&self) -> bool {
        self.var_columns.is_empty()
    }
}

/// An offset in a body, the largest there is if it is beyond.
fn offset(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// Gives every part its constant offset from either end; the whole key's constant length if it has one.
fn place_parts(parts: &mut [KeyPartPlace]) -> Option<u16> {
    let mut from_end = Some(0u16);
    for part in parts.iter_mut().rev() {
        from_end = from_end.zip(part.len).map(|(behind, len)| behind + len);
        part.from_end = from_end;
    }
    let mut offset = Some(0u16);
    for part in parts {
        part.offset = offset;
        offset = offset.zip(part.len).map(|(offset, len)| offset + len);
    }
    offset
}

/// Whether the storage bytes of part `i`'s column can be had from the key.
fn is_readable(parts: &[KeyPartPlace], i: usize) -> bool {
    let part = &parts[i];
    let found = part.offset.is_some() || part.from_end.is_some();
    let walkable = parts[..i].iter().all(|before| before.encoder.is_some());
    let reversible = part.encoder.is_some_and(|encoder| encoder.is_reversible());
    part.column.is_some() && part.prefix_len.is_none() && reversible && (found || walkable)
}

fn clustered_parts(table: &TableDef) -> Vec<KeyPartPlace> {
    if !table.hidden_row_id {
        return table.clustered().parts.iter().map(|part| part_of(table, *part)).collect();
    }
    vec![KeyPartPlace {
        column: None,
        offset: None,
        from_end: None,
        len: Some(ROW_ID_BYTES as u16),
        nullable: false,
        desc: false,
        prefix_len: None,
        int: Some(IntPart { width: ROW_ID_BYTES as u8, flip: 0 }),
        encoder: None,
    }]
}

fn part_of(table: &TableDef, part: KeyPart) -> KeyPartPlace {
    let column = &table.columns[usize::from(part.column)];
    let encoder = KeyColumn {
        ty: column.ty.clone(),
        nullable: column.nullable,
        desc: part.desc,
        prefix_len: part.prefix_len,
    }
    .encoder();
    KeyPartPlace {
        column: Some(part.column),
        offset: None,
        from_end: None,
        len: encoder.and_then(|encoder| encoder.fixed_len()).map(|len| len as u16),
        nullable: column.nullable,
        desc: part.desc,
        prefix_len: part.prefix_len,
        int: encoder.and_then(|encoder| int_part(&encoder, column.nullable, part.desc)),
        encoder,
    }
}

/// How to read an integer part without its encoder. Decoding an all-zero part shows the bits that decoding
/// flips.
fn int_part(encoder: &KeyEncoder, nullable: bool, desc: bool) -> Option<IntPart> {
    if !encoder.is_integer() {
        return None;
    }
    let width = encoder.fixed_len()? - usize::from(nullable);
    let mut zero = vec![if desc { 0xfe } else { 1 }; usize::from(nullable)];
    zero.resize(zero.len() + width, 0);
    let flip = encoder.decode_int(&zero)? as u64 & (u64::MAX >> (64 - 8 * width));
    Some(IntPart { width: width as u8, flip })
}
