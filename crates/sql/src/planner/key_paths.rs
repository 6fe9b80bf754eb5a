//! The paths to a table by keys of its indexes.

use std::ops::ControlFlow;

use super::access::{Choice, Methods, Paths};
use super::cost;
#[cfg(test)]
use super::key_boxes;

/// Looks for the paths by keys.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(add);
}

#[cfg(test)]
thread_local! {
    /// How many paths of this thread were found to cost the least that any costs.
    pub(in crate::planner) static LEAST_PATHS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds the path of each index. It ends the search with one that costs no more than any path does.
fn add(paths: &mut Paths<'_>) -> ControlFlow<()> {
    let Paths { table, goal, hinted, trees, tests, found, .. } = paths;
    let may_be_least = !table.wants_order && table.rels.subqueries.is_empty();
    #[cfg(test)]
    let may_be_least = may_be_least && !key_boxes::NO_CONJUNCTIONS.get();
    for index in super::access::index_positions(table.def, *hinted) {
        let Some(choice) = table.keyed(index, trees) else { continue };
        let is_least =
            may_be_least && choice.cost <= cost::LEAST && choice.cost + tests.cost(&choice) <= cost::LEAST;
        if is_least {
            #[cfg(test)]
            LEAST_PATHS.set(LEAST_PATHS.get() + 1);
            found.clear();
        }
        found.push(choice);
        if is_least {
            return ControlFlow::Break(());
        }
    }
    let is_cheap = |choice: &Choice| {
        choice.cost < cost::WORTH_JUMPS && choice.cost + tests.cost(choice) < table.least_of_scans()
    };
    let meets_goal = |choice: &Choice| goal.is_trivial() || goal.is_met(&choice.order);
    paths.is_cheap = found.iter().any(|choice| is_cheap(choice) && meets_goal(choice));
    ControlFlow::Continue(())
}
