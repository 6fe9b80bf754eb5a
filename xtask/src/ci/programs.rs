//! Programs that earlier steps have built.

use std::fs;
use std::path::PathBuf;

use crate::process::{root, target_dir};

/// Test programs of the crate server in which the server is a part of the test.
const IN_PROCESS: [&str; 2] = ["elle", "memory"];

/// The server as it is released.
pub(super) fn released() -> PathBuf {
    target_dir().join("release/ratchetd")
}

/// A program with debug assertions.
pub(super) fn checked(name: &str) -> PathBuf {
    target_dir().join("sim").join(name)
}

/// Test programs of the crate server that start a server: files, and folders with a `main.rs`.
pub(super) fn of_server_process() -> Result<Vec<String>, String> {
    let folder = root().join("crates/server/tests");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        let is_program =
            path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").exists();
        if let Some(name) = path.file_stem().and_then(|name| name.to_str())
            && is_program
            && !IN_PROCESS.contains(&name)
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_programs() {
        let names = of_server_process().unwrap_or_default();
        let has = |name: &str| names.iter().any(|known| known == name);
        assert!(has("kill") && has("answers") && !has("support") && !has("memory"), "{names:?}");
    }
}
