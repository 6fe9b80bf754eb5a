//! A copy of all redo, for tests that replay it.

use std::sync::Mutex;

use log::FrameRange;

/// Collects the redo of every mini-transaction once it is switched on.
#[derive(Debug, Default)]
pub(crate) struct RedoTap(Mutex<Option<Vec<Frame>>>);

/// A mini-transaction: where its frame lies in the log, and its redo.
pub(crate) type Frame = (FrameRange, Vec<u8>);

impl RedoTap {
    pub(crate) fn switch_on(&self) {
        self.0.lock().unwrap().get_or_insert_default();
    }

    pub(crate) fn record(&self, range: FrameRange, redo: &[u8]) {
        if let Some(frames) = self.0.lock().unwrap().as_mut() {
            frames.push((range, redo.to_vec()));
        }
    }

    /// All frames so far, in log order.
    pub(crate) fn take(&self) -> Vec<Frame> {
        let mut frames = self.0.lock().unwrap().take().unwrap_or_default();
        frames.sort_by_key(|(range, _)| range.start);
        frames
    }
}
