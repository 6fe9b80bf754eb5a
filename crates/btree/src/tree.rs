//! A tree's handle and its operations.

use std::sync::Arc;

use base::{IndexId, PageNo};
use page::{FormatPage, PageOp, RowVersions};
use space::{Error, Locality, Mtr, Result, Store};

use crate::cursor::{Cursor, Position, Seek};
use crate::descend;
use crate::directory::{Hint, LeafDirectory};
use crate::end_hint::EndHint;
use crate::leaf_edit::{LeafEdit, has_room};
use crate::split;

/// Longest key of a record, a begin id included.
pub const KEY_BYTES_MAX: usize = page::KEY_BYTES_MAX;

/// Most bytes of key and payload together that any page can take beside two fences of [`KEY_BYTES_MAX`].
pub const RECORD_BYTES_MAX: usize = 9600;

const _: () = assert!(
    page::HEADER_BYTES + page::OWN_PREFIX_BYTES_MAX + 2 * KEY_BYTES_MAX + RECORD_BYTES_MAX + 4 + 2 * 6
        <= page::PAGE_SIZE,
    "a record alone on a page fits"
);

/// What the pages of a tree have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Format version of the rows to come, in the headers of new leaves.
    pub format_version: u16,
    /// Length of every key without a begin id, if all have one length.
    pub fixed_key_len: Option<u16>,
}

/// A B+-tree: a handle without latches or pages. The root's page number never changes, so a handle stays good
/// until the tree is dropped. Use one handle per tree and share it: it remembers where ascending inserts go
/// and where leaves begin.
#[derive(Debug)]
pub struct Tree {
    /// The tree's id, in the header of each of its pages.
    pub index: IndexId,
    /// Its root.
    pub root: PageNo,
    /// Shape of new pages.
    pub shape: TreeShape,
    /// The versions that its leaves may have beside that of the shape; `None`: no other.
    pub versions: Option<Arc<RowVersions>>,
    pub(crate) end_hint: EndHint,
    pub(crate) directory: LeafDirectory,
}

/// Where the record of a key may be, of the tree that was asked. Good for that key, at any later time.
#[derive(Clone, Copy, Debug)]
pub struct LeafHint<'t>(Option<Hint<'t>>);

impl Tree {
    /// A handle of a tree that exists.
    pub fn open(index: IndexId, root: PageNo, shape: TreeShape) -> Self {
        let (end_hint, directory) = (EndHint::default(), LeafDirectory::default());
        Tree { index, root, shape, versions: None, end_hint, directory }
    }

    /// Makes an empty tree: one leaf, which stays the root.
    pub fn create(store: &Store, index: IndexId, shape: TreeShape) -> Result<Self> {
        let mut mtr = Mtr::new(store);
        let [root] = mtr.allocate(index, Locality::Shared)?;
        let format = FormatPage {
            page_no: root.page_no,
            level: 0,
            index_id: index,
            version: root.version,
            format_version: shape.format_version,
            fixed_key_len: shape.fixed_key_len,
            lower: &[],
            upper: None,
            right: PageNo::NONE,
        };
        mtr.apply(root.at, &PageOp::Format(format));
        mtr.commit();
        Ok(Tree::open(index, root.page_no, shape))
    }

    /// The record with exactly this key, its leaf latched shared. Cost: one latch pair and search where the
    /// leaf directory has the leaf, else one a level; no allocation.
    #[inline]
    pub fn point<'p>(&self, store: &'p Store, key: &[u8]) -> Result<Option<Position<'p>>> {
        self.point_with_hint(self.prefetch_leaf(store, key), store, key)
    }

    /// [`Tree::point`] with the hint that [`Tree::prefetch_leaf`] returned for `key`.
    #[inline]
    pub fn point_with_hint<'p>(
        &self,
        hint: LeafHint<'_>,
        store: &'p Store,
        key: &[u8],
    ) -> Result<Option<Position<'p>>> {
        let (leaf, at) = descend::leaf_shared_by(hint.0, store, self, key)?;
        Ok(at.found.then(|| Position::new(leaf, at.slot)))
    }

    /// Prefetches the leaf of `key` for a lookup that follows soon, and returns where it may be. Cost: about
    /// 60 instructions, few where the leaf directory is empty.
    #[inline]
    pub fn prefetch_leaf(&self, store: &Store, key: &[u8]) -> LeafHint<'_> {
        let hint = self.directory.hint(key);
        if let Some(hint) = hint {
            LeafDirectory::prefetch(hint, store);
        }
        LeafHint(hint)
    }

    /// A cursor on the record that `seek` wants, its leaf latched shared; `None` if there is none.
    #[inline]
    pub fn seek<'p>(&'p self, store: &'p Store, key: &[u8], seek: Seek) -> Result<Option<Cursor<'p>>> {
        Cursor::open(store, self, key, seek)
    }

    /// Latches the leaf that `key` belongs to exclusively, with room for `need` bytes: the most that key and
    /// payload of an insertion, or of a record that grows, may take together; 0 if nothing will grow. A full
    /// leaf is split first, by a mini-transaction of its own, and one of an older row format version
    /// converted. The caller holds no page latch.
    ///
    /// # Errors
    /// [`Error::RecordTooLarge`] if no page can take `need` bytes, or the key is longer than
    /// [`KEY_BYTES_MAX`].
    #[inline]
    pub fn edit<'p>(&'p self, store: &'p Store, key: &'p [u8], need: usize) -> Result<LeafEdit<'p>> {
        self.edit_reclaiming(store, key, need, |_| false)
    }

    /// [`Tree::edit`] beside that of another tree's leaf, with which it is committed:
    /// [`LeafEdit::write_both`]. It waits for nothing, and splits nothing. `None`: commit the other first.
    #[inline]
    pub fn edit_beside<'p>(
        &'p self,
        first: &mut LeafEdit<'_>,
        store: &'p Store,
        key: &'p [u8],
        need: usize,
    ) -> Option<LeafEdit<'p>> {
        let (leaf, at) = self.directory.try_exclusive(store, self, key)?;
        (self.is_current(leaf.page()) && has_room(leaf.page(), key, at, need))
            .then(|| LeafEdit::beside(first, self, store, leaf, key, at))
    }

    /// [`Tree::edit`] that calls `reclaim` with a full leaf before it splits the leaf. `reclaim` returns
    /// whether it removed and committed something; the leaf is then searched again.
    #[inline]
    pub fn edit_reclaiming<'p>(
        &'p self,
        store: &'p Store,
        key: &'p [u8],
        need: usize,
        reclaim: impl Fn(LeafEdit<'p>) -> bool,
    ) -> Result<LeafEdit<'p>> {
        if need > RECORD_BYTES_MAX || key.len() > KEY_BYTES_MAX {
            return Err(too_large(need.max(key.len())));
        }
        loop {
            let (leaf, at) = match self.remembered_leaf(store, key) {
                Some(found) => found,
                None => descend::leaf_exclusive(store, self, key)?,
            };
            if !self.is_current(leaf.page()) {
                self.convert(store, leaf, key)?;
                continue;
            }
            if has_room(leaf.page(), key, at, need) {
                return Ok(LeafEdit::new(self, store, leaf, key, at));
            }
            if !reclaim(LeafEdit::new(self, store, leaf, key, at)) {
                split::make_room(self, store, key, need)?;
            }
        }
    }
}

#[cold]
fn too_large(need: usize) -> Error {
    Error::RecordTooLarge { need, max: RECORD_BYTES_MAX }
}
