//! Bringing leaves of older row format versions to the current one.
//!
//! All records of a leaf have one version ([`page::RowVersions`]). [`Tree::edit`] converts a leaf of an older
//! version before it returns it, so that a writer sees current leaves only. The new leaf reaches the log as
//! one image. If its records have grown too much for it, the leaf is split as it is, and its halves are
//! converted when they are met. A record that is too long for any page sends values off page first; a record
//! that is marked as deleted has none of the values that came later, as it is not read.

use std::collections::BTreeMap;

use base::PageNo;
use buffer::ExclusiveGuard;
use page::{
    Corruption, CorruptionKind, FormatPage, KeptValues, OVERFLOW_REF_BYTES, OlderVersion, OverflowRef,
    PAGE_SIZE, PageBytes, PageMut, PageOp, PageRef, Record, RowFormat, RowHeader, RowRef, RowVersions,
    max_inline_payload,
};
use space::{Error, Mtr, Result, Store};

use crate::descend::leaf_exclusive;
use crate::split;
use crate::tree::Tree;

/// References of values that were written for records which are too long: by slot and position of the
/// column.
type Moved = BTreeMap<(usize, u16), OverflowRef>;
/// A value that is to move off page: slot, position of the column, bytes.
type Value = (usize, u16, Vec<u8>);

/// Result of the conversion of a leaf.
enum Attempt {
    /// The new leaf.
    Fits(Box<PageBytes>),
    /// The records do not fit on a page.
    Full,
    /// Some records fit on no page unless these values leave them.
    TooLong(Vec<Value>),
}

impl Tree {
    /// Whether the records of `leaf`, one of this tree's, have the version of new ones. Cost: a load and a
    /// comparison.
    #[inline(always)]
    pub fn is_current(&self, leaf: PageRef<'_>) -> bool {
        leaf.format_version() == self.shape.format_version
    }

    /// Converts the leaf that `key` belongs to if it has an older version. Returns its upper fence, `None`
    /// for the last leaf, and whether it was converted. The caller holds no page latch.
    ///
    /// # Errors
    /// As [`Tree::edit`].
    pub fn convert_leaf(&self, store: &Store, key: &[u8]) -> Result<(Option<Vec<u8>>, bool)> {
        let mut is_converted = false;
        loop {
            let (leaf, _) = leaf_exclusive(store, self, key)?;
            if self.is_current(leaf.page()) {
                return Ok((leaf.page().upper_fence().map(<[u8]>::to_vec), is_converted));
            }
            self.convert(store, leaf, key)?;
            is_converted = true;
        }
    }

    /// Converts `leaf`, to which `key` belongs, or splits it, or gets ready for that: search again.
    #[cold]
    #[inline(never)]
    pub(crate) fn convert<'p>(
        &'p self,
        store: &'p Store,
        leaf: ExclusiveGuard<'p>,
        key: &[u8],
    ) -> Result<()> {
        let mut moved = Moved::new();
        match attempt(self, leaf.page(), &moved)? {
            Attempt::Fits(image) => finish(self, store, leaf, &image),
            Attempt::Full => halve(self, store, leaf, key),
            Attempt::TooLong(values) => {
                let (page_no, lsn) = (leaf.page_no(), leaf.page().lsn());
                drop(leaf);
                for (slot, position, value) in values {
                    match self.write_overflow(store, &value, |_| []) {
                        Ok(reference) => drop(moved.insert((slot, position), reference)),
                        Err(error) => return give_back(store, &moved).and(Err(error)),
                    }
                }
                let (leaf, _) = leaf_exclusive(store, self, key)?;
                if (leaf.page_no(), leaf.page().lsn()) != (page_no, lsn) {
                    drop(leaf);
                    return give_back(store, &moved);
                }
                match attempt(self, leaf.page(), &moved)? {
                    Attempt::Fits(image) => finish(self, store, leaf, &image),
                    // The halves write them again.
                    Attempt::Full | Attempt::TooLong(_) => {
                        halve(self, store, leaf, key)?;
                        give_back(store, &moved)
                    }
                }
            }
        }
    }
}

/// Splits the leaf as it is.
fn halve<'p>(tree: &Tree, store: &'p Store, leaf: ExclusiveGuard<'p>, key: &[u8]) -> Result<()> {
    let (page_no, version, count) = (leaf.page_no(), leaf.page().format_version(), leaf.page().count());
    drop(leaf);
    // A record alone on a page fits.
    if count > 1 { split::halve(tree, store, key, version) } else { Err(unknown(page_no)) }
}

/// Makes `image` the leaf, and frees the values that its records have lost.
fn finish<'p>(tree: &Tree, store: &'p Store, leaf: ExclusiveGuard<'p>, image: &PageBytes) -> Result<()> {
    let page = leaf.page();
    let mut dropped = Vec::new();
    if let Some((_, older)) = versions_of(tree, page) {
        // The values of deleted rows are freed by purge, which knows them from undo.
        let kept = (0..page.count()).filter(|&slot| !page.is_deleted(slot));
        kept.for_each(|slot| older.dropped_values(page.record(slot), |value| dropped.push(value)));
    }
    for value in &dropped {
        store.claim(value.first, value.pages);
    }
    let mut mtr = Mtr::new(store);
    let leaf = mtr.adopt(leaf);
    mtr.apply(leaf, &PageOp::image_of(PageRef::new(image)));
    mtr.commit();
    store.count_conversion();
    free_all(store, dropped.iter())
}

/// Frees a value that no record has. A crash before it is made good by the search for lost values.
fn free(store: &Store, value: &OverflowRef) -> Result<()> {
    match store.free_overflow(value, &[]) {
        // Its pages stay taken until the damage is mended.
        Err(error) if error.damaged_page().is_some() => Ok(()),
        freed => freed,
    }
}

/// # Errors
/// The first one; the others are freed all the same.
fn free_all<'v>(store: &Store, values: impl Iterator<Item = &'v OverflowRef>) -> Result<()> {
    values.map(|value| free(store, value)).fold(Ok(()), Result::and)
}

fn give_back(store: &Store, moved: &Moved) -> Result<()> {
    free_all(store, moved.values())
}

/// The versions of the tree, and that of `leaf`; `None`: it is one that no leaf can have.
fn versions_of<'t>(tree: &'t Tree, leaf: PageRef<'_>) -> Option<(&'t RowVersions, &'t OlderVersion)> {
    let versions = tree.versions.as_deref()?;
    Some((versions, versions.older(leaf.format_version())?))
}

/// The leaf as it is to be; values of `moved` are off page.
fn attempt(tree: &Tree, leaf: PageRef<'_>, moved: &Moved) -> Result<Attempt> {
    let mut image = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut image);
    page.format(&FormatPage {
        page_no: leaf.page_no(),
        level: 0,
        index_id: leaf.index_id(),
        version: leaf.version(),
        format_version: tree.shape.format_version,
        fixed_key_len: leaf.fixed_key_len(),
        lower: leaf.lower_fence(),
        upper: leaf.upper_fence(),
        right: leaf.right(),
    });
    page.raise_trx_max(leaf.trx_max());
    if leaf.count() == 0 {
        return Ok(Attempt::Fits(image));
    }
    let Some((versions, older)) = versions_of(tree, leaf) else { return Err(unknown(leaf.page_no())) };
    let (mut key, mut payload, mut too_long) = (Vec::new(), Vec::new(), Vec::new());
    for slot in 0..leaf.count() {
        let record = leaf.record(slot);
        key.clear();
        record.append_key(&mut key);
        payload.clear();
        let (is_deleted, limit) = (record.flags().is_deleted(), max_inline_payload(key.len()));
        older.convert(record, if is_deleted { KeptValues::Own } else { KeptValues::All }, &mut payload);
        if payload.len() > limit && is_deleted {
            payload.clear();
            older.convert(record, KeptValues::OffPage, &mut payload);
        } else if payload.len() > limit {
            let long = LongRecord { format: versions.current(), record, slot, key_len: key.len() };
            payload = long.shortened(&payload, moved, &mut too_long)?;
        }
        // Values are written only for a leaf that then fits.
        if page.append(&key, &payload, record.flags()).is_err() {
            return Ok(Attempt::Full);
        }
    }
    Ok(if too_long.is_empty() { Attempt::Fits(image) } else { Attempt::TooLong(too_long) })
}

/// A record that has become too long for a page.
struct LongRecord<'a> {
    format: &'a RowFormat,
    record: Record<'a>,
    slot: usize,
    key_len: usize,
}

impl LongRecord<'_> {
    /// The payload with values off page: references that are not in `moved` yet are blank, and their values
    /// are added to `missing`.
    fn shortened(&self, payload: &[u8], moved: &Moved, missing: &mut Vec<Value>) -> Result<Vec<u8>> {
        let row = RowRef::new(self.format, self.record.with_payload(payload, page::SlotFlags::NONE));
        let columns = self.format.columns().len();
        let mut values: Vec<Option<Vec<u8>>> = Vec::with_capacity(columns);
        let mut scratch = Vec::new();
        for position in 0..columns {
            values.push(row.column(position, &mut scratch).map(<[u8]>::to_vec));
        }
        let mut off_page: Vec<u16> =
            (0..columns as u16).filter(|&i| row.off_page(i.into()).is_some()).collect();
        let borrowed: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        let chosen = self.format.choose_off_page(&borrowed, self.key_len);
        let chosen = chosen.map_err(|large| Error::RecordTooLarge { need: large.need, max: large.limit })?;
        for &position in &chosen {
            let value = &mut values[usize::from(position)];
            let reference = moved.get(&(self.slot, position)).map(OverflowRef::encode);
            let whole = value.replace(reference.unwrap_or([0; OVERFLOW_REF_BYTES]).to_vec());
            if reference.is_none() {
                missing.push((self.slot, position, whole.unwrap_or_default()));
            }
        }
        off_page.extend(chosen);
        off_page.sort_unstable();
        let borrowed: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        let mut shorter = Vec::new();
        self.format.encode(RowHeader::decode(payload), &borrowed, &off_page, &mut shorter);
        Ok(shorter)
    }
}

#[cold]
fn unknown(page: PageNo) -> Error {
    Error::Corruption(Corruption { page, what: CorruptionKind::Record })
}
