//! The one entry point of continuous integration.
//!
//! Tests wait much: for deadlines, for syncs, for each other. While they run, what only computes runs beside
//! them at a low priority: a test that wakes up has the processor at once.
//!
//! ```text
//!  lints -> builds -> tests                -> tests of the released server -> compat -> ledger -> hot
//!  tidy               released build, loom    simulation, compat build                  fuzz
//! ```
//! Lints, tests, simulation and fuzzing share the libraries of the profile `sim`, and so select the whole
//! workspace. Another selection would have other features of them, and compile nearly everything again.

mod beside;
mod output;
mod programs;
mod shipped;
mod test_programs;

use std::path::Path;
use std::time::Instant;

use crate::compat;
use crate::fuzz;
use crate::hostile;
use crate::hot;
use crate::ledger;
use crate::process::run as command;
use crate::tidy;
use beside::{Beside, Job};

/// A check, its name, and what runs beside it.
struct Step {
    name: &'static str,
    run: fn() -> Result<(), String>,
    /// Programs that run meanwhile.
    beside: fn() -> Vec<Job>,
}

/// Without optimised code.
const FAST: [Step; 4] = [
    alone("format", format),
    alone("tidy", tidy::run),
    alone("lints", || lints(&[])),
    alone("tests", || command("cargo", &["test", "--workspace"])),
];

/// Tests are optimised and have debug assertions, as the simulation, which is built with them.
const ALL: [Step; 9] = [
    alone("format", format),
    Step {
        name: "lints",
        // The fuzzer's programs, too, which an ordinary build passes over.
        run: || lints(&["--profile=sim", "--features=fuzz/libfuzzer"]),
        beside: || vec![Job::new("tidy", "cargo", &["xtask", "tidy"])],
    },
    alone("build", build_tests),
    alone("fuzz build", || fuzz::build().map(|_| ())),
    Step { name: "tests", run: checked_tests, beside: released_build_and_loom },
    Step {
        name: "tests of the released server",
        run: || server_tests(&programs::released()),
        beside: simulations,
    },
    alone("compat", || compat::gate(&programs::released())),
    Step { name: "ledger", run: ledger::gate, beside: fuzzing },
    alone("hot", || hot::gate_by(&programs::checked("ratchet"))),
];

/// A check with nothing beside it.
const fn alone(name: &'static str, run: fn() -> Result<(), String>) -> Step {
    Step { name, run, beside: Vec::new }
}

/// Runs every check in order, says how long each took, and stops at the first that fails; `fast` leaves out
/// the optimised ones.
pub(crate) fn run(fast: bool) -> Result<(), String> {
    let begun = Instant::now();
    for step in if fast { &FAST[..] } else { &ALL } {
        step.take()?;
    }
    println!("ci: all checks passed in {} s", begun.elapsed().as_secs());
    Ok(())
}

/// Runs one check, with what runs beside it. What it needs of earlier ones must be there.
pub(crate) fn run_step(name: &str) -> Result<(), String> {
    let names = || ALL.map(|step| step.name).join(", ");
    ALL.iter().find(|step| step.name == name).ok_or_else(|| format!("steps are: {}", names()))?.take()
}

impl Step {
    fn take(&self) -> Result<(), String> {
        let start = Instant::now();
        let beside = Beside::start((self.beside)())?;
        (self.run)()?;
        println!("ci: {}: {} s", self.name, start.elapsed().as_secs());
        beside.finish()
    }
}

fn format() -> Result<(), String> {
    command("cargo", &["fmt", "--all", "--check"])
}

fn lints(options: &[&str]) -> Result<(), String> {
    // The first step that builds: packages are those of the lock file, or all of it fails.
    let selected = ["clippy", "--workspace", "--all-targets", "--quiet", "--locked"];
    command("cargo", &[&selected, options, &["--", "-D", "warnings"]].concat())
}

/// All that later steps run in the profile `sim`, except for the fuzzer's programs.
fn build_tests() -> Result<(), String> {
    let programs = ["--bin=ratchetd", "--bin=ratchet", "--bin=sim"];
    command(
        "cargo",
        &[&["build", "--workspace", "--profile=sim", "--tests", "--examples"], &programs[..]].concat(),
    )
}

fn checked_tests() -> Result<(), String> {
    test_programs::run(&["--workspace", "--profile=sim"], &[])
}

/// The build ends on one processor, where it links: loom has the other then.
fn released_build_and_loom() -> Vec<Job> {
    let args = ["build", "--quiet", "--release", "--package=server", "--package=ledger"];
    vec![Job::new("released build", "cargo", &args).ahead(), Job::new("loom", "cargo", &["xtask", "loom"])]
}

/// Runs the tests of the released server against the one that `release` has laid out, as it was built last.
pub(crate) fn run_shipped() -> Result<(), String> {
    let (begun, server) = (Instant::now(), shipped::server()?);
    build_tests()?;
    server_tests(&server)?;
    println!("ci: tests of {} passed in {} s", server.display(), begun.elapsed().as_secs());
    Ok(())
}

/// Runs the test programs that start a server, as they were built before, against an optimised `server`.
fn server_tests(server: &Path) -> Result<(), String> {
    let mut args: Vec<String> = ["--workspace", "--profile=sim"].map(str::to_owned).to_vec();
    args.extend(programs::of_server_process()?.into_iter().map(|name| format!("--test={name}")));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    test_programs::run(&args, &[(hostile::BINARY, server)])
}

/// The ledger counts instructions, on one processor for most of its time. The fuzzer takes the other.
fn fuzzing() -> Vec<Job> {
    vec![Job::new("fuzz", "cargo", &["xtask", "fuzz", "--short"])]
}

fn simulations() -> Vec<Job> {
    let sim = programs::checked("sim");
    vec![
        Job::new("simulation, planted bugs", &sim, &["--planted", "1000"]),
        Job::new("simulation", &sim, &["--seeds", "1000"]),
        Job::new("compat build", "cargo", &["xtask", "compat", "--prepare"]),
    ]
}
