//! How the values of an execution fit the types that the statement takes its parameters for, and their
//! conversion.
//!
//! As in MySQL, a statement keeps the types that PREPARE derived. Texts are converted to them, and so are
//! values of a class that the type holds. Another value has the statement planned again for the types of the
//! values at hand, which it keeps from then on. NULL fits every type.

use bumpalo::Bump;
use expr::{EvalCtx, Warning, moment_of};
use sql::bind::{ParamRole, ParamUse};
use types::temporal::{DateFlags, MAX_FSP};
use types::value::{Converted, Loss, integer_prefix, text_for_message};
use types::{CollationId, Date, DateTime, SqlType, TypeKind, Value};
use wire::ColumnType;
use wire::execute::ParamType;

use super::params::param_type;
use crate::error_map::{self, SqlError};
use crate::session::Session;
use crate::statement_context::StatementContext;

/// The type given for each parameter; `None`: the text of the statement implies it.
pub(crate) type Given = Vec<Option<ParamType>>;

/// Classes of types between which no value is converted, unless `converts` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Integer { unsigned: bool },
    Decimal,
    Double,
    Text,
    Date,
    Time,
    DateTime,
    Null,
}

impl Class {
    fn of(ty: &SqlType) -> Class {
        use TypeKind::{
            BigInt, Bit, Date, DateTime, Decimal, Double, Float, Int, MediumInt, Null, SmallInt, Time,
            Timestamp, TinyInt, Year,
        };
        match ty.kind {
            TinyInt | SmallInt | MediumInt | Int | BigInt => Class::Integer { unsigned: ty.unsigned },
            Bit | Year => Class::Integer { unsigned: true },
            Decimal => Class::Decimal,
            Float | Double => Class::Double,
            Date => Class::Date,
            Time => Class::Time,
            DateTime | Timestamp => Class::DateTime,
            Null => Class::Null,
            _ => Class::Text,
        }
    }

    /// Class of the values that a client binds with type `ty`.
    fn of_bound(ty: ParamType) -> Class {
        Class::of(&param_type(ty, CollationId::BINARY))
    }

    fn is_number(self) -> bool {
        matches!(self, Class::Integer { .. } | Class::Decimal | Class::Double)
    }

    /// Whether a parameter of this class takes values of class `bound`, if need be converted.
    fn takes(self, bound: Class) -> bool {
        match (self, bound) {
            (_, Class::Text | Class::Null) => true,
            (Class::Decimal, Class::Integer { .. }) => true,
            (Class::Double, bound) => bound.is_number(),
            (Class::DateTime, Class::Date | Class::Time) => true,
            (Class::Date | Class::Time | Class::DateTime, bound) if bound.is_number() => true,
            (own, bound) => own == bound,
        }
    }

    /// A type that clients bind values of this class with.
    fn bound_type(self) -> ParamType {
        let (column_type, unsigned) = match self {
            Class::Integer { unsigned } => (ColumnType::LongLong, unsigned),
            Class::Decimal => (ColumnType::NewDecimal, false),
            Class::Double => (ColumnType::Double, false),
            Class::Text => (ColumnType::VarString, false),
            Class::Date => (ColumnType::Date, false),
            Class::Time => (ColumnType::Time, false),
            Class::DateTime => (ColumnType::DateTime, false),
            Class::Null => (ColumnType::Null, false),
        };
        ParamType { column_type, unsigned }
    }
}

/// Whether values that are bound with type `bound` are used as they are, NULL or not.
pub(crate) fn is_direct(used: &ParamUse, bound: ParamType) -> bool {
    let class = Class::of_bound(bound);
    match used.role {
        ParamRole::Stored => true,
        ParamRole::Cast => class != Class::Text || Class::of(&used.described) == Class::Text,
        ParamRole::RowCount => matches!(class, Class::Integer { .. }),
        ParamRole::Moment if class == Class::Text => true,
        ParamRole::Value | ParamRole::Operand | ParamRole::Text | ParamRole::Moment => {
            let is_whole = Class::of(&used.described) == class && Class::of(&used.ty) == class;
            let is_padded = used.is_padded && class == Class::Decimal;
            class == Class::Null || (is_whole && !is_padded && !is_bytes(bound))
        }
    }
}

/// Whether the statement has to be planned again for the value `value`, bound with type `bound`.
pub(crate) fn is_misfit(used: &ParamUse, bound: ParamType, value: &Value<'_>) -> bool {
    let wanted = Class::of(&used.described);
    match used.role {
        _ if used.takes_all => false,
        ParamRole::Value | ParamRole::Operand | ParamRole::Text => {
            !wanted.takes(class_of_value(wanted, bound, value))
        }
        ParamRole::Moment => !wanted.takes(Class::of_bound(bound)) && !value.is_null(),
        ParamRole::Stored | ParamRole::Cast | ParamRole::RowCount => false,
    }
}

/// The type that a statement is planned anew for: that of the value. `None` for NULL, of which nothing is
/// known.
pub(crate) fn type_to_give(used: &ParamUse, bound: ParamType, value: &Value<'_>) -> Option<ParamType> {
    let class = class_of_value(Class::of(&used.described), bound, value);
    (class != Class::Null).then(|| class.bound_type())
}

/// Class of a value: a text that is as a whole a value of class `wanted` is one; so is a number for an
/// integer.
fn class_of_value(wanted: Class, bound: ParamType, value: &Value<'_>) -> Class {
    let wider: &[Class] = match wanted {
        Class::Integer { .. } => &[Class::Integer { unsigned: false }, Class::Decimal],
        _ => &[],
    };
    match value {
        Value::Null => Class::Null,
        Value::Bytes { data, .. } if wanted != Class::Text => {
            let mut classes = std::iter::once(&wanted).chain(wider);
            let is_negative = || integer_prefix(data).value < 0;
            match classes.find(|&&class| is_exact(data, class)) {
                Some(&class) => class,
                None if wanted == (Class::Integer { unsigned: true }) && is_negative() => {
                    Class::Integer { unsigned: false }
                }
                None => Class::Text,
            }
        }
        _ => Class::of_bound(bound),
    }
}

/// The types that this execution is planned for: those `given` before, and the own ones of values that keep
/// them.
pub(crate) fn planned_types(
    uses: &[ParamUse],
    given: &[Option<ParamType>],
    bound: &[ParamType],
    values: &[Value<'_>],
) -> Given {
    let all = uses.iter().zip(given).zip(bound.iter().zip(values));
    all.map(|((used, &given), (&bound, value))| planned_type(used, given, bound, value)).collect()
}

fn planned_type(
    used: &ParamUse,
    given: Option<ParamType>,
    bound: ParamType,
    value: &Value<'_>,
) -> Option<ParamType> {
    match (used.role, given) {
        (ParamRole::Stored, _) => Some(bound),
        (ParamRole::Cast, _) => {
            let class = class_of_value(Class::of(&used.described), bound, value);
            let is_number = class.is_number() && Class::of_bound(bound) == Class::Text;
            Some(if is_number { class.bound_type() } else { bound })
        }
        (ParamRole::Moment, None) if Class::of_bound(bound) == Class::Text => Some(Class::Text.bound_type()),
        (role @ (ParamRole::Text | ParamRole::Operand | ParamRole::Moment), Some(ty)) => {
            let wanted = Class::of_bound(ty);
            let class = class_of_value(wanted, bound, value);
            let reads_text = role == ParamRole::Text || !wanted.is_number();
            // A wider number that was given before takes the values of narrower ones.
            let widens = role != ParamRole::Text && wanted.is_number() && class.is_number();
            let is_other = class != wanted && class != Class::Null && !widens;
            let is_own = is_other && (class != Class::Text || reads_text);
            Some(if is_own { class.bound_type() } else { ty })
        }
        _ => given,
    }
}

/// Whether the whole of a text is a value of class `class`.
fn is_exact(text: &[u8], class: Class) -> bool {
    let value = Value::Bytes { data: text, collation: CollationId::BINARY };
    let (moment, time) = (|| value.to_datetime(DateFlags::default(), Date::ZERO), || value.to_time());
    match class {
        Class::Integer { unsigned } => {
            let read = integer_prefix(text);
            let fits =
                if unsigned { u64::try_from(read.value).is_ok() } else { i64::try_from(read.value).is_ok() };
            read.loss == Loss::None && fits
        }
        Class::Decimal => value.to_decimal().loss == Loss::None,
        Class::Double => value.to_f64().loss == Loss::None && !text.trim_ascii().is_empty(),
        Class::Date | Class::DateTime => moment().is_some_and(|read| read.loss == Loss::None),
        Class::Time => time().is_some_and(|read| read.loss == Loss::None),
        Class::Text | Class::Null => true,
    }
}

/// Whether values are sent as bytes without a character set.
fn is_bytes(bound: ParamType) -> bool {
    param_type(bound, CollationId::UTF8MB4_0900_AI_CI).kind == TypeKind::VarBinary
}

/// Converts the values of an execution to the types of their parameters. What is lost is warned of, or
/// refused where `refuses_loss`. `command` is what MySQL's errors call the execution.
///
/// # Errors
/// 1210 and 1690 for what is no number of rows, 1292 for a loss.
pub(crate) fn convert<'a>(
    session: &mut Session,
    (uses, planned): (&[ParamUse], &[Option<ParamType>]),
    params: &'a [Value<'a>],
    (refuses_loss, command): (bool, &str),
    arena: &'a Bump,
) -> Result<&'a [Value<'a>], SqlError> {
    let (mut losses, mut refused) = (Vec::new(), None);
    let values = arena.alloc_slice_copy(params);
    {
        let context = StatementContext::new(session);
        let own = Bump::new();
        let ctx = EvalCtx::new(&own, &[], &context);
        for (value, (used, planned)) in values.iter_mut().zip(uses.iter().zip(planned)) {
            *value = match used.role {
                ParamRole::Stored => *value,
                ParamRole::RowCount => row_count(value, command, &mut losses).unwrap_or_else(|error| {
                    refused.get_or_insert(error);
                    *value
                }),
                ParamRole::Moment if value.is_textual() => *value,
                _ => {
                    let own = planned.map(|ty| param_type(ty, used.ty.collation));
                    let ty = own.as_ref().unwrap_or(&used.ty);
                    let is_padded = used.is_padded;
                    Conversion { ty, is_padded, ctx: &ctx, losses: &mut losses, arena }.of(*value)
                }
            };
        }
    }
    for loss in &losses {
        let condition = crate::statement_context::warning_condition(loss);
        if refuses_loss {
            return Err(condition);
        }
        session.warn(crate::diagnostics::Severity::Warning, condition);
    }
    refused.map_or(Ok(values), Err)
}

/// A number of rows: an integer that is not negative, or that of a text, whose sign MySQL ignores.
fn row_count<'a>(value: &Value<'a>, command: &str, losses: &mut Vec<Warning>) -> Result<Value<'a>, SqlError> {
    let is_binary = command != "EXECUTE";
    match *value {
        Value::Null | Value::UInt(_) | Value::Int(0..) => Ok(*value),
        Value::Int(_) => {
            let name = if is_binary { "SIGNED INTEGER" } else { "unsigned integer" };
            Err(error_map::DATA_OUT_OF_RANGE.with(&[&name, &command]))
        }
        Value::Bytes { data, .. } if is_binary => {
            let read = integer_prefix(data);
            if read.loss != Loss::None {
                losses.push(Warning::TruncatedWrongValue {
                    type_name: "INTEGER".to_owned(),
                    value: escaped(value),
                });
            }
            Ok(Value::UInt(read.value as u64))
        }
        _ => Err(error_map::WRONG_ARGUMENTS.with(&[&command])),
    }
}

/// The date that a number is which has no year or month: 5 is a day of the year 2000.
fn small_moment(value: &Value<'_>) -> Option<Converted<DateTime>> {
    if value.is_textual() {
        return None;
    }
    let number = value.to_decimal().value.truncate(0).to_i64().ok()?;
    let date = Date::from_number(number, DateFlags::default())?;
    Some(Converted { value: DateTime::from_date(date), loss: Loss::None })
}

/// A value in a message: bytes beyond ASCII by their numbers.
#[cold]
fn escaped(value: &Value<'_>) -> String {
    let Value::Bytes { data, .. } = value else { return value.message_text() };
    let shown =
        |&byte: &u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("\\x{byte:02X}") };
    text_for_message(data).as_bytes().iter().map(shown).collect()
}

/// The conversion of one value.
struct Conversion<'c, 'v, 'a> {
    ty: &'c SqlType,
    is_padded: bool,
    ctx: &'c EvalCtx<'v>,
    losses: &'c mut Vec<Warning>,
    arena: &'a Bump,
}

impl<'a> Conversion<'_, '_, 'a> {
    fn of(self, value: Value<'a>) -> Value<'a> {
        let class = Class::of(self.ty);
        match (class, value) {
            (_, Value::Null) | (Class::Null, _) => value,
            (Class::Text, Value::Bytes { data, .. }) => Value::Bytes { data, collation: self.ty.collation },
            (Class::Text, _) => {
                let mut text = Vec::new();
                value.write_text(&mut text);
                Value::Bytes { data: self.arena.alloc_slice_copy(&text), collation: self.ty.collation }
            }
            (Class::Integer { unsigned }, _) => self.integer_of(value, unsigned),
            (Class::Decimal, _) => self.decimal_of(value),
            (Class::Double, _) => {
                let read = value.to_f64();
                Value::Double(self.noted(read, "DOUBLE", &value))
            }
            (Class::Date, Value::Date(_))
            | (Class::Time, Value::Time(..))
            | (Class::DateTime, Value::DateTime(..)) => value,
            (Class::Time, _) => self.time_of(value),
            (Class::Date | Class::DateTime, _) => self.date_of(value, class),
        }
    }

    fn noted<T>(self, read: Converted<T>, type_name: &str, value: &Value<'_>) -> T {
        if read.loss != Loss::None {
            self.truncated(type_name, value);
        }
        read.value
    }

    fn truncated(self, type_name: &str, value: &Value<'_>) {
        let (type_name, value) = (type_name.to_owned(), escaped(value));
        self.losses.push(Warning::TruncatedWrongValue { type_name, value });
    }

    fn integer_of(self, value: Value<'a>, unsigned: bool) -> Value<'a> {
        let number = match value {
            Value::Bytes { data, .. } => {
                let read = integer_prefix(data);
                self.noted(Converted { value: read.value as i64, loss: read.loss }, "INTEGER", &value)
            }
            _ => value.to_i64().value,
        };
        if unsigned { Value::UInt(number as u64) } else { Value::Int(number) }
    }

    fn decimal_of(self, value: Value<'a>) -> Value<'a> {
        let (ty, is_padded) = (self.ty, self.is_padded);
        let read = value.to_decimal();
        let number = self.noted(read, "DECIMAL", &value);
        // The number of a date has a fixed scale, others their own.
        let is_moment = ty.decimals == MAX_FSP;
        let rounded = if is_moment { number.round(i32::from(MAX_FSP)) } else { number };
        let padded = rounded.rescale(ty.decimals).filter(|_| is_padded || is_moment);
        Value::Decimal(padded.unwrap_or(rounded))
    }

    fn time_of(self, value: Value<'a>) -> Value<'a> {
        match value.to_time() {
            Some(read) if value.is_textual() => Value::Time(self.noted(read, "time", &value), MAX_FSP),
            Some(Converted { value: time, loss: Loss::None }) => Value::Time(time, MAX_FSP),
            _ => {
                self.truncated("time", &value);
                Value::Null
            }
        }
    }

    fn date_of(self, value: Value<'a>, class: Class) -> Value<'a> {
        let modes = self.ctx.session.modes();
        let flags = if value.is_textual() { DateFlags::from_modes(modes) } else { DateFlags::default() };
        let read = moment_of(&value, flags, self.ctx).or_else(|| small_moment(&value));
        let Some(read) = read else {
            let value = value.message_text();
            self.losses.push(Warning::IncorrectValue { type_name: "datetime", value });
            return Value::Null;
        };
        let moment = self.noted(read, "datetime", &value);
        if class == Class::Date { Value::Date(moment.date()) } else { Value::DateTime(moment, MAX_FSP) }
    }
}
