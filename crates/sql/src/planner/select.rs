//! A block's plan: the rules do their work, one after the other.

use super::draft::{Draft, Extra};
use super::outer::Params;
use super::rule::Rule;
use crate::bind::BindContext;
use crate::bind::block::Block;
use crate::plan::QueryPlan;

/// Plans `block` by the rules of its statement.
pub(super) fn plan(
    block: &mut Block,
    extra: &Extra<'_>,
    ctx: &BindContext<'_>,
    params: &Params,
) -> QueryPlan {
    params.resolve(block);
    by_rules(ctx.rules, &mut Draft::new(block, extra, ctx, params))
}

/// Plans the block of `draft` by `rules`.
pub(super) fn by_rules(rules: &[Rule], draft: &mut Draft<'_>) -> QueryPlan {
    for rule in rules {
        rule.apply(draft);
        if let Some(plan) = draft.plan.take() {
            return plan;
        }
    }
    unreachable!("the last of the needed rules makes the plan")
}
