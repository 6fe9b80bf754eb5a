//! Collations of expressions.

use types::{Collation, CollationId};

/// A collation by its id; that of bytes for one that is not there.
pub(crate) fn known_collation(id: CollationId) -> &'static Collation {
    id.collation().or_else(|| CollationId::BINARY.collation()).expect("the binary collation is there")
}
