//! Applying changes of pages, one page after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::sync::{PlantedBug, planted};
use base::{Lsn, PageNo, prefetch};
use buffer::{ExclusiveGuard, Pool};
use log::{FRAME_HEADER_BYTES, FrameRange, Stretch};
use page::op::decode_change;

use super::bad_frame;
use super::freed::Freed;
use super::lost::LostPages;
use crate::error::Result;

/// Distance of prefetching, in runs: of a run this far ahead the processor fetches its bytes, and
/// its page.
const FETCH_AHEAD: usize = 8;

/// Changes of a frame that follow each other and are of one page. Positions count from the start of the
/// stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The page, and as the lower half where the changes begin: the order in which runs are applied.
    order: u64,
    len: u32,
    /// Where the frame begins.
    frame_at: u32,
}

impl Run {
    pub(super) fn new(page: PageNo, at: u32, len: u32, frame_at: u32) -> Self {
        Run { order: u64::from(page.0) << 32 | u64::from(at), len, frame_at }
    }

    fn page(&self) -> PageNo {
        PageNo((self.order >> 32) as u32)
    }

    fn at(&self) -> usize {
        self.order as u32 as usize
    }

    /// The changes.
    fn of<'s>(&self, stretch: &'s Stretch) -> &'s [u8] {
        &stretch.bytes()[self.at()..self.at() + self.len as usize]
    }

    /// Where the frame lies.
    fn frame(&self, stretch: &Stretch) -> FrameRange {
        let payload = base::codec::get_u32(stretch.bytes(), self.frame_at as usize);
        let start = Lsn(stretch.start().0 + u64::from(self.frame_at));
        FrameRange { start, end: Lsn(start.0 + FRAME_HEADER_BYTES + u64::from(payload)) }
    }
}

/// Applies the changes of the pages of one thread.
#[derive(Debug)]
pub(super) struct Applier {
    pool: Arc<Pool>,
    freed: Arc<Freed>,
    lost: LostPages,
    /// The lost pages of this thread.
    own_lost: BTreeSet<PageNo>,
    /// Pages that changes were applied to, one bit each. Others may be made without reading them.
    seen: Vec<u64>,
    /// Pages to be read soon; kept for its room.
    absent: Vec<PageNo>,
}

impl Applier {
    pub(super) fn new(pool: Arc<Pool>, freed: Arc<Freed>, lost: LostPages) -> Self {
        let own_lost = BTreeSet::new();
        Applier { pool, freed, lost, own_lost, seen: Vec::new(), absent: Vec::new() }
    }

    /// Applies runs of a stretch: page by page, so that a page is latched and fetched once, each page's
    /// changes oldest first.
    pub(super) fn apply(&mut self, stretch: &Stretch, runs: &mut Vec<Run>) -> Result<()> {
        runs.retain(|run| !self.freed.is_freed_after(run.page(), run.frame(stretch).end));
        runs.sort_unstable_by_key(|run| run.order);
        self.read_ahead(stretch, runs);
        let mut at = 0;
        while let Some(run) = runs.get(at) {
            let page = run.page();
            let is_new = self.see(page);
            let was_lost = self.own_lost.contains(&page);
            let (pool, lost) = (&self.pool, &self.lost);
            let mut target = Target { pool, lost, page, is_new, is_lost: was_lost, guard: None, frame: None };
            while let Some(run) = runs.get(at).filter(|run| run.page() == page) {
                if let Some(later) = runs.get(at + FETCH_AHEAD) {
                    prefetch(stretch.bytes()[later.at()..].as_ptr());
                    self.pool.will_search(self.pool.frame_hint(later.page()));
                }
                target.apply(run.frame(stretch), run.of(stretch))?;
                at += 1;
            }
            if target.is_lost != was_lost {
                let is_lost = target.is_lost;
                drop(target);
                self.note_lost(page, is_lost);
            }
        }
        Ok(())
    }

    #[cold]
    fn note_lost(&mut self, page: PageNo, is_lost: bool) {
        if is_lost {
            self.own_lost.insert(page);
        } else {
            self.own_lost.remove(&page);
            self.lost.find_again(page);
        }
    }

    /// Requests reads of pages that were not used before, except those that are created again.
    fn read_ahead(&mut self, stretch: &Stretch, runs: &[Run]) {
        let mut absent = std::mem::take(&mut self.absent);
        absent.clear();
        for runs in runs.chunk_by(|a, b| a.page() == b.page()) {
            let recreates =
                || decode_change(&mut runs[0].of(stretch)).is_ok_and(|(_, op)| op.is_self_contained());
            if !self.has_seen(runs[0].page()) && !recreates() {
                absent.push(runs[0].page());
            }
        }
        if !absent.is_empty() {
            self.pool.prefetch(&absent);
        }
        self.absent = absent;
    }

    fn has_seen(&self, page: PageNo) -> bool {
        self.seen.get((page.0 / 64) as usize).is_some_and(|word| word >> (page.0 % 64) & 1 != 0)
    }

    /// Notes a page; whether it was not seen before.
    fn see(&mut self, page: PageNo) -> bool {
        let (word, bit) = ((page.0 / 64) as usize, 1 << (page.0 % 64));
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }
}

/// A page at work.
struct Target<'p> {
    pool: &'p Pool,
    lost: &'p LostPages,
    page: PageNo,
    /// Nothing was applied to it before.
    is_new: bool,
    /// What is on disk is damaged: only what makes the page again is applied.
    is_lost: bool,
    guard: Option<ExclusiveGuard<'p>>,
    /// The frame whose changes are being applied: the page has its LSN already.
    frame: Option<Lsn>,
}

impl Target<'_> {
    /// Applies a run, unless the page has the frame's changes.
    fn apply(&mut self, frame: FrameRange, mut changes: &[u8]) -> Result<()> {
        while !changes.is_empty() {
            // Not by `map_err`, which would copy the operation.
            let Ok((_, op)) = decode_change(&mut changes) else { return Err(bad_frame(frame, self.page)) };
            let guard = match &mut self.guard {
                Some(guard) => guard,
                None if (self.is_new || self.is_lost) && op.is_self_contained() => {
                    self.is_lost = false;
                    self.guard.insert(self.pool.create(self.page)?)
                }
                None if self.is_lost => continue,
                None => match self.pool.exclusive(self.page) {
                    Ok(guard) => self.guard.insert(guard),
                    Err(error) => {
                        self.lost.lose(self.page, error)?;
                        self.is_lost = true;
                        continue;
                    }
                },
            };
            if self.frame != Some(frame.start) {
                if guard.page().lsn() >= frame.end && !planted(PlantedBug::RedoTwice) {
                    return Ok(());
                }
                self.frame = Some(frame.start);
            }
            let checked = op.check_for(guard.page(), self.page);
            let applied = checked.and_then(|()| op.apply(&mut guard.page_mut()));
            applied
                .and_then(|()| op.check_applied(guard.page(), self.page))
                .map_err(|_| bad_frame(frame, self.page))?;
            guard.page_mut().set_lsn(frame.end);
            guard.mark_dirty(frame.start);
        }
        Ok(())
    }
}
