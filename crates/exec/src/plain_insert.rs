//! INSERT of rows whose values are stored as they are: none is built, and nothing is evaluated.

use std::sync::Arc;

use engine::Table;
use expr::ExprKind;
use sql::plan::{InsertCell, InsertMode, InsertPlan, InsertSource};
use types::storage::{PlainKind, fixed_width};
use types::{ColumnDef, ColumnDefault, SqlModes, Value};

use crate::context::{ExecCtx, Outcome, Summary};
use crate::error::Result;

#[cfg(test)]
thread_local! {
    /// Every row of this thread's statements is built.
    pub(crate) static NEVER_PLAIN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Columns of a table, at most.
const COLUMNS_MAX: usize = 32;

/// So few columns are kept in less room.
const COLUMNS_FEW: usize = 8;

/// Values of all rows, at most: what is kept of each is 24 bytes.
const VALUES_MAX: usize = 1 << 16;

/// An INSERT of rows of parameters, constants and constant defaults.
#[derive(Debug)]
pub(crate) struct PlainInsert {
    table: Arc<Table>,
    /// What each column gets that the statement leaves out; `None` is NULL, of which an AUTO_INCREMENT column
    /// makes a number.
    defaults: Box<[Option<Box<[u8]>>]>,
    /// The columns that have such a default other than NULL.
    defaulted: Box<[u16]>,
    /// Cells of a row.
    width: usize,
    /// The cells of all rows, one row after the other.
    cells: Box<[Cell]>,
    auto_increment: Option<usize>,
    /// One of the cells of that column is DEFAULT.
    defaults_number: bool,
}

/// Where a value comes from and where it goes.
#[derive(Clone, Copy, Debug)]
struct Cell {
    kind: PlainKind,
    column: u16,
    takes_null: bool,
    source: Source,
}

/// Where a cell's value comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The parameter of this number.
    Param(u16),
    /// The plan's cell: a constant or DEFAULT.
    Plan,
}

/// The value of the AUTO_INCREMENT column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// The value that the statement gives.
    Given(u64),
    /// The next one.
    Next,
}

impl Number {
    fn given(self) -> Option<u64> {
        match self {
            Number::Given(number) => Some(number),
            Number::Next => None,
        }
    }
}

/// AUTO_INCREMENT numbers that rows come with.
#[derive(Clone, Copy, Debug, Default)]
struct GivenNumbers {
    count: usize,
    last: u64,
    greatest: u64,
}

impl GivenNumbers {
    /// `None`: the mode decides what one of the values means.
    fn of<'v>(values: impl Iterator<Item = Option<&'v [u8]>>) -> Option<Self> {
        let mut given = GivenNumbers::default();
        for value in values {
            if let Number::Given(number) = number_of(value)? {
                given.count += 1;
                given.last = number;
                given.greatest = number.max(given.greatest);
            }
        }
        Some(given)
    }
}

/// A row's storage bytes by column.
type Values<'v> = [Option<&'v [u8]>];

/// Where an integer's bytes are.
type IntBytes = [u8; 8];

impl PlainInsert {
    /// `None`: the statement is another one.
    pub(crate) fn of_plan(table: &Arc<Table>, plan: &InsertPlan) -> Option<Self> {
        let (columns, auto_increment) = (&table.def.columns, table.def.auto_increment_column());
        let InsertSource::Rows(rows) = &plan.source else { return None };
        let counts = auto_increment.is_none_or(|col| columns[col].ty.is_integer());
        if plan.mode != InsertMode::Insert || !plan.on_duplicate.is_empty() || !counts {
            return None;
        }
        if columns.len() > COLUMNS_MAX || rows.len() * columns.len() > VALUES_MAX {
            return None;
        }
        let has_default = |cell: &InsertCell| matches!(cell, InsertCell::Default);
        let needs_default =
            |col: usize| match plan.columns.iter().position(|&other| usize::from(other) == col) {
                None => true,
                Some(at) => rows.iter().any(|cells| has_default(&cells[at])),
            };
        for (col, column) in columns.iter().enumerate() {
            if needs_default(col) && !is_constant(column) {
                return None;
            }
        }
        let defaults: Box<[_]> = columns.iter().map(default_of).collect();
        let cell = |(&column, cell)| {
            let ColumnDef { ty, nullable, auto_increment, .. } = &columns[usize::from(column)];
            let (kind, takes_null) = (PlainKind::of(ty), *nullable || *auto_increment);
            Some(Cell { kind, column, takes_null, source: source_of(cell)? })
        };
        let cells = rows.iter().flat_map(|cells| plan.columns.iter().zip(cells)).map(cell);
        Some(PlainInsert {
            table: Arc::clone(table),
            defaulted: (0..columns.len() as u16)
                .filter(|&col| defaults[usize::from(col)].is_some())
                .collect(),
            defaults,
            width: plan.columns.len(),
            cells: cells.collect::<Option<_>>()?,
            auto_increment,
            defaults_number: auto_increment.is_some_and(|col| {
                let at = plan.columns.iter().position(|&other| usize::from(other) == col);
                at.is_some_and(|at| rows.iter().any(|cells| has_default(&cells[at])))
            }),
        })
    }

    /// Inserts the rows; `None`, with nothing done: a value is converted, or the mode decides what it means.
    pub(crate) fn run(&self, plan: &InsertPlan, ctx: &mut ExecCtx<'_>) -> Option<Result<Outcome>> {
        #[cfg(test)]
        if NEVER_PLAIN.get() {
            return None;
        }
        if self.defaults_number && ctx.session.modes().has(SqlModes::NO_AUTO_VALUE_ON_ZERO) {
            return None;
        }
        match &plan.source {
            InsertSource::Rows(rows) if rows.len() > 1 => self.run_many(rows, ctx),
            InsertSource::Rows(rows) if self.defaults.len() <= COLUMNS_FEW => {
                self.run_one::<COLUMNS_FEW>(rows.first()?, ctx)
            }
            InsertSource::Rows(rows) => self.run_one::<COLUMNS_MAX>(rows.first()?, ctx),
            InsertSource::Query(_) => None,
        }
    }

    /// One row of a table of `N` columns at most.
    #[inline(never)]
    fn run_one<const N: usize>(
        &self,
        cells: &[InsertCell],
        ctx: &mut ExecCtx<'_>,
    ) -> Option<Result<Outcome>> {
        let next_room: IntBytes;
        let mut rooms = [[0; 8]; N];
        let mut values = [None; N];
        let values = &mut values[..self.defaults.len()];
        if !self.fill((&self.cells, cells), ctx.params, values, &mut rooms) {
            return None;
        }
        let (mut given, mut generated) = (0, None);
        if let Some(col) = self.auto_increment {
            match number_of(values[col])? {
                Number::Given(number) => given = number,
                Number::Next => {
                    let next = self.table.reserve_auto_increment(ctx.engine, 1, 1).ok()?;
                    next_room = next.to_le_bytes();
                    generated = Some(next);
                    values[col] = Some(&next_room[..self.number_width(col)]);
                }
            }
        }
        let inserted = self.insert(values, given, ctx);
        Some(inserted.map(|()| Outcome {
            affected: 1,
            insert_id: generated.unwrap_or(given),
            last_insert_id: generated,
            ..Outcome::default()
        }))
    }

    /// `given`: the AUTO_INCREMENT number that the row comes with, or 0.
    #[inline]
    fn insert(&self, values: &Values<'_>, given: u64, ctx: &mut ExecCtx<'_>) -> Result<()> {
        if ctx.autocommit && self.table.has_auto_increment_room(given) {
            // Behind the commit nothing may fail.
            ctx.trx.commit_with_change();
        }
        self.table.insert(ctx.engine, ctx.trx, values)?;
        if given != 0 {
            self.table.advance_auto_increment(ctx.engine, given)?;
        }
        Ok(())
    }

    /// Of the AUTO_INCREMENT numbers all are given or all are to be made; else the rows are built.
    #[inline(never)]
    fn run_many(&self, rows: &[Vec<InsertCell>], ctx: &mut ExecCtx<'_>) -> Option<Result<Outcome>> {
        let (count, width) = (rows.len(), self.defaults.len());
        let mut rooms = vec![[0; 8]; count * self.width];
        let next_rooms: Vec<IntBytes>;
        let mut values = vec![None; count * width];
        let mut rooms_left = &mut rooms[..];
        for (row, values) in values.chunks_exact_mut(width).enumerate() {
            let cells = &self.cells[row * self.width..][..self.width];
            let rooms = rooms_left.split_off_mut(..self.width)?;
            if !self.fill((cells, &rows[row]), ctx.params, values, rooms) {
                return None;
            }
        }
        let (mut given, mut generated) = (GivenNumbers::default(), None);
        if let Some(col) = self.auto_increment {
            given = GivenNumbers::of(values.chunks_exact(width).map(|row| row[col]))?;
            if given.count == 0 {
                let first = self.table.reserve_auto_increment(ctx.engine, count as u64, 1).ok()?;
                next_rooms = (first..).take(count).map(u64::to_le_bytes).collect();
                generated = Some(first);
                for (row, room) in values.chunks_exact_mut(width).zip(&next_rooms) {
                    row[col] = Some(&room[..self.number_width(col)]);
                }
            } else if given.count < count {
                return None;
            }
        }
        let rows: Vec<_> = values.chunks_exact(width).collect();
        Some(self.insert_many(&rows, given.greatest, ctx).map(|()| Outcome {
            affected: count as u64,
            insert_id: generated.unwrap_or(given.last),
            last_insert_id: generated,
            summary: Summary::Records { records: count as u64, duplicates: 0 },
            ..Outcome::default()
        }))
    }

    fn insert_many(&self, rows: &[&Values<'_>], greatest_given: u64, ctx: &mut ExecCtx<'_>) -> Result<()> {
        if let Err((done, error)) = self.table.insert_batch(ctx.engine, ctx.trx, rows) {
            self.keep_numbers(&rows[..done], greatest_given != 0, ctx)?;
            return Err(error.into());
        }
        if greatest_given != 0 {
            self.table.advance_auto_increment(ctx.engine, greatest_given)?;
        }
        Ok(())
    }

    /// The statement fails after these rows: the counter and LAST_INSERT_ID() become what they are with
    /// them.
    #[cold]
    fn keep_numbers(&self, rows: &[&Values<'_>], are_given: bool, ctx: &mut ExecCtx<'_>) -> Result<()> {
        let Some(col) = self.auto_increment else { return Ok(()) };
        let mut numbers = rows.iter().filter_map(|row| number_of(row[col])).filter_map(Number::given);
        if !are_given {
            if let Some(first) = numbers.next() {
                ctx.session.set_last_insert_id(first);
            }
        } else if let Some(greatest) = numbers.max() {
            self.table.advance_auto_increment(ctx.engine, greatest)?;
        }
        Ok(())
    }

    /// Bytes of the AUTO_INCREMENT column.
    #[inline]
    fn number_width(&self, col: usize) -> usize {
        fixed_width(&self.table.def.columns[col].ty).unwrap_or(8)
    }

    /// Makes `values`, which are NULL, those of a row with these cells; integers go to `rooms`, one a cell.
    /// False: one of them is converted or refused.
    #[inline(always)]
    fn fill<'v>(
        &'v self,
        (cells, planned): (&[Cell], &'v [InsertCell]),
        params: &'v [Value<'v>],
        values: &mut Values<'v>,
        rooms: &'v mut [IntBytes],
    ) -> bool {
        for &column in &self.defaulted {
            values[usize::from(column)] = self.defaults[usize::from(column)].as_deref();
        }
        for (at, (cell, room)) in cells.iter().zip(rooms).enumerate() {
            let Some(to) = values.get_mut(usize::from(cell.column)) else { return false };
            let is_plain = match cell.source {
                Source::Param(param) => match params.get(usize::from(param)) {
                    Some(param) => cell.store(param, room, to),
                    None => false,
                },
                Source::Plan => cell.store_planned(&planned[at], room, to),
            };
            if !is_plain {
                return false;
            }
        }
        true
    }
}

impl Cell {
    /// As [`Cell::store`], of the plan's cell; DEFAULT leaves `to` as it is. Apart, so that the loop over
    /// parameters keeps its registers.
    #[inline(never)]
    fn store_planned<'v>(
        &self,
        planned: &'v InsertCell,
        room: &'v mut IntBytes,
        to: &mut Option<&'v [u8]>,
    ) -> bool {
        match planned {
            InsertCell::Default => true,
            InsertCell::Kept(_) | InsertCell::Computed => false,
            InsertCell::Expr(expr) => match &expr.kind {
                ExprKind::Const(constant) => self.store(&constant.as_value(), room, to),
                _ => false,
            },
        }
    }

    /// Makes `to` the storage bytes of a value, `None` for NULL. False: the value is converted or refused.
    #[inline(always)]
    fn store<'v>(&self, value: &Value<'v>, room: &'v mut IntBytes, to: &mut Option<&'v [u8]>) -> bool {
        *to = self.kind.bytes(value, room);
        to.is_some() || self.takes_null && value.is_null()
    }
}

/// Where a cell's value comes from; `None`: it is evaluated.
fn source_of(cell: &InsertCell) -> Option<Source> {
    match cell {
        InsertCell::Default => Some(Source::Plan),
        InsertCell::Kept(_) | InsertCell::Computed => None,
        InsertCell::Expr(expr) => match expr.kind {
            ExprKind::Param(param) => Some(Source::Param(param)),
            ExprKind::Const(_) => Some(Source::Plan),
            _ => None,
        },
    }
}

/// Whether a column that is left out gets bytes that are known, or NULL.
fn is_constant(column: &ColumnDef) -> bool {
    match &column.default {
        ColumnDefault::Constant(_) => true,
        ColumnDefault::Dropped => column.auto_increment,
        ColumnDefault::Null | ColumnDefault::None => column.nullable || column.auto_increment,
        ColumnDefault::Now | ColumnDefault::Expression(_) => false,
    }
}

fn default_of(column: &ColumnDef) -> Option<Box<[u8]>> {
    match &column.default {
        ColumnDefault::Constant(bytes) if !column.auto_increment => Some(bytes.clone()),
        _ => None,
    }
}

/// The meaning of a value of an AUTO_INCREMENT column; `None` for 0 and below, where the mode decides.
#[inline]
fn number_of(value: Option<&[u8]>) -> Option<Number> {
    let Some(bytes) = value else { return Some(Number::Next) };
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    let is_positive = bytes.last().is_some_and(|top| top & 0x80 == 0) && number != [0; 8];
    is_positive.then(|| Number::Given(u64::from_le_bytes(number)))
}
