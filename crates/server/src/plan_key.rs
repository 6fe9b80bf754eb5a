//! What plans are found by within an environment.

use std::hash::{BuildHasher, Hasher};

use sql::CacheKey;

use crate::given_type::GivenType;

/// Bytes that are compared in full, and their hash, which finds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanKey<'k> {
    pub(crate) bytes: &'k [u8],
    pub(crate) hash: u64,
}

impl<'k> From<&'k CacheKey> for PlanKey<'k> {
    #[inline]
    fn from(key: &'k CacheKey) -> Self {
        PlanKey { bytes: key.bytes(), hash: key.hash() }
    }
}

/// The purpose of a plan of a prepared statement.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Purpose {
    /// To describe its columns and parameters, before values are known.
    Description = 1,
    /// To run with values.
    Execution = 2,
}

/// The key of a prepared statement: its text, byte by byte, and the types that its parameters are planned
/// for.
#[derive(Debug)]
pub(crate) struct PreparedKey {
    bytes: Vec<u8>,
    hash: u64,
}

impl PreparedKey {
    /// The key of `text` with `types` given for its parameters, `None` for those whose types it implies. No
    /// type at all may be given for a description.
    pub(crate) fn new(text: &[u8], purpose: Purpose, types: &[Option<GivenType>]) -> Self {
        let mut bytes = Vec::with_capacity(1 + 2 * types.len() + text.len());
        bytes.push(purpose as u8);
        for ty in types {
            // Two for a flag: no type is given.
            let code = ty.map_or([0, 2], GivenType::code);
            bytes.extend_from_slice(&code);
        }
        // The number of parameters follows from the text, so nothing need part it from the types.
        bytes.extend_from_slice(text);
        let mut hasher = base::hash::state().build_hasher();
        hasher.write(&bytes);
        PreparedKey { hash: hasher.finish(), bytes }
    }
}

impl<'k> From<&'k PreparedKey> for PlanKey<'k> {
    fn from(key: &'k PreparedKey) -> Self {
        PlanKey { bytes: &key.bytes, hash: key.hash }
    }
}
