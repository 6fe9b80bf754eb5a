//! COUNT of columns, and SUM, MIN and MAX of integer columns, straight from page bytes; dates are compared as
//! integers.
//!
//! Semantics are those of [`expr::Accumulator`], which serves every other case and is the oracle of the
//! tests.

use engine::Batch;
use expr::{AggFunc, Expr, ExprKind, RowSource};
use page::{Cell, NullBit, Place};
use sql::plan::AggSpec;
use types::{Date, Decimal, SqlType, TypeKind, Value};

use crate::frame::{Frame, row_source};
use crate::join_ints::IntRuns;
use crate::reader::{Access, ColumnReader, Initial, widen};
use crate::source::RowBatch;

/// One aggregate, compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntAggregate {
    func: AggFunc,
    /// Relation and column; `None` for COUNT(*).
    column: Option<(u16, u16)>,
    /// Whether that is an integer or a date, or none.
    is_number: bool,
    unsigned: bool,
    date: bool,
}

impl IntAggregate {
    /// The aggregate if it is such a one; `None` for all others.
    pub(crate) fn of_spec(spec: &AggSpec) -> Option<Self> {
        let (func, ty) = (spec.func, spec.args.first().map(|arg| &arg.ty));
        let date = ty.is_some_and(|ty| ty.kind == TypeKind::Date);
        let is_known = match func {
            _ if spec.distinct => false,
            AggFunc::Count => true,
            AggFunc::Min | AggFunc::Max => date || ty.is_some_and(SqlType::is_integer),
            AggFunc::Sum => ty.is_some_and(SqlType::is_integer) && spec.ty.kind == TypeKind::Decimal,
            _ => false,
        };
        match &spec.args[..] {
            _ if !is_known => None,
            [] => Some(IntAggregate { func, column: None, is_number: true, unsigned: false, date: false }),
            [Expr { kind: ExprKind::Column(column), ty, .. }] => {
                let column = Some((column.rel, column.col));
                let is_number = date || ty.is_integer();
                Some(IntAggregate { func, column, is_number, unsigned: ty.unsigned, date })
            }
            _ => None,
        }
    }
}

/// The state of one aggregate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntState {
    spec: IntAggregate,
    /// Rows that were not NULL.
    count: u64,
    sum: i128,
    min: i128,
    max: i128,
}

impl IntState {
    pub(crate) fn new(spec: IntAggregate) -> Self {
        IntState { spec, count: 0, sum: 0, min: i128::MAX, max: i128::MIN }
    }

    /// Takes in one row by its value.
    #[inline(always)]
    pub(crate) fn row(&mut self, frame: &Frame<'_>) {
        let Some((rel, col)) = self.spec.column else {
            self.count += 1;
            return;
        };
        let value = frame.column(rel, col);
        match number_of(&value) {
            Some(number) => self.add(number),
            None => self.count += u64::from(self.spec.func == AggFunc::Count && !value.is_null()),
        }
    }

    /// The number that a value is taken in as; `None` for NULL.
    fn number_of(&self, value: &Value<'_>) -> Option<i128> {
        if self.spec.func == AggFunc::Count { (!value.is_null()).then_some(0) } else { number_of(value) }
    }

    /// Takes in a batch.
    pub(crate) fn batch(&mut self, batch: &RowBatch<'_>) {
        match self.spec.column {
            None => self.count += batch.rows.len() as u64,
            Some((rel, col)) if rel == batch.rel && self.spec.func == AggFunc::Count => {
                self.count += values_in(batch, usize::from(col)) as u64;
            }
            Some((rel, col)) if rel == batch.rel && !self.spec.date => self.column(batch, usize::from(col)),
            Some((rel, _)) if rel == batch.rel => {
                (0..batch.rows.len()).for_each(|i| self.row(&batch.frame(i)));
            }
            Some((rel, col)) => {
                let value = row_source(batch.parent).column(rel, col);
                self.repeat(self.number_of(&value), batch.rows.len());
            }
        }
    }

    /// The relation and column that are read, if any.
    pub(crate) fn column_read(&self) -> Option<(u16, u16)> {
        self.spec.column
    }

    /// Whether that is an integer or a date.
    pub(crate) fn reads_number(&self) -> bool {
        self.spec.is_number
    }

    /// Takes in the pairs of a join. Cost: about 15 instructions a run.
    pub(crate) fn runs(&mut self, batch: &RowBatch<'_>, runs: &IntRuns) {
        match self.spec.column {
            None => self.count += runs.rows() as u64,
            Some((rel, col)) if rel == runs.rel => {
                runs.values(col).for_each(|(value, rows)| self.repeat(Some(value), rows));
            }
            Some((rel, _)) if rel == batch.rel && runs.rows() < batch.rows.len() => {
                runs.runs().for_each(|run| self.batch(&batch.slice(run)));
            }
            Some((rel, _)) if rel == batch.rel => self.batch(batch),
            Some((rel, col)) => {
                let value = row_source(batch.parent).column(rel, col);
                self.repeat(self.number_of(&value), runs.rows());
            }
        }
    }

    /// Takes in a number, or NULL, as the value of `rows` rows.
    #[inline]
    fn repeat(&mut self, value: Option<i128>, rows: usize) {
        let Some(value) = value.filter(|_| rows > 0) else { return };
        self.add(value);
        if rows > 1 {
            self.count += rows as u64 - 1;
            if self.spec.func == AggFunc::Sum {
                self.sum += value * (rows as i128 - 1);
            }
        }
    }

    /// Cost: about 20 instructions a row.
    fn column(&mut self, batch: &RowBatch<'_>, col: usize) {
        let (rows, reader) = (&batch.rows, batch.reader);
        let ColumnReader { access, null, ty } = &reader.columns[col];
        let (null, unsigned) = (*null, ty.unsigned);
        match *access {
            Access::Fixed { from, to } => match (to - from, unsigned) {
                (4, false) => self.fold(rows, null, |cell| i64::from(i32::from_le_bytes(cell.chunk(from)))),
                (4, true) => self.fold(rows, null, |cell| i64::from(u32::from_le_bytes(cell.chunk(from)))),
                (8, _) => self.fold_wide(rows, null, |cell| widen::<8>(cell.chunk(from), unsigned)),
                (1, _) => self.fold(rows, null, |cell| widen::<1>(cell.chunk(from), unsigned) as i64),
                (2, _) => self.fold(rows, null, |cell| widen::<2>(cell.chunk(from), unsigned) as i64),
                _ => self.fold(rows, null, |cell| widen::<3>(cell.chunk(from), unsigned) as i64),
            },
            Access::KeyInt { part, int, signed } => {
                let part = &reader.format.key_parts()[usize::from(part)];
                let Some(offset) = part.offset.filter(|_| !part.nullable) else {
                    return rows.rows().filter_map(|row| reader.int(&row, col)).for_each(|v| self.add(v));
                };
                let (records, key) = (rows.records(), rows.key_int(offset.into(), int.width.into()));
                let unused = 64 - 8 * u32::from(int.width);
                self.fold_wide(rows, None, |cell| {
                    let bits = (key.of_cell(&records, cell) ^ int.flip) << unused;
                    if signed { i128::from(bits as i64 >> unused) } else { i128::from(bits >> unused) }
                });
            }
            Access::Absent => self.repeat(reader.initial_int(col), rows.len()),
            _ => rows.rows().filter_map(|row| reader.int(&row, col)).for_each(|v| self.add(v)),
        }
    }

    /// Takes in the values of all rows that are not NULL. They have at most 32 bits, so that a leaf's sum has
    /// 64.
    #[inline(always)]
    fn fold(&mut self, rows: &Batch<'_>, null: Option<NullBit>, value: impl Fn(Cell<'_>) -> i64) {
        if self.spec.func != AggFunc::Sum {
            return self.fold_wide(rows, null, |cell| i128::from(value(cell)));
        }
        let (byte, mask) = null.map_or((0, 0), |bit| (bit.byte, bit.mask));
        let (mut nulls, mut sum) = (0, 0);
        rows.for_each_cell(|cell| {
            if mask != 0 && cell.null_bit(byte, mask) {
                nulls += 1;
            } else {
                sum += value(cell);
            }
        });
        self.count += rows.len() as u64 - nulls;
        self.sum += i128::from(sum);
    }

    /// As [`IntState::fold`], of values of any size.
    #[inline(always)]
    fn fold_wide(&mut self, rows: &Batch<'_>, null: Option<NullBit>, value: impl Fn(Cell<'_>) -> i128) {
        let (byte, mask) = null.map_or((0, 0), |bit| (bit.byte, bit.mask));
        let (mut nulls, mut sum, mut min, mut max) = (0, 0, self.min, self.max);
        rows.for_each_cell(|cell| {
            if mask != 0 && cell.null_bit(byte, mask) {
                nulls += 1;
            } else {
                let value = value(cell);
                sum += value;
                (min, max) = (min.min(value), max.max(value));
            }
        });
        self.count += rows.len() as u64 - nulls;
        self.sum += sum;
        (self.min, self.max) = (min, max);
    }

    #[inline]
    fn add(&mut self, value: i128) {
        self.count += 1;
        match self.spec.func {
            AggFunc::Sum => self.sum += value,
            AggFunc::Min => self.min = self.min.min(value),
            AggFunc::Max => self.max = self.max.max(value),
            _ => {}
        }
    }

    /// The result, of type `ty`.
    pub(crate) fn result(&self, ty: &SqlType) -> Value<'static> {
        let extreme = |value: i128| match (self.count, self.spec.unsigned) {
            (0, _) => Value::Null,
            _ if self.spec.date => Value::Date(Date::from_packed(value as u32)),
            (_, true) => Value::UInt(value as u64),
            (_, false) => Value::Int(value as i64),
        };
        match self.spec.func {
            AggFunc::Min => extreme(self.min),
            AggFunc::Max => extreme(self.max),
            AggFunc::Sum if self.count == 0 => Value::Null,
            AggFunc::Sum => {
                let sum = Decimal::from_i128(self.sum, 0);
                Value::Decimal(sum.rescale(ty.decimals).unwrap_or(sum))
            }
            _ => Value::Int(self.count as i64),
        }
    }
}

/// Rows of the batch in which column `col` of its relation is not NULL. Cost: two instructions a row, none if
/// it is never NULL.
#[inline(never)]
fn values_in(batch: &RowBatch<'_>, col: usize) -> usize {
    let (rows, reader) = (&batch.rows, batch.reader);
    let part = match reader.format.columns()[col].place {
        Place::Key { part } => Some(&reader.format.key_parts()[usize::from(part)]),
        Place::Absent if matches!(reader.initial(col), Initial::Null) => return 0,
        _ => None,
    };
    match (reader.columns[col].null, part) {
        (Some(NullBit { byte, mask }), _) => {
            let mut values = 0;
            rows.for_each_cell(|cell| values += usize::from(!cell.null_bit(byte, mask)));
            values
        }
        (None, Some(part)) if part.nullable => rows.rows().filter(|row| !row.is_null(col)).count(),
        (None, _) => rows.len(),
    }
}

/// The number that stands for an integer or a date; `None` for NULL.
fn number_of(value: &Value<'_>) -> Option<i128> {
    match *value {
        Value::Int(v) => Some(v.into()),
        Value::UInt(v) => Some(v.into()),
        Value::Date(v) => Some(v.packed().into()),
        _ => None,
    }
}
