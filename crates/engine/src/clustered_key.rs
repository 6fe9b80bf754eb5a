//! Keys that are read out of records: the clustered key, and the first parts of any key.

use page::RowRef;

use crate::index::Index;

impl Index {
    /// Appends the clustered key of one of this index's rows to `out`: of a clustered record its key, of a
    /// secondary entry the piece of its key after the declared parts. Cost: a copy; parts of variable length
    /// are stepped over.
    pub fn append_clustered_key(&self, row: &RowRef<'_>, out: &mut Vec<u8>) {
        row.record().with_key(|key| {
            let mut at = 0;
            if !self.format.is_clustered() {
                for part in &self.format.key_parts()[..self.def.parts.len()] {
                    at += part.encoder.map_or(0, |encoder| encoder.skip(&key[at..]));
                }
            }
            out.extend_from_slice(&key[at..]);
        });
    }

    /// Appends the key bytes of the first `parts` declared parts of one of this index's rows to `out`.
    pub fn append_first_parts(&self, row: &RowRef<'_>, parts: usize, out: &mut Vec<u8>) {
        row.record().with_key(|key| {
            let mut end = 0;
            for part in &self.format.key_parts()[..parts] {
                end += part.encoder.map_or(0, |encoder| encoder.skip(&key[end..]));
            }
            out.extend_from_slice(&key[..end]);
        });
    }
}
