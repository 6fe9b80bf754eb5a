//! Joins by a hash table, where no key leads from one side to the other.

use super::access::Methods;

/// Lets the search join by hash tables.
pub(super) fn allow(methods: &mut Methods) {
    methods.hash_join = true;
}
