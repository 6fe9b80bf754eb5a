//! How far changes in bulk get ahead of the disk.
//!
//! The commit that ends an index build or a long load waits until all of its log is on the disk. Commits of
//! others meanwhile wait for what it has logged so far, because a sync covers the whole stream. Therefore the
//! log is synced in the background while such work continues, and a build waits where the disk does not keep
//! up.

use base::Lsn;
use base::sync::atomic::Ordering;

use crate::error::Result;
use crate::log::Log;
use crate::position::LogPosition;

/// With more bytes ahead of the disk, a build asks for a sync in the background; few in tests, so that they
/// meet it.
const BUILD_ASKS_BYTES: u64 = if cfg!(debug_assertions) { 64 << 10 } else { 2 << 20 };
/// With more bytes ahead, a build waits: a disk that writes 100 MB/s has them within a tenth of a second.
const BUILD_WAITS_BYTES: u64 = 4 * BUILD_ASKS_BYTES;
/// With more bytes ahead, statements that change many rows ask for a sync. It delays commits that need none.
const ROWS_ASK_BYTES: u64 = 8 * BUILD_ASKS_BYTES;

impl Log {
    /// [`Log::admit_change`] for a page of a build. Waits, too, where far more is logged than is durable.
    ///
    /// Latches: none may be held. Cost: four loads when there is no reason to wait.
    ///
    /// # Errors
    /// As [`Log::admit_change`].
    pub fn admit_bulk(&self) -> Result<()> {
        self.admit_change()?;
        let ahead = self.bytes_ahead();
        if ahead > BUILD_WAITS_BYTES {
            return self.durable_up_to(Lsn(self.current().0 - BUILD_ASKS_BYTES));
        }
        if ahead > BUILD_ASKS_BYTES {
            self.ask_for_checkpoint();
        }
        Ok(())
    }

    /// Asks the thread that does checkpoints for a sync if very many bytes wait for one: before many rows are
    /// changed.
    ///
    /// Latches: any may be held. Cost: two loads when there are fewer.
    #[inline]
    pub fn sync_ahead(&self) {
        if self.bytes_ahead() > ROWS_ASK_BYTES {
            self.ask_for_checkpoint();
        }
    }

    /// Bytes that are logged and not durable.
    #[inline]
    fn bytes_ahead(&self) -> u64 {
        // The durable position first: the tail is never below it then.
        let durable = self.progress.0.durable.load(Ordering::Acquire);
        self.current().0 - durable
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::tests::{LARGE, append, new_log};

    #[test]
    fn a_build_asks_for_syncs_and_waits_for_them_where_none_come() {
        let (_disk, log) = new_log(LARGE);
        let page = vec![7; 16 << 10];
        while log.bytes_ahead() + page.len() as u64 <= BUILD_ASKS_BYTES {
            log.admit_bulk().unwrap();
            assert!(!is_asked(&log), "{} bytes ahead", log.bytes_ahead());
            let _ = append(&log, &page);
        }
        let mut most = 0;
        for _ in 0..4 * BUILD_WAITS_BYTES / page.len() as u64 {
            let _ = append(&log, &page);
            most = most.max(log.bytes_ahead());
            log.admit_bulk().unwrap();
            assert!(log.bytes_ahead() <= BUILD_WAITS_BYTES);
        }
        assert!(is_asked(&log) && most > BUILD_WAITS_BYTES, "at most {most} bytes ahead");
        assert!((2..=4).contains(&log.stats().writes), "{:?}", log.stats());
    }

    #[test]
    fn changes_of_many_rows_ask_for_syncs_and_wait_for_none() {
        let (_disk, log) = new_log(LARGE);
        while log.bytes_ahead() <= ROWS_ASK_BYTES {
            log.sync_ahead();
            assert!(!is_asked(&log), "{} bytes ahead", log.bytes_ahead());
            let _ = append(&log, &[7; 16 << 10]);
        }
        log.sync_ahead();
        assert!(is_asked(&log));
        assert_eq!(log.stats().syncs, 0);
    }

    fn is_asked(log: &Log) -> bool {
        log.waiting.0.checkpoint_asked.load(Ordering::Relaxed)
    }
}
