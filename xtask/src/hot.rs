//! `cargo xtask hot`: the hot functions of a release build against their list.

use std::process::Command;

use crate::process::{root, run, target_dir};

/// Builds the ledger's driver and has `ratchet lab hot` look into it. The driver has the server's whole way from packet to
/// packet in it, and its functions are those of the ledger's dumps.
pub(crate) fn gate() -> Result<(), String> {
    run("cargo", &["build", "--quiet", "--release", "--package", "ledger"])?;
    let driver = target_dir().join("release/ledger");
    run("cargo", &["run", "--quiet", "--package", "ratchet", "--", "lab", "hot", &driver.to_string_lossy()])
}

/// What is said against the driver as it was built last. An error if that is nothing.
pub(crate) fn findings_in_driver() -> Result<String, String> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "ratchet", "--", "lab", "hot"]);
    command.arg(target_dir().join("release/ledger")).current_dir(root());
    let out = command.output().map_err(|e| format!("cannot run cargo: {e}"))?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    match out.status.code() {
        Some(1) => Ok(said),
        _ => Err(format!("hot: findings were expected, but: {said}{}", String::from_utf8_lossy(&out.stderr))),
    }
}
