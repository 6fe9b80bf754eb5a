//! Binder: names to columns, operators to typed expressions, statements to blocks.
//!
//! ```text
//! syntax tree -> Binder (scopes, one Level per query) -> Block, UnionBlock -> planner -> Plan
//! ```
//! One file per part of the language: `from`, `select`, `order`, `query`, `expr`, `function`, `literal`,
//! `subquery`, `aggregate`, and the statements `insert`, `modify`, `load`; `row_expression` is about what
//! definitions keep. The binder decides what a statement means and refuses what means nothing, with MySQL's
//! errors; how it runs is the planner's affair.

mod aggregate;
mod assigned;
mod bad_literal;
mod bigint_operand;
mod binder;
pub(crate) mod block;
mod case;
mod catalog;
mod column_use;
mod compared_param;
pub(crate) mod conjuncts;
mod context;
mod counts;
mod default;
mod deferred_error;
mod delete_target;
mod dependency;
mod deprecated;
mod error;
mod expansion;
mod expr;
mod from;
mod function;
mod incorrect;
mod insert;
mod kept_type;
pub(crate) mod key_condition;
mod literal;
mod load;
mod modify;
mod names;
mod note_columns;
mod null_test;
mod open_param;
mod order;
mod outer_aggregate;
mod padded;
mod param_use;
mod query;
mod range_memory;
pub(crate) mod rewrite;
mod row_compare;
mod row_constants;
pub mod row_expression;
pub(crate) mod row_keys;
mod row_list;
mod row_locks;
pub(crate) mod same;
mod scope;
mod select;
mod statement;
mod subquery;
mod temp_table;
mod temp_table_columns;
#[cfg(test)]
pub(crate) mod tests;
mod text_errors;
mod text_param;
pub(crate) mod volatile;

pub use assigned::bits_for;
pub use bad_literal::{bad_literal, national_texts};
pub use catalog::{Catalog, CatalogError};
pub use column_use::{ColumnAccess, ColumnUse, ColumnUses, TableAccess, TableUse, UsedColumns};
pub use context::{BindContext, Literals, ReadsLock, SessionTypes};
pub use delete_target::{DeleteTarget, DeleteTargets, TargetMatch};
pub use deprecated::Deprecated;
pub use error::{BindError, Clause};
pub use param_use::{NumberRead, ParamRole, ParamUse};
pub use range_memory::RangeMemory;
pub use statement::{PlanFailure, Planned, bind_and_plan};
pub use text_param::TextParam;
