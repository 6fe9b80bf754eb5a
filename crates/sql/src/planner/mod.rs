//! Planner: bound blocks to plans, one file per rule.
//!
//! ```text
//! Block -> constants folded (fold) -> one row or a few by their whole keys (whole_key, key_list): done
//!       -> else subqueries of WHERE in both of their forms (semi_join, subqueries) -> left joins that
//! act as inner ones made inner (outer_join) -> inner joins flattened (join_list) -> disjunctions to lists (in_list), equalities
//! spread (equality) -> conditions moved into derived tables (derived) -> join order and access paths (join_order, access,
//! key_boxes, sarg, skip_scan, index_merge, dive) -> each condition at its place, none twice, in its cheaper form, before the row is read where
//! entries decide it (join_node, known, index_condition) -> aggregation, sort, limit (select, ordering, min_max,
//! loose_scan) -> QueryPlan
//! ```
//! What is known of the data are row counts and samples of keys, so costs are coarse ([`cost`]) and the rules
//! are few: keys before scans, an order that an index gives before a sort, hash joins only where no index
//! helps.

mod access;
mod cost;
mod derived;
mod dive;
mod equality;
mod fold;
mod in_list;
mod index_condition;
mod index_intersect;
mod index_merge;
mod join_list;
mod join_node;
mod join_order;
mod key_boxes;
mod key_list;
mod known;
mod loose_scan;
mod min_max;
mod ordering;
mod outer;
mod outer_join;
mod query;
mod relations;
mod sarg;
mod select;
mod semi_join;
mod skip_scan;
mod subqueries;
#[cfg(test)]
mod tests;
mod whole_key;

pub(crate) use query::{change, query, source, subplans};
