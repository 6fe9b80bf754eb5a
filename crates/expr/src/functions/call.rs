//! A function call at run time: its arguments in the form the function wants.

use std::cell::Cell;

use types::collation::{Charset, Collation};
use types::temporal::{DateFlags, FSP_MAX};
use types::value::{Converted, Loss, write_double_fixed, write_double_within};
use types::{Date, DateTime, Decimal, SqlType, Time, TypeKind, Value};

use super::known_collation::known_collation;
use super::no_number::{is_calculated, warn_no_number, warn_of_sign};
use super::pieces::PIECE_BYTES;
use crate::build::{Class, class_of, is_number};
use crate::compare::warn_past_decimal;
use crate::moment::{
    date_of, has_nanoseconds, is_date_number, note_date_delimiters, note_time_delimiters, warn_cut_moment,
    warn_no_date, warn_no_moment,
};
use crate::{EvalCtx, EvalError, Expr, ExprKind, Func, RowSource, Warning, moment_of, time_of};

/// The value of an argument, or the end of the function with NULL.
macro_rules! some {
    ($argument:expr) => {
        match $argument? {
            Some(value) => value,
            None => return Ok(types::Value::Null),
        }
    };
}
pub(crate) use some;

/// Zero parts are no day of the calendar, and neither is a 30th of February, whatever the mode.
const CALENDAR_FLAGS: DateFlags =
    DateFlags { no_zero_date: true, no_zero_in_date: true, allow_invalid_dates: false };

/// Arguments whose values a call keeps: most functions have no more.
const KEPT_ARGS: usize = 5;

/// A function's view of its call.
pub(crate) struct Call<'v> {
    /// The call.
    pub(crate) expr: &'v Expr,
    /// Its arguments.
    pub(crate) args: &'v [Expr],
    /// The row.
    pub(crate) row: &'v dyn RowSource,
    /// The rest of the world.
    pub(crate) ctx: &'v EvalCtx<'v>,
    /// Values of arguments that are operations themselves. A function may ask for an argument several times;
    /// evaluating it each time would take exponential time where calls are nested.
    kept: [Cell<Option<Value<'v>>>; KEPT_ARGS],
}

impl<'v> Call<'v> {
    /// A call of `expr` on `args`.
    #[inline]
    pub(crate) fn new(
        expr: &'v Expr,
        args: &'v [Expr],
        row: &'v dyn RowSource,
        ctx: &'v EvalCtx<'v>,
    ) -> Self {
        Call { expr, args, row, ctx, kept: [const { Cell::new(None) }; KEPT_ARGS] }
    }

    /// Type of the result.
    pub(crate) fn ty(&self) -> &'v SqlType {
        &self.expr.ty
    }

    /// Character set of the result.
    pub(crate) fn charset(&self) -> Charset {
        self.expr.ty.charset()
    }

    /// Collation of argument `i`'s text; that of bytes if the argument's type names none.
    pub(crate) fn collation_of(&self, i: usize) -> &'static Collation {
        known_collation(self.args[i].ty.collation)
    }

    /// Argument `i`.
    pub(crate) fn value(&self, i: usize) -> Result<Value<'v>, EvalError> {
        let arg = &self.args[i];
        if arg.is_trivial() {
            return arg.eval(self.row, self.ctx);
        }
        let Some(kept) = self.kept.get(i) else { return arg.eval(self.row, self.ctx) };
        if let Some(value) = kept.get() {
            return Ok(value);
        }
        let value = arg.eval(self.row, self.ctx)?;
        kept.set(Some(value));
        Ok(value)
    }

    /// Argument `i` of a function that takes times and dates with a time. MySQL computes a number twice
    /// there, and so warns twice.
    pub(super) fn value_read_twice(&self, i: usize) -> Result<Value<'v>, EvalError> {
        let arg = &self.args[i];
        if arg.is_trivial() || !is_number(arg) {
            return self.value(i);
        }
        let earlier = self.ctx.session.warning_count();
        let value = self.value(i)?;
        if self.ctx.session.warning_count() > earlier && !is_read_once(arg) {
            self.ctx.session.repeat_warnings(earlier);
        }
        Ok(value)
    }

    /// The value of `expr`, a part of an argument.
    pub(crate) fn value_of(&self, expr: &'v Expr) -> Result<Value<'v>, EvalError> {
        expr.eval(self.row, self.ctx)
    }

    /// Argument `i` as text; `None` for NULL. An error if it is long and the statement was killed.
    pub(crate) fn text(&self, i: usize) -> Result<Option<&'v [u8]>, EvalError> {
        let value = self.value(i)?;
        if value.is_null() {
            return Ok(None);
        }
        let text = text_in_arena(&value, &self.args[i], self.ctx);
        self.ctx.fail_if_killed_over(text)?;
        Ok(Some(text))
    }

    /// Argument `i` as a signed integer, clipped to the range.
    pub(crate) fn int(&self, i: usize) -> Result<Option<i64>, EvalError> {
        let value = self.value(i)?;
        Ok(match value {
            Value::Null => None,
            Value::Int(v) => Some(v),
            Value::UInt(v) => Some(i64::try_from(v).unwrap_or(i64::MAX)),
            Value::Double(_) | Value::Float(_) => Some(self.int_of_double(i, &value)?),
            Value::Decimal(v) => Some(self.int_of_decimal(v)),
            Value::Bytes { .. } => Some(self.int_of_text(i, &value)),
            _ => Some(self.noted(i, "INTEGER", &value, (integer_of(&self.args[i], &value), whole_of))),
        })
    }

    /// Argument `i` as [`Call::int`], but 64 bits without a sign are read as if they had one.
    pub(crate) fn signed_int(&self, i: usize) -> Result<Option<i64>, EvalError> {
        let is_unsigned = class_of(&self.args[i]) == Class::Int && self.args[i].ty.unsigned;
        if is_unsigned { Ok(self.bits(i)?.map(|bits| bits as i64)) } else { self.int(i) }
    }

    /// Argument `i` as [`Call::int`], but bits are not signed.
    #[inline]
    pub(crate) fn count(&self, i: usize) -> Result<Option<i64>, EvalError> {
        let count = self.int(i)?;
        let is_past_all = |n: i64| n < 0 && has_bits(&self.args[i]);
        Ok(count.map(|n| if is_past_all(n) { i64::MAX } else { n }))
    }

    /// Argument `i`, a double, as a signed integer. Outside the range a constant is clipped, the value of a
    /// DOUBLE column with a warning; that of a FLOAT column is the least integer. What is computed is an
    /// error.
    pub(crate) fn int_of_double(&self, i: usize, value: &Value<'_>) -> Result<i64, EvalError> {
        let read = value.to_i64();
        if read.loss == Loss::OutOfRange {
            match self.args[i].kind {
                // What is written with a minus is computed.
                ExprKind::Const(_) | ExprKind::Param(_) if value.to_f64().value > 0.0 => {}
                ExprKind::Column(_) if matches!(value, Value::Float(_)) => return Ok(i64::MIN),
                ExprKind::Column(_) => self.truncated("INTEGER", value),
                _ => {
                    let operation = crate::print::to_text(&self.args[i], self.ctx);
                    return Err(EvalError::OutOfRange { type_name: "BIGINT", operation });
                }
            }
        }
        Ok(read.value)
    }

    /// Argument `i` as 64 bits: negative numbers in two's complement.
    pub(crate) fn bits(&self, i: usize) -> Result<Option<u64>, EvalError> {
        let value = self.value(i)?;
        Ok(match value {
            Value::Null => None,
            Value::UInt(v) => Some(v),
            Value::Double(_) | Value::Float(_) => Some(self.int_of_double(i, &value)? as u64),
            Value::Decimal(v) => Some(self.int_of_decimal(v) as u64),
            Value::Bytes { .. } => Some(self.int_of_text(i, &value) as u64),
            Value::Time(..) | Value::DateTime(..) => {
                let read = integer_of(&self.args[i], &value);
                Some(self.noted(i, "INTEGER", &value, (read, whole_of)) as u64)
            }
            _ => Some(self.noted(i, "INTEGER", &value, (value.to_u64(), |n| whole_of(n) as u64))),
        })
    }

    /// A text as an integer of 64 bits. As in MySQL one that is calculated warns if they are signed by that.
    fn int_of_text(&self, i: usize, value: &Value<'_>) -> i64 {
        let read = value.to_i64();
        let number = self.noted(i, "INTEGER", value, (read, whole_of));
        if read.value < 0 && is_calculated(&self.args[i]) {
            warn_of_sign(value, self.ctx);
        }
        number
    }

    /// A decimal as a signed integer, clipped to the range with a warning.
    fn int_of_decimal(&self, value: Decimal) -> i64 {
        value.to_i64().unwrap_or_else(|bound| {
            self.truncated("DECIMAL", &Value::Decimal(value));
            bound
        })
    }

    /// Argument `i` as a double.
    pub(crate) fn double(&self, i: usize) -> Result<Option<f64>, EvalError> {
        let value = self.value(i)?;
        Ok((!value.is_null()).then(|| self.noted(i, "DOUBLE", &value, (value.to_f64(), Decimal::to_f64))))
    }

    /// Argument `i` as a decimal.
    pub(crate) fn decimal(&self, i: usize) -> Result<Option<Decimal>, EvalError> {
        let value = self.value(i)?;
        Ok((!value.is_null()).then(|| self.noted(i, "DECIMAL", &value, (value.to_decimal(), |n| n))))
    }

    /// The number that argument `i` is. Text that is not one gives a warning; the text of a calculated date
    /// is one, from which `of` makes the number.
    fn noted<T>(
        &self,
        i: usize,
        type_name: &str,
        value: &Value<'_>,
        (read, of): (types::value::Converted<T>, fn(Decimal) -> T),
    ) -> T {
        if read.loss == Loss::None {
            return read.value;
        }
        if read.loss == Loss::OutOfRange && type_name == "DECIMAL" {
            warn_past_decimal(value, self.ctx);
        }
        if value.is_textual() || matches!(value, Value::DateTime(..)) {
            if let Some(number) = number_of_moment(&self.args[i], value) {
                return of(number);
            }
            self.lost(i, type_name, value);
        }
        read.value
    }

    /// Warns that argument `i` is not wholly a number. An integer is read of a variable without a word.
    #[cold]
    fn lost(&self, i: usize, type_name: &str, value: &Value<'_>) {
        if type_name != "INTEGER" || !matches!(self.args[i].kind, ExprKind::UserVar(_)) {
            warn_no_number(type_name, value, &self.args[i], self.ctx);
        }
    }

    /// Argument `i` as a date and time; zero parts are let through. NULL, with a warning, if it is invalid.
    pub(crate) fn datetime(&self, i: usize) -> Result<Option<DateTime>, EvalError> {
        let value = self.value(i)?;
        Ok(self.argument_datetime(&value, self.date_flags_for(&value)))
    }

    /// As [`Call::datetime`] for functions that need a day of the calendar: zero parts are no date either.
    pub(crate) fn calendar_datetime(&self, i: usize) -> Result<Option<DateTime>, EvalError> {
        let value = self.value(i)?;
        Ok(self.argument_datetime(&value, CALENDAR_FLAGS))
    }

    /// Argument `i` as a date and time that the session's mode lets be stored.
    pub(crate) fn stored_datetime(&self, i: usize) -> Result<Option<DateTime>, EvalError> {
        let value = self.value(i)?;
        Ok(self.argument_datetime(&value, DateFlags::from_modes(self.ctx.session.modes())))
    }

    /// Argument `i` as a date.
    pub(crate) fn date(&self, i: usize) -> Result<Option<Date>, EvalError> {
        let value = self.value(i)?;
        Ok(self.read_date(&value, self.date_flags_for(&value)))
    }

    /// Argument `i` as a date that the session's mode lets be stored.
    pub(crate) fn stored_date(&self, i: usize) -> Result<Option<Date>, EvalError> {
        let value = self.value(i)?;
        Ok(self.read_date(&value, DateFlags::from_modes(self.ctx.session.modes())))
    }

    /// Argument `i` as a day of the calendar.
    pub(crate) fn calendar_date(&self, i: usize) -> Result<Option<Date>, EvalError> {
        let value = self.value(i)?;
        Ok(self.read_date(&value, CALENDAR_FLAGS))
    }

    /// Argument `i` as a day that is counted: one of the calendar, or that ALLOW_INVALID_DATES makes one.
    pub(crate) fn counted_date(&self, i: usize) -> Result<Option<Date>, EvalError> {
        let value = self.value(i)?;
        let flags = DateFlags { no_zero_date: true, no_zero_in_date: true, ..self.fuzzy_flags() };
        Ok(self.read_date(&value, flags))
    }

    /// Argument `i` as a time.
    pub(crate) fn time(&self, i: usize) -> Result<Option<Time>, EvalError> {
        let value = self.value(i)?;
        if value.is_null() {
            return Ok(None);
        }
        let read = time_of(&signed(value), self.ctx);
        if read.is_none_or(|read| read.loss != Loss::None) {
            self.truncated("time", &signed(value));
        }
        note_time_delimiters(&value, self.ctx);
        Ok(read.map(|read| read.value))
    }

    /// As [`Call::read_datetime`]; the fraction of a number that is a date alone gives a warning.
    pub(crate) fn argument_datetime(&self, value: &Value<'_>, flags: DateFlags) -> Option<DateTime> {
        let read = self.read_datetime(value, flags)?;
        self.note_lost_fraction(value);
        Some(read)
    }

    /// Warns of the fraction of a number that is a date alone.
    pub(super) fn note_lost_fraction(&self, value: &Value<'_>) {
        if is_date_number(value) == Some(true) && has_nanoseconds(value) {
            self.truncated("date", value);
        }
    }

    /// A value as a date and time under `flags`.
    pub(crate) fn read_datetime(&self, value: &Value<'_>, flags: DateFlags) -> Option<DateTime> {
        match *value {
            Value::Null => return None,
            Value::DateTime(v, _) if flags.accept_datetime(v) => return Some(v),
            Value::Date(v) if flags.accept(v) => return Some(DateTime::from_date(v)),
            Value::DateTime(..) | Value::Date(_) => return None,
            _ => {}
        }
        let read = moment_of(value, flags, self.ctx);
        match read {
            None => warn_no_moment(value, self.ctx),
            Some(read) if read.loss == Loss::Truncated => warn_cut_moment(value, self.ctx),
            Some(_) => {}
        }
        if read.is_some() {
            note_date_delimiters(value, self.ctx);
        }
        read.map(|read| read.value)
    }

    /// A value as a date whose parts may be zero.
    pub(super) fn fuzzy_date(&self, value: &Value<'_>) -> Option<Date> {
        self.read_date(value, self.fuzzy_flags())
    }

    /// A value as a date under `flags`.
    fn read_date(&self, value: &Value<'_>, flags: DateFlags) -> Option<Date> {
        match *value {
            Value::Null => return None,
            Value::DateTime(v, _) if flags.accept_datetime(v) => return Some(v.date()),
            Value::Date(v) if flags.accept(v) => return Some(v),
            Value::DateTime(..) | Value::Date(_) => return None,
            _ => {}
        }
        let read = date_of(value, flags, self.ctx);
        match read {
            None => warn_no_date(value, self.ctx),
            Some(read) if read.loss == Loss::Truncated => self.truncated("date", value),
            Some(_) => {}
        }
        if read.is_some() {
            note_date_delimiters(value, self.ctx);
        }
        read.map(|read| read.value)
    }

    /// NO_ZERO_DATE refuses the zero date of a text, not that of a date or number.
    fn date_flags_for(&self, value: &Value<'_>) -> DateFlags {
        let is_text = value.is_textual() || matches!(value, Value::Bit { .. });
        let flags = self.fuzzy_flags();
        DateFlags { no_zero_date: flags.no_zero_date && is_text, ..flags }
    }

    /// Parts of a date may be zero.
    pub(super) fn fuzzy_flags(&self) -> DateFlags {
        DateFlags { no_zero_in_date: false, ..DateFlags::from_modes(self.ctx.session.modes()) }
    }

    /// Text of the result's collation, made of bytes that live in the arena or the arguments.
    pub(crate) fn text_value(&self, data: &'v [u8]) -> Value<'v> {
        Value::Bytes { data, collation: self.expr.ty.collation }
    }

    /// As [`Call::text_value`], of bytes to be copied to the arena.
    pub(crate) fn copied(&self, data: &[u8]) -> Result<Value<'v>, EvalError> {
        self.ctx.reserve(data.len())?;
        if data.len() > PIECE_BYTES {
            return Ok(self.text_value(self.ctx.joined(&[data])?));
        }
        Ok(self.text_value(self.ctx.arena.alloc_slice_copy(data)))
    }

    /// Whether a result of `bytes` bytes may be made; charges it, or else adds warning 1301.
    pub(crate) fn fits_packet(&self, bytes: u64) -> Result<bool, EvalError> {
        const SMALL: u64 = 1024;
        if bytes <= SMALL {
            return Ok(true);
        }
        let limit = self.ctx.session.max_allowed_packet();
        if bytes > limit {
            self.ctx.session.warn(Warning::ResultTooLong { function: self.name(), limit });
            return Ok(false);
        }
        self.ctx.reserve(bytes as usize)?;
        Ok(true)
    }

    /// The function's name.
    pub(crate) fn name(&self) -> &'static str {
        match &self.expr.kind {
            ExprKind::Call { func, .. } => func.name(),
            _ => "",
        }
    }

    /// Warns that a text was not wholly a value of the type.
    #[cold]
    pub(crate) fn truncated(&self, type_name: &str, value: &Value<'_>) {
        let type_name = type_name.to_owned();
        self.ctx.session.warn(Warning::TruncatedWrongValue { type_name, value: value.message_text() });
    }

    /// The error of a result outside its type.
    #[cold]
    pub(crate) fn out_of_range(&self) -> EvalError {
        let type_name = match (self.expr.ty.kind, self.expr.ty.unsigned) {
            (TypeKind::Decimal, _) => "DECIMAL",
            (TypeKind::Double | TypeKind::Float, _) => "DOUBLE",
            (_, true) => "BIGINT UNSIGNED",
            (_, false) => "BIGINT",
        };
        EvalError::OutOfRange { type_name, operation: crate::print::to_text(self.expr, self.ctx) }
    }
}

/// Whether the value of `expr` is bits without a sign: those of a BIT column, or of a hexadecimal literal.
pub(super) fn has_bits(expr: &Expr) -> bool {
    let is_literal = matches!(expr.kind, ExprKind::Const(types::OwnedValue::Bit { .. }));
    if is_literal { expr.ty.unsigned } else { expr.ty.kind == TypeKind::Bit }
}

/// Whether MySQL computes `expr` once where it computes other numbers twice: a condition on constants, which
/// it computes before any row, and a year.
fn is_read_once(expr: &Expr) -> bool {
    use ExprKind::{And, Call, Cast, Compare, IsTruth, Not, Or, Xor};
    match &expr.kind {
        Call { func: Func::KeptNumber | Func::KeptValue | Func::CachedValue, .. } => true,
        Cast { arg, .. } => arg.ty.kind == TypeKind::Year,
        And(_) | Compare { .. } | IsTruth { .. } | Not(_) | Or(_) | Xor(_) => {
            let mut varies = false;
            expr.walk(&mut |part| varies |= part.may_vary());
            !varies
        }
        _ => expr.ty.kind == TypeKind::Year,
    }
}

/// The integer that `value` of `expr` is. Of a calculated date or time the number is rounded, of others the
/// time: 23:59:59.9 is 235960 or 240000.
#[inline]
pub(crate) fn integer_of(expr: &Expr, value: &Value<'_>) -> Converted<i64> {
    match value {
        Value::Time(..) | Value::DateTime(..) if is_calculated_moment(expr) => {
            Converted::exact(whole_of(value.to_decimal().value))
        }
        _ => value.to_i64(),
    }
}

/// Whether `expr` calculates a date or time whose type depends on its arguments, or is a subquery.
#[cold]
pub(crate) fn is_calculated_moment(expr: &Expr) -> bool {
    use Func::{AddTime, DateAdd, DateSub, StrToDate, SubTime, Timestamp};
    match &expr.kind {
        ExprKind::Call { func: Timestamp, args } => args.len() > 1,
        ExprKind::Call { func, .. } => {
            matches!(func, AddTime | DateAdd(_) | DateSub(_) | StrToDate | SubTime)
        }
        kind => matches!(kind, ExprKind::Subquery { .. }),
    }
}

/// A decimal without its fraction.
fn whole_of(number: Decimal) -> i64 {
    number.round(0).to_i64().unwrap_or_else(|bound| bound)
}

/// The number that `value`, the text of `expr`, is if that calculates a date or time: it has not been made of
/// the text.
#[cold]
pub(crate) fn number_of_moment(expr: &Expr, value: &Value<'_>) -> Option<Decimal> {
    use Func::{AddTime, DateAdd, DateSub, SubTime};
    let ExprKind::Call { func: DateAdd(_) | DateSub(_) | AddTime | SubTime, .. } = expr.kind else {
        return None;
    };
    let Value::Bytes { data, .. } = *value else { return None };
    if data.get(4) != Some(&b'-') {
        return Some(Value::Time(Time::parse(data)?.to_fsp(FSP_MAX, false), FSP_MAX).to_decimal().value);
    }
    let parsed = DateTime::parse(data, DateFlags::default())?;
    let moment = parsed.to_fsp(FSP_MAX, false)?;
    let number = if parsed.has_time { Value::DateTime(moment, FSP_MAX) } else { Value::Date(moment.date()) };
    Some(number.to_decimal().value)
}

/// A number past BIGINT as MySQL's messages about times show it.
pub(crate) fn signed(value: Value<'_>) -> Value<'_> {
    if let Value::UInt(v) = value { Value::Int(v as i64) } else { value }
}

/// Most bytes of a calculated DOUBLE made a text: a digit is lost where a minus needs its place.
const DOUBLE_TEXT_BYTES_MAX: usize = 22;

/// The text of a value of `expr`: borrowed where it exists as bytes, else made in the arena.
pub(crate) fn text_in_arena<'v>(value: &Value<'v>, expr: &Expr, ctx: &'v EvalCtx<'v>) -> &'v [u8] {
    if let Value::Bytes { data, .. } = *value {
        return data;
    }
    let (ty, mut scratch) = (&expr.ty, Vec::new());
    match *value {
        Value::Double(v) if ty.decimals < SqlType::NOT_FIXED_DECIMALS && ty.kind == TypeKind::Double => {
            write_double_fixed(v, ty.decimals, &mut scratch);
        }
        Value::Float(v) if ty.decimals < SqlType::NOT_FIXED_DECIMALS && ty.kind == TypeKind::Float => {
            write_double_fixed(f64::from(v), ty.decimals, &mut scratch);
        }
        Value::Double(v) if !matches!(expr.kind, ExprKind::Column(_)) => {
            let is_of_set_operation =
                matches!(expr.kind, ExprKind::Cast { .. }) && ty.length != SqlType::double().length;
            let width = if is_of_set_operation { ty.length as usize } else { DOUBLE_TEXT_BYTES_MAX };
            write_double_within(v, width, &mut scratch);
        }
        _ => value.write_text(&mut scratch),
    }
    if ty.zerofill && scratch.len() < ty.length as usize {
        scratch.splice(..0, std::iter::repeat_n(b'0', ty.length as usize - scratch.len()));
    }
    ctx.arena.alloc_slice_copy(&scratch)
}
