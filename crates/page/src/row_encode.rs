//! Writing payloads from storage bytes per column.

use base::ROW_HEADER_BYTES;
use base::codec::{push_start, put_u16};

use crate::layout::{INLINE_TARGET_BYTES, max_inline_payload};
use crate::overflow::OVERFLOW_REF_BYTES;
use crate::row::{RowHeader, RowRef};
use crate::template::{MARK, Place, RowFormat};

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
    /// [`OverflowRef`](crate::OverflowRef). Cost: one pass over the payload's columns; no allocation beyond
    /// `out`.
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
        for &position in self.not_var_columns() {
            self.encode_fixed(position, values[usize::from(position)], &mut out[start..]);
        }
        for (ordinal, &position) in self.var_columns().iter().enumerate() {
            let value = values[usize::from(position)];
            let is_off_page = off_page.binary_search(&position).is_ok();
            debug_assert!(
                !is_off_page || value.is_some_and(|value| value.len() == OVERFLOW_REF_BYTES),
                "not a reference"
            );
            self.encode_var(ordinal, value, if is_off_page { MARK } else { 0 }, start, out);
        }
    }

    /// [`RowFormat::encode`] of the entry of `row`, a record of the clustered index with all of its columns
    /// in it. `scratch` is left with anything. Cost: only the columns of the payload are read.
    #[inline]
    pub fn encode_entry_of(&self, row: &RowRef<'_>, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
        debug_assert!(!self.is_clustered() && !row.has_off_page(), "an entry of a row that is all there");
        if self.var_from() == 0 {
            return;
        }
        let start = out.len();
        out.resize(start + self.var_from(), 0);
        for &position in self.not_var_columns() {
            let value = row.column(usize::from(position), scratch);
            self.encode_fixed(position, value, &mut out[start..]);
        }
        for (ordinal, &position) in self.var_columns().iter().enumerate() {
            self.encode_var(ordinal, row.column(usize::from(position), scratch), 0, start, out);
        }
    }

    /// The value of a column of the payload that is not a variable one; `payload` is zero there.
    #[inline]
    fn encode_fixed(&self, position: u16, value: Option<&[u8]>, payload: &mut [u8]) {
        let column = &self.columns()[usize::from(position)];
        match (value, column.place, column.null) {
            (None, _, Some(bit)) => payload[usize::from(bit.byte)] |= bit.mask,
            (Some(bytes), Place::Fixed { offset, width }, _) => {
                debug_assert_eq!(bytes.len(), usize::from(width), "fixed column of another width");
                let at = usize::from(offset);
                payload[at..at + bytes.len()].copy_from_slice(bytes);
            }
            _ => {}
        }
    }

    /// Appends the value of the next variable column to the payload that begins at `start`.
    #[inline]
    fn encode_var(
        &self,
        ordinal: usize,
        value: Option<&[u8]>,
        mut mark: u16,
        start: usize,
        out: &mut Vec<u8>,
    ) {
        match (value, self.columns()[usize::from(self.var_columns()[ordinal])].null) {
            (Some(text), _) if self.append_case(ordinal as u16, text, out) => mark = MARK,
            (Some(bytes), _) => out.extend_from_slice(bytes),
            (None, Some(bit)) => out[start + usize::from(bit.byte)] |= bit.mask,
            (None, None) => {}
        }
        let end = (out.len() - start) as u16 | mark;
        put_u16(out, start + self.ends_from() + 2 * ordinal, end);
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
