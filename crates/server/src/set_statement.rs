//! SET, SET TRANSACTION.

use sql::ast::{Expr, ExprKind, IsolationLevel, SetItem, SetTransaction, SystemVar, VarScope};
use types::OwnedValue;
use types::collation::{Charset, Collation};

use crate::constant::{evaluate, level};
use crate::ddl::collation::{charset_warning, collation_warning};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::session::Session;
use crate::sysvars::{SetValue, VarLevel};
use crate::user_variable::as_variable;

/// SET of variables, in order. The items before a wrong one stay set, as in MySQL.
pub fn run(session: &mut Session, items: &[SetItem<'_>], inputs: Inputs<'_>) -> Result<(), SqlError> {
    for item in items {
        match item {
            SetItem::User(name, expr) => {
                let value = evaluate(session, expr, inputs)?;
                session.set_user_variable(name, as_variable(value))?;
            }
            SetItem::System(var, expr) => set_system(session, var, expr, inputs)?,
            SetItem::Names(charset, collation) => set_names(session, *charset, *collation)?,
            SetItem::Charset(charset) => set_charset(session, *charset)?,
        }
    }
    Ok(())
}

fn set_system(
    session: &mut Session,
    var: &SystemVar<'_>,
    expr: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<(), SqlError> {
    if let Some(prefix) = var.prefix {
        let name = format!("{prefix}.{}", var.name);
        return Err(error_map::UNKNOWN_SYSTEM_VARIABLE.with(&[&name]));
    }
    let level = level(var.scope)?;
    let value = set_value(session, expr, inputs)?;
    session.assign_variable(level, var.name, &value)
}

/// The right side of an assignment: bare words stand for themselves.
fn set_value(session: &mut Session, expr: &Expr<'_>, inputs: Inputs<'_>) -> Result<SetValue, SqlError> {
    Ok(match expr.kind {
        ExprKind::Default => SetValue::Default,
        ExprKind::Keyword(word) => SetValue::Text(word.to_owned()),
        ExprKind::Column(column) if column.table.is_none() => SetValue::Text(column.column.to_owned()),
        _ => match evaluate(session, expr, inputs)? {
            OwnedValue::Null => SetValue::Null,
            OwnedValue::Int(value) => SetValue::Int(value),
            OwnedValue::UInt(value) => SetValue::UInt(value),
            OwnedValue::Double(value) => SetValue::Double(value),
            OwnedValue::Bytes { data, .. } => SetValue::Text(String::from_utf8_lossy(&data).into_owned()),
            number => SetValue::Double(number.as_value().display_text().parse().unwrap_or(f64::NAN)),
        },
    })
}

/// SET NAMES: character sets of client and results, and the connection's collation.
fn set_names(session: &mut Session, charset: Option<&str>, wanted: Option<&str>) -> Result<(), SqlError> {
    let Some(name) = charset else {
        for name in ["character_set_client", "character_set_results", "collation_connection"] {
            session.assign_variable(VarLevel::Session, name, &SetValue::Default)?;
        }
        return Ok(());
    };
    let unknown = || error_map::UNKNOWN_CHARACTER_SET.with(&[&name]);
    let charset = Charset::find(name).ok_or_else(unknown)?;
    let collation = match wanted {
        None => charset.default_collation().collation().ok_or_else(unknown)?,
        Some(wanted) => {
            let found = Collation::find(wanted);
            let found = found.ok_or_else(|| error_map::UNKNOWN_COLLATION.with(&[&wanted]))?;
            if found.charset != charset {
                return Err(error_map::COLLATION_CHARSET_MISMATCH.with(&[&wanted, &charset.name()]));
            }
            found
        }
    };
    put_text(session, "character_set_client", charset.name())?;
    put_text(session, "character_set_results", charset.name())?;
    put_text(session, "collation_connection", collation.name)?;
    warn_of_old_names(session, name, wanted);
    Ok(())
}

/// Warns of the old names of character sets and collations.
fn warn_of_old_names(session: &mut Session, charset: &str, collation: Option<&str>) {
    let warnings = [charset_warning(charset), collation.and_then(collation_warning)];
    for warning in warnings.into_iter().flatten() {
        session.warn(Severity::Warning, warning);
    }
}

/// SET CHARACTER SET: as SET NAMES, but the connection takes the database's character set.
fn set_charset(session: &mut Session, charset: Option<&str>) -> Result<(), SqlError> {
    let value = charset.map_or(SetValue::Default, |name| SetValue::Text(name.to_owned()));
    session.assign_variable(VarLevel::Session, "character_set_client", &value)?;
    session.assign_variable(VarLevel::Session, "character_set_results", &value)?;
    let collation = session.variables.named("collation_database").as_text().to_owned();
    put_text(session, "collation_connection", &collation)?;
    if let Some(name) = charset {
        warn_of_old_names(session, name, None);
    }
    Ok(())
}

fn put_text(session: &mut Session, name: &str, value: &str) -> Result<(), SqlError> {
    session.assign_variable(VarLevel::Session, name, &SetValue::Text(value.to_owned()))
}

/// SET [GLOBAL | SESSION] TRANSACTION. Without a scope it is for the next transaction only, and no
/// transaction may be open.
pub fn set_transaction(session: &mut Session, set: SetTransaction) -> Result<(), SqlError> {
    let isolation = set.isolation.map(|level| match level {
        IsolationLevel::ReadUncommitted => "READ-UNCOMMITTED",
        IsolationLevel::ReadCommitted => "READ-COMMITTED",
        IsolationLevel::RepeatableRead => "REPEATABLE-READ",
        IsolationLevel::Serializable => "SERIALIZABLE",
    });
    let level = match set.scope {
        VarScope::Unspecified => return set_next(session, set),
        other => level(other)?,
    };
    if let Some(name) = isolation {
        session.assign_variable(level, "transaction_isolation", &SetValue::Text(name.to_owned()))?;
    }
    if let Some(read_only) = set.read_only {
        let value = SetValue::Int(i64::from(read_only));
        session.assign_variable(level, "transaction_read_only", &value)?;
    }
    Ok(())
}

fn set_next(session: &mut Session, set: SetTransaction) -> Result<(), SqlError> {
    if session.transaction.open {
        return Err(error_map::CANT_CHANGE_TX_CHARACTERISTICS.bare());
    }
    let next = &mut session.next_transaction;
    next.isolation = set.isolation.map(isolation).or(next.isolation);
    next.read_only = set.read_only.or(next.read_only);
    Ok(())
}

fn isolation(level: IsolationLevel) -> trx::Isolation {
    match level {
        IsolationLevel::ReadUncommitted => trx::Isolation::ReadUncommitted,
        IsolationLevel::ReadCommitted => trx::Isolation::ReadCommitted,
        IsolationLevel::RepeatableRead => trx::Isolation::RepeatableRead,
        IsolationLevel::Serializable => trx::Isolation::Serializable,
    }
}
