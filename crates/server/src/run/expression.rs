//! Expressions outside of queries: the right sides of SET.

use base::memory::{Charge, Purpose};
use bumpalo::Bump;
use expr::{EvalCtx, EvalError, RowSource, SubqueryRunner};
use sql::ast::{Expr, Statement};
use sql::bind::Literals;
use sql::plan::{Node, Plan};
use types::{OwnedValue, SqlType, Value};

use super::compile::{Request, deprecation, plan, severity};
use super::take_rows;
use crate::error_map::SqlError;
use crate::exec_error;
use crate::inputs::Inputs;
use crate::memory_limits;
use crate::session::Session;
use crate::statement_context::StatementContext;
use crate::user_variable::type_of_value;

/// The value of `expr`; its assignments and warnings take effect.
///
/// # Errors
/// What planning and evaluating fail with.
pub(crate) fn evaluate(
    session: &mut Session,
    expr: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<OwnedValue, SqlError> {
    let list = [*expr];
    let param_types: Vec<Option<SqlType>> = inputs.params.iter().map(type_of_value).map(Some).collect();
    let request = Request {
        sql: inputs.sql,
        param_types: &param_types,
        late_types: &[],
        param_count: param_types.len(),
        literals: Literals::Constants,
        params: None,
    };
    let statement = Statement::Do(&list);
    let planned = plan(session, &statement, &request)?;
    let expr = match &*planned.plan {
        Plan::Query(query) if matches!(query.root, Node::Dual) && query.subqueries.is_empty() => {
            query.output.first().map(|column| &column.expr)
        }
        _ => None,
    };
    let Some(expr) = expr else { return take_rows::value(session, &statement, inputs) };
    for one in &planned.deprecated {
        session.warn(severity(one), deprecation(one));
    }
    let params: Vec<Value<'_>> = inputs.params.iter().map(OwnedValue::as_value).collect();
    let context = StatementContext::new(session);
    let arena = Bump::new();
    let value = {
        let charge = Charged(Charge::new(&session.statement_memory, Purpose::Other));
        let ctx = EvalCtx { subqueries: &charge, ..EvalCtx::new(&arena, &params, &context) };
        expr.eval(&(), &ctx).map(|value| value.to_owned_value())
    };
    let effects = context.into_effects();
    effects.apply(session);
    value.map_err(|error| match error {
        EvalError::Memory(exceeded) => memory_limits::refuse(&session.process, exceeded),
        error => exec_error::eval_error(&error),
    })
}

/// Charges what an expression makes; it has no subqueries.
struct Charged(Charge);

impl SubqueryRunner for Charged {
    fn reserve(&self, arena: &Bump, bytes: usize) -> Result<(), EvalError> {
        // A function makes its value in a buffer that doubles, before the arena has it.
        let wanted = arena.allocated_bytes().saturating_add(bytes.saturating_mul(3));
        Ok(self.0.add(wanted.saturating_sub(self.0.bytes()))?)
    }

    fn run<'v>(
        &'v self,
        _expr: &'v expr::Expr,
        _outer: &'v dyn RowSource,
        _ctx: &'v EvalCtx<'v>,
    ) -> Result<Value<'v>, EvalError> {
        Err(EvalError::NotSupported("a subquery in a constant"))
    }
}
