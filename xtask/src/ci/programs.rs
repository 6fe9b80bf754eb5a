//! Programs that earlier steps have built.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{root, target_dir};

/// Folders with test programs that start a server.
const FOLDERS: [&str; 2] = ["crates/server/tests", "tools/lab/tests"];
/// How a test names the program that it starts, which `RATCHETD_UNDER_TEST` replaces. Programs that name
/// none start no server of this project, or have it within themselves: whichever server is built, they do
/// the same.
const STARTS: [&str; 3] = ["CARGO_BIN_EXE_ratchetd", "built_with_this_test()", "mod support;"];

/// The server as it is released.
pub(super) fn released() -> PathBuf {
    target_dir().join("release/ratchetd")
}

/// A program with debug assertions.
pub(super) fn checked(name: &str) -> PathBuf {
    target_dir().join("sim").join(name)
}

/// Test programs that start a server: files, and folders with a `main.rs`.
pub(super) fn of_server_process() -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        for path in entries(&root().join(folder))? {
            let is_program = path.is_file() || path.join("main.rs").exists();
            if let Some(name) = path.file_stem().and_then(|name| name.to_str())
                && is_program
                && starts_server(&path)?
            {
                names.push(name.to_owned());
            }
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a source file, or one in a folder, names a server to start.
fn starts_server(path: &Path) -> Result<bool, String> {
    if path.is_dir() {
        return entries(path)?.iter().try_fold(false, |starts, path| Ok(starts || starts_server(path)?));
    }
    if path.extension().is_none_or(|extension| extension != "rs") {
        return Ok(false);
    }
    let source = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(STARTS.iter().any(|name| source.contains(name)))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let named = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::read_dir(folder).map_err(named)?.map(|entry| Ok(entry.map_err(named)?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_start_a_server_are_found_by_their_sources() {
        let names = of_server_process().unwrap();
        let found = |name: &&str| names.iter().any(|known| known == name);
        let starting =
            ["accounts", "answers", "connections", "kill", "plans", "servers", "sysbench", "traffic"];
        assert!(starting.iter().all(found), "{names:?}");
        let others = ["client", "elle", "hot", "mariadb", "memory", "page", "planner_rules", "support"];
        assert!(!others.iter().any(found), "{names:?}");
    }
}
