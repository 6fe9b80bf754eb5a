//! Checkpoints: where recovery begins, and giving files back.

use base::sync::atomic::Ordering;
use base::{Lsn, invariant};

use crate::error::{Error, Result};
use crate::header::Checkpoint;
use crate::log::Log;
use crate::part::{Part, TrxState};
use crate::position::LogPosition;

impl Log {
    /// Records that recovery begins at `redo_lsn`: writes and syncs a checkpoint frame, then the checkpoint
    /// block, then gives the files below back.
    ///
    /// The caller has made durable: pages so that no change below `redo_lsn` is missing in data.pages.
    /// `transactions` had logged undo and not ended; `redo_lsn` is at or below what each of them needs.
    ///
    /// Latches: none may be held.
    pub fn checkpoint(&self, redo_lsn: Lsn, transactions: Vec<TrxState>) -> Result<()> {
        self.record_checkpoint(redo_lsn, transactions, |_| Lsn(0))
    }

    /// The last checkpoint: every page is durable in data.pages, no transaction is open, no thread appends
    /// any more. Returns the end of the log, which is the clean mark.
    pub fn close(&self) -> Result<Lsn> {
        self.record_checkpoint(self.current(), Vec::new(), |end| end)?;
        Ok(self.current())
    }

    /// The newest checkpoint.
    pub fn last_checkpoint(&self) -> Checkpoint {
        self.hold_writer().files.checkpoint()
    }

    fn record_checkpoint(
        &self,
        redo_lsn: Lsn,
        transactions: Vec<TrxState>,
        clean: impl FnOnce(Lsn) -> Lsn,
    ) -> Result<()> {
        let mut payload = Vec::new();
        Part::Checkpoint { redo_lsn, transactions }.encode(&mut payload);
        let frame = self.append(&[], &payload).range();
        invariant!(redo_lsn <= frame.start, "{redo_lsn} of a checkpoint at {}", frame.start);
        self.durable_up_to(frame.end)?;
        let mut writer = self.hold_writer();
        let files = &mut writer.files;
        self.ensure_works()?;
        let clean = clean(self.current());
        invariant!(redo_lsn >= files.checkpoint().redo_lsn, "a checkpoint goes back to {redo_lsn}");
        let block = Checkpoint { number: 0, redo_lsn, frame: frame.start, clean };
        let recorded = files.write_checkpoint(block).and_then(|()| files.recycle(self.is_short_of_space()));
        let recycled = recorded.map_err(|error| self.fail(error))?;
        self.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        self.counters.files_recycled.fetch_add(recycled, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the next file ahead of need, so that no change has to: for a background thread, now and then.
    /// True if one was made; a full disk is reported to the changes that need the space.
    pub fn prepare_file(&self) -> Result<bool> {
        self.ensure_works()?;
        let written = Lsn(self.progress.0.written.load(Ordering::Acquire));
        let (folder, file_bytes, spare) = {
            let mut writer = self.hold_writer();
            let files = &mut writer.files;
            if !files.wants_next(written) {
                return Ok(false);
            }
            (files.folder().clone(), files.file_bytes(), files.take_spare())
        };
        let made = match spare {
            Some(spare) => Ok(spare),
            None => folder.make(file_bytes),
        };
        let spare = match made {
            Ok(spare) => spare,
            Err(error) => return self.not_now(error),
        };
        let mut writer = self.hold_writer();
        let files = &mut writer.files;
        // The one before may have been used up meanwhile, and another made by the thread that needed it.
        let linked = if files.wants_next(written) {
            files.link_next(spare)
        } else {
            files.add_spare(spare);
            Ok(())
        };
        match linked {
            Ok(()) => Ok(true),
            Err(error) => self.not_now(error),
        }
    }

    /// A file could not be made or linked. The log continues if that may work again.
    fn not_now(&self, error: Error) -> Result<bool> {
        match error {
            Error::Io(error) if error.is_out_of_space() => Ok(false),
            error => Err(self.fail(error)),
        }
    }

    /// Changes how much room the files take together. Takes effect as files are made and given back.
    pub fn set_capacity(&self, capacity_bytes: u64) -> Result<()> {
        let config = crate::log::LogConfig { capacity_bytes, ..self.config };
        let mut writer = self.hold_writer();
        let files = &mut writer.files;
        files.set_sizes(config.file_bytes(), capacity_bytes);
        files.trim().map_err(|error| self.fail(error))
    }

    /// Bytes of all files, and the capacity they are to keep to.
    pub fn file_bytes(&self) -> (u64, u64) {
        let writer = self.hold_writer();
        let files = &writer.files;
        (files.bytes(), files.capacity_bytes())
    }
}
