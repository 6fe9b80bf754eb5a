//! Queries whose rows the server takes itself: SELECT .. INTO variables, and right sides of SET that have
//! subqueries.

use sql::ast::{Query, Statement};
use sql::bind::Literals;
use types::{OwnedValue, SqlType, Value};
use wire::OkPacket;

use super::compile::{Request, compile};
use super::planned::{self, Failure};
use crate::answer::Answer;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::session::Session;
use crate::status::Com;
use crate::user_variable::{as_variable, type_of_value};

/// SELECT .. INTO variables, which are `names`. Without a row they stay as they are.
///
/// # Errors
/// 1222 for another number of columns; 1172 for a second row, when the first one has been assigned already;
/// those of the query.
pub(crate) fn into_variables(
    session: &mut Session,
    query: &Query<'_>,
    names: &[&str],
    inputs: Inputs<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    session.counters.count(Com::Select);
    let (mut first, mut rows) = (Vec::new(), 0);
    let mut take = |row: &[Value<'_>]| {
        rows += 1;
        if rows == 1 {
            first.extend(row.iter().map(Value::to_owned_value));
        }
        rows == 1
    };
    run(session, &Statement::Query(query), Com::Select, inputs, Some(names.len()), &mut take)?;
    for (name, value) in names.iter().zip(first) {
        session.set_user_variable(name, as_variable(value))?;
    }
    match rows {
        0 => session.warn(Severity::Warning, error_map::SP_FETCH_NO_DATA.bare()),
        1 => {}
        _ => return Err(error_map::TOO_MANY_ROWS.bare()),
    }
    session.row_count = rows;
    session.found_rows = rows as u64;
    answer.ok(session, &OkPacket { affected_rows: rows as u64, ..OkPacket::default() });
    Ok(())
}

/// The value of the one expression of `statement`, a DO.
///
/// # Errors
/// Those of planning and running it.
pub(super) fn value(
    session: &mut Session,
    statement: &Statement<'_>,
    inputs: Inputs<'_>,
) -> Result<OwnedValue, SqlError> {
    let mut value = OwnedValue::Null;
    let mut take = |row: &[Value<'_>]| {
        value = row.first().map_or(OwnedValue::Null, Value::to_owned_value);
        false
    };
    run(session, statement, Com::Do, inputs, None, &mut take)?;
    Ok(value)
}

/// Plans and runs a query of `columns` columns, if that matters, whose rows `take` gets until it says that it
/// has enough.
fn run(
    session: &mut Session,
    statement: &Statement<'_>,
    com: Com,
    inputs: Inputs<'_>,
    columns: Option<usize>,
    take: &mut dyn FnMut(&[Value<'_>]) -> bool,
) -> Result<(), SqlError> {
    let param_types: Vec<Option<SqlType>> = inputs.params.iter().map(type_of_value).map(Some).collect();
    let params: Vec<Value<'_>> = inputs.params.iter().map(OwnedValue::as_value).collect();
    let request = Request {
        sql: inputs.sql,
        param_types: &param_types,
        late_types: &[],
        param_count: params.len(),
        literals: Literals::Constants,
        params: Some(&params),
    };
    loop {
        let (compiled, _) = compile(session, statement, com, &request)?;
        if columns.is_some_and(|columns| compiled.columns() != columns) {
            return Err(error_map::WRONG_NUMBER_OF_COLUMNS_IN_SELECT.bare());
        }
        match planned::run_rows(session, &compiled, &params, take) {
            Ok(()) => return Ok(()),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Stale) => {}
        }
    }
}
