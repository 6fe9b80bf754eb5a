//! Compiled queries.

use std::sync::Arc;

use expr::{ColumnRef, Expr};
use sql::plan::{OutputColumn, Relation};
use types::TableDef;

use crate::op::Op;
use crate::outputs::{Output, OutputValue, PlainOutputs};

/// A compiled query.
#[derive(Debug)]
pub(crate) struct QueryProgram {
    pub(crate) root: Op,
    pub(crate) outputs: Vec<Output>,
    /// How rows go to the client that are columns of one relation.
    pub(crate) plain: Option<PlainOutputs>,
    /// The output columns, for rows that do not go to the client.
    pub(crate) output: Arc<[OutputColumn]>,
    pub(crate) subqueries: Vec<SubProgram>,
    pub(crate) names: ColumnNames,
}

/// What the columns of the expressions are called in errors.
#[derive(Debug)]
pub(crate) enum ColumnNames {
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
    pub(crate) outer: Vec<ColumnRef>,
    /// Its rows are the same in all runs of the enclosing query in a statement.
    pub(crate) kept: bool,
    /// Its rows are the same for the same outer columns in a run of the enclosing query.
    pub(crate) repeatable: bool,
}

impl QueryProgram {
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
