//! In-flight words: the stretch of the log that each appending thread is still writing.
//!
//! A thread that is about to reserve a frame publishes a word no higher than where the frame will begin, and
//! takes it back when the frame's bytes are in the ring and the pages that it changed are marked. The least
//! word, read *after* the log's tail, bounds what is complete: a reservation that the loaded tail counts was
//! preceded by its word.
//!
//! A frame that gets into the ring piece by piece also says how far it has got, so that its pieces can be
//! written. Its word stays where it is: a checkpoint must not begin the log in the middle of a frame, nor
//! after a change whose page is not marked yet.

use std::cell::Cell;

use base::sync::Padded;
use base::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Words; more threads than this at once in the middle of an append wait for each other. Two in a model.
const WORDS: usize = if cfg!(loom) { 2 } else { 128 };

/// The word without an append.
const IDLE: u64 = u64::MAX;

thread_local! {
    /// This thread's first choice, plus one; 0 while it has none. Any word may be taken by any thread.
    static CHOICE: Cell<usize> = const { Cell::new(0) };
}

/// What one thread says.
#[derive(Debug)]
struct Place {
    word: AtomicU64,
    /// Everything below is in the ring, of the frame of the word or of one before it.
    reached: AtomicU64,
}

/// The words of a log.
#[derive(Debug)]
pub(crate) struct InFlight {
    places: Box<[Padded<Place>]>,
    /// Words at and above this were never taken.
    used: AtomicUsize,
}

/// A word that a thread has taken; idle again when dropped.
#[derive(Debug)]
pub(crate) struct Word<'w>(&'w Place);

impl Word<'_> {
    /// The frame is in the ring up to `lsn`.
    #[inline]
    pub(crate) fn advance(&self, lsn: u64) {
        // Release pairs with `least_in_ring`: a thread that sees the position finds the bytes below it in the
        // ring.
        self.0.reached.store(lsn, Ordering::Release);
    }
}

impl Drop for Word<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with `least`: bytes and page marks come before the word is idle.
        self.0.word.store(IDLE, Ordering::Release);
    }
}

impl InFlight {
    pub(crate) fn new() -> Self {
        let place = |_| Padded(Place { word: AtomicU64::new(IDLE), reached: AtomicU64::new(0) });
        InFlight { places: (0..WORDS).map(place).collect(), used: AtomicUsize::new(0) }
    }

    /// Publishes a word of the tail's value. `None`: all words are taken.
    ///
    /// Cost: one compare-and-exchange on a line that is the thread's own as a rule.
    #[inline]
    pub(crate) fn publish(&self, tail: &AtomicU64) -> Option<Word<'_>> {
        let choice = match CHOICE.get() {
            0 => choose(),
            chosen => chosen - 1,
        };
        match self.take(choice % WORDS, tail) {
            Some(word) => Some(word),
            None => (0..WORDS).find_map(|at| self.take(at, tail)),
        }
    }

    #[inline]
    fn take(&self, at: usize, tail: &AtomicU64) -> Option<Word<'_>> {
        let place = &self.places[at].0;
        // The caller's AcqRel reservation comes after both stores, so that a thread that reads the tail it
        // leaves sees them.
        place
            .word
            .compare_exchange(IDLE, tail.load(Ordering::Relaxed), Ordering::AcqRel, Ordering::Relaxed)
            .ok()?;
        if at >= self.used.load(Ordering::Relaxed) {
            self.used.fetch_max(at + 1, Ordering::Relaxed);
        }
        Some(Word(place))
    }

    /// The least of `tail` and all words. The caller has loaded `tail` before, with Acquire.
    pub(crate) fn least(&self, tail: u64) -> u64 {
        // Relaxed: the tail, which the caller has loaded, comes after.
        let used = self.used.load(Ordering::Relaxed);
        // Acquire pairs with the drop of `Word`.
        let words = self.places[..used].iter().map(|place| place.0.word.load(Ordering::Acquire));
        words.fold(tail, u64::min)
    }

    /// As [`InFlight::least`], and that with what is in the ring already of frames that come piece by piece.
    /// The first is the begin of a frame, the second is as high or in the middle of one.
    pub(crate) fn least_in_ring(&self, tail: u64) -> (u64, u64) {
        // Relaxed: the tail, which the caller has loaded, comes after.
        let used = self.used.load(Ordering::Relaxed);
        let mut least = (tail, tail);
        for Padded(place) in &self.places[..used] {
            // Acquire pairs with `Word::advance` and the drop. What an earlier frame has reached is no higher
            // than the begin of the word's; if a later one has come since the word was loaded, the word's is
            // complete.
            let word = place.word.load(Ordering::Acquire);
            let reached = word.max(place.reached.load(Ordering::Acquire));
            least = (least.0.min(word), least.1.min(reached));
        }
        least
    }
}

/// Gives this thread the next word in turn.
#[cold]
fn choose() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let choice = NEXT.fetch_add(1, Ordering::Relaxed) % WORDS;
    CHOICE.set(choice + 1);
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_word_bounds_what_is_complete() {
        let words = InFlight::new();
        assert_eq!(words.least(100), 100);
        let early = words.publish(&AtomicU64::new(40)).unwrap();
        let late = words.publish(&AtomicU64::new(60)).unwrap();
        assert_eq!(words.least(100), 40);
        early.advance(50);
        assert_eq!((words.least(100), words.least_in_ring(100)), (40, (40, 50)));
        drop(early);
        assert_eq!(words.least(100), 60);
        drop(late);
        assert_eq!(words.least(100), 100);
    }

    #[test]
    fn all_words_can_be_taken_once() {
        let (words, tail) = (InFlight::new(), AtomicU64::new(5));
        let mut taken: Vec<Word<'_>> = std::iter::from_fn(|| words.publish(&tail)).collect();
        assert_eq!(taken.len(), WORDS);
        taken.pop();
        assert!(words.publish(&tail).is_some());
    }
}
