//! The ring: the newest part of the stream, in memory.
//!
//! # Invariants
//! 1. A byte of the stream is stored by the one thread that reserved it, and only while it lies in the
//!    window: below it at most the ring's length is not written to a file yet.
//! 2. A byte is loaded only by the holder of the log's writer, only below the safe prefix and not below what
//!    is written.
//!
//! By 1 two stores never meet: reservations are disjoint and the window is no longer than the ring. By 1 and
//! 2 a store and a load never meet: what is not written and below the safe prefix was stored before, and its
//! place is stored to again only after it was written.

use std::ptr::NonNull;

use base::sync::RaceCheck;

/// The bytes. A stream position's place is the position modulo the length, a power of two.
#[derive(Debug)]
pub(crate) struct Ring {
    start: NonNull<u8>,
    bytes: usize,
    race_check: RaceCheck,
}

#[expect(unsafe_code, reason = "the ring is plain memory")]
// SAFETY: the memory belongs to the ring; invariants 1 and 2 say which thread may access which byte when.
unsafe impl Send for Ring {}
#[expect(unsafe_code, reason = "the ring is plain memory")]
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl Ring {
    /// A ring of `bytes`, rounded up to a power of two. Touches no memory.
    pub(crate) fn new(bytes: usize) -> Self {
        let bytes = bytes.next_power_of_two();
        let memory = Box::into_raw(vec![0u8; bytes].into_boxed_slice());
        let start = NonNull::new(memory.cast::<u8>()).expect("a box is never null");
        Ring { start, bytes, race_check: RaceCheck::new(bytes) }
    }

    /// Its length.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.bytes as u64
    }

    /// The place of a position, and how many bytes follow it before the ring begins again.
    #[inline]
    fn place(&self, at: u64) -> (usize, usize) {
        let place = at as usize & (self.bytes - 1);
        (place, self.bytes - place)
    }

    /// Stores bytes of the stream, at most the ring's length.
    ///
    /// # Safety
    /// The caller has reserved `at..at + bytes.len()` and these lie in the window (invariant 1).
    #[inline]
    #[expect(unsafe_code, reason = "copies between stretches of the ring that others do not use")]
    pub(crate) unsafe fn store(&self, at: u64, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.bytes, "{} bytes into a ring of {}", bytes.len(), self.bytes);
        let (place, behind) = self.place(at);
        let first = bytes.len().min(behind);
        self.race_check.writes(place, first);
        self.race_check.writes(0, bytes.len() - first);
        // SAFETY: `place` is below the ring's length.
        let at = unsafe { self.start.add(place) };
        // SAFETY: `place` + `first` <= the ring's length; no other thread uses these bytes (invariant 1).
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.as_ptr(), first) };
        if first < bytes.len() {
            let rest = &bytes[first..];
            // SAFETY: the rest is shorter than the ring, `place` being above 0; invariant 1.
            unsafe { std::ptr::copy_nonoverlapping(rest.as_ptr(), self.start.as_ptr(), rest.len()) };
        }
    }

    /// The bytes of the stream from `from` to `to`, in two pieces, the second often empty.
    ///
    /// # Safety
    /// The caller holds the writer, everything below `to` was stored, and nothing from `from` on is written
    /// (invariant 2), all while the slices live.
    #[expect(unsafe_code, reason = "slices of the ring that nobody stores to")]
    pub(crate) unsafe fn load(&self, from: u64, to: u64) -> [&[u8]; 2] {
        let bytes = (to - from) as usize;
        debug_assert!(bytes <= self.bytes, "{bytes} bytes from a ring of {}", self.bytes);
        let (place, behind) = self.place(from);
        let first = bytes.min(behind);
        self.race_check.reads(place, first);
        self.race_check.reads(0, bytes - first);
        // SAFETY: `place` is below the ring's length.
        let at = unsafe { self.start.add(place) };
        // SAFETY: inside the ring, as in `store`; no thread stores there (invariant 2).
        let front = unsafe { std::slice::from_raw_parts(at.as_ptr(), first) };
        // SAFETY: at most the ring's length; invariant 2.
        let back = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), bytes - first) };
        [front, back]
    }
}

impl Drop for Ring {
    #[expect(unsafe_code, reason = "gives back what `new` took")]
    fn drop(&mut self) {
        let memory = std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.bytes);
        // SAFETY: the box of `new`, of this address and length, with no references left.
        drop(unsafe { Box::from_raw(memory) });
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "calls the ring's unsafe functions with one thread")]
mod tests {
    use super::*;

    #[test]
    fn the_ring_agrees_with_a_plain_vector() {
        let ring = Ring::new(60);
        assert_eq!(ring.len(), 64);
        let mut stream = Vec::new();
        let mut dice = base::prng::Prng::new(7);
        let mut written = 0;
        for round in 0..if cfg!(miri) { 200 } else { 2000u32 } {
            let room = ring.len() - (stream.len() as u64 - written);
            let bytes = vec![round as u8; dice.below(room + 1) as usize];
            // SAFETY: one thread; `bytes` fits in the room that is left.
            unsafe { ring.store(stream.len() as u64, &bytes) };
            stream.extend_from_slice(&bytes);
            let to = written + dice.below(stream.len() as u64 - written + 1);
            // SAFETY: one thread; everything up to the stream's end is stored, nothing from `written` on is
            // given up.
            let pieces = unsafe { ring.load(written, to) };
            assert_eq!(pieces.concat(), stream[written as usize..to as usize]);
            written = to;
        }
    }
}
