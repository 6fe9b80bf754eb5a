//! Differences of one kind and shape, with the smallest example of each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::case::{Case, Step};
use super::compare::Kind;
use super::pair::Finding;
use super::tokens::{join, tokens};

/// Kind, detail and shape.
type Key = (Kind, String, String);

/// Differences that are alike.
#[derive(Clone, Debug)]
pub struct Group {
    /// How many there are.
    pub count: u64,
    /// The smallest example: statements up to the one that shows it.
    pub case: Case,
    /// What differs there.
    pub finding: Finding,
}

impl Group {
    /// The statement that shows the difference.
    pub fn statement(&self) -> &Step {
        &self.case.steps[self.finding.at]
    }
}

/// All differences of a run.
#[derive(Clone, Debug, Default)]
pub struct Groups(BTreeMap<Key, Group>);

impl Groups {
    /// Enters a difference under the topic of its statement.
    pub fn add(&mut self, case: &Case, finding: Finding) {
        let topic = case.steps[finding.at].topic.clone();
        let group = Group { count: 1, case: leading_to(case, finding.at), finding };
        self.enter(topic, group);
    }

    /// Enters a group under the shape of its statement, which has been made as small as can be.
    pub fn add_shrunk(&mut self, group: Group) {
        let shape = shape(&group.statement().sql);
        self.enter(shape, group);
    }

    fn enter(&mut self, shape: String, mut group: Group) {
        group.finding.at = group.case.steps.len() - 1;
        let difference = &group.finding.difference;
        match self.0.entry((difference.kind, difference.detail.clone(), shape)) {
            Entry::Vacant(place) => _ = place.insert(group),
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                let count = known.count + group.count;
                if length(&group.case) < length(&known.case) {
                    *known = group;
                }
                known.count = count;
            }
        }
    }

    /// All groups, the worst kinds first and the most frequent first within a kind.
    pub fn sorted(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.0.values().collect();
        groups.sort_by_key(|group| (group.finding.difference.kind, std::cmp::Reverse(group.count)));
        groups
    }

    /// Number of differences by kind.
    pub fn counts(&self) -> BTreeMap<Kind, u64> {
        let mut counts = BTreeMap::new();
        for ((kind, ..), group) in &self.0 {
            *counts.entry(*kind).or_default() += group.count;
        }
        counts
    }

    /// Whether a difference wants an explanation.
    pub fn has_fault(&self) -> bool {
        self.0.keys().any(|(kind, ..)| kind.is_fault())
    }
}

fn length(case: &Case) -> usize {
    case.steps.iter().map(|step| step.sql.len()).sum()
}

/// The statements that the one at `at` needs, and itself.
fn leading_to(case: &Case, at: usize) -> Case {
    let mut steps = case.steps[..=at].to_vec();
    if case.independent {
        let step = steps.pop();
        steps.retain(|step| step.topic == "sql_mode");
        steps.extend(step);
    }
    Case { steps, ..case.clone() }
}

/// The statement with N for numbers and S for quoted texts.
fn shape(sql: &str) -> String {
    let mut all = tokens(sql);
    for token in &mut all {
        if token.text.starts_with('\'') {
            "S".clone_into(&mut token.text);
        } else if token.is_literal() {
            "N".clone_into(&mut token.text);
        }
    }
    join(&all)
}

#[cfg(test)]
mod tests {
    use super::super::compare::Difference;
    use super::*;

    fn entered(groups: &mut Groups, sqls: &[&str]) {
        let steps = sqls.iter().map(|sql| Step::text("abs", *sql)).collect();
        let case = Case { before: Vec::new(), steps, independent: true };
        let difference = Difference { kind: Kind::Rows, detail: String::new() };
        let finding = Finding { difference, at: sqls.len() - 1, ours: Vec::new(), theirs: Vec::new() };
        groups.add(&case, finding);
    }

    #[test]
    fn differences_of_one_topic_keep_the_smallest_example() {
        let mut groups = Groups::default();
        entered(&mut groups, &["SELECT 1", "SELECT ABS(100)"]);
        entered(&mut groups, &["SELECT ABS(1)"]);
        let [group] = groups.sorted()[..] else { panic!("{groups:?}") };
        assert_eq!((group.count, group.statement().sql.as_str()), (2, "SELECT ABS(1)"));
        assert_eq!(groups.counts(), BTreeMap::from([(Kind::Rows, 2)]));
        assert!(groups.has_fault());
    }

    #[test]
    fn a_shape_has_no_literals() {
        assert_eq!(shape("SELECT f(1.5, 'x') + a1"), "SELECT f(N, S) + a1");
    }
}
