//! Reading the log while it is being written.

use base::Lsn;

use crate::error::Result;
use crate::log::Log;
use crate::position::LogPosition;
use crate::reader::LogReader;
use crate::stretch::Frame;

/// The frames of a part of the log.
#[derive(Debug)]
pub struct ReadBack(LogReader);

impl ReadBack {
    /// The next frame; `None` at the end of the part.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] if what was written cannot be read back.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>> {
        self.0.next_frame()
    }
}

impl Log {
    /// The frames from `from` to `to`, where frames begin: `to` is at most [`Log::safe_lsn`], and no
    /// checkpoint beyond `from` is recorded while this is read. What is read is durable.
    ///
    /// Latches: none may be held.
    pub fn read_back(&self, from: Lsn, to: Lsn) -> Result<ReadBack> {
        self.durable_up_to(to)?;
        let writer = self.hold_writer();
        let files = &writer.files;
        Ok(ReadBack(LogReader::between(files.folder().clone(), files.linked(), from, to)))
    }
}
