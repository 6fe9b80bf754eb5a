//! Compiled queries.

use std::sync::Arc;

use base::IndexId;
use engine::{Engine, Table};
use sql::plan::{QueryPlan, SubPlan};

use crate::error::Result;
use crate::op::{Op, OpCompiler, Surroundings, has_subquery};
use crate::operators::source_of;
use crate::project::{Output, OutputValue};
use crate::source::{Flow, Sink, Source};
use crate::statement::QueryRun;

/// A compiled query.
#[derive(Debug)]
pub(crate) struct QueryProgram {
    pub(crate) root: Op,
    pub(crate) outputs: Vec<Output>,
    pub(crate) subqueries: Vec<SubProgram>,
}

/// A compiled subquery.
#[derive(Debug)]
pub(crate) struct SubProgram {
    pub(crate) query: QueryProgram,
    pub(crate) outer_base: u16,
    pub(crate) outer: Vec<expr::ColumnRef>,
}

impl QueryProgram {
    /// Compiles `plan`; its tables are added to `tables`.
    pub(crate) fn compile(engine: &Engine, plan: &QueryPlan, tables: &mut Vec<Arc<Table>>) -> Result<Self> {
        Self::compile_inner(engine, plan, tables, Surroundings::default())
    }

    /// Compiles a query whose rows are used as `around` says.
    pub(crate) fn compile_inner(
        engine: &Engine,
        plan: &QueryPlan,
        tables: &mut Vec<Arc<Table>>,
        around: Surroundings,
    ) -> Result<Self> {
        let touches = plan.output.iter().any(|column| has_subquery(&column.expr));
        let around = Surroundings { pages_read: around.pages_read || touches, ..around };
        let root = OpCompiler { engine, query: plan, tables }.node(&plan.root, around)?;
        let compile_sub = |sub: &SubPlan| {
            Ok(SubProgram {
                query: Self::compile_inner(engine, &sub.query, tables, Surroundings::default())?,
                outer_base: sub.outer_base,
                outer: sub.outer.clone(),
            })
        };
        let subqueries = plan.subqueries.iter().map(compile_sub).collect::<Result<_>>()?;
        let outputs = plan.output.iter().map(|column| Output::new(&column.expr)).collect();
        Ok(QueryProgram { root, outputs, subqueries })
    }

    /// An index that the query reads, if it reads any.
    pub(crate) fn first_index(&self) -> Option<IndexId> {
        self.root.first_index()
    }

    /// Whether every output column is a column as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.outputs.iter().all(|output| matches!(output.value, OutputValue::Column { .. }))
    }
}

impl<'r> QueryRun<'r> {
    /// Pushes the query's rows into `sink`.
    pub(crate) fn rows(&'r self, sink: &mut dyn Sink) -> Result<Flow> {
        let mut source: Box<dyn Source + 'r> = source_of(&self.program.root, self);
        source.run(None, sink)
    }
}
