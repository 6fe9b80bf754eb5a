//! Rows of a report.

use crate::journal::{Figures, RowKey};
use crate::stats::{Comparison, Estimate};

/// A row of the report: the base first, then the other targets in the header's order.
#[derive(Debug)]
pub struct Row {
    /// Workload, threads, setting.
    pub key: RowKey,
    /// One per target of the header.
    pub results: Vec<TargetResult>,
    /// How each of them stands to the best of the others.
    pub to_best: Vec<Option<Estimate>>,
}

/// What a target did in a row.
#[derive(Debug)]
pub enum TargetResult {
    /// Medians of its rounds, and how it compares to the base; none for the base itself and with too few
    /// rounds.
    Measured(Box<Figures>, Option<Comparison>),
    /// No number, and why.
    Failed(String),
    /// Not measured yet.
    Missing,
}

/// Rows measured with the same number of clients and the same setting.
pub(super) type Group<'a> = (usize, &'a str);

/// In the order of measurement.
pub(super) fn groups(rows: &[Row]) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    for row in rows {
        let group = (row.key.threads, &row.key.setting[..]);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

pub(super) fn rows_of<'a>(rows: &'a [Row], group: Group<'a>) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| (row.key.threads, &row.key.setting[..]) == group)
}
