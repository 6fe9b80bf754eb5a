//! The one entry point of continuous integration.

use std::fs;
use std::time::Instant;

use crate::compat;
use crate::fuzz;
use crate::hostile;
use crate::hot;
use crate::ledger;
use crate::loom;
use crate::process::{root, run as command, run_with as command_with, target_dir};
use crate::sim;
use crate::tidy;

/// Test files of the crate server in which the server is a part of the test.
const IN_PROCESS: [&str; 2] = ["elle", "memory"];

/// A check, and its name.
type Step = (&'static str, fn() -> Result<(), String>);

/// Without optimised code.
const FAST: [Step; 4] = [("format", format), ("lints", lints), ("tidy", tidy::run), ("tests", tests)];

/// Tests are optimised and have debug assertions, as the simulation, which is built with them.
const ALL: [Step; 12] = [
    ("format", format),
    ("lints", lints),
    ("tidy", tidy::run),
    ("tests", checked_tests),
    ("simulation, planted bugs", || sim::run(&["--planted", "1000"])),
    ("simulation", || sim::run(&["--seeds", "1000"])),
    ("loom", || loom::run(&[])),
    ("fuzz", fuzz::short),
    ("tests of the released server", released_tests),
    ("compat", || compat::gate(&released())),
    ("ledger", ledger::gate),
    ("hot", hot::gate),
];

/// Runs every check in order, says how long each took, and stops at the first that fails; `fast` leaves out
/// the optimised ones.
pub(crate) fn run(fast: bool) -> Result<(), String> {
    for (name, step) in if fast { &FAST[..] } else { &ALL } {
        let start = Instant::now();
        step()?;
        println!("ci: {name}: {} s", start.elapsed().as_secs());
    }
    println!("ci: all checks passed");
    Ok(())
}

fn format() -> Result<(), String> {
    command("cargo", &["fmt", "--all", "--check"])
}

fn lints() -> Result<(), String> {
    command("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
}

fn tests() -> Result<(), String> {
    command("cargo", &["test", "--workspace"])
}

fn checked_tests() -> Result<(), String> {
    command("cargo", &["test", "--workspace", "--profile", "sim"])
}

fn released() -> std::path::PathBuf {
    target_dir().join("release/ratchetd")
}

/// Runs the test programs of the crate server, as they were built before, against the server as it is
/// released.
fn released_tests() -> Result<(), String> {
    command("cargo", &["build", "--release", "--package", "server", "--package", "ledger"])?;
    let mut args: Vec<String> =
        ["test", "--package", "server", "--profile", "sim"].map(str::to_owned).to_vec();
    for test in server_tests()?.into_iter().filter(|test| !IN_PROCESS.contains(&test.as_str())) {
        args.extend(["--test".to_owned(), test]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    command_with("cargo", &args, &[(hostile::BINARY, &released())])
}

/// Test files of the crate server, by name.
fn server_tests() -> Result<Vec<String>, String> {
    let folder = root().join("crates/server/tests");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
