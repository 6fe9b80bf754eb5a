//! The one entry point of continuous integration.

use crate::compat;
use crate::fuzz;
use crate::hostile;
use crate::hot;
use crate::ledger;
use crate::loom;
use crate::process::{run as command, run_with as command_with, target_dir};
use crate::sim;
use crate::tidy;

/// Runs every check in order and stops at the first that fails; `fast` leaves out the optimised steps.
pub(crate) fn run(fast: bool) -> Result<(), String> {
    command("cargo", &["fmt", "--all", "--check"])?;
    command("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])?;
    tidy::run()?;
    command("cargo", &["test", "--workspace"])?;
    if !fast {
        fuzz::short()?;
        loom::run(&[])?;
        sim::run(&["--planted", "1000"])?;
        sim::run(&["--seeds", "1000"])?;
        command("cargo", &["build", "--release", "--package", "server", "--package", "ledger"])?;
        let released = target_dir().join("release/ratchetd");
        command_with(
            "cargo",
            &["test", "--workspace", "--profile", "fast"],
            &[(hostile::BINARY, &released)],
        )?;
        compat::gate(&released)?;
        ledger::gate()?;
        hot::gate()?;
    }
    println!("ci: all checks passed");
    Ok(())
}
