//! Definitions as the dictionary has them, one by one: for tests with bytes that may be anything.

use base::PageNo;
use types::{RowHistory, TableDef};

use crate::dictionary::{TableRecord, decode_schema, encode_schema, encode_table, read_table};
use crate::error::Result;
use crate::table::Table;

/// The bytes of a table's definition, its trees at some pages.
pub fn encoded_table(def: &TableDef) -> Vec<u8> {
    let roots = (5..).map(PageNo).take(def.indexes.len()).collect();
    encode_table(&TableRecord { def: def.clone(), roots, history: RowHistory::default() })
}

/// Reads a table's definition, opens it as a startup does, and encodes it again.
///
/// # Errors
/// [`crate::Error::DictionaryCorrupt`].
pub fn recoded_table(bytes: &[u8]) -> Result<Vec<u8>> {
    let record = read_table(bytes)?;
    let encoded = encode_table(&record);
    let (oldest, newest) = (record.history.oldest, record.def.format_version);
    let table = Table::open(record);
    if let Some(versions) = &table.clustered().tree.versions {
        // As a startup does not, but the first page of each.
        for version in oldest..newest {
            versions.older(version);
        }
    }
    Ok(encoded)
}

/// Reads a schema's definition and encodes it again.
///
/// # Errors
/// [`crate::Error::DictionaryCorrupt`].
pub fn recoded_schema(bytes: &[u8]) -> Result<Vec<u8>> {
    decode_schema(bytes).map(|schema| encode_schema(&schema))
}
