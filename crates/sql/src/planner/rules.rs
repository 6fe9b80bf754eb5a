//! The planner's rules in their order.

use super::rule::Rule;
use super::{
    constant_conditions, constant_order, derived, derived_plans, dive, equality, flatten, fold, forced_index,
    group_order, grouped, hash_join, hash_lookup, in_list, index_condition, index_intersect, index_merge,
    index_order, join_node, join_order, join_plan, keep, key_list, key_paths, known_equalities, loose_scan,
    min_max, outer_join, result, row_list, scans, semi_join, skip_scan, sources, split_conditions,
    subquery_free, subquery_plans, whole_key,
};

/// All rules. A list from which optional ones are left out makes plans that give the same answers: what is
/// needed stays, and those after find less to work with.
pub static RULES: &[Rule] = &[
    Rule::of_block("fold", fold::apply),
    Rule::of_block("whole_key", whole_key::apply),
    Rule::of_block("key_list", key_list::apply),
    Rule::optional("semi_join", semi_join::apply),
    Rule::needed("subquery_plans", subquery_plans::apply),
    Rule::needed("sources", sources::apply),
    Rule::optional("constant_order", constant_order::apply),
    Rule::optional("outer_join", outer_join::apply),
    Rule::needed("flatten", flatten::apply),
    Rule::optional("row_list", row_list::apply),
    Rule::optional("split_conditions", split_conditions::apply),
    Rule::optional("in_list", in_list::apply),
    Rule::optional("constant_conditions", constant_conditions::apply),
    Rule::optional("keep", keep::apply),
    Rule::optional("equality", equality::apply),
    Rule::optional("derived", derived::apply),
    Rule::needed("derived_plans", derived_plans::apply),
    // Ways to read a table, which the search asks for at each place that it has in a join.
    Rule::method("key_paths", key_paths::allow),
    Rule::method("skip_scan", skip_scan::allow),
    Rule::method("subquery_free", subquery_free::allow),
    Rule::needed_method("scans", scans::allow),
    Rule::method("index_merge", index_merge::allow),
    Rule::method("forced_index", forced_index::allow),
    Rule::method("dive", dive::allow),
    Rule::method("index_intersect", index_intersect::allow),
    // The search.
    Rule::method("hash_lookup", hash_lookup::allow),
    Rule::optional("min_max", min_max::apply),
    Rule::method("hash_join", hash_join::allow),
    Rule::method("join_order", join_order::allow),
    Rule::needed("join_plan", join_plan::apply),
    Rule::optional("loose_scan", loose_scan::apply),
    // What is done with the rows.
    Rule::method("known_equalities", known_equalities::allow),
    Rule::method("index_condition", index_condition::allow),
    Rule::needed("join_node", join_node::apply),
    Rule::optional("group_order", group_order::apply),
    Rule::needed("grouped", grouped::apply),
    Rule::optional("index_order", index_order::apply),
    Rule::result("result", result::make),
];
