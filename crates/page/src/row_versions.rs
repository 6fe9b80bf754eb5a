//! The row format versions that pages of a clustered index may have.

use std::sync::{Arc, OnceLock};

use types::{RowHistory, TableDef};

use crate::overflow::OverflowRef;
use crate::record::Record;
use crate::row::RowRef;
use crate::row_convert::{KeptValues, RowConverter};
use crate::template::RowFormat;

/// Most bytes by which records of the oldest version may grow: what a row is converted to whenever it is read
/// costs more than a rebuild if it is much. Bodies stay within what end offsets reach.
pub const GROWTH_MAX: usize = 2 << 10;

/// The versions of a clustered index's pages beside the current one. Made when its table's columns change;
/// what belongs to one older version, when a page of it is met.
#[derive(Debug)]
pub struct RowVersions {
    current: Arc<RowFormat>,
    table: TableDef,
    history: RowHistory,
    /// From the oldest on.
    older: Box<[OnceLock<OlderVersion>]>,
}

/// An older version of a table's rows.
#[derive(Debug)]
pub struct OlderVersion {
    format: RowFormat,
    converter: RowConverter,
    seen: Arc<RowFormat>,
    /// Of each column of the current version that its records lack, what they show in it.
    initials: Box<[Option<Box<[u8]>>]>,
    /// Place among the older versions.
    ordinal: usize,
}

impl RowVersions {
    /// The versions that `history` knows of the rows of `table`; `current`: its clustered index's format.
    pub fn new(table: &TableDef, history: &RowHistory, current: &Arc<RowFormat>) -> Self {
        let older = (0..history.versions(table.format_version)).map(|_| OnceLock::new()).collect();
        let (table, history) = (table.clone(), history.clone());
        RowVersions { current: Arc::clone(current), table, history, older }
    }

    /// The version that all pages come to.
    pub fn current(&self) -> &Arc<RowFormat> {
        &self.current
    }

    /// Number of older versions that pages could have when the columns last changed.
    pub fn count(&self) -> usize {
        self.older.len()
    }

    /// The older `version`; `None`: pages cannot have it. Cost: a load except for the first time.
    pub fn older(&self, version: u16) -> Option<&OlderVersion> {
        let place = self.older.get(usize::from(version.checked_sub(self.history.oldest)?))?;
        Some(place.get_or_init(|| self.make_older(version)))
    }

    /// The format of pages of `version`.
    pub fn format(&self, version: u16) -> Option<&RowFormat> {
        if version == self.current.format_version() {
            return Some(&self.current);
        }
        self.older(version).map(OlderVersion::format)
    }

    fn make_older(&self, version: u16) -> OlderVersion {
        let format = RowFormat::clustered(&self.history.table_at(&self.table, version));
        let initial = |position: usize| self.history.initial(self.table.columns[position].id);
        let is_signed = |position: usize| !self.table.columns[position].ty.unsigned;
        let converter = RowConverter::new(&format, &self.current, initial, is_signed);
        let seen = Arc::new(format.seen_from(&self.current));
        let shown = |position| (!seen.covers(position)).then(|| initial(position)).flatten().map(Box::from);
        let initials = (0..self.table.columns.len()).map(shown).collect();
        let ordinal = usize::from(version - self.history.oldest);
        OlderVersion { format, converter, seen, initials, ordinal }
    }
}

impl OlderVersion {
    /// The layout of its records.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// The layout of its records for readers: columns have the positions of the current version. Columns
    /// that came later are absent, see [`OlderVersion::initial`]; integers that are wider now have the width
    /// that they had ([`types::storage::widened`]).
    pub fn seen(&self) -> &Arc<RowFormat> {
        &self.seen
    }

    /// What its records show in the column at `position` of the current version, which they lack; `None` for
    /// NULL.
    pub fn initial(&self, position: usize) -> Option<&[u8]> {
        self.initials[position].as_deref()
    }

    /// Place among the older versions, from 0.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Appends the payload that `record`, of this version, has in the current one. Cost: see
    /// [`RowConverter::convert`].
    pub fn convert(&self, record: Record<'_>, kept: KeptValues, out: &mut Vec<u8>) {
        self.converter.convert(&RowRef::new(&self.format, record), kept, out);
    }

    /// Passes the off-page values of `record` that the current version has no more to `each`.
    pub fn dropped_values(&self, record: Record<'_>, each: impl FnMut(OverflowRef)) {
        self.converter.dropped_values(&RowRef::new(&self.format, record)).for_each(each);
    }

    /// Most bytes by which records grow when they are converted.
    pub fn growth_max(&self) -> usize {
        self.converter.growth_max()
    }
}
