//! `ratchetd`: the server.

#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

use server::options::{Invocation, Options};
use server::server::Allocator;
use tikv_jemalloc_ctl::{Access as _, AsName as _, epoch, stats};
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Returns the bytes that the allocator has given out. It sums its counters up here, not at each allocation.
fn heap_bytes() -> Option<u64> {
    epoch::advance().ok()?;
    stats::allocated::read().ok().map(|bytes| bytes as u64)
}

/// Turns the thread's cache off, which empties it, and on again.
fn drop_thread_cache() {
    let enabled = b"thread.tcache.enabled\0".name();
    for on in [false, true] {
        // An allocator without caches has nothing to give back.
        let _ = enabled.write(on);
    }
}

fn main() -> ExitCode {
    base::sync::critical::install_abort_hook();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let options = match Options::parse(&args) {
        Ok(Invocation::Help) => return print(&server::options::help()),
        Ok(Invocation::Version) => return print(&format!("ratchetd {}\n", server::version::VERSION)),
        Ok(Invocation::Serve(options)) => *options,
        Err(error) => return fail(&error.0),
    };
    match server::daemon::run(options, Allocator { heap_bytes, drop_thread_cache }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn fail(message: &str) -> ExitCode {
    // Without stderr the error cannot be reported.
    let _ = writeln!(std::io::stderr(), "ratchetd: {message}");
    ExitCode::FAILURE
}
