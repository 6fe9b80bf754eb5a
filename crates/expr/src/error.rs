//! Errors and losses in the evaluation of expressions. The server gives these their MySQL numbers.

use std::fmt;

use base::memory::LimitExceeded;
use base::sync::interrupt;
use types::temporal::OddDelimiter;

use crate::print::to_text;
use crate::{EvalCtx, Expr};

/// An evaluation that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvalError {
    /// A result does not fit its type.
    OutOfRange {
        /// `BIGINT`, `BIGINT UNSIGNED`, `DOUBLE`, `DECIMAL`.
        type_name: &'static str,
        /// The operation as text, `(a + b)`.
        operation: String,
    },
    /// A scalar subquery has more than one row.
    SubqueryRows,
    /// The function is not there yet.
    NotSupported(&'static str),
    /// A function got a value that it cannot take.
    WrongArgument {
        /// Function name.
        function: &'static str,
    },
    /// 1411 `Incorrect string value: 'x' for function uuid_to_bin`.
    WrongValue {
        /// `string`.
        type_name: &'static str,
        /// Text of the value.
        value: String,
        /// Function name.
        function: &'static str,
    },
    /// 3854 `Cannot convert string '\\xFF' from binary to utf8mb4`.
    CannotConvert {
        /// The first bytes of the string, as MySQL shows them.
        value: String,
        /// Its character set.
        from: &'static str,
        /// The one that was wanted.
        to: &'static str,
    },
    /// 3513 `Binary operands of bitwise operators must be of equal length`.
    BitOperandLengths,
    /// 3514: BIT_AND, BIT_OR or BIT_XOR of a binary string beyond 511 bytes.
    BitStringTooLong,
    /// `@@name` does not exist or has another scope.
    SystemVariable {
        /// MySQL's text is the server's.
        name: Box<str>,
    },
    /// A subplan failed; the executor kept its error under this number.
    Subplan(usize),
    /// 1227: the user lacks this privilege.
    Denied(&'static str),
    /// 3057: the name of a user-level lock is invalid.
    UserLockName(String),
    /// 4163: the name of a user-level lock is too long.
    UserLockNameLength(String),
    /// 3058: a wait for a user-level lock would never end.
    UserLockDeadlock,
    /// The statement was killed.
    Killed,
    /// A limit on memory.
    Memory(LimitExceeded),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::OutOfRange { type_name, operation } => {
                write!(f, "{type_name} value is out of range in '{operation}'")
            }
            EvalError::SubqueryRows => f.write_str("subquery returns more than 1 row"),
            EvalError::NotSupported(what) => write!(f, "{what} is not supported"),
            EvalError::WrongArgument { function } => write!(f, "incorrect arguments to {function}"),
            EvalError::WrongValue { type_name, value, function } => {
                write!(f, "incorrect {type_name} value '{value}' for function {function}")
            }
            EvalError::CannotConvert { value, from, to } => {
                write!(f, "cannot convert string '{value}' from {from} to {to}")
            }
            EvalError::BitStringTooLong => f.write_str("the bits of binary strings beyond 511 bytes"),
            EvalError::BitOperandLengths => f.write_str("operands of a bit operator differ in length"),
            EvalError::SystemVariable { name } => write!(f, "system variable {name}"),
            EvalError::Subplan(n) => write!(f, "subplan {n} failed"),
            EvalError::Denied(privilege) => write!(f, "the privilege {privilege} is needed"),
            EvalError::UserLockNameLength(name) => write!(f, "user-level lock name '{name}' is too long"),
            EvalError::UserLockName(name) => write!(f, "incorrect user-level lock name '{name}'"),
            EvalError::UserLockDeadlock => f.write_str("deadlock of user-level locks"),
            EvalError::Killed => f.write_str("the statement was interrupted"),
            EvalError::Memory(exceeded) => exceeded.fmt(f),
        }
    }
}

impl std::error::Error for EvalError {}

impl EvalError {
    /// The error of an aggregate, whose name alone it has, with the aggregate's arguments.
    #[cold]
    pub fn of_arguments(self, args: &[Expr], ctx: &EvalCtx<'_>) -> EvalError {
        let EvalError::OutOfRange { type_name, operation } = self else { return self };
        let texts: Vec<String> = args.iter().map(|arg| to_text(arg, ctx)).collect();
        EvalError::OutOfRange { type_name, operation: format!("{operation}({})", texts.join(",")) }
    }
}

impl From<LimitExceeded> for EvalError {
    /// An interrupted statement's long rows are refused, too.
    #[cold]
    fn from(exceeded: LimitExceeded) -> Self {
        if interrupt::is_requested() { EvalError::Killed } else { EvalError::Memory(exceeded) }
    }
}

/// Something lost or suspicious; the statement continues, unless the session's mode makes it an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Text that is not wholly a value of the type: `Truncated incorrect INTEGER value: '12abc'`.
    TruncatedWrongValue {
        /// `INTEGER`, `DOUBLE`, `DECIMAL`, `CHAR(2)`, `BINARY(2)`, `date`, `time`, `datetime`.
        type_name: String,
        /// The text.
        value: String,
    },
    /// Text that is no value of the type at all: `Incorrect datetime value: 'x'`.
    IncorrectValue {
        /// `datetime`; `YEAR`, whose number is 1525.
        type_name: &'static str,
        /// The text.
        value: String,
    },
    /// 1366 `Incorrect DECIMAL value: '0' for column '' at row -1`: a text without a number at its front.
    NoDecimal,
    /// 1366 `Incorrect DOUBLE value: 'x' for column '' at row 1`: a text among distinct numbers that is not
    /// wholly one.
    NoDouble {
        /// The text.
        value: String,
    },
    /// `Division by 0`.
    DivisionByZero,
    /// A numeric result was clipped to a type's range: `Out of range value for column 'CAST(...)' at row 1`.
    OutOfRange {
        /// The expression as text.
        operation: String,
    },
    /// 1105 `Cast to unsigned converted negative integer to its positive complement`.
    NegativeToUnsigned,
    /// 1105 `Cast to signed converted positive out-of-range integer to its negative complement`.
    PositiveToSigned,
    /// 1411 `Incorrect datetime value: 'x' for function str_to_date`.
    WrongValueForFunction {
        /// `datetime`, `string`.
        type_name: &'static str,
        /// The text; strings with quotes of their own.
        value: String,
        /// Function name.
        function: &'static str,
    },
    /// 1300 `Invalid utf8mb4 character string: 'FF'`.
    InvalidString {
        /// Character set.
        charset: &'static str,
        /// The first bytes that are no text, hexadecimal.
        value: String,
    },
    /// `Invalid argument for logarithm`.
    LogarithmArgument,
    /// A date function's result is out of range: `Datetime function: datetime field overflow`.
    DateOverflow,
    /// GROUP_CONCAT was cut: `Row 2 was cut by GROUP_CONCAT()`.
    GroupConcatCut {
        /// 1-based row in the group.
        row: u64,
    },
    /// A delimiter in the text of a date that MySQL deprecates: 4095 if another is standard there, 4096 if it
    /// is one too many.
    OddDelimiter {
        /// Where and which.
        odd: OddDelimiter,
        /// The text.
        value: String,
    },
    /// 1583 `Incorrect parameters in the call to native function 'sha2'`.
    WrongParameters {
        /// Function name.
        function: &'static str,
    },
    /// 1649 `Unknown locale: 'x'`.
    UnknownLocale {
        /// The name.
        name: String,
    },
    /// A result over max_allowed_packet became NULL.
    ResultTooLong {
        /// Function name.
        function: &'static str,
        /// The limit, bytes.
        limit: u64,
    },
    /// `Cannot convert string ... from X to Y`.
    CannotConvert {
        /// The string, hex-escaped as MySQL shows it.
        value: String,
        /// Source character set.
        from: &'static str,
        /// Target character set.
        to: &'static str,
    },
}
