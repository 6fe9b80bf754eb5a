//! How rows flow: a source pushes them into a sink, one chain of frames a row.
//!
//! A row is valid during the call only. Whoever loops over rows asks the sink for a pause between batches, with no latch
//! held: that is when the answer is sent.

use crate::error::Result;
use crate::frame::Frame;

/// Whether a sink wants more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    /// The source may stop.
    Enough,
}

/// Takes rows.
pub(crate) trait Sink {
    /// Takes the row in flight.
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow>;

    /// Whether the sink has something to do for which no latch may be held.
    fn wants_pause(&self) -> bool {
        false
    }

    /// Does it.
    fn pause(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Produces rows; may be run again and again.
pub(crate) trait Source {
    /// Pushes all rows for the outer row `parent` into `sink`. [`Flow::Enough`] if the sink stopped it.
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow>;
}

/// A sink that is a closure and never pauses.
pub(crate) struct Collect<F>(pub(crate) F);

impl<F: FnMut(&Frame<'_>) -> Result<Flow>> Sink for Collect<F> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        (self.0)(frame)
    }
}
