//! How the values of an execution fit the types that the statement takes its parameters for, and their
//! conversion.
//!
//! As in MySQL, a statement keeps the types that PREPARE derived. Texts are converted to them, and so are
//! values of a class that the type holds. For any other value the statement is planned again for the types of
//! the current values, which it keeps from then on. NULL fits every type.

use bumpalo::Bump;
use expr::{EvalCtx, Warning};
use sql::bind::{NumberRead, ParamRole, ParamUse};
use types::collation::{Conversion as Converted, convert as convert_text};
use types::temporal::{Date, DateFlags};
use types::value::{Loss, integer_prefix};
use types::{Charset, CollationId, Problem, TypeKind, Value};
use wire::ColumnType;
use wire::execute::ParamType;

use super::actual_param::as_signed;
use super::param_class::Class;
use super::param_conversion::{Conversion, escaped, text_of};
use super::params::param_type;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::exec_error::{store_problem, warning_condition};
use crate::given_type::GivenType;
use crate::prepared::ParamTypes;
use crate::session::Session;
use crate::statement_context::StatementContext;

/// The type given for each parameter; `None`: the text of the statement implies it.
pub(crate) type GivenTypes = Vec<Option<GivenType>>;

/// Whether values that are bound with type `bound` are used as they are, NULL or not. Texts have the
/// collation `connection`.
pub(crate) fn is_direct(used: &ParamUse, bound: ParamType, connection: CollationId) -> bool {
    let class = Class::of_bound(bound);
    if class == Class::Text && charset_to_read(used, connection).is_some() {
        return false;
    }
    match used.role {
        ParamRole::Stored => true,
        ParamRole::Cast => {
            let described = Class::of(&used.described);
            described == class || !(class == Class::Text || class == Class::Double || described.is_moment())
        }
        ParamRole::RowCount => matches!(class, Class::Integer { .. }),
        ParamRole::KeptText => class == Class::Null || class == Class::Text && !is_bytes(bound),
        _ => {
            let is_in_range = class != Class::Double || used.reads != NumberRead::Integer;
            let is_year = used.described.kind == TypeKind::Year;
            let is_whole = Class::of(&used.described) == class && Class::of(&used.ty) == class;
            let is_whole = is_whole && is_in_range && !is_year;
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

/// Makes texts for parameters that were numbers until now bytes: messages show them as such.
pub(crate) fn forget_charsets(uses: &[ParamUse], actual: &mut [Value<'_>]) {
    for (used, value) in uses.iter().zip(actual) {
        forget_charset(used, value);
    }
}

/// As [`forget_charsets`], for the operands of CAST, which reads the value itself.
pub(crate) fn forget_cast_charsets(uses: &[ParamUse], actual: &mut [Value<'_>]) {
    for (used, value) in uses.iter().zip(actual).filter(|(used, _)| used.role == ParamRole::Cast) {
        forget_charset(used, value);
    }
}

fn forget_charset(used: &ParamUse, value: &mut Value<'_>) {
    if let Value::Bytes { collation, .. } = value
        && Class::of(&used.described).is_number()
    {
        *collation = CollationId::BINARY;
    }
}

fn charset_of(collation: CollationId) -> Charset {
    collation.collation().map_or(Charset::Binary, |known| known.charset)
}

/// The character set of the texts of a parameter, if it is another than that of the collation `connection`.
fn charset_to_read(used: &ParamUse, connection: CollationId) -> Option<Charset> {
    let wanted = charset_of(used.described.collation);
    let is_text = used.described.is_string() && wanted != Charset::Binary;
    (is_text && used.role != ParamRole::Stored && wanted != charset_of(connection)).then_some(wanted)
}

/// Converts texts to the character sets that their parameters have. Bytes stay as they are, and so do
/// operands of CAST, which converts them itself.
///
/// # Errors
/// 3988 for a text with a character that there is not in the other character set.
pub(crate) fn read_charsets<'a>(
    uses: &[ParamUse],
    bound: &[ParamType],
    actual: &mut [Value<'a>],
    arena: &'a Bump,
) -> Result<(), SqlError> {
    for ((used, &bound), value) in uses.iter().zip(bound).zip(actual) {
        let Value::Bytes { data, collation } = *value else { continue };
        let wanted = charset_to_read(used, collation).filter(|_| !is_bytes(bound));
        let Some(wanted) = wanted else { continue };
        let mut converted = Vec::new();
        if convert_text(charset_of(collation), wanted, data, &mut converted) == Converted::Lossy {
            let name = |id: CollationId| id.collation().map_or("binary", |known| known.name);
            let (from, to) = (name(collation), name(used.described.collation));
            return Err(error_map::IMPOSSIBLE_STRING_CONVERSION.with(&[&from, &to, &"parameter"]));
        }
        if used.role == ParamRole::Cast {
            continue;
        }
        let data = arena.alloc_slice_copy(&converted);
        *value = Value::Bytes { data, collation: used.described.collation };
    }
    Ok(())
}

/// The type that a statement is planned again for: that of the value. `None` for NULL, of which nothing is
/// known. A text has the collation of the parameter until now, which is latin1's of numbers, dates and times.
/// A text beyond ASCII of these, and one of bytes, has the collation `connection`.
pub(crate) fn type_to_give(
    used: &ParamUse,
    bound: ParamType,
    actual: &Value<'_>,
    connection: CollationId,
) -> Option<GivenType> {
    let until_now = used.described.collation;
    match Class::of_value(actual) {
        Class::Null => None,
        Class::Text if is_bytes(bound) => {
            Some(GivenType::Bound(ParamType { column_type: ColumnType::Blob, unsigned: false }))
        }
        Class::Text if !used.described.is_string() && is_ascii_text(actual) => {
            Some(GivenType::Text(CollationId::LATIN1_SWEDISH_CI))
        }
        Class::Text if !used.described.is_string() || until_now == CollationId::BINARY => {
            Some(GivenType::Text(connection))
        }
        Class::Text => Some(GivenType::Text(until_now)),
        class => Some(GivenType::Bound(class.bound_type())),
    }
}

/// The types that this execution is planned for: those `given` before, and the own ones of values that keep
/// them.
pub(crate) fn planned_types(types: &ParamTypes, bound: &[ParamType], actual: &[Value<'_>]) -> GivenTypes {
    let all = types.uses.iter().zip(&types.given).zip(bound.iter().zip(actual));
    all.map(|((used, &given), (&bound, value))| match late_type(used, given, value) {
        Some(late) if types.reads_late => Some(late),
        _ => planned_type(used, given, bound, value),
    })
    .collect()
}

/// The type of a text or number that is no value of a parameter's type, where each reading of it warns. MySQL
/// has words of its own for numbers that are no DATE.
fn late_type(used: &ParamUse, given: Option<GivenType>, value: &Value<'_>) -> Option<GivenType> {
    if !used.is_read_late || used.role != ParamRole::Value || matches!(given, Some(GivenType::Text(_))) {
        return None;
    }
    let class = Class::of(&used.described);
    let is_lost = match (class, *value) {
        (Class::Integer { unsigned: false }, Value::Bytes { data, .. }) => {
            let is_read = matches!(used.reads, NumberRead::Own | NumberRead::Integer);
            is_read && integer_prefix(data).loss != Loss::None
        }
        (Class::Double, Value::Bytes { .. }) => {
            matches!(used.reads, NumberRead::Own | NumberRead::Double) && value.to_f64().loss != Loss::None
        }
        (Class::DateTime | Class::Time, Value::Bytes { .. }) => true,
        (Class::Date, text @ Value::Bytes { .. }) => {
            text.to_datetime(DateFlags::default(), Date::ZERO).is_none()
        }
        (Class::DateTime, number) if Class::of_value(&number).is_number() => {
            number.to_datetime(DateFlags::default(), Date::ZERO).is_none()
        }
        _ => false,
    };
    is_lost.then(|| GivenType::Late(class.bound_type()))
}

fn planned_type(
    used: &ParamUse,
    given: Option<GivenType>,
    bound: ParamType,
    actual: &Value<'_>,
) -> Option<GivenType> {
    let (wanted, class) = (Class::of(&used.described), Class::of_value(actual));
    let own = Some(GivenType::Bound(class.bound_type()));
    match used.role {
        ParamRole::Stored => Some(GivenType::Bound(bound)),
        ParamRole::Cast
            if (class == Class::Text || class.is_moment()) && used.described.kind == TypeKind::Year =>
        {
            Some(GivenType::Bound(Class::Integer { unsigned: false }.bound_type()))
        }
        ParamRole::Cast => match class {
            Class::Null | Class::Text => Some(GivenType::Bound(bound)),
            _ => own,
        },
        // A date without a time is a shorter number than one with it.
        ParamRole::BesideNumbers if class != Class::Null && wanted.is_moment() => own,
        _ => given,
    }
}

fn is_ascii_text(value: &Value<'_>) -> bool {
    matches!(value, Value::Bytes { data, .. } if data.is_ascii())
}

/// Whether values are sent as bytes without a character set.
fn is_bytes(bound: ParamType) -> bool {
    param_type(bound, CollationId::UTF8MB4_0900_AI_CI).kind == TypeKind::VarBinary
}

/// Converts the values of an execution to the types of their parameters. A loss gives a warning, or an error
/// with `refuses_loss`. `command` is what MySQL's errors call the execution.
///
/// # Errors
/// 1292 for a loss; those of [`ensure_row_counts`].
pub(crate) fn convert<'a>(
    session: &mut Session,
    (uses, planned, bound): (&[ParamUse], &[Option<GivenType>], &[ParamType]),
    params: &'a [Value<'a>],
    (refuses_loss, command): (bool, &str),
    arena: &'a Bump,
) -> Result<&'a [Value<'a>], SqlError> {
    let (mut losses, mut conditions) = (Vec::new(), Vec::new());
    let values = arena.alloc_slice_copy(params);
    let collation = session.variables.hot.collation_connection;
    {
        let context = StatementContext::new(session);
        let own = Bump::new();
        let ctx = EvalCtx::new(&own, &[], &context);
        let places = uses.iter().zip(planned).zip(bound);
        for (value, ((used, planned), &bound)) in values.iter_mut().zip(places) {
            if used.role == ParamRole::RowCount {
                *value = row_count(value, command, &mut Vec::new())?;
                continue;
            }
            if let Some(GivenType::Late(_)) = planned {
                // Dates and times are read of signed integers.
                *value = text_of(as_signed(*value), CollationId::BINARY, arena);
                continue;
            }
            let own = planned.map(|ty| ty.sql_type(collation));
            let (ty, is_bytes) = (own.as_ref().unwrap_or(&used.ty), is_bytes(bound));
            let mut conversion = Conversion { ty, used, is_bytes, ctx: &ctx, losses: &mut losses, arena };
            let read = conversion.read(*value, planned.is_some());
            note_losses(used, value, &mut losses, &mut conditions);
            *value = read;
        }
    }
    for condition in conditions {
        if refuses_loss {
            return Err(condition);
        }
        session.warn(Severity::Warning, condition);
    }
    Ok(values)
}

/// Moves the `losses` of a value to `conditions`.
#[inline]
fn note_losses(
    used: &ParamUse,
    value: &Value<'_>,
    losses: &mut Vec<Warning>,
    conditions: &mut Vec<SqlError>,
) {
    if losses.is_empty() {
        return;
    }
    if let Some(column) = &used.time_column
        && !is_stored_in_silence(value)
    {
        let problem = Problem::IncorrectTemporal { type_name: "time", value: value.message_text().into() };
        conditions.push(store_problem(&problem, column, 1));
    }
    conditions.extend(losses.drain(..).map(|loss| warning_condition(&loss)));
}

/// Whether a TIME column stores NULL for `value` without a warning: for a text that is empty or a number
/// with an exponent.
#[cold]
fn is_stored_in_silence(value: &Value<'_>) -> bool {
    let Value::Bytes { data, .. } = *value else { return false };
    let has_exponent = data.iter().any(|byte| byte.eq_ignore_ascii_case(&b'e'));
    matches!(data.trim_ascii(), b"" | b"-") || has_exponent && value.to_f64().loss == Loss::None
}

/// Checks the numbers of rows among `params`. As in MySQL, the error and the warnings that come before it
/// follow what the last statement left; a statement that runs shows no such warnings. `bad_decimals` counts
/// the parameters up to one that are decimals without a number, of which there is a warning each.
///
/// # Errors
/// 1210 and 1690 for what is no number of rows.
pub(crate) fn ensure_row_counts(
    session: &mut Session,
    uses: &[ParamUse],
    params: &[Value<'_>],
    command: &str,
    bad_decimals: impl Fn(usize) -> usize,
) -> Result<(), SqlError> {
    let mut unread = Vec::new();
    let counts =
        uses.iter().zip(params).enumerate().filter(|(_, (used, _))| used.role == ParamRole::RowCount);
    for (n, (_, value)) in counts {
        if let Err(error) = row_count(value, command, &mut unread) {
            for _ in 0..bad_decimals(n) {
                let unread = error_map::TRUNCATED_WRONG_VALUE_FOR_FIELD.with(&[&"DECIMAL", &"0", &"", &-1]);
                session.warn(Severity::Warning, unread);
            }
            for loss in &unread {
                session.warn(Severity::Warning, warning_condition(loss));
            }
            return Err(error);
        }
    }
    Ok(())
}

/// A number of rows: an integer that is not negative, or that at the start of a text, whose sign MySQL
/// ignores. What the text has besides is added to `unread`.
fn row_count<'a>(value: &Value<'a>, command: &str, unread: &mut Vec<Warning>) -> Result<Value<'a>, SqlError> {
    let is_binary = command != "EXECUTE";
    match *value {
        Value::Null | Value::UInt(_) | Value::Int(0..) => Ok(*value),
        Value::Int(_) => {
            let name = if is_binary { "SIGNED INTEGER" } else { "unsigned integer" };
            Err(error_map::DATA_OUT_OF_RANGE.with(&[&name, &command]))
        }
        Value::Bytes { data, .. } if is_binary => {
            let read = integer_prefix(data);
            if read.loss != Loss::None || data.trim_ascii().is_empty() {
                let type_name = "INTEGER".to_owned();
                unread.push(Warning::TruncatedWrongValue { type_name, value: escaped(value) });
            }
            if read.value < 0 {
                unread.push(Warning::NegativeToUnsigned);
            }
            Ok(Value::UInt(read.value as u64))
        }
        _ => Err(error_map::WRONG_ARGUMENTS.with(&[&command])),
    }
}
