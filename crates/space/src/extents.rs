//! Which pages of the data file are in use, and by which tree: the allocation state in memory.
//!
//! Pure bookkeeping without I/O. [`crate::space`] keeps the extent map pages equal to it.
//!
//! ```text
//!   free  --take-->  shared (small trees, single pages)  --last page freed-->  free
//!     '----take-->  owned by one tree                    --last page freed-->  free
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{IndexId, Lsn, PageNo, invariant};
use page::{EXTENT_PAGES, ExtentEntry, ExtentState};

use crate::error::Result;
use crate::extent_no::{ExtentNo, bit_of, extent_of};
use crate::garbage::GarbageBits;
use crate::shared_owners::SharedOwners;
use crate::unclaimed::Unclaimed;

/// Gives an extent that is a hole in the file its disk space back, before its pages are given out.
pub(crate) type Fill<'f> = &'f mut dyn FnMut(ExtentNo) -> Result<()>;

/// Where a tree's next page comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// From an extent shared by small trees.
    Shared,
    /// From an extent of the tree's own.
    Own,
}

/// The extents of one tree.
#[derive(Debug, Default)]
struct Segment {
    all: BTreeSet<ExtentNo>,
    /// Those with a free page.
    open: BTreeSet<ExtentNo>,
}

/// All extents of the file.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    states: Vec<ExtentEntry>,
    free: BTreeSet<ExtentNo>,
    /// Free extents with disk space that are given out to rollbacks alone, and how many there are to be.
    withheld: BTreeSet<ExtentNo>,
    withheld_max: usize,
    /// Shared extents with a free page.
    shared_open: BTreeSet<ExtentNo>,
    segments: BTreeMap<IndexId, Segment>,
    shared_owners: SharedOwners,
    /// Whether the pages that were in use at startup have been asked.
    has_learned_owners: bool,
    /// Free extents whose old bytes still take disk space, by when they were freed.
    unpunched: BTreeSet<(Lsn, ExtentNo)>,
    /// Extents in which something was marked since startup (`crate::garbage`).
    garbage: Arc<GarbageBits>,
    /// Extents with the map's bit that were not swept since startup.
    unswept: BTreeSet<ExtentNo>,
    /// Of those: extents whose sweep met a locked table. They have their turn after all others.
    postponed: BTreeSet<ExtentNo>,
    /// The extent that is being swept.
    sweeping: Option<ExtentNo>,
    /// Pages that a search for lost ones asks about (`crate::claims`).
    unclaimed: Unclaimed,
}

impl Extents {
    /// How many extents the file has.
    pub(crate) fn len(&self) -> u32 {
        self.states.len() as u32
    }

    /// The state of an extent.
    pub(crate) fn get(&self, extent: ExtentNo) -> ExtentEntry {
        self.states[extent as usize]
    }

    /// The tree that has a page, if that is known.
    pub(crate) fn owner_of(&self, page: PageNo) -> Option<IndexId> {
        let entry = self.states.get(extent_of(page) as usize)?;
        match entry.state {
            ExtentState::Tree | ExtentState::Overflow => Some(entry.index_id),
            ExtentState::Shared => self.shared_owners.owner_of(page),
            ExtentState::Free | ExtentState::System => None,
        }
    }

    /// Adds the next extent of the file, in the state that its map page has.
    pub(crate) fn push(&mut self, state: ExtentEntry) {
        let extent = self.len();
        self.states.push(state);
        if state.garbage {
            self.unswept.insert(extent);
        }
        match state.state {
            ExtentState::Free => {
                self.free.insert(extent);
                // An extent that was never used has no bytes on disk.
                if state.freed_at != Lsn(0) && !state.hole {
                    self.unpunched.insert((state.freed_at, extent));
                }
            }
            ExtentState::Tree | ExtentState::Overflow => {
                self.segments.entry(state.index_id).or_default().all.insert(extent);
            }
            ExtentState::Shared | ExtentState::System => {}
        }
        self.sort_in(extent);
    }

    /// Puts the extent into the set of those with a free page, or takes it out.
    fn sort_in(&mut self, extent: ExtentNo) {
        let ExtentEntry { state, index_id, used, .. } = self.states[extent as usize];
        let open = match state {
            ExtentState::Free | ExtentState::System => return,
            ExtentState::Shared => &mut self.shared_open,
            ExtentState::Tree | ExtentState::Overflow => &mut self.segments.entry(index_id).or_default().open,
        };
        if used == u64::MAX {
            open.remove(&extent);
        } else {
            open.insert(extent);
        }
    }

    /// Takes one page for a tree; `None` if the file must grow first. The lowest page that suits is taken, so
    /// that the file stays dense and a tree's pages ascend with its splits.
    ///
    /// # Errors
    /// `fill` cannot give an extent its disk space back; nothing was taken.
    pub(crate) fn take_page(
        &mut self,
        index: IndexId,
        locality: Locality,
        fill: Fill<'_>,
    ) -> Result<Option<PageNo>> {
        let open = match locality {
            Locality::Shared => self.shared_open.first(),
            Locality::Own => self.segments.get(&index).and_then(|segment| segment.open.first()),
        };
        let extent = match open {
            Some(&extent) => extent,
            None => match self.claim_extent(index, locality, fill)? {
                Some(extent) => extent,
                None => return Ok(None),
            },
        };
        let page = self.states[extent as usize].used.trailing_ones();
        self.mark_used(extent, 1 << page);
        self.note_owner(index, page_of(extent, page), 1, locality);
        Ok(Some(page_of(extent, page)))
    }

    /// Takes `count` consecutive pages for a tree; `None` if the file must grow first.
    ///
    /// # Errors
    /// As [`Extents::take_page`].
    pub(crate) fn take_run(
        &mut self,
        index: IndexId,
        count: u32,
        locality: Locality,
        fill: Fill<'_>,
    ) -> Result<Option<PageNo>> {
        if count >= EXTENT_PAGES {
            return self.take_long_run(index, count, fill);
        }
        let open = match locality {
            Locality::Shared => Some(&self.shared_open),
            Locality::Own => self.segments.get(&index).map(|segment| &segment.open),
        };
        let fitting = open.and_then(|open| {
            open.iter().find_map(|&extent| Some((extent, find_run(self.get(extent).used, count)?)))
        });
        let place = if fitting.is_some() {
            fitting
        } else {
            let claimed = self.claim_extent(index, locality, fill)?;
            // A claimed extent may have its first pages taken by a map page.
            claimed.and_then(|extent| Some((extent, find_run(self.get(extent).used, count)?)))
        };
        let Some((extent, page)) = place else { return Ok(None) };
        self.mark_used(extent, run_mask(count) << page);
        self.note_owner(index, page_of(extent, page), count, locality);
        Ok(Some(page_of(extent, page)))
    }

    fn take_long_run(&mut self, index: IndexId, count: u32, fill: Fill<'_>) -> Result<Option<PageNo>> {
        let extents = count.div_ceil(EXTENT_PAGES);
        let is_free = |first: u32| (first..first + extents).all(|extent| self.free.contains(&extent));
        let Some(&first) = self.free.iter().find(|&&first| is_free(first)) else { return Ok(None) };
        (first..first + extents).filter(|&extent| self.get(extent).hole).try_for_each(fill)?;
        // A value's reference has one version for all its pages.
        let version = (first..first + extents).map(|extent| self.get(extent).version).max().unwrap_or(1);
        for at in 0..extents {
            self.claim(first + at, index, Locality::Own);
            self.states[(first + at) as usize].version = version;
            let pages = (count - at * EXTENT_PAGES).min(EXTENT_PAGES);
            self.mark_used(first + at, run_mask(pages));
        }
        Ok(Some(page_of(first, 0)))
    }

    /// Gives the lowest free extent to a tree, or to the small trees.
    fn claim_extent(
        &mut self,
        index: IndexId,
        locality: Locality,
        fill: Fill<'_>,
    ) -> Result<Option<ExtentNo>> {
        let Some(&extent) = self.free.first() else { return Ok(None) };
        if self.get(extent).hole {
            fill(extent)?;
        }
        self.claim(extent, index, locality);
        Ok(Some(extent))
    }

    fn claim(&mut self, extent: ExtentNo, index: IndexId, locality: Locality) {
        invariant!(self.free.remove(&extent), "extent {extent} is given out twice");
        self.keep_unpunched(extent);
        let entry = &mut self.states[extent as usize];
        entry.hole = false;
        entry.version = entry.version.max(1);
        match locality {
            Locality::Shared => entry.state = ExtentState::Shared,
            Locality::Own => {
                (entry.state, entry.index_id) = (ExtentState::Tree, index);
                self.segments.entry(index).or_default().all.insert(extent);
            }
        }
        self.sort_in(extent);
    }

    fn note_owner(&mut self, index: IndexId, first: PageNo, count: u32, locality: Locality) {
        if locality == Locality::Shared {
            self.shared_owners.give(first, count, index);
        }
    }

    fn mark_used(&mut self, extent: ExtentNo, pages: u64) {
        let state = &mut self.states[extent as usize];
        invariant!(state.used & pages == 0, "pages {pages:#x} of extent {extent} are given out twice");
        state.used |= pages;
        self.sort_in(extent);
    }

    /// Takes back pages of one extent. `pages`: bits as in [`ExtentEntry::used`]. `now`: where the log is.
    pub(crate) fn release(&mut self, extent: ExtentNo, pages: u64, now: Lsn) {
        let state = &mut self.states[extent as usize];
        invariant!(state.used & pages == pages, "pages {pages:#x} of extent {extent} are freed twice");
        if state.state == ExtentState::Shared {
            let freed = (0..EXTENT_PAGES).filter(|page| pages >> page & 1 != 0);
            freed.for_each(|page| self.shared_owners.take_back(page_of(extent, page)));
        }
        state.used &= !pages;
        state.version = state.version.wrapping_add(1);
        self.unclaimed.claim(extent, pages);
        let state = &mut self.states[extent as usize];
        if state.used != 0 {
            return self.sort_in(extent);
        }
        let index = state.index_id;
        *state = ExtentEntry { version: state.version, freed_at: now, ..ExtentEntry::default() };
        self.garbage.clear(extent);
        self.unswept.remove(&extent);
        self.postponed.remove(&extent);
        self.shared_open.remove(&extent);
        if let Some(segment) = self.segments.get_mut(&index) {
            segment.all.remove(&extent);
            segment.open.remove(&extent);
            if segment.all.is_empty() {
                self.segments.remove(&index);
            }
        }
        if self.withheld.len() < self.withheld_max {
            self.withheld.insert(extent);
            return;
        }
        self.free.insert(extent);
        self.unpunched.insert((now, extent));
    }

    /// Withholds `count` free extents, as far as there are enough that are no holes; the last ones.
    pub(crate) fn withhold(&mut self, count: usize) {
        self.withheld_max = count;
        while self.withheld.len() < count {
            let is_hole = |extent: ExtentNo| self.states[extent as usize].hole;
            let Some(&extent) = self.free.iter().rev().find(|&&extent| !is_hole(extent)) else { return };
            self.free.remove(&extent);
            self.keep_unpunched(extent);
            self.withheld.insert(extent);
        }
    }

    /// Releases a withheld extent for allocation. False: there is none.
    pub(crate) fn give_withheld(&mut self) -> bool {
        let Some(extent) = self.withheld.pop_first() else { return false };
        self.free.insert(extent);
        true
    }

    /// The extents that a tree owns alone, ascending.
    pub(crate) fn owned_by(&self, index: IndexId) -> Vec<ExtentNo> {
        self.segments.get(&index).map(|segment| segment.all.iter().copied().collect()).unwrap_or_default()
    }

    /// A free extent whose space can be given back to the file system: it was freed below `checkpoint`, so
    /// that no recovery needs its bytes.
    pub(crate) fn next_unpunched(&self, checkpoint: Lsn) -> Option<ExtentNo> {
        self.unpunched.first().filter(|(freed_at, _)| *freed_at < checkpoint).map(|&(_, extent)| extent)
    }

    /// How many free extents still take disk space, and when the last of them was freed.
    pub(crate) fn unpunched(&self) -> (usize, Lsn) {
        (self.unpunched.len(), self.unpunched.last().map_or(Lsn(0), |&(freed_at, _)| freed_at))
    }

    /// Notes that a free extent's space is not to be given back: it cannot be, or the extent is wanted.
    pub(crate) fn keep_unpunched(&mut self, extent: ExtentNo) {
        self.unpunched.remove(&(self.states[extent as usize].freed_at, extent));
    }

    /// Notes that a free extent's space was given back.
    pub(crate) fn mark_hole(&mut self, extent: ExtentNo) {
        self.keep_unpunched(extent);
        self.states[extent as usize].hole = true;
    }

    /// Extents in which something was marked since startup.
    pub(crate) fn garbage(&self) -> &Arc<GarbageBits> {
        &self.garbage
    }

    /// Notes that something is marked in an extent; true if the map must change.
    pub(crate) fn mark_garbage(&mut self, extent: ExtentNo) -> bool {
        self.garbage.set(extent);
        !std::mem::replace(&mut self.states[extent as usize].garbage, true)
    }

    /// Notes that marked records move from an extent with the bit to another; true if the map must change
    /// of that one.
    pub(crate) fn carry_garbage(&mut self, from: ExtentNo, to: ExtentNo) -> bool {
        let has_old = self.is_unswept(from);
        if has_old {
            self.unswept.insert(to);
        }
        if !has_old || self.garbage.is_set(from) {
            self.garbage.set(to);
        }
        !std::mem::replace(&mut self.states[to as usize].garbage, true)
    }

    /// Takes an unswept extent, and returns its pages in use.
    pub(crate) fn begin_sweep(&mut self) -> Option<(ExtentNo, Vec<PageNo>)> {
        let Some(extent) = self.unswept.pop_first() else {
            self.unswept = std::mem::take(&mut self.postponed);
            return None;
        };
        self.sweeping = Some(extent);
        let used = self.get(extent).used;
        let pages = (0..EXTENT_PAGES).filter(|page| used >> page & 1 != 0);
        Some((extent, pages.map(|page| page_of(extent, page)).collect()))
    }

    /// The sweep of an extent has to be done again.
    pub(crate) fn postpone_sweep(&mut self, extent: ExtentNo) {
        self.sweeping = None;
        if self.get(extent).garbage {
            self.postponed.insert(extent);
        }
    }

    /// Whether none of the extents that had their bits at startup is left to be swept.
    pub(crate) fn is_swept(&self) -> bool {
        self.unswept.is_empty() && self.postponed.is_empty() && self.sweeping.is_none()
    }

    /// Pages that a search for lost ones asks about.
    pub(crate) fn unclaimed(&mut self) -> &mut Unclaimed {
        &mut self.unclaimed
    }

    /// Whether an extent had its bit at the start and was not swept since.
    fn is_unswept(&self, extent: ExtentNo) -> bool {
        self.unswept.contains(&extent) || self.postponed.contains(&extent) || self.sweeping == Some(extent)
    }

    /// The sweep of an extent is over; true if its bit was taken back, and the map must change.
    pub(crate) fn end_sweep(&mut self, extent: ExtentNo, is_clean: bool) -> bool {
        self.sweeping = None;
        let done = is_clean && !self.garbage.is_set(extent) && !self.is_unswept(extent);
        let entry = &mut self.states[extent as usize];
        done && std::mem::replace(&mut entry.garbage, false)
    }

    /// Extents with the map's bit, except for those that are still to be swept.
    pub(crate) fn marked(&self) -> Vec<ExtentNo> {
        let extents = (0..self.len()).filter(|&extent| self.get(extent).garbage);
        extents.filter(|&extent| !self.is_unswept(extent)).collect()
    }

    /// Takes the bit back.
    pub(crate) fn unmark_garbage(&mut self, extent: ExtentNo) {
        self.garbage.clear(extent);
        self.states[extent as usize].garbage = false;
    }

    /// Whether a page is in use, and if it is in an extent of one tree, by that tree.
    pub(crate) fn is_used_by(&self, index: IndexId, page: PageNo) -> bool {
        let Some(state) = self.states.get((page.0 / EXTENT_PAGES) as usize) else { return false };
        state.used & bit_of(page) != 0 && (state.index_id == index || state.state == ExtentState::Shared)
    }

    /// The pages of `trees` in extents that small trees share, of those whose owner is known.
    pub(crate) fn shared_pages_of(&self, trees: &BTreeSet<IndexId>) -> Vec<PageNo> {
        self.shared_owners.pages_of(trees)
    }

    /// Pages in use in extents that small trees share, and whose owner is not known.
    pub(crate) fn shared_pages_unknown(&self) -> Vec<PageNo> {
        if self.has_learned_owners {
            return Vec::new();
        }
        let mut pages = self.shared_pages();
        pages.retain(|&page| !self.shared_owners.knows(page));
        pages
    }

    /// What [`Extents::shared_pages_unknown`] has named was learned, or cannot be.
    pub(crate) fn end_learning_owners(&mut self) {
        self.has_learned_owners = true;
    }

    /// A page in a shared extent says whose it is. It may have been freed meanwhile.
    pub(crate) fn learn_shared_owner(&mut self, page: PageNo, index: IndexId) {
        let entry = self.get(page.0 / EXTENT_PAGES);
        if entry.state == ExtentState::Shared && entry.used & bit_of(page) != 0 {
            self.shared_owners.set_owner(page, index);
        }
    }

    /// Pages in use in extents that small trees share.
    fn shared_pages(&self) -> Vec<PageNo> {
        let shared = (0..).zip(&self.states).filter(|(_, entry)| entry.state == ExtentState::Shared);
        shared.flat_map(|(extent, entry)| used_pages(extent, entry)).collect()
    }

    /// The pages in use of a tree, as far as their owners are known.
    pub(crate) fn pages_of(&self, index: IndexId) -> Vec<PageNo> {
        let own = self.owned_by(index).into_iter();
        let own = own.flat_map(|extent| used_pages(extent, &self.states[extent as usize]));
        own.chain(self.shared_pages_of(&[index].into())).collect()
    }

    /// All extents, for statistics and checks.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ExtentEntry> {
        self.states.iter()
    }
}

fn page_of(extent: ExtentNo, page: u32) -> PageNo {
    PageNo(extent * EXTENT_PAGES + page)
}

/// The lowest `count` (1..=64) bits.
fn run_mask(count: u32) -> u64 {
    u64::MAX >> (EXTENT_PAGES - count)
}

/// First place of `count` clear bits in a row.
fn find_run(used: u64, count: u32) -> Option<u32> {
    (0..=EXTENT_PAGES - count).find(|&at| used & (run_mask(count) << at) == 0)
}

/// The pages of an extent that are in use.
fn used_pages(extent: ExtentNo, entry: &ExtentEntry) -> impl Iterator<Item = PageNo> + use<> {
    let used = entry.used;
    (0..EXTENT_PAGES).filter(move |page| used >> page & 1 != 0).map(move |page| page_of(extent, page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn take_page(extents: &mut Extents, index: IndexId, locality: Locality) -> Option<PageNo> {
        extents.take_page(index, locality, &mut |_| Ok(())).unwrap()
    }

    fn take_run(extents: &mut Extents, index: IndexId, count: u32, locality: Locality) -> Option<PageNo> {
        extents.take_run(index, count, locality, &mut |_| Ok(())).unwrap()
    }

    const A: IndexId = IndexId(100);
    const B: IndexId = IndexId(101);

    fn extents(count: u32) -> Extents {
        let mut extents = Extents::default();
        (0..count).for_each(|_| extents.push(ExtentEntry::default()));
        extents
    }

    fn free(extents: &mut Extents, page: PageNo) {
        extents.release(extent_of(page), bit_of(page), Lsn(7));
    }

    #[test]
    fn small_trees_share_extents_and_large_ones_have_their_own() {
        let mut extents = extents(4);
        let shared: Vec<_> =
            [A, B, A].map(|index| take_page(&mut extents, index, Locality::Shared).unwrap()).into();
        assert_eq!(shared, [PageNo(0), PageNo(1), PageNo(2)]);
        assert_eq!(take_page(&mut extents, A, Locality::Own), Some(PageNo(64)));
        assert_eq!(take_page(&mut extents, B, Locality::Own), Some(PageNo(128)));
        assert_eq!(take_page(&mut extents, A, Locality::Own), Some(PageNo(65)));
        assert_eq!(extents.owned_by(A), [1]);
        assert!(extents.is_used_by(B, PageNo(1)) && !extents.is_used_by(B, PageNo(65)));
    }

    #[test]
    fn an_extent_without_pages_serves_another_tree_with_a_new_version() {
        let mut extents = extents(1);
        for _ in 0..EXTENT_PAGES {
            take_page(&mut extents, A, Locality::Own).unwrap();
        }
        assert_eq!(take_page(&mut extents, A, Locality::Own), None);
        assert_eq!(take_page(&mut extents, B, Locality::Own), None);
        (0..EXTENT_PAGES).for_each(|page| free(&mut extents, PageNo(page)));
        assert_eq!(take_page(&mut extents, B, Locality::Own), Some(PageNo(0)));
        assert_eq!((extents.get(0).index_id, extents.get(0).version), (B, 65));
        assert!(extents.owned_by(A).is_empty());
    }

    #[test]
    fn runs_fill_holes_that_are_long_enough() {
        let mut extents = extents(8);
        assert!((0..10).all(|_| take_page(&mut extents, A, Locality::Own).is_some()));
        (2..5).for_each(|page| free(&mut extents, PageNo(page)));
        assert_eq!(take_run(&mut extents, A, 4, Locality::Own), Some(PageNo(10)));
        assert_eq!(take_run(&mut extents, A, 3, Locality::Own), Some(PageNo(2)));
        assert_eq!(take_run(&mut extents, A, 130, Locality::Own), Some(PageNo(64)));
        assert_eq!(extents.owned_by(A), [0, 1, 2, 3]);
        assert_eq!(extents.get(3).used, 0b11);
        assert_eq!(take_run(&mut extents, A, 1000, Locality::Own), None);
    }

    #[test]
    fn a_hole_is_filled_before_its_pages_are_given_out() {
        let mut extents = extents(4);
        for extent in [1, 2] {
            extents.mark_hole(extent);
        }
        let mut filled = Vec::new();
        let mut refuse = |_: ExtentNo| Err(Error::FileFull);
        assert!(matches!(extents.take_page(A, Locality::Own, &mut refuse), Ok(Some(PageNo(0)))));
        assert!(matches!(extents.take_page(B, Locality::Own, &mut refuse), Err(Error::FileFull)));
        assert!(matches!(extents.take_run(B, 70, Locality::Own, &mut refuse), Err(Error::FileFull)));
        assert!(extents.owned_by(B).is_empty(), "nothing was taken");
        let mut fill = |extent| {
            filled.push(extent);
            Ok(())
        };
        assert_eq!(extents.take_run(B, 70, Locality::Own, &mut fill), Ok(Some(PageNo(64))));
        assert_eq!(extents.take_page(A, Locality::Shared, &mut fill), Ok(Some(PageNo(192))));
        assert_eq!(filled, [1, 2]);
    }

    #[test]
    fn freed_extents_are_offered_for_punching_once() {
        let mut extents = extents(2);
        let page = take_page(&mut extents, A, Locality::Own).unwrap();
        free(&mut extents, page);
        assert_eq!(extents.next_unpunched(Lsn(7)), None);
        assert_eq!((extents.next_unpunched(Lsn(8)), extents.get(0).freed_at), (Some(0), Lsn(7)));
        extents.mark_hole(0);
        assert_eq!(extents.next_unpunched(Lsn(8)), None);
        assert_eq!(take_page(&mut extents, A, Locality::Own), Some(page));
        assert!(!extents.get(0).hole);
    }
}
