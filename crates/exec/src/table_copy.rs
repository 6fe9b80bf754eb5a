//! Copies rows of a table that ALTER TABLE rebuilds, converting each column to its new type.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use base::memory::StatementAccount;
use bumpalo::Bump;
use engine::{Engine, InitialValues, PutRow, has_same_storage};
use expr::{Expr, SessionInfo};
use types::collation::{Charset, convert as convert_text};
use types::key::append_sort;
use types::storage::max_width;
use types::value::{Loss, integer_prefix};
use types::{
    CollationId, ColumnDef, ColumnDefault, Problem, SqlModes, SqlType, TableDef, TextEncoder, TimeZone,
    TypeKind, Value, storage,
};

use crate::column_store::ColumnStore;
use crate::conditions::Conditions;
use crate::error::{ExecError, Result};
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::row_build::{Report, RowBuffer, push_zero, store_in_any_spelling, store_value};
use crate::row_expression::RowExpressions;
use crate::statement::Statement;
use crate::strict::StrictSession;

/// Bytes of a text, and of what is appended for a row, after which no more count for the place of the row.
const ORDERING_BYTES_MAX: usize = 8 << 10;

/// How the rows of one table become those of another.
#[derive(Debug)]
pub struct TableCopy<'a> {
    /// The definition that the rows have.
    pub old: &'a TableDef,
    /// Where each new column is in it; `None`: it is new.
    pub old_columns: &'a [Option<u16>],
    /// The first AUTO_INCREMENT number for rows that need one.
    pub first_number: u64,
    /// MySQL copies the table for this change: unchanged dates are assigned, so that the sql_mode may refuse
    /// them, and floating-point numbers take the digits of their new type.
    pub copies: bool,
    /// NULL in a column that becomes NOT NULL is [`ExecError::NullRefused`] instead of a lost value.
    pub refuses_null: bool,
    /// The defaults of new columns that are expressions over the new row (relation 0), in order.
    pub defaults: &'a [(u16, Expr)],
}

/// Inputs of a copy.
pub struct CopyCtx<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// The session.
    pub session: &'a dyn SessionInfo,
    /// Where warnings go.
    pub conditions: &'a dyn Conditions,
    /// What memory is charged to.
    pub memory: &'a Rc<StatementAccount>,
    /// Counts rows.
    pub rows_examined: &'a AtomicU64,
}

impl std::fmt::Debug for CopyCtx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyCtx").finish_non_exhaustive()
    }
}

/// How a column gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The bytes of the old column.
    Bytes(usize),
    /// The same, but that the mode may refuse a zero date.
    Moment(usize),
    /// The value of the old column, assigned to the new one.
    Value(usize),
    /// Its default.
    Default,
    /// Its default, a zero date, which the mode refuses or warns about.
    ZeroDate,
    /// One of [`TableCopy::defaults`], once the other columns have their values.
    Computed,
}

impl TableCopy<'_> {
    /// Calls `work` with what makes rows of `new` of those of the old table.
    pub fn with_copier<R>(
        &self,
        new: &TableDef,
        ctx: &CopyCtx<'_>,
        work: impl FnOnce(&mut Copier<'_>) -> R,
    ) -> R {
        let session = StrictSession::new(ctx.session, false);
        let st = Statement::changing(ctx.engine, &session, ctx.memory, ctx.rows_examined);
        let target = Arc::new(new.clone());
        let expressions = QueryProgram::expressions(Vec::new(), &target);
        let run = QueryRun::new(&st, &[], &expressions);
        work(&mut Copier {
            run: &run,
            arena: Bump::new(),
            copy: self,
            new,
            sources: self.sources(new, ctx.session.modes()),
            texts: self.texts(new),
            numbered: self.numbered(new),
            text: Vec::new(),
            store: ColumnStore::new(&st, ctx.conditions, false).making_numbers(),
            zeros_count: !ctx.session.modes().has(SqlModes::NO_AUTO_VALUE_ON_ZERO),
            next_number: self.first_number.max(1),
            row: RowBuffer::new(new.columns.len()),
            number: 0,
        })
    }

    /// What rows of the old table show in the columns that are new in `new`, by position; `None` for NULL,
    /// and where the column is kept. Nothing if that has to be found out row by row.
    ///
    /// # Errors
    /// Those of the default values.
    pub fn initial_values(&self, new: &TableDef, ctx: &CopyCtx<'_>) -> Result<Option<InitialValues>> {
        let sources = self.sources(new, ctx.session.modes());
        let is_known = |(column, source): (&ColumnDef, &Source)| match *source {
            Source::Bytes(_) | Source::Default => true,
            Source::Value(at) => storage::is_widened(&self.old.columns[at].ty, &column.ty),
            Source::Moment(_) | Source::ZeroDate | Source::Computed => false,
        };
        if !new.columns.iter().zip(&sources).all(is_known) || self.numbered(new).is_some() {
            return Ok(None);
        }
        let session = StrictSession::new(ctx.session, false);
        let st = Statement::changing(ctx.engine, &session, ctx.memory, ctx.rows_examined);
        let store = ColumnStore::new(&st, ctx.conditions, false).making_numbers();
        let value = |(column, source): (&ColumnDef, &Source)| {
            let mut bytes = Vec::new();
            let is_set = *source == Source::Default && store.missing(column, 1, &mut bytes)?;
            Ok(is_set.then(|| bytes.into()))
        };
        new.columns.iter().zip(&sources).map(value).collect::<Result<_>>().map(Some)
    }

    /// Appends what places a row of the old table among the others in the order of `columns`, each with
    /// whether it is descending.
    pub fn append_order(
        &self,
        columns: &[(u16, bool)],
        zone: &TimeZone,
        row: &[Option<&[u8]>],
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        for &(position, is_descending) in columns {
            // As many columns may be written as a statement has room for.
            if out.len() - start >= ORDERING_BYTES_MAX {
                break;
            }
            let at = usize::from(position);
            let value =
                row[at].map_or(Value::Null, |bytes| storage::read(&self.old.columns[at].ty, bytes, zone));
            let value = match value {
                Value::Bytes { data, collation } => {
                    Value::Bytes { data: &data[..data.len().min(ORDERING_BYTES_MAX)], collation }
                }
                value => value,
            };
            append_sort(&value, is_descending, out);
        }
    }

    /// For each column of `new`, the old one whose bytes it keeps in every row.
    pub fn kept_columns(&self, new: &TableDef, modes: SqlModes) -> Vec<Option<u16>> {
        let numbered = self.numbered(new);
        let kept = |(position, source): (usize, &Source)| match *source {
            Source::Bytes(at) if numbered != Some(position) => Some(at as u16),
            _ => None,
        };
        self.sources(new, modes).iter().enumerate().map(kept).collect()
    }

    /// The AUTO_INCREMENT column, if rows may get numbers: numbers that the old table has given stay, zero
    /// among them.
    fn numbered(&self, new: &TableDef) -> Option<usize> {
        let position = new.columns.iter().position(|column| column.auto_increment)?;
        let is_kept = |old: u16| self.old.columns[usize::from(old)].auto_increment;
        (!self.old_columns[position].is_some_and(is_kept)).then_some(position)
    }

    fn texts(&self, new: &TableDef) -> Vec<Option<TextEncoder>> {
        let text = |(column, old): (&ColumnDef, &Option<u16>)| {
            text_between(&self.old.columns[usize::from((*old)?)].ty, &column.ty)
        };
        new.columns.iter().zip(self.old_columns).map(text).collect()
    }

    fn sources(&self, new: &TableDef, modes: SqlModes) -> Vec<Source> {
        let refuses_zeros = modes.has(SqlModes::NO_ZERO_DATE);
        let checks = self.copies && (refuses_zeros || modes.has(SqlModes::NO_ZERO_IN_DATE));
        let source = |(column, old): (&ColumnDef, &Option<u16>)| match *old {
            None if column.default_expression().is_some() => Source::Computed,
            None if refuses_zeros && is_zero_date(column) => Source::ZeroDate,
            None => Source::Default,
            Some(old) => {
                let old_ty = &self.old.columns[usize::from(old)].ty;
                let is_same = *old_ty == column.ty
                    || !self.copies && has_same_storage(old_ty, &column.ty)
                    || are_members_converted(old_ty, &column.ty);
                let at = usize::from(old);
                match column.ty.kind {
                    _ if !is_same => Source::Value(at),
                    TypeKind::Date | TypeKind::DateTime if checks => Source::Value(at),
                    // Two moments of a repeated hour have one local time, but different bytes.
                    TypeKind::Timestamp if checks => Source::Moment(at),
                    _ => Source::Bytes(at),
                }
            }
        };
        let mut sources: Vec<Source> = new.columns.iter().zip(self.old_columns).map(source).collect();
        // One message covers all such columns.
        let zeros = sources.iter_mut().filter(|source| **source == Source::ZeroDate);
        zeros.skip(1).for_each(|source| *source = Source::Default);
        sources
    }
}

/// Whether `new` has the members of `old` in another character set or collation: each value stays the member
/// that it is, though the new collation may not distinguish it from others.
fn are_members_converted(old: &SqlType, new: &SqlType) -> bool {
    let (Some(before), Some(after)) = (&old.members, &new.members) else { return false };
    let charset = |ty: &SqlType| ty.collation.collation().map_or(Charset::Utf8mb4, |found| found.charset);
    let (from, to) = (charset(old), charset(new));
    let is_converted = |at: usize| {
        let mut converted = Vec::new();
        convert_text(from, to, &before[at], &mut converted);
        converted[..] == after[at][..]
    };
    old.kind == new.kind && before.len() == after.len() && (0..before.len()).all(is_converted)
}

/// Whether the bytes of a TIMESTAMP are a moment, not the zero date.
fn is_moment(bytes: &[u8]) -> bool {
    bytes.iter().any(|&byte| byte != 0)
}

/// Whether rows that were there before get a zero date in the new column.
fn is_zero_date(column: &ColumnDef) -> bool {
    matches!(column.ty.kind, TypeKind::Date | TypeKind::DateTime)
        && column.default == ColumnDefault::None
        && !column.nullable
}

/// A copy in progress.
pub struct Copier<'a> {
    copy: &'a TableCopy<'a>,
    /// Evaluates expressions.
    run: &'a QueryRun<'a>,
    arena: Bump,
    new: &'a TableDef,
    sources: Vec<Source>,
    /// For columns whose numbers are copied as text.
    texts: Vec<Option<TextEncoder>>,
    /// The AUTO_INCREMENT column, if rows may get numbers.
    numbered: Option<usize>,
    text: Vec<u8>,
    store: ColumnStore<'a>,
    /// Zero in an AUTO_INCREMENT column asks for a number.
    zeros_count: bool,
    next_number: u64,
    row: RowBuffer,
    /// The number of the current row, from 1.
    number: u64,
}

impl std::fmt::Debug for Copier<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copier").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Copier<'_> {
    /// Puts the row that `old` becomes: storage bytes per column.
    ///
    /// # Errors
    /// [`ExecError::Store`] for values that strict modes refuse, [`ExecError::NullRefused`]; those of `put`.
    pub fn copy(&mut self, old: &[Option<&[u8]>], put: &mut PutRow<'_>) -> Result<()> {
        self.make(old)?;
        Ok(self.row.with_row(0, |row| put(row))?)
    }

    fn make(&mut self, old: &[Option<&[u8]>]) -> Result<()> {
        self.number += 1;
        if self.number == 1
            && let Some(at) = self.sources.iter().position(|source| *source == Source::ZeroDate)
        {
            complain_of_zero(&self.store, &self.new.columns[at])?;
        }
        self.row.clear();
        self.row.begin_row();
        for (position, column) in self.new.columns.iter().enumerate() {
            match self.sources[position] {
                Source::Bytes(at) if old[at].is_some() => self.row.set(position, old[at]),
                Source::Moment(at) if old[at].is_some_and(is_moment) => self.row.set(position, old[at]),
                Source::Default | Source::ZeroDate | Source::Computed => {
                    let (store, number) = (&self.store, self.number);
                    self.row.set_maybe(position, |out| store.missing(column, number, out))?;
                }
                Source::Bytes(at) | Source::Moment(at) | Source::Value(at) => {
                    self.assign(position, column, at, old[at])?;
                }
            }
            if self.numbered == Some(position) {
                self.count_number(position, column)?;
            }
        }
        if self.copy.defaults.is_empty() { Ok(()) } else { self.compute() }
    }

    /// Gives the new columns whose defaults are expressions their values.
    #[cold]
    #[inline(never)]
    fn compute(&mut self) -> Result<()> {
        let expressions = RowExpressions { def: self.new, run: self.run, store: &self.store };
        for (col, expr) in self.copy.defaults {
            expressions.assign((*col, expr), &mut self.row, self.number, &mut self.arena)?;
        }
        Ok(())
    }

    fn assign(&mut self, position: usize, column: &ColumnDef, at: usize, old: Option<&[u8]>) -> Result<()> {
        let (store, number) = (&self.store, self.number);
        let Some(bytes) = old else {
            if column.nullable || column.auto_increment {
                return Ok(());
            }
            if self.copy.refuses_null {
                return Err(ExecError::NullRefused);
            }
            if column.ty.kind == TypeKind::Timestamp {
                return self.row.set_maybe(position, |out| store.now(column, number, out));
            }
            return self.row.set_maybe(position, |out| null_lost(store, column, number, out));
        };
        let old_ty = &self.copy.old.columns[at].ty;
        self.text.clear();
        let value = if let Some(encoder) = &self.texts[position] {
            encoder.write(bytes, store.st.zone, &mut self.text);
            Value::Bytes { data: &self.text, collation: CollationId::ASCII_BIN }
        } else {
            let value = storage::read(old_ty, bytes, store.st.zone);
            let value = as_copied(read_as_integer(store, value, old_ty, &column.ty)?, &column.ty);
            let is_member_as_time = column.ty.kind == TypeKind::Time && old_ty.members.is_some();
            if is_member_as_time {
                value.write_text(&mut self.text);
            }
            if is_member_as_time && self.text.is_empty() {
                // A member without characters is read as a text, which is no time that is wrong.
                Value::Bytes { data: &[], collation: old_ty.collation }
            } else {
                value
            }
        };
        let is_plain = column.ty != *old_ty;
        let (cuts, is_number) = (is_cut(old_ty, &column.ty), self.texts[position].is_some());
        self.row.set_maybe(position, |out| {
            if !(is_plain && storage::store_plain(&column.ty, &value, out)) {
                let stored = if is_number {
                    convert_number(store, column, &value, number, out)
                } else {
                    convert(store, column, &value, number, out)
                };
                stored.map_err(|error| truncated(error, cuts))?;
            }
            Ok(true)
        })
    }

    /// Gives the row a number if it needs one, and keeps later ones above that of the row.
    #[cold]
    fn count_number(&mut self, position: usize, column: &ColumnDef) -> Result<()> {
        let given = self.row.last(position).map(|bytes| storage::read(&column.ty, bytes, self.store.st.zone));
        let given = match given {
            Some(Value::UInt(number)) => number,
            Some(Value::Int(number)) if number < 0 => return Ok(()),
            Some(Value::Int(number)) => number as u64,
            _ => 0,
        };
        let is_null = self.row.last(position).is_none();
        if given > 0 || !self.zeros_count && !is_null && self.sources[position] != Source::Default {
            self.next_number = self.next_number.max(given.saturating_add(1));
            return Ok(());
        }
        let number = self.next_number;
        self.next_number = number.saturating_add(1);
        let store = &self.store;
        let mut bytes = Vec::new();
        if convert(store, column, &Value::UInt(number), self.number, &mut bytes).is_err() {
            return Err(ExecError::Engine(engine::Error::AutoIncrementExhausted));
        }
        self.row.set(position, Some(&bytes));
        Ok(())
    }
}

/// The value as MySQL copies it to a column of another type: bits are a number, unless they go to a BLOB or a
/// TEXT, and anything goes to bits as an integer.
fn as_copied<'v>(value: Value<'v>, ty: &SqlType) -> Value<'v> {
    match (value, ty.kind) {
        (value, TypeKind::Text(_) | TypeKind::Blob(_)) => value,
        (Value::Bit { value, .. }, _) => Value::UInt(value),
        (Value::Bytes { data, .. }, TypeKind::Bit) => Value::Int(clipped_integer(data).0),
        (
            value @ (Value::Date(_)
            | Value::DateTime(..)
            | Value::Time(..)
            | Value::Decimal(_)
            | Value::Float(_)
            | Value::Double(_)),
            TypeKind::Bit,
        ) => Value::Int(value.to_i64().value),
        // Messages show as many digits as the column has.
        (Value::DateTime(moment, _), TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Date) => {
            Value::DateTime(moment, ty.decimals)
        }
        (value @ (Value::Date(_) | Value::DateTime(..) | Value::Time(..)), TypeKind::Year) => {
            Value::Int(value.to_i64().value)
        }
        (value, _) => value,
    }
}

fn is_lob(ty: &SqlType) -> bool {
    matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
}

/// The signed integer as which a text goes to bits, and whether that is all of the text.
fn clipped_integer(text: &[u8]) -> (i64, bool) {
    let read = integer_prefix(text);
    let clipped = read.value.clamp(i64::MIN.into(), i64::MAX.into());
    (clipped as i64, read.loss == Loss::None && clipped == read.value)
}

/// Complains of a text that is not wholly an integer, as which it goes to bits.
///
/// # Errors
/// [`ExecError::Lossy`] in strict modes.
#[cold]
fn complain_of_integer(store: &ColumnStore<'_>, value: &Value<'_>) -> Result<()> {
    let Value::Bytes { data, .. } = *value else { return Ok(()) };
    if clipped_integer(data).1 {
        return Ok(());
    }
    let is_text = !matches!(value, Value::Bytes { collation: CollationId::BINARY, .. });
    let text = if is_text { value.raw_message_text() } else { value.message_text() };
    let (type_name, value) = ("INTEGER".to_owned(), text);
    store.complain(ExecError::Lossy(expr::Warning::TruncatedWrongValue { type_name, value }))
}

/// `value` of type `old`, with complaints of what is lost when MySQL reads it as an integer for `new`.
///
/// # Errors
/// [`ExecError::Lossy`] in strict modes.
fn read_as_integer<'v>(
    store: &ColumnStore<'_>,
    value: Value<'v>,
    old: &SqlType,
    new: &SqlType,
) -> Result<Value<'v>> {
    if new.kind == TypeKind::Bit && old.is_string() && !is_lob(old) {
        complain_of_integer(store, &value)?;
    }
    let is_integer = new.is_integer() || new.kind == TypeKind::Bit;
    if is_integer && old.kind == TypeKind::Decimal {
        return as_integer(store, value, old.unsigned);
    }
    Ok(value)
}

/// A decimal number as it goes to an integer: beyond the integers of 64 bits, of which there are others
/// where it is `unsigned`, it is the last of them.
///
/// # Errors
/// [`ExecError::Lossy`] for such a number in strict modes.
fn as_integer<'v>(store: &ColumnStore<'_>, value: Value<'v>, unsigned: bool) -> Result<Value<'v>> {
    let (signed, other) = (value.to_i64(), value.to_u64());
    let loss = if unsigned { other.loss } else { signed.loss };
    if loss != Loss::OutOfRange {
        return Ok(value);
    }
    let (type_name, text) = ("DECIMAL".to_owned(), value.message_text());
    store.complain(ExecError::Lossy(expr::Warning::TruncatedWrongValue { type_name, value: text }))?;
    Ok(if unsigned { Value::UInt(other.value) } else { Value::Int(signed.value) })
}

/// The text as which MySQL copies numbers of `old` to a column of `new`; `None`: they are copied as numbers.
fn text_between(old: &SqlType, new: &SqlType) -> Option<TextEncoder> {
    let is_float = matches!(old.kind, TypeKind::Decimal | TypeKind::Float | TypeKind::Double);
    let is_number = is_float || old.is_integer() || old.kind == TypeKind::Year;
    let is_moment =
        matches!(new.kind, TypeKind::Date | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp);
    (is_number && (is_moment || new.is_string() || new.members.is_some())).then(|| TextEncoder::new(old))
}

/// Whether MySQL reports a string that is too long for `new` as truncated data: between other types it is
/// data too long for the column.
fn is_cut(old: &SqlType, new: &SqlType) -> bool {
    let is_long = |ty: &SqlType| max_width(ty) > 255;
    let varies = matches!(old.kind, TypeKind::VarChar | TypeKind::VarBinary);
    let is_string = varies || matches!(old.kind, TypeKind::Char | TypeKind::Binary);
    is_string
        && old.kind == new.kind
        && old.collation == new.collation
        && !(varies && is_long(old) != is_long(new))
}

/// `error` as MySQL reports it for a copied value; `is_cut`: see [`is_cut`].
fn truncated(error: ExecError, is_cut: bool) -> ExecError {
    match error {
        ExecError::Store { problem, column, row } if is_cut && *problem == Problem::TooLong => {
            ExecError::Store { problem: Box::new(Problem::Truncated), column, row }
        }
        // MySQL's error for a string without a digit does not name the column.
        ExecError::Store { problem, .. } if is_no_decimal(&problem) => {
            ExecError::Lossy(expr::Warning::NoDecimal)
        }
        error => error,
    }
}

fn is_no_decimal(problem: &Problem) -> bool {
    let has_digit = |value: &str| value.bytes().any(|byte| byte.is_ascii_digit());
    matches!(problem, Problem::IncorrectValue { type_name: "decimal", value } if !has_digit(value))
}

/// A value that the column does not hold as it is.
fn convert(
    store: &ColumnStore<'_>,
    column: &ColumnDef,
    value: &Value<'_>,
    number: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let report = Report { column: &column.name, row: number, conditions: store.conditions };
    if column.ty.kind == TypeKind::Enum && matches!(value, Value::Enum { index: 0, .. }) {
        push_zero(&column.ty, out);
        return Ok(());
    }
    store_value(&column.ty, value, &store.context_for(value), &report, out)
}

/// The text of a number that the column does not hold as it is: a point in it delimits no date.
fn convert_number(
    store: &ColumnStore<'_>,
    column: &ColumnDef,
    text: &Value<'_>,
    number: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let report = Report { column: &column.name, row: number, conditions: store.conditions };
    store_in_any_spelling(&column.ty, text, &store.context_for(text), &report, out)
}

/// The first row gets a zero date in a new column.
///
/// # Errors
/// [`ExecError::Store`] in strict modes.
#[cold]
fn complain_of_zero(store: &ColumnStore<'_>, column: &ColumnDef) -> Result<()> {
    let (type_name, value) = match column.ty.kind {
        TypeKind::Date => ("date", "0000-00-00"),
        _ => ("datetime", "0000-00-00 00:00:00"),
    };
    let problem = Box::new(Problem::IncorrectTemporal { type_name, value: value.into() });
    store.complain(ExecError::Store { problem, column: column.name.clone(), row: 1 })
}

/// NULL where the new column takes none: an error in strict modes, else zero with a warning.
#[cold]
fn null_lost(store: &ColumnStore<'_>, column: &ColumnDef, row: u64, out: &mut Vec<u8>) -> Result<bool> {
    let problem = Box::new(Problem::Truncated);
    store.complain(ExecError::Store { problem, column: column.name.clone(), row })?;
    push_zero(&column.ty, out);
    Ok(true)
}
