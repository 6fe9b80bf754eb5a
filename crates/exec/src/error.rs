//! Errors of statements, with the data for their messages. The server gives the errors their MySQL numbers.

use std::fmt;

use base::memory::LimitExceeded;
use base::sync::interrupt;
use engine::Effect;
use expr::EvalError;
use types::Problem;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, ExecError>;

/// Why a statement fails; with [`crate::Conditions`] also what it warns of.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExecError {
    /// The storage API refuses.
    Engine(engine::Error),
    /// An expression has no value.
    Eval(EvalError),
    /// An expression lost something, which the session's mode makes an error where rows change.
    Lossy(expr::Warning),
    /// A value does not fit its column.
    Store {
        /// What is wrong with it.
        problem: Box<Problem>,
        /// Column name.
        column: Box<str>,
        /// 1-based row of the statement.
        row: u64,
    },
    /// 1048: NULL for a NOT NULL column.
    ColumnNull {
        /// Column name.
        column: Box<str>,
    },
    /// 1263: LOAD DATA or an UPDATE in a lax mode made NULL a default.
    NullToNotNull {
        /// Column name.
        column: Box<str>,
        /// 1-based row.
        row: u64,
    },
    /// 1138: NULL in a column that ALTER TABLE makes NOT NULL.
    NullRefused,
    /// 1364: a column without a default got no value.
    NoDefault {
        /// Column name.
        column: Box<str>,
    },
    /// 1261: a line has too few fields.
    TooFewFields {
        /// 1-based line.
        row: u64,
    },
    /// 1262: a line has too many fields.
    TooManyFields {
        /// 1-based line.
        row: u64,
    },
    /// 1869: ON DUPLICATE KEY UPDATE assigns to the AUTO_INCREMENT column a number that is reserved for
    /// another row of the statement.
    NumberReserved,
    /// 1093 and similar errors: a subquery of more than one column or row, found at run time.
    SubqueryRows,
    /// 1038, 1041, 4081, 4082: memory that the statement needs exceeds a limit.
    Memory(LimitExceeded),
    /// The client went away while rows were sent.
    Send(std::io::Error),
    /// 29, 13, 2: the file of LOAD DATA cannot be read.
    LoadFile(std::io::Error),
    /// 1317.
    Killed,
    /// 1235.
    NotSupported(&'static str),
}

impl ExecError {
    /// How far the error reaches; the statement's own changes have been undone for [`Effect::Statement`].
    pub fn effect(&self) -> Effect {
        match self {
            ExecError::Engine(error) => error.effect(),
            ExecError::Send(_)
            | ExecError::Memory(LimitExceeded::Connection { .. } | LimitExceeded::AllConnections { .. }) => {
                Effect::Connection
            }
            _ => Effect::Statement,
        }
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecError::Engine(error) => error.fmt(f),
            ExecError::Eval(error) => error.fmt(f),
            ExecError::Lossy(warning) => write!(f, "value lost something: {warning:?}"),
            ExecError::Store { problem, column, row } => {
                write!(f, "column '{column}' at row {row}: {problem:?}")
            }
            ExecError::ColumnNull { column } => write!(f, "column '{column}' cannot be null"),
            ExecError::NullToNotNull { column, row } => {
                write!(f, "null for column '{column}' at row {row} became its default")
            }
            ExecError::NullRefused => f.write_str("null in a column that is to be not null"),
            ExecError::NoDefault { column } => write!(f, "field '{column}' has no default value"),
            ExecError::TooFewFields { row } => write!(f, "row {row} has too few fields"),
            ExecError::TooManyFields { row } => write!(f, "row {row} has too many fields"),
            ExecError::NumberReserved => f.write_str("auto increment value is reserved for another row"),
            ExecError::SubqueryRows => f.write_str("subquery returns more than 1 row"),
            ExecError::Memory(exceeded) => exceeded.fmt(f),
            ExecError::Send(error) => write!(f, "answer cannot be sent: {error}"),
            ExecError::LoadFile(error) => write!(f, "file cannot be read: {error}"),
            ExecError::Killed => f.write_str("the statement was interrupted"),
            ExecError::NotSupported(what) => write!(f, "{what} is not supported"),
        }
    }
}

impl std::error::Error for ExecError {}

impl From<engine::Error> for ExecError {
    #[cold]
    fn from(error: engine::Error) -> Self {
        ExecError::Engine(error)
    }
}

impl From<EvalError> for ExecError {
    #[cold]
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Killed => ExecError::Killed,
            EvalError::SubqueryRows => ExecError::SubqueryRows,
            EvalError::Memory(exceeded) => ExecError::Memory(exceeded),
            error => ExecError::Eval(error),
        }
    }
}

impl From<LimitExceeded> for ExecError {
    /// An interrupted statement's long rows are refused, too.
    #[cold]
    fn from(exceeded: LimitExceeded) -> Self {
        if interrupt::is_requested() { ExecError::Killed } else { ExecError::Memory(exceeded) }
    }
}

impl From<trx::Error> for ExecError {
    #[cold]
    fn from(error: trx::Error) -> Self {
        ExecError::Engine(error.into())
    }
}
