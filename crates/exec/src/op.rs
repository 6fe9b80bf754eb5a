//! Compiled operators: a plan's nodes with tables, keys and record readers resolved. Shared by all who run the program.

use std::sync::Arc;

use base::IndexId;
use engine::{Engine, Error, Table};
use expr::{Expr, ExprKind};
use page::INLINE_TARGET_BYTES;
use sql::plan::{ColumnSet, JoinKind, Node, Path, QueryPlan, Relation};
use types::{TableDef, storage};

use crate::error::{ExecError, Result};
use crate::key::KeyPart;
use crate::reader::TableReader;

/// A compiled node.
#[derive(Debug)]
pub(crate) enum Op {
    Dual,
    Empty,
    Access(Box<AccessOp>),
    Join { kind: JoinKind, outer: Box<Op>, inner: Box<Op>, on: Option<Expr>, inner_rels: Box<[u16]> },
    Filter { input: Box<Op>, cond: Expr },
    Limit { input: Box<Op>, offset: Option<Expr>, count: Option<Expr>, count_all: bool },
}

/// Rows of a base table.
#[derive(Debug)]
pub(crate) struct AccessOp {
    pub(crate) rel: u16,
    pub(crate) table: Arc<Table>,
    pub(crate) index: usize,
    pub(crate) path: PathOp,
    /// Parts that the path's keys and bounds are made of.
    pub(crate) key: Box<[KeyPart]>,
    /// Keys of the path are whole clustered keys.
    pub(crate) whole_clustered_key: bool,
    pub(crate) filter: Option<Expr>,
    /// Of the index's records.
    pub(crate) reader: TableReader,
    /// Of the rows behind a secondary index that does not cover the query.
    pub(crate) row_reader: Option<TableReader>,
    /// Other pages are read while a row is looked at.
    pub(crate) detached: bool,
    /// Columns the query reads.
    pub(crate) used: ColumnSet,
}

/// How rows are found; see [`Path`].
#[derive(Debug)]
pub(crate) enum PathOp {
    Scan {
        reverse: bool,
    },
    Point {
        key: Vec<Expr>,
    },
    Points {
        keys: Vec<Vec<Expr>>,
    },
    Range {
        eq: Vec<Expr>,
        null_safe: Vec<bool>,
        lower: Option<(Expr, bool)>,
        upper: Option<(Expr, bool)>,
        reverse: bool,
    },
}

impl Op {
    /// An index that the operator or one below it reads.
    pub(crate) fn first_index(&self) -> Option<IndexId> {
        match self {
            Op::Dual | Op::Empty => None,
            Op::Access(access) => Some(access.table.indexes[access.index].tree.index),
            Op::Join { outer, inner, .. } => outer.first_index().or_else(|| inner.first_index()),
            Op::Filter { input, .. } | Op::Limit { input, .. } => input.first_index(),
        }
    }
}

/// What a node's surroundings do with its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings {
    /// Somebody reads pages while a row is looked at: no leaf may stay latched.
    pub(crate) pages_read: bool,
    /// The node is run more than once.
    pub(crate) repeated: bool,
}

/// Compiles the nodes of one query.
pub(crate) struct OpCompiler<'p> {
    pub(crate) engine: &'p Engine,
    pub(crate) query: &'p QueryPlan,
    pub(crate) tables: &'p mut Vec<Arc<Table>>,
}

impl OpCompiler<'_> {
    pub(crate) fn node(&mut self, node: &Node, around: Surroundings) -> Result<Op> {
        Ok(match node {
            Node::Dual => Op::Dual,
            Node::Empty => Op::Empty,
            Node::Access { rel, path, filter, covering } => {
                Op::Access(Box::new(self.access(*rel, path, filter.as_ref(), *covering, around)?))
            }
            Node::Join { kind, outer, inner, on, inner_rels } => {
                let outer = self.node(outer, Surroundings { pages_read: true, ..around })?;
                let pages_read = around.pages_read || on.as_ref().is_some_and(has_subquery);
                let inner = self.node(inner, Surroundings { pages_read, repeated: true })?;
                let (outer, inner) = (Box::new(outer), Box::new(inner));
                Op::Join { kind: *kind, outer, inner, on: on.clone(), inner_rels: inner_rels.clone().into() }
            }
            Node::HashJoin { .. } => return Err(ExecError::NotSupported("hash join")),
            Node::Filter { input, cond } => {
                let pages_read = around.pages_read || has_subquery(cond);
                let input = self.node(input, Surroundings { pages_read, ..around })?;
                Op::Filter { input: Box::new(input), cond: cond.clone() }
            }
            Node::Aggregate { .. } => return Err(ExecError::NotSupported("aggregation")),
            Node::Sort { .. } => return Err(ExecError::NotSupported("ORDER BY without an index")),
            Node::Distinct { .. } => return Err(ExecError::NotSupported("DISTINCT")),
            Node::Limit { input, offset, count } => Op::Limit {
                input: Box::new(self.node(input, around)?),
                offset: offset.clone(),
                count: count.clone(),
                count_all: self.query.count_found_rows,
            },
            Node::Derived { .. } => return Err(ExecError::NotSupported("derived tables")),
            Node::Union { .. } => return Err(ExecError::NotSupported("UNION")),
        })
    }

    /// The table of relation `rel`, as it is now.
    pub(crate) fn table(&mut self, rel: u16) -> Result<(Arc<Table>, ColumnSet)> {
        let Some(Relation::Table { def, used, .. }) = self.query.relations.get(usize::from(rel)) else {
            return Err(ExecError::NotSupported("access to something else than a table"));
        };
        Ok((open_table(self.engine, def, self.tables)?, used.clone()))
    }

    fn access(
        &mut self,
        rel: u16,
        path: &Path,
        filter: Option<&Expr>,
        covering: bool,
        around: Surroundings,
    ) -> Result<AccessOp> {
        let (table, used) = self.table(rel)?;
        let (index, key_count) = match path {
            Path::Scan { index, .. } => (*index, 0),
            Path::Point { index, key } => (*index, key.len()),
            Path::Points { index, keys } => (*index, keys.first().map_or(0, Vec::len)),
            Path::Range { index, eq, .. } => (*index, eq.len() + 1),
        };
        let entry = &table.indexes[index];
        let reader = TableReader::new(&table.def, &entry.format);
        let needs_row = index != 0 && !covering;
        let row_reader = needs_row.then(|| TableReader::new(&table.def, &table.clustered().format));
        let detached = around.pages_read
            || needs_row
            || filter.is_some_and(has_subquery)
            || may_read_off_page(&table, &used);
        Ok(AccessOp {
            rel,
            index,
            path: path_op(path),
            key: KeyPart::of_index(&table.def, entry, key_count),
            whole_clustered_key: index == 0 && key_count == entry.def.parts.len() && key_count > 0,
            filter: filter.cloned(),
            reader,
            row_reader,
            detached,
            used,
            table,
        })
    }
}

/// The engine's table for a plan's definition, noted in `tables`.
pub(crate) fn open_table(
    engine: &Engine,
    def: &Arc<TableDef>,
    tables: &mut Vec<Arc<Table>>,
) -> Result<Arc<Table>> {
    let table = engine.table(&def.schema, &def.name)?;
    if !Arc::ptr_eq(&table.def, def) && table.def != *def {
        return Err(Error::TableChanged.into());
    }
    if !tables.iter().any(|known| Arc::ptr_eq(known, &table)) {
        tables.push(Arc::clone(&table));
    }
    Ok(table)
}

fn path_op(path: &Path) -> PathOp {
    match path {
        Path::Scan { reverse, .. } => PathOp::Scan { reverse: *reverse },
        Path::Point { key, .. } => PathOp::Point { key: key.clone() },
        Path::Points { keys, .. } => PathOp::Points { keys: keys.clone() },
        Path::Range { eq, null_safe, lower, upper, reverse, .. } => PathOp::Range {
            eq: eq.clone(),
            null_safe: null_safe.clone(),
            lower: lower.clone(),
            upper: upper.clone(),
            reverse: *reverse,
        },
    }
}

/// Whether evaluating `expr` may run a subquery, which reads pages.
pub(crate) fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Subquery { .. }));
    found
}

/// Whether a column of `used` may be off page: its row may be long enough for that.
pub(crate) fn may_read_off_page(table: &Table, used: &ColumnSet) -> bool {
    let format = &table.clustered().format;
    let longest = |&col: &u16| storage::max_width(&table.def.columns[usize::from(col)].ty);
    let total: u64 = format.var_columns().iter().map(longest).sum();
    let long_row = format.var_from() as u64 + total > INLINE_TARGET_BYTES as u64;
    long_row && format.var_columns().iter().any(|&col| used.contains(col))
}
