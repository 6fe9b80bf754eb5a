//! Numbers of a file that may rise only in a commit that says why.

use crate::process::output;

/// Commits that are read, from the newest back.
const COMMITS_MAX: &str = "-50";
/// What the message of such a commit carries.
const TRAILER: &str = "Perf:";

/// What rose in one of the last commits that touched `path` without the trailer. Versions that `parse` does
/// not know are passed over.
pub(crate) fn unexplained<T>(
    path: &str,
    parse: fn(&str) -> Option<T>,
    rises: fn(&T, &T) -> Vec<String>,
) -> Result<Vec<String>, String> {
    let at = |commit: &str| parse(&output("git", &["show", &format!("{commit}:{path}")]).ok()?);
    let commits = output("git", &["rev-list", COMMITS_MAX, "HEAD", "--", path])?;
    let mut found = Vec::new();
    for commit in commits.lines() {
        let (Some(after), Some(before)) = (at(commit), at(&format!("{commit}^"))) else { continue };
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
