//! Values as byte strings that are compared by `memcmp`.
//!
//! | kind | of what | two keys compare as |
//! |---|---|---|
//! | index keys ([`KeyEncoder`]) | storage bytes of a column | the values, in the order that an index declares |
//! | sort keys ([`append_sort`]) | values of an expression | the values, in the order of ORDER BY |
//! | group keys ([`append_group`]) | values of an expression | equal or not: DISTINCT, GROUP BY, hash joins |
//!
//! Index keys are *normalised* keys: B-trees compare nothing else. A key is the concatenation of its parts.
//! Each part delimits itself: no part's bytes are a proper prefix of another value's bytes for the same part,
//! so that order and boundaries need no lengths.
//!
//! | column | bytes of the part |
//! |---|---|
//! | integers, YEAR, BIT, ENUM, SET, DATE | the storage integer, big-endian, sign bit flipped if it is signed |
//! | DECIMAL, TIME | the storage integer (two's complement), big-endian, sign bit flipped |
//! | DATETIME, TIMESTAMP | the seconds, then the fraction, both big-endian |
//! | FLOAT, DOUBLE | IEEE bits, big-endian; all inverted if negative, else the sign bit flipped; -0 as 0 |
//! | BINARY | the bytes, filled up with zeros |
//! | other strings | the collation's sort key: see [`crate::collation`] |
//!
//! Before that is 01, or 00 for NULL, if the column is nullable; a NULL of fixed width is filled up with
//! zeros. All bytes of a descending part are inverted.
//!
//! A part is *reversible* when it gives the storage bytes back; then the record need not hold the column as
//! well. Parts that are not reversible are cut at [`KEY_PART_BYTES_MAX`] bytes. A cut part still sorts right
//! against parts that differ within the limit, but values that only differ beyond it get the same bytes: a
//! caller that needs the exact order compares the values themselves ([`Extent::Cut`]). The limit of 3,072
//! bytes on the columns of an index keeps all but freak strings of many-weight characters whole.

mod encoder;
mod group;
mod integer;
mod ordinal;
mod sort;
#[cfg(test)]
mod tests;

pub use crate::collation::letter_case::capitalise;
pub use encoder::{Extent, KeyEncoder};
pub use group::append_group;
pub use sort::append_sort;

use crate::SqlType;

/// A column of a key, as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Type of the column.
    pub ty: SqlType,
    /// Whether the column may be NULL.
    pub nullable: bool,
    /// Whether greater values come first.
    pub desc: bool,
    /// Length of a prefix in characters (bytes for binary types); `None`: all of the value.
    pub prefix_len: Option<u16>,
}

impl KeyColumn {
    /// An ascending, whole, NOT NULL column.
    pub fn new(ty: SqlType) -> Self {
        KeyColumn { ty, nullable: false, desc: false, prefix_len: None }
    }

    /// Compiles the column to the code that makes its key parts. `None` when its type has no keys: that of a
    /// bare NULL, or a string of an unsupported collation.
    pub fn encoder(&self) -> Option<KeyEncoder> {
        KeyEncoder::new(self)
    }
}

/// Turns `key` into the least byte string above all that start with it: the end of the range of keys with
/// these first bytes. `false`, and an empty `key`, if there is none.
pub fn successor(key: &mut Vec<u8>) -> bool {
    while let Some(last) = key.pop() {
        if last < 0xFF {
            key.push(last + 1);
            return true;
        }
    }
    false
}
