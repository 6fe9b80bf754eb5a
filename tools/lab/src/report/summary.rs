//! What the rows of each group of workloads come to.

use crate::journal::RowKey;
use crate::stats::Verdict;
use crate::workload::{Kind, catalogue, reference_workloads};

use super::row::Row;
use super::standing::Standing;

/// Groups of workloads, in the order of the summary.
pub(super) const GROUPS: [&str; 7] = [
    "all rows",
    "reads of freshly loaded tables",
    "writes",
    "reads after the writes",
    "tables loaded anew (insert, delete)",
    "joins, GROUP BY, index builds, changed columns",
    "other workloads",
];

/// What a group's rows came to.
#[derive(Default)]
pub(super) struct Tally {
    /// Relative queries a second of rows that have some.
    pub(super) ratios: Vec<f64>,
    /// The least difference that is shown for each.
    pub(super) leasts: Vec<f64>,
    pub(super) rows: usize,
    pub(super) faster: usize,
    pub(super) slower: usize,
    pub(super) no_difference: usize,
    pub(super) unsure: usize,
    pub(super) none: usize,
}

impl Tally {
    fn add(&mut self, standing: &Standing) {
        self.rows += 1;
        match standing {
            Standing::Compared(c) => {
                self.ratios.push(c.ratio);
                self.leasts.push(c.least);
                match c.verdict {
                    Verdict::Faster => self.faster += 1,
                    Verdict::Slower => self.slower += 1,
                    Verdict::NoDifference => self.no_difference += 1,
                    Verdict::Undecided => self.unsure += 1,
                }
            }
            Standing::Unjudged(ratio) => {
                self.ratios.push(*ratio);
                self.unsure += 1;
            }
            Standing::Base | Standing::NoBase | Standing::Failed(_) | Standing::Missing => self.none += 1,
        }
    }
}

/// Of the target at this position: groups that have rows.
pub(super) fn tallies(rows: &[Row], target: usize) -> Vec<(&'static str, Tally)> {
    let mut tallies: [Tally; GROUPS.len()] = Default::default();
    for row in rows {
        let standing = Standing::of(row, target);
        tallies[0].add(&standing);
        tallies[group_of(&row.key)].add(&standing);
    }
    GROUPS.into_iter().zip(tallies).filter(|(_, tally)| tally.rows > 0).collect()
}

/// The position among [`GROUPS`] of a row's workload.
pub(super) fn group_of(key: &RowKey) -> usize {
    if reference_workloads().iter().any(|workload| workload.name == key.workload) {
        return 5;
    }
    match catalogue().iter().find(|workload| workload.name == key.workload).map(|workload| workload.kind) {
        Some(Kind::Read) if key.workload.contains(".pre") => 1,
        Some(Kind::Write) => 2,
        Some(Kind::Read) => 3,
        Some(Kind::Consume) => 4,
        None => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_of_the_catalogue_has_a_group() {
        let group =
            |name: &str| group_of(&RowKey { workload: name.to_owned(), threads: 1, setting: String::new() });
        assert!(catalogue().iter().all(|workload| (1..6).contains(&group(&workload.name))));
        let groups = ["point-query.pre", "update-index", "point-query", "insert", "join", "mine"].map(group);
        assert_eq!(groups, [1, 2, 3, 4, 5, 6]);
    }
}
