//! Bytes as hexadecimal digits.

use super::Call;
use crate::EvalError;

/// The bytes as pairs of `digits`.
pub(super) fn hex_digits<'v>(
    call: &Call<'v>,
    bytes: &[u8],
    digits: &[u8; 16],
) -> Result<&'v [u8], EvalError> {
    let digit = |i: usize| {
        let byte = bytes[i / 2];
        digits[usize::from(if i.is_multiple_of(2) { byte >> 4 } else { byte & 15 })]
    };
    call.ctx.filled(bytes.len() * 2, digit)
}
