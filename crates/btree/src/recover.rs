//! Redo: the pages of the file as the log says they were, after an end without a clean shutdown.
//!
//! ```text
//!  pass 1, reading only   frames -> Freed (which pages were given back when), and parts for the layers above
//!  pass 2, redo           frames -> changes by page -> crew (page number modulo hands) -> pool
//! ```
//! The first pass finds the end of the log, so that a damaged log is refused before anything is written. It also finds
//! pages that were freed: what the log says of a page below that moment may build on bytes that never reached the disk,
//! because frames of freed pages are forgotten, and nobody will look at it.
//!
//! Changes of one page are applied by one hand, in log order, those of a frame together; pages do not depend on each
//! other. `examples/redo_speed.rs` measures it. A page whose LSN is at or above the end of a frame has its changes already, so that redo may be repeated.

mod apply;
mod crew;
mod freed;

use std::sync::{Arc, OnceLock};

use base::{Lsn, PageNo};
use log::{Frame, FrameRange, Log, LogPosition, LogReader, Part};
use page::op::decode_change;

use crate::error::{BadFrame, Error, Result};
pub(crate) use crew::Crew;
pub(crate) use freed::Freed;

/// How many bytes of the log lie between two reports of progress.
const REPORT_BYTES: u64 = 1 << 20;

/// What the start of a store tells the layers above.
pub trait StartObserver {
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

    /// How the log tells whether a page was in nobody's use at some moment after a position of the log. Called when all
    /// of it has been read.
    fn freed_after(&mut self, _is_freed_after: &dyn Fn(PageNo, Lsn) -> bool) {}

    /// How far it has got. Called about once per megabyte of log.
    fn progress(&mut self, _progress: Progress) {}
}

/// How far a start has got.
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

/// What write-back needs of a log that is being read: all of it is durable. From [`LatePosition::set`] on, what it needs of
/// the log that goes on there.
#[derive(Debug, Default)]
pub(crate) struct LatePosition(OnceLock<Arc<Log>>);

impl LatePosition {
    /// The log is open for writing.
    pub(crate) fn set(&self, log: &Arc<Log>) {
        self.0.get_or_init(|| Arc::clone(log));
    }
}

impl LogPosition for LatePosition {
    fn durable_up_to(&self, lsn: Lsn) -> log::Result<()> {
        self.0.get().map_or(Ok(()), |log| log.durable_up_to(lsn))
    }
}

/// Reads the log to its end. Nothing is written.
pub(crate) fn analyse(reader: &mut LogReader, observer: &mut dyn StartObserver) -> Result<Freed> {
    let mut freed = Freed::default();
    while let Some(frame) = reader.next_frame()? {
        if let Err(error) = analyse_frame(&frame, &mut freed, observer) {
            return Err(placed(reader, error));
        }
    }
    observer.freed_after(&|page, end| freed.is_freed_after(page, end));
    Ok(freed)
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

/// Applies what the log says to the pages of `pool`. The reader is at the end; it is there again afterwards.
pub(crate) fn redo(reader: &mut LogReader, mut crew: Crew, observer: &mut dyn StartObserver) -> Result<()> {
    let end = reader.position();
    reader.rewind();
    let from = reader.position();
    let mut report_at = from;
    while let Some(frame) = reader.next_frame()? {
        let range = frame.range;
        if let Err(error) = redo_frame(&frame, &mut crew) {
            return Err(placed(reader, error));
        }
        if range.end >= report_at {
            observer.progress(Progress { from, at: range.end, end });
            report_at = Lsn(range.end.0 + REPORT_BYTES);
        }
    }
    crew.finish().map_err(|error| placed(reader, error))?;
    observer.progress(Progress { from, at: end, end });
    Ok(())
}

fn redo_frame(frame: &Frame<'_>, crew: &mut Crew) -> Result<()> {
    for part in frame.parts() {
        if let Part::Changes(changes) = part? {
            for_each_run(changes, frame.range, |page, run| crew.push(page, frame.range, run))?;
        }
    }
    Ok(())
}

/// Splits changes into runs of one page each; a page that comes several times has its changes in one run.
fn for_each_run(
    changes: &[u8],
    range: FrameRange,
    mut take: impl FnMut(PageNo, &[&[u8]]) -> Result<()>,
) -> Result<()> {
    let mut runs: Vec<(PageNo, &[u8])> = Vec::new();
    let mut rest = changes;
    let mut run_start = rest;
    let mut run_page = None;
    while !rest.is_empty() {
        let before = rest;
        let (page, _) = decode_change(&mut rest).map_err(|_| bad_frame(range, PageNo::NONE))?;
        if run_page != Some(page) {
            if let Some(page) = run_page {
                runs.push((page, &run_start[..run_start.len() - before.len()]));
            }
            (run_start, run_page) = (before, Some(page));
        }
    }
    match (run_page, &runs[..]) {
        (None, _) => Ok(()),
        // All of most frames.
        (Some(page), []) => take(page, &[run_start]),
        (Some(page), _) => {
            runs.push((page, run_start));
            // Stable: the changes of a page stay in order.
            runs.sort_by_key(|(page, _)| *page);
            runs.chunk_by(|a, b| a.0 == b.0).try_for_each(|runs| {
                let pieces: Vec<&[u8]> = runs.iter().map(|(_, bytes)| *bytes).collect();
                take(runs[0].0, &pieces)
            })
        }
    }
}

/// The error for changes that are none, or do not suit their page. Where the frame lies is filled in by [`placed`].
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
