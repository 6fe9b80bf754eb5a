//! The keys of an altered table: those that it keeps, with the columns that are left of them, then those that
//! the statement adds.

use base::IndexId;
use engine::limits;
use sql::ast::{AlterAction, KeyDefinition, KeyKind};
use types::{IndexDef, IndexKind, KeyPart, SqlType, TableDef};

use super::alter_columns::{NewColumn, take};
use super::key;
use super::names;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::session::Session;

/// A key that the statement adds.
#[derive(Clone, Copy, Debug)]
pub(super) enum NewKey<'a> {
    /// ADD KEY and the like.
    Element(&'a KeyDefinition<'a>),
    /// PRIMARY KEY or UNIQUE in a column's definition.
    OfColumn(&'a str, KeyKind),
}

impl<'a> NewKey<'a> {
    /// The name that is written for it.
    fn name(self) -> Option<&'a str> {
        match self {
            NewKey::Element(definition) => definition.name.or(definition.constraint),
            NewKey::OfColumn(..) => None,
        }
    }
}

/// The actions on keys, in the order written.
#[derive(Debug, Default)]
pub(super) struct KeyActions<'a> {
    pub(super) drops: Vec<&'a str>,
    /// Old and new names.
    pub(super) renames: Vec<(&'a str, &'a str)>,
    pub(super) added: Vec<NewKey<'a>>,
    /// Keys that are to be visible, or not.
    pub(super) visibility: Vec<(&'a str, bool)>,
    /// New names of kept keys that RENAME KEY names.
    renamed: Vec<Box<str>>,
    /// New names of the kept keys that lost a column.
    shortened: Vec<Box<str>>,
    /// DROP COLUMN is among the actions.
    pub(super) loses_columns: bool,
    /// CONVERT TO is among the actions.
    pub(super) converts: bool,
}

impl<'a> KeyActions<'a> {
    /// The declared keys that are left of the table's, in MySQL's order. The rest of `drops` and `renames`
    /// names no key.
    ///
    /// # Errors
    /// 1059 and 1280 for names that RENAME KEY may not give or take.
    pub(super) fn keep(
        &mut self,
        old: &TableDef,
        columns: &[NewColumn<'_>],
    ) -> Result<Vec<IndexDef>, SqlError> {
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
                names::ensure_key_name(&index.name)?;
                names::ensure_key_name(new)?;
                index.name = new.into();
                self.renamed.push(new.into());
            }
            if index.parts.len() < parts_before {
                self.shortened.push(index.name.clone());
            }
            kept.push(index);
        }
        Ok(kept)
    }

    /// Error 3522 if ALTER INDEX names the primary key of `old`, or the key that serves as one, whatever it
    /// is to be, unless it goes.
    pub(super) fn ensure_primary_stays_visible(
        &self,
        old: &TableDef,
        columns: &[NewColumn<'_>],
    ) -> Result<(), SqlError> {
        let rank = |index: &&IndexDef| key::rank(index, &old.columns);
        let first = old.indexes.iter().filter(|index| !index.parts.is_empty()).min_by_key(rank);
        let is_named = |index: &IndexDef, name: &str| name.eq_ignore_ascii_case(&index.name);
        let stays = |index: &&IndexDef| {
            rank(index) <= key::PRIMARY_RANK_MAX
                && index.parts.iter().any(|part| kept_part(*part, old, columns).is_some())
                && !self.drops.iter().any(|name| is_named(index, name))
        };
        match first.filter(stays) {
            Some(first) if self.visibility.iter().any(|(name, _)| is_named(first, name)) => {
                Err(error_map::INVISIBLE_PRIMARY_KEY.bare())
            }
            _ => Ok(()),
        }
    }

    /// Makes kept keys visible, or not. As in MySQL, RENAME KEY may not name the key, too.
    ///
    /// # Errors
    /// 1176 if a key is to be renamed, or shown, that there is not.
    pub(super) fn show(&self, table: &str, kept: &mut [IndexDef]) -> Result<(), SqlError> {
        let missing = |name: &str| Err(error_map::KEY_DOES_NOT_EXIST.with(&[&name, &table]));
        if let Some((name, _)) = self.renames.first() {
            return missing(name);
        }
        for &(name, visible) in &self.visibility {
            let is_it = |index: &&mut IndexDef| {
                index.name.eq_ignore_ascii_case(name) && !self.renamed.contains(&index.name)
            };
            match kept.iter_mut().find(is_it) {
                Some(index) => index.invisible = !visible,
                None => return missing(name),
            }
        }
        Ok(())
    }

    /// Adds the new keys to `indexes`, and reads every key in order, as MySQL does: parts that are too
    /// long are cut, columns of the primary key become NOT NULL. Keys with such columns that come before it
    /// have their place among those that may be NULL.
    ///
    /// # Errors
    /// 1061, 1068, 1071, 1072, 1171, and others of key definitions.
    pub(super) fn add(
        &self,
        session: &mut Session,
        table: &FullName,
        (def, columns): (&mut TableDef, &[NewColumn<'_>]),
        indexes: &mut Vec<IndexDef>,
    ) -> Result<(), SqlError> {
        let bytes_max = key::part_bytes_max(&def.hints);
        let kept = indexes.len();
        let is_null_written = |position: usize| columns[position].explicit_null;
        let mut ranks = Vec::with_capacity(kept + self.added.len());
        for (at, index) in indexes.iter().enumerate() {
            if indexes[..at].iter().any(|other| other.name.eq_ignore_ascii_case(&index.name)) {
                return Err(error_map::DUP_KEYNAME.with(&[&index.name]));
            }
        }
        for index in &mut *indexes {
            let before = index.parts.clone();
            let name = index.name.clone();
            key::fit(session, index, def, self.limit(bytes_max, Some(&name)), is_null_written)?;
            if index.parts != before {
                // It is built again.
                index.id = IndexId(0);
            }
            ranks.push(key::rank(index, &def.columns));
        }
        for new in &self.added {
            let (mut index, failure) = match *new {
                NewKey::Element(definition) => key::index(session, definition, &def.columns, indexes)?,
                NewKey::OfColumn(name, kind) => {
                    let position =
                        def.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
                    let missing = || error_map::KEY_COLUMN_DOES_NOT_EXIST.with(&[&name]);
                    let position = position.ok_or_else(missing)?;
                    (key::of_column(kind, position, &def.columns, indexes)?, None)
                }
            };
            key::fit(session, &mut index, def, self.limit(bytes_max, new.name()), is_null_written)?;
            failure.map_or(Ok(()), Err)?;
            ranks.push(key::rank(&index, &def.columns));
            indexes.push(index);
        }
        for (at, index) in indexes.iter().enumerate() {
            if at >= kept || self.shortened.contains(&index.name) {
                // With DROP COLUMN, MySQL compares them with the keys after them, too.
                let others = if self.loses_columns { &indexes[..] } else { &indexes[..at] };
                let others = others.iter().filter(|other| other.name != index.name);
                key::warn_if_repeated(session, index, others, table);
            }
        }
        key::ensure_visible_primary(indexes, &def.columns)?;
        key::sort(&ranks, indexes);
        Ok(())
    }
}

impl KeyActions<'_> {
    /// The limit for the parts of a key whose name is written as `name`. Messages of MySQL have `(null)` for
    /// none.
    fn limit<'k>(&self, bytes_max: u32, name: Option<&'k str>) -> key::PartLimit<'k> {
        key::PartLimit { bytes_max, converted_key: self.converts.then_some(name.unwrap_or("(null)")) }
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

/// The part of a key in the new table, if it is left. As in MySQL, a new column that has the name of the old
/// one takes its place if it comes before it, or is alone, with as much of it as the key had of the old one.
fn kept_part(part: KeyPart, old: &TableDef, columns: &[NewColumn<'_>]) -> Option<KeyPart> {
    let before = &old.columns[usize::from(part.column)];
    let is_it = |column: &NewColumn<'_>| match column.old {
        Some(at) => at == part.column,
        None => column.def.name.eq_ignore_ascii_case(&before.name),
    };
    let position = columns.iter().position(is_it)?;
    let ty = &columns[position].def.ty;
    if columns[position].old.is_none() {
        let length = match part.prefix_len {
            Some(length) => u32::from(length),
            None if before.ty.is_string() => before.ty.length,
            // Bytes of a member's number are characters to MySQL.
            None if before.ty.members.is_some() => {
                limits::fixed_bytes(&before.ty) as u32 / before.ty.max_char_bytes()
            }
            None => limits::fixed_bytes(&before.ty) as u32,
        };
        let prefix_len = Some(length).filter(|&length| length > 0);
        let prefix_len = prefix_len.and_then(|length| key::prefix_of(ty, length));
        return Some(KeyPart { column: position as u16, prefix_len, desc: part.desc });
    }
    // A length of 0, which a BLOB has, says nothing.
    let fits = |&length: &u16| ty.is_string() && (ty.length == 0 || u32::from(length) < ty.length);
    let prefix_len = part.prefix_len.or_else(|| member_prefix(&before.ty)).filter(fits);
    Some(KeyPart { column: position as u16, prefix_len, desc: part.desc })
}

/// The prefix that a key on a whole ENUM or SET has in MySQL once the column is a string: as many characters
/// as its numbers have bytes.
fn member_prefix(ty: &SqlType) -> Option<u16> {
    ty.members.as_ref()?;
    let (bytes, char_bytes) = (limits::fixed_bytes(ty) as u32, ty.max_char_bytes());
    let is_whole = ty.length * char_bytes == bytes;
    u16::try_from(bytes / char_bytes).ok().filter(|&length| length > 0 && !is_whole)
}
