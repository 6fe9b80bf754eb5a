//! What passes between the threads of a recovery: work in order, and memory on its way back.

use std::collections::VecDeque;

use base::sync::{Event, LatchLevel, Mutex};

/// Work for one thread, in order.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    /// Notified of every change.
    changed: Event,
    /// Pieces that wait, at most.
    pieces_max: usize,
}

#[derive(Debug)]
struct State<T> {
    pieces: VecDeque<T>,
    closed: bool,
    /// The queue has no consumer any more: pieces are dropped.
    abandoned: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(pieces_max: usize) -> Self {
        let state = State { pieces: VecDeque::new(), closed: false, abandoned: false };
        Queue { state: Mutex::new(LatchLevel::Leaf, state), changed: Event::new(), pieces_max }
    }

    /// Adds a piece, when there is room. False: it is not wanted.
    pub(super) fn push(&self, piece: T) -> bool {
        loop {
            let ticket = self.changed.ticket();
            let mut state = self.state.lock();
            if state.abandoned {
                return false;
            }
            if state.pieces.len() < self.pieces_max {
                state.pieces.push_back(piece);
                drop(state);
                self.changed.notify_all();
                return true;
            }
            drop(state);
            self.changed.wait(ticket, None);
        }
    }

    /// The next piece, when there is one; `None` at the end.
    pub(super) fn next(&self) -> Option<T> {
        loop {
            let ticket = self.changed.ticket();
            let mut state = self.state.lock();
            if let Some(piece) = state.pieces.pop_front() {
                drop(state);
                self.changed.notify_all();
                return Some(piece);
            }
            if state.closed {
                return None;
            }
            drop(state);
            self.changed.wait(ticket, None);
        }
    }

    /// No piece comes any more.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// No piece is taken any more.
    pub(super) fn abandon(&self) {
        let mut state = self.state.lock();
        state.abandoned = true;
        state.pieces.clear();
        drop(state);
        self.changed.notify_all();
    }
}

/// Memory that was used and waits to be used again.
#[derive(Debug)]
pub(super) struct SpareBuffers<T>(Mutex<Vec<Vec<T>>>);

impl<T> SpareBuffers<T> {
    pub(super) fn new() -> Self {
        SpareBuffers(Mutex::new(LatchLevel::Leaf, Vec::new()))
    }

    /// Some memory, empty or not.
    pub(super) fn take(&self) -> Vec<T> {
        self.0.lock().pop().unwrap_or_default()
    }

    pub(super) fn give(&self, memory: Vec<T>) {
        self.0.lock().push(memory);
    }
}
