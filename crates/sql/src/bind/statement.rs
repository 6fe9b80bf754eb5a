//! The entry: one statement to its plan.

use std::sync::Arc;

use super::binder::{Binder, Level, Role};
use super::block::{Block, Query};
use super::{BindContext, BindError, Deprecated, ParamUse, TextParam, temp_table_columns, text_errors};
use crate::ast::{self, Statement};
use crate::dive::{Dives, Recheck};
use crate::plan::{OutputColumn, Plan};
use crate::planner::Rule;

/// A plan, and for which statements it is good.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Arc<Plan>,
    /// Any text with the same cache key may use the plan. False if the value of a literal that has an
    /// ordinal, or the type of a variable, went into it.
    pub shareable: bool,
    /// Indexes were left out because of the limit on memory for their keys.
    pub range_memory_exceeded: bool,
    /// What the choice of paths depends on, beside the key: see [`crate::dive`].
    pub rechecks: Vec<Recheck>,
    /// Which literals have to be what.
    pub text_params: Vec<TextParam>,
    /// Constructs to warn of whenever the statement runs.
    pub deprecated: Vec<Deprecated>,
    /// The uses of the statement's `?`, in order.
    pub param_uses: Vec<ParamUse>,
}

/// Why a statement was not planned.
#[derive(Debug)]
pub struct PlanFailure {
    /// The error.
    pub error: BindError,
    /// Constructs to warn of that were met before it.
    pub deprecated: Vec<Deprecated>,
}

/// Binds and plans a query, an INSERT, UPDATE, DELETE, LOAD DATA or DO. `rules` are those of the planner:
/// [`crate::RULES`], or those of them that are to be applied.
///
/// # Errors
/// What MySQL refuses before it runs a statement. Every other statement is [`BindError::NotSupported`].
pub fn bind_and_plan(
    statement: &Statement<'_>,
    ctx: &BindContext<'_>,
    rules: &[Rule],
) -> Result<Planned, PlanFailure> {
    let mut binder = Binder::new(ctx, rules);
    let planned = plan(statement, &mut binder);
    planned.map_err(|error| refused(error, binder, statement))
}

#[cold]
fn refused<'a>(error: BindError, binder: Binder<'a, '_>, statement: &Statement<'a>) -> PlanFailure {
    let of_text = match error {
        BindError::Catalog(_) | BindError::Interrupted | BindError::TooDeep => None,
        _ => text_errors::first(statement, binder.ctx),
    };
    match of_text {
        Some(error) => PlanFailure { error, deprecated: Vec::new() },
        None => PlanFailure { error, deprecated: binder.deprecated },
    }
}

fn plan<'a>(statement: &Statement<'a>, binder: &mut Binder<'a, '_>) -> Result<Planned, BindError> {
    let ctx = binder.ctx;
    binder.levels.push(Level::new(Role::Rows));
    let plan = match statement {
        Statement::Query(query) => {
            let is_for_variables = matches!(query.into, Some(ast::Into::Vars(_)));
            let mut bound = if is_for_variables { binder.rows_of(query)? } else { binder.query(query)? };
            if let Some(rows_max) = ctx.session.select_limit() {
                let count = binder.build.int(i64::try_from(rows_max).unwrap_or(i64::MAX));
                bound.limit_mut().count.get_or_insert(count);
            }
            binder.deferred.take()?;
            let mut plan = binder.planner().query(bound);
            temp_table_columns::send_as_kept(&mut plan.output);
            if !is_for_variables {
                temp_table_columns::send_branches(&mut plan.output);
            }
            Arc::new(Plan::Query(plan))
        }
        Statement::Insert(insert) => Arc::new(Plan::Insert(binder.insert(insert)?)),
        Statement::Update(update) => Arc::new(Plan::Update(binder.update(update)?)),
        Statement::Delete(delete) => Arc::new(Plan::Delete(binder.delete(delete)?)),
        Statement::LoadData(load) => Arc::new(Plan::Load(binder.load(load)?)),
        Statement::Do(values) => {
            let bound = binder.do_values(values)?;
            Arc::new(Plan::Query(binder.planner().query(bound)))
        }
        _ => return Err(BindError::NotSupported(statement.name())),
    };
    binder.note_read_last();
    binder.deferred.take()?;
    let rechecks = ctx.dives.map(Dives::take_rechecks).unwrap_or_default();
    let range_memory_exceeded = ctx.range_memory.was_exceeded();
    let param_uses = std::mem::take(&mut binder.param_uses);
    let mut text_params = std::mem::take(&mut binder.text_params);
    // Several rules may have asked for the same literal.
    text_params.sort_by_key(|literal| literal.param);
    text_params.dedup();
    let (shareable, deprecated) = (binder.shareable, std::mem::take(&mut binder.deprecated));
    Ok(Planned { plan, shareable, range_memory_exceeded, rechecks, text_params, deprecated, param_uses })
}

impl<'a> Binder<'a, '_> {
    /// DO is a SELECT whose row is not read.
    fn do_values(&mut self, values: &'a [ast::Expr<'a>]) -> Result<Query, BindError> {
        let values = self.values(values)?;
        let output = values
            .into_iter()
            .map(|expr| OutputColumn { name: "".into(), expr, origin: None, text: None })
            .collect();
        let subqueries = std::mem::take(&mut self.level().subqueries);
        Ok(Query::Select(Box::new(Block { output, subqueries, ..Block::default() })))
    }
}
