//! Who applies changes: a few threads, each with its own share of the pages, or the reading thread itself.

use std::collections::VecDeque;
use std::sync::Arc;

use base::PageNo;
use base::sync::{Event, LatchLevel, Mutex};
use buffer::Pool;
use log::FrameRange;

use super::apply::{Applier, push_changes};
use super::freed::Freed;
use crate::error::Result;

/// A batch is handed over at this size: large, because the changes of a page in it are applied together.
const BATCH_BYTES: usize = 2 << 20;

/// Batches that wait for one thread, at most.
const BATCHES_WAITING: usize = 3;

/// Threads, at most: the one that reads the log has no more work to give.
const THREADS_MAX: usize = 8;

/// All hands.
#[derive(Debug)]
pub(crate) struct Crew {
    hands: Vec<Hand>,
}

/// One thread, and the batch in the making for it.
#[derive(Debug)]
struct Hand {
    batch: Vec<u8>,
    worker: Worker,
}

#[derive(Debug)]
enum Worker {
    Here(Applier),
    Thread(Arc<Queue>, env::Thread<Result<()>>),
}

impl Crew {
    /// A crew for the pages of `pool`: threads, or none if `alone`.
    pub(crate) fn new(pool: &Arc<Pool>, freed: Freed, alone: bool) -> Result<Crew> {
        let freed = Arc::new(freed);
        let applier = || Applier::new(Arc::clone(pool), Arc::clone(&freed));
        if alone {
            return Ok(Crew { hands: vec![Hand { batch: Vec::new(), worker: Worker::Here(applier()) }] });
        }
        let threads = env::processors().min(THREADS_MAX);
        let hands = (0..threads).map(|_| Hand::start(applier())).collect::<Result<_>>()?;
        Ok(Crew { hands })
    }

    /// Hands the changes of a frame to a page over.
    ///
    /// # Errors
    /// Those of a hand; an error of a thread may show only later.
    #[inline]
    pub(crate) fn push(&mut self, page: PageNo, range: FrameRange, pieces: &[&[u8]]) -> Result<()> {
        let share = page.0 as usize % self.hands.len();
        let hand = &mut self.hands[share];
        push_changes(&mut hand.batch, page, range, pieces);
        if hand.batch.len() >= BATCH_BYTES { hand.hand_over() } else { Ok(()) }
    }

    /// Waits until everything is applied.
    pub(crate) fn finish(mut self) -> Result<()> {
        let handed_over = self.hands.iter_mut().try_for_each(Hand::hand_over);
        // All threads end before the first error is told.
        let ended: Vec<Result<()>> = self.hands.into_iter().map(Hand::finish).collect();
        ended.into_iter().chain([handed_over]).collect()
    }
}

impl Hand {
    fn start(mut applier: Applier) -> Result<Hand> {
        let queue = Arc::new(Queue::default());
        let theirs = Arc::clone(&queue);
        let thread = env::spawn_background("redo", move || {
            while let Some(batch) = theirs.next() {
                if let Err(error) = applier.apply_batch(&batch) {
                    theirs.abandon();
                    return Err(error);
                }
                theirs.give_back(batch);
            }
            Ok(())
        })?;
        Ok(Hand { batch: Vec::new(), worker: Worker::Thread(queue, thread) })
    }

    fn hand_over(&mut self) -> Result<()> {
        match &mut self.worker {
            Worker::Here(applier) => {
                let done = applier.apply_batch(&self.batch);
                self.batch.clear();
                done
            }
            Worker::Thread(queue, _) => {
                self.batch = queue.push(std::mem::take(&mut self.batch));
                Ok(())
            }
        }
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

/// Batches on their way to a thread.
#[derive(Debug)]
struct Queue {
    state: Mutex<QueueState>,
    /// Notified of every change.
    changed: Event,
}

#[derive(Debug, Default)]
struct QueueState {
    batches: VecDeque<Vec<u8>>,
    /// Batches that were applied, for their room.
    spares: Vec<Vec<u8>>,
    closed: bool,
    /// The thread has failed: batches are dropped.
    abandoned: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { state: Mutex::new(LatchLevel::Leaf, QueueState::default()), changed: Event::new() }
    }
}

impl Queue {
    /// Adds a batch, when there is room. Returns an empty one.
    fn push(&self, batch: Vec<u8>) -> Vec<u8> {
        loop {
            let ticket = self.changed.ticket();
            let mut state = self.state.lock();
            if state.abandoned {
                return Vec::new();
            }
            if state.batches.len() < BATCHES_WAITING {
                state.batches.push_back(batch);
                let spare = state.spares.pop().unwrap_or_default();
                drop(state);
                self.changed.notify_all();
                return spare;
            }
            drop(state);
            self.changed.wait(ticket, None);
        }
    }

    /// The next batch, when there is one; `None` at the end.
    fn next(&self) -> Option<Vec<u8>> {
        loop {
            let ticket = self.changed.ticket();
            let mut state = self.state.lock();
            if let Some(batch) = state.batches.pop_front() {
                drop(state);
                self.changed.notify_all();
                return Some(batch);
            }
            if state.closed {
                return None;
            }
            drop(state);
            self.changed.wait(ticket, None);
        }
    }

    /// Takes a batch that was applied, to be filled again.
    fn give_back(&self, mut batch: Vec<u8>) {
        batch.clear();
        self.state.lock().spares.push(batch);
    }

    fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    fn abandon(&self) {
        let mut state = self.state.lock();
        state.abandoned = true;
        state.batches.clear();
        drop(state);
        self.changed.notify_all();
    }
}
