//! `hostile`: runs the tests of hostile clients against the released server.
//!
//! The tests speak to a server process over the wire, so the same test programs serve every profile. A stack
//! that suffices in one profile may overflow in another.

use std::path::Path;

use crate::process::{run, run_with, target_dir};

/// The test files of the crate server that attack it.
const TESTS: [&str; 11] = [
    "attacks",
    "compression",
    "connections",
    "depth",
    "failed_logins",
    "file_modes",
    "heap",
    "hostile_logins",
    "kill",
    "max_execution_time",
    "packets",
];
/// Names the server that tests start: `testkit::server::binary_under_test`.
pub(crate) const BINARY: &str = "RATCHETD_UNDER_TEST";

/// Builds the server as it is released and runs the tests against it.
pub(crate) fn run_tests() -> Result<(), String> {
    run("cargo", &["build", "--release", "--package", "server"])?;
    let binary = target_dir().join("release/ratchetd");
    let mut args = vec!["test", "--package", "server"];
    args.extend(TESTS.iter().flat_map(|test| ["--test", test]));
    run_with("cargo", &args, &[(BINARY, Path::new(&binary))])
}
