//! An index of a table: definition, tree, record format.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use base::sync::{PlantedBug, planted};
use base::{Lsn, PageNo};
use btree::{Tree, TreeShape};
use page::{KeptValues, OlderVersion, PageRef, Record, RecordCopy, RowFormat, RowVersions, SlotFlags};
use types::{IndexDef, IndexKind, RowHistory, TableDef};

use crate::column_set::ColumnSet;
use crate::error::{Error, Result};

/// An index of a table.
#[derive(Debug)]
pub struct Index {
    /// Definition.
    pub def: IndexDef,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// Its records.
    pub format: Arc<RowFormat>,
    /// Data that a layer above derives from the index once per version of its table.
    pub kept: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Columns that a change of makes a new entry necessary: those of the key, the clustered key's included.
    pub(crate) columns: ColumnSet,
    /// Of the clustered index: the versions that its pages may have beside that of `format`, in terms of this
    /// definition's columns. Those of the tree may be from before columns changed places.
    pub(crate) versions: Option<Arc<RowVersions>>,
    /// Views with smaller numbers do not find what they need here: the tree was built later (error 1412).
    pub(crate) usable_from: Lsn,
}

impl Index {
    /// A handle of `def`'s tree, which exists. `history` describes rows of older versions.
    pub(crate) fn open(
        table: &TableDef,
        history: &RowHistory,
        def: &IndexDef,
        root: PageNo,
        usable_from: Lsn,
    ) -> Self {
        let format = Arc::new(format_of(table, def));
        let mut tree = Tree::open(def.id, root, shape(&format));
        if format.is_clustered() && !history.is_empty() {
            tree.versions = Some(Arc::new(RowVersions::new(table, history, &format)));
        }
        Index::new(def, Arc::new(tree), format, usable_from)
    }

    pub(crate) fn new(def: &IndexDef, tree: Arc<Tree>, format: Arc<RowFormat>, usable_from: Lsn) -> Self {
        let columns = format.key_parts().iter().filter_map(|part| part.column.map(usize::from)).collect();
        let versions = tree.versions.clone();
        Index { def: def.clone(), tree, format, kept: OnceLock::new(), columns, versions, usable_from }
    }

    /// The index in a new version of its table.
    pub(crate) fn again(&self) -> Self {
        self.redefined(&self.def)
    }

    /// The same, with the words of `def`.
    pub(crate) fn redefined(&self, def: &IndexDef) -> Self {
        let index = Index::new(def, Arc::clone(&self.tree), Arc::clone(&self.format), self.usable_from);
        Index { versions: self.versions.clone(), ..index }
    }

    /// The index with columns of types that have the same storage.
    pub(crate) fn retyped(&self, def: &IndexDef, format: RowFormat) -> Self {
        let index = Index::new(def, Arc::clone(&self.tree), Arc::new(format), self.usable_from);
        Index { versions: self.versions.clone(), ..index }
    }

    /// The index in a table whose columns have changed places.
    pub(crate) fn reordered(
        &self,
        table: &TableDef,
        history: &RowHistory,
        def: &IndexDef,
        usable_from: Lsn,
    ) -> Self {
        let format = Arc::new(format_of(table, def));
        let versions = self.versions.as_ref();
        let versions = versions.map(|_| Arc::new(RowVersions::new(table, history, &format)));
        Index { versions, ..Index::new(def, Arc::clone(&self.tree), format, usable_from) }
    }

    /// Appends the payload that `record` has in the index's row format to `out`; `page`, where it is, has
    /// an older version.
    ///
    /// # Errors
    /// [`Error::IndexDisagrees`] if no page can have that.
    #[cold]
    #[inline(never)]
    pub(crate) fn convert(&self, page: PageRef<'_>, record: Record<'_>, out: &mut Vec<u8>) -> Result<()> {
        let older = self.older(page)?;
        if planted(PlantedBug::MisreadVersion) {
            out.extend_from_slice(record.payload());
            return Ok(());
        }
        older.convert(record, KeptValues::All, out);
        Ok(())
    }

    /// The version of `page`, which is older than the index's.
    ///
    /// # Errors
    /// As [`Index::convert`].
    #[cold]
    pub(crate) fn older(&self, page: PageRef<'_>) -> Result<&OlderVersion> {
        let versions = self.versions.as_ref();
        let older = versions.and_then(|versions| versions.older(page.format_version()));
        older.ok_or(Error::IndexDisagrees { index: self.tree.index })
    }

    /// Number of row format versions beside the index's that its pages could have when this version of the
    /// table began.
    pub fn older_versions(&self) -> usize {
        self.versions.as_ref().map_or(0, |versions| versions.count())
    }

    /// Appends a copy of a record on `page` to `out`, in the index's row format.
    ///
    /// # Errors
    /// As [`Index::convert`].
    #[inline]
    pub(crate) fn copy_record(
        &self,
        page: PageRef<'_>,
        record: &Record<'_>,
        out: &mut Vec<u8>,
    ) -> Result<RecordCopy> {
        if self.tree.is_current(page) {
            return Ok(record.copy_to(out));
        }
        let mut payload = Vec::new();
        self.convert(page, *record, &mut payload)?;
        Ok(record.with_payload(&payload, SlotFlags::NONE).copy_to(out))
    }

    /// Where the columns are in the records of `page`; `None`: no page can have its version.
    pub(crate) fn format_on(&self, page: PageRef<'_>) -> Option<&RowFormat> {
        if self.tree.is_current(page) {
            return Some(&self.format);
        }
        self.tree.versions.as_ref()?.format(page.format_version())
    }

    /// Makes the pool check pages of the index when it reads them.
    pub(crate) fn register_with(&self, pool: &buffer::Pool) {
        pool.register_format(self.tree.index, &self.format, self.tree.versions.as_ref());
    }

    /// Whether two rows with equal declared key columns, none of them NULL, are refused.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.def.kind != IndexKind::Secondary
    }
}

/// Where the columns are in records of the index `def`.
pub(crate) fn format_of(table: &TableDef, def: &IndexDef) -> RowFormat {
    if def.id == table.clustered().id {
        RowFormat::clustered(table)
    } else {
        RowFormat::secondary(table, def)
    }
}

/// Shape of the tree of records of this format.
pub(crate) fn shape(format: &RowFormat) -> TreeShape {
    TreeShape { format_version: format.format_version(), fixed_key_len: format.fixed_key_len() }
}
