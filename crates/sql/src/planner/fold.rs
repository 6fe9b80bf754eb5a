//! Constant expressions are computed once.

use smallvec::SmallVec;

use super::draft::PlanInput;
use super::rule::MakePlan;

/// Computes what is constant in the block.
pub(super) fn apply(start: &mut PlanInput<'_>) -> Option<MakePlan> {
    let block = &mut *start.block;
    if block.output.iter().all(|item| item.expr.as_column().is_some()) {
        block.for_each_expr(&mut expr::fold_in_place);
        return None;
    }
    let nullable: SmallVec<[bool; 32]> = block.output.iter().map(|item| item.expr.nullable).collect();
    block.for_each_expr(&mut expr::fold_in_place);
    // Clients see whether the operation may be NULL, not whether this value is.
    for (item, nullable) in block.output.iter_mut().zip(nullable) {
        item.expr.nullable |= nullable;
    }
    None
}
