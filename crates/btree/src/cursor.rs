//! Reading in key order: a position on a record of a leaf that is latched shared.
//!
//! Forward, the next leaf is latched before this one is released (left before right). Backward that order
//! would be broken, so the leaf is released first and the neighbour is found again from the root, by the
//! lower fence.

use base::{Lsn, PageNo};
use buffer::{LookupOutcome, SharedGuard};
use page::{PageRef, Record};
use space::{Result, Store};

use crate::descend::{self, TreeEnd};
use crate::links::LEAVES_UNCHECKED;
use crate::tree::Tree;
use crate::{links, read_ahead};

/// Which record a search wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// The first one whose key is the sought one or greater.
    AtOrAfter,
    /// The first one whose key is greater.
    After,
    /// The last one whose key is the sought one or less.
    AtOrBefore,
    /// The last one whose key is less.
    Before,
    /// The first of the tree; the key does not matter.
    First,
    /// The last of the tree; the key does not matter.
    Last,
}

/// An exact match: the record's leaf, latched shared, and its slot. While it lives, the rules of [`Cursor`]
/// hold.
#[derive(Debug)]
pub struct Position<'p> {
    leaf: SharedGuard<'p>,
    slot: usize,
}

impl<'p> Position<'p> {
    #[inline]
    pub(crate) fn new(leaf: SharedGuard<'p>, slot: usize) -> Self {
        Position { leaf, slot }
    }

    /// The leaf.
    #[inline]
    pub fn page(&self) -> PageRef<'_> {
        self.leaf.page()
    }

    /// The record's slot.
    #[inline]
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The record.
    #[inline]
    pub fn record(&self) -> Record<'_> {
        self.page().record(self.slot)
    }
}

/// A position on a record. Holds its leaf latched shared: do no I/O to clients and wait for nothing while it
/// lives; [`Cursor::suspend`] first.
///
/// The same goes for other page latches: a thread that holds a leaf and waits for a page of the same tree
/// deadlocks with a writer that queues in between, and two threads that hold leaves of two trees and each
/// want the other one deadlock with a writer in each. The one thing allowed is to go from a secondary tree's
/// leaf to the clustered tree of its table, in that direction everywhere, and to hold no second position
/// there.
#[derive(Debug)]
pub struct Cursor<'p> {
    store: &'p Store,
    tree: &'p Tree,
    leaf: SharedGuard<'p>,
    slot: u32,
    /// Leaves until the way counts as long: [`links::leaves_until_next_look`].
    leaves_left: u32,
}

impl<'p> Cursor<'p> {
    #[inline]
    fn new(store: &'p Store, tree: &'p Tree, leaf: SharedGuard<'p>, slot: usize) -> Self {
        Cursor { store, tree, leaf, slot: slot as u32, leaves_left: LEAVES_UNCHECKED }
    }

    /// Positions by `seek`; `None` if there is no such record.
    pub(crate) fn open(store: &'p Store, tree: &'p Tree, key: &[u8], seek: Seek) -> Result<Option<Self>> {
        match seek {
            Seek::AtOrAfter | Seek::After => {
                let (leaf, at) = descend::leaf_shared(store, tree, key)?;
                let skip = usize::from(at.found && seek == Seek::After);
                Cursor::new(store, tree, leaf, at.slot + skip).settle_forward()
            }
            Seek::AtOrBefore => {
                let (leaf, at) = descend::leaf_shared(store, tree, key)?;
                let past = at.slot + usize::from(at.found);
                Cursor::new(store, tree, leaf, 0).settle_backward(past)
            }
            Seek::Before => {
                let leaf = descend::leaf_before(store, tree, key)?;
                let past = leaf.page().search_leaf(key).slot;
                Cursor::new(store, tree, leaf, 0).settle_backward(past)
            }
            Seek::First => {
                let leaf = descend::edge_leaf(store, tree, TreeEnd::First)?;
                Cursor::new(store, tree, leaf, 0).settle_forward()
            }
            Seek::Last => {
                let leaf = descend::edge_leaf(store, tree, TreeEnd::Last)?;
                let past = leaf.page().count();
                Cursor::new(store, tree, leaf, 0).settle_backward(past)
            }
        }
    }

    /// The leaf.
    #[inline]
    pub fn page(&self) -> PageRef<'_> {
        self.leaf.page()
    }

    /// The slot of the record; below the page's count.
    #[inline]
    pub fn slot(&self) -> usize {
        self.slot as usize
    }

    /// The record.
    #[inline]
    pub fn record(&self) -> Record<'_> {
        self.page().record(self.slot())
    }

    /// Moves to another slot of the same leaf, below the page's count.
    #[inline]
    pub fn set_slot(&mut self, slot: usize) {
        debug_assert!(slot < self.page().count(), "slot {slot} of {}", self.page().count());
        self.slot = slot as u32;
    }

    /// Moves to the next record of this leaf; false, and no move, if there is none: [`Cursor::next_leaf`]
    /// continues.
    #[inline]
    pub(crate) fn next_in_leaf(&mut self) -> bool {
        let more = self.slot() + 1 < self.page().count();
        self.slot += u32::from(more);
        more
    }

    /// Moves to the previous record of this leaf; false, and no move, if there is none.
    #[inline]
    pub(crate) fn prev_in_leaf(&mut self) -> bool {
        let more = self.slot > 0;
        self.slot -= u32::from(more);
        more
    }

    /// Moves to the next record, in this leaf or a later one; `None` at the end of the tree.
    pub fn next(mut self) -> Result<Option<Self>> {
        if self.next_in_leaf() { Ok(Some(self)) } else { self.next_leaf() }
    }

    /// Moves to the previous record, in this leaf or an earlier one; `None` at the start of the tree.
    pub fn prev(mut self) -> Result<Option<Self>> {
        if self.prev_in_leaf() { Ok(Some(self)) } else { self.prev_leaf() }
    }

    /// Moves to the first record of the next leaf that has one. Cost: one latch pair.
    #[inline]
    pub fn next_leaf(mut self) -> Result<Option<Self>> {
        Ok(self.to_next_leaf()?.then_some(self))
    }

    /// [`Cursor::next_leaf`] in place; false if there is no later record, and the cursor is of no use then.
    #[inline]
    pub fn to_next_leaf(&mut self) -> Result<bool> {
        loop {
            let right = self.page().right();
            if right.is_none() {
                let is_end = self.page().upper_fence().is_none();
                return if is_end { Ok(false) } else { Err(links::broken(self.leaf.page_no())) };
            }
            // The right neighbour is latched before the old guard is dropped by the assignment.
            let (leaf, arrival) = self.store.pool().shared_in_order(right)?;
            self.leaves_left -= 1;
            let is_evident = leaf.page().is_evident_kin(self.page()) && self.leaves_left != 0;
            if !is_evident || arrival != LookupOutcome::Resident {
                self.follow_link(&leaf, arrival)?;
            }
            self.leaf = leaf;
            self.slot = 0;
            if self.page().count() != 0 {
                return Ok(true);
            }
        }
    }

    /// Moves to the last record of the nearest earlier leaf that has one. Cost: a descent.
    pub fn prev_leaf(self) -> Result<Option<Self>> {
        self.settle_backward(0)
    }

    /// Releases the leaf and remembers the record.
    pub fn suspend(self) -> Suspended {
        let mut suspended = Suspended::default();
        self.suspend_into(&mut suspended);
        suspended
    }

    /// As [`Cursor::suspend`], into memory that is there already.
    pub fn suspend_into(self, suspended: &mut Suspended) {
        let page = self.page();
        suspended.key.clear();
        page.append_key(self.slot(), &mut suspended.key);
        suspended.page_no = page.page_no();
        suspended.lsn = page.lsn();
        suspended.slot = self.slot;
        suspended.leaves_left = self.leaves_left;
    }

    /// Goes on to a later leaf if there is no record at the slot.
    #[inline]
    fn settle_forward(self) -> Result<Option<Self>> {
        if self.slot() < self.page().count() { Ok(Some(self)) } else { self.next_leaf() }
    }

    /// Looks whether `right`, which the leaf links to, continues where the leaf ends; reads ahead if there is
    /// reason to.
    #[cold]
    #[inline(never)]
    fn follow_link(&mut self, right: &SharedGuard<'p>, arrival: LookupOutcome) -> Result<()> {
        let page = self.leaf.page();
        if !links::follows(page, right.page()) {
            return Err(links::broken(right.page_no()));
        }
        if arrival != LookupOutcome::Resident {
            // The page was just read: its own link has not been followed yet.
            self.leaves_left = 1;
        } else if self.leaves_left == 0 {
            self.leaves_left = links::leaves_until_next_look();
        }
        read_ahead::follow(self.store, self.tree.root, page, arrival);
        Ok(())
    }

    /// Takes the slot before `past`, in an earlier leaf if there is none in this one.
    fn settle_backward(mut self, mut past: usize) -> Result<Option<Self>> {
        while past == 0 {
            let fence = self.page().lower_fence().to_vec();
            if fence.is_empty() {
                return Ok(None);
            }
            let Cursor { store, tree, leaf, .. } = self;
            drop(leaf);
            let leaf = descend::leaf_before(store, tree, &fence)?;
            past = leaf.page().search_leaf(&fence).slot;
            if past == 0 && leaf.page().lower_fence() >= &fence[..] {
                return Err(links::broken(leaf.page_no()));
            }
            self = Cursor::new(store, tree, leaf, 0);
        }
        self.slot = past as u32 - 1;
        Ok(Some(self))
    }
}

/// A position that holds no latch: a record's key, and where it was seen last.
#[derive(Clone, Debug, Default)]
pub struct Suspended {
    key: Vec<u8>,
    page_no: PageNo,
    lsn: Lsn,
    slot: u32,
    leaves_left: u32,
}

impl Suspended {
    /// The key of the record, which may be gone by now.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Latches a leaf again and positions by `seek`, as seen from the remembered record. Cost: one page if
    /// no thread changed the leaf, else a descent.
    pub fn resume<'p>(&self, tree: &'p Tree, store: &'p Store, seek: Seek) -> Result<Option<Cursor<'p>>> {
        let Some(leaf) = self.unchanged_leaf(tree, store) else {
            return Cursor::open(store, tree, &self.key, seek);
        };
        let Suspended { slot, leaves_left, .. } = *self;
        let cursor = Cursor { store, tree, leaf, slot, leaves_left: leaves_left.max(1) };
        match seek {
            Seek::AtOrAfter | Seek::AtOrBefore => Ok(Some(cursor)),
            Seek::After => cursor.next(),
            Seek::Before => cursor.prev(),
            Seek::First | Seek::Last => {
                drop(cursor);
                Cursor::open(store, tree, &self.key, seek)
            }
        }
    }

    /// The remembered leaf if its bytes are those that were seen. A page that cannot be read is no reason to
    /// fail: the page may have been given back, and the descent decides.
    fn unchanged_leaf<'p>(&self, tree: &Tree, store: &'p Store) -> Option<SharedGuard<'p>> {
        // Coming back to a page is not another use of it.
        let leaf = store.pool().shared_cold(self.page_no).ok()?;
        let page = leaf.page();
        (page.lsn() == self.lsn && page.index_id() == tree.index && page.page_type() == page::PageType::BTree)
            .then_some(leaf)
    }
}
