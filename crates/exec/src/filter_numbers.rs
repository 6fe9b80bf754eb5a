//! Columns that are stored as a number (also decimals, dates and times) beside constants, decided on
//! page bytes.
//!
//! Constants become a range of such numbers, or a list of them, once a run. A row costs a load and two
//! comparisons, or a search.

use std::rc::Rc;

use base::memory::{Charge, Purpose, StatementAccount};
use engine::RowRef;
use expr::{CmpDomain, CmpOp, EvalCtx, Expr, RowSource, exact_integer, exact_moment};
use types::{DateTime, Decimal, SqlType, TimeZone, TypeKind, Value, storage};

use crate::column_term::{Beside, ColumnTerm, Known, is_outer};
use crate::reader::{RowEnv, TableReader};

/// Bits of the packed second of a stored DATETIME.
const DATETIME_SECOND_BITS: u32 = 40;
/// Bits of the second of a stored TIMESTAMP.
const TIMESTAMP_SECOND_BITS: u32 = 32;
/// Most bits of the fraction that follows.
const FRACTION_BITS_MAX: u32 = 24;

/// What the stored number of a column is.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// An integer.
    Int,
    /// The digits of a DECIMAL, in `width` bytes.
    Decimal { scale: u8, width: u8 },
    /// A packed day.
    Date,
    /// A packed second, then a fraction in units of `unit` microseconds.
    DateTime { unit: u32 },
    /// A second of UTC, then a fraction; 0 is the zero date.
    Timestamp { unit: u32 },
    /// A TIME in units of `unit` microseconds, in `width` bytes.
    Time { unit: i64, width: u8 },
    /// A DOUBLE.
    Double,
    /// A FLOAT.
    Float,
}

/// A term that is a range or a list of numbers once its constants are known.
#[derive(Debug)]
pub(crate) struct NumberTest {
    col: u16,
    form: Form,
    beside: Beside<Expr>,
}

/// A test whose constants are known.
#[derive(Debug)]
pub(crate) struct BoundNumbers {
    col: u16,
    form: Form,
    negated: bool,
    numbers: Numbers,
}

#[derive(Debug)]
enum Numbers {
    /// From the first to the second; none if that is less.
    Range(i128, i128),
    /// Ascending.
    List(Box<[i128]>, #[expect(dead_code, reason = "gives its bytes back when dropped")] Charge),
}

/// Where a constant is among stored numbers.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The greatest stored number that is not above the constant.
    floor: i128,
    /// Whether the two are equal.
    exact: bool,
}

impl NumberTest {
    /// The test that `term` is on relation `rel`, if it is one.
    pub(crate) fn of_term(rel: u16, term: &Expr, known: Known) -> Option<Self> {
        let term = ColumnTerm::of(rel, term, known)?;
        let form = Form::of(term.ty, term.domain)?;
        Some(NumberTest { col: term.col, form, beside: term.beside.to_owned()? })
    }

    /// Whether the column is compared with columns of other relations than `rel`.
    pub(crate) fn names_outer(&self, rel: u16) -> bool {
        self.beside.any(|expr| is_outer(rel, expr))
    }

    /// Whether the column is of an integer type.
    pub(crate) fn is_of_integer(&self) -> bool {
        matches!(self.form, Form::Int)
    }

    /// The test with its constants, or what they are for the row `outer`; `None`: one of them is compared by
    /// the interpreter alone, or there is no memory for a list.
    pub(crate) fn bind(
        &self,
        memory: &Rc<StatementAccount>,
        outer: &dyn RowSource,
        ctx: &EvalCtx<'_>,
    ) -> Option<BoundNumbers> {
        let place = |constant: &Expr| self.form.place(&constant.eval(outer, ctx).ok()?, ctx);
        let (negated, numbers) = match &self.beside {
            Beside::Value(op, value) => (*op == CmpOp::Ne, place(value)?.range(*op)),
            Beside::Ends { negated, low, high } => {
                (*negated, Numbers::Range(place(low)?.first_not_below(), place(high)?.floor))
            }
            Beside::List { negated, list } => {
                let charge = Charge::new(memory, Purpose::Other);
                let mut numbers = Vec::new();
                charge.reserve(&mut numbers, list.len()).ok()?;
                for item in list {
                    let Place { floor, exact } = place(item)?;
                    if exact {
                        numbers.push(floor);
                    }
                }
                numbers.sort_unstable();
                (*negated, Numbers::List(numbers.into(), charge))
            }
        };
        Some(BoundNumbers { col: self.col, form: self.form, negated, numbers })
    }
}

impl BoundNumbers {
    /// Whether the test holds; NULL never passes. Cost: about 30 instructions, and a search in a list.
    #[inline]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader, env: RowEnv<'_>) -> bool {
        let Some(number) = self.form.read(row, usize::from(self.col), reader, env) else { return false };
        let is_among = match &self.numbers {
            Numbers::Range(least, most) => *least <= number && number <= *most,
            Numbers::List(list, _) => is_in(list, number),
        };
        is_among != self.negated
    }
}

impl Place {
    /// The numbers that `op` accepts on the left of the constant. For `<>`: those that it refuses.
    fn range(self, op: CmpOp) -> Numbers {
        match op {
            CmpOp::Eq | CmpOp::NullSafeEq | CmpOp::Ne => Numbers::Range(self.first_not_below(), self.floor),
            CmpOp::Lt => Numbers::Range(i128::MIN, self.first_not_below() - 1),
            CmpOp::Le => Numbers::Range(i128::MIN, self.floor),
            CmpOp::Gt => Numbers::Range(self.floor + 1, i128::MAX),
            CmpOp::Ge => Numbers::Range(self.first_not_below(), i128::MAX),
        }
    }

    /// The least stored number that is not below the constant.
    fn first_not_below(self) -> i128 {
        if self.exact { self.floor } else { self.floor + 1 }
    }

    /// Where `second` and `micro` are, of which the column has units of `unit` microseconds.
    fn of_moment(second: u64, micro: u32, unit: u32) -> Place {
        let floor = second << FRACTION_BITS_MAX | u64::from(micro / unit);
        Place { floor: floor.into(), exact: micro.is_multiple_of(unit) }
    }

    /// Where a local time of `zone` is, which is always as far ahead of UTC.
    fn of_timestamp(moment: DateTime, unit: u32, zone: &TimeZone) -> Option<Place> {
        let zero = Place { floor: 0, exact: moment.is_zero() };
        if zero.exact {
            return Some(zero);
        }
        if !moment.date().is_calendar_day() {
            return None;
        }
        // The zero date is below all others.
        let second = u64::try_from(zone.to_unix(moment).seconds).ok().filter(|second| *second > 0);
        Some(second.map_or(zero, |second| Place::of_moment(second, moment.micro(), unit)))
    }

    fn of_decimal(value: &Decimal, scale: u8) -> Option<Place> {
        let cut = value.truncate(scale.into());
        let exact = cut == *value;
        let units = cut.rescale(scale)?.to_i128_units()?;
        let floor = if exact || !value.is_negative() { units } else { units.checked_sub(1)? };
        // Ranges have room above and below.
        (floor > i128::MIN && floor < i128::MAX).then_some(Place { floor, exact })
    }
}

impl Form {
    fn of(ty: &SqlType, domain: CmpDomain) -> Option<Self> {
        let width = storage::fixed_width(ty)? as u8;
        match (ty.kind, domain) {
            (_, CmpDomain::Integer | CmpDomain::Number) if ty.is_integer() => Some(Form::Int),
            (TypeKind::Decimal, CmpDomain::Decimal) if width <= 8 => {
                Some(Form::Decimal { scale: ty.decimals, width })
            }
            (TypeKind::Date, CmpDomain::DateTime) => Some(Form::Date),
            (TypeKind::DateTime, CmpDomain::DateTime) => {
                Some(Form::DateTime { unit: storage::fraction_unit_of(ty.decimals) })
            }
            (TypeKind::Timestamp, CmpDomain::DateTime) => {
                Some(Form::Timestamp { unit: storage::fraction_unit_of(ty.decimals) })
            }
            (TypeKind::Time, CmpDomain::Time) => {
                Some(Form::Time { unit: storage::time_unit_of(ty.decimals), width })
            }
            (TypeKind::Double, CmpDomain::Double) => Some(Form::Double),
            (TypeKind::Float, CmpDomain::Double) => Some(Form::Float),
            _ => None,
        }
    }

    /// Where `value` is among the column's numbers; `None`: only the interpreter compares it.
    fn place(self, value: &Value<'_>, ctx: &EvalCtx<'_>) -> Option<Place> {
        match self {
            Form::Int => match value {
                Value::Decimal(value) => Place::of_decimal(value, 0),
                value => exact_integer(value).map(|floor| Place { floor, exact: true }),
            },
            Form::Decimal { scale, .. } => match *value {
                Value::Int(v) => Place::of_decimal(&Decimal::from_i128(v.into(), 0), scale),
                Value::UInt(v) => Place::of_decimal(&Decimal::from_i128(v.into(), 0), scale),
                Value::Decimal(v) => Place::of_decimal(&v, scale),
                _ => None,
            },
            Form::Date => {
                let moment = exact_moment(value, ctx)?;
                let day = moment.date();
                Some(Place { floor: day.packed().into(), exact: moment == DateTime::from_date(day) })
            }
            Form::DateTime { unit } => {
                let moment = exact_moment(value, ctx)?;
                Some(Place::of_moment(moment.packed_seconds(), moment.micro(), unit))
            }
            Form::Timestamp { unit } => {
                let zone = ctx.session.time_zone();
                let moment = exact_moment(value, ctx).filter(|_| zone.is_fixed())?;
                Place::of_timestamp(moment, unit, zone)
            }
            Form::Time { unit, .. } => {
                let Value::Time(time, _) = *value else { return None };
                let (floor, rest) = (time.micros().div_euclid(unit), time.micros().rem_euclid(unit));
                Some(Place { floor: floor.into(), exact: rest == 0 })
            }
            Form::Double | Form::Float => match value {
                Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_) => {
                    Some(Place { floor: in_order(value.to_f64().value), exact: true })
                }
                _ => None,
            },
        }
    }

    /// The number of `row`; `None` for NULL.
    #[inline]
    fn read(self, row: &RowRef<'_>, col: usize, reader: &TableReader, env: RowEnv<'_>) -> Option<i128> {
        if let Form::Int = self { reader.int(row, col) } else { self.read_bits(row, col, reader, env) }
    }

    /// As [`Form::read`]; apart, as its callers are in many places.
    #[inline(never)]
    fn read_bits(self, row: &RowRef<'_>, col: usize, reader: &TableReader, env: RowEnv<'_>) -> Option<i128> {
        match self {
            Form::Int => reader.int(row, col),
            Form::Decimal { width, .. } | Form::Time { width, .. } => {
                let unused = 64 - 8 * u32::from(width);
                reader.bits(row, col, env).map(|bits| i128::from((bits << unused) as i64 >> unused))
            }
            Form::Date => reader.bits(row, col, env).map(i128::from),
            Form::DateTime { .. } => {
                reader.bits(row, col, env).map(|bits| second_first(bits, DATETIME_SECOND_BITS))
            }
            Form::Timestamp { .. } => {
                reader.bits(row, col, env).map(|bits| second_first(bits, TIMESTAMP_SECOND_BITS))
            }
            Form::Double => reader.bits(row, col, env).map(|bits| in_order(f64::from_bits(bits))),
            Form::Float => {
                reader.bits(row, col, env).map(|bits| in_order(f32::from_bits(bits as u32).into()))
            }
        }
    }
}

#[inline(never)]
fn is_in(list: &[i128], number: i128) -> bool {
    list.binary_search(&number).is_ok()
}

/// A number for each double, in the order of these.
#[inline]
fn in_order(value: f64) -> i128 {
    // The sum makes a negative zero positive.
    let bits = (value + 0.0).to_bits() as i64;
    i128::from(if bits < 0 { !bits ^ i64::MIN } else { bits })
}

/// The number whose high bits are the second, and whose low bits are the fraction behind it.
#[inline]
fn second_first(bits: u64, second_bits: u32) -> i128 {
    let second = bits & ((1 << second_bits) - 1);
    i128::from(second << FRACTION_BITS_MAX | bits >> second_bits)
}
