//! Scans are left out where keys find rows and the statement is to read by keys: FORCE INDEX, and
//! `sql_safe_updates`.

use std::ops::ControlFlow;

use super::access::{Choice, Methods, Paths};
use crate::plan::Path;

/// Excludes scans that index hints forbid.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(leave_out_scans);
}

fn leave_out_scans(paths: &mut Paths<'_>) -> ControlFlow<()> {
    let Paths { table, hinted, found, .. } = paths;
    let is_scan = |choice: &Choice| matches!(choice.path, Path::Scan { .. });
    let is_forced = hinted.is_some_and(|hinted| hinted.forced);
    if (table.rels.avoids_scans || is_forced) && !found.iter().all(|choice| is_scan(choice)) {
        found.retain(|choice| !is_scan(choice));
    }
    ControlFlow::Continue(())
}
