//! `recovery`: how fast a release server applies its log after a kill.

use crate::process;

/// Builds server and client, and runs the client with `options`.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    process::run_on_server("recovery_speed", options)
}
