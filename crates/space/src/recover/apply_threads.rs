//! The threads that apply changes, each with its own share of the pages; or the caller alone.

use std::sync::Arc;

use buffer::Pool;
use log::{Frame, Stretch};

use super::apply::{Applier, Run};
use super::freed::Freed;
use super::lost::LostPages;
use super::queue::{Queue, SpareBuffers};
use super::runs::for_each_run;
use crate::error::Result;

/// Jobs that wait for one thread, at most.
const JOBS_WAITING: usize = 3;

/// Threads, at most: the one that finds out what is whose has no more work to give.
const THREADS_MAX: usize = 8;

/// All of them.
#[derive(Debug)]
pub(crate) struct ApplyThreads {
    threads: Vec<ApplyThread>,
    /// Where the memory of stretches goes.
    stretches: Arc<SpareBuffers<u8>>,
    runs: Arc<SpareBuffers<Run>>,
}

/// The changes of one stretch that one thread applies.
#[derive(Debug)]
struct Job {
    stretch: Arc<Stretch>,
    runs: Vec<Run>,
}

/// One thread, and its share of the stretch that is being distributed.
#[derive(Debug)]
struct ApplyThread {
    runs: Vec<Run>,
    worker: Worker,
}

#[derive(Debug)]
enum Worker {
    Here(Applier),
    Thread(Arc<Queue<Job>>, env::Thread<Result<()>>),
}

impl ApplyThreads {
    /// Starts the threads for the pages of `pool`; `alone`: the caller applies all changes. The memory of
    /// stretches goes to `stretches`.
    pub(crate) fn new(
        pool: &Arc<Pool>,
        freed: Freed,
        lost: &LostPages,
        alone: bool,
        stretches: &Arc<SpareBuffers<u8>>,
    ) -> Result<ApplyThreads> {
        let freed = Arc::new(freed);
        let applier = || Applier::new(Arc::clone(pool), Arc::clone(&freed), lost.clone());
        let (stretches, runs) = (Arc::clone(stretches), Arc::new(SpareBuffers::new()));
        let threads = if alone {
            vec![ApplyThread { runs: Vec::new(), worker: Worker::Here(applier()) }]
        } else {
            let count = env::processors().min(THREADS_MAX);
            (0..count).map(|_| ApplyThread::start(applier(), &stretches, &runs)).collect::<Result<_>>()?
        };
        Ok(ApplyThreads { threads, stretches, runs })
    }

    /// Distributes the changes in a stretch.
    ///
    /// # Errors
    /// A frame that is not understood, and those of the threads, which may be returned by a later call.
    pub(super) fn apply(&mut self, stretch: Stretch) -> Result<()> {
        for frame in stretch.frames() {
            self.share_out(&stretch, &frame)?;
        }
        let stretch = Arc::new(stretch);
        for thread in &mut self.threads {
            if !thread.runs.is_empty() {
                let runs = std::mem::replace(&mut thread.runs, self.runs.take());
                thread.take_over(Job { stretch: Arc::clone(&stretch), runs }, &self.runs)?;
            }
        }
        give_back(stretch, &self.stretches);
        Ok(())
    }

    /// Adds each change of a frame to the share of the thread that applies it.
    fn share_out(&mut self, stretch: &Stretch, frame: &Frame<'_>) -> Result<()> {
        let bytes = stretch.bytes().as_ptr().addr();
        let frame_at = (frame.range.start.0 - stretch.start().0) as u32;
        for part in frame.parts() {
            if let log::Part::Changes(changes) = part? {
                for_each_run(changes, frame.range, |page, run| {
                    let share = page.0 as usize % self.threads.len();
                    let at = (run.as_ptr().addr() - bytes) as u32;
                    self.threads[share].runs.push(Run::new(page, at, run.len() as u32, frame_at));
                })?;
            }
        }
        Ok(())
    }

    /// Waits until everything is applied.
    pub(crate) fn finish(self) -> Result<()> {
        // All threads end before the first error is returned.
        let ended: Vec<Result<()>> = self.threads.into_iter().map(ApplyThread::finish).collect();
        ended.into_iter().collect()
    }
}

impl ApplyThread {
    fn start(
        mut applier: Applier,
        stretches: &Arc<SpareBuffers<u8>>,
        runs: &Arc<SpareBuffers<Run>>,
    ) -> Result<ApplyThread> {
        let queue = Arc::new(Queue::<Job>::new(JOBS_WAITING));
        let (theirs, stretches, spare_runs) = (Arc::clone(&queue), Arc::clone(stretches), Arc::clone(runs));
        let thread = env::spawn_background("redo", move || {
            while let Some(Job { stretch, mut runs }) = theirs.next() {
                if let Err(error) = applier.apply(&stretch, &mut runs) {
                    theirs.abandon();
                    return Err(error);
                }
                give_back(stretch, &stretches);
                runs.clear();
                spare_runs.give(runs);
            }
            Ok(())
        })?;
        Ok(ApplyThread { runs: Vec::new(), worker: Worker::Thread(queue, thread) })
    }

    fn take_over(&mut self, mut job: Job, spare_runs: &SpareBuffers<Run>) -> Result<()> {
        match &mut self.worker {
            Worker::Here(applier) => {
                applier.apply(&job.stretch, &mut job.runs)?;
                job.runs.clear();
                spare_runs.give(job.runs);
            }
            // A thread that has failed takes no more jobs; it returns its error at the end.
            Worker::Thread(queue, _) => drop(queue.push(job)),
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        match self.worker {
            Worker::Here(_) => Ok(()),
            Worker::Thread(queue, thread) => {
                queue.close();
                thread.join().unwrap_or(Ok(()))
            }
        }
    }
}

/// Returns the memory of a stretch if no other thread uses it.
fn give_back(stretch: Arc<Stretch>, spares: &SpareBuffers<u8>) {
    if let Some(stretch) = Arc::into_inner(stretch) {
        spares.give(stretch.into_bytes());
    }
}
