//! How many records lie between two keys, from the places of the keys in the tree.
//!
//! ```text
//! root         [ . a . . b . ]      2 whole subtrees between the two ways
//! inner   [ . . a . ]   [ . b . . ] 1 and 1 beside them, then 3 and 2 in the leaves
//! ```
//! A short stretch is counted. Of a long one only the leaves at its ends are read, and the inner pages above
//! them: what lies between is taken to be as full as those.

use page::PageRef;
use space::{Result, Store};

use crate::cursor::{Cursor, Seek};
use crate::links::{child_shared, root_shared};
use crate::tree::Tree;

/// Leaves that are counted record by record before the places of the keys are used.
const COUNTED_LEAVES: usize = 3;

/// About how many records a stretch of a tree has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretch {
    /// They were counted, those that are marked as deleted left out.
    Counted(u64),
    /// The part of the tree's records, 0 to 1.
    Share(f64),
}

impl Tree {
    /// Estimates how many records have keys from `lower` on and below `upper` (`None`: to the end). Cost: a
    /// descent and a leaf or a few if they are close together, else two descents more. One page is latched at
    /// a time, shared, or a page and its child.
    ///
    /// # Errors
    /// A page cannot be read; a link leads to a wrong page.
    pub fn estimate_between(&self, store: &Store, lower: &[u8], upper: Option<&[u8]>) -> Result<Stretch> {
        if upper.is_some_and(|upper| upper <= lower) {
            return Ok(Stretch::Counted(0));
        }
        if let Some(count) = self.count_between(store, lower, upper)? {
            return Ok(Stretch::Counted(count));
        }
        loop {
            let (from, to) = (self.place(store, Some(lower))?, self.place(store, upper)?);
            // The root may have got another level between the two descents.
            if from.levels.len() == to.levels.len() {
                return Ok(Stretch::Share(share(&from, &to)));
            }
        }
    }

    /// Counts the records, unless they are in many leaves.
    fn count_between(&self, store: &Store, lower: &[u8], upper: Option<&[u8]>) -> Result<Option<u64>> {
        let mut cursor = self.seek(store, lower, Seek::AtOrAfter)?;
        let mut count = 0;
        for _ in 0..COUNTED_LEAVES {
            let Some(at) = cursor else { return Ok(Some(count)) };
            let (end, is_last) = end_slot(at.page(), upper);
            count += (at.slot()..end).filter(|&slot| !at.page().is_deleted(slot)).count() as u64;
            if is_last {
                return Ok(Some(count));
            }
            cursor = Cursor::next_leaf(at)?;
        }
        Ok(None)
    }

    /// The way to `key`, or to the end.
    fn place(&self, store: &Store, key: Option<&[u8]>) -> Result<Place> {
        let mut guard = root_shared(store, self.root, self.index)?;
        let mut levels = Vec::with_capacity(usize::from(guard.page().level()) + 1);
        while !guard.page().is_leaf() {
            let page = guard.page();
            let slot = key.map_or(page.count() - 1, |key| page.child_for(key));
            levels.push((slot, page.count()));
            guard = child_shared(store, page, slot)?;
        }
        let page = guard.page();
        let slot = key.map_or(page.count(), |key| page.search_leaf(key).slot);
        levels.push((slot, page.count()));
        Ok(Place { levels })
    }
}

/// The first slot of a leaf that is not below `upper`, and whether no later leaf has records below it.
fn end_slot(page: PageRef<'_>, upper: Option<&[u8]>) -> (usize, bool) {
    match (upper, page.upper_fence()) {
        (None, fence) => (page.count(), fence.is_none()),
        (Some(upper), Some(fence)) if fence < upper => (page.count(), false),
        (Some(upper), _) => (page.search_leaf(upper).slot, true),
    }
}

/// The way to a key: slot and number of slots in each page, from the root down.
struct Place {
    levels: Vec<(usize, usize)>,
}

/// The part of the tree's records between two places, whose ways are equally long.
fn share(from: &Place, to: &Place) -> f64 {
    let ways = || from.levels.iter().zip(&to.levels).rev();
    let (mut before_from, mut before_to) = (0.0, 0.0);
    // Records below a slot of the current level.
    let mut below = 1.0;
    for (&(from_slot, from_count), &(to_slot, to_count)) in ways() {
        before_from += from_slot as f64 * below;
        before_to += to_slot as f64 * below;
        below *= ((from_count + to_count) as f64 / 2.0).max(1.0);
    }
    let share: f64 = (before_to - before_from) / below;
    share.clamp(0.0, 1.0)
}
