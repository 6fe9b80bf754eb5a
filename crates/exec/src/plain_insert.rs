//! INSERT of one row whose values are stored as they are: no row is built, and nothing is evaluated.

use std::sync::Arc;

use engine::Table;
use expr::{Expr, ExprKind};
use sql::plan::{InsertCell, InsertMode, InsertPlan, InsertSource};
use types::storage::{fixed_width, plain_bytes};
use types::{ColumnDef, ColumnDefault, OwnedValue, Value};

use crate::context::{ExecCtx, Outcome};
use crate::error::Result;

#[cfg(test)]
thread_local! {
    /// Every row of this thread's statements is built.
    pub(crate) static NEVER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Columns of a table, at most.
const COLUMNS_MAX: usize = 32;

/// An INSERT of one row of parameters, constants and constant defaults.
#[derive(Debug)]
pub(crate) struct PlainInsert {
    table: Arc<Table>,
    /// What each column of the table gets.
    sources: Box<[Source]>,
    auto_increment: Option<usize>,
}

/// Where a column's value comes from.
#[derive(Debug)]
enum Source {
    Param(u16),
    Const(OwnedValue),
    /// Storage bytes; `None` for NULL, which an AUTO_INCREMENT column makes a number of.
    Default(Option<Box<[u8]>>),
}

/// What the AUTO_INCREMENT column gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// The value that the statement gives.
    Given(u64),
    /// The next one.
    Next,
}

impl PlainInsert {
    /// `None`: the statement is another one.
    pub(crate) fn of_plan(table: &Arc<Table>, plan: &InsertPlan) -> Option<Self> {
        let InsertSource::Rows(rows) = &plan.source else { return None };
        let ([cells], InsertMode::Insert, []) = (&rows[..], plan.mode, &plan.on_duplicate[..]) else {
            return None;
        };
        let (columns, auto_increment) = (&table.def.columns, table.def.auto_increment_column());
        let counts = auto_increment.is_none_or(|col| columns[col].ty.is_integer());
        if !counts || columns.len() > COLUMNS_MAX {
            return None;
        }
        let mut sources: Vec<Option<Source>> = columns.iter().map(default_of).collect();
        for (&col, cell) in plan.columns.iter().zip(cells) {
            if let InsertCell::Expr(expr) = cell {
                sources[usize::from(col)] = source_of(expr);
            }
        }
        let sources = sources.into_iter().collect::<Option<_>>()?;
        Some(PlainInsert { table: Arc::clone(table), sources, auto_increment })
    }

    /// Inserts the row; `None`, with nothing done: one of its values is converted, or the mode decides what it means.
    pub(crate) fn run(&self, ctx: &mut ExecCtx<'_>) -> Option<Result<Outcome>> {
        #[cfg(test)]
        if NEVER.get() {
            return None;
        }
        let columns = &self.table.def.columns;
        let next_room: [u8; 8];
        let mut rooms = [[0; 8]; COLUMNS_MAX];
        let mut values = [None; COLUMNS_MAX];
        for (((source, column), value), room) in
            self.sources.iter().zip(columns).zip(&mut values).zip(&mut rooms)
        {
            let is_plain = match source {
                Source::Param(param) => store(column, ctx.params.get(usize::from(*param))?, room, value),
                Source::Const(constant) => store(column, &constant.as_value(), room, value),
                Source::Default(bytes) => {
                    *value = bytes.as_deref();
                    true
                }
            };
            if !is_plain {
                return None;
            }
        }
        let (mut given, mut generated) = (0, None);
        if let Some(col) = self.auto_increment {
            match number_of(values[col])? {
                Number::Given(number) => given = number,
                Number::Next => {
                    let next = match self.table.reserve_auto_increment(ctx.engine, 1, 1) {
                        Ok(next) => next,
                        Err(error) => return Some(Err(error.into())),
                    };
                    next_room = next.to_le_bytes();
                    generated = Some(next);
                    values[col] = Some(&next_room[..fixed_width(&columns[col].ty).unwrap_or(8)]);
                }
            }
        }
        let inserted = self.insert(&values[..columns.len()], given, ctx);
        Some(inserted.map(|()| Outcome {
            affected: 1,
            insert_id: generated.unwrap_or(given),
            last_insert_id: generated,
            ..Outcome::default()
        }))
    }

    /// `given`: the AUTO_INCREMENT number that the row comes with, or 0.
    #[inline]
    fn insert(&self, values: &[Option<&[u8]>], given: u64, ctx: &mut ExecCtx<'_>) -> Result<()> {
        if ctx.autocommit && self.table.has_auto_increment_room(given) {
            // Behind the commit nothing may fail.
            ctx.trx.end_with_change();
        }
        self.table.insert(ctx.engine, ctx.trx, values)?;
        if given != 0 {
            self.table.advance_auto_increment(ctx.engine, given)?;
        }
        Ok(())
    }
}

/// What a column gets that the statement leaves out. `None`: more than bytes that are known.
fn default_of(column: &ColumnDef) -> Option<Source> {
    match &column.default {
        _ if column.auto_increment => Some(Source::Default(None)),
        ColumnDefault::Constant(bytes) => Some(Source::Default(Some(bytes.clone()))),
        ColumnDefault::Null | ColumnDefault::None if column.nullable => Some(Source::Default(None)),
        ColumnDefault::Null | ColumnDefault::None | ColumnDefault::Now => None,
    }
}

/// `None`: the expression is evaluated.
fn source_of(expr: &Expr) -> Option<Source> {
    match &expr.kind {
        ExprKind::Param(param) => Some(Source::Param(*param)),
        ExprKind::Const(value) => Some(Source::Const(value.clone())),
        _ => None,
    }
}

/// Makes `to` the storage bytes of a value, `None` for NULL. False: the value is converted or refused.
#[inline]
fn store<'v>(
    column: &ColumnDef,
    value: &Value<'v>,
    room: &'v mut [u8; 8],
    to: &mut Option<&'v [u8]>,
) -> bool {
    if value.is_null() {
        *to = None;
        return column.nullable || column.auto_increment;
    }
    *to = plain_bytes(&column.ty, value, room);
    to.is_some()
}

/// What the value of an AUTO_INCREMENT column means; no answer for 0 and below, of which the mode decides.
#[inline]
fn number_of(value: Option<&[u8]>) -> Option<Number> {
    let Some(bytes) = value else { return Some(Number::Next) };
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    let is_positive = bytes.last().is_some_and(|top| top & 0x80 == 0) && number != [0; 8];
    is_positive.then(|| Number::Given(u64::from_le_bytes(number)))
}
