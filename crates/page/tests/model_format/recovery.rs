//! Crash and recovery: what is left of pages and log, redo, losers.

use std::collections::BTreeMap;

use base::{Lsn, PageNo};
use page::op::decode_change;
use page::{PageMut, PageRef, verify_on_read};

use crate::database::Database;
use crate::log::{Part, frame_at, parts};

impl Database {
    /// Loses memory, pages not written, and the unsynced end of the log from `cut` on, by absence or by a
    /// wrong byte.
    pub(crate) fn crash(&mut self, cut: u64) {
        let unsynced = self.log.len() - self.synced;
        let at = self.synced + cut as usize % (unsynced + 1);
        match self.log.get_mut(at) {
            Some(byte) if cut.is_multiple_of(3) => *byte ^= 0x40,
            _ => self.log.truncate(at),
        }
        self.pages = self.disk.clone();
        self.undo.clear();
        self.open.clear();
        self.committed.clear();
        for (at, page) in self.pages.iter().enumerate() {
            if PageRef::new(page).lsn() != Lsn(0) {
                assert_eq!(verify_on_read(page, PageNo(2 + at as u32)), Ok(()));
            }
        }
    }

    /// Redo, then rollback of losers, of which at most `steps`; whether it got to the end.
    pub(crate) fn recover(&mut self, steps: usize) -> bool {
        let log = std::mem::take(&mut self.log);
        let mut end = 0;
        while let Some((payload, next)) = frame_at(&log, end) {
            for part in parts(payload) {
                self.redo(part, Lsn(next as u64));
            }
            end = next;
        }
        assert!(end >= self.synced, "durable log was lost");
        self.log = log;
        self.log.truncate(end);
        self.check();
        for _ in 0..steps {
            let newest = self.open.iter().filter_map(|(&trx, list)| Some((*list.last()?, trx))).max();
            let Some((_, trx)) = newest else { break };
            self.undo_newest(trx);
        }
        if self.open.values().any(|list| !list.is_empty()) {
            return false;
        }
        let losers: BTreeMap<u64, Vec<u64>> = self.open.clone();
        for trx in losers.into_keys() {
            self.end_rollback(trx);
        }
        self.horizon = self.next_trx;
        self.undo.clear();
        true
    }

    fn redo(&mut self, part: Part<'_>, end: Lsn) {
        match part {
            Part::Changes(mut changes) => {
                let mut changed = Vec::new();
                while !changes.is_empty() {
                    let (page_no, op) = decode_change(&mut changes).unwrap();
                    let mut page = PageMut::new(&mut self.pages[page_no.0 as usize - 2]);
                    if page.as_ref().lsn() < end {
                        op.apply(&mut page).unwrap();
                        changed.push(page_no);
                    }
                }
                for page_no in changed {
                    PageMut::new(&mut self.pages[page_no.0 as usize - 2]).set_lsn(end);
                }
            }
            Part::Undo { trx, pointer, undo } => {
                self.undo.insert(pointer.0, undo);
                self.open.entry(trx).or_default().push(pointer.0);
            }
            Part::Commit(trx) | Part::RollbackDone(trx) => {
                self.open.remove(&trx);
            }
            Part::Compensation { trx, undone } => {
                self.open.get_mut(&trx).unwrap().retain(|&pointer| pointer != undone.0);
            }
        }
    }
}
