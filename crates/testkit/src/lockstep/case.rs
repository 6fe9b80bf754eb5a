//! Statements that are run one after the other, and the session they start in.

use super::parameter::Parameter;

/// A statement of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The statement; with `?` where it is prepared.
    pub sql: String,
    /// What it tries: a function, or a form of statement.
    pub topic: String,
    /// The values of each execution, if it is prepared.
    pub executions: Option<Vec<Vec<Parameter>>>,
}

impl Step {
    /// A statement that is sent as text.
    pub fn text(topic: &str, sql: impl Into<String>) -> Step {
        Step { sql: sql.into(), topic: topic.to_owned(), executions: None }
    }

    /// The statement, with the values of its executions in a comment.
    pub fn shown(&self) -> String {
        let mut shown = self.sql.clone();
        for values in self.executions.iter().flatten() {
            let values: Vec<&str> = values.iter().map(Parameter::shown).collect();
            shown.push_str(&format!("\n  -- executed with ({})", values.join("; ")));
        }
        shown
    }
}

/// Statements in a session of their own. They end at the first that changes the two servers' data
/// differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// Statements that remove what a case before it has left; their answers do not count.
    pub before: Vec<String>,
    /// Statements that make what the others need; their answers count, too.
    pub steps: Vec<Step>,
    /// Each step is compared by itself, and a difference does not spoil those after it.
    pub independent: bool,
}
