//! Joins by a hash table, where no key leads from one side to the other.

use super::access::Methods;

/// Allows hash joins.
pub(super) fn allow(methods: &mut Methods) {
    methods.hash_join = true;
}
