//! The server that `cargo xtask release` has laid out, for the tests of the released server.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::process::{output, root, target_dir};
use crate::release::SHIPPED;

/// What the server is built of, as `git ls-files` takes it.
const SOURCES: [&str; 4] = ["crates/*/src/*", "crates/*/Cargo.toml", "Cargo.toml", "Cargo.lock"];

/// Its path.
///
/// # Errors
/// It is not there, or older than a source file.
pub(super) fn server() -> Result<PathBuf, String> {
    let binary = target_dir().join(SHIPPED);
    let sources = output("git", &[&["ls-files"], &SOURCES[..]].concat())?;
    ensure_newer(&binary, sources.lines().map(|path| root().join(path)))?;
    Ok(binary)
}

/// Fails where the server is not newer than all `sources`. Those that are there no more do not count.
fn ensure_newer(binary: &Path, sources: impl Iterator<Item = PathBuf>) -> Result<(), String> {
    let build = "build it with `cargo xtask release`";
    let Some(built) = modified(binary) else { return Err(format!("no {}: {build}", binary.display())) };
    let newest = sources.filter_map(|path| Some((modified(&path)?, path))).max();
    match newest {
        Some((changed, path)) if changed > built => {
            Err(format!("{} is older than {}: {build}", binary.display(), path.display()))
        }
        _ => Ok(()),
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_server_older_than_a_source_is_refused() {
        let folder = std::env::temp_dir().join(format!("ratchet-shipped-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name);
        let make = |name: &str, seconds: u64| {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::create(path(name)).unwrap().set_modified(at).unwrap();
        };
        let refusal = || {
            let sources = ["old.rs", "new.rs", "gone.rs"].map(path);
            ensure_newer(&path("ratchetd"), sources.into_iter()).err()
        };
        make("old.rs", 10);
        make("new.rs", 20);
        assert!(refusal().is_some_and(|refusal| refusal.starts_with("no ")));
        make("ratchetd", 15);
        assert!(refusal().is_some_and(|refusal| refusal.contains("new.rs")));
        make("ratchetd", 30);
        assert_eq!(refusal(), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_sources_are_those_of_the_server() {
        let sources = output("git", &[&["ls-files"], &SOURCES[..]].concat()).unwrap();
        let has = |path: &str| sources.lines().any(|line| line == path);
        assert!(has("crates/server/src/main.rs") && has("crates/base/src/lib.rs") && has("Cargo.lock"));
        assert!(!has("crates/server/tests/answers/main.rs"));
    }
}
