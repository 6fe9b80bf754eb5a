//! `semantics [--check]`: the tables of `docs/semantics.md`, from the answers that were recorded from MySQL.

use crate::process;

/// Writes the tables, or with `--check` fails where they are not those of the record.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let run = ["run", "--quiet", "--package=testkit", "--bin=semantics", "--"];
    process::run("cargo", &[run.as_slice(), options].concat())
}
