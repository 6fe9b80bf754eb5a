//! The conversion of one parameter's value to the type that the statement is planned for.

use bumpalo::Bump;
use expr::{EvalCtx, Warning, moment_of, no_date};
use sql::bind::{NumberRead, ParamRole, ParamUse};
use types::temporal::{DateFlags, FSP_MAX, MICROS_PER_SECOND};
use types::value::{Converted, Loss, integer_prefix, text_for_message};
use types::{CollationId, Date, DateTime, SqlType, Time, TypeKind, Value};

use super::actual_param::{FIRST_WITH_DATE, as_signed};
use super::param_class::Class;

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
pub(super) fn escaped(value: &Value<'_>) -> String {
    let Value::Bytes { data, .. } = value else { return value.message_text() };
    let shown =
        |&byte: &u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("\\x{byte:02X}") };
    text_for_message(data).as_bytes().iter().map(shown).collect()
}

/// A number beside those of times, with as many digits after the point if results show them.
fn padded<'a>(used: &ParamUse, value: Value<'a>) -> Value<'a> {
    let is_number = matches!(
        value,
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Date(_)
    );
    if !(is_number && used.is_padded && used.ty.decimals > 0) {
        return value;
    }
    value.to_decimal().value.rescale(used.ty.decimals).map_or(value, Value::Decimal)
}

/// A number as MySQL reads it for an integer: a double beyond the range is the least one, and what a
/// parameter of `class` holds has a sign.
fn read_as_integer(value: Value<'_>, class: Class) -> Value<'_> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Double(number) if !(-END..END).contains(&number) => Value::Double(-END),
        Value::UInt(_) if matches!(class, Class::Decimal | Class::Double) => as_signed(value),
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

fn unsigned(value: Value<'_>) -> Value<'_> {
    if let Value::Int(number) = value { Value::UInt(number as u64) } else { value }
}

pub(super) fn text_of<'a>(value: Value<'a>, collation: CollationId, arena: &'a Bump) -> Value<'a> {
    if let Value::Bytes { data, .. } = value {
        return Value::Bytes { data, collation };
    }
    let mut text = Vec::new();
    value.write_text(&mut text);
    Value::Bytes { data: arena.alloc_slice_copy(&text), collation }
}

/// The value of a bound that is not a date or time: zero, but NULL beside dates with a time, and the least
/// time for an exact number.
fn no_bound<'a>(class: Class, value: &Value<'_>) -> Value<'a> {
    match class {
        Class::Time if matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) => {
            Value::Time(Time::from_micros_clipped(i64::MIN), FSP_MAX)
        }
        Class::Time => Value::Time(Time::ZERO, FSP_MAX),
        Class::Date => Value::Date(Date::ZERO),
        _ => Value::Null,
    }
}

/// A date or time that no column has.
fn no_equal<'a>(class: Class) -> Value<'a> {
    // No day of the calendar.
    let date = Date::new(9999, 11, 31);
    match class {
        Class::Time => Value::Time(Time::PAST_MAX, FSP_MAX),
        Class::Date => Value::Date(date),
        Class::DateTime => Value::DateTime(DateTime::new(date, 23, 59, 59, 999_999), FSP_MAX),
        _ => Value::Null,
    }
}

/// Whether `value` is an integer that can be a time, but no date with a time.
fn is_shorter_than_dates(value: &Value<'_>) -> bool {
    matches!(as_signed(*value), Value::Int(..FIRST_WITH_DATE))
}

/// The conversion of one value.
pub(super) struct Conversion<'c, 'v, 'a> {
    pub(super) ty: &'c SqlType,
    pub(super) used: &'c ParamUse,
    pub(super) is_bytes: bool,
    pub(super) ctx: &'c EvalCtx<'v>,
    pub(super) losses: &'c mut Vec<Warning>,
    pub(super) arena: &'a Bump,
}

impl<'a> Conversion<'_, '_, 'a> {
    /// The value that the statement runs with. `is_planned`: it is planned for a type that was given.
    pub(super) fn read(&mut self, value: Value<'a>, is_planned: bool) -> Value<'a> {
        let used = self.used;
        let described = Class::of(&used.described);
        let value = match used.reads {
            NumberRead::Integer if used.role == ParamRole::Number && described == Class::Double => {
                self.integer_beside_doubles(value)
            }
            NumberRead::Integer if used.role != ParamRole::Operand && !described.is_moment() => {
                read_as_integer(value, described)
            }
            _ => value,
        };
        let is_kept_moment = described.is_moment() && (is_planned || Class::of(&used.ty).is_moment());
        match used.role {
            ParamRole::Stored => value,
            ParamRole::TimeText if described.is_number() => self.time_beside_number(value, described),
            // HEX has a form for numbers.
            ParamRole::Text if described.is_number() && used.reads != NumberRead::Own => self.of(value),
            // What reads a text reads the value's own.
            ParamRole::Text | ParamRole::TimeText if described != Class::Text => value,
            ParamRole::KeptText => kept_text(value, used.ty.collation, self.arena),
            ParamRole::Moment if value.is_textual() => value,
            ParamRole::Clock => as_signed(value),
            ParamRole::Moment if Class::of_value(&value).is_number() && described.is_moment() => {
                as_signed(value)
            }
            // What reads a number reads the value as it is, whatever the type says.
            ParamRole::Number if is_kept_moment => self.number_beside_moment(value),
            // Bounds of years have no sign.
            ParamRole::Bound if used.described.kind == TypeKind::Year && !value.is_textual() => {
                unsigned(self.of(value))
            }
            ParamRole::Bound => match self.of(value) {
                Value::Null if !value.is_null() => no_bound(Class::of(self.ty), &value),
                read => read,
            },
            ParamRole::Equal => self.equal_operand(value),
            ParamRole::StoredYear => match expr::stored_year(&value) {
                Some(year) => {
                    // What follows the number of a text gives a warning.
                    self.of(value);
                    Value::UInt(year as u64)
                }
                None => self.of(value),
            },
            ParamRole::Below if described.is_moment() => self.below_moments(value),
            ParamRole::TimeItem => match self.of(value) {
                Value::Null if !(value.is_null() || is_shorter_than_dates(&value)) => {
                    Value::Time(Time::ZERO, FSP_MAX)
                }
                read => read,
            },
            _ => self.of(value),
        }
    }

    /// A number that is read as an integer: a decimal beyond the range is the nearest, with a warning.
    fn integer_beside_doubles(&mut self, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Decimal(number) => number.to_i64().map_or_else(
                |limit| {
                    self.truncated("DECIMAL", &value);
                    Value::Int(limit)
                },
                |_| value,
            ),
            _ => read_as_integer(value, Class::Double),
        }
    }

    /// An operand that only equality compares.
    fn equal_operand(&mut self, value: Value<'a>) -> Value<'a> {
        self.ty = &self.used.ty;
        match self.of(value) {
            Value::Null if !value.is_null() => no_equal(Class::of(self.ty)),
            read => read,
        }
    }

    /// The date or time of a column that is compared with a number: what is none is the number that it is, of
    /// which zero alone is a date or time. Beside another kind of them, all are dates with a time.
    fn below_moments(&mut self, value: Value<'a>) -> Value<'a> {
        let known = self.losses.len();
        let read = self.of(value);
        if self.losses.len() == known {
            return read;
        }
        self.losses.truncate(known);
        if self.used.reads == NumberRead::Own {
            self.no_date(&value, Class::DateTime);
            return Value::Null;
        }
        let number = value.to_f64();
        if value.is_textual() && number.loss != Loss::None {
            self.truncated("DOUBLE", &value);
        }
        match Class::of(self.ty) {
            _ if number.value != 0.0 => Value::Null,
            Class::Time => Value::Time(Time::ZERO, FSP_MAX),
            Class::Date => Value::Date(Date::ZERO),
            _ => Value::DateTime(DateTime::from_date(Date::ZERO), FSP_MAX),
        }
    }

    fn number_beside_moment(&mut self, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Bytes { data, .. } if Class::of(self.ty).is_moment() => {
                padded(self.used, self.number_of(data, value))
            }
            Value::Bytes { .. } => self.of(value),
            _ => padded(self.used, value),
        }
    }

    /// The time that a text is where the statement has a number: that it is none gives a warning.
    fn time_beside_number(&mut self, value: Value<'a>, described: Class) -> Value<'a> {
        let Value::Bytes { data, .. } = value else { return value };
        let is_number = |loss: Loss| loss == Loss::None && !data.trim_ascii().is_empty();
        match described {
            Class::Integer { .. } if is_number(integer_prefix(data).loss) => {}
            Class::Integer { .. } => self.truncated("INTEGER", &value),
            _ if is_number(value.to_decimal().loss) => {}
            _ => self.truncated("DECIMAL", &value),
        }
        let Some(read) = value.to_time() else {
            self.truncated("time", &value);
            return Value::Null;
        };
        let fsp = if read.value.micros() % MICROS_PER_SECOND == 0 { 0 } else { FSP_MAX };
        Value::Time(self.noted(read, "time", &value), fsp)
    }

    fn of(&mut self, value: Value<'a>) -> Value<'a> {
        let class = Class::of(self.ty);
        match (class, value) {
            (_, Value::Null) | (Class::Null, _) => value,
            // Its character set was forgotten.
            (Class::Text, Value::Bytes { collation: CollationId::BINARY, .. }) if !self.is_bytes => value,
            (Class::Text, _) => text_of(value, self.ty.collation, self.arena),
            (_, Value::Bytes { data, .. }) if class.is_number() && self.used.reads != NumberRead::Own => {
                match self.number_of(data, value) {
                    number @ Value::UInt(_) => number,
                    number => self.of(number),
                }
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
        let is_of_moment = [self.ty, &self.used.described].iter().any(|ty| Class::of(ty).is_moment());
        let is_plain = is_of_moment && !self.is_bytes;
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
            // A YEAR takes integers without regard to their sign.
            _ if self.used.described.kind == TypeKind::Year => as_signed(value).to_i64().value,
            _ => value.to_i64().value,
        };
        // A YEAR has no place for a number below all years.
        let is_year = self.used.described.kind == TypeKind::Year;
        let is_below = matches!(value, Value::Int(..0)) || is_year && number < 0;
        if unsigned && !is_below { Value::UInt(number as u64) } else { Value::Int(number) }
    }

    fn decimal_of(&mut self, value: Value<'a>) -> Value<'a> {
        let (ty, is_padded) = (self.ty, self.used.is_padded);
        let read = value.to_decimal();
        let number = self.noted(read, "DECIMAL", &value);
        // The number of a date has a fixed scale, others their own.
        let is_moment = ty.decimals == FSP_MAX;
        let rounded = if is_moment { number.round(i32::from(FSP_MAX)) } else { number };
        let padded = rounded.rescale(ty.decimals).filter(|_| is_padded || is_moment);
        Value::Decimal(padded.unwrap_or(rounded))
    }

    fn time_of(&mut self, value: Value<'a>) -> Value<'a> {
        match value.to_time() {
            Some(read) if value.is_textual() => Value::Time(self.noted(read, "time", &value), FSP_MAX),
            Some(Converted { value: time, loss: Loss::None }) => Value::Time(time, FSP_MAX),
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
        if class == Class::Date { Value::Date(moment.date()) } else { Value::DateTime(moment, FSP_MAX) }
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
                let is_unsigned = Class::of(self.ty) == Class::Integer { unsigned: true };
                let is_large = is_unsigned && read.value > i128::from(i64::MAX);
                let number = read.value as i64;
                (if is_large { Value::UInt(number as u64) } else { Value::Int(number) }, read.loss, "INTEGER")
            }
        };
        if loss != Loss::None {
            self.truncated(name, &value);
        }
        number
    }
}
