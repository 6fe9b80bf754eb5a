//! Searches for bytes in texts of any length: in linear time, with checks of the kill flag.

use memchr::memmem::{Finder, FinderRev};

use super::pieces::{PIECE_BYTES, STEPS_BETWEEN_LOOKS};
use crate::{EvalCtx, EvalError};

/// The places of a needle in a text, from the front or from the back. They do not overlap.
pub(crate) struct Places<'t, 'v> {
    ctx: &'v EvalCtx<'v>,
    text: &'t [u8],
    needle: &'t [u8],
    finder: Direction<'t>,
    /// The bytes of the text that are not searched yet.
    start: usize,
    end: usize,
    /// Places found since the last look.
    found: usize,
}

#[expect(clippy::large_enum_variant, reason = "there is one, on the stack")]
enum Direction<'t> {
    FromFront(Finder<'t>),
    FromBack(FinderRev<'t>),
}

impl<'t, 'v> Places<'t, 'v> {
    /// The places of `needle`, which is not empty, from the front of `text`.
    pub(crate) fn from_front(ctx: &'v EvalCtx<'v>, text: &'t [u8], needle: &'t [u8]) -> Self {
        let finder = Direction::FromFront(Finder::new(head(needle)));
        Places { ctx, text, needle, finder, start: 0, end: text.len(), found: 0 }
    }

    /// The places of `needle`, which is not empty, from the back of `text`.
    pub(crate) fn from_back(ctx: &'v EvalCtx<'v>, text: &'t [u8], needle: &'t [u8]) -> Self {
        let finder = Direction::FromBack(FinderRev::new(head(needle)));
        Places { ctx, text, needle, finder, start: 0, end: text.len(), found: 0 }
    }

    /// The next place.
    /// # Errors  [`EvalError::Killed`].
    pub(crate) fn next(&mut self) -> Result<Option<usize>, EvalError> {
        self.found += 1;
        if self.found == STEPS_BETWEEN_LOOKS {
            self.found = 0;
            self.ctx.fail_if_killed()?;
        }
        if self.needle.len() > PIECE_BYTES {
            return self.next_of_long_needle();
        }
        loop {
            let rest = &self.text[self.start..self.end];
            // Windows overlap by less than the needle.
            let bytes = rest.len().min(PIECE_BYTES + self.needle.len() - 1);
            let (at, is_front) = match &self.finder {
                Direction::FromFront(finder) => (finder.find(&rest[..bytes]), true),
                Direction::FromBack(finder) => (finder.rfind(&rest[rest.len() - bytes..]), false),
            };
            match (at, is_front) {
                (Some(at), true) => return Ok(Some(self.found_at(self.start + at))),
                (Some(at), false) => return Ok(Some(self.found_at(self.end - bytes + at))),
                _ if bytes == rest.len() => return Ok(None),
                (None, true) => self.start += PIECE_BYTES,
                (None, false) => self.end -= PIECE_BYTES,
            }
            self.ctx.fail_if_killed()?;
        }
    }

    /// Goes on beyond the place `at`.
    fn found_at(&mut self, at: usize) -> usize {
        match self.finder {
            Direction::FromFront(_) => self.start = at + self.needle.len(),
            Direction::FromBack(_) => self.end = at,
        }
        at
    }

    /// The next place of a needle that is too long for a window: by a rolling hash.
    #[cold]
    fn next_of_long_needle(&mut self) -> Result<Option<usize>, EvalError> {
        let text = &self.text[self.start..self.end];
        let length = self.needle.len();
        let Some(last) = text.len().checked_sub(length) else { return Ok(None) };
        let is_front = matches!(self.finder, Direction::FromFront(_));
        let byte = |of: &[u8], i: usize| u64::from(if is_front { of[i] } else { of[of.len() - 1 - i] });
        let (mut wanted, mut hash, mut first_weight) = (0, 0, 1);
        for i in 0..length {
            self.look_at(i)?;
            wanted = rolled(wanted, byte(self.needle, i));
            hash = rolled(hash, byte(text, i));
            first_weight = if i == 0 { 1 } else { times(first_weight, ROLLING_BASE) };
        }
        for i in 0..=last {
            self.look_at(i)?;
            let at = if is_front { i } else { last - i };
            if hash == wanted && text[at..at + length] == *self.needle {
                let at = self.start + at;
                return Ok(Some(self.found_at(at)));
            }
            if i < last {
                let left = ROLLING_PRIME - times(byte(text, i), first_weight);
                hash = rolled((hash + left) % ROLLING_PRIME, byte(text, i + length));
            }
        }
        Ok(None)
    }

    fn look_at(&self, i: usize) -> Result<(), EvalError> {
        if i.is_multiple_of(PIECE_BYTES) { self.ctx.fail_if_killed() } else { Ok(()) }
    }
}

/// A prime for hashes: 2^61 - 1.
const ROLLING_PRIME: u64 = (1 << 61) - 1;
/// The factor of a byte's hash for each byte that follows. Any large number serves: equal hashes are
/// compared.
const ROLLING_BASE: u64 = 0x0b4e_89a1_7f3d_2c65;

/// `a * b` modulo the prime.
fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let sum = (product as u64 & ROLLING_PRIME) + (product >> 61) as u64;
    if sum >= ROLLING_PRIME { sum - ROLLING_PRIME } else { sum }
}

/// The hash of some bytes, and one more.
fn rolled(hash: u64, byte: u64) -> u64 {
    (times(hash, ROLLING_BASE) + byte) % ROLLING_PRIME
}

/// The part of a needle for which a finder is made: nothing of one that is searched by its hash.
fn head(needle: &[u8]) -> &[u8] {
    if needle.len() > PIECE_BYTES { &[] } else { needle }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::test_session::TestSession;

    fn places(text: &[u8], needle: &[u8], is_front: bool) -> Vec<usize> {
        let (arena, session) = (Bump::new(), TestSession::default());
        let ctx = EvalCtx::new(&arena, &[], &session);
        let mut places = if is_front {
            Places::from_front(&ctx, text, needle)
        } else {
            Places::from_back(&ctx, text, needle)
        };
        std::iter::from_fn(|| places.next().unwrap()).collect()
    }

    #[test]
    fn places_of_short_and_long_needles_are_found_from_both_sides() {
        assert_eq!(places(b"aaaaa", b"aa", true), [0, 2]);
        assert_eq!(places(b"aaaaa", b"aa", false), [3, 1]);
        assert_eq!(places(b"a", b"aa", true), []);
        for length in [1, 1000, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1] {
            let mut needle = vec![b'a'; length];
            needle[length / 2] = b'b';
            // The first place crosses the end of a window; what goes before it is nearly a place everywhere.
            let first = PIECE_BYTES + 5;
            let mut text = vec![b'a'; first];
            text.extend_from_slice(&needle);
            let second = text.len() + 3;
            text.extend_from_slice(b"aaa");
            text.extend_from_slice(&needle);
            text.extend_from_slice(b"aa");
            assert_eq!(places(&text, &needle, true), [first, second], "{length}");
            assert_eq!(places(&text, &needle, false), [second, first], "{length}");
        }
    }
}
