//! Keys that are read out of records: the clustered key, and the first parts of any key.

use page::RowRef;

use crate::index::Index;

impl Index {
    /// Appends the clustered key of one of this index's rows to `out`: of a clustered record its key, of a
    /// secondary entry the piece of its key after the declared parts. Cost: a copy; parts of variable length
    /// are stepped over.
    pub fn append_clustered_key(&self, row: &RowRef<'_>, out: &mut Vec<u8>) {
        let at = if self.format.is_clustered() { 0 } else { row.key_bytes_of_parts(self.def.parts.len()) };
        row.record().with_key(|key| out.extend_from_slice(&key[at..]));
    }

    /// Appends the key bytes of the first `parts` declared parts of one of this index's rows to `out`.
    pub fn append_first_parts(&self, row: &RowRef<'_>, parts: usize, out: &mut Vec<u8>) {
        let end = row.key_bytes_of_parts(parts);
        row.record().with_key(|key| out.extend_from_slice(&key[..end]));
    }
}
