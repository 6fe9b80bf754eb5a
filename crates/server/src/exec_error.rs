//! MySQL's errors for statements that fail while they run.

use std::io::ErrorKind;

use exec::ExecError;
use expr::{EvalError, Warning};
use types::temporal::OddDelimiter;
use types::{Problem, TimeZone};

use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::memory_error;

/// The client's error for `error`, or its condition if it is a warning; key values in its text are shown in
/// `zone`.
#[cold]
pub(crate) fn sql_error(error: &ExecError, zone: &TimeZone) -> SqlError {
    match error {
        ExecError::Engine(error) => engine_error::sql_error(error, zone),
        ExecError::Eval(error) => eval_error(error),
        ExecError::Lossy(warning) => warning_condition(warning),
        ExecError::Store { problem, column, row } => store_problem(problem, column, *row),
        ExecError::ColumnNull { column } => error_map::BAD_NULL.with(&[column]),
        ExecError::NullToNotNull { column, row } => error_map::WARN_NULL_TO_NOTNULL.with(&[column, row]),
        ExecError::NullRefused => error_map::INVALID_USE_OF_NULL.bare(),
        ExecError::NoDefault { column } => error_map::NO_DEFAULT_FOR_FIELD.with(&[column]),
        ExecError::TooFewFields { row } => error_map::WARN_TOO_FEW_RECORDS.with(&[row]),
        ExecError::TooManyFields { row } => error_map::WARN_TOO_MANY_RECORDS.with(&[row]),
        ExecError::NumberReserved => error_map::AUTO_INCREMENT_CONFLICT.bare(),
        ExecError::SubqueryRows => error_map::SUBQUERY_NO_1_ROW.bare(),
        ExecError::Send(error) => match error.kind() {
            ErrorKind::TimedOut => error_map::NET_READ_INTERRUPTED.bare(),
            ErrorKind::WouldBlock => error_map::NET_WRITE_INTERRUPTED.bare(),
            ErrorKind::UnexpectedEof => error_map::NET_READ_ERROR.bare(),
            _ => error_map::NET_ERROR_ON_WRITE.bare(),
        },
        ExecError::Memory(exceeded) => memory_error::of(*exceeded),
        ExecError::LoadFile(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            error_map::ERROR_ON_READ.with(&[&"LOAD DATA", &errno, error])
        }
        ExecError::Killed => error_map::QUERY_INTERRUPTED.bare(),
        ExecError::NotSupported(what) => error_map::NOT_SUPPORTED_YET.with(&[what]),
        other => error_map::INTERNAL_ERROR.with(&[other]),
    }
}

/// The client's error for an expression that has no value.
#[cold]
pub fn eval_error(error: &EvalError) -> SqlError {
    match error {
        EvalError::OutOfRange { type_name, operation } => {
            error_map::DATA_OUT_OF_RANGE.with(&[type_name, operation])
        }
        EvalError::SubqueryRows => error_map::SUBQUERY_NO_1_ROW.bare(),
        EvalError::NotSupported(what) => error_map::NOT_SUPPORTED_YET.with(&[what]),
        EvalError::WrongValue { type_name, value, function } => {
            error_map::WRONG_VALUE_FOR_TYPE.with(&[type_name, value, function])
        }
        EvalError::CannotConvert { value, from, to } => {
            error_map::CANNOT_CONVERT_STRING.with(&[value, from, to])
        }
        EvalError::WrongArgument { function } => error_map::WRONG_ARGUMENTS.with(&[function]),
        EvalError::BitStringTooLong => error_map::INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE.bare(),
        EvalError::BitOperandLengths => error_map::INVALID_BITWISE_OPERANDS_SIZE.bare(),
        EvalError::SystemVariable { name } => error_map::UNKNOWN_SYSTEM_VARIABLE.with(&[name]),
        EvalError::Denied(privilege) => error_map::SPECIFIC_ACCESS_DENIED.with(&[privilege]),
        EvalError::UserLockName(name) => error_map::USER_LOCK_WRONG_NAME.with(&[name]),
        EvalError::UserLockNameLength(name) => error_map::USER_LOCK_OVERLONG_NAME.with(&[name, &64]),
        EvalError::UserLockDeadlock => error_map::USER_LOCK_DEADLOCK.bare(),
        EvalError::Killed => error_map::QUERY_INTERRUPTED.bare(),
        EvalError::Memory(exceeded) => memory_error::of(*exceeded),
        other => error_map::INTERNAL_ERROR.with(&[other]),
    }
}

/// The error for a problem of a value on its way into `column` of the statement's row number `row`.
#[cold]
pub(crate) fn store_problem(problem: &Problem, column: &str, row: u64) -> SqlError {
    match problem {
        Problem::OutOfRange => error_map::WARN_DATA_OUT_OF_RANGE.with(&[&column, &row]),
        Problem::Truncated => error_map::WARN_DATA_TRUNCATED.with(&[&column, &row]),
        Problem::TooLong => error_map::DATA_TOO_LONG.with(&[&column, &row]),
        Problem::IncorrectValue { type_name, value } => {
            error_map::TRUNCATED_WRONG_VALUE_FOR_FIELD.with(&[type_name, &cut(value), &column, &row])
        }
        Problem::IncorrectTemporal { type_name, value } => {
            let value = cut(value);
            let text = format!("Incorrect {type_name} value: '{value}' for column '{column}' at row {row}");
            error_map::TRUNCATED_WRONG_VALUE.with_message(text)
        }
        Problem::DateTimeOverflow => error_map::DATETIME_FUNCTION_OVERFLOW.with(&[&"datetime"]),
        Problem::ZoneGap => error_map::WARN_INVALID_TIMESTAMP.with(&[&column, &row]),
        Problem::OddDelimiter { odd, value } => odd_delimiter(odd, value, row),
        Problem::Null => error_map::BAD_NULL.with(&[&column]),
    }
}

/// Most bytes of a value that a message about it shows.
const VALUE_BYTES_MAX: usize = 128;

/// As much of a value as a message about it shows: whole characters.
fn cut(value: &str) -> &str {
    &value[..value.floor_char_boundary(VALUE_BYTES_MAX)]
}

/// The warning about a delimiter in the text `value` of the statement's row number `row`.
#[cold]
fn odd_delimiter(odd: &OddDelimiter, value: &str, row: u64) -> SqlError {
    let delimiter = char::from(odd.delimiter);
    let Some(standard) = odd.standard.map(char::from) else {
        return error_map::SUPERFLUOUS_DATETIME_DELIMITER.with(&[&delimiter, &odd.position, &value, &row]);
    };
    error_map::DEPRECATED_DATETIME_DELIMITER.with(&[&delimiter, &odd.position, &value, &row, &standard])
}

/// The condition that SHOW WARNINGS shows for `warning`.
#[cold]
pub(crate) fn warning_condition(warning: &Warning) -> SqlError {
    match warning {
        Warning::TruncatedWrongValue { type_name, value } => {
            error_map::TRUNCATED_WRONG_VALUE.with(&[type_name, value])
        }
        Warning::IncorrectValue { type_name: type_name @ "YEAR", value } => {
            error_map::WRONG_VALUE.with(&[type_name, value])
        }
        Warning::IncorrectValue { type_name, value } => {
            error_map::TRUNCATED_WRONG_VALUE.with_message(format!("Incorrect {type_name} value: '{value}'"))
        }
        Warning::NoDecimal => error_map::TRUNCATED_WRONG_VALUE_FOR_FIELD
            .with_message("Incorrect DECIMAL value: '0' for column '' at row -1".to_owned()),
        Warning::NoDouble { value } => error_map::TRUNCATED_WRONG_VALUE_FOR_FIELD
            .with_message(format!("Incorrect DOUBLE value: '{value}' for column '' at row 1")),
        Warning::DivisionByZero => error_map::DIVISION_BY_ZERO.bare(),
        Warning::PositiveToSigned => error_map::UNKNOWN.with_message(
            "Cast to signed converted positive out-of-range integer to its negative complement".to_owned(),
        ),
        Warning::NegativeToUnsigned => error_map::UNKNOWN.with_message(
            "Cast to unsigned converted negative integer to its positive complement".to_owned(),
        ),
        Warning::WrongValueForFunction { type_name, value, function } => {
            error_map::WRONG_VALUE_FOR_TYPE.with(&[type_name, value, function])
        }
        Warning::InvalidString { charset, value } => {
            error_map::INVALID_CHARACTER_STRING.with(&[charset, value])
        }
        Warning::OddDelimiter { odd, value } => odd_delimiter(odd, value, 1),
        Warning::WrongParameters { function } => error_map::WRONG_PARAMETERS_TO_NATIVE_FCT.with(&[function]),
        Warning::UnknownLocale { name } => error_map::UNKNOWN_LOCALE.with(&[name]),
        Warning::OutOfRange { operation } => error_map::WARN_DATA_OUT_OF_RANGE.with(&[operation, &1]),
        Warning::LogarithmArgument => error_map::INVALID_ARGUMENT_FOR_LOGARITHM.bare(),
        Warning::DateOverflow => error_map::DATETIME_FUNCTION_OVERFLOW.with(&[&"datetime"]),
        Warning::GroupConcatCut { row } => error_map::CUT_VALUE_GROUP_CONCAT.with(&[row]),
        Warning::ResultTooLong { function, limit } => {
            error_map::WARN_ALLOWED_PACKET_OVERFLOWED.with(&[function, limit])
        }
        Warning::CannotConvert { value, from, to } => {
            error_map::CANNOT_CONVERT_STRING.with(&[value, from, to])
        }
        other => error_map::UNKNOWN.with_message(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_values_that_do_not_fit_have_mysqls_errors() {
        let temporal = Problem::IncorrectTemporal { type_name: "datetime", value: "x".into() };
        let incorrect = Problem::IncorrectValue { type_name: "integer", value: "a".into() };
        for (problem, code, text) in [
            (Problem::OutOfRange, 1264, "Out of range value for column 'c' at row 2"),
            (Problem::TooLong, 1406, "Data too long for column 'c' at row 2"),
            (temporal, 1292, "Incorrect datetime value: 'x' for column 'c' at row 2"),
            (incorrect, 1366, "Incorrect integer value: 'a' for column 'c' at row 2"),
        ] {
            let error = store_problem(&problem, "c", 2);
            assert_eq!((error.code, error.message.as_str()), (code, text));
        }
    }
}
