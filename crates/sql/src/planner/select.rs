//! A block's plan: the rules do their work, one after the other.

use super::draft::{Draft, PlanInput, builder};
use super::rule::Rule;
use crate::plan::QueryPlan;

/// Plans a block by `rules`.
pub(super) fn by_rules(rules: &[Rule], mut start: PlanInput<'_>) -> QueryPlan {
    for rule in rules {
        let Some(apply) = rule.on_block() else { break };
        if let Some(make) = apply(&mut start) {
            return make(&mut start);
        }
    }
    if start.block.row_keys.is_some() {
        start.block.expand_row_keys(&builder(start.ctx));
    }
    by_draft(rules, Draft::new(start, rules))
}

/// As [`by_rules`], of a block that the first ones do not plan.
fn by_draft(rules: &[Rule], mut draft: Draft<'_>) -> QueryPlan {
    for rule in rules {
        if let Some(make) = rule.apply(&mut draft) {
            return make(&mut draft);
        }
    }
    unreachable!("the last of the needed rules makes the plan")
}
