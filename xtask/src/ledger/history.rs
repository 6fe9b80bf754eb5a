//! The ledger may rise only in a commit that says why.

use std::collections::BTreeMap;

use super::line::{Line, parse_all};
use crate::process::output;

/// Commits that are looked at, from the newest back.
const COMMITS_MAX: &str = "-50";
/// What the message of such a commit carries.
const TRAILER: &str = "Perf:";

/// Lines that rose in one of the last commits that touched `path` without the trailer.
pub(super) fn findings(path: &str) -> Result<Vec<String>, String> {
    let commits = output("git", &["rev-list", COMMITS_MAX, "HEAD", "--", path])?;
    let mut found = Vec::new();
    for commit in commits.lines() {
        let (Some(after), Some(before)) = (lines_at(commit, path), lines_at(&format!("{commit}^"), path))
        else {
            continue;
        };
        let rises = rises(&before, &after);
        if !rises.is_empty() && !has_trailer(&output("git", &["log", "-1", "--format=%B", commit])?) {
            let short = &commit[..commit.len().min(10)];
            found.extend(
                rises.iter().map(|rise| format!("{rise}, in commit {short} without a {TRAILER} trailer")),
            );
        }
    }
    Ok(found)
}

/// The ledger in a commit; `None` if it did not exist or had another form.
fn lines_at(commit: &str, path: &str) -> Option<BTreeMap<String, Line>> {
    parse_all(&output("git", &["show", &format!("{commit}:{path}")]).ok()?).ok()
}

fn rises(before: &BTreeMap<String, Line>, after: &BTreeMap<String, Line>) -> Vec<String> {
    after.iter().filter_map(|(name, line)| Some(line.rises_over(before.get(name)?))).flatten().collect()
}

fn has_trailer(message: &str) -> bool {
    message.lines().any(|line| line.starts_with(TRAILER) && line.len() > TRAILER.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trailer_with_a_reason_counts() {
        assert!(has_trailer("exec: check rows\n\nPerf: range_100 +2 %, rows are checked for overflow"));
        assert!(!has_trailer("exec: check rows\n\nPerf:"));
        assert!(!has_trailer("Performance is worse"));
    }
}
