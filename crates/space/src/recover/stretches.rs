//! The log as it is read: stretch by stretch, by a thread that is some ahead.

use std::sync::Arc;

use log::{LogReader, Stretch};

use super::queue::{Queue, SpareBuffers};
use crate::error::Result;

/// Stretches that were read and wait, at most.
const AHEAD: usize = 2;

/// The stretches of a log in order, up to its end.
#[derive(Debug)]
pub(super) struct Stretches {
    spares: Arc<SpareBuffers<u8>>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Here(Box<LogReader>),
    Thread(Arc<Queue<Stretch>>, env::Thread<(LogReader, log::Result<()>)>),
}

impl Stretches {
    /// Reads on from where `reader` is: in a thread, or as the caller asks if `alone`.
    pub(super) fn start(mut reader: LogReader, alone: bool) -> Result<Stretches> {
        let spares = Arc::new(SpareBuffers::new());
        if alone {
            return Ok(Stretches { spares, source: Source::Here(Box::new(reader)) });
        }
        let queue = Arc::new(Queue::new(AHEAD));
        let (theirs, memory) = (Arc::clone(&queue), Arc::clone(&spares));
        let thread = env::spawn_background("redo-read", move || {
            let read = read_all(&mut reader, &theirs, &memory);
            theirs.close();
            (reader, read)
        })?;
        Ok(Stretches { spares, source: Source::Thread(queue, thread) })
    }

    /// The next stretch; `None` at the end, or if it cannot be read: [`Stretches::end`] has it.
    pub(super) fn next(&mut self) -> Result<Option<Stretch>> {
        match &mut self.source {
            Source::Here(reader) => Ok(reader.next_stretch(self.spares.take())?),
            Source::Thread(queue, _) => Ok(queue.next()),
        }
    }

    /// Where the memory of stretches is to go.
    pub(super) fn spares(&self) -> &Arc<SpareBuffers<u8>> {
        &self.spares
    }

    /// The reader back, and whether all went well.
    pub(super) fn end(self) -> (LogReader, Result<()>) {
        match self.source {
            Source::Here(reader) => (*reader, Ok(())),
            Source::Thread(queue, thread) => {
                queue.abandon();
                let ended = thread.join();
                let (reader, read) = ended.expect("a panic of a background thread ends the process");
                (reader, read.map_err(Into::into))
            }
        }
    }
}

fn read_all(reader: &mut LogReader, queue: &Queue<Stretch>, spares: &SpareBuffers<u8>) -> log::Result<()> {
    while let Some(stretch) = reader.next_stretch(spares.take())? {
        if !queue.push(stretch) {
            break;
        }
    }
    Ok(())
}
