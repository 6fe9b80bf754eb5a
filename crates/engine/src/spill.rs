//! Spilling undo: the log need not be kept for a transaction that stays open.
//!
//! ```text
//!  first undo          spilled up to                     tail
//!  |  undo of the transaction, copied to undo/ID.undo  |  undo of the transaction, in the log alone
//! ```
//! When checkpoints would keep more than a quarter of the log's capacity for the undo of open transactions,
//! one pass over the log copies their undo and compensation to a file for each. A checkpoint then says how
//! much of the file counts and where the log continues. A startup reads the file as if it lay in the log, and
//! leaves out what the log has of the same transaction before that place. Rollback while the server runs
//! reads undo from memory.
//!
//! # Rules
//! 1. A file, and its name, are durable before a checkpoint counts on them.
//! 2. A file goes when a checkpoint that does not name it is durable: its transaction's end is, then.
//! 3. A transaction whose end a pass has met is listed by no later checkpoint: the log from there on may lack
//!    that end.
//! 4. A disk without room for a file keeps the log as it is. A file that could not be synced is never added
//!    to again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Lsn, TrxId, UndoPtr};
use env::{Disk, IoError};
use log::{Frame, Identity, Log, SpillFile, SpillReader, TrxPhase, TrxState};
use trx::UndoStore;

use crate::error::Result;
use crate::startup_log::StartupLog;

/// Ending of the names of all files here.
const ENDING: &str = "undo";
/// Where undo goes that memory has no room for. Nothing there outlives the process.
const SWAP_FILE: &str = "swap.undo";
/// The same while the server starts.
const RECOVERY_FILE: &str = "recovery.undo";

/// Where spill files are, and whose they are.
#[derive(Clone, Debug)]
pub(crate) struct SpillFolder {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    identity: Identity,
}

impl SpillFolder {
    pub(crate) fn new(disk: &Arc<dyn Disk>, path: PathBuf, identity: Identity) -> Self {
        SpillFolder { disk: Arc::clone(disk), path, identity }
    }

    fn file_of(&self, trx: TrxId) -> PathBuf {
        self.path.join(format!("{}.{ENDING}", trx.0))
    }

    /// Opens the file of a transaction that a checkpoint lists.
    pub(crate) fn open(&self, trx: TrxId, len: u64) -> log::Result<SpillReader> {
        SpillReader::open(&*self.disk, &self.file_of(trx), self.identity, trx, len)
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Where a startup puts undo that memory has no room for.
    pub(crate) fn recovery_file(&self) -> PathBuf {
        self.path.join(RECOVERY_FILE)
    }

    /// Says to `undo` where it may be swapped to. What another process has left there goes.
    pub(crate) fn offer_swap(&self, undo: &UndoStore) -> Result<()> {
        let path = self.path.join(SWAP_FILE);
        if self.disk.exists(&path)? {
            self.disk.remove(&path)?;
        }
        undo.swap_to(&self.disk, path);
        Ok(())
    }

    /// Removes the swap file, which no thread reads any more.
    fn remove_swap(&self) {
        // A file that cannot be removed is removed by the next startup.
        let _ = self.disk.remove(&self.path.join(SWAP_FILE));
    }

    /// Removes all files that are not `needed`.
    fn remove_others(&self, needed: impl Fn(&Path) -> bool) -> Result<()> {
        for name in self.disk.list(&self.path)? {
            let path = self.path.join(&name);
            if name.extension().is_some_and(|ending| ending == ENDING) && !needed(&path) {
                self.disk.remove(&path)?;
            }
        }
        Ok(())
    }
}

/// The spill file of a transaction as a checkpoint names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpilledUndo {
    /// The file has all undo that the log has below.
    pub(crate) up_to: Lsn,
    /// Bytes that count.
    pub(crate) bytes: u64,
}

/// The spill files of open transactions.
#[derive(Debug)]
pub(crate) struct Spills {
    folder: SpillFolder,
    files: BTreeMap<TrxId, Spilled>,
    notes: Arc<dyn StartupLog>,
    /// Whether the full disk was reported.
    has_warned: bool,
}

/// A transaction whose undo was copied.
#[derive(Debug)]
struct Spilled {
    file: SpillFile,
    /// The file has all undo that the log has below.
    up_to: Lsn,
    /// A pass has met its end.
    has_ended: bool,
    /// A sync has failed.
    is_closed: bool,
}

/// A pass over the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassLimits {
    /// Undo below is copied, if there is any below `due`.
    pub(crate) wanted: Lsn,
    /// The log is kept so far for other reasons, or as much as it may.
    pub(crate) due: Lsn,
    /// There is no log below.
    pub(crate) begin: Lsn,
}

impl Spills {
    pub(crate) fn new(folder: SpillFolder, notes: &Arc<dyn StartupLog>) -> Self {
        Spills { folder, files: BTreeMap::new(), notes: Arc::clone(notes), has_warned: false }
    }

    /// Goes on with files that the last checkpoint names. The next one drops those whose transactions have
    /// ended.
    pub(crate) fn adopt(&mut self, spilled: &BTreeMap<TrxId, SpilledUndo>) -> Result<()> {
        let SpillFolder { disk, identity, .. } = &self.folder;
        for (&trx, &SpilledUndo { up_to, bytes }) in spilled {
            let file = SpillFile::reopen(&**disk, &self.folder.file_of(trx), *identity, trx, bytes)?;
            self.files.insert(trx, Spilled { file, up_to, has_ended: false, is_closed: false });
        }
        Ok(())
    }

    /// Removes files that no checkpoint in force names, except for the one that undo is swapped to.
    pub(crate) fn remove_unneeded_files(&self) -> Result<()> {
        let swap = self.folder.path.join(SWAP_FILE);
        let named: BTreeSet<PathBuf> = self.files.keys().map(|&trx| self.folder.file_of(trx)).collect();
        self.folder.remove_others(|path| *path == *swap || named.contains(path))
    }

    /// Where what goes wrong is reported to people.
    pub(crate) fn notes(&self) -> &Arc<dyn StartupLog> {
        &self.notes
    }

    /// Whether files lie there whose transactions are not among the `unfinished` ones.
    pub(crate) fn has_superfluous(&self, unfinished: &[(TrxId, Lsn)]) -> bool {
        self.files.keys().any(|trx| !is_among(*trx, unfinished))
    }

    /// From where on the log has undo of a transaction that is in no file.
    fn start_of(&self, trx: TrxId, first_undo: Lsn) -> Lsn {
        self.files
            .get(&trx)
            .filter(|spilled| spilled.up_to > Lsn(0))
            .map_or(first_undo, |spilled| spilled.up_to)
    }

    /// Copies the undo of transactions that the log would be kept for too long. Whether any was.
    ///
    /// # Errors
    /// Of the log; and of the disk, unless it has no room.
    pub(crate) fn spill(
        &mut self,
        log: &Log,
        unfinished: &[(TrxId, Lsn)],
        limits: PassLimits,
    ) -> Result<bool> {
        let start =
            |&(trx, first_undo): &(TrxId, Lsn)| (trx, self.start_of(trx, first_undo).max(limits.begin));
        let can =
            |trx: TrxId| self.files.get(&trx).is_none_or(|spilled| !spilled.has_ended && !spilled.is_closed);
        let old: BTreeMap<TrxId, Lsn> =
            unfinished.iter().map(start).filter(|&(trx, from)| from < limits.wanted && can(trx)).collect();
        let Some(from) = old.values().min().copied().filter(|from| *from < limits.due) else {
            return Ok(false);
        };
        let up_to = log.safe_lsn();
        let Err(error) = self.copy(log, from, up_to, &old) else { return Ok(true) };
        // Even where the server is about to end: another checkpoint may come before.
        self.take_back(&old);
        match error {
            crate::Error::Io(error) if error.is_out_of_space() => {
                self.warn(&error);
                Ok(false)
            }
            error => Err(error),
        }
    }

    fn copy(&mut self, log: &Log, from: Lsn, up_to: Lsn, old: &BTreeMap<TrxId, Lsn>) -> Result<()> {
        for &trx in old.keys() {
            self.make(trx)?;
        }
        let mut frames = log.read_back(from, up_to).map_err(space::Error::from)?;
        let mut parts = Vec::new();
        while let Some(frame) = frames.next_frame().map_err(space::Error::from)? {
            self.copy_frame(&frame, old, &mut parts)?;
        }
        for trx in old.keys() {
            let Some(spilled) = self.files.get_mut(trx).filter(|spilled| !spilled.has_ended) else {
                continue;
            };
            spilled.file.write()?;
            // Until the sync has gone well.
            spilled.is_closed = true;
            spilled.file.sync()?;
            spilled.is_closed = false;
        }
        self.folder.disk.sync_dir(&self.folder.path)?;
        for (_, spilled) in self.files.iter_mut().filter(|(trx, _)| old.contains_key(trx)) {
            spilled.file.keep();
            spilled.up_to = up_to;
        }
        Ok(())
    }

    fn make(&mut self, trx: TrxId) -> Result<()> {
        if !self.files.contains_key(&trx) {
            let SpillFolder { disk, identity, .. } = &self.folder;
            let file = SpillFile::create(&**disk, &self.folder.file_of(trx), *identity, trx)?;
            let spilled = Spilled { file, up_to: Lsn(0), has_ended: false, is_closed: false };
            self.files.insert(trx, spilled);
        }
        Ok(())
    }

    /// Copies the parts of one frame that are of `old` transactions and not in their files.
    fn copy_frame(
        &mut self,
        frame: &Frame<'_>,
        old: &BTreeMap<TrxId, Lsn>,
        parts: &mut Vec<u8>,
    ) -> Result<()> {
        let mut of = None;
        parts.clear();
        for part in frame.parts() {
            let part = part.map_err(space::Error::from)?;
            let Some(trx) = part.undo_of().or(part.end_of()) else { continue };
            if old.get(&trx).is_none_or(|from| frame.range.start < *from) {
                continue;
            }
            if part.end_of().is_some() {
                self.files.entry(trx).and_modify(|spilled| spilled.has_ended = true);
                continue;
            }
            base::invariant!(of.is_none_or(|of| of == trx), "a frame has undo of {trx} and of another");
            of = Some(trx);
            part.encode(parts);
        }
        if let Some(spilled) = of.and_then(|trx| self.files.get_mut(&trx)) {
            spilled.file.push(frame.range, parts)?;
        }
        Ok(())
    }

    /// Leaves everything as it was before a pass that has failed.
    fn take_back(&mut self, old: &BTreeMap<TrxId, Lsn>) {
        for trx in old.keys() {
            self.files.entry(*trx).and_modify(|spilled| spilled.file.take_back());
        }
    }

    fn warn(&mut self, error: &IoError) {
        if !std::mem::replace(&mut self.has_warned, true) {
            self.notes.note(&format!(
                "undo of long transactions cannot be spilled, so that the redo log is kept for them: {error}"
            ));
        }
    }

    /// [`SpillFolder::remove_swap`].
    pub(crate) fn remove_swap(&self) {
        self.folder.remove_swap();
    }

    /// What a checkpoint says of the `unfinished` transactions, and of those that it leaves out, the first
    /// undo.
    pub(crate) fn states(&self, unfinished: &[(TrxId, Lsn)], begin: Lsn) -> (Vec<TrxState>, Option<Lsn>) {
        let has_ended = |trx: &TrxId| self.files.get(trx).is_some_and(|spilled| spilled.has_ended);
        let (ended, open): (Vec<_>, Vec<_>) = unfinished.iter().partition(|(trx, _)| has_ended(trx));
        let state = |(trx, first_undo): (TrxId, Lsn)| TrxState {
            trx,
            phase: TrxPhase::Active,
            first_undo: self.start_of(trx, first_undo).max(begin),
            // Readers of the undo find it again.
            newest_undo: UndoPtr::NONE,
            spilled_bytes: self
                .files
                .get(&trx)
                .filter(|spilled| spilled.up_to > Lsn(0))
                .map_or(0, |spilled| spilled.file.kept_bytes()),
        };
        (open.into_iter().map(state).collect(), ended.into_iter().map(|(_, first_undo)| first_undo).min())
    }

    /// Removes the files of transactions that are not among the `unfinished` ones. A checkpoint that does not
    /// name them is durable.
    pub(crate) fn remove_superfluous(&mut self, unfinished: &[(TrxId, Lsn)]) {
        let folder = &self.folder;
        self.files.retain(|trx, _| {
            let stays = is_among(*trx, unfinished);
            if !stays {
                // A file that cannot be removed is removed by the next startup.
                let _ = folder.disk.remove(&folder.file_of(*trx));
            }
            stays
        });
    }
}

fn is_among(trx: TrxId, unfinished: &[(TrxId, Lsn)]) -> bool {
    unfinished.iter().any(|(id, _)| *id == trx)
}
