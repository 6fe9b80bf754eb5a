//! Tables are read whole, in the order of any of their indexes.

use std::ops::ControlFlow;

use super::access::{Methods, Paths, index_positions};

/// Allows table scans.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(add);
}

fn add(paths: &mut Paths<'_>) -> ControlFlow<()> {
    let Paths { table, hinted, found, .. } = paths;
    if !paths.is_cheap {
        let secondary = index_positions(table.def, *hinted).filter(|&index| index != 0);
        found.extend(secondary.filter_map(|index| table.scan(index)));
        found.extend(table.scan(0));
    }
    ControlFlow::Continue(())
}
