//! Programs that earlier steps have built.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{root, target_dir};

/// Folders with test programs that start a server.
const FOLDERS: [&str; 2] = ["crates/server/tests", "tools/lab/tests"];
/// Programs there that start none, or have it within themselves.
const WITHOUT_PROCESS: [&str; 3] = ["elle", "hot", "memory"];

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
        names.extend(programs_in(&root().join(folder))?);
    }
    names.sort();
    Ok(names)
}

fn programs_in(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        let is_program =
            path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").exists();
        if let Some(name) = path.file_stem().and_then(|name| name.to_str())
            && is_program
            && !WITHOUT_PROCESS.contains(&name)
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_programs() {
        let names = of_server_process().unwrap_or_default();
        let has = |name: &str| names.iter().any(|known| known == name);
        assert!(
            has("kill") && has("answers") && has("servers") && !has("support") && !has("memory"),
            "{names:?}"
        );
    }
}
