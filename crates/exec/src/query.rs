//! Compiled queries.

use std::sync::Arc;

use engine::Engine;
use expr::{ColumnRef, Expr};
use sql::plan::{OutputColumn, QueryPlan, Relation, SubPlan};
use types::TableDef;

use crate::error::Result;
use crate::op::{ChangedRows, Op, OpCompiler, Surroundings, Tables, needs_no_latch};
use crate::operators::source_of;
use crate::project::{Output, OutputValue, PlainOutputs};
use crate::source::{Flow, Sink, Source};
use crate::statement::QueryRun;

/// A compiled query.
#[derive(Debug)]
pub(crate) struct QueryProgram {
    pub(crate) root: Op,
    pub(crate) outputs: Vec<Output>,
    /// How rows go to the client that are columns of one relation.
    pub(crate) plain: Option<PlainOutputs>,
    /// The output columns, for rows that do not go to the client.
    output: Arc<[OutputColumn]>,
    pub(crate) subqueries: Vec<SubProgram>,
    names: ColumnNames,
}

/// What the columns of the expressions are called in errors.
#[derive(Debug)]
enum ColumnNames {
    /// Those of a query's relations.
    Query(Arc<[Relation]>),
    /// Those of the table that new rows go to, then those of a new row.
    Target(Arc<TableDef>),
}

/// A compiled subquery.
#[derive(Debug)]
pub(crate) struct SubProgram {
    pub(crate) query: QueryProgram,
    pub(crate) outer_base: u16,
    pub(crate) outer: Vec<expr::ColumnRef>,
    /// Its rows are the same in all runs of the enclosing query in a statement.
    pub(crate) kept: bool,
    /// Its rows are the same for the same outer columns in a run of the enclosing query.
    pub(crate) repeatable: bool,
}

impl QueryProgram {
    /// Compiles `plan`; its tables are added to `tables`.
    pub(crate) fn compile(engine: &Engine, plan: &QueryPlan, tables: &mut Tables) -> Result<Self> {
        Self::compile_inner(engine, plan, tables, Surroundings::default())
    }

    /// Compiles the query that finds the rows to change; `pages_read`: making their new values reads other
    /// pages.
    pub(crate) fn compile_change(
        engine: &Engine,
        plan: &QueryPlan,
        tables: &mut Tables,
        change: &ChangedRows,
        pages_read: bool,
    ) -> Result<Self> {
        Self::compile_with(
            engine,
            plan,
            tables,
            Surroundings { pages_read, ..Surroundings::default() },
            change,
        )
    }

    /// Compiles a query whose rows are used as `around` says.
    pub(crate) fn compile_inner(
        engine: &Engine,
        plan: &QueryPlan,
        tables: &mut Tables,
        around: Surroundings,
    ) -> Result<Self> {
        Self::compile_with(engine, plan, tables, around, &ChangedRows::default())
    }

    fn compile_with(
        engine: &Engine,
        plan: &QueryPlan,
        tables: &mut Tables,
        around: Surroundings,
        change: &ChangedRows,
    ) -> Result<Self> {
        let touches = plan.output.iter().any(|column| needs_no_latch(&column.expr));
        let around = Surroundings { pages_read: around.pages_read || touches, ..around };
        let root = OpCompiler { engine, query: plan, tables, change }.node(&plan.root, around)?;
        let subqueries = Self::compile_inner_subqueries(engine, &plan.subqueries, tables, around.changing)?;
        let outputs: Vec<_> = plan.output.iter().map(|column| Output::new(&column.expr)).collect();
        let plain = PlainOutputs::new(&outputs, &root);
        let (output, names) = (Arc::clone(&plan.output), ColumnNames::Query(Arc::clone(&plan.relations)));
        Ok(QueryProgram { root, outputs, plain, output, subqueries, names })
    }

    /// Compiles the subqueries of expressions.
    pub(crate) fn compile_subqueries(
        engine: &Engine,
        subqueries: &[SubPlan],
        tables: &mut Tables,
    ) -> Result<Vec<SubProgram>> {
        Self::compile_inner_subqueries(engine, subqueries, tables, (0, 0))
    }

    /// As [`QueryProgram::compile_subqueries`], of a query whose parameters `changing` change from run to
    /// run.
    fn compile_inner_subqueries(
        engine: &Engine,
        subqueries: &[SubPlan],
        tables: &mut Tables,
        changing: (u16, u16),
    ) -> Result<Vec<SubProgram>> {
        let (from, to) = changing;
        let compile = |sub: &SubPlan| {
            let inside = if sub.outer.is_empty() {
                changing
            } else {
                let first = if from < to { from } else { sub.outer_base };
                (first, sub.outer_base + sub.outer.len() as u16)
            };
            let around = Surroundings { changing: inside, ..Surroundings::default() };
            Ok(SubProgram {
                kept: from < to && sub.outer.is_empty() && !sub.query.reads_params(&(from..to)),
                query: Self::compile_inner(engine, &sub.query, tables, around)?,
                outer_base: sub.outer_base,
                outer: sub.outer.clone(),
                repeatable: sub.repeatable,
            })
        };
        subqueries.iter().map(compile).collect()
    }

    /// The expressions of a statement that is no query: no rows, only subqueries. `target`: where new rows
    /// go.
    pub(crate) fn expressions(subqueries: Vec<SubProgram>, target: &Arc<TableDef>) -> Self {
        QueryProgram {
            root: Op::Dual,
            outputs: Vec::new(),
            plain: None,
            output: Arc::default(),
            subqueries,
            names: ColumnNames::Target(Arc::clone(target)),
        }
    }

    /// A column as errors quote it, its table by the name that it has in the query.
    #[cold]
    pub(crate) fn column_name(&self, column: ColumnRef) -> Option<String> {
        let at = usize::from(column.col);
        let relations = match &self.names {
            ColumnNames::Query(relations) => relations,
            ColumnNames::Target(def) => {
                let name = format!("`{}`.`{}`.`{}`", def.schema, def.name, def.columns.get(at)?.name);
                return Some(if column.rel == 0 { name } else { format!("values({name})") });
            }
        };
        Some(match relations.get(usize::from(column.rel))? {
            Relation::Table { def, alias, .. } => {
                format!("`{}`.`{alias}`.`{}`", def.schema, def.columns.get(at)?.name)
            }
            Relation::Rows { columns } => {
                let name = &columns.get(at).filter(|column| !column.name.is_empty())?.name;
                format!("`{name}`")
            }
        })
    }

    /// The output columns' values.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> + Clone {
        self.output.iter().map(|column| &column.expr)
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
