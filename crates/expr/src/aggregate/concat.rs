//! GROUP_CONCAT.

use std::cmp::Ordering;

use base::memory::{ALLOCATION_OVERHEAD_BYTES, Charge};
use types::collation::Charset;
use types::{OwnedValue, Value};

use crate::compare::compare_values;
use crate::{CmpDomain, EvalCtx, EvalError, Warning};

/// One row's text and the values it is ordered by.
#[derive(Debug)]
struct Piece {
    text: Box<[u8]>,
    order: Box<[OwnedValue]>,
}

/// The rows of a GROUP_CONCAT. Without an order only their joined text is kept, and no more of it than is shown.
#[derive(Debug)]
pub(super) struct Concat {
    separator: Box<[u8]>,
    /// Domain and descent of each sort key.
    order: Box<[(CmpDomain, bool)]>,
    pieces: Vec<Piece>,
    joined: Vec<u8>,
    /// The current row's text.
    text: Vec<u8>,
    rows: u64,
    /// The row at which the text was cut.
    cut_at: Option<u64>,
}

impl Concat {
    /// No rows.
    pub(super) fn new(separator: &[u8], order: Box<[(CmpDomain, bool)]>) -> Concat {
        Concat {
            separator: separator.into(),
            order,
            pieces: Vec::new(),
            joined: Vec::new(),
            text: Vec::new(),
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
        }
        if self.order.is_empty() {
            self.append(&text, limit(ctx), charge)?;
        } else {
            let heap_bytes: usize = order.iter().map(Value::heap_bytes).sum();
            let allocations = text.len() + size_of_val(order) + heap_bytes;
            charge.add(allocations + (2 + order.len()) * ALLOCATION_OVERHEAD_BYTES)?;
            charge.reserve(&mut self.pieces, 1)?;
            let order = order.iter().map(Value::to_owned_value).collect();
            self.pieces.push(Piece { text: text[..].into(), order });
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
        // A stable sort takes half as much again.
        charge.add(pieces.len() / 2 * size_of::<Piece>())?;
        pieces.sort_by(|a, b| self.compare(a, b, ctx));
        for piece in pieces {
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

    /// Order of two rows: NULLs first, unless descending.
    fn compare(&self, a: &Piece, b: &Piece, ctx: &EvalCtx<'_>) -> Ordering {
        for ((x, y), (domain, descending)) in a.order.iter().zip(&b.order).zip(&self.order) {
            let order = match (x.is_null(), y.is_null()) {
                (false, false) => {
                    compare_values(&x.as_value(), &y.as_value(), *domain, ctx).unwrap_or(Ordering::Equal)
                }
                (x_null, y_null) => y_null.cmp(&x_null),
            };
            if order != Ordering::Equal {
                return if *descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }
}

fn limit(ctx: &EvalCtx<'_>) -> usize {
    usize::try_from(ctx.session.group_concat_max_len()).unwrap_or(usize::MAX)
}

/// Bytes of the whole characters among the first `limit` bytes.
fn whole_chars(text: &[u8], charset: Charset, limit: usize) -> usize {
    if charset != Charset::Utf8mb4 || limit >= text.len() {
        return limit.min(text.len());
    }
    let is_continuation = |i: &usize| text[*i] & 0xC0 == 0x80;
    (0..=limit).rev().find(|i| !is_continuation(i)).unwrap_or(0)
}
