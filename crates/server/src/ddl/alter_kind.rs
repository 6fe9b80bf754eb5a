//! What kind of change an ALTER TABLE is, and whether that agrees with its ALGORITHM and LOCK.
//!
//! Two questions are kept apart: how MySQL makes the change, which decides what clients see of it (affected
//! rows, how NULL is refused, which clauses are allowed), and whether rows have to be rewritten here.

use base::IndexId;
use engine::{has_same_storage, keeps_clustered_key, limits};
use sql::ast::{Algorithm, LockOption};
use types::collation::Charset;
use types::storage::{is_widened, max_width};
use types::{IndexDef, SqlType, TableDef, TypeKind};

use super::alter_plan::Planned;
use crate::error_map::{self, SqlError};

/// How a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// MySQL copies the table for it, for this reason.
    pub(super) copies: Option<Reason>,
    /// All rows are rewritten here.
    pub(super) rebuilds: bool,
    /// Others may change rows while that is done.
    pub(super) lets_writers_on: bool,
    /// Columns change, and the rows stay.
    pub(super) changes_columns: bool,
    /// Indexes are built, with no rebuild.
    builds: bool,
    /// Kept keys become visible, or invisible.
    shows_keys: bool,
    /// A column is added that numbers the rows.
    adds_numbers: bool,
}

/// Why MySQL numbers the rows of no table that is in use.
const NUMBERS_ROWS: &str = "Adding an auto-increment column requires a lock";

/// Why MySQL copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    ColumnType,
    NoPrimaryKey,
    SilentNull,
    /// A key no longer serves as the primary key, because one of its columns may be NULL.
    NullableKey,
    /// A new column is computed of the others.
    Computed,
    /// The statement asks for it.
    Asked,
}

impl Reason {
    fn text(self) -> Option<&'static str> {
        match self {
            Reason::ColumnType => Some("Cannot change column type INPLACE"),
            Reason::NoPrimaryKey => {
                Some("Dropping a primary key is not allowed without also adding a new primary key")
            }
            Reason::SilentNull => Some("cannot silently convert NULL values, as required in this SQL_MODE"),
            Reason::NullableKey => Some(
                "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead",
            ),
            Reason::Computed | Reason::Asked => None,
        }
    }
}

/// ALGORITHM and LOCK of a statement.
pub(super) type AlgorithmAndLock = (Option<Algorithm>, Option<LockOption>);

impl Kind {
    /// The kind of the change that `planned` makes of `old`, in a strict mode or not. `keeps_rows`: the
    /// columns can change without reading the rows.
    pub(super) fn of(
        old: &TableDef,
        planned: &Planned,
        (algorithm, _): AlgorithmAndLock,
        strict: bool,
        keeps_rows: bool,
    ) -> Self {
        let new = &planned.alteration.def;
        let is_asked = planned.is_copied || algorithm == Some(Algorithm::Copy);
        let reason = copy_reason(old, planned, strict, keeps_rows)
            .or(planned.computes_rows.then_some(Reason::Computed))
            .or(is_asked.then_some(Reason::Asked));
        let has_same_rows = has_same_rows(old, planned);
        let rebuilds = reason.is_some() || planned.is_forced || !(has_same_rows || keeps_rows);
        let builds = !rebuilds && new.indexes.iter().any(|index| index.id == IndexId(0));
        let shown = |id: IndexId| old.indexes.iter().find(|of| of.id == id).map(|of| of.invisible);
        let shows_keys =
            new.indexes.iter().any(|index| shown(index.id).is_some_and(|was| was != index.invisible));
        let changes_columns = !(rebuilds || has_same_rows);
        let mut columns = new.columns.iter().zip(&planned.old_columns);
        let adds_numbers = columns.any(|(column, at)| column.auto_increment && at.is_none());
        let lets_writers_on =
            reason.is_none() && !adds_numbers && keeps_clustered_key(old, new, &planned.old_columns);
        Kind { copies: reason, rebuilds, lets_writers_on, changes_columns, builds, shows_keys, adds_numbers }
    }

    /// Refuses a change that cannot be made in the way that ALGORITHM and LOCK ask for.
    ///
    /// # Errors
    /// 1845, 1846, 1221.
    pub(super) fn ensure_requested(self, (algorithm, lock): AlgorithmAndLock) -> Result<(), SqlError> {
        let (algorithm, lock) =
            (algorithm.unwrap_or(Algorithm::Default), lock.unwrap_or(LockOption::Default));
        match algorithm {
            Algorithm::Instant if lock != LockOption::Default => {
                Err(error_map::WRONG_USAGE.with(&[&"ALGORITHM=INSTANT", &"LOCK=NONE/SHARED/EXCLUSIVE"]))
            }
            Algorithm::Instant if self.copies == Some(Reason::ColumnType) => refuse_because(
                "ALGORITHM=INSTANT",
                "Need to rebuild the table to change column type",
                "ALGORITHM=COPY/INPLACE",
            ),
            Algorithm::Instant if self.copies == Some(Reason::NoPrimaryKey) => {
                let reason = self.copies.and_then(Reason::text).unwrap_or_default();
                refuse_because("ALGORITHM=INSTANT", reason, "ALGORITHM=COPY/INPLACE")
            }
            Algorithm::Instant if self.adds_numbers => {
                refuse_because("ALGORITHM=INSTANT", NUMBERS_ROWS, "ALGORITHM=COPY/INPLACE")
            }
            Algorithm::Instant if self.rebuilds || self.builds || self.shows_keys => {
                refuse("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE")
            }
            Algorithm::Inplace if self.copies.is_some() => match self.copies.and_then(Reason::text) {
                Some(reason) => refuse_because("ALGORITHM=INPLACE", reason, "ALGORITHM=COPY"),
                None => refuse("ALGORITHM=INPLACE", "ALGORITHM=COPY"),
            },
            _ => self.ensure_lock(algorithm, lock),
        }
    }

    fn ensure_lock(self, algorithm: Algorithm, lock: LockOption) -> Result<(), SqlError> {
        match lock {
            LockOption::None if self.copies == Some(Reason::Computed) => refuse("LOCK=NONE", "LOCK=SHARED"),
            LockOption::None if self.copies.is_some() => {
                let reason = self.copies.and_then(Reason::text).filter(|_| algorithm != Algorithm::Copy);
                refuse_because("LOCK=NONE", reason.unwrap_or("COPY algorithm requires a lock"), "LOCK=SHARED")
            }
            LockOption::None if self.adds_numbers => refuse_because("LOCK=NONE", NUMBERS_ROWS, "LOCK=SHARED"),
            LockOption::None if self.rebuilds && !self.lets_writers_on => refuse("LOCK=NONE", "LOCK=SHARED"),
            _ => Ok(()),
        }
    }
}

fn refuse(what: &str, instead: &str) -> Result<(), SqlError> {
    Err(error_map::ALTER_OPERATION_NOT_SUPPORTED.with(&[&what, &instead]))
}

fn refuse_because(what: &str, why: &str, instead: &str) -> Result<(), SqlError> {
    Err(error_map::ALTER_OPERATION_NOT_SUPPORTED_REASON.with(&[&what, &why, &instead]))
}

/// Why MySQL copies the table for the change. Wider integers are no reason where the rows stay as they are.
fn copy_reason(old: &TableDef, planned: &Planned, strict: bool, keeps_rows: bool) -> Option<Reason> {
    let new = &planned.alteration.def;
    let pairs = || {
        let found = new.columns.iter().enumerate().zip(&planned.old_columns);
        found.filter_map(|((position, column), at)| {
            Some((&old.columns[usize::from((*at)?)], column, position))
        })
    };
    let is_key = |position: usize| {
        new.indexes.iter().flat_map(|index| &index.parts).any(|part| usize::from(part.column) == position)
    };
    if pairs().any(|(old, new, position)| {
        let is_same = has_same_storage(&old.ty, &new.ty)
            || keeps_rows && is_widened(&old.ty, &new.ty)
            || has_equal_members(&old.ty, &new.ty)
            || (new.ty.members.is_some() || !is_key(position)) && is_recollated(&old.ty, &new.ty);
        !is_same || old.auto_increment != new.auto_increment
    }) {
        return Some(Reason::ColumnType);
    }
    let is_kept = |id: IndexId| new.indexes.iter().any(|index| index.id == id);
    let is_new = |index: &IndexDef| {
        let before = old.indexes.iter().find(|before| before.id == index.id);
        before.is_none_or(|before| before.parts.len() != index.parts.len())
    };
    let is_replaced = || engine::clustered_index(new).is_some_and(is_new);
    if !old.hidden_row_id && !is_kept(old.clustered().id) && !is_replaced() {
        return Some(Reason::NoPrimaryKey);
    }
    let opens = || pairs().any(|(old, new, _)| !old.nullable && new.nullable);
    if !old.hidden_row_id && engine::clustered_index(new).is_none() && opens() {
        return Some(Reason::NullableKey);
    }
    let closes = pairs().any(|(old, new, _)| old.nullable && !new.nullable);
    (closes && !strict).then_some(Reason::SilentNull)
}

/// Whether `new` has the members of `old`, perhaps in upper or lower case, and others after them.
fn has_equal_members(old: &SqlType, new: &SqlType) -> bool {
    let (Some(before), Some(after)) = (&old.members, &new.members) else { return false };
    let recased = SqlType { members: new.members.clone(), collation: new.collation, ..old.clone() };
    let Some(collation) = new.collation.collation() else { return false };
    before.len() <= after.len()
        && limits::fixed_bytes(old) == limits::fixed_bytes(new)
        && has_same_storage(&recased, new)
        && before.iter().zip(&**after).all(|(a, b)| collation.equals(a, b))
}

/// Whether only the comparison of the column's strings changes.
fn is_recollated(old: &SqlType, new: &SqlType) -> bool {
    let charset = |ty: &SqlType| ty.collation.collation().map(|collation| collation.charset);
    match (old.kind, new.kind) {
        (TypeKind::Text(before), TypeKind::Blob(after)) => before == after,
        (TypeKind::VarChar, TypeKind::VarBinary) => max_width(old) == max_width(new),
        (TypeKind::Enum, TypeKind::Enum) | (TypeKind::Set, TypeKind::Set) => {
            let recollated = SqlType { collation: new.collation, ..old.clone() };
            has_same_storage(&recollated, new)
        }
        _ => {
            let recollated = SqlType { collation: new.collation, ..old.clone() };
            let grows = (charset(old), charset(new)) == (Some(Charset::Utf8mb3), Some(Charset::Utf8mb4));
            let is_long = |ty: &SqlType| max_width(ty) > 255;
            (charset(old) == charset(new) || grows && is_long(old) == is_long(new))
                && has_same_storage(&recollated, new)
        }
    }
}

/// Whether records of the old table are records of the new one, in the same clustered tree.
fn has_same_rows(old: &TableDef, planned: &Planned) -> bool {
    let new = &planned.alteration.def;
    let in_place = planned.old_columns.iter().enumerate().all(|(i, at)| *at == Some(i as u16));
    let mut columns = old.columns.iter().zip(&new.columns);
    in_place
        && old.columns.len() == new.columns.len()
        && columns.all(|(a, b)| a.nullable == b.nullable && has_same_storage(&a.ty, &b.ty))
        && engine::clustered_index(new).map(|index| index.id)
            == (!old.hidden_row_id).then(|| old.clustered().id)
}
