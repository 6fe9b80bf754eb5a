//! A rule of the planner.

use super::access::Methods;
use super::draft::{Draft, PlanInput};
use crate::plan::QueryPlan;

/// One step from a bound block to its plan; the planner takes them in the order of a list. See
/// [`super::RULES`].
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    name: &'static str,
    is_optional: bool,
    work: Work,
}

/// Changes a block, or finds that it can be planned without the other rules, and how.
type BlockWork = fn(&mut PlanInput<'_>) -> Option<MakePlan>;
/// Makes the plan of a block. (Plans are large: they are returned where they are made.)
pub(super) type MakePlan = fn(&mut PlanInput<'_>) -> QueryPlan;

/// The work of a rule.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// It changes the block, or plans it as a whole.
    Block(BlockWork),
    /// It changes the draft.
    Draft(fn(&mut Draft<'_>)),
    /// It lets the search, which comes later, use a method.
    Method(fn(&mut Methods)),
    /// It makes the plan of the draft.
    Result(fn(&mut Draft<'_>) -> QueryPlan),
}

impl Rule {
    /// A rule without which the plan gives the same answers, at a higher cost.
    pub(super) const fn optional(name: &'static str, apply: fn(&mut Draft<'_>)) -> Rule {
        Rule { name, is_optional: true, work: Work::Draft(apply) }
    }

    /// As [`Rule::optional`], of what needs nothing but the block. Such rules are the first ones.
    pub(super) const fn of_block(name: &'static str, apply: BlockWork) -> Rule {
        Rule { name, is_optional: true, work: Work::Block(apply) }
    }

    /// A step without which there is no plan.
    pub(super) const fn needed(name: &'static str, apply: fn(&mut Draft<'_>)) -> Rule {
        Rule { name, is_optional: false, work: Work::Draft(apply) }
    }

    /// As [`Rule::optional`], of a method of the search.
    pub(super) const fn method(name: &'static str, allow: fn(&mut Methods)) -> Rule {
        Rule { name, is_optional: true, work: Work::Method(allow) }
    }

    /// As [`Rule::needed`], of a method of the search.
    pub(super) const fn needed_method(name: &'static str, allow: fn(&mut Methods)) -> Rule {
        Rule { name, is_optional: false, work: Work::Method(allow) }
    }

    /// The last step.
    pub(super) const fn result(name: &'static str, make: fn(&mut Draft<'_>) -> QueryPlan) -> Rule {
        Rule { name, is_optional: false, work: Work::Result(make) }
    }

    /// Its name: that of its file.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a list without it makes plans that give the same answers.
    pub fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// What it does if it needs nothing but the block.
    #[inline]
    pub(super) fn on_block(&self) -> Option<BlockWork> {
        match self.work {
            Work::Block(apply) => Some(apply),
            Work::Draft(_) | Work::Method(_) | Work::Result(_) => None,
        }
    }

    /// Does its work on `draft`; what makes the plan, if it is the rule that does so.
    #[inline]
    pub(super) fn apply(&self, draft: &mut Draft<'_>) -> Option<fn(&mut Draft<'_>) -> QueryPlan> {
        match self.work {
            Work::Block(_) => {}
            Work::Draft(apply) => apply(draft),
            Work::Method(allow) => allow(&mut draft.methods),
            Work::Result(make) => return Some(make),
        }
        None
    }
}
