//! A rule of the planner.

use super::access::Methods;
use super::draft::Draft;

/// One step from a bound block to its plan; the planner takes them in the order of a list. See
/// [`super::RULES`].
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    name: &'static str,
    is_optional: bool,
    work: Work,
}

/// What a rule does.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// It changes the draft.
    Draft(fn(&mut Draft<'_>)),
    /// It lets the search, which comes later, use a method.
    Method(fn(&mut Methods)),
}

impl Rule {
    /// A rule without which the plan gives the same answers, at a higher cost.
    pub(super) const fn optional(name: &'static str, apply: fn(&mut Draft<'_>)) -> Rule {
        Rule { name, is_optional: true, work: Work::Draft(apply) }
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

    /// Its name: that of its file.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a list without it makes plans that give the same answers.
    pub fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// Does its work on `draft`.
    pub(super) fn apply(&self, draft: &mut Draft<'_>) {
        match self.work {
            Work::Draft(apply) => apply(draft),
            Work::Method(allow) => allow(&mut draft.methods),
        }
    }
}
