//! What keys stand for, for reports on locks: which index has an id, which values stand in a key.

use std::sync::Arc;

use base::IndexId;
use page::RowFormat;
use types::SqlType;

use crate::engine::Engine;
use crate::index::Index;
use crate::table::Table;

/// One value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
    /// NULL.
    Null,
    /// Storage bytes of this type.
    Value(SqlType, Vec<u8>),
    /// The invisible row id.
    RowId(u64),
    /// What cannot be read back: the key's own bytes.
    Bytes(Vec<u8>),
}

impl Engine {
    /// The table and index of this id; `None` once it is gone.
    pub fn index_of(&self, id: IndexId) -> Option<(Arc<Table>, usize)> {
        self.catalog().index(id).cloned()
    }
}

impl Index {
    /// The values in `key`, a whole key of the index or the beginning of one.
    pub fn key_values(&self, table: &Table, key: &[u8]) -> Vec<KeyValue> {
        let (mut rest, mut values) = (key, Vec::new());
        for part in RowFormat::key_parts(&self.format) {
            let len = match (&part.encoder, part.len) {
                _ if rest.is_empty() => break,
                (_, Some(len)) => usize::from(len),
                (Some(encoder), None) => encoder.skip(rest),
                (None, None) => break,
            };
            // A bound may end within a part.
            let Some((bytes, behind)) = rest.split_at_checked(len) else { break };
            rest = behind;
            values.push(match (&part.encoder, part.column) {
                (Some(encoder), Some(column)) if encoder.is_reversible() => {
                    let mut value = Vec::new();
                    match encoder.decode(bytes, &mut value) {
                        (_, true) => KeyValue::Null,
                        _ => KeyValue::Value(table.def.columns[usize::from(column)].ty.clone(), value),
                    }
                }
                (_, None) => KeyValue::RowId(bytes.iter().fold(0, |id, &byte| id << 8 | u64::from(byte))),
                _ => KeyValue::Bytes(bytes.to_vec()),
            });
        }
        if values.is_empty() && !key.is_empty() {
            values.push(KeyValue::Bytes(key.to_vec()));
        }
        values
    }
}
