//! `kill9`: a release server is killed under load; what it answered must be there afterwards.

use crate::process;

/// Builds server and client, and runs the client with `options`.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    process::run_on_server("kill9", options)
}
