//! The dictionary and the session as the binder sees them.

use std::cell::RefCell;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use engine::{Engine, Error, KeyRange, NameError, Table};
use smallvec::SmallVec;
use sql::bind::{Catalog, CatalogError, SessionTypes};
use types::{CollationId, LobSize, OwnedValue, SqlType, TableDef, TableStatistics, TypeKind};

use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::session::Session;
use crate::sysvars::{VarLevel, VarValue};
use crate::user_variable::type_of_value;
use crate::virtual_tables;

/// The engine's catalog as one statement asks for it.
pub struct EngineCatalog<'e> {
    engine: &'e Engine,
    /// Tables that were looked up, the last [`TABLES_MAX`]: what is asked next is about them.
    known: RefCell<SmallVec<[Arc<Table>; TABLES_MAX]>>,
}

/// Tables that are remembered: most statements have fewer.
const TABLES_MAX: usize = 4;

impl<'e> EngineCatalog<'e> {
    /// The catalog of `engine`.
    pub fn new(engine: &'e Engine) -> Self {
        EngineCatalog { engine, known: RefCell::default() }
    }

    /// The table that has the name of `def`.
    fn of_definition(&self, def: &TableDef) -> Option<Arc<Table>> {
        let known = self.known.borrow();
        match known.iter().find(|table| std::ptr::eq(Arc::as_ptr(&table.def), def)) {
            Some(table) => Some(Arc::clone(table)),
            None => self.engine.table(&def.schema, &def.name).ok(),
        }
    }
}

impl fmt::Debug for EngineCatalog<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineCatalog")
    }
}

impl Catalog for EngineCatalog<'_> {
    fn version(&self) -> u64 {
        self.engine.catalog_version()
    }

    fn schema_exists(&self, schema: &str) -> bool {
        virtual_tables::schema(schema).is_some() || self.engine.schema(schema).is_ok()
    }

    fn table(&self, schema: &str, name: &str) -> Result<Option<Arc<TableDef>>, CatalogError> {
        match self.engine.table(schema, name) {
            Ok(table) => {
                let def = Arc::clone(&table.def);
                let mut known = self.known.borrow_mut();
                if known.len() == TABLES_MAX {
                    known.remove(0);
                }
                known.push(table);
                Ok(Some(def))
            }
            Err(Error::Name(missing)) if is_missing(&missing, schema) => Ok(None),
            Err(error) => Err(Box::new(error)),
        }
    }

    fn virtual_table(&self, schema: &str, name: &str) -> Option<Arc<TableDef>> {
        virtual_tables::find(schema, name)
    }

    fn row_estimate(&self, table: &TableDef) -> u64 {
        self.of_definition(table).map_or(0, |table| table.row_count_estimate())
    }

    fn statistics(&self, table: &TableDef) -> Option<Arc<TableStatistics>> {
        let current = self.of_definition(table)?;
        // Of another definition, positions of indexes mean others.
        if std::ptr::eq(Arc::as_ptr(&current.def), table) || current.def.indexes == table.indexes {
            current.statistics(self.engine)
        } else {
            None
        }
    }

    fn damaged_indexes(&self, table: &TableDef) -> Vec<usize> {
        self.of_definition(table).map_or(Vec::new(), |table| table.damaged_indexes())
    }

    fn rows_between(&self, table: &TableDef, index: usize, from: &[u8], to: Option<&[u8]>) -> Option<f64> {
        let current = self.of_definition(table)?;
        let has_index = current.indexes.get(index).map(|own| &own.def) == table.indexes.get(index);
        let range = KeyRange::new(Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded));
        if has_index { current.rows_between(self.engine, index, &range) } else { None }
    }
}

fn is_missing(error: &NameError, schema: &str) -> bool {
    matches!(error, NameError::NoSuchTable { .. }) || virtual_tables::schema(schema).is_some()
}

/// Length in bytes that clients get for a user variable without a value.
const UNSET_BYTES: u32 = 65_532;
/// Length in characters that clients see for one that is a text.
const TEXT_VARIABLE_CHARS: u32 = 16_777_215;
/// Characters of a system variable.
const SYSTEM_VARIABLE_CHARS: u32 = 21_845;

impl SessionTypes for Session {
    fn auto_is_null(&self) -> bool {
        self.variables.hot.sql_auto_is_null
    }

    fn safe_updates(&self) -> bool {
        self.variables.hot.sql_safe_updates
    }

    fn select_limit(&self) -> Option<u64> {
        let limit = self.variables.hot.sql_select_limit;
        (limit != u64::MAX).then_some(limit)
    }

    fn user_variable(&self, name: &str) -> SqlType {
        let lob = |kind, collation| SqlType { collation, ..SqlType::new(kind, 0) };
        match self.user_variables.get(&name.to_lowercase()) {
            None => SqlType::new(TypeKind::VarBinary, UNSET_BYTES),
            Some(OwnedValue::Null) => lob(TypeKind::Blob(LobSize::Medium), CollationId::BINARY),
            Some(OwnedValue::Bytes { collation, .. }) => {
                SqlType { length: TEXT_VARIABLE_CHARS, ..lob(TypeKind::Text(LobSize::Long), *collation) }
            }
            Some(value) => type_of_value(value),
        }
    }

    fn system_variable(&self, global: Option<bool>, name: &str) -> Option<SqlType> {
        let level = match global {
            None => VarLevel::Default,
            Some(true) => VarLevel::Global,
            Some(false) => VarLevel::Session,
        };
        let value = self.read_variable(level, name).ok()?;
        Some(match value {
            VarValue::Null | VarValue::Text(_) => {
                SqlType::varchar(SYSTEM_VARIABLE_CHARS, CollationId::UTF8MB4_0900_AI_CI)
            }
            VarValue::Bool(_) => SqlType::new(TypeKind::BigInt, 1),
            VarValue::Int(_) => SqlType::bigint(),
            VarValue::UInt(_) => SqlType::bigint_unsigned(),
            VarValue::Double(_) => SqlType::double(),
        })
    }
}

/// The table called `name`.
///
/// # Errors
/// 1049, 1146.
pub(crate) fn open_table(
    session: &Session,
    engine: &Engine,
    name: &FullName,
) -> Result<Arc<Table>, SqlError> {
    engine.table(&name.schema, &name.table).map_err(|error| {
        if virtual_tables::is_of_accounts(&name.schema) {
            return error_map::NO_SUCH_TABLE.with(&[&name.schema, &name.table]);
        }
        engine_error::sql_error(&error, &session.variables.hot.time_zone)
    })
}
