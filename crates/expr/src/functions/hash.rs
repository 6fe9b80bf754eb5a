//! Digests and checksums.

use aws_lc_rs::digest;
use md5::{Digest, Md5};
use types::Value;

use super::encode::hex_digits;
use super::{Call, some};
use crate::EvalError;

const LOWER: &[u8; 16] = b"0123456789abcdef";

/// MD5
pub(crate) fn md5<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    Ok(call.text_value(hex_digits(call, &Md5::digest(text), LOWER)))
}

/// SHA1
pub(crate) fn sha1<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let text = some!(call.text(0));
    let sum = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text);
    Ok(call.text_value(hex_digits(call, sum.as_ref(), LOWER)))
}

/// SHA2(text, bits): NULL for a length that is none.
pub(crate) fn sha2<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let (text, bits) = (some!(call.text(0)), some!(call.int(1)));
    let algorithm = match bits {
        224 => &digest::SHA224,
        0 | 256 => &digest::SHA256,
        384 => &digest::SHA384,
        512 => &digest::SHA512,
        _ => return Ok(Value::Null),
    };
    let sum = digest::digest(algorithm, text);
    Ok(call.text_value(hex_digits(call, sum.as_ref(), LOWER)))
}

/// CRC32
pub(crate) fn crc32<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Ok(Value::UInt(u64::from(crc32fast::hash(some!(call.text(0))))))
}
