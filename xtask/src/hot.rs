//! `cargo xtask hot`: the hot functions of a release build against their list.

use std::process::Command;

use crate::process::{root, run, target_dir};

/// Builds the ledger's driver and has `ratchet lab hot` look into it. The driver has the server's whole way from packet to
/// packet in it, and its functions are those of the ledger's dumps.
pub(crate) fn gate() -> Result<(), String> {
    run("cargo", &["build", "--quiet", "--release", "--package", "ledger"])?;
    let (clean, said) = look()?;
    print!("{said}");
    if clean { Ok(()) } else { Err("hot: functions are not as their list says".to_owned()) }
}

/// Has `ratchet lab hot` look into the driver as it was built last: whether nothing is wrong, and what is said.
pub(crate) fn look() -> Result<(bool, String), String> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "ratchet", "--", "lab", "hot"]);
    command.arg(target_dir().join("release/ledger")).current_dir(root());
    let out = command.output().map_err(|e| format!("cannot run cargo: {e}"))?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    match out.status.code() {
        Some(status @ (0 | 1)) => Ok((status == 0, said)),
        _ => Err(format!("hot: {said}{}", String::from_utf8_lossy(&out.stderr))),
    }
}
