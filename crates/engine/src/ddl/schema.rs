//! CREATE SCHEMA, ALTER SCHEMA.

use std::sync::Arc;

use base::SchemaId;
use types::CollationId;

use crate::dictionary::{Kind, SchemaDef, encode_schema};
use crate::engine::Engine;
use crate::error::{NameError, Result};

impl Engine {
    /// CREATE SCHEMA.
    pub fn create_schema(&self, name: &str, collation: CollationId) -> Result<()> {
        self.ensure_open()?;
        let _definition = self.definition.lock();
        if self.catalog().schemas.contains_key(name) {
            return Err(NameError::SchemaExists(name.into()).into());
        }
        let id = SchemaId(self.next_number(|header| &mut header.next_schema.0)?);
        let schema = SchemaDef { id, name: name.into(), collation };
        self.put_entry(Kind::Schema, name.as_bytes(), &encode_schema(&schema))?;
        self.change_catalog(|catalog| catalog.add_schema(schema));
        Ok(())
    }

    /// ALTER SCHEMA .. COLLATE.
    pub fn alter_schema(&self, name: &str, collation: CollationId) -> Result<()> {
        self.ensure_open()?;
        let _definition = self.definition.lock();
        let old = self.schema(name)?;
        let schema = SchemaDef { collation, ..(*old).clone() };
        self.put_entry(Kind::Schema, name.as_bytes(), &encode_schema(&schema))?;
        self.change_catalog(|catalog| {
            if let Some(entry) = catalog.schemas.get_mut(name) {
                entry.def = Arc::new(schema);
            }
        });
        Ok(())
    }
}
