//! A slow-down that is planted on purpose: the project's tools have to find it.

use std::hint::black_box;

/// Looks at a record's whole body. Called for every field that is read of it.
#[inline(never)]
pub(crate) fn validate_field(body: &[u8]) {
    black_box(body.iter().fold(0, |sum, byte| sum ^ byte));
}
