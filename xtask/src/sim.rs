//! `sim`: simulated crashes of the whole engine.

use crate::process;

/// Builds the simulation, optimised and with assertions, and runs it with `options`.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let args = ["run", "--quiet", "--profile=sim", "--package=testkit", "--bin=sim", "--"];
    process::run("cargo", &[&args, options].concat())
}
