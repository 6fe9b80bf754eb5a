//! Redo: the pages of the file as the log says they were, after an end without a clean shutdown.
//!
//! ```text
//!  pass 1, reading only   stretches -> Freed (which pages were given back when), and parts for the layers above
//!  pass 2, redo           stretches -> runs of changes -> threads (page number modulo their number) -> pool
//! ```
//! A thread reads the log, checks frames and passes them on as stretches of some megabytes. Nothing is copied
//! from there on: an apply thread gets the stretch, and the positions of the changes of its pages in it.
//!
//! The first pass finds the end of the log, so that a damaged log is refused before anything is written. It
//! also finds pages that were freed: what the log says of a page below that moment may build on bytes that
//! never reached the disk, because frames of freed pages are forgotten, and it will not be read.
//!
//! Changes of one page are applied by one thread, in log order, those of a frame together; pages do not
//! depend on each other. A page that is damaged on disk loses its changes, except for those that create it
//! again (`lost.rs`). `cargo xtask recovery` measures it, and `examples/redo_speed.rs` these two passes
//! alone. A page whose LSN is at or above the end of a frame has its changes already, so that redo may be
//! repeated.

mod apply;
mod apply_threads;
mod freed;
mod lost;
mod queue;
mod runs;
mod stretches;

use std::sync::{Arc, OnceLock};

use base::{Lsn, PageNo};
use buffer::{CorruptPage, Pool, RestoreReport};
use log::{Frame, FrameRange, Log, LogPosition, LogReader, Part, TrxState};

use crate::error::{BadFrame, Error, Result};
use apply_threads::ApplyThreads;
pub(crate) use freed::Freed;
pub(crate) use lost::LostPages;
use stretches::Stretches;

/// Receives reports of the startup of a store for the layers above.
pub trait StartObserver {
    /// The transactions that the checkpoint lists at which the log is begun; before any part.
    ///
    /// # Errors
    /// End the start.
    fn checkpoint(&mut self, _listed: &[TrxState]) -> Result<()> {
        Ok(())
    }

    /// A part of the log other than page changes, in log order, from the redo LSN to the log's end.
    ///
    /// # Errors
    /// End the start.
    fn part(&mut self, range: FrameRange, part: &Part<'_>) -> Result<()>;

    /// The log was not closed: it has been read, and is about to be applied. Nothing has been written yet.
    ///
    /// # Errors
    /// End the start.
    fn unclean(&mut self) -> Result<()> {
        Ok(())
    }

    /// What became of pages that a crash may have torn.
    fn torn_pages(&mut self, _report: &RestoreReport) {}

    /// Pages that are damaged on disk and were to be changed: they lack what the log has of them. Called
    /// before anybody reads pages.
    fn lost_pages(&mut self, _pages: &[CorruptPage]) {}

    /// Returns whether, by the log, a page was free at some moment after a position of the log. Called when
    /// all of it has been read.
    fn freed_after(&mut self, _is_freed_after: &dyn Fn(PageNo, Lsn) -> bool) {}

    /// How far it has got. Called once per some megabytes of log.
    fn progress(&mut self, _progress: Progress) {}
}

/// How far a startup has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Where recovery begins.
    pub from: Lsn,
    /// Pages have the changes below.
    pub at: Lsn,
    /// The end of the log.
    pub end: Lsn,
}

/// For who has no use for it.
impl StartObserver for () {
    fn part(&mut self, _range: FrameRange, _part: &Part<'_>) -> Result<()> {
        Ok(())
    }
}

/// What the pool needs of a log that is being read: all of it is durable. From [`LatePosition::set`] on, what
/// it needs of the log that continues there.
#[derive(Debug)]
pub(crate) struct LatePosition {
    end: Lsn,
    log: OnceLock<Arc<Log>>,
}

impl LatePosition {
    /// Of a log that ends at `end`.
    pub(crate) fn new(end: Lsn) -> Self {
        LatePosition { end, log: OnceLock::new() }
    }

    /// The log is open for writing.
    pub(crate) fn set(&self, log: &Arc<Log>) {
        self.log.get_or_init(|| Arc::clone(log));
    }
}

impl LogPosition for LatePosition {
    fn durable_up_to(&self, lsn: Lsn) -> log::Result<()> {
        self.log.get().map_or(Ok(()), |log| log.durable_up_to(lsn))
    }

    fn end(&self) -> Lsn {
        self.log.get().map_or(self.end, |log| log.current())
    }
}

/// Reads the log to its end, with a thread that reads ahead unless `alone`. Nothing is written.
pub(crate) fn analyse(
    reader: LogReader,
    alone: bool,
    observer: &mut dyn StartObserver,
) -> Result<(LogReader, Freed)> {
    let mut freed = Freed::default();
    observer.checkpoint(&reader.listed()?)?;
    let reader = for_each_stretch(reader, alone, |stretches| {
        while let Some(stretch) = stretches.next()? {
            stretch.frames().try_for_each(|frame| analyse_frame(&frame, &mut freed, observer))?;
            stretches.spares().give(stretch.into_bytes());
        }
        Ok(())
    })?;
    observer.freed_after(&|page, end| freed.is_freed_after(page, end));
    Ok((reader, freed))
}

fn analyse_frame(frame: &Frame<'_>, freed: &mut Freed, observer: &mut dyn StartObserver) -> Result<()> {
    for part in frame.parts() {
        match part? {
            Part::Changes(changes) => freed.note(changes, frame.range)?,
            part => observer.part(frame.range, &part)?,
        }
    }
    Ok(())
}

/// Applies what the log says to the pages of `pool`, with threads unless `alone`. The reader is at the end;
/// it is there again afterwards.
pub(crate) fn redo(
    mut reader: LogReader,
    pool: &Arc<Pool>,
    freed: Freed,
    lost: &LostPages,
    alone: bool,
    observer: &mut dyn StartObserver,
) -> Result<LogReader> {
    let end = reader.position();
    reader.rewind();
    let from = reader.position();
    let reader = for_each_stretch(reader, alone, |stretches| {
        let mut apply_threads = ApplyThreads::new(pool, freed, lost, alone, stretches.spares())?;
        let mut apply = || {
            while let Some(stretch) = stretches.next()? {
                let at = stretch.end();
                apply_threads.apply(stretch)?;
                if at < end {
                    observer.progress(Progress { from, at, end });
                }
            }
            Ok(())
        };
        let applied = apply();
        // Threads end also after an error.
        apply_threads.finish().and(applied)
    })?;
    observer.progress(Progress { from, at: end, end });
    Ok(reader)
}

/// Lets `work` go through the log from where the reader is. An error names the place in the log.
fn for_each_stretch(
    reader: LogReader,
    alone: bool,
    work: impl FnOnce(&mut Stretches) -> Result<()>,
) -> Result<LogReader> {
    let mut stretches = Stretches::start(reader, alone)?;
    let worked = work(&mut stretches);
    let (reader, read) = stretches.end();
    worked.and(read).map_err(|error| placed(&reader, error))?;
    Ok(reader)
}

/// The error for changes that are invalid, or do not suit their page. Where the frame lies is filled in by
/// [`placed`].
#[cold]
pub(crate) fn bad_frame(range: FrameRange, page: PageNo) -> Error {
    Error::BadFrame(Box::new(BadFrame {
        file: std::path::PathBuf::default(),
        offset: 0,
        lsn: range.start,
        page,
    }))
}

/// Names file and offset of a bad frame.
#[cold]
fn placed(reader: &LogReader, error: Error) -> Error {
    match error {
        Error::BadFrame(mut bad) => {
            if let Some((file, offset)) = reader.place_of(bad.lsn) {
                (bad.file, bad.offset) = (file.to_path_buf(), offset);
            }
            Error::BadFrame(bad)
        }
        other => other,
    }
}
