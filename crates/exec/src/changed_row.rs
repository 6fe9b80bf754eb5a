//! What a changing statement needs of a row in flight: the clustered key and the old values of a target.

use crate::frame::{CurrentRow, Frame};
use crate::temp_row::CLUSTERED_KEY;

/// Appends the clustered key of relation `rel`'s row; false if an outer join left it without one.
pub(crate) fn append_key(frame: &Frame<'_>, rel: u16, key: &mut Vec<u8>) -> bool {
    match frame.find(rel) {
        Some(CurrentRow::Record(record)) => {
            record.clustered_key(key);
            true
        }
        Some(CurrentRow::Temp(temp)) => match temp.cell(rel, CLUSTERED_KEY) {
            Some((_, bytes)) => {
                key.extend_from_slice(bytes);
                true
            }
            None => false,
        },
        Some(CurrentRow::Nulls(_)) | None => false,
    }
}

/// Whether an outer join left relation `rel` without a row.
pub(crate) fn is_missing(frame: &Frame<'_>, rel: u16) -> bool {
    match frame.find(rel) {
        Some(CurrentRow::Record(_)) => false,
        Some(CurrentRow::Temp(temp)) => temp.cell(rel, CLUSTERED_KEY).is_none(),
        Some(CurrentRow::Nulls(_)) | None => true,
    }
}

/// The storage bytes of a target's column.
pub(crate) fn old_bytes<'a>(frame: &Frame<'a>, rel: u16, col: u16) -> Option<&'a [u8]> {
    match frame.find(rel)? {
        CurrentRow::Record(record) => record.reader.bytes(&record.row, usize::from(col), record.env),
        CurrentRow::Temp(temp) => temp.cell(rel, col).map(|(_, bytes)| bytes),
        CurrentRow::Nulls(_) => None,
    }
}
