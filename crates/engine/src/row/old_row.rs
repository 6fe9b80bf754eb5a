//! The row before a change: in its record while that is latched, or taken out of it.

use std::cell::OnceCell;

use page::{InBody, RowRef};
use trx::Span;

use super::key::Value;
use super::row_image::{RowImage, value_of};

/// The row before a change.
#[derive(Debug)]
pub struct OldRow<'r>(Source<'r>);

#[derive(Debug)]
enum Source<'r> {
    /// The record, none of whose values is off page.
    Record {
        row: RowRef<'r>,
        columns: usize,
        /// Taken out when a column is asked for that only the key has.
        image: OnceCell<OldImage>,
    },
    Image(&'r OldImage),
}

impl<'r> OldRow<'r> {
    /// The row of `columns` columns in its record.
    #[inline]
    pub(crate) fn in_record(row: RowRef<'r>, columns: usize) -> Self {
        OldRow(Source::Record { row, columns, image: OnceCell::new() })
    }

    /// A row that was taken out of its record.
    pub(crate) fn taken(image: &'r OldImage) -> Self {
        OldRow(Source::Image(image))
    }

    /// Whether no value is off page: then a change that leaves the row as it is counts as none, whatever
    /// [`RowChange::make`] says.
    ///
    /// [`RowChange::make`]: super::update::RowChange::make
    #[inline]
    pub fn is_whole(&self) -> bool {
        matches!(self.0, Source::Record { .. })
    }

    /// The storage bytes of a column; `None` for NULL.
    #[inline]
    pub fn get(&self, position: usize) -> Value<'_> {
        match &self.0 {
            Source::Record { row, columns, image } => match row.in_body(position) {
                InBody::At(range) => Some(&row.body()[range]),
                InBody::Null => None,
                InBody::No => image.get_or_init(|| OldImage::of(row, *columns)).whole(position),
            },
            Source::Image(image) => image.whole(position),
        }
    }
}

/// A row's values in buffers.
#[derive(Debug, Default)]
pub(crate) struct OldImage {
    pub(crate) values: Vec<u8>,
    pub(crate) spans: Vec<Span>,
    /// Whether any column is off page.
    pub(crate) off_page: bool,
    /// The image with the off-page values of indexed columns read in; `None` if there are none.
    pub(crate) fetched: Option<(Vec<u8>, Vec<Span>)>,
}

impl OldImage {
    /// A copy of the row.
    #[cold]
    fn of(row: &RowRef<'_>, columns: usize) -> Self {
        let mut copy = OldImage::default();
        RowImage { values: &mut copy.values, spans: &mut copy.spans }.fill(row, columns, &mut Vec::new());
        copy
    }

    /// As stored: off-page values are references.
    pub(crate) fn stored(&self, position: usize) -> Value<'_> {
        value_of(&self.values, self.spans[position])
    }

    /// As keys are made of.
    pub(crate) fn whole(&self, position: usize) -> Value<'_> {
        match &self.fetched {
            Some((values, spans)) => value_of(values, spans[position]),
            None => self.stored(position),
        }
    }
}
