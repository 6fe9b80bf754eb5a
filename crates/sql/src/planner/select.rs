//! A block's plan: the rules do their work, one after the other.

use super::draft::{Draft, Extra, PlanInput, builder};
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
    by_rules(ctx.rules, PlanInput::new(block, extra, ctx, params))
}

/// Plans a block by `rules`.
pub(super) fn by_rules(rules: &[Rule], mut start: PlanInput<'_>) -> QueryPlan {
    for rule in rules {
        let Some(apply) = rule.on_block() else { break };
        if let Some(make) = apply(&mut start) {
            return make(&mut start);
        }
    }
    let PlanInput { block, extra, ctx, params, .. } = start;
    if block.row_keys.is_some() {
        block.expand_row_keys(&builder(ctx));
    }
    by_draft(rules, Draft::new(block, extra, ctx, params))
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
