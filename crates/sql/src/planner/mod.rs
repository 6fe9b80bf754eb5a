//! Planner: bound blocks to plans, by an ordered list of rules ([`RULES`]), one a file.
//!
//! ```text
//! Block -> constants folded (fold) -> one row or a few by their whole keys (whole_key, key_list): done
//!       -> else subqueries of WHERE in both of their forms (semi_join, subquery_plans) -> left joins that act as inner ones
//! made inner (outer_join) -> inner joins flattened (flatten) -> a list of keys taken as it is (row_list) -> conditions
//! split, disjunctions to lists, constants settled (split_conditions, in_list, constant_conditions, keep), equalities spread
//! (equality) -> conditions moved into derived tables (derived) -> join order and access paths (join_plan with join_order,
//! hash_join and access, which asks key_paths, skip_scan, subquery_free, scans, index_merge, forced_index, dive and
//! index_intersect; key_boxes, sarg) -> each condition at its place, none twice, in its cheaper form, before the row is read
//! where entries decide it (join_node, known_equalities, index_condition) -> aggregation, sort, limit (grouped, index_order,
//! result, min_max, loose_scan) -> QueryPlan
//! ```
//! A [`draft::Draft`] goes from rule to rule. Some rules do their work at once, others let the search do
//! theirs: a way to read a table is asked for at each place of the table in a join.
//!
//! What is known of the data are row counts and samples of keys, so costs are coarse ([`cost`]) and the rules
//! are few: keys before scans, an order that an index gives before a sort, hash joins only where no index
//! helps.

mod access;
mod constant_conditions;
mod constant_order;
mod cost;
mod derived;
mod derived_plans;
mod dive;
mod draft;
mod equality;
mod flatten;
mod fold;
mod forced_index;
mod goal;
mod group_order;
mod grouped;
mod hash_join;
mod hash_lookup;
mod in_list;
mod index_condition;
mod index_intersect;
mod index_merge;
mod index_order;
mod join_list;
mod join_node;
mod join_order;
mod join_plan;
mod keep;
mod key_boxes;
mod key_list;
mod key_paths;
mod known_equalities;
mod limit;
mod loose_scan;
mod min_max;
mod ordering;
mod outer;
mod outer_join;
mod query;
mod relations;
mod result;
mod row_list;
mod rule;
mod rules;
mod sarg;
mod scans;
mod select;
mod semi_join;
mod skip_scan;
mod sources;
mod split_conditions;
mod subqueries;
mod subquery_forms;
mod subquery_free;
mod subquery_plans;
#[cfg(test)]
mod tests;
mod whole_key;

pub(crate) use query::Planner;
pub use rule::Rule;
pub use rules::RULES;
