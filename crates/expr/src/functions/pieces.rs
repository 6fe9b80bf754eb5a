//! Work over long texts in pieces, with a check of the kill flag between two pieces.
//!
//! A text of up to [`PIECE_BYTES`] bytes is one piece, without a check of the flag: its cost is one
//! comparison of its length.

use std::ops::Range;

use bumpalo::collections::Vec as ArenaVec;
use types::Charset;

use super::Call;
use crate::{EvalCtx, EvalError};

/// Bytes of a text between two checks of the kill flag. The slowest function takes some ten milliseconds for
/// as many.
pub(crate) const PIECE_BYTES: usize = 1 << 20;
/// Short steps (matches, members, directives) between two looks.
pub(crate) const STEPS_BETWEEN_LOOKS: usize = 1 << 16;

/// The pieces of a text, each of whole characters.
pub(crate) struct Pieces<'t, 'v> {
    rest: &'t [u8],
    charset: Charset,
    ctx: &'v EvalCtx<'v>,
}

impl<'t> Iterator for Pieces<'t, '_> {
    /// A piece, or the error of a killed statement.
    type Item = Result<&'t [u8], EvalError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        if self.rest.len() <= PIECE_BYTES {
            return Some(Ok(std::mem::take(&mut self.rest)));
        }
        Some(self.next_of_several())
    }
}

impl<'t> Pieces<'t, '_> {
    #[cold]
    fn next_of_several(&mut self) -> Result<&'t [u8], EvalError> {
        self.ctx.fail_if_killed()?;
        let (piece, rest) = self.rest.split_at(char_start(self.rest, PIECE_BYTES, self.charset));
        self.rest = rest;
        Ok(piece)
    }
}

/// The start of the character that byte `at` of `text` is in; `at` itself if no character starts near it.
fn char_start(text: &[u8], at: usize, charset: Charset) -> usize {
    if !charset.is_utf8() {
        return at;
    }
    (at - 3..=at).rev().find(|i| text[*i] & 0xC0 != 0x80).unwrap_or(at)
}

/// The ranges of at most [`PIECE_BYTES`] that make up `0..length`.
fn ranges(length: usize) -> impl Iterator<Item = Range<usize>> {
    (0..length).step_by(PIECE_BYTES).map(move |start| start..length.min(start + PIECE_BYTES))
}

impl<'v> EvalCtx<'v> {
    /// # Errors  [`EvalError::Killed`].
    pub(crate) fn fail_if_killed(&self) -> Result<(), EvalError> {
        if self.session.killed() { Err(EvalError::Killed) } else { Ok(()) }
    }

    /// `text`, of the set `charset`, in pieces.
    #[inline]
    pub(crate) fn pieces<'t>(&'v self, charset: Charset, text: &'t [u8]) -> Pieces<'t, 'v> {
        Pieces { rest: text, charset, ctx: self }
    }

    /// [`Charset::char_len`] of a text of any length.
    pub(crate) fn char_len(&'v self, charset: Charset, text: &[u8]) -> Result<usize, EvalError> {
        self.pieces(Charset::Binary, text).map(|piece| Ok(charset.char_len(piece?))).sum()
    }

    /// [`Charset::byte_offset_of_char`] of a text of any length.
    pub(crate) fn byte_offset_of_char(
        &'v self,
        charset: Charset,
        text: &[u8],
        index: usize,
    ) -> Result<usize, EvalError> {
        if text.len() <= PIECE_BYTES || charset.max_char_bytes() == 1 {
            return Ok(charset.byte_offset_of_char(text, index));
        }
        let (mut chars, mut bytes) = (0, 0);
        for piece in self.pieces(charset, text) {
            let piece = piece?;
            let count = charset.char_len(piece);
            if index < chars + count {
                return Ok(bytes + charset.byte_offset_of_char(piece, index - chars));
            }
            chars += count;
            bytes += piece.len();
        }
        Ok(bytes)
    }

    /// Appends a text of any length.
    #[inline]
    pub(crate) fn append(&'v self, out: &mut Vec<u8>, text: &[u8]) -> Result<(), EvalError> {
        if text.len() > PIECE_BYTES {
            return self.append_pieces(out, text);
        }
        out.extend_from_slice(text);
        Ok(())
    }

    #[cold]
    fn append_pieces(&'v self, out: &mut Vec<u8>, text: &[u8]) -> Result<(), EvalError> {
        out.reserve(text.len());
        for piece in self.pieces(Charset::Binary, text) {
            out.extend_from_slice(piece?);
        }
        Ok(())
    }

    /// `parts` joined in the arena.
    pub(crate) fn joined(&'v self, parts: &[&[u8]]) -> Result<&'v [u8], EvalError> {
        let length = parts.iter().map(|part| part.len()).sum();
        let mut out = ArenaVec::with_capacity_in(length, self.arena);
        for part in parts {
            for piece in self.pieces(Charset::Binary, part) {
                out.extend_from_slice_copy(piece?);
            }
        }
        Ok(out.into_bump_slice())
    }

    /// `length` bytes in the arena: `byte_at` for each place.
    pub(crate) fn filled(
        &'v self,
        length: usize,
        byte_at: impl Fn(usize) -> u8,
    ) -> Result<&'v [u8], EvalError> {
        if length <= PIECE_BYTES {
            return Ok(self.arena.alloc_slice_fill_with(length, byte_at));
        }
        let mut out = ArenaVec::with_capacity_in(length, self.arena);
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        for range in ranges(length) {
            self.fail_if_killed()?;
            piece.clear();
            piece.extend(range.map(&byte_at));
            out.extend_from_slice_copy(&piece);
        }
        Ok(out.into_bump_slice())
    }

    /// In the arena: `before`, `count` times `text`, `after`. The caller has charged for it.
    pub(crate) fn repeated(
        &'v self,
        before: &[u8],
        (text, count): (&[u8], usize),
        after: [&[u8]; 2],
    ) -> Result<&'v [u8], EvalError> {
        let after_bytes = after[0].len() + after[1].len();
        let length = before.len() + text.len() * count + after_bytes;
        let mut out = ArenaVec::with_capacity_in(length, self.arena);
        for piece in self.pieces(Charset::Binary, before) {
            out.extend_from_slice_copy(piece?);
        }
        // As many repetitions as fit a piece are copied at once.
        let block = text.repeat(count.min((PIECE_BYTES / text.len().max(1)).max(1)));
        let mut left = text.len() * count;
        while left > 0 {
            for piece in self.pieces(Charset::Binary, &block[..block.len().min(left)]) {
                let piece = piece?;
                out.extend_from_slice_copy(piece);
                left -= piece.len();
            }
            if left > 0 {
                self.fail_if_killed()?;
            }
        }
        for part in after {
            for piece in self.pieces(Charset::Binary, part) {
                out.extend_from_slice_copy(piece?);
            }
        }
        Ok(out.into_bump_slice())
    }
}

impl<'v> Call<'v> {
    /// `text`, of the result's character set, in pieces.
    #[inline]
    pub(crate) fn pieces<'t>(&self, text: &'t [u8]) -> Pieces<'t, 'v> {
        self.ctx.pieces(self.charset(), text)
    }

    /// The characters of `text`, of the result's character set.
    pub(crate) fn char_len(&self, text: &[u8]) -> Result<usize, EvalError> {
        self.ctx.char_len(self.charset(), text)
    }

    /// Where character `index` of `text`, of the result's character set, starts.
    pub(crate) fn byte_offset_of_char(&self, text: &[u8], index: usize) -> Result<usize, EvalError> {
        self.ctx.byte_offset_of_char(self.charset(), text, index)
    }
}
