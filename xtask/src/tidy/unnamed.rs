//! Files of tests that no program compiles.

use std::collections::BTreeSet;

use super::source::{SourceFile, at};

/// Files beside a `main.rs` below `tests` that it does not name.
pub(crate) fn findings(files: &[SourceFile]) -> Vec<String> {
    let mut found = Vec::new();
    for main in files.iter().filter(|file| file.path.ends_with("/main.rs") && file.is_test_file()) {
        let folder = main.path.trim_end_matches("main.rs");
        let modules: BTreeSet<&str> = main.text.lines().filter_map(module).collect();
        let beside = files.iter().filter_map(|file| Some((file, file.path.strip_prefix(folder)?)));
        found.extend(beside.filter_map(|(file, name)| {
            let name = name.strip_suffix(".rs").filter(|name| *name != "main" && !name.contains('/'))?;
            (!modules.contains(name)).then(|| at(file, 1, "no program compiles it: main.rs does not name it"))
        }));
    }
    found
}

/// The module that a line declares.
fn module(line: &str) -> Option<&str> {
    line.trim_start_matches("pub(crate) ").strip_prefix("mod ")?.strip_suffix(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_main_does_not_name_is_found() {
        let file =
            |path: &str, text: &str| SourceFile { path: path.into(), text: text.into(), tests_from: 2 };
        let files = [
            file("crates/a/tests/b/main.rs", "mod named;"),
            file("crates/a/tests/b/named.rs", ""),
            file("crates/a/tests/b/left_out.rs", ""),
            file("crates/a/tests/alone.rs", ""),
            file("crates/a/src/main.rs", ""),
            file("crates/a/src/other.rs", ""),
        ];
        let found = findings(&files);
        assert!(found.len() == 1 && found[0].starts_with("crates/a/tests/b/left_out.rs"), "{found:?}");
    }
}
