//! `hostile`: runs the tests of hostile clients against the released server.
//!
//! The tests speak to a server process over the wire, so the same test programs serve every profile. A stack
//! that suffices in one profile may overflow in another.

use std::path::Path;

use crate::process::{run, run_with, target_dir};

/// The test programs of the crate server that attack it.
const PROGRAMS: [&str; 6] = [
    "--test=connections",
    "--test=depth",
    "--test=failed_logins",
    "--test=heap",
    "--test=kill",
    "--test=max_execution_time",
];
/// Programs with attacks among other tests, and these.
const SHARED: [&str; 3] = ["--test=accounts", "--test=storage", "--test=traffic"];
const MODULES: [&str; 5] = ["hostile_logins::", "file_modes::", "attacks::", "compression::", "packets::"];
/// Names the server that tests start: `testkit::server::binary_under_test`.
pub(crate) const BINARY: &str = "RATCHETD_UNDER_TEST";

/// Builds the server as it is released and runs the tests against it.
pub(crate) fn run_tests() -> Result<(), String> {
    run("cargo", &["build", "--release", "--package", "server"])?;
    let binary = target_dir().join("release/ratchetd");
    let variables: [(&str, &Path); 1] = [(BINARY, &binary)];
    let tests = ["test", "--package", "server"];
    run_with("cargo", &[&tests[..], &PROGRAMS].concat(), &variables)?;
    run_with("cargo", &[&tests[..], &SHARED, &["--"], &MODULES].concat(), &variables)
}
