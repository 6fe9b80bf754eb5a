//! Where output columns come from: what a client learns about the table column of a column of its answer.

use std::sync::Arc;

use super::alias::Alias;
use types::{ColumnDefault, IndexKind, TableDef, TypeKind};

/// The column that an output column shows. Without names: one of a temporary table.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// A column of a table of the dictionary, perhaps seen through derived tables.
    column: Option<(Arc<TableDef>, u16)>,
    /// Name of the table in the query.
    alias: Option<Alias>,
    /// Name of the column, if it is another than that of `column`.
    name: Option<Box<str>>,
    /// The table's name in the innermost query that is part of others.
    inner_alias: Option<Alias>,
    /// It is no part of a key.
    has_no_keys: bool,
    /// NOT NULL and without a default value, whatever `column` is.
    pub no_default: bool,
    /// A calculated value that only has a name there.
    pub is_value: bool,
    /// Shown by way of a table that MySQL makes when the statement runs, where it is no part of any key.
    pub is_gathered: bool,
    /// The types of a calculated value that the table does not have as it is calculated.
    pub kept: Option<KeptKind>,
}

/// The type of a value that is calculated for a table.
#[derive(Clone, Copy, Debug)]
pub struct KeptKind {
    /// As the statement calculates it: when it is prepared.
    pub prepared: TypeKind,
    /// As the table has it: when the statement runs.
    pub run: TypeKind,
}

/// What the definition of a table says about one of its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnTraits {
    /// Part of the primary key.
    pub primary_key: bool,
    /// Sole column of a unique key.
    pub unique_key: bool,
    /// First column of a key that is not unique or has other columns.
    pub multiple_key: bool,
    /// Part of a key.
    pub part_of_key: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// No default value and NOT NULL.
    pub no_default: bool,
    /// TIMESTAMP with CURRENT_TIMESTAMP as its default or ON UPDATE.
    pub set_by_clock: bool,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
}

impl Origin {
    /// Column `col` of a table that is called `alias` in the query.
    pub fn of_column(def: Arc<TableDef>, col: u16, alias: Alias) -> Origin {
        Origin { column: Some((def, col)), alias: Some(alias), ..Origin::default() }
    }

    /// A calculated value.
    pub fn value() -> Origin {
        Origin { is_value: true, ..Origin::default() }
    }

    /// A column of a temporary table.
    pub fn made(name: Box<str>) -> Origin {
        Origin { name: Some(name), ..Origin::default() }
    }

    /// As column `name` of the derived table `alias`, which may be part of the query around it (`is_merged`).
    pub fn through(self, alias: Alias, name: Box<str>, is_merged: bool) -> Origin {
        let inner_alias = if is_merged { self.inner_alias.or(self.alias) } else { None };
        let alias = Some(alias);
        Origin { alias, name: Some(name), inner_alias, is_gathered: false, kept: None, ..self }
    }

    /// As the column of a table that MySQL fills with it: no part of any key.
    pub(crate) fn without_keys(self) -> Origin {
        Origin { has_no_keys: true, inner_alias: None, ..self }
    }

    /// Whether it is a column of a derived table that is part of the query around it.
    pub fn is_of_merged(&self) -> bool {
        self.alias.is_some() && self.name.is_some() && !self.has_no_keys
    }

    /// Whether it is column `col` of the table `def`, which has its own name in the query.
    pub fn is_plain(&self, def: &Arc<TableDef>, col: u16) -> bool {
        let Origin { name: None, inner_alias: None, kept: None, column: Some(column), .. } = self else {
            return false;
        };
        let is_changed = self.has_no_keys || self.no_default || self.is_value || self.is_gathered;
        !is_changed && Arc::ptr_eq(&column.0, def) && column.1 == col && self.table() == &*def.name
    }

    /// Schema; empty for a temporary table.
    pub fn schema(&self) -> &str {
        self.column.as_ref().map_or("", |(def, _)| &def.schema)
    }

    /// Name of the table in the query; empty for a temporary table.
    pub fn table(&self) -> &str {
        self.alias.as_deref().unwrap_or("")
    }

    /// Name of the table; empty for a temporary table.
    pub fn table_name(&self) -> &str {
        self.column.as_ref().map_or("", |(def, _)| &def.name)
    }

    /// What clients see as the name of the table. By way of a derived table that is part of the query, this
    /// is the name inside.
    pub fn org_table(&self) -> &str {
        match &self.inner_alias {
            Some(alias) if self.column.is_some() => alias,
            _ => self.table_name(),
        }
    }

    /// Name of the column.
    pub fn org_name(&self) -> &str {
        match (&self.name, &self.column) {
            (Some(name), _) => name,
            (None, Some((def, col))) => &def.columns[usize::from(*col)].name,
            (None, None) => "",
        }
    }

    /// What the definition of the table says about the column.
    pub fn traits(&self) -> ColumnTraits {
        let mut traits = self.column.as_ref().map_or_else(ColumnTraits::default, |(def, col)| {
            let mut traits = own_traits(def, *col);
            if !self.has_no_keys {
                add_keys(&mut traits, def, *col);
            }
            traits
        });
        traits.auto_increment &= !self.has_no_keys;
        traits.no_default |= self.no_default;
        traits
    }
}

fn own_traits(def: &TableDef, col: u16) -> ColumnTraits {
    let column = &def.columns[usize::from(col)];
    let is_timestamp = column.ty.kind == TypeKind::Timestamp;
    ColumnTraits {
        auto_increment: column.auto_increment,
        no_default: !column.auto_increment && column.lacks_default(),
        set_by_clock: is_timestamp && (column.on_update_now || column.default == ColumnDefault::Now),
        on_update_now: is_timestamp && column.on_update_now,
        ..ColumnTraits::default()
    }
}

fn add_keys(traits: &mut ColumnTraits, def: &TableDef, col: u16) {
    for (at, index) in def.indexes.iter().enumerate() {
        let Some(part) = index.parts.iter().position(|part| part.column == col) else { continue };
        traits.part_of_key = true;
        // The clustered key takes the primary key's place where there is none.
        if at == 0 {
            traits.primary_key = true;
        } else if part == 0 {
            let is_alone = index.kind == IndexKind::Unique && index.parts.len() == 1;
            traits.unique_key |= is_alone;
            traits.multiple_key |= !is_alone;
        }
    }
}
