//! `cargo xtask hot`: the hot functions of a release build against their list.

use crate::process::{run, target_dir};

/// Builds the ledger's driver and has `ratchet lab hot` look into it. The driver has the server's whole way from packet to
/// packet in it, and its functions are those of the ledger's dumps.
pub(crate) fn gate() -> Result<(), String> {
    run("cargo", &["build", "--quiet", "--release", "--package", "ledger"])?;
    let driver = target_dir().join("release/ledger");
    run("cargo", &["run", "--quiet", "--package", "ratchet", "--", "lab", "hot", &driver.to_string_lossy()])
}
