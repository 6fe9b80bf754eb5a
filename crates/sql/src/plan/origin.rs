//! Where output columns come from: what a client learns about the table column behind a column of its answer.

use std::sync::Arc;

use types::{ColumnDefault, IndexKind, TableDef};

/// The column that an output column shows.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A column of a table.
    Table {
        /// The table.
        def: Arc<TableDef>,
        /// Name of the table in the query.
        alias: Arc<str>,
        /// Position of the column.
        col: u16,
    },
    /// A column of a derived table.
    Derived {
        /// Name of the derived table.
        alias: Arc<str>,
        /// Name of the column.
        name: Box<str>,
    },
}

/// What the definition of a table says about one of its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnTraits {
    /// Part of the primary key.
    pub primary_key: bool,
    /// Sole column of a unique key.
    pub unique_key: bool,
    /// Part of a non-unique key or a later part of one.
    pub multiple_key: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// No default value and NOT NULL.
    pub no_default: bool,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
}

impl Origin {
    /// Schema; empty for a derived table.
    pub fn schema(&self) -> &str {
        match self {
            Origin::Table { def, .. } => &def.schema,
            Origin::Derived { .. } => "",
        }
    }

    /// Name of the table in the query.
    pub fn table(&self) -> &str {
        match self {
            Origin::Table { alias, .. } | Origin::Derived { alias, .. } => alias,
        }
    }

    /// Name of the table; empty for a derived table.
    pub fn org_table(&self) -> &str {
        match self {
            Origin::Table { def, .. } => &def.name,
            Origin::Derived { .. } => "",
        }
    }

    /// Name of the column.
    pub fn org_name(&self) -> &str {
        match self {
            Origin::Table { def, col, .. } => &def.columns[usize::from(*col)].name,
            Origin::Derived { name, .. } => name,
        }
    }

    /// What the definition of the table says about the column.
    pub fn traits(&self) -> ColumnTraits {
        match self {
            Origin::Table { def, col, .. } => traits(def, *col),
            Origin::Derived { .. } => ColumnTraits::default(),
        }
    }
}

fn traits(def: &TableDef, col: u16) -> ColumnTraits {
    let column = &def.columns[usize::from(col)];
    let mut traits = ColumnTraits {
        auto_increment: column.auto_increment,
        no_default: !column.nullable && !column.auto_increment && column.default == ColumnDefault::None,
        on_update_now: column.on_update_now,
        ..ColumnTraits::default()
    };
    for index in &def.indexes {
        let Some(at) = index.parts.iter().position(|part| part.column == col) else { continue };
        match index.kind {
            IndexKind::Primary => traits.primary_key = true,
            IndexKind::Unique if index.parts.len() == 1 => traits.unique_key = true,
            IndexKind::Unique | IndexKind::Secondary => traits.multiple_key |= at == 0,
        }
    }
    traits.multiple_key &= !traits.unique_key;
    traits
}
