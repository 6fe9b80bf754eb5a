//! How the values of an execution fit the types that the statement takes its parameters for, and their
//! conversion.
//!
//! As in MySQL, a statement keeps the types that PREPARE derived. Texts are converted to them, and so are
//! values of a class that the type holds. Another value has the statement planned again for the types of the
//! values at hand, which it keeps from then on. NULL fits every type.

use bumpalo::Bump;
use expr::{EvalCtx, Warning, moment_of, no_date};
use sql::bind::{NumberRead, ParamRole, ParamUse};
use types::temporal::{DateFlags, MAX_FSP, MICROS_PER_SECOND};
use types::value::{Converted, Loss, integer_prefix, text_for_message};
use types::{CollationId, Date, DateTime, SqlType, Time, TypeKind, Value};
use wire::ColumnType;
use wire::execute::ParamType;

use super::actual_param::as_signed;
use super::param_class::Class;
use super::params::param_type;
use crate::error_map::{self, SqlError};
use crate::session::Session;
use crate::statement_context::StatementContext;

/// The type given for each parameter; `None`: the text of the statement implies it.
pub(crate) type Given = Vec<Option<ParamType>>;

/// Whether values that are bound with type `bound` are used as they are, NULL or not.
pub(crate) fn is_direct(used: &ParamUse, bound: ParamType) -> bool {
    let class = Class::of_bound(bound);
    match used.role {
        ParamRole::Stored => true,
        ParamRole::Cast => {
            let described = Class::of(&used.described);
            described == class || !(class == Class::Text || class == Class::Double || described.is_moment())
        }
        ParamRole::RowCount => matches!(class, Class::Integer { .. }),
        _ => {
            let is_in_range = class != Class::Double || used.reads != NumberRead::Integer;
            let is_whole =
                Class::of(&used.described) == class && Class::of(&used.ty) == class && is_in_range;
            let is_padded = used.is_padded && class == Class::Decimal;
            class == Class::Null || (is_whole && !is_padded && !is_bytes(bound))
        }
    }
}

/// Whether the statement has to be planned again for the value `actual`.
pub(crate) fn is_misfit(used: &ParamUse, actual: &Value<'_>) -> bool {
    let keeps_all = matches!(used.role, ParamRole::Stored | ParamRole::Cast | ParamRole::RowCount);
    // A YEAR takes numbers of either sign.
    let is_year = used.described.kind == TypeKind::Year && matches!(actual, Value::Int(_) | Value::UInt(_));
    !keeps_all && !is_year && !Class::of(&used.described).takes(Class::of_value(actual))
}

/// The type that a statement is planned anew for: that of the value. `None` for NULL, of which nothing is
/// known.
pub(crate) fn type_to_give(bound: ParamType, actual: &Value<'_>) -> Option<ParamType> {
    match Class::of_value(actual) {
        Class::Null => None,
        Class::Text if is_bytes(bound) => {
            Some(ParamType { column_type: ColumnType::Blob, unsigned: false })
        }
        class => Some(class.bound_type()),
    }
}

/// The types that this execution is planned for: those `given` before, and the own ones of values that keep
/// them.
pub(crate) fn planned_types(
    uses: &[ParamUse],
    given: &[Option<ParamType>],
    bound: &[ParamType],
    actual: &[Value<'_>],
) -> Given {
    let all = uses.iter().zip(given).zip(bound.iter().zip(actual));
    all.map(|((used, &given), (&bound, value))| planned_type(used, given, bound, value)).collect()
}

fn planned_type(
    used: &ParamUse,
    given: Option<ParamType>,
    bound: ParamType,
    actual: &Value<'_>,
) -> Option<ParamType> {
    let (wanted, class) = (Class::of(&used.described), Class::of_value(actual));
    let own = Some(class.bound_type());
    match used.role {
        ParamRole::Stored => Some(bound),
        ParamRole::Cast if class == Class::Text && used.described.kind == TypeKind::Year => {
            Some(Class::Integer { unsigned: false }.bound_type())
        }
        ParamRole::Cast => match class {
            Class::Null | Class::Text => Some(bound),
            _ => own,
        },
        ParamRole::BesideNumbers if (class.is_number() || class == Class::Text) && wanted.is_moment() => own,
        _ => given,
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
    (uses, planned, bound): (&[ParamUse], &[Option<ParamType>], &[ParamType]),
    params: &'a [Value<'a>],
    (refuses_loss, command): (bool, &str),
    arena: &'a Bump,
) -> Result<&'a [Value<'a>], SqlError> {
    let (mut losses, mut refused) = (Vec::new(), None);
    let values = arena.alloc_slice_copy(params);
    let collation = session.variables.hot.collation_connection;
    {
        let context = StatementContext::new(session);
        let own = Bump::new();
        let ctx = EvalCtx::new(&own, &[], &context);
        let places = uses.iter().zip(planned).zip(bound);
        for (value, ((used, planned), &bound)) in values.iter_mut().zip(places) {
            if used.reads == NumberRead::Integer && used.role != ParamRole::Operand {
                *value = least_past_integers(*value);
            }
            let is_beside_moment = Class::of(&used.described).is_moment();
            let is_kept_moment = is_beside_moment && (planned.is_some() || Class::of(&used.ty).is_moment());
            let is_number_of_moment = Class::of_value(value).is_number() && is_beside_moment;
            *value = match used.role {
                ParamRole::Stored => *value,
                // What reads a text reads the value's own.
                ParamRole::Text if Class::of(&used.described) != Class::Text => *value,
                ParamRole::KeptText => kept_text(*value, used.ty.collation, arena),
                ParamRole::RowCount => row_count(value, command, &mut losses).unwrap_or_else(|error| {
                    refused.get_or_insert(error);
                    *value
                }),
                ParamRole::Moment if value.is_textual() => *value,
                ParamRole::Clock => as_signed(*value),
                ParamRole::Moment if is_number_of_moment => as_signed(*value),
                // What reads a number reads the value as it is, whatever the type says.
                ParamRole::Number if is_kept_moment && !value.is_textual() => padded(used, *value),
                _ => {
                    let own = planned.map(|ty| param_type(ty, collation));
                    let ty = own.as_ref().unwrap_or(&used.ty);
                    let is_bytes = is_bytes(bound);
                    let mut conversion = Conversion { ty, used, is_bytes, ctx: &ctx, losses: &mut losses, arena };
                    let read = match *value {
                        text @ Value::Bytes { data, .. }
                            if used.role == ParamRole::Number && Class::of(ty).is_moment() =>
                        {
                            conversion.number_of(data, text)
                        }
                        value => conversion.of(value),
                    };
                    if read.is_null() && !value.is_null() && used.role == ParamRole::Bound {
                        zero_moment(Class::of(ty))
                    } else {
                        read
                    }
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

/// A number beside those of times, with as many digits after the point if results show them.
fn padded<'a>(used: &ParamUse, value: Value<'a>) -> Value<'a> {
    let is_exact = matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_));
    if !(is_exact && used.is_padded && used.ty.decimals > 0) {
        return value;
    }
    value.to_decimal().value.rescale(used.ty.decimals).map_or(value, Value::Decimal)
}

/// A double beyond the range of integers as MySQL reads it for one: the least integer.
fn least_past_integers(value: Value<'_>) -> Value<'_> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Double(number) if !(-END..END).contains(&number) => Value::Double(-END),
        _ => value,
    }
}

/// The text that a column keeps of a value: without a fraction of a second that is zero.
fn kept_text<'a>(value: Value<'a>, collation: CollationId, arena: &'a Bump) -> Value<'a> {
    let value = match value {
        Value::Null => return value,
        Value::Time(time, _) if time.micros() % MICROS_PER_SECOND == 0 => Value::Time(time, 0),
        Value::DateTime(moment, _) if moment.micro() == 0 => Value::DateTime(moment, 0),
        _ => value,
    };
    text_of(value, collation, arena)
}

fn text_of<'a>(value: Value<'a>, collation: CollationId, arena: &'a Bump) -> Value<'a> {
    if let Value::Bytes { data, .. } = value {
        return Value::Bytes { data, collation };
    }
    let mut text = Vec::new();
    value.write_text(&mut text);
    Value::Bytes { data: arena.alloc_slice_copy(&text), collation }
}

/// Zero as a value of a class of dates or times.
fn zero_moment<'a>(class: Class) -> Value<'a> {
    match class {
        Class::Time => Value::Time(Time::ZERO, MAX_FSP),
        Class::Date => Value::Date(Date::ZERO),
        _ => Value::DateTime(DateTime::ZERO, MAX_FSP),
    }
}

/// The conversion of one value.
struct Conversion<'c, 'v, 'a> {
    ty: &'c SqlType,
    used: &'c ParamUse,
    is_bytes: bool,
    ctx: &'c EvalCtx<'v>,
    losses: &'c mut Vec<Warning>,
    arena: &'a Bump,
}

impl<'a> Conversion<'_, '_, 'a> {
    fn of(&mut self, value: Value<'a>) -> Value<'a> {
        let class = Class::of(self.ty);
        match (class, value) {
            (_, Value::Null) | (Class::Null, _) => value,
            (Class::Text, _) => text_of(value, self.ty.collation, self.arena),
            (_, Value::Bytes { data, .. }) if class.is_number() && self.used.reads != NumberRead::Own => {
                let number = self.number_of(data, value);
                self.of(number)
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

    fn noted<T>(&mut self, read: Converted<T>, type_name: &str, value: &Value<'_>) -> T {
        if read.loss != Loss::None {
            self.truncated(type_name, value);
        }
        read.value
    }

    fn truncated(&mut self, type_name: &str, value: &Value<'_>) {
        // Dates and times are read in the client's character set.
        let is_plain = Class::of(self.ty).is_moment() && !self.is_bytes;
        let value = if is_plain { value.message_text() } else { escaped(value) };
        let type_name = type_name.to_owned();
        self.losses.push(Warning::TruncatedWrongValue { type_name, value });
    }

    fn integer_of(&mut self, value: Value<'a>, unsigned: bool) -> Value<'a> {
        let number = match value {
            Value::Bytes { data, .. } => {
                let read = integer_prefix(data);
                self.noted(Converted { value: read.value as i64, loss: read.loss }, "INTEGER", &value)
            }
            _ => value.to_i64().value,
        };
        if unsigned { Value::UInt(number as u64) } else { Value::Int(number) }
    }

    fn decimal_of(&mut self, value: Value<'a>) -> Value<'a> {
        let (ty, is_padded) = (self.ty, self.used.is_padded);
        let read = value.to_decimal();
        let number = self.noted(read, "DECIMAL", &value);
        // The number of a date has a fixed scale, others their own.
        let is_moment = ty.decimals == MAX_FSP;
        let rounded = if is_moment { number.round(i32::from(MAX_FSP)) } else { number };
        let padded = rounded.rescale(ty.decimals).filter(|_| is_padded || is_moment);
        Value::Decimal(padded.unwrap_or(rounded))
    }

    fn time_of(&mut self, value: Value<'a>) -> Value<'a> {
        match value.to_time() {
            Some(read) if value.is_textual() => Value::Time(self.noted(read, "time", &value), MAX_FSP),
            Some(Converted { value: time, loss: Loss::None }) => Value::Time(time, MAX_FSP),
            _ => {
                self.truncated("time", &value);
                Value::Null
            }
        }
    }

    fn date_of(&mut self, value: Value<'a>, class: Class) -> Value<'a> {
        let modes = self.ctx.session.modes();
        let flags = if value.is_textual() { DateFlags::from_modes(modes) } else { DateFlags::default() };
        let value = as_signed(value);
        let small = || small_moment(&value).filter(|_| class == Class::Date);
        let read = moment_of(&value, flags, self.ctx).or_else(small);
        let Some(read) = read else {
            self.no_date(&value, class);
            return Value::Null;
        };
        let has_time = |data: &[u8]| DateTime::parse(data, flags).is_some_and(|parsed| parsed.has_time);
        let type_name = match value {
            Value::Bytes { data, .. } if !has_time(data) => "date",
            _ => "datetime",
        };
        let moment = self.noted(read, type_name, &value);
        if class == Class::Date { Value::Date(moment.date()) } else { Value::DateTime(moment, MAX_FSP) }
    }
    #[cold]
    fn no_date(&mut self, value: &Value<'_>, class: Class) {
        match (class, value) {
            (Class::Date, Value::Bytes { .. }) => self.truncated("date", value),
            (Class::Date, _) => self.losses.extend(no_date(value)),
            _ => {
                let value = if self.is_bytes { escaped(value) } else { value.message_text() };
                self.losses.push(Warning::IncorrectValue { type_name: "datetime", value });
            }
        }
    }

    /// A text that is no number, read as the number that what takes the parameter reads.
    fn number_of(&mut self, text: &[u8], value: Value<'a>) -> Value<'a> {
        let (number, loss, name) = match self.used.reads {
            NumberRead::Decimal => {
                let read = value.to_decimal();
                let loss = if text.trim_ascii().is_empty() { Loss::Truncated } else { read.loss };
                (Value::Decimal(read.value), loss, "DECIMAL")
            }
            NumberRead::Double => {
                let read = value.to_f64();
                (Value::Double(read.value), read.loss, "DOUBLE")
            }
            NumberRead::Integer | NumberRead::Own => {
                let read = integer_prefix(text);
                (Value::Int(read.value as i64), read.loss, "INTEGER")
            }
        };
        if loss != Loss::None {
            self.truncated(name, &value);
        }
        number
    }
}
