//! Paths in documents lead somewhere.

use std::path::Path;

use super::source::{SourceFile, at};
use crate::process::root;

/// Endings of what counts as a path of this repository when it is in backquotes.
const ENDINGS: [&str; 8] = [".rs", ".md", ".tsv", ".toml", ".test", ".sql", ".spec", ".jsonl"];
/// Parts of a path that stand for something else.
const PLACEHOLDERS: [char; 5] = ['*', '<', '{', '$', ' '];

/// Backquoted paths and relative links in a Markdown file that name nothing.
pub(crate) fn findings(document: &SourceFile) -> Vec<String> {
    let folder = Path::new(&document.path).parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    for (number, line) in document.text.lines().enumerate() {
        let lost = quoted(line)
            .filter(|path| !leads_somewhere(path))
            .chain(links(line).filter(|link| !root().join(folder).join(link).exists()));
        found.extend(lost.map(|path| at(document, number + 1, &format!("there is no {path}"))));
    }
    found
}

/// Paths in backquotes.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|word| {
        let is_path = word.contains('/') && !word.contains("::") && !word.starts_with(['/', '-', '.']);
        is_path && ENDINGS.iter().any(|ending| word.ends_with(ending)) && !word.contains(PLACEHOLDERS)
    })
}

/// Whether the path is one from the root, from `crates/`, or one of a crate with its `src/` left out.
fn leads_somewhere(path: &str) -> bool {
    let short = path.split_once('/').map(|(name, rest)| format!("crates/{name}/src/{rest}"));
    let places = [Some(path.to_owned()), Some(format!("crates/{path}")), short];
    places.into_iter().flatten().any(|place| root().join(place).exists())
}

/// Targets of relative links, without their fragments.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()).filter(|target| {
        !target.is_empty()
            && !target.contains("://")
            && !target.starts_with("mailto:")
            && !target.contains(' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_other_words() {
        let line = "see `page/op.rs`, `a::b.rs`, `/etc/my.cnf`, `tests/*.rs` and `crates/page/src/op.rs`";
        assert_eq!(quoted(line).collect::<Vec<_>>(), ["page/op.rs", "crates/page/src/op.rs"]);
        assert!(leads_somewhere("page/op.rs") && !leads_somewhere("page/opp.rs"));
        let links: Vec<_> = links("[a](b.md#c), [d](https://e), [f](#g)").collect();
        assert_eq!(links, ["b.md"]);
    }
}
