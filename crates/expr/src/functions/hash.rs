//! Digests and checksums.

use aws_lc_rs::digest;
use md5::{Digest, Md5};
use types::{Charset, Value};

use super::hex_digits::hex_digits;
use super::pieces::PIECE_BYTES;
use super::{Call, some};
use crate::{EvalError, ExprKind, Warning};

const LOWER: &[u8; 16] = b"0123456789abcdef";

/// MD5
pub(crate) fn md5<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let mut sum = Md5::new();
    for piece in call.ctx.pieces(Charset::Binary, text) {
        sum.update(piece?);
    }
    Ok(call.text_value(hex_digits(call, &sum.finalize(), LOWER)?))
}

/// SHA1
pub(crate) fn sha1<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    sha(call, &digest::SHA1_FOR_LEGACY_USE_ONLY, text)
}

/// SHA2(text, bits): NULL for an invalid length.
pub(crate) fn sha2<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let algorithm = match call.int(1)? {
        Some(224) => &digest::SHA224,
        Some(0 | 256) => &digest::SHA256,
        Some(384) => &digest::SHA384,
        Some(512) => &digest::SHA512,
        // A constant that is no length gave its warning when the call was bound.
        _ if matches!(call.args[1].kind, ExprKind::Const(_)) => return Ok(Value::Null),
        _ => {
            call.ctx.session.warn(Warning::WrongParameters { function: call.name() });
            return Ok(Value::Null);
        }
    };
    sha(call, algorithm, text)
}

fn sha<'v>(
    call: &Call<'v>,
    algorithm: &'static digest::Algorithm,
    text: &[u8],
) -> Result<Value<'v>, EvalError> {
    let sum = if text.len() <= PIECE_BYTES {
        digest::digest(algorithm, text)
    } else {
        let mut context = digest::Context::new(algorithm);
        for piece in call.ctx.pieces(Charset::Binary, text) {
            context.update(piece?);
        }
        context.finish()
    };
    Ok(call.text_value(hex_digits(call, sum.as_ref(), LOWER)?))
}

/// CRC32
pub(crate) fn crc32<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let mut sum = crc32fast::Hasher::new();
    for piece in call.ctx.pieces(Charset::Binary, text) {
        sum.update(piece?);
    }
    Ok(Value::UInt(u64::from(sum.finalize())))
}
