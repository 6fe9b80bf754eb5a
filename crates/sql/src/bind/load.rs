//! LOAD DATA.

use std::sync::Arc;

use types::{Charset, CollationId, TableDef};

use super::binder::{Aggregates, Aliases, Binder};
use super::insert::find_target;
use super::{BindError, Clause, ColumnAccess};
use crate::ast::{self, LoadField, OnDuplicate, TextFormat};
use crate::plan::{InsertCell, InsertMode, LoadFormat, LoadPlan, LoadTarget};

impl<'a> Binder<'a, '_> {
    /// Binds LOAD DATA at the innermost level, which must be fresh.
    pub(super) fn load(&mut self, load: &'a ast::LoadData<'a>) -> Result<LoadPlan, BindError> {
        if load.xml {
            return Err(BindError::NotSupported("LOAD XML"));
        }
        if !load.partitions.is_empty() {
            return Err(BindError::PartitionOfPlainTable);
        }
        let table = self.lookup(&load.table)?;
        let (_, scope) = self.base_table(table.clone(), load.table.name, None);
        self.level().scope = scope;
        self.enter(Clause::FieldList, Aggregates::Forbidden, Aliases::Hidden);
        let collation = file_collation(load.charset)?;
        let mut targets: Vec<LoadTarget> = Vec::new();
        for field in load.fields {
            targets.push(match field {
                LoadField::Column(name) => {
                    let col = find_target(&table, name)?;
                    self.note_target(&table, ColumnAccess::Insert, col);
                    LoadTarget::Column(col)
                }
                LoadField::UserVar(name) => {
                    self.field_variables.push((*name, collation));
                    LoadTarget::UserVariable((*name).into())
                }
            });
        }
        if targets.is_empty() {
            for col in table.visible_columns() {
                self.note_target(&table, ColumnAccess::Insert, col);
                targets.push(LoadTarget::Column(col));
            }
        }
        let mut sets = Vec::with_capacity(load.set.len());
        for assignment in load.set {
            let col = find_target(&table, &assignment.column)?;
            self.note_target(&table, ColumnAccess::Insert, col);
            let cell = self.cell_expr(&assignment.value)?;
            let cell = self.settle_cell(cell, &table, Some(col))?;
            sets.push((col, self.assigned_default(cell, &table, (0, col))?));
        }
        self.load_defaults(&table, &targets, &mut sets)?;
        let mode = match (load.on_duplicate, load.local) {
            (OnDuplicate::Replace, _) => InsertMode::Replace,
            (OnDuplicate::Ignore, _) | (OnDuplicate::Error, true) => InsertMode::Ignore,
            (OnDuplicate::Error, false) => InsertMode::Insert,
        };
        let subqueries = std::mem::take(&mut self.level().subqueries);
        Ok(LoadPlan {
            table,
            file: load.path.into(),
            local: load.local,
            mode,
            targets,
            sets,
            format: load_format(&load.format, load.skip_lines)?,
            collation,
            subqueries: self.planner().subplans(subqueries),
        })
    }

    /// Adds the defaults that are expressions to `sets`, for columns that neither the file nor SET gives a
    /// value: they are computed once all else has its value, as if SET named them last.
    fn load_defaults(
        &mut self,
        table: &Arc<TableDef>,
        targets: &[LoadTarget],
        sets: &mut Vec<(u16, InsertCell)>,
    ) -> Result<(), BindError> {
        let is_field = |target: &LoadTarget| match target {
            LoadTarget::Column(col) => Some(*col),
            LoadTarget::UserVariable(_) => None,
        };
        let mut given: Vec<u16> = targets.iter().filter_map(is_field).collect();
        given.extend(sets.iter().map(|(col, _)| *col));
        let defaults = self.computed_defaults(table, &given, None)?;
        sets.extend(defaults.into_iter().map(|(col, expr)| (col, InsertCell::Expr(expr))));
        Ok(())
    }
}

/// FIELDS and LINES with MySQL's defaults.
fn load_format(format: &TextFormat<'_>, skip_lines: u64) -> Result<LoadFormat, BindError> {
    let one = |bytes: &[u8], clause| match bytes {
        [] => Ok(None),
        [byte] => Ok(Some(*byte)),
        _ => Err(BindError::NotSupported(clause)),
    };
    Ok(LoadFormat {
        field_end: format.field_end.unwrap_or(b"\t").into(),
        enclosed: one(format.enclosed_by.unwrap_or(b""), "a long ENCLOSED BY")?,
        optionally: format.optionally_enclosed,
        escape: one(format.escaped_by.unwrap_or(b"\\"), "a long ESCAPED BY")?,
        line_start: format.line_start.unwrap_or(b"").into(),
        line_end: format.line_end.unwrap_or(b"\n").into(),
        skip_lines,
    })
}

fn file_collation(charset: Option<&str>) -> Result<CollationId, BindError> {
    let Some(name) = charset else { return Ok(CollationId::UTF8MB4_0900_AI_CI) };
    let charset = Charset::find(name);
    Ok(charset.ok_or_else(|| BindError::UnknownCharset(name.to_owned()))?.default_collation())
}
