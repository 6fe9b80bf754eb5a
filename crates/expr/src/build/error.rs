//! Why an expression cannot be bound. The server gives these their MySQL numbers.

use std::fmt;

/// An expression that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// 1267 `Illegal mix of collations (a,IMPLICIT) and (b,IMPLICIT) for operation '='`.
    IllegalMix {
        /// `utf8mb4_bin,IMPLICIT`.
        left: String,
        /// As `left`.
        right: String,
        /// Operator or function name.
        operation: String,
    },
    /// 1270 `Illegal mix of collations (a,IMPLICIT), (b,IMPLICIT), (c,NUMERIC) for operation 'case'`.
    IllegalMixOfThree {
        /// `(a,IMPLICIT), (b,IMPLICIT), (c,NUMERIC)`.
        sides: String,
        /// Operator or function name.
        operation: String,
    },
    /// 1271 `Illegal mix of collations for operation 'concat'`: more than three operands.
    IllegalMixOfMany {
        /// Operator or function name.
        operation: String,
    },
    /// 1582 `Incorrect parameter count in the call to native function 'LENGTH'`.
    ParameterCount {
        /// Name as written.
        name: String,
    },
    /// 1305 `FUNCTION db.name does not exist`.
    UnknownFunction {
        /// Name as written.
        name: String,
    },
    /// 1630: the name is a built-in function's only without blanks before its parenthesis.
    NameCollision {
        /// Name as written.
        name: String,
    },
    /// 1253 `COLLATION 'x' is not valid for CHARACTER SET 'y'`.
    CollationCharset {
        /// Collation.
        collation: &'static str,
        /// Character set of the operand.
        charset: &'static str,
    },
    /// 3514: BIT_AND, BIT_OR or BIT_XOR of binary strings beyond 511 bytes.
    BitStringTooLong,
    /// 1273 `Unknown collation: 'x'`.
    UnknownCollation {
        /// Name as written.
        name: String,
    },
    /// 1115 `Unknown character set: 'x'`.
    UnknownCharset {
        /// Name as written.
        name: String,
    },
    /// 1525 `Incorrect DATE value: 'x'`.
    IncorrectTemporal {
        /// DATE, TIME, DATETIME.
        type_name: &'static str,
        /// Text of the literal.
        value: String,
    },
    /// 1426 `Too-big precision 99 specified for 'x'. Maximum is 65.`
    TooBigPrecision {
        /// Precision given.
        given: u32,
        /// What has it.
        name: String,
        /// Largest.
        max: u32,
    },
    /// 1425 `Too big scale 31 specified for column 'x'. Maximum is 30.`
    TooBigScale {
        /// Scale given.
        given: u32,
        /// What has it.
        name: String,
        /// Largest.
        max: u32,
    },
    /// 1427 `For float(M,D), double(M,D) or decimal(M,D), M must be >= D`.
    ScaleAbovePrecision,
    /// 1210 `Incorrect arguments to ESCAPE`.
    WrongArguments {
        /// What they are for.
        function: &'static str,
    },
    /// 1235 `This version of MySQL doesn't yet support 'x'`.
    NotSupported(&'static str),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::IllegalMix { left, right, operation } => {
                write!(f, "illegal mix of collations ({left}) and ({right}) for operation '{operation}'")
            }
            BindError::IllegalMixOfThree { sides, operation } => {
                write!(f, "illegal mix of collations {sides} for operation '{operation}'")
            }
            BindError::IllegalMixOfMany { operation } => {
                write!(f, "illegal mix of collations for operation '{operation}'")
            }
            BindError::ParameterCount { name } => write!(f, "incorrect parameter count for '{name}'"),
            BindError::NameCollision { name } => write!(f, "blanks between {name} and its parenthesis"),
            BindError::UnknownFunction { name } => write!(f, "function {name} does not exist"),
            BindError::CollationCharset { collation, charset } => {
                write!(f, "collation '{collation}' is not valid for character set '{charset}'")
            }
            BindError::UnknownCollation { name } => write!(f, "unknown collation '{name}'"),
            BindError::BitStringTooLong => f.write_str("the bits of binary strings beyond 511 bytes"),
            BindError::UnknownCharset { name } => write!(f, "unknown character set '{name}'"),
            BindError::IncorrectTemporal { type_name, value } => {
                write!(f, "incorrect {type_name} value '{value}'")
            }
            BindError::TooBigPrecision { given, name, max } => {
                write!(f, "precision {given} of '{name}' is above {max}")
            }
            BindError::TooBigScale { given, name, max } => {
                write!(f, "scale {given} of '{name}' is above {max}")
            }
            BindError::ScaleAbovePrecision => f.write_str("scale is above precision"),
            BindError::WrongArguments { function } => write!(f, "incorrect arguments to {function}"),
            BindError::NotSupported(what) => write!(f, "{what} is not supported"),
        }
    }
}

impl std::error::Error for BindError {}
