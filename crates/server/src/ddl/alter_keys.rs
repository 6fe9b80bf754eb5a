//! The keys of an altered table: those that it keeps, with the columns that are left of them, then those that
//! the statement adds.

use sql::ast::{AlterAction, KeyDefinition, KeyKind};
use types::{ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, TableDef, TypeKind};

use super::alter_columns::{NewColumn, take};
use super::key;
use super::names::{self, FullName};
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// A key that the statement adds.
#[derive(Clone, Copy, Debug)]
pub(super) enum NewKey<'a> {
    /// ADD KEY and the like.
    Element(&'a KeyDefinition<'a>),
    /// PRIMARY KEY or UNIQUE in a column's definition.
    OfColumn(&'a str, KeyKind),
}

/// What the actions say of keys, in the order written.
#[derive(Debug, Default)]
pub(super) struct KeyActions<'a> {
    pub(super) drops: Vec<&'a str>,
    /// Old and new names.
    pub(super) renames: Vec<(&'a str, &'a str)>,
    pub(super) added: Vec<NewKey<'a>>,
    /// Keys that are to be visible, or not.
    pub(super) visibility: Vec<(&'a str, bool)>,
    /// New names of the kept keys that lost a column.
    shortened: Vec<Box<str>>,
}

impl<'a> KeyActions<'a> {
    /// The declared keys that are left of the table's. What is left of `drops` and `renames` names no key.
    ///
    /// # Errors
    /// 1061.
    pub(super) fn keep(&mut self, old: &TableDef, columns: &[NewColumn]) -> Result<Vec<IndexDef>, SqlError> {
        let mut kept: Vec<IndexDef> = Vec::new();
        for index in old.indexes.iter().filter(|index| !index.parts.is_empty()) {
            if take(&mut self.drops, |name| name.eq_ignore_ascii_case(&index.name)).is_some() {
                continue;
            }
            let parts_before = index.parts.len();
            let parts = index.parts.iter().filter_map(|part| kept_part(*part, old, columns));
            let mut index = IndexDef { parts: parts.collect(), ..index.clone() };
            if index.parts.is_empty() {
                continue;
            }
            if let Some((_, new)) =
                take(&mut self.renames, |(name, _)| name.eq_ignore_ascii_case(&index.name))
            {
                index.name = new.into();
            }
            if index.parts.len() < parts_before {
                self.shortened.push(index.name.clone());
            }
            kept.push(index);
        }
        for (i, index) in kept.iter().enumerate() {
            if kept[..i].iter().any(|other| other.name.eq_ignore_ascii_case(&index.name)) {
                return Err(error_map::DUP_KEYNAME.with(&[&index.name]));
            }
        }
        Ok(kept)
    }

    /// Makes kept keys visible, or not. As in MySQL, the name has to be that of a key before and after.
    ///
    /// # Errors
    /// 1176 if a key is to be renamed, or shown, that there is not.
    pub(super) fn show(
        &self,
        (table, old): (&str, &TableDef),
        kept: &mut [IndexDef],
    ) -> Result<(), SqlError> {
        let missing = |name: &str| Err(error_map::KEY_DOES_NOT_EXIST.with(&[&name, &table]));
        if let Some((name, _)) = self.renames.first() {
            return missing(name);
        }
        for &(name, visible) in &self.visibility {
            let is_named = |index: &&mut IndexDef| index.name.eq_ignore_ascii_case(name);
            match kept.iter_mut().find(is_named).filter(|_| old.find_index(name).is_some()) {
                Some(index) => index.invisible = !visible,
                None => return missing(name),
            }
        }
        Ok(())
    }

    /// Adds the new keys to `indexes`.
    ///
    /// # Errors
    /// 1061, 1068, 1072, and others of key definitions.
    pub(super) fn add(
        &self,
        session: &mut Session,
        table: &FullName,
        columns: &[ColumnDef],
        indexes: &mut Vec<IndexDef>,
    ) -> Result<(), SqlError> {
        let is_primary = |new: &&NewKey<'_>| match new {
            NewKey::Element(definition) => definition.kind == KeyKind::Primary,
            NewKey::OfColumn(_, kind) => *kind == KeyKind::Primary,
        };
        let kept = indexes.iter().filter(|index| index.kind == IndexKind::Primary).count();
        if kept + self.added.iter().filter(is_primary).count() > 1 {
            return Err(error_map::MULTIPLE_PRI_KEY.bare());
        }
        for index in indexes.iter().filter(|index| self.shortened.contains(&index.name)) {
            let others: Vec<IndexDef> =
                indexes.iter().filter(|other| other.name != index.name).cloned().collect();
            key::warn_if_repeated(session, index, &others, table);
        }
        for new in &self.added {
            let index = match *new {
                NewKey::Element(definition) => key::index(session, definition, columns, indexes)?,
                NewKey::OfColumn(name, kind) => {
                    let position = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
                    let missing = || error_map::KEY_COLUMN_DOES_NOT_EXIST.with(&[&name]);
                    key::of_column(kind, position.ok_or_else(missing)?, columns, indexes)
                }
            };
            key::warn_if_repeated(session, &index, indexes, table);
            indexes.push(index);
        }
        Ok(())
    }
}

/// Error 3940 if DROP CONSTRAINT names no primary or unique key of `old`.
pub(super) fn ensure_constraints(old: &TableDef, actions: &[AlterAction<'_>]) -> Result<(), SqlError> {
    let is_of = |index: &IndexDef, name: &str| {
        index.kind != IndexKind::Secondary && !index.parts.is_empty() && index.name.eq_ignore_ascii_case(name)
    };
    let unknown = actions.iter().find_map(|action| match action {
        AlterAction::DropConstraint(name) if !old.indexes.iter().any(|index| is_of(index, name)) => {
            Some(name)
        }
        _ => None,
    });
    unknown.map_or(Ok(()), |name| Err(error_map::CONSTRAINT_NOT_FOUND.with(&[name])))
}

/// Checks the names that RENAME KEY gives.
///
/// # Errors
/// 1280, 1059.
pub(super) fn ensure_renamable(old: &str, new: &str) -> Result<(), SqlError> {
    names::ensure_key_name(old)?;
    names::ensure_key_name(new)
}

/// The part of a key in the new table, if it is left. As in MySQL, a new column that has the name of the
/// dropped one takes its place.
fn kept_part(part: KeyPart, old: &TableDef, columns: &[NewColumn]) -> Option<KeyPart> {
    let before = &old.columns[usize::from(part.column)];
    let stays = columns.iter().position(|column| column.old == Some(part.column));
    let replaces =
        |column: &NewColumn| column.old.is_none() && column.def.name.eq_ignore_ascii_case(&before.name);
    let position = stays.or_else(|| columns.iter().position(replaces))?;
    let ty = &columns[position].def.ty;
    let is_lob = matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    let fits = |&length: &u16| ty.is_string() && (is_lob || u32::from(length) < ty.length);
    Some(KeyPart { column: position as u16, prefix_len: part.prefix_len.filter(fits), desc: part.desc })
}

/// Columns of the primary key become NOT NULL.
///
/// # Errors
/// 1171 where NULL or DEFAULT NULL was written, 1067 where ALTER COLUMN sets that default.
pub(super) fn close_primary_key(columns: &mut [NewColumn], indexes: &[IndexDef]) -> Result<(), SqlError> {
    let primary = indexes.iter().find(|index| index.kind == IndexKind::Primary);
    for part in primary.iter().flat_map(|index| &index.parts) {
        let column = &mut columns[usize::from(part.column)];
        if column.explicit_null {
            return Err(error_map::PRIMARY_CANT_HAVE_NULL.bare());
        }
        if column.def.default == ColumnDefault::Null && column.has_new_default {
            return Err(error_map::INVALID_DEFAULT.with(&[&column.def.name]));
        }
        if matches!(column.def.default, ColumnDefault::Null | ColumnDefault::Dropped) {
            column.def.default = ColumnDefault::None;
        }
        column.def.nullable = false;
    }
    Ok(())
}
