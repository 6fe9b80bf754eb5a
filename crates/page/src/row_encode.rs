//! Writing payloads: from storage bytes per column, and from one row format version to another.

use base::ROW_HEADER_BYTES;
use base::codec::{push_start, put_u16};

use crate::layout::{TRX_ID_BYTES, max_inline_payload};
use crate::overflow::{OVERFLOW_REF_BYTES, OverflowRef};
use crate::row::{Field, RowHeader, RowRef};
use crate::template::{OFF_PAGE, Place, RowFormat};

/// A record that stays within this many payload bytes keeps all columns; a larger one sends columns off page.
pub const INLINE_TARGET_BYTES: usize = 4096;
/// A column is sent off page only if that saves something worth a page.
const OFF_PAGE_COLUMN_MIN: usize = 256;

/// As many bytes before the variable columns are cleared by moves of a length known beforehand.
const START_BYTES: usize = 64;

/// The row is too large for a page even with every possible column off page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTooLarge {
    /// Bytes the payload needs.
    pub need: usize,
    /// Bytes it may have beside its key.
    pub limit: usize,
}

impl RowFormat {
    /// Appends the payload of a record to `out`.
    ///
    /// `values`: storage bytes by table position, `None` = NULL; positions that the payload does not hold are
    /// ignored. `header`: clustered only. `off_page`: ascending positions whose value is an encoded
    /// [`OverflowRef`]. Cost: one pass over the payload's columns; no allocation beyond `out`.
    pub fn encode(&self, header: RowHeader, values: &[Option<&[u8]>], off_page: &[u16], out: &mut Vec<u8>) {
        debug_assert_eq!(values.len(), self.columns().len(), "one value per column");
        if self.var_from() == 0 {
            return;
        }
        let start = out.len();
        out.resize(start + self.var_from(), 0);
        if self.is_clustered() {
            let header = header.encode();
            out[start..start + header.len()].copy_from_slice(&header);
        }
        for (column, value) in self.columns().iter().zip(values) {
            match (*value, column.place, column.null) {
                (None, _, Some(bit)) => out[start + usize::from(bit.byte)] |= bit.mask,
                (Some(bytes), Place::Fixed { offset, width }, _) => {
                    debug_assert_eq!(bytes.len(), usize::from(width), "fixed column of another width");
                    let at = start + usize::from(offset);
                    out[at..at + bytes.len()].copy_from_slice(bytes);
                }
                _ => {}
            }
        }
        for (ordinal, &position) in self.var_columns().iter().enumerate() {
            let value = values[usize::from(position)].unwrap_or(&[]);
            out.extend_from_slice(value);
            let is_off_page = off_page.binary_search(&position).is_ok();
            debug_assert!(!is_off_page || value.len() == OVERFLOW_REF_BYTES, "not a reference");
            let end = (out.len() - start) as u16 | if is_off_page { OFF_PAGE } else { 0 };
            put_u16(out, start + self.ends_from() + 2 * ordinal, end);
        }
    }

    /// [`RowFormat::encode`] of a row that keeps all its columns in a record with a key of `key_len` bytes,
    /// as [`RowFormat::choose_off_page`] says. False: nothing was appended. Cost: two passes over the
    /// variable columns, one over the others.
    // The other caller copies whole tables; the one that inserts rows must not pay a call for that.
    #[inline(always)]
    pub fn encode_inline(
        &self,
        header: RowHeader,
        values: &[Option<&[u8]>],
        key_len: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        debug_assert!(self.is_clustered(), "a secondary payload stays as it is");
        let (need, start) = (self.payload_len(values), out.len());
        if need > INLINE_TARGET_BYTES.min(max_inline_payload(key_len)) {
            return false;
        }
        out.reserve(need.max(START_BYTES));
        if self.var_from() <= START_BYTES {
            push_start(out, &[0; START_BYTES], self.var_from());
        } else {
            out.resize(start + self.var_from(), 0);
        }
        let fixed = &mut out[start..];
        fixed[..ROW_HEADER_BYTES].copy_from_slice(&header.encode());
        for &position in self.not_var_columns() {
            let column = &self.columns()[usize::from(position)];
            match (values[usize::from(position)], column.place, column.null) {
                (Some(bytes), Place::Fixed { offset, .. }, _) => {
                    let at = usize::from(offset);
                    match bytes.first_chunk::<4>() {
                        Some(four) if bytes.len() == 4 => fixed[at..at + 4].copy_from_slice(four),
                        _ => fixed[at..at + bytes.len()].copy_from_slice(bytes),
                    }
                }
                (None, _, Some(bit)) => fixed[usize::from(bit.byte)] |= bit.mask,
                _ => {}
            }
        }
        let mut end_at = start + self.ends_from();
        for &position in self.var_columns() {
            match values[usize::from(position)] {
                Some(bytes) => out.extend_from_slice(bytes),
                None => {
                    if let Some(bit) = self.columns()[usize::from(position)].null {
                        out[start + usize::from(bit.byte)] |= bit.mask;
                    }
                }
            }
            let end = (out.len() - start) as u16;
            put_u16(out, end_at, end);
            end_at += 2;
        }
        true
    }

    /// Payload bytes of a record whose variable columns hold `values`.
    #[inline]
    pub fn payload_len(&self, values: &[Option<&[u8]>]) -> usize {
        let variable = self.var_columns().iter().map(|&p| values[usize::from(p)].map_or(0, <[u8]>::len));
        self.var_from() + variable.sum::<usize>()
    }

    /// Which columns of a row go off page: ascending positions, usually none. Columns leave longest first
    /// until the payload is within [`INLINE_TARGET_BYTES`], and, whatever their size, until it fits beside a
    /// key of `key_len`.
    pub fn choose_off_page(&self, values: &[Option<&[u8]>], key_len: usize) -> Result<Vec<u16>, RowTooLarge> {
        let mut need = self.payload_len(values);
        let limit = max_inline_payload(key_len);
        if need <= INLINE_TARGET_BYTES.min(limit) {
            return Ok(Vec::new());
        }
        let len_of = |position: u16| values[usize::from(position)].map_or(0, <[u8]>::len);
        let mut by_length = self.var_columns().to_vec();
        by_length.sort_by_key(|&position| std::cmp::Reverse(len_of(position)));
        let mut chosen = Vec::new();
        for position in by_length {
            let len = len_of(position);
            let worth = need > INLINE_TARGET_BYTES && len >= OFF_PAGE_COLUMN_MIN;
            let forced = need > limit && len > OVERFLOW_REF_BYTES;
            if !(self.is_clustered() && (worth || forced)) {
                break;
            }
            need -= len - OVERFLOW_REF_BYTES;
            chosen.push(position);
        }
        if need > limit {
            return Err(RowTooLarge { need, limit });
        }
        chosen.sort_unstable();
        Ok(chosen)
    }
}

/// Where a column of the new version gets its value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// Position in the old version.
    Old(usize),
    /// Added since: the default, `None` = NULL.
    Added(Option<Box<[u8]>>),
    /// In the key, or not in this index: the payload has nothing of it.
    Elsewhere,
}

/// Turns records of one row format version into another's. Made once per pair of versions.
#[derive(Clone, Debug)]
pub struct RowConverter {
    sources: Box<[Source]>,
    /// Old positions of variable columns that the new version has no more.
    dropped: Box<[usize]>,
}

impl RowConverter {
    /// A converter from `old` to `new`. `default_of` gives the storage bytes that rows written before the
    /// column at a new position was added show in it.
    pub fn new(
        old: &RowFormat,
        new: &RowFormat,
        mut default_of: impl FnMut(usize) -> Option<Box<[u8]>>,
    ) -> Self {
        let find = |id| old.columns().iter().position(|column| column.id == id);
        let sources = new.columns().iter().enumerate().map(|(position, column)| match find(column.id) {
            _ if !matches!(column.place, Place::Fixed { .. } | Place::Var { .. }) => Source::Elsewhere,
            Some(old_position) => Source::Old(old_position),
            None => Source::Added(default_of(position)),
        });
        let sources = sources.collect();
        let kept = |id| new.columns().iter().any(|column| column.id == id);
        let is_var = |i: usize| matches!(old.columns()[i].place, Place::Var { .. });
        let dropped = (0..old.columns().len()).filter(|&i| is_var(i) && !kept(old.columns()[i].id)).collect();
        RowConverter { sources, dropped }
    }

    /// Appends the payload of `row` under `new` to `out`; key and marks of the record stay as they are.
    /// Off-page values of dropped columns are pushed to `freed`: the caller frees them with the page change.
    pub fn convert(
        &self,
        row: &RowRef<'_>,
        new: &RowFormat,
        out: &mut Vec<u8>,
        freed: &mut Vec<OverflowRef>,
    ) {
        let mut bytes = Vec::new();
        let mut spans = Vec::with_capacity(self.sources.len());
        let mut off_page = Vec::new();
        let mut scratch = Vec::new();
        for (position, source) in self.sources.iter().enumerate() {
            let from = bytes.len();
            let is_null = match source {
                Source::Elsewhere => true,
                Source::Added(default) => {
                    bytes.extend_from_slice(default.as_deref().unwrap_or(&[]));
                    default.is_none()
                }
                Source::Old(old) => match row.field(*old, &mut scratch) {
                    Field::Null => true,
                    Field::Bytes(value) => {
                        bytes.extend_from_slice(value);
                        false
                    }
                    Field::OffPage(reference) => {
                        bytes.extend_from_slice(&reference.encode());
                        off_page.push(position as u16);
                        false
                    }
                },
            };
            spans.push((!is_null).then_some(from..bytes.len()));
        }
        for &old in &self.dropped {
            if let Field::OffPage(reference) = row.field(old, &mut scratch) {
                freed.push(reference);
            }
        }
        if row.record().flags().has_end() {
            out.extend_from_slice(&row.record().payload()[..TRX_ID_BYTES]);
        }
        let values: Vec<_> = spans.iter().map(|span| span.clone().map(|span| &bytes[span])).collect();
        let header = if new.is_clustered() { row.header() } else { RowHeader::default() };
        new.encode(header, &values, &off_page, out);
    }
}
