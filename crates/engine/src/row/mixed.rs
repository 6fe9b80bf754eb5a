//! Secondary entries under a mixed view: the clustered record decides.
//!
//! A transaction that changed a row over a version its view does not see finds entries that a writer unknown
//! to the view has opened or closed. The version of the row that the view sees decides which of them is the
//! row's.

use page::{RowHeader, RowRef, SlotFlags};

use super::key::row_id_of;
use super::row_image::{RowImage, value_of, with_values};
use super::version::{self, Seen};
use crate::error::Result;
use crate::scan::Source;

/// Whether the version of the row that the view sees has this very entry. No page is latched.
/// Cost: a clustered lookup and the making of an entry.
#[cold]
pub(crate) fn is_entry_of_row(source: Source<'_>, entry: &RowRef<'_>) -> Result<bool> {
    let mut clustered_key = Vec::new();
    source.index.append_clustered_key(entry, &mut clustered_key);
    let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let mut image = RowImage { values: &mut values, spans: &mut spans };
    {
        let clustered = source.table.clustered();
        let Some(at) = clustered.tree.point(source.store, &clustered_key)? else { return Ok(false) };
        let (record, mut older) = (at.record(), Vec::new());
        let record =
            match version::clustered(source.trx, source.view, clustered, at.page(), &record, &mut older)? {
                Seen::Nothing => return Ok(false),
                Seen::Current => record,
                Seen::Older => record.with_payload(&older, SlotFlags::NONE),
            };
        let row = RowRef::new(&clustered.format, record);
        image.fill(&row, source.table.def.columns.len(), &mut scratch);
    }
    let (values, spans) = image.fetched(source.store, &source.index.columns)?;
    let row_id = if source.table.def.hidden_row_id { row_id_of(&clustered_key) } else { 0 };
    Ok(with_values(
        spans.len(),
        |i| value_of(&values, spans[i]),
        |row| {
            let (mut key, mut payload) = (Vec::new(), Vec::new());
            source.index.format.append_key(row, row_id, &mut key);
            source.index.format.encode(RowHeader::default(), row, &[], &mut payload);
            payload == entry.entry_body(&mut Vec::new())
                && entry.record().with_key(|entry_key| entry_key == key)
        },
    ))
}
