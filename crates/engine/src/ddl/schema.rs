//! CREATE SCHEMA, DROP SCHEMA, ALTER SCHEMA.

use std::sync::Arc;

use base::SchemaId;
use types::CollationId;

use super::Exclusive;
use trx::ExclusiveWait;

use crate::dictionary::{Kind, SchemaDef, encode_schema};
use crate::engine::Engine;
use crate::error::{NameError, Result};
use crate::table::Table;

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

    /// DROP SCHEMA with all its tables; returns how many there were. Waits up to `wait` for each to be unused.
    pub fn drop_schema(&self, name: &str, wait: impl Into<ExclusiveWait>) -> Result<usize> {
        let wait = wait.into();
        self.ensure_open()?;
        let mut dropped = 0;
        loop {
            // Tables go one by one, so that none is waited for while another is locked.
            let first: Option<Arc<Table>> = {
                let _definition = self.definition.lock();
                let catalog = self.catalog();
                let Some(schema) = catalog.schemas.get(name) else {
                    return Err(NameError::NoSchemaToDrop(name.into()).into());
                };
                let first = schema.tables.values().next().cloned();
                if first.is_none() {
                    self.delete_entry(Kind::Schema, name.as_bytes())?;
                    self.change_catalog(|catalog| drop(catalog.schemas.remove(name)));
                    return Ok(dropped);
                }
                first
            };
            let Some(table) = first else { continue };
            let exclusive = Exclusive::lock(&table, &wait)?;
            if table.is_current() {
                self.drop_locked(&exclusive)?;
                dropped += 1;
            }
        }
    }
}
