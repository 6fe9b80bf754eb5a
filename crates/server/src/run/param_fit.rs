//! How the values of an execution fit the types that the statement takes its parameters for, and their
//! conversion.
//!
//! As in MySQL, a statement keeps the types that PREPARE derived. Texts are converted to them, and so are
//! values of a class that the type holds. For any other value the statement is planned again for the types of
//! the current values, which it keeps from then on. NULL fits every type.

use bumpalo::Bump;
use expr::{EvalCtx, Warning};
use sql::bind::{NumberRead, ParamRole, ParamUse};
use types::value::{Loss, integer_prefix};
use types::{CollationId, TypeKind, Value};
use wire::ColumnType;
use wire::execute::ParamType;

use super::param_class::Class;
use super::param_conversion::{Conversion, escaped};
use super::params::param_type;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::exec_error::warning_condition;
use crate::session::Session;
use crate::statement_context::StatementContext;

/// The type given for each parameter; `None`: the text of the statement implies it.
pub(crate) type GivenTypes = Vec<Option<ParamType>>;

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
        if let Value::Bytes { collation, .. } = value
            && Class::of(&used.described).is_number()
        {
            *collation = CollationId::BINARY;
        }
    }
}

/// The type that a statement is planned again for: that of the value. `None` for NULL, of which nothing is
/// known.
pub(crate) fn type_to_give(bound: ParamType, actual: &Value<'_>) -> Option<ParamType> {
    match Class::of_value(actual) {
        Class::Null => None,
        Class::Text if is_bytes(bound) => Some(ParamType { column_type: ColumnType::Blob, unsigned: false }),
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
) -> GivenTypes {
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
        ParamRole::Cast
            if (class == Class::Text || class.is_moment()) && used.described.kind == TypeKind::Year =>
        {
            Some(Class::Integer { unsigned: false }.bound_type())
        }
        ParamRole::Cast => match class {
            Class::Null | Class::Text => Some(bound),
            _ => own,
        },
        // A date without a time is a shorter number than one with it.
        ParamRole::BesideNumbers if class != Class::Null && wanted.is_moment() => own,
        _ => given,
    }
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
    (uses, planned, bound): (&[ParamUse], &[Option<ParamType>], &[ParamType]),
    params: &'a [Value<'a>],
    (refuses_loss, command): (bool, &str),
    arena: &'a Bump,
) -> Result<&'a [Value<'a>], SqlError> {
    let mut losses = Vec::new();
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
            let own = planned.map(|ty| param_type(ty, collation));
            let (ty, is_bytes) = (own.as_ref().unwrap_or(&used.ty), is_bytes(bound));
            let mut conversion = Conversion { ty, used, is_bytes, ctx: &ctx, losses: &mut losses, arena };
            *value = conversion.read(*value, planned.is_some());
        }
    }
    for loss in &losses {
        let condition = warning_condition(loss);
        if refuses_loss {
            return Err(condition);
        }
        session.warn(Severity::Warning, condition);
    }
    Ok(values)
}

/// Checks the numbers of rows among `params`. As in MySQL, the error and the warnings that come before it
/// follow what the last statement left; a statement that runs shows no such warnings.
///
/// # Errors
/// 1210 and 1690 for what is no number of rows.
pub(crate) fn ensure_row_counts(
    session: &mut Session,
    uses: &[ParamUse],
    params: &[Value<'_>],
    command: &str,
) -> Result<(), SqlError> {
    let mut unread = Vec::new();
    let counts = uses.iter().zip(params).filter(|(used, _)| used.role == ParamRole::RowCount);
    for (_, value) in counts {
        if let Err(error) = row_count(value, command, &mut unread) {
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
