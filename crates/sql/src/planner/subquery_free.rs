//! Paths by keys that need no subquery, beside those that do: what is known without it may leave so few rows
//! that its list is not worth making.

use std::ops::ControlFlow;

use super::access::{Methods, Paths, index_positions};
use super::sarg::Tree;

/// Looks for the paths without subqueries.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(add);
}

fn add(paths: &mut Paths<'_>) -> ControlFlow<()> {
    let Paths { table, hinted, trees, found, .. } = paths;
    let has_subqueries = !table.rels.subqueries.is_empty();
    if has_subqueries && found.iter().any(|choice| !choice.path.subqueries().is_empty()) {
        let trees: Vec<Tree<'_>> = std::mem::take(trees).into_iter().map(Tree::without_subqueries).collect();
        found.extend(index_positions(table.def, *hinted).filter_map(|index| table.keyed(index, &trees)));
    }
    ControlFlow::Continue(())
}
