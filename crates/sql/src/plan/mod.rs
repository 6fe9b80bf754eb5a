//! Plans: what the planner decides and the executor compiles.
//!
//! A query is a tree of [`Node`]s over *relations*: base tables, derived tables and aggregate outputs each
//! have an ordinal, and expressions name columns by (relation, column). A row in flight is the current row of
//! every relation.

mod alias;
mod change;
mod explain;
mod exprs;
mod item_name;
mod key_set;
mod node;
mod origin;
mod relation_columns;
mod safe_updates;
mod skip;
mod uses;

pub use alias::Alias;
pub use change::{
    DeletePlan, InsertCell, InsertMode, InsertPlan, InsertSource, LoadFormat, LoadPlan, LoadTarget,
    UpdatePlan,
};
pub use explain::explain;
pub use item_name::{ItemName, shown_name};
pub(crate) use key_set::int_param;
pub use key_set::{KeyBox, KeySet, ParamKeys, ParamOrigin, PartTest};
pub use node::{
    AggSpec, Column, Estimate, ItemText, JoinKind, Node, OutputColumn, Path, QueryPlan, Relation, RowLock,
    RowLocks, SharedCost, SortKey, SubPlan,
};
pub use origin::{ColumnTraits, KeptKind, Origin};
pub use relation_columns::RelationColumns;
pub use skip::{Skip, Take};
pub use uses::TableUsed;

/// A planned statement.
#[derive(Clone, Debug)]
pub enum Plan {
    /// SELECT and other queries.
    Query(QueryPlan),
    /// INSERT and REPLACE.
    Insert(InsertPlan),
    /// UPDATE.
    Update(UpdatePlan),
    /// DELETE.
    Delete(DeletePlan),
    /// LOAD DATA.
    Load(LoadPlan),
}
