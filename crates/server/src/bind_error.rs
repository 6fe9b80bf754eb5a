//! MySQL's errors for statements that mean nothing, or nothing that is supported.

use sql::bind::BindError;
use types::TimeZone;

use crate::engine_error;
use crate::error_map::{self, ErrorKind, SqlError};

/// The client's error for `error`; a function without a schema is searched for in `database`.
#[cold]
pub(crate) fn sql_error(error: &BindError, database: Option<&str>) -> SqlError {
    match error {
        BindError::Expr(error) => expr_error(error, database),
        BindError::Catalog(error) => match error.downcast_ref::<engine::Error>() {
            Some(error) => engine_error::sql_error(error, &TimeZone::utc()),
            None => error_map::INTERNAL_ERROR.with(&[error]),
        },
        BindError::TooDeep => crate::stack::overrun(),
        BindError::Incorrect { moment: Some((type_name, value)), .. } => {
            let warning = Some(Box::new(kind(error).with_message(error.to_string())));
            SqlError { warning, ..error_map::WRONG_VALUE.with(&[type_name, value]) }
        }
        other => kind(other).with_message(other.to_string()),
    }
}

/// The number of an error whose text the binder knows.
fn kind(error: &BindError) -> &'static ErrorKind {
    match error {
        BindError::UnknownColumn { .. } => &error_map::BAD_FIELD,
        BindError::AmbiguousColumn { .. } => &error_map::NON_UNIQ,
        BindError::NoSuchTable { .. } => &error_map::NO_SUCH_TABLE,
        BindError::UnknownDatabase(_) => &error_map::BAD_DB,
        BindError::NoDatabase => &error_map::NO_DB,
        BindError::Incorrect { .. } => &error_map::TRUNCATED_WRONG_VALUE,
        BindError::Interrupted => &error_map::QUERY_INTERRUPTED,
        BindError::DuplicateAlias(_) => &error_map::NONUNIQ_TABLE,
        BindError::UndeclaredVariable(_) => &error_map::SP_UNDECLARED_VAR,
        BindError::UnknownTableStar(_) => &error_map::BAD_TABLE,
        BindError::UnknownTable { .. } => &error_map::UNKNOWN_TABLE,
        BindError::NoTablesUsed => &error_map::NO_TABLES_USED,
        BindError::InvalidGroupFunction => &error_map::INVALID_GROUP_FUNC_USE,
        BindError::NotGrouped { .. } => &error_map::WRONG_FIELD_WITH_GROUP,
        BindError::MixOfGroupAndFields { .. } => &error_map::MIX_OF_GROUP_FUNC_AND_FIELDS,
        BindError::WrongGroupField(_) => &error_map::WRONG_GROUP_FIELD,
        BindError::AggregateNotInDistinct { .. } => &error_map::AGGREGATE_IN_ORDER_NOT_SELECT,
        BindError::OrderNotInDistinct { .. } => &error_map::FIELD_IN_ORDER_NOT_SELECT,
        BindError::ColumnCount { .. } => &error_map::WRONG_VALUE_COUNT_ON_ROW,
        BindError::EmptyRow => &error_map::VALUES_WITHOUT_COLUMNS,
        BindError::ColumnTwice(_) => &error_map::FIELD_SPECIFIED_TWICE,
        BindError::DerivedAlias => &error_map::DERIVED_MUST_HAVE_ALIAS,
        BindError::UnionColumns => &error_map::WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
        BindError::OperandColumns(_) => &error_map::OPERAND_COLUMNS,
        BindError::InvalidParameterUse => &error_map::INVALID_PARAMETER_USE,
        BindError::ViewColumns => &error_map::VIEW_WRONG_LIST,
        BindError::DuplicateColumnName(_) => &error_map::DUP_FIELDNAME,
        BindError::WrongUsage { .. } => &error_map::WRONG_USAGE,
        BindError::NoSuchIndex { .. } => &error_map::KEY_DOES_NOT_EXIST,
        BindError::NoDefault(_) => &error_map::NO_DEFAULT_FOR_FIELD,
        BindError::DefaultOfExpression => &error_map::DEFAULT_OF_EXPRESSION,
        BindError::WrongArguments(_) => &error_map::WRONG_ARGUMENTS,
        BindError::UnknownCharset(_) => &error_map::UNKNOWN_CHARACTER_SET,
        BindError::UpdateTableUsed(_) => &error_map::UPDATE_TABLE_USED,
        BindError::KeyChangedTwice { .. } => &error_map::MULTI_UPDATE_KEY_CONFLICT,
        BindError::IllegalReference { .. } => &error_map::ILLEGAL_REFERENCE,
        BindError::NotUpdatable { .. } => &error_map::NON_UPDATABLE_TABLE,
        BindError::MisplacedInto => &error_map::MISPLACED_INTO,
        BindError::UnresolvedTableLock(_) => &error_map::UNRESOLVED_TABLE_LOCK,
        BindError::DuplicateTableLock(_) => &error_map::DUPLICATE_TABLE_LOCK,
        BindError::UnknownSystemVariable(_) => &error_map::UNKNOWN_SYSTEM_VARIABLE,
        BindError::TooManyParameters => &error_map::PS_MANY_PARAM,
        BindError::TooManyTables => &error_map::TOO_MANY_TABLES,
        BindError::OrderAggregateOfUnion { .. } => &error_map::AGGREGATE_ORDER_FOR_UNION,
        BindError::TableInUnionOrder(_) => &error_map::TABLENAME_NOT_ALLOWED_HERE,
        BindError::OrderAggregate { .. } => &error_map::AGGREGATE_ORDER_NON_AGG_QUERY,
        BindError::PartitionOfPlainTable => &error_map::PARTITION_CLAUSE_ON_NONPARTITIONED,
        BindError::TooManySelects => &error_map::TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT,
        BindError::CteExpansion => &error_map::CTE_EXPANSION_LIMIT,
        BindError::NotSupported(_) => &error_map::NOT_SUPPORTED_YET,
        _ => &error_map::INTERNAL_ERROR,
    }
}

fn expr_error(error: &expr::BindError, database: Option<&str>) -> SqlError {
    use expr::BindError as E;
    match error {
        E::IllegalMix { left, right, operation } => error_map::CANT_AGGREGATE_2COLLATIONS.with_message(
            format!("Illegal mix of collations ({left}) and ({right}) for operation '{operation}'"),
        ),
        E::IllegalMixOfThree { sides, operation } => error_map::CANT_AGGREGATE_3COLLATIONS
            .with_message(format!("Illegal mix of collations {sides} for operation '{operation}'")),
        E::IllegalMixOfMany { operation } => error_map::CANT_AGGREGATE_NCOLLATIONS.with(&[operation]),
        E::ParameterCount { name } => error_map::WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[name]),
        E::UnknownFunction { name } => match database {
            _ if name.contains('.') => error_map::SP_DOES_NOT_EXIST.with(&[&"FUNCTION", name]),
            Some(database) => {
                error_map::SP_DOES_NOT_EXIST.with(&[&"FUNCTION", &format!("{database}.{name}")])
            }
            None => error_map::NO_DB.bare(),
        },
        E::NameCollision { name } => match database {
            Some(database) => {
                error_map::FUNC_INEXISTENT_NAME_COLLISION.with(&[&format!("{database}.{name}")])
            }
            None => error_map::NO_DB.bare(),
        },
        E::CollationCharset { collation, charset } => {
            error_map::COLLATION_CHARSET_MISMATCH.with(&[collation, charset])
        }
        E::UnknownCollation { name } => error_map::UNKNOWN_COLLATION.with(&[name]),
        E::BitStringTooLong => error_map::INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE.bare(),
        E::UnknownCharset { name } => error_map::UNKNOWN_CHARACTER_SET.with(&[name]),
        E::IncorrectTemporal { type_name, value } => error_map::WRONG_VALUE.with(&[type_name, value]),
        E::TooBigPrecision { given, name, max } => error_map::TOO_BIG_PRECISION.with(&[given, name, max]),
        E::TooBigScale { given, name, max } => error_map::TOO_BIG_SCALE.with(&[given, name, max]),
        E::ScaleAbovePrecision => error_map::M_BIGGER_THAN_D.with(&[&""]),
        E::WrongArguments { function } => error_map::WRONG_ARGUMENTS.with(&[function]),
        E::NotSupported(what) => error_map::NOT_SUPPORTED_YET.with(&[what]),
        other => error_map::INTERNAL_ERROR.with(&[other]),
    }
}

#[cfg(test)]
mod tests {
    use sql::bind::Clause;

    use super::*;

    #[test]
    fn refusals_have_mysqls_numbers_and_texts() {
        let unknown = BindError::UnknownColumn { name: "t.a".to_owned(), clause: Clause::Where };
        let function = BindError::Expr(expr::BindError::UnknownFunction { name: "nope".to_owned() });
        for (error, code, text) in [
            (unknown, 1054, "Unknown column 't.a' in 'where clause'"),
            (BindError::DerivedAlias, 1248, "Every derived table must have its own alias"),
            (BindError::NotSupported("x"), 1235, "This version of MySQL doesn't yet support 'x'"),
            (function, 1305, "FUNCTION d.nope does not exist"),
        ] {
            let error = sql_error(&error, Some("d"));
            assert_eq!((error.code, error.message.as_str()), (code, text));
        }
    }
}
