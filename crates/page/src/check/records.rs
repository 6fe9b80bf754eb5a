//! Records of a leaf against their row format.

use base::TrxId;
use base::codec::{get_u16, get_u48};

use crate::corruption::{Corruption, CorruptionKind};
use crate::layout::{
    CELL_HAS_BEGIN, CELL_LEN, HEAD_BYTES, HEADER_BYTES, SLOT_OFFSET, SlotFlags, TRX_ID_BYTES,
};
use crate::overflow::{OVERFLOW_REF_BYTES, OverflowRef};
use crate::page_ref::PageRef;
use crate::record::Record;
use crate::row::RowRef;
use crate::template::{MARK, Place, ROW_ID_BYTES, RowFormat};

/// Every record of a leaf against its row format: parts of the key, null bitmap, fixed columns, ascending end
/// offsets within the payload, references to values off page, transaction ids, and values that are some of
/// their type. After it the columns of each record can be read. [`super::verify_on_read`] has accepted the
/// page. Cost: about 25 instructions an entry of fixed size, 100 a row with two variable columns; more for
/// variable keys, begin and end ids, and types with rules.
pub fn check_records(page: PageRef<'_>, format: &RowFormat) -> Result<(), Corruption> {
    if page.format_version() != format.format_version() || page.fixed_key_len() != format.fixed_key_len() {
        return Err(Corruption { page: page.page_no(), what: CorruptionKind::Record });
    }
    let mut others = Others { page, format, scratch: Vec::new() };
    let key_len = format.fixed_key_len().filter(|_| format.ruled_columns().is_empty());
    let Some(key_len) = key_len else { return (0..page.count()).try_for_each(|slot| others.look_at(slot)) };
    // What header and format say is read once for records as most are.
    let suffix_len = usize::from(key_len).saturating_sub(page.prefix_len() + HEAD_BYTES);
    let (bytes, trx_max, is_clustered) = (page.0, page.trx_max(), format.is_clustered());
    let bounds = BodyBounds::of(format);
    // An entry of fixed size is sound if its cell is as long as all are.
    let entry_cell = 2 + format.var_from() + suffix_len;
    let is_entry = !is_clustered && format.is_fixed_size();
    let from = HEADER_BYTES + 4 * page.cap();
    let (slots, _) = bytes[from..from + 2 * page.count()].as_chunks::<2>();
    for (slot, word) in slots.iter().enumerate() {
        let word = u16::from_le_bytes(*word);
        let off = usize::from(word & SLOT_OFFSET);
        let cell = get_u16(bytes, off);
        if is_entry && usize::from(cell) == entry_cell && word & SlotFlags::HAS_END.bits() == 0 {
            continue;
        }
        let end = (off + usize::from(cell & CELL_LEN)).saturating_sub(suffix_len);
        let is_plain = word & SlotFlags::HAS_END.bits() == 0
            && cell & CELL_HAS_BEGIN == 0
            && bytes.get(off + 2..end).is_some_and(|body| {
                bounds.has_sound_ends(body) && (!is_clustered || TrxId(get_u48(body, 0)) <= trx_max)
            });
        if !is_plain {
            others.look_at(slot)?;
        }
    }
    Ok(())
}

/// Whether a record of `key` and `payload`, which was put together from undo, fits its row format: what
/// [`check_records`] asks, except for transaction ids. After it the columns can be read.
pub fn fits_format(key: &[u8], payload: &[u8], flags: SlotFlags, format: &RowFormat) -> bool {
    let record = Record { prefix: key, head: 0, rest_len: 0, suffix: &[], payload, flags };
    has_sound_marks(&record, format)
        && key_fits_format(key, flags, format)
        && BodyBounds::of(format).has_sound_ends(body_of(&record))
        && has_sound_values(&record, format, &mut Vec::new())
}

/// Whether `key` is made of the parts that keys of the row format have.
pub fn key_fits_format(key: &[u8], flags: SlotFlags, format: &RowFormat) -> bool {
    let begin = if flags.has_begin() { TRX_ID_BYTES } else { 0 };
    if let Some(len) = format.fixed_key_len() {
        return key.len() == usize::from(len) + begin;
    }
    let (prefix, payload) = (key, &[][..]);
    has_sound_key(&Record { prefix, head: 0, rest_len: 0, suffix: &[], payload, flags }, format)
}

/// Whether `bytes` are a reference to a value off page.
pub fn is_overflow_reference(bytes: &[u8]) -> bool {
    is_reference(Some(bytes))
}

/// Records that are not as most are: with a begin or end id, a key of variable length, or types with rules;
/// or damaged.
struct Others<'a> {
    page: PageRef<'a>,
    format: &'a RowFormat,
    scratch: Vec<u8>,
}

impl Others<'_> {
    fn look_at(&mut self, slot: usize) -> Result<(), Corruption> {
        let (page, format) = (self.page, self.format);
        let fail = |what| Err(Corruption { page: page.page_no(), what });
        let record = page.record(slot);
        let is_sound = has_sound_marks(&record, format)
            && has_sound_key(&record, format)
            && BodyBounds::of(format).has_sound_ends(body_of(&record))
            && has_sound_values(&record, format, &mut self.scratch);
        if !is_sound {
            return fail(CorruptionKind::Record);
        }
        if !has_known_writers(&record, format, page.trx_max()) {
            return fail(CorruptionKind::Writer);
        }
        Ok(())
    }
}

/// Where end offsets and variable columns begin in a body.
struct BodyBounds<'f> {
    ends_from: usize,
    var_from: usize,
    format: &'f RowFormat,
}

impl<'f> BodyBounds<'f> {
    fn of(format: &'f RowFormat) -> Self {
        BodyBounds { ends_from: format.ends_from(), var_from: format.var_from(), format }
    }

    /// The columns that are stored in the body are where its end offsets say, one after the other.
    #[inline(always)]
    fn has_sound_ends(&self, body: &[u8]) -> bool {
        let Some(ends) = body.get(self.ends_from..self.var_from) else { return false };
        let mut end = self.var_from;
        let mut marks = 0;
        for word in ends.as_chunks::<2>().0 {
            let word = u16::from_le_bytes(*word);
            let next = usize::from(word & !MARK);
            if next < end {
                return false;
            }
            marks |= word;
            end = next;
        }
        end == body.len() && (marks & MARK == 0 || self.has_sound_marks(body, ends))
    }

    /// Whether marked columns have bytes that stand for a value elsewhere, those of an entry the case of a
    /// text, which any bytes are. The ends are sound.
    #[cold]
    fn has_sound_marks(&self, body: &[u8], ends: &[u8]) -> bool {
        let mut from = self.var_from;
        ends.as_chunks::<2>().0.iter().zip(0u16..).all(|(word, ordinal)| {
            let word = u16::from_le_bytes(*word);
            let to = usize::from(word & !MARK);
            let bytes = &body[from..to];
            from = to;
            word & MARK == 0
                || if self.format.is_clustered() {
                    is_reference(Some(bytes))
                } else {
                    self.format.key_text(ordinal).is_some()
                }
        })
    }
}

/// The payload after an end id. [`has_sound_marks`] has seen that it is there.
fn body_of<'a>(record: &Record<'a>) -> &'a [u8] {
    let skip = if record.flags().has_end() { TRX_ID_BYTES } else { 0 };
    &record.payload()[skip..]
}

/// Begin and end ids are a secondary entry's, and the end id is there.
fn has_sound_marks(record: &Record<'_>, format: &RowFormat) -> bool {
    let (flags, clustered) = (record.flags(), format.is_clustered());
    if flags.has_end() {
        return !clustered && record.payload().len() >= TRX_ID_BYTES;
    }
    !(clustered && flags.has_begin())
}

/// No id is above the highest one of the page. [`BodyBounds`] has bounded the body.
fn has_known_writers(record: &Record<'_>, format: &RowFormat, trx_max: TrxId) -> bool {
    let row = RowRef::new(format, *record);
    if format.is_clustered() {
        return row.trx() <= trx_max;
    }
    row.begin_trx() <= trx_max && row.end_trx().is_none_or(|end| end <= trx_max)
}

/// The parts of the key are as long as the key. Keys of one length are, if they have the length.
fn has_sound_key(record: &Record<'_>, format: &RowFormat) -> bool {
    if format.fixed_key_len().is_some() {
        return true;
    }
    let Some(len) = record.key_len().checked_sub(if record.flags().has_begin() { TRX_ID_BYTES } else { 0 })
    else {
        return false;
    };
    record.with_key(|key| {
        let mut at = 0;
        for part in format.key_parts() {
            if at > len || at == len && part.len != Some(0) {
                return false;
            }
            at += part.encoder.map_or(ROW_ID_BYTES, |encoder| encoder.skip(&key[at..]));
        }
        at == len
    })
}

/// Whether the bytes of a column refer to a value off page.
fn is_reference(bytes: Option<&[u8]>) -> bool {
    let Some(bytes) = bytes.filter(|bytes| bytes.len() == OVERFLOW_REF_BYTES) else { return false };
    let OverflowRef { len, first, pages, .. } = OverflowRef::decode(bytes);
    !first.is_none() && first.0.checked_add(pages).is_some() && OverflowRef::pages_of(len) == Some(pages)
}

/// The values keep the rules of their types. Those of the body are bounded by [`BodyBounds`], those of the
/// key by [`has_sound_key`].
fn has_sound_values(record: &Record<'_>, format: &RowFormat, scratch: &mut Vec<u8>) -> bool {
    if format.ruled_columns().is_empty() {
        return true;
    }
    let row = RowRef::new(format, *record);
    format.ruled_columns().iter().all(|(position, rule)| {
        let position = usize::from(*position);
        match format.columns()[position].place {
            _ if row.is_null(position) => true,
            Place::Fixed { offset, width } => {
                let offset = usize::from(offset);
                rule.is_kept_by(&row.body()[offset..offset + usize::from(width)])
            }
            Place::Key { .. } => row.column(position, scratch).is_none_or(|bytes| rule.is_kept_by(bytes)),
            Place::Var { .. } | Place::Absent => true,
        }
    })
}
