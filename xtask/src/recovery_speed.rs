//! `recovery`: how fast a release server applies its log after a kill.

use crate::process;

/// Builds server and client, and runs the client with `options`.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    process::run(
        "cargo",
        &["build", "--quiet", "--release", "--package=server", "--package=testkit", "--bins"],
    )?;
    let built = process::target_dir().join("release");
    let path = |name: &str| built.join(name).to_string_lossy().into_owned();
    let server = path("ratchetd");
    process::run(&path("recovery_speed"), &[&[server.as_str()], options].concat())
}
