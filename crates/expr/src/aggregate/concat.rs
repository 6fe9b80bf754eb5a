//! GROUP_CONCAT.

use std::cmp::Ordering;

use base::memory::{ALLOCATION_OVERHEAD_BYTES, Charge, append_in_pieces};
use base::sort_runs::{Merge, sort_runs};
use types::Value;
use types::collation::Charset;
use types::key::append_sort;

use crate::functions::STEPS_BETWEEN_LOOKS;
use crate::{EvalCtx, EvalError, Warning};

/// One row's text, and the bytes by which it is ordered.
#[derive(Debug)]
struct Piece {
    text: Box<[u8]>,
    key: Box<[u8]>,
    row: usize,
}

impl Piece {
    /// Of rows with equal keys the one that came first is the first.
    fn compare(&self, other: &Piece) -> Ordering {
        self.key.cmp(&other.key).then_with(|| self.row.cmp(&other.row))
    }
}

/// The rows of a GROUP_CONCAT. Without an order only their joined text is kept, and no more of it than is
/// shown.
#[derive(Debug)]
pub(super) struct Concat {
    separator: Box<[u8]>,
    /// Whether each part of the order descends.
    descends: Box<[bool]>,
    pieces: Vec<Piece>,
    joined: Vec<u8>,
    /// The current row's text and key.
    text: Vec<u8>,
    key: Vec<u8>,
    rows: u64,
    /// The row at which the text was cut.
    cut_at: Option<u64>,
}

impl Concat {
    /// No rows.
    pub(super) fn new(separator: &[u8], descends: Box<[bool]>) -> Concat {
        Concat {
            separator: separator.into(),
            descends,
            pieces: Vec::new(),
            joined: Vec::new(),
            text: Vec::new(),
            key: Vec::new(),
            rows: 0,
            cut_at: None,
        }
    }

    /// Adds a row: its arguments joined, unless one is NULL.
    pub(super) fn add(
        &mut self,
        args: &[Value<'_>],
        order: &[Value<'_>],
        ctx: &EvalCtx<'_>,
        charge: &Charge,
    ) -> Result<(), EvalError> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        for value in args {
            charge.reserve(&mut text, value.text_bytes_max())?;
            value.write_text(&mut text);
            ctx.fail_if_killed_over(&text)?;
        }
        if self.descends.is_empty() {
            self.append(&text, limit(ctx), charge)?;
        } else {
            self.key.clear();
            for (value, descends) in order.iter().zip(&self.descends) {
                append_sort(value, *descends, &mut self.key);
            }
            ctx.fail_if_killed_over(&self.key)?;
            charge.add(text.len() + self.key.len() + 2 * ALLOCATION_OVERHEAD_BYTES)?;
            charge.reserve(&mut self.pieces, 1)?;
            let row = self.pieces.len();
            let piece = Piece { text: boxed(&text), key: boxed(&self.key), row };
            ctx.fail_if_killed_over(&piece.text)?;
            ctx.fail_if_killed_over(&piece.key)?;
            self.pieces.push(piece);
        }
        self.text = text;
        Ok(())
    }

    fn append(&mut self, text: &[u8], limit: usize, charge: &Charge) -> Result<(), EvalError> {
        self.rows += 1;
        if self.cut_at.is_some() {
            return Ok(());
        }
        charge.reserve(&mut self.joined, self.separator.len() + text.len())?;
        if self.rows > 1 {
            self.joined.extend_from_slice(&self.separator);
        }
        self.joined.extend_from_slice(text);
        if self.joined.len() > limit {
            self.cut_at = Some(self.rows);
        }
        Ok(())
    }

    /// The text in `charset`, cut to group_concat_max_len; `None` without rows.
    pub(super) fn result(
        &mut self,
        charset: Charset,
        ctx: &EvalCtx<'_>,
        charge: &Charge,
    ) -> Result<Option<Vec<u8>>, EvalError> {
        let limit = limit(ctx);
        let mut pieces = std::mem::take(&mut self.pieces);
        let key_bytes = |piece: &Piece| piece.key.len();
        let runs = sort_runs(&mut pieces, key_bytes, Piece::compare, || ctx.fail_if_killed())?;
        for (i, piece) in Merge::new(&pieces, runs, Piece::compare).enumerate() {
            if i % STEPS_BETWEEN_LOOKS == STEPS_BETWEEN_LOOKS - 1 {
                ctx.fail_if_killed()?;
            }
            if self.cut_at.is_some() {
                break;
            }
            self.append(&piece.text, limit, charge)?;
        }
        if self.rows == 0 {
            return Ok(None);
        }
        if let Some(row) = self.cut_at {
            self.joined.truncate(whole_chars(&self.joined, charset, limit));
            ctx.session.warn(Warning::GroupConcatCut { row });
        }
        Ok(Some(std::mem::take(&mut self.joined)))
    }
}

/// A copy, cut short if the statement is killed meanwhile.
fn boxed(bytes: &[u8]) -> Box<[u8]> {
    let mut copy = Vec::with_capacity(bytes.len());
    let _ = append_in_pieces(bytes, &mut copy);
    copy.into_boxed_slice()
}

fn limit(ctx: &EvalCtx<'_>) -> usize {
    usize::try_from(ctx.session.group_concat_max_len()).unwrap_or(usize::MAX)
}

/// Bytes of the whole characters among the first `limit` bytes.
fn whole_chars(text: &[u8], charset: Charset, limit: usize) -> usize {
    if !charset.is_utf8() || limit >= text.len() {
        return limit.min(text.len());
    }
    let is_continuation = |i: &usize| text[*i] & 0xC0 == 0x80;
    (0..=limit).rev().find(|i| !is_continuation(i)).unwrap_or(0)
}
