//! EXPLAIN.

use sql::ast::{Explain, ExplainFormat, ExplainTarget};
use sql::bind::Literals;
use types::{OwnedValue, Value};

use super::not_yet;
use crate::answer::{Cell, Column, Table};
use crate::diagnostics::Severity;
use crate::error_map::SqlError;
use crate::inputs::Inputs;
use crate::run::compile::{Request, plan, range_memory_exceeded};
use crate::session::Session;

/// The plan of a statement as a tree, which is the format of plain EXPLAIN too.
///
/// # Errors
/// What planning the statement fails with; 1235 for ANALYZE, other formats and other connections.
pub(super) fn table(
    session: &mut Session,
    explain: &Explain<'_>,
    inputs: Inputs<'_>,
) -> Result<Table, SqlError> {
    let ExplainTarget::Statement(statement) = explain.target else {
        return Err(not_yet("EXPLAIN FOR CONNECTION"));
    };
    if explain.analyze {
        return Err(not_yet("EXPLAIN ANALYZE"));
    }
    match explain.format {
        ExplainFormat::Default | ExplainFormat::Tree => {}
        ExplainFormat::Traditional => return Err(not_yet("EXPLAIN FORMAT=TRADITIONAL")),
        ExplainFormat::Json => return Err(not_yet("EXPLAIN FORMAT=JSON")),
    }
    let values: Vec<Value<'_>> = inputs.params.iter().map(OwnedValue::as_value).collect();
    let request = Request {
        sql: inputs.sql,
        param_types: &[],
        late_types: &[],
        param_count: inputs.params.len(),
        literals: Literals::Constants,
        params: Some(&values),
    };
    let planned = plan(session, statement, &request)?;
    if planned.range_memory_exceeded {
        let bytes = session.variables.hot.range_optimizer_max_mem_size;
        session.warn(Severity::Warning, range_memory_exceeded(bytes));
    }
    let text = sql::plan::explain(&planned.plan);
    let mut table = Table::new(vec![Column::text("EXPLAIN", text.chars().count() as u32)]);
    table.push(vec![Cell::Text(text)]);
    Ok(table)
}
