//! What the operations answered when the ledger was entered: one that costs less must not answer otherwise.

use std::collections::BTreeMap;
use std::fs;

use crate::process::root;

/// The file, from the workspace's root.
pub(super) const ANSWERS: &str = "tools/ledger/answers.tsv";
const HEADER: &str = "name\tanswers";

/// Answers by operation: rows sent, rows affected, and a hash of the rows.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answers(BTreeMap<String, String>);

impl Answers {
    pub(super) fn enter(&mut self, operation: &str, answers: &str) {
        self.0.insert(operation.to_owned(), answers.to_owned());
    }

    /// Those of the file.
    pub(super) fn read() -> Result<Self, String> {
        let text = fs::read_to_string(root().join(ANSWERS)).map_err(|e| format!("{ANSWERS}: {e}"))?;
        Answers::parse(&text).ok_or_else(|| format!("{ANSWERS} is malformed"))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != HEADER {
            return None;
        }
        let entries =
            lines.map(|line| line.split_once('\t').map(|(name, a)| (name.to_owned(), a.to_owned())));
        entries.collect::<Option<_>>().map(Answers)
    }

    /// Writes the file.
    pub(super) fn write(&self) -> Result<(), String> {
        fs::write(root().join(ANSWERS), self.text()).map_err(|e| format!("{ANSWERS}: {e}"))
    }

    fn text(&self) -> String {
        let lines = self.0.iter().map(|(name, answers)| format!("{name}\t{answers}\n"));
        format!("{HEADER}\n{}", lines.collect::<String>())
    }

    /// How these differ from those `entered`. An operation that was not measured is the business of the
    /// ledger itself.
    pub(super) fn findings(&self, entered: &Answers) -> Vec<String> {
        let judge = |(name, now): (&String, &String)| match entered.0.get(name) {
            Some(before) if before == now => None,
            Some(before) => Some(format!("{name} answers '{now}', and '{before}' in {ANSWERS}")),
            None => Some(format!("{name} is not in {ANSWERS}; enter it with --bless")),
        };
        self.0.iter().filter_map(judge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_answers_are_found() {
        let entered =
            Answers::parse("name\tanswers\nping\t0 rows, 0 affected, 1f\ndelete\t0 rows, 9 affected, 1f\n");
        let entered = entered.unwrap();
        assert_eq!(Answers::parse(&entered.text()).as_ref(), Some(&entered));
        let mut now = Answers::default();
        now.enter("ping", "0 rows, 0 affected, 1f");
        assert_eq!(now.findings(&entered), Vec::<String>::new());
        now.enter("delete", "0 rows, 8 affected, 1f");
        now.enter("select_1", "1 rows, 0 affected, 2e");
        let found = now.findings(&entered);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("delete answers '0 rows, 8 affected, 1f'"), "{found:?}");
        assert!(Answers::parse("name\nping\n").is_none());
    }
}
